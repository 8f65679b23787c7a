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

-- Which of some versions of facts somebody disputes, as known at a time (null: now): the last annotation of each author
-- counts. Their order is that of the reasons, whose ids are ordered by time: evidence that goes to another version, or
-- comes back when an undo is undone, has a later recorded time.
CREATE OR REPLACE FUNCTION memsvc.disputed_versions(
  p_user_id uuid, p_versions uuid[], p_known_at timestamptz DEFAULT NULL
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY
  SELECT DISTINCT a.edge_version_id
  FROM (
    SELECT DISTINCT ON (l.edge_version_id, l.asserted_by) l.edge_version_id, l.stance
    FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.edge_version_id = ANY (p_versions) AND l.stance IN ('validated', 'disputed')
      AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
    ORDER BY l.edge_version_id, l.asserted_by, l.passage_id DESC, l.link_id DESC
  ) AS a
  WHERE a.stance = 'disputed';
END
$$;
COMMENT ON FUNCTION memsvc.disputed_versions(uuid, uuid[], timestamptz) IS
  'Which of some versions of facts somebody disputes.';

-- Whether a version of a fact is contested: somebody disputes it, or merged nodes have different values of its type,
-- which allows one at a time, at p_as_of (null: at any of its times). For a version that is no longer known at
-- p_known_at (null: now), marks that still stand count, and merges as they were when it was last known.
CREATE OR REPLACE FUNCTION memsvc.is_contested(
  p_user_id uuid, p_version memsvc.edge_versions, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
DECLARE
  -- Null if it is known now.
  known CONSTANT timestamptz := nullif(
    least(p_known_at, p_version.recorded_to - interval '1 microsecond'), 'infinity'
  );
BEGIN
  IF EXISTS (SELECT FROM memsvc.disputed_versions(p_user_id, ARRAY[p_version.version_id], p_known_at)) THEN
    RETURN true;
  END IF;
  IF NOT p_version.functional
    OR (SELECT count(*) FROM memsvc.same_nodes(p_user_id, ARRAY[p_version.from_node], known)) < 2 THEN
    RETURN false;
  END IF;
  RETURN EXISTS (
    SELECT FROM memsvc.facts(
      p_user_id, ARRAY[p_version.from_node], ARRAY[p_version.type], p_as_of, known, 'from'
    ) AS f
    WHERE f.version_id = p_version.version_id AND f.contested
  );
END
$$;
COMMENT ON FUNCTION memsvc.is_contested(uuid, memsvc.edge_versions, timestamptz, timestamptz) IS
  'Whether somebody disputes a version of a fact, or merged nodes contradict it.';
