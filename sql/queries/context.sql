-- Statements of memsvc.recall.context: what stands around recalled memories.

-- name: context_turns
-- The last turns of a conversation, newest first. Sessions are found one by one by the key, and their last turns by it:
-- there is no index on the time within a conversation.
WITH RECURSIVE places AS (
  (
    SELECT p.session
    FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = :source_id
    ORDER BY p.source_id, p.session
    LIMIT 1
  )
  UNION ALL
  SELECT (
    SELECT n.session
    FROM memsvc.passages AS n
    WHERE n.user_id = :user_id AND n.source_id = :source_id AND n.session > s.session
    ORDER BY n.source_id, n.session
    LIMIT 1
  )
  FROM places AS s
  WHERE s.session IS NOT NULL
),
latest AS MATERIALIZED (
  SELECT s.session
  FROM places AS s
  CROSS JOIN LATERAL (
    SELECT p.said_at
    FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.session = s.session AND p.kind = 'message'
      AND p.said_at <= CAST(:now AS timestamptz)
      AND (CAST(:known_at AS timestamptz) IS NULL OR p.recorded_at <= CAST(:known_at AS timestamptz))
    ORDER BY p.source_id DESC, p.session DESC, p.ordinal DESC, p.part DESC
    LIMIT 1
  ) AS l
  ORDER BY l.said_at DESC, s.session DESC
  LIMIT :limit
),
turns AS MATERIALIZED (
  SELECT l.session, t.ordinal, t.said_at
  FROM latest AS l
  CROSS JOIN LATERAL (
    SELECT DISTINCT ON (p.source_id, p.session, p.ordinal) p.ordinal, p.said_at
    FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.session = l.session AND p.kind = 'message'
      AND p.said_at <= CAST(:now AS timestamptz)
      AND (CAST(:known_at AS timestamptz) IS NULL OR p.recorded_at <= CAST(:known_at AS timestamptz))
    ORDER BY p.source_id DESC, p.session DESC, p.ordinal DESC, p.part DESC
    LIMIT :limit
  ) AS t
  ORDER BY t.said_at DESC, l.session DESC, t.ordinal DESC
  LIMIT :limit
)
SELECT
  t.session, t.ordinal, m.passage_id, m.client_id, m.speaker, m.role, m.text, m.caption, m.said_at, m.said_offset,
  s.identifier
FROM turns AS t
CROSS JOIN LATERAL (
  SELECT
    (array_agg(p.passage_id ORDER BY p.part))[1] AS passage_id, min(p.client_id) AS client_id,
    min(p.speaker) AS speaker, min(p.role) AS role,
    string_agg(p.text, '' ORDER BY p.part) AS text, string_agg(p.caption, '' ORDER BY p.part) AS caption,
    min(p.said_at) AS said_at, min(p.said_offset) AS said_offset
  FROM memsvc.passages AS p
  WHERE p.user_id = :user_id AND p.source_id = :source_id AND p.session = t.session AND p.ordinal = t.ordinal
    AND p.kind = 'message'
) AS m
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = :source_id
ORDER BY t.said_at DESC, t.session DESC, t.ordinal DESC;

-- name: context_neighbours
-- What stands around each of some messages: the nearest passages before their first part and after their last one, by
-- what counts as theirs.
SELECT
  w.place, n.passage_id, n.source_id, n.session, n.ordinal, n.part, n.kind, n.speaker, n.role, n.text, n.caption,
  n.said_at, n.said_offset, n.client_id
FROM
  unnest(
    CAST(:sources AS uuid []), CAST(:sessions AS text []), CAST(:ordinals AS integer []),
    CAST(:first_parts AS smallint []), CAST(:last_parts AS smallint [])
  ) WITH ORDINALITY AS w (source_id, session, ordinal, first_part, last_part, place)
CROSS JOIN LATERAL (
  (
    SELECT p.*
    FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = w.source_id AND p.session = w.session
      AND (p.ordinal, p.part) < (w.ordinal, w.first_part)
      AND p.kind = any(CAST(:kinds AS text [])) AND p.said_at <= CAST(:now AS timestamptz)
      AND (CAST(:known_at AS timestamptz) IS NULL OR p.recorded_at <= CAST(:known_at AS timestamptz))
    ORDER BY p.source_id DESC, p.session DESC, p.ordinal DESC, p.part DESC
    LIMIT :reach
  )
  UNION ALL
  (
    SELECT p.*
    FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = w.source_id AND p.session = w.session
      AND (p.ordinal, p.part) > (w.ordinal, w.last_part)
      AND p.kind = any(CAST(:kinds AS text [])) AND p.said_at <= CAST(:now AS timestamptz)
      AND (CAST(:known_at AS timestamptz) IS NULL OR p.recorded_at <= CAST(:known_at AS timestamptz))
    ORDER BY p.source_id, p.session, p.ordinal, p.part
    LIMIT :reach
  )
) AS n
ORDER BY w.place, n.ordinal, n.part;

-- name: context_instructions
SELECT i.node_id, i.label, i.description, i.category, i.conditions, i.core, i.asserted_by, i.recorded_from
FROM memsvc.standing_instructions(
  :user_id, CAST(:now AS timestamptz), CAST(:known_at AS timestamptz), :core, CAST(:categories AS text []), :limit
) AS i;

-- name: context_spoken
SELECT s.said_at, s.said_offset
FROM memsvc.last_spoken(
  :user_id, CAST(:now AS timestamptz), CAST(:known_at AS timestamptz), CAST(:sitting AS interval)
) AS s
ORDER BY s.said_at DESC;
