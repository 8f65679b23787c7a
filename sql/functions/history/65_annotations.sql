-- Annotations of facts: somebody marks a version as validated or disputed. They are evidence with that stance, whose
-- passage gives the reason. Of each author the last one counts.

-- Adds the annotations of a batch (op annotate, as in 60_write.sql). Result as of apply_steps.
CREATE OR REPLACE FUNCTION memsvc.apply_annotations(
  p_user_id uuid, p_actor text, p_at timestamptz, p_operations jsonb
) RETURNS TABLE (nth integer, outcome text, versions uuid[])
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH annotation AS MATERIALIZED (
    SELECT o.* FROM jsonb_to_recordset(p_operations) AS o (
      position integer, op text, version_id uuid, stance text, evidence jsonb
    )
    WHERE o.op = 'annotate'
  ),
  linked AS (
    INSERT INTO memsvc.source_links (
      user_id, passage_id, span_from, span_to, edge_version_id, stance, confidence, asserted_by, recorded_from
    )
    SELECT p_user_id, e.passage_id, e.span_from, e.span_to, a.version_id, a.stance, coalesce(e.confidence, 1), p_actor,
      p_at
    FROM annotation AS a
    CROSS JOIN LATERAL jsonb_to_recordset(a.evidence) AS e (
      passage_id uuid, span_from integer, span_to integer, confidence real
    )
    ORDER BY a.position
    RETURNING edge_version_id
  )
  SELECT a.position, 'written', ARRAY[a.version_id] FROM annotation AS a;
END;
COMMENT ON FUNCTION memsvc.apply_annotations(uuid, text, timestamptz, jsonb) IS
  'Marks facts as validated or disputed.';

-- Whether somebody disputes a version of a fact, as known at a time (null: now): the last annotation of each author
-- counts.
CREATE OR REPLACE FUNCTION memsvc.is_disputed(p_user_id uuid, p_version_id uuid, p_known_at timestamptz DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN coalesce((
    SELECT bool_or(a.stance = 'disputed')
    FROM (
      SELECT DISTINCT ON (l.asserted_by) l.stance
      FROM source_links AS l
      WHERE l.user_id = p_user_id AND l.edge_version_id = p_version_id AND l.stance IN ('validated', 'disputed')
        AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
      ORDER BY l.asserted_by, l.recorded_from DESC, l.link_id DESC
    ) AS a
  ), false);
END
$$;
COMMENT ON FUNCTION memsvc.is_disputed(uuid, uuid, timestamptz) IS 'Whether somebody disputes a version of a fact.';

-- Whether a version of a fact is contested: somebody disputes it, or merged nodes have different values of its type,
-- which allows one at a time, at p_as_of (null: at any of its times).
CREATE OR REPLACE FUNCTION memsvc.is_contested(
  p_user_id uuid, p_version memsvc.edge_versions, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  IF memsvc.is_disputed(p_user_id, p_version.version_id, p_known_at) THEN
    RETURN true;
  END IF;
  IF NOT p_version.functional
    OR (SELECT count(*) FROM memsvc.same_nodes(p_user_id, ARRAY[p_version.from_node], p_known_at)) < 2 THEN
    RETURN false;
  END IF;
  RETURN EXISTS (
    SELECT FROM memsvc.facts(
      p_user_id, ARRAY[p_version.from_node], ARRAY[p_version.type], p_as_of, p_known_at, 'from'
    ) AS f
    WHERE f.version_id = p_version.version_id AND f.contested
  );
END
$$;
COMMENT ON FUNCTION memsvc.is_contested(uuid, memsvc.edge_versions, timestamptz, timestamptz) IS
  'Whether somebody disputes a version of a fact, or merged nodes contradict it.';
