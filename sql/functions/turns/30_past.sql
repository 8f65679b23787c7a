-- Past turns for what is asked now: by what recall found among their texts, and by the documents that both touch.

-- What each factor of past work counts for. request: points of recall of the turn's best passage, at least 0; documents:
-- shared documents, each 1 / (1 + ln(turns that touched it lately)), together at most 1; project: 1 in the same project;
-- staleness: share of the turn's documents' content that has changed since, s / (1 + s) for a mean of s versions;
-- familiarity: ln(conversations that touched the best known of its documents).
CREATE OR REPLACE FUNCTION memsvc.past_weights()
RETURNS TABLE (
  request double precision, documents double precision, project double precision, staleness double precision,
  familiarity double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
-- callers: app, reader
BEGIN ATOMIC
  VALUES (1.0, 3.0, 0.5, -0.3, 0.1);
END;
COMMENT ON FUNCTION memsvc.past_weights() IS 'What each factor of past work counts for.';

-- The last turns that touched some documents, 20 of each at most, with what that counts: rare documents count more.
CREATE OR REPLACE FUNCTION memsvc.turns_sharing(p_user_id uuid, p_documents uuid[])
RETURNS TABLE (turn_id uuid, shared double precision)
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT l.turn_id, least(sum(1 / (1 + ln(l.turns))), 1)::double precision
  FROM unnest(p_documents) AS d (document_id)
  CROSS JOIN LATERAL (
    SELECT c.turn_id, count(*) OVER () AS turns, row_number() OVER (ORDER BY c.turn_id DESC) AS nth
    FROM (
      SELECT DISTINCT k.turn_id
      FROM (
        SELECT c.turn_id FROM tool_calls AS c
        WHERE c.user_id = p_user_id AND c.document_id = d.document_id
        ORDER BY c.document_id DESC, c.turn_id DESC
        LIMIT 200
      ) AS k
    ) AS c
  ) AS l
  WHERE l.nth <= 20
  GROUP BY l.turn_id;
END
$$;
COMMENT ON FUNCTION memsvc.turns_sharing(uuid, uuid[]) IS
  'The last turns that touched some documents, and what that counts.';

-- How stale the documents of each turn are, as the mean of versions since, and how well the best known of them is known:
-- in how many conversations, by its last 200 calls. Of a turn 50 documents count.
CREATE OR REPLACE FUNCTION memsvc.turn_signals(p_user_id uuid, p_turns uuid[])
RETURNS TABLE (turn_id uuid, staleness double precision, familiarity bigint)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH touched AS MATERIALIZED (
    SELECT t.turn_id, d.document_id, d.version
    FROM unnest(p_turns) AS t (turn_id)
    LEFT JOIN LATERAL (
      SELECT c.document_id, max(c.version) AS version FROM tool_calls AS c
      WHERE c.user_id = p_user_id AND c.turn_id = t.turn_id AND c.document_id IS NOT NULL
      GROUP BY c.document_id
      ORDER BY c.document_id
      LIMIT 50
    ) AS d ON true
  ),
  document AS MATERIALIZED (
    SELECT d.document_id, n.version, k.conversations
    FROM (SELECT DISTINCT t.document_id FROM touched AS t WHERE t.document_id IS NOT NULL) AS d
    CROSS JOIN LATERAL (
      SELECT max(v.version) AS version FROM document_versions AS v
      WHERE v.user_id = p_user_id AND v.source_id = d.document_id
    ) AS n
    CROSS JOIN LATERAL (
      SELECT count(DISTINCT t.source_id) AS conversations
      FROM (
        SELECT c.turn_id FROM tool_calls AS c
        WHERE c.user_id = p_user_id AND c.document_id = d.document_id
        ORDER BY c.document_id DESC, c.turn_id DESC
        LIMIT 200
      ) AS c
      INNER JOIN turns AS t ON t.user_id = p_user_id AND t.turn_id = c.turn_id
    ) AS k
  )
  SELECT t.turn_id, coalesce(avg(d.version - t.version), 0)::double precision, coalesce(max(d.conversations), 0)
  FROM touched AS t
  LEFT JOIN document AS d ON d.document_id = t.document_id
  GROUP BY t.turn_id;
END
$$;
COMMENT ON FUNCTION memsvc.turn_signals(uuid, uuid[]) IS 'How stale and how well known the documents of turns are.';

-- Past turns, best first, with what each factor gave; the factors' sum is the score.
--
-- p_found, p_scores: passages that recall found, and their points. p_documents: what the work now touches. p_project:
-- where it is; p_within: only turns of that project. p_tool: only turns with a call of it. p_ok: true: only turns in which
-- nothing failed; false: only those in which something did. p_not: never of this conversation. p_agent: only turns of
-- this agent. p_touching: only turns that touched one of the documents. p_latest: the last 1,000 turns count as found.
DROP FUNCTION IF EXISTS memsvc.past_turns( -- of releases before
  uuid, uuid[], double precision[], uuid[], text, boolean, text, boolean, uuid, integer
);
CREATE OR REPLACE FUNCTION memsvc.past_turns(
  p_user_id uuid, p_found uuid[], p_scores double precision[], p_documents uuid[], p_project text, p_within boolean,
  p_tool text, p_ok boolean, p_not uuid, p_limit integer, p_agent text DEFAULT NULL,
  p_touching boolean DEFAULT false, p_latest boolean DEFAULT false
) RETURNS TABLE (turn_id uuid, score double precision, factors jsonb)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH candidate AS MATERIALIZED (
    SELECT o.turn_id, max(o.request) AS request, max(o.shared) AS shared
    FROM (
      SELECT t.turn_id, greatest(f.points, 0) AS request, 0::double precision AS shared
      FROM unnest(p_found, p_scores) AS f (passage_id, points)
      CROSS JOIN LATERAL (
        SELECT p.source_id, p.session FROM passages AS p
        WHERE p.user_id = p_user_id AND p.passage_id = f.passage_id
      ) AS p
      INNER JOIN turns AS t ON t.user_id = p_user_id AND t.source_id = p.source_id AND t.session = p.session
      UNION ALL
      SELECT s.turn_id, 0, s.shared FROM memsvc.turns_sharing(p_user_id, p_documents) AS s
      UNION ALL
      (
        SELECT t.turn_id, 0, 0 FROM turns AS t
        WHERE p_latest AND t.user_id = p_user_id
        ORDER BY t.turn_id DESC
        LIMIT 1000
      )
    ) AS o
    GROUP BY o.turn_id
  ),
  fitting AS MATERIALIZED (
    SELECT c.turn_id, c.request * w.request AS request, c.shared * w.documents AS documents,
      CASE WHEN t.project = p_project THEN w.project ELSE 0 END AS project
    FROM candidate AS c
    INNER JOIN turns AS t ON t.user_id = p_user_id AND t.turn_id = c.turn_id
    CROSS JOIN memsvc.past_weights() AS w
    WHERE t.source_id IS DISTINCT FROM p_not AND (NOT p_within OR t.project = p_project)
      AND (p_tool IS NULL OR EXISTS (
        SELECT FROM tool_calls AS k WHERE k.user_id = p_user_id AND k.turn_id = t.turn_id AND k.tool = p_tool
      ))
      AND (p_agent IS NULL OR t.agent = p_agent)
      AND (NOT p_touching OR EXISTS (
        SELECT FROM tool_calls AS k
        WHERE k.user_id = p_user_id AND k.turn_id = t.turn_id AND k.document_id = ANY (p_documents)
      ))
      AND (p_ok IS NULL OR p_ok = (t.ok IS DISTINCT FROM false AND NOT EXISTS (
        SELECT FROM tool_calls AS k WHERE k.user_id = p_user_id AND k.turn_id = t.turn_id AND NOT k.ok
      )))
    ORDER BY c.request * w.request + c.shared * w.documents
      + CASE WHEN t.project = p_project THEN w.project ELSE 0 END DESC, c.turn_id DESC
    LIMIT 2 * p_limit
  ),
  judged AS MATERIALIZED (
    SELECT f.*, w.staleness * s.staleness / (1 + s.staleness) AS staleness,
      w.familiarity * ln(greatest(s.familiarity, 1)) AS familiarity
    FROM fitting AS f
    CROSS JOIN memsvc.past_weights() AS w
    INNER JOIN memsvc.turn_signals(p_user_id, (SELECT array_agg(o.turn_id) FROM fitting AS o)) AS s
      ON s.turn_id = f.turn_id
  )
  SELECT j.turn_id, j.request + j.documents + j.project + j.staleness + j.familiarity, jsonb_build_object(
    'request', j.request, 'documents', j.documents, 'project', j.project, 'staleness', j.staleness,
    'familiarity', j.familiarity
  )
  FROM judged AS j
  ORDER BY j.request + j.documents + j.project + j.staleness + j.familiarity DESC, j.turn_id DESC
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.past_turns(
  uuid, uuid[], double precision[], uuid[], text, boolean, text, boolean, uuid, integer, text, boolean, boolean
) IS 'Past turns for what is asked now, best first, with what each factor gave.';

-- Turns as they are shown: request, calls, answer, and the documents with how stale they are. texts: ids of the
-- memories that hold it.
CREATE OR REPLACE FUNCTION memsvc.turns_shown(p_user_id uuid, p_turns uuid[])
RETURNS TABLE (
  turn_id uuid, conversation_id uuid, conversation text, session text, project text, agent text, commit_id text,
  ok boolean, done boolean, said_at timestamptz, said_offset smallint, request text, answer text, calls jsonb,
  documents jsonb, texts uuid[]
)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT t.turn_id, t.source_id, s.identifier, t.session, t.project, t.agent, t.commit_id, t.ok,
    t.ended_at IS NOT NULL, coalesce(x.said_at, t.begun_at), coalesce(x.said_offset, 0::smallint),
    coalesce(x.request, ''), x.answer, coalesce(c.calls, '[]'), coalesce(d.documents, '[]'),
    coalesce(x.texts, '{}')
  FROM unnest(p_turns) AS n (turn_id)
  INNER JOIN turns AS t ON t.user_id = p_user_id AND t.turn_id = n.turn_id
  INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = t.source_id
  CROSS JOIN LATERAL (
    SELECT min(p.said_at) AS said_at, min(p.said_offset) AS said_offset,
      string_agg(p.text, '' ORDER BY p.part) FILTER (WHERE p.ordinal = 0) AS request,
      string_agg(p.text, '' ORDER BY p.part) FILTER (WHERE p.ordinal = 2) AS answer,
      array_agg(p.passage_id ORDER BY p.ordinal) FILTER (WHERE p.part = 0) AS texts
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = t.source_id AND p.session = t.session
  ) AS x
  CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
      'number', k.number, 'tool', k.tool, 'told', k.told, 'ok', k.ok, 'exit_code', k.exit_code, 'ms', k.ms,
      'document_id', k.document_id
    ) ORDER BY k.number) AS calls
    FROM (
      SELECT k.* FROM tool_calls AS k
      WHERE k.user_id = p_user_id AND k.turn_id = t.turn_id
      ORDER BY k.number
      LIMIT 200
    ) AS k
  ) AS c
  CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
      'document_id', k.document_id, 'document', coalesce(o.local, o.identifier), 'version', k.version,
      'current_version', v.version, 'staleness', v.version - k.version, 'wrote', k.wrote
    ) ORDER BY k.first) AS documents
    FROM (
      SELECT k.document_id, max(k.version) AS version, bool_or(k.wrote) AS wrote, min(k.number) AS first
      FROM tool_calls AS k
      WHERE k.user_id = p_user_id AND k.turn_id = t.turn_id AND k.document_id IS NOT NULL
      GROUP BY k.document_id
      ORDER BY min(k.number)
      LIMIT 50
    ) AS k
    INNER JOIN sources AS o ON o.user_id = p_user_id AND o.source_id = k.document_id
    CROSS JOIN LATERAL (
      SELECT max(v.version) AS version FROM document_versions AS v
      WHERE v.user_id = p_user_id AND v.source_id = k.document_id
    ) AS v
  ) AS d;
END
$$;
COMMENT ON FUNCTION memsvc.turns_shown(uuid, uuid[]) IS 'Turns as they are shown, with the staleness of their documents.';
