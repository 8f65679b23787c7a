-- Statements of memsvc.turns.

-- name: past_work
-- Past turns, as they are shown, best first: those whose texts memsvc.recall finds, as in the statement recall but for
-- names, and those that touched the documents that the work now touches. Nothing comes from the conversation that asks.
-- A bare file's name, where no project says where it is, is that of any document with this name. latest: without a
-- question and documents, the last turns. confidence: how likely it is that what is alike fits, as recall says it.
WITH model AS MATERIALIZED (
  SELECT m.*
  FROM memsvc.query_models(
    CAST(:model AS text), CAST(:vector AS public.halfvec), CAST(:other_model AS text),
    CAST(:other_vector AS public.halfvec), CAST(:tokens AS text)
  ) AS m
),

here AS MATERIALIZED (
  SELECT array_agg(s.source_id) AS conversations
  FROM memsvc.sources AS s
  WHERE s.user_id = :user_id AND s.kind = 'turn' AND s.identifier = CAST(:conversation AS text)
),

alike AS MATERIALIZED (
  SELECT
    coalesce(array_agg(r.memory_id), '{}') AS passages, coalesce(array_agg(r.score), '{}') AS scores,
    max(r.confidence) AS confidence
  FROM model
  CROSS JOIN here
  CROSS JOIN LATERAL memsvc.recall(
    :user_id, :query, :depth,
    jsonb_populate_record(
      memsvc.scope(), CAST(:scope AS jsonb) || jsonb_build_object('not_sources', here.conversations)
    ),
    memsvc.question(
      :form, :language, model.active_id, model.active_vector, model.tokens, model.other_id,
      model.other_vector, '{}', :hops, CAST(:begins AS timestamptz []), CAST(:ends AS timestamptz []),
      CAST(:sequence AS text)
    ),
    CAST(:weights AS jsonb), :candidates, CAST(:learnt AS jsonb)
  ) AS r
  WHERE CAST(:query AS text) <> ''
),

touched AS MATERIALIZED (
  SELECT coalesce(array_agg(t.source_id), '{}') AS documents
  FROM (
    (
      SELECT s.source_id
      FROM unnest(CAST(:locals AS text [])) AS n (name)
      INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.local = n.name
    )
    UNION
    (
      SELECT s.source_id
      FROM unnest(CAST(:identifiers AS text [])) AS n (name)
      INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.kind = 'document' AND s.identifier = n.name
    )
    UNION
    (
      SELECT s.source_id FROM memsvc.sources AS s
      WHERE s.user_id = :user_id AND s.kind = 'document' AND s.title = any(CAST(:titles AS text []))
        AND cardinality(CAST(:titles AS text [])) > 0
      ORDER BY s.source_id DESC
      LIMIT 20
    )
  ) AS t
),

found AS MATERIALIZED (
  SELECT p.*, row_number() OVER (ORDER BY p.score DESC, p.turn_id DESC) AS nth
  FROM touched AS t
  CROSS JOIN alike AS m
  CROSS JOIN here AS h
  CROSS JOIN LATERAL memsvc.past_turns(
    :user_id, m.passages, m.scores, t.documents, CAST(:project AS text), :within, CAST(:tool AS text),
    CAST(:ok AS boolean), h.conversations[1], :limit, CAST(:agent AS text), :within_files, :latest
  ) AS p
)

SELECT f.score, f.factors, a.confidence, s.*
FROM found AS f
CROSS JOIN alike AS a
INNER JOIN memsvc.turns_shown(:user_id, (SELECT array_agg(o.turn_id) FROM found AS o)) AS s ON f.turn_id = s.turn_id
ORDER BY f.nth;

-- name: open_turn
-- The last open turn of a conversation of an agent, and the next call's number.
SELECT t.session, (
  SELECT coalesce(max(c.number) + 1, 0) FROM memsvc.tool_calls AS c
  WHERE c.user_id = :user_id AND c.turn_id = t.turn_id
) AS calls
FROM memsvc.turns AS t
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = t.source_id
WHERE t.user_id = :user_id AND s.kind = 'turn' AND s.identifier = :conversation AND t.ended_at IS NULL
ORDER BY t.turn_id DESC
LIMIT 1;

-- name: calls_known
-- Calls of a turn that have their results, so that they need not be sent again. arguments: null if they are long, or
-- have masks: then they cannot be compared.
SELECT
  c.call_id, c.tool, encode(c.result_sha256, 'hex') AS sha256, CASE
    WHEN pg_column_size(c.arguments) < 2000 AND CAST(c.arguments AS text) NOT LIKE '%[secret:%' THEN c.arguments
  END AS arguments
FROM memsvc.sources AS s
INNER JOIN memsvc.turns AS t ON t.user_id = :user_id AND t.source_id = s.source_id AND t.session = :session
INNER JOIN memsvc.tool_calls AS c ON c.user_id = :user_id AND c.turn_id = t.turn_id
WHERE s.user_id = :user_id AND s.kind = 'turn' AND s.identifier = :conversation AND c.call_id IS NOT NULL
  AND c.result_sha256 IS NOT NULL;

-- name: calls_waiting
-- Calls with these ids in the last open turn of a conversation that has one of them.
WITH here AS MATERIALIZED (
  SELECT t.turn_id, t.session
  FROM memsvc.sources AS s
  INNER JOIN memsvc.turns AS t ON t.user_id = :user_id AND t.source_id = s.source_id AND t.ended_at IS NULL
  WHERE s.user_id = :user_id AND s.kind = 'turn' AND s.identifier = :conversation AND EXISTS (
    SELECT FROM memsvc.tool_calls AS c
    WHERE c.user_id = :user_id AND c.turn_id = t.turn_id AND c.call_id = any(CAST(:ids AS text []))
  )
  ORDER BY t.turn_id DESC
  LIMIT 1
)

SELECT h.session, c.call_id, c.tool, c.arguments
FROM here AS h
INNER JOIN memsvc.tool_calls AS c
  ON c.user_id = :user_id AND c.turn_id = h.turn_id AND c.call_id = any(CAST(:ids AS text []));

-- name: document_named
-- A document's names, as past work shows them, and its last version.
SELECT
  s.source_id AS document_id, coalesce(s.local, s.identifier) AS document, d.version,
  coalesce(d.versions, 0) AS versions, coalesce(d.volatility, 0) AS volatility,
  coalesce(d.familiarity, 0) AS familiarity
FROM memsvc.sources AS s
LEFT JOIN memsvc.document_signals AS d ON d.user_id = :user_id AND d.document_id = s.source_id
WHERE s.user_id = :user_id AND s.kind = 'document' AND s.source_id = :document_id;

-- name: version_causes
-- Versions of a document, the newest first, each with what made it: the first turn with a call that wrote it; of a
-- version that came from outside, the first turn that found it.
SELECT
  v.version, CASE WHEN v.by_agent THEN 'inbound' ELSE 'external' END AS cause, v.sha256, v.bytes, v.chunked,
  v.recorded_from, nullif(v.recorded_to, 'infinity') AS recorded_to, t.turn_id, t.conversation, t.session AS id,
  t.agent, t.tool, t.number
FROM memsvc.document_versions AS v
LEFT JOIN LATERAL (
  SELECT t.turn_id, s.identifier AS conversation, t.session, t.agent, c.tool, c.number
  FROM memsvc.tool_calls AS c
  INNER JOIN memsvc.turns AS t ON t.user_id = :user_id AND t.turn_id = c.turn_id
  INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = t.source_id
  WHERE c.user_id = :user_id AND c.document_id = :document_id AND c.version = v.version AND c.wrote = v.by_agent
  ORDER BY c.turn_id, c.number
  LIMIT 1
) AS t ON TRUE
WHERE v.user_id = :user_id AND v.source_id = :document_id
  AND (CAST(:before AS integer) IS NULL OR v.version < CAST(:before AS integer))
ORDER BY v.version DESC
LIMIT :limit;

-- name: turns_that_touched
-- Turns that touched a document, the last first, each with the last version that it saw or wrote.
SELECT
  k.turn_id, s.identifier AS conversation, t.session AS id, t.project, t.agent, t.begun_at AS at, k.version,
  n.version AS current_version, n.version - k.version AS staleness, k.wrote
FROM (
  SELECT c.turn_id, max(c.version) AS version, bool_or(c.wrote) AS wrote
  FROM memsvc.tool_calls AS c
  WHERE c.user_id = :user_id AND c.document_id = :document_id
    AND (CAST(:before AS uuid) IS NULL OR c.turn_id < CAST(:before AS uuid))
  GROUP BY c.turn_id
  ORDER BY c.turn_id DESC
  LIMIT :limit
) AS k
INNER JOIN memsvc.turns AS t ON t.user_id = :user_id AND t.turn_id = k.turn_id
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = t.source_id
CROSS JOIN LATERAL (
  SELECT max(v.version) AS version FROM memsvc.document_versions AS v
  WHERE v.user_id = :user_id AND v.source_id = :document_id
) AS n
ORDER BY k.turn_id DESC;
