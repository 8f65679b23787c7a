-- owner: memsvc_recall

-- What became of what messages say. Quotes stay as they were said; where facts that rest on one are no longer true, who
-- reads it is told so.
--
-- SECURITY DEFINER, owned by memsvc_recall, as memsvc.facts_at is and for the same reason: each message that is shown
-- is looked up, and most rest under nothing that has ended.

-- Of some messages those under facts that were true when they were said and are not at p_as_of (null: now), as known at
-- p_known_at (null: now). remark: what is true since then, where the type of the fact allows one value at a time, else
-- what is no longer true; what passed by itself, as a feeling or a visit of which the end was told at once, is no
-- change and counts for nothing; three at most, the first 200 characters of each. whole: no fact that rests on the message is
-- true. At most 1,000 links are looked at. Ids of facts give nothing. Nodes count as they are stored, for this role
-- does not read merges: a value of a node that is merged with the first one's is not told.
CREATE OR REPLACE FUNCTION memsvc.overtaken(
  p_user_id uuid, p_ids uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (passage_id uuid, remark text, whole boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 5
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-sort, no-incremental-sort, no-bitmap, no-nested-loop; see graph/10_traverse.sql
AS $$
#variable_conflict use_column
DECLARE
  most_links CONSTANT integer := 1000;
  most_remarks CONSTANT integer := 3;
  most_chars CONSTANT integer := 200; -- of each
  of_moments CONSTANT text[] := '{FEELS,LOCATED_AT,PARTICIPATED_IN,HAPPENED_ON}';
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  passages_of uuid[];
  versions_of uuid[]; -- versions_of[i] rests on passages_of[i]
BEGIN
  -- By themselves: most messages rest under nothing that has ended, and to begin the last statement takes longer than
  -- to see that.
  SELECT array_agg(l.passage_id), array_agg(l.edge_version_id) INTO passages_of, versions_of
  FROM (
    SELECT s.passage_id, s.edge_version_id, s.stance, s.recorded_from, s.recorded_to FROM source_links AS s
    WHERE s.user_id = asker AND s.passage_id = ANY (p_ids)
    ORDER BY s.passage_id LIMIT most_links
  ) AS l
  WHERE l.edge_version_id IS NOT NULL AND l.stance = 'supports' AND l.recorded_from <= known
    AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  IF passages_of IS NULL THEN
    RETURN;
  END IF;
  PERFORM FROM (
    SELECT r.valid_to, r.recorded_to FROM edge_versions AS r
    WHERE r.user_id = asker AND r.version_id = ANY (versions_of) ORDER BY r.version_id OFFSET 0
  ) AS v
  WHERE v.valid_to <= moment OR v.recorded_to <= known AND v.recorded_to < 'infinity' LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH version AS MATERIALIZED (
    SELECT r.version_id, r.edge_id, r.from_node, r.type, r.functional, r.fact, r.valid_from, r.valid_to,
      r.recorded_from, r.recorded_to
    FROM edge_versions AS r WHERE r.user_id = asker AND r.version_id = ANY (versions_of)
    ORDER BY r.version_id OFFSET 0
  ),
  told AS MATERIALIZED ( -- a split says the same of another node: what it said first was never meant
    SELECT e.* FROM (
      SELECT s.*, row_number() OVER (PARTITION BY s.passage_id, s.type, s.fact ORDER BY s.learnt DESC, s.edge_id DESC)
          AS nth
      FROM (
        SELECT l.passage_id, v.edge_id, any_value(v.from_node) AS from_node, any_value(v.type) AS type,
          bool_or(v.functional) AS functional, (array_agg(v.fact ORDER BY v.recorded_from DESC))[1] AS fact,
          max(v.valid_to) AS valid_to,
          bool_or(v.valid_to > moment AND (v.recorded_to = 'infinity' OR v.recorded_to > known)) AS holds,
          bool_or(v.type = ANY (of_moments) AND v.valid_to <= moment
            AND (v.recorded_to = 'infinity' OR v.recorded_to > known))
            AND min(v.valid_to) = max(v.valid_to) AS passed,
          min(v.recorded_from) AS learnt
        FROM unnest(passages_of, versions_of) AS l (passage_id, version_id)
        INNER JOIN version AS v ON v.version_id = l.version_id
        WHERE v.recorded_from <= known AND v.valid_from <= moment
        GROUP BY l.passage_id, v.edge_id
      ) AS s
    ) AS e
    WHERE e.nth = 1 AND (e.holds OR NOT e.passed)
  ),
  lost AS MATERIALIZED (
    SELECT t.edge_id, t.from_node, t.type, t.functional FROM told AS t
    WHERE NOT t.holds GROUP BY t.edge_id, t.from_node, t.type, t.functional
  ),
  again AS MATERIALIZED ( -- by another version
    SELECT DISTINCT r.edge_id
    FROM (
      SELECT e.edge_id, e.valid_from, e.valid_to, e.recorded_from, e.recorded_to FROM edge_versions AS e
      WHERE e.user_id = asker AND e.edge_id = ANY (ARRAY(SELECT o.edge_id FROM lost AS o))
      ORDER BY e.edge_id OFFSET 0
    ) AS r
    WHERE r.valid_from <= moment AND r.valid_to > moment AND r.recorded_from <= known
      AND (r.recorded_to = 'infinity' OR r.recorded_to > known)
  ),
  present AS MATERIALIZED ( -- once for all that lost the same: a value may have thousands before it
    SELECT o.from_node, o.type, n.fact
    FROM (SELECT l.from_node, l.type FROM lost AS l WHERE l.functional GROUP BY l.from_node, l.type) AS o
    CROSS JOIN LATERAL (
      SELECT r.fact
      FROM (
        (SELECT e.* FROM edge_versions AS e
        WHERE e.user_id = asker AND e.from_node = ANY (ARRAY[o.from_node]) AND e.type = o.type
          AND e.recorded_to = 'infinity' AND e.valid_to > moment
        ORDER BY e.from_node, e.type, e.valid_to OFFSET 0)
        UNION ALL
        (SELECT e.* FROM edge_versions AS e
        WHERE p_known_at IS NOT NULL AND e.user_id = asker AND e.from_node = ANY (ARRAY[o.from_node])
          AND e.type = o.type AND e.recorded_to < 'infinity'
        ORDER BY e.from_node, e.type OFFSET 0)
      ) AS r
      WHERE r.valid_from <= moment AND r.valid_to > moment AND r.recorded_from <= known
        AND (r.recorded_to = 'infinity' OR r.recorded_to > known)
      ORDER BY r.valid_from DESC LIMIT 1
    ) AS n
  ),
  ended AS MATERIALIZED (
    SELECT t.passage_id,
      CASE WHEN n.fact IS NULL THEN 'no longer true: ' || t.fact ELSE 'since then: ' || n.fact END AS remark
    FROM told AS t
    CROSS JOIN LATERAL (
      SELECT r.said_at FROM passages AS r WHERE r.user_id = asker AND r.passage_id = ANY (ARRAY[t.passage_id])
      ORDER BY r.passage_id OFFSET 0
    ) AS p
    LEFT JOIN present AS n ON t.functional AND n.from_node = t.from_node AND n.type = t.type
    WHERE NOT t.holds AND t.valid_to > p.said_at AND t.edge_id NOT IN (SELECT a.edge_id FROM again AS a)
  )
  SELECT e.passage_id, array_to_string((array_agg(DISTINCT
      CASE WHEN length(e.remark) > most_chars THEN left(e.remark, most_chars) || '…' ELSE rtrim(e.remark, '.') END
    ))[:most_remarks], '; '),
    count(*) = (SELECT count(*) FROM told AS t WHERE t.passage_id = e.passage_id)
  FROM ended AS e
  GROUP BY e.passage_id;
END
$$;
COMMENT ON FUNCTION memsvc.overtaken(uuid, uuid[], timestamptz, timestamptz) IS
  'Of some messages those under facts that ended since they were said, and what is true since then.';
