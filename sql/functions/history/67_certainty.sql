-- How sure one can be of a fact: by its confidence, the number, independence and age of its sources, and who contradicts
-- it (docs/adr/0054).

-- p_confidence: as it was written, 0 to 1. p_conversations, p_speakers, p_days: in how many, by how many and on how many
-- days its sources were said; their mean, 1 at least, counts as the number of independent sources, and each one more
-- halves the doubt. p_age: since the last of them; a fact that nobody repeats loses up to a quarter, half of that in two
-- years. p_against: how many contradict it; one halves what is left, two leave a third.
CREATE OR REPLACE FUNCTION memsvc.certainty(
  p_confidence double precision, p_conversations bigint, p_speakers bigint, p_days bigint, p_age interval,
  p_against bigint
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN (1 - (1 - p_confidence) * power(2::double precision, 1 - least(
  greatest((p_conversations + p_speakers + p_days) / 3::double precision, 1), 1000
))) * (3 + power(2::double precision, - least(
  greatest(date_part('epoch', p_age), 0) / (730 * 86400::double precision), 1000
))) / 4 / (1 + p_against);
COMMENT ON FUNCTION memsvc.certainty(double precision, bigint, bigint, bigint, interval, bigint) IS
  'How sure one can be of a fact, 0 to 1: by its confidence, its sources and who contradicts it.';

-- The same of versions of facts, as known at a time (null: now). Whoever validates a fact is a source of it. Against it
-- are authors who dispute it (of each author the last mark counts), and, where it has no end, conversations that say
-- that it is over. Days are those of UTC.
CREATE OR REPLACE FUNCTION memsvc.fact_certainty(p_user_id uuid, p_versions uuid[], p_known_at timestamptz DEFAULT NULL)
RETURNS TABLE (version_id uuid, certainty double precision)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  moment CONSTANT timestamptz := coalesce(p_known_at, clock_timestamp());
BEGIN
  RETURN QUERY
  SELECT v.version_id, memsvc.certainty(
    v.confidence, s.conversations, s.speakers, s.days, moment - greatest(v.recorded_from, s.last_at), s.against
  )
  FROM edge_versions AS v
  CROSS JOIN LATERAL (
    SELECT count(DISTINCT l.source_id) FILTER (WHERE l.supports) AS conversations,
      count(DISTINCT l.speaker) FILTER (WHERE l.supports) AS speakers,
      count(DISTINCT l.day) FILTER (WHERE l.supports) AS days, max(l.said_at) FILTER (WHERE l.supports) AS last_at,
      count(DISTINCT l.asserted_by) FILTER (WHERE l.stance = 'disputed' AND l.nth = 1)
        + count(DISTINCT l.source_id) FILTER (WHERE l.stance = 'ends' AND v.valid_to = 'infinity') AS against
    FROM (
      SELECT k.stance, k.asserted_by, k.nth, p.source_id, p.speaker, (p.said_at AT TIME ZONE 'UTC')::date AS day,
        least(p.said_at, moment) AS said_at, k.stance = 'supports' OR (k.stance = 'validated' AND k.nth = 1) AS supports
      FROM (
        SELECT i.stance, i.asserted_by, i.passage_id, row_number() OVER (
          PARTITION BY i.stance IN ('validated', 'disputed'), i.asserted_by
          ORDER BY i.passage_id DESC, i.link_id DESC
        ) AS nth
        FROM source_links AS i
        WHERE i.user_id = p_user_id AND i.edge_version_id = v.version_id AND i.recorded_from <= known
          AND (i.recorded_to = 'infinity' OR i.recorded_to > known)
      ) AS k
      INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = k.passage_id
    ) AS l
  ) AS s
  WHERE v.user_id = p_user_id AND v.version_id = ANY (p_versions);
END
$$;
COMMENT ON FUNCTION memsvc.fact_certainty(uuid, uuid[], timestamptz) IS
  'How sure one can be of facts, 0 to 1, by their sources.';
