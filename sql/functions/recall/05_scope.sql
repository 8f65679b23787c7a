-- What may be recalled, and what is asked: two values that are made once, passed on as they are, and checked here.

-- Kinds of passages that are recalled by default.
CREATE OR REPLACE FUNCTION memsvc.recalled_kinds() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT array_agg(k.kind) FROM memsvc.passage_kinds() AS k WHERE k.recalled;
END;
COMMENT ON FUNCTION memsvc.recalled_kinds() IS 'Kinds that are recalled by default.';

-- A scope; what is left out narrows nothing. p_kinds: kinds of passages. p_sources, p_not_sources, p_source_kinds:
-- where it comes from. p_said_from, p_said_to: when it was said; p_speakers: by whom. p_as_of: what held then (null:
-- now); p_ended: also what has ended by then. p_known_at: what was recorded by then (null: now). p_near: what speaks of
-- one of these nodes, as they are stored. p_types: of the nodes and edges that facts, cards, notes and instructions are
-- about. p_least_importance: 1 to 10; what nobody judged has 5. p_metadata: what its metadata contains. p_roles: in which
-- roles it was said. p_include_archived: also what forgetting has archived; with p_known_at, what was not archived then
-- is there anyway.
DROP FUNCTION IF EXISTS memsvc.scope( -- of releases before
  text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz, uuid[], text[], text[], text[], real,
  jsonb, boolean
) CASCADE;
DROP FUNCTION IF EXISTS memsvc.scope(
  text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz, uuid[], text[], text[], text[], real,
  jsonb, boolean, text[]
) CASCADE;
CREATE OR REPLACE FUNCTION memsvc.scope(
  p_kinds text[] DEFAULT memsvc.recalled_kinds(), p_sources uuid[] DEFAULT NULL, p_not_sources uuid[] DEFAULT NULL,
  p_said_from timestamptz DEFAULT NULL, p_said_to timestamptz DEFAULT NULL, p_as_of timestamptz DEFAULT NULL,
  p_known_at timestamptz DEFAULT NULL, p_near uuid[] DEFAULT NULL, p_speakers text[] DEFAULT NULL,
  p_source_kinds text[] DEFAULT NULL, p_types text[] DEFAULT NULL, p_least_importance real DEFAULT NULL,
  p_metadata jsonb DEFAULT NULL, p_ended boolean DEFAULT false, p_roles text[] DEFAULT NULL,
  p_include_archived boolean DEFAULT false
) RETURNS memsvc.scope
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN ROW(
  coalesce(p_kinds, memsvc.recalled_kinds()), p_sources, p_not_sources, p_said_from, p_said_to, p_as_of, p_known_at,
  p_near, p_speakers, p_source_kinds, p_types, p_least_importance, p_metadata, p_ended, p_roles, p_include_archived
)::memsvc.scope;
COMMENT ON FUNCTION memsvc.scope(
  text[], uuid[], uuid[], timestamptz, timestamptz, timestamptz, timestamptz, uuid[], text[], text[], text[], real,
  jsonb, boolean, text[], boolean
) IS 'What may be recalled: kinds, sources, times, speakers and the like; what is left out narrows nothing.';

-- Whether a scope asks where something comes from.
CREATE OR REPLACE FUNCTION memsvc.asks_whence(p_scope memsvc.scope) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN num_nonnulls(
  p_scope.sources, p_scope.not_sources, p_scope.said_from, p_scope.said_to, p_scope.speakers, p_scope.source_kinds,
  p_scope.roles
) > 0;
COMMENT ON FUNCTION memsvc.asks_whence(memsvc.scope) IS 'Whether a scope asks where something comes from.';

-- Whether a scope narrows more than kinds.
CREATE OR REPLACE FUNCTION memsvc.is_filtered(p_scope memsvc.scope) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN memsvc.asks_whence(p_scope)
  OR num_nonnulls(p_scope.as_of, p_scope.known_at, p_scope.types, p_scope.least_importance, p_scope.metadata) > 0;
COMMENT ON FUNCTION memsvc.is_filtered(memsvc.scope) IS 'Whether a scope narrows more than kinds.';

-- Whether a source is of a kind; and how important a memory is: as it was judged, else as its node is, else 5.
CREATE OR REPLACE FUNCTION memsvc.is_source_of(p_user_id uuid, p_source_id uuid, p_kinds text[]) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = p_source_id AND s.kind = ANY (p_kinds)
  );
END
$$;
COMMENT ON FUNCTION memsvc.is_source_of(uuid, uuid, text[]) IS 'Whether a source is of some kinds.';

CREATE OR REPLACE FUNCTION memsvc.importance_of(p memsvc.passages) RETURNS real
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN coalesce(
    (SELECT g.importance FROM memory_signals AS g WHERE g.user_id = p.user_id AND g.memory_id = p.passage_id),
    (SELECT v.importance FROM node_versions AS v WHERE v.user_id = p.user_id AND v.version_id = p.version_id),
    5
  );
END
$$;
COMMENT ON FUNCTION memsvc.importance_of(memsvc.passages) IS 'How important a memory is, 1 to 10.';

-- Whether what a version of an edge says is archived.
CREATE OR REPLACE FUNCTION memsvc.is_archived(p_user_id uuid, p_version_id uuid) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = p_version_id AND p.archived_at IS NOT NULL
  );
END
$$;
COMMENT ON FUNCTION memsvc.is_archived(uuid, uuid) IS 'Whether what a version of an edge says is archived.';

-- Whether a passage itself comes from where a scope asks. Inlined, as those below.
CREATE OR REPLACE FUNCTION memsvc.is_from(p_scope memsvc.scope, p memsvc.passages) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN (p_scope.sources IS NULL OR p.source_id = ANY (p_scope.sources))
  AND (p_scope.not_sources IS NULL OR p.source_id <> ALL (p_scope.not_sources))
  AND (p_scope.said_from IS NULL OR p.said_at >= p_scope.said_from)
  AND (p_scope.said_to IS NULL OR p.said_at < p_scope.said_to)
  AND (p_scope.speakers IS NULL OR (p.version_id IS NULL AND p.speaker = ANY (p_scope.speakers)))
  AND (p_scope.roles IS NULL OR (p.kind IN ('message', 'trace') AND p.role = ANY (p_scope.roles)))
  AND CASE WHEN p_scope.source_kinds IS NULL THEN true
    ELSE memsvc.is_source_of(p.user_id, p.source_id, p_scope.source_kinds) END;
COMMENT ON FUNCTION memsvc.is_from(memsvc.scope, memsvc.passages) IS
  'Whether a passage comes from where a scope asks.';

-- What is known comes from the messages that support it, as known at the scope's time: a summary, a concept or a
-- reflection from all of them, for it has words of each; what nothing supports stands for itself.
CREATE OR REPLACE FUNCTION memsvc.is_supported_from(p_scope memsvc.scope, p memsvc.passages) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-bitmap
AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_scope.known_at, 'infinity');
BEGIN
  RETURN coalesce((
    SELECT CASE WHEN p.kind IN ('summary', 'concept', 'reflection') THEN bool_and(m.fits) ELSE bool_or(m.fits) END
    FROM (
      SELECT i.passage_id, i.stance, i.recorded_from, i.recorded_to FROM source_links AS i
      WHERE i.user_id = p.user_id AND p.kind = 'fact' AND i.edge_version_id = ANY (ARRAY[p.version_id])
      UNION ALL
      SELECT i.passage_id, i.stance, i.recorded_from, i.recorded_to FROM source_links AS i
      WHERE i.user_id = p.user_id AND p.kind <> 'fact' AND i.node_version_id = ANY (ARRAY[p.version_id])
    ) AS l
    CROSS JOIN LATERAL (
      SELECT memsvc.is_from(p_scope, i) AS fits FROM passages AS i
      WHERE i.user_id = p.user_id AND i.passage_id = ANY (ARRAY[l.passage_id])
      ORDER BY i.passage_id OFFSET 0
    ) AS m
    WHERE l.stance = 'supports' AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  ), memsvc.is_from(p_scope, p));
END
$$;
COMMENT ON FUNCTION memsvc.is_supported_from(memsvc.scope, memsvc.passages) IS
  'Whether what is known comes from where a scope asks.';

-- Whether a passage may be recalled, but for where it comes from. A message holds from when it was said; what is known
-- holds as its version does, and is known from recorded_at until recorded_to.
CREATE OR REPLACE FUNCTION memsvc.holds_in(p_scope memsvc.scope, p memsvc.passages) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN p.kind = ANY (p_scope.kinds)
  AND (p.archived_at IS NULL OR p_scope.include_archived OR p.archived_at > p_scope.known_at)
  AND (p_scope.known_at IS NULL OR p.recorded_at <= p_scope.known_at)
  AND (p.recorded_to = 'infinity' OR p.recorded_to > p_scope.known_at)
  AND CASE WHEN p.version_id IS NULL THEN p_scope.as_of IS NULL OR p.said_at <= p_scope.as_of
    ELSE p.valid_from <= coalesce(p_scope.as_of, now())
      AND (p.valid_to > coalesce(p_scope.as_of, now()) OR p_scope.ended) END
  AND (p_scope.types IS NULL OR p.subject_type = ANY (p_scope.types))
  AND (p_scope.metadata IS NULL OR (p.metadata <> '{}' AND p.metadata @> p_scope.metadata))
  AND CASE WHEN p_scope.least_importance IS NULL THEN true
    ELSE memsvc.importance_of(p) >= p_scope.least_importance END;
COMMENT ON FUNCTION memsvc.holds_in(memsvc.scope, memsvc.passages) IS
  'Whether a passage may be recalled, but for where it comes from.';

-- Whether a passage may be recalled: the one place that asks it.
CREATE OR REPLACE FUNCTION memsvc.in_scope(p_scope memsvc.scope, p memsvc.passages) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN memsvc.holds_in(p_scope, p) AND CASE
  WHEN NOT memsvc.asks_whence(p_scope) THEN true
  WHEN p.version_id IS NULL THEN memsvc.is_from(p_scope, p)
  ELSE memsvc.is_supported_from(p_scope, p)
END;
COMMENT ON FUNCTION memsvc.in_scope(memsvc.scope, memsvc.passages) IS 'Whether a passage may be recalled.';

-- What is asked, beside the query's words. p_form: stemmed or simple. p_vector, p_tokens: the query's, by p_model_id,
-- the active model; p_other_vector by the one that leaves. p_nodes: what the query names (memsvc.names_in_query),
-- looked at p_hops steps around. p_begins, p_ends: times that it names, as windows; p_sequence: first or last, where it
-- asks for that.
CREATE OR REPLACE FUNCTION memsvc.question(
  p_form text DEFAULT 'stemmed', p_language text DEFAULT 'english', p_model_id smallint DEFAULT NULL,
  p_vector public.halfvec DEFAULT NULL, p_tokens bit(128)[] DEFAULT NULL, p_other_model_id smallint DEFAULT NULL,
  p_other_vector public.halfvec DEFAULT NULL, p_nodes uuid[] DEFAULT '{}', p_hops integer DEFAULT 1,
  p_begins timestamptz[] DEFAULT '{}', p_ends timestamptz[] DEFAULT '{}', p_sequence text DEFAULT NULL
) RETURNS memsvc.question
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN ROW(
  p_form, p_language, p_model_id, p_vector, p_tokens, p_other_model_id, p_other_vector, p_nodes, p_hops, p_begins,
  p_ends, p_sequence
)::memsvc.question;
COMMENT ON FUNCTION memsvc.question(
  text, text, smallint, public.halfvec, bit[], smallint, public.halfvec, uuid[], integer, timestamptz[], timestamptz[],
  text
) IS 'What is asked, beside the query''s words: form, language, vectors, names and times.';

-- Which of the given models are the active one and the one that is leaving, at this moment, with a query's vectors by
-- each. One row; nulls for a model that is neither, or has no vector: such a query is asked by words alone.
--
-- p_tokens: the query's token vectors by the active model, as text.
CREATE OR REPLACE FUNCTION memsvc.query_models(
  p_model text, p_vector public.halfvec, p_other_model text, p_other_vector public.halfvec, p_tokens text DEFAULT NULL
) RETURNS TABLE (
  active_id smallint, active_vector public.halfvec, tokens bit(128)[], other_id smallint, other_vector public.halfvec
)
LANGUAGE sql STABLE ROWS 1
-- callers: app, reader
BEGIN ATOMIC
  SELECT
    max(m.model_id) FILTER (WHERE m.state = 'active'),
    (array_agg(v.vector) FILTER (WHERE m.state = 'active'))[1],
    (max(v.tokens) FILTER (WHERE m.state = 'active'))::bit(128)[],
    max(m.model_id) FILTER (WHERE m.state = 'leaving'),
    (array_agg(v.vector) FILTER (WHERE m.state = 'leaving'))[1]
  FROM (VALUES (p_model, p_vector, p_tokens), (p_other_model, p_other_vector, NULL)) AS v (name, vector, tokens)
  INNER JOIN memsvc.embedding_models AS m ON m.name = v.name AND v.vector IS NOT NULL;
END;
COMMENT ON FUNCTION memsvc.query_models(text, public.halfvec, text, public.halfvec, text) IS
  'Which of the given models are active and leaving, with a query''s vectors by each.';
