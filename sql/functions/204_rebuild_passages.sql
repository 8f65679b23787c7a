-- All passages of a user in the projection at once: made anew, and compared with what they should be.

CREATE OR REPLACE FUNCTION memsvc.rebuild_passages(p_user_id uuid, p_batch integer DEFAULT 5000) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
  last uuid;
  batch uuid[];
BEGIN
  IF NOT memsvc.has_projection() THEN
    RETURN;
  END IF;
  PERFORM memsvc.lock_passages(p_user_id, p_alone => true);
  DELETE FROM memory."NEXT" AS d WHERE d.user_id = p_user_id;
  DELETE FROM memory."PART_OF" AS d
  WHERE d.user_id = p_user_id
    AND ag_catalog._extract_label_id(d.start_id) = ag_catalog._label_id('memory', 'Passage');
  DELETE FROM memory."Passage" AS d WHERE d.user_id = p_user_id;
  DELETE FROM memory."Conversation" AS d WHERE d.user_id = p_user_id;
  FOR pass IN 1..2 LOOP -- all are there before one is linked with another
    last := '00000000-0000-0000-0000-000000000000';
    LOOP
      batch := ARRAY(
        SELECT p.passage_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id > last
        ORDER BY p.passage_id LIMIT p_batch
      );
      EXIT WHEN batch = '{}';
      IF pass = 1 THEN
        PERFORM memsvc.store_passages(p_user_id, batch);
      ELSE
        PERFORM memsvc.link_passages(p_user_id, batch);
      END IF;
      last := batch[cardinality(batch)];
    END LOOP;
  END LOOP;
  PERFORM memsvc.require_identity(p_user_id);
END
$$;
COMMENT ON FUNCTION memsvc.rebuild_passages(uuid, integer) IS 'Makes the passages of a user in the projection anew.';

-- As compare_projection: passage counts vertices (of conversations too), order the edges NEXT and PART_OF between them.
CREATE OR REPLACE FUNCTION memsvc.compare_passages(p_user_id uuid)
RETURNS TABLE (kind text, stored bigint, missing bigint, surplus bigint, different bigint)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
AS $$
BEGIN
  RETURN QUERY
  WITH vertex AS MATERIALIZED (
    SELECT 'Passage' AS label, v.node_id, v.id::text AS number, v.properties FROM memory."Passage" AS v
    WHERE v.user_id = p_user_id
    UNION ALL
    SELECT 'Conversation', v.node_id, v.id::text, v.properties FROM memory."Conversation" AS v
    WHERE v.user_id = p_user_id
  ),
  said AS MATERIALIZED (
    SELECT p.passage_id, p.source_id,
      lag(p.passage_id) OVER (PARTITION BY p.source_id, p.session ORDER BY p.ordinal, p.part) AS before,
      memsvc.passage_shown(p.passage_id, p.role, p.speaker, p.text, p.caption, p.said_at) AS properties
    FROM passages AS p WHERE p.user_id = p_user_id AND p.kind = 'message'
  ),
  wanted AS (
    SELECT 'passage' AS kind, 'Passage' AS label, s.passage_id AS subject, '' AS place,
      ag_catalog.agtype_in(textout(s.properties)) AS properties
    FROM said AS s
    UNION ALL
    SELECT DISTINCT ON (s.source_id) 'passage', 'Conversation', s.source_id, '',
      ag_catalog.agtype_in(textout(jsonb_build_object('id', s.source_id)::text))
    FROM said AS s
    UNION ALL
    SELECT 'order', e.label, s.passage_id, concat_ws(' ', a.number, b.number), ag_catalog.agtype_in('{}')
    FROM said AS s
    CROSS JOIN LATERAL (
      VALUES ('PART_OF', 'Passage', s.passage_id, 'Conversation', s.source_id),
        ('NEXT', 'Passage', s.before, 'Passage', s.passage_id)
    ) AS e (label, from_label, from_id, to_label, to_id)
    LEFT JOIN vertex AS a ON a.label = e.from_label AND a.node_id = e.from_id
    LEFT JOIN vertex AS b ON b.label = e.to_label AND b.node_id = e.to_id
    WHERE e.from_id IS NOT NULL
  ),
  found AS (
    SELECT 'passage' AS kind, v.label, v.node_id AS subject, '' AS place, v.properties FROM vertex AS v
    UNION ALL
    SELECT 'order', e.label, e.version_id, concat_ws(' ', e.start_id, e.end_id), e.properties
    FROM (
      SELECT 'NEXT' AS label, o.* FROM memory."NEXT" AS o WHERE o.user_id = p_user_id
      UNION ALL
      SELECT 'PART_OF', o.* FROM memory."PART_OF" AS o
      WHERE o.user_id = p_user_id
        AND ag_catalog._extract_label_id(o.start_id) = ag_catalog._label_id('memory', 'Passage')
    ) AS e
  )
  SELECT k.kind, count(f.subject), count(*) FILTER (WHERE f.subject IS NULL AND w.subject IS NOT NULL),
    count(*) FILTER (WHERE w.subject IS NULL AND f.subject IS NOT NULL),
    count(*) FILTER (
      WHERE w.place <> f.place OR w.properties OPERATOR(ag_catalog.<>) f.properties
    )
  FROM (VALUES ('passage'), ('order')) AS k (kind)
  LEFT JOIN (
    wanted AS w FULL JOIN found AS f ON f.kind = w.kind AND f.label = w.label AND f.subject = w.subject
  ) ON coalesce(w.kind, f.kind) = k.kind
  GROUP BY k.kind
  ORDER BY k.kind DESC;
END
$$;
COMMENT ON FUNCTION memsvc.compare_passages(uuid) IS 'What is wrong with the passages of a user in the projection.';
