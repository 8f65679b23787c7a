-- What may stand in a context whatever is recalled. Functions, because kept plans know neither the user nor the moment:
-- where they took a user's rows for few they read them all. With enable_sort off the order names the index.

-- When the user spoke last, and last before the present sitting, which goes on until a pause of p_sitting; newest
-- first. The latest 200 passages of p_now are looked at.
CREATE OR REPLACE FUNCTION memsvc.last_spoken(
  p_user_id uuid, p_now timestamptz, p_known_at timestamptz, p_sitting interval
) RETURNS TABLE (said_at timestamptz, said_offset smallint)
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort; only passages_said gives the order without one
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH latest AS MATERIALIZED (
    SELECT p.said_at, p.said_offset, p.kind, p.role
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at <= p_now
      AND (p_known_at IS NULL OR p.recorded_at <= p_known_at)
    ORDER BY p.user_id DESC, p.said_at DESC
    LIMIT 200
  ),
  said AS (
    SELECT l.said_at, l.said_offset, row_number() OVER newest AS place,
      lag(l.said_at, 1, p_now) OVER newest - l.said_at > p_sitting AS before
    FROM latest AS l
    WHERE l.kind = 'message' AND l.role = 'user'
    WINDOW newest AS (ORDER BY l.said_at DESC)
  )
  SELECT s.said_at, s.said_offset FROM said AS s
  WHERE s.place = 1 OR s.before
  ORDER BY s.said_at DESC
  LIMIT 2;
END
$$;
COMMENT ON FUNCTION memsvc.last_spoken(uuid, timestamptz, timestamptz, interval) IS
  'When the user spoke last, and last before the present sitting.';

-- Procedural memory: nodes of type Instruction, or of a type that refines it, that stand for themselves and are so at a
-- time, pinned ones first, then by importance. p_core: those that are pinned or of the category core; p_categories:
-- those of these; null: of all. The newest thousand of each type are looked at. asserted_by, recorded_from: who wrote
-- what is shown, and when; a context follows only what the user wrote.
CREATE OR REPLACE FUNCTION memsvc.standing_instructions(
  p_user_id uuid, p_now timestamptz, p_known_at timestamptz, p_core boolean, p_categories text[], p_limit integer
) RETURNS TABLE (
  node_id uuid, label text, description text, category text, conditions jsonb, core boolean, asserted_by text,
  recorded_from timestamptz
)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH kinds AS MATERIALIZED (
    SELECT t.name FROM node_types AS t WHERE t.name = 'Instruction' OR t.parent = 'Instruction'
  ),
  known AS (
    SELECT v.*
    FROM kinds AS k
    CROSS JOIN LATERAL (
      SELECT o.node_id, o.label, o.description, o.data, o.importance, o.valid_from, o.valid_to, o.recorded_from,
        o.asserted_by
      FROM node_versions AS o
      WHERE o.user_id = p_user_id AND o.type = k.name AND o.recorded_to = 'infinity'
      ORDER BY o.user_id DESC, o.type DESC, o.node_id DESC
      LIMIT 1000
    ) AS v
    UNION ALL
    SELECT o.node_id, o.label, o.description, o.data, o.importance, o.valid_from, o.valid_to, o.recorded_from,
      o.asserted_by
    FROM node_versions AS o
    WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id AND o.recorded_to < 'infinity'
      AND o.recorded_to > p_known_at AND o.type IN (SELECT k.name FROM kinds AS k)
  ),
  said AS (
    SELECT k.*, k.data ->> 'category' AS category, k.data @> '{"pinned": true}' AS pinned
    FROM known AS k
    WHERE k.valid_from <= p_now AND k.valid_to > p_now AND (p_known_at IS NULL OR k.recorded_from <= p_known_at)
  )
  SELECT s.node_id, s.label, s.description, coalesce(s.category, ''), s.data -> 'when',
    s.pinned OR lower(coalesce(s.category, '')) = 'core', s.asserted_by, s.recorded_from
  FROM said AS s
  WHERE (
      (p_core AND (s.pinned OR lower(coalesce(s.category, '')) = 'core'))
      OR p_categories IS NULL OR s.category = ANY (p_categories)
    )
    AND NOT EXISTS (
      SELECT FROM merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = s.node_id
        AND m.recorded_from <= coalesce(p_known_at, 'infinity')
        AND m.recorded_to > coalesce(p_known_at, clock_timestamp())
    )
  ORDER BY (s.pinned OR lower(coalesce(s.category, '')) = 'core') DESC, s.importance DESC, s.node_id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.standing_instructions(uuid, timestamptz, timestamptz, boolean, text[], integer) IS
  'Instructions that may stand in a context, pinned ones first.';
