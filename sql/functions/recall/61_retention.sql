-- How well a memory is retained, from which sleep mode's task forgetting decides what to archive (docs/sleep.md).

-- importance * strength / (1 + lambda * days idle), 0 to 1. p_importance: 0 to 1; p_recalls: how often it was recalled;
-- p_idle: since it was last recalled, or stored. strength falls with disuse and each recall makes it fall more slowly,
-- as in memsvc.recall_strength; what was never recalled begins at 1, too: 2^(-idle / (half-life * (1 + recalls))).
CREATE OR REPLACE FUNCTION memsvc.retention(
  p_importance double precision, p_recalls integer, p_idle interval, p_half_life interval, p_lambda double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader
RETURN p_importance * memsvc.recency(p_idle, p_half_life * (1 + greatest(coalesce(p_recalls, 0), 0)))
  / (1 + p_lambda * greatest(date_part('epoch', p_idle), 0) / 86400);
COMMENT ON FUNCTION memsvc.retention(double precision, integer, interval, interval, double precision) IS
  'How well a memory is retained, 0 to 1: importance * strength / (1 + lambda * days idle).';

-- How likely it is that somebody will ask for what messages tell, 0 to 1: their importance, where nobody has judged. A
-- logistic function of five traits, whose weights were fitted on LoCoMo (docs/adr/0054): the different stemmed words; how
-- many of these at most three of the user's messages hold; which share of its sentences are questions; whether the
-- message before asks something; whether something that is known rests on it. The scale is absolute: "Thanks!" has .01,
-- two sentences of news have .3.
CREATE OR REPLACE FUNCTION memsvc.likely_asked(p_user_id uuid, p_passages uuid[])
RETURNS TABLE (passage_id uuid, chance double precision)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key, no-nested-loop; estimates know nothing of how many words there are
AS $$
#variable_conflict use_column
DECLARE
  rare CONSTANT integer := 3;
  wanted text[];
BEGIN
  SELECT array_agg(DISTINCT t.term) INTO wanted
  FROM passages AS p CROSS JOIN LATERAL unnest(tsvector_to_array(p.tsv)) AS t (term)
  WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages);
  RETURN QUERY
  WITH common AS MATERIALIZED (
    SELECT c.term
    FROM (
      SELECT t.term, t.passages FROM terms AS t
      WHERE t.user_id = p_user_id AND t.kind = 'message' AND t.form = 'stemmed' AND t.term = ANY (wanted)
      UNION ALL
      SELECT u.term, u.change FROM term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
      WHERE d.user_id = p_user_id AND d.kind = 'message' AND d.form = 'stemmed'
    ) AS c
    GROUP BY c.term
    HAVING sum(c.passages) > rare
  ),
  message AS MATERIALIZED (
    SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.tsv, p.text FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
  ),
  worded AS MATERIALIZED (
    SELECT m.passage_id, count(t.term) AS words, count(t.term) - count(c.term) AS rare
    FROM message AS m
    LEFT JOIN LATERAL unnest(tsvector_to_array(m.tsv)) AS t (term) ON true
    LEFT JOIN common AS c ON c.term = t.term
    GROUP BY m.passage_id
  )
  SELECT m.passage_id, 1 / (1 + exp(
    5.7 - 1.1 * ln(1 + w.words::double precision) - 0.4 * ln(1 + w.rare::double precision)
    + least(1, regexp_count(m.text, '[?？؟]+')::double precision
      / greatest(1, regexp_count(m.text || '.', '[.!?…。？！؟।]+("|''|\)|\s|$)')))
    - CASE WHEN EXISTS (
      SELECT FROM passages AS b
      WHERE b.user_id = p_user_id AND b.source_id = m.source_id AND b.session = m.session AND b.ordinal = m.ordinal - 1
        AND b.text ~ '[?？؟]'
    ) THEN 1.1 ELSE 0 END
    - CASE WHEN EXISTS (
      SELECT FROM source_links AS l
      WHERE l.user_id = p_user_id AND l.passage_id = m.passage_id AND l.recorded_to = 'infinity'
    ) THEN 1 ELSE 0 END
  ))
  FROM message AS m INNER JOIN worded AS w ON w.passage_id = m.passage_id;
END
$$;
COMMENT ON FUNCTION memsvc.likely_asked(uuid, uuid[]) IS
  'How likely it is that somebody will ask for what messages tell, 0 to 1.';

-- Memories with how well they are retained, in the order of their ids behind p_after: a page of p_limit rows at most, of
-- whatever kind; no row: there are no more. memory_id: part 0; parts: all passages of it; retained: null where it is not
-- to be archived, whatever that would be: p_kinds alone are, each when it has been idle for as many of p_days, and
-- nothing that is archived, was superseded, is pinned, was recalled since signals were added up last, or on which a
-- line of the profile's core or an instruction rests. 0: a message of a conversation that got no message, and of which
-- nothing was recalled, for p_silent_days; turns of agents go by that alone.
CREATE OR REPLACE FUNCTION memsvc.retained_memories(
  p_user_id uuid, p_after uuid, p_limit integer, p_kinds text[], p_days integer[], p_silent_days integer,
  p_half_life interval, p_lambda double precision
) RETURNS TABLE (memory_id uuid, parts uuid[], retained double precision)
LANGUAGE plpgsql STABLE ROWS 1000
SET search_path = memsvc, pg_temp
-- callers: app, reader
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  today CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  WITH head AS MATERIALIZED (
    SELECT p.* FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id > p_after AND p.part = 0
    ORDER BY p.passage_id LIMIT p_limit
  ),
  part AS MATERIALIZED (
    SELECT h.passage_id AS memory_id, h.source_id, r.passage_id, r.kind, r.version_id, s.recalls, s.importance,
      coalesce(s.pinned, false) AS pinned, k.days, greatest(r.recorded_at, r.restored_at, s.last_recalled_at) AS used_at
    FROM head AS h
    INNER JOIN unnest(p_kinds, p_days) AS k (kind, days) ON k.kind = h.kind
    CROSS JOIN LATERAL (
      SELECT q.passage_id, q.kind, q.version_id, q.recorded_at, q.restored_at FROM passages AS q
      WHERE q.user_id = p_user_id AND q.source_id = h.source_id AND q.session = h.session AND q.ordinal = h.ordinal
        AND q.version_id IS NOT DISTINCT FROM h.version_id
      ORDER BY q.part OFFSET 0
    ) AS r
    LEFT JOIN memory_signals AS s ON s.user_id = p_user_id AND s.memory_id = r.passage_id
    WHERE h.archived_at IS NULL AND h.recorded_to = 'infinity' AND h.recorded_at <= today - make_interval(days => k.days)
  ),
  lately AS MATERIALIZED (
    SELECT DISTINCT m.id FROM recall_events AS e CROSS JOIN LATERAL unnest(e.memories) AS m (id)
    WHERE e.user_id = p_user_id AND e.folded_at IS NULL
  ),
  silent AS MATERIALIZED (
    SELECT c.source_id
    FROM sources AS c
    WHERE c.user_id = p_user_id AND c.source_id = ANY (
        ARRAY(SELECT DISTINCT p.source_id FROM part AS p WHERE p.kind IN ('message', 'turn'))
      )
      AND coalesce(c.last_ingested_at, c.created_at) < today - make_interval(days => p_silent_days)
      AND NOT EXISTS (
        SELECT FROM memory_signals AS s
        INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = s.memory_id
        WHERE s.user_id = p_user_id AND s.last_recalled_at >= today - make_interval(days => p_silent_days)
          AND p.source_id = c.source_id
      )
      AND NOT EXISTS (
        SELECT FROM lately AS l INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = l.id
        WHERE p.source_id = c.source_id
      )
  ),
  likely AS MATERIALIZED (
    SELECT l.* FROM memsvc.likely_asked(
      p_user_id, ARRAY(SELECT p.passage_id FROM part AS p WHERE p.kind = 'message' AND p.importance IS NULL)
    ) AS l
  ),
  rated AS (
    SELECT p.memory_id, array_agg(p.passage_id) AS parts, CASE
        WHEN bool_or(p.pinned OR p.passage_id IN (SELECT l.id FROM lately AS l)
          OR p.used_at > today - make_interval(days => p.days)
          OR EXISTS (
            SELECT FROM profile_evidence AS e
            INNER JOIN profile_versions AS v ON v.user_id = p_user_id AND v.version_id = e.version_id
            WHERE e.user_id = p_user_id AND e.passage_id = p.passage_id AND v.recorded_to = 'infinity'
          )
          OR EXISTS (
            SELECT FROM source_links AS l
            INNER JOIN passages AS i ON i.user_id = p_user_id AND i.passage_id = l.node_version_id
            WHERE l.user_id = p_user_id AND l.passage_id = p.passage_id AND l.recorded_to = 'infinity'
              AND i.kind = 'instruction'
          )) THEN NULL
        WHEN any_value(p.source_id) IN (SELECT s.source_id FROM silent AS s) THEN 0
        WHEN bool_or(p.kind = 'turn') THEN NULL
        ELSE max(memsvc.retention(
          coalesce(p.importance / 10.0, l.chance, CASE p.kind
            WHEN 'fact' THEN (
              SELECT v.confidence / 2 FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = p.version_id
            )
            ELSE (
              SELECT v.importance / 10.0 FROM node_versions AS v
              WHERE v.user_id = p_user_id AND v.version_id = p.version_id
            )
          END, 0.5)::double precision, p.recalls, today - p.used_at, p_half_life, p_lambda
        ))
      END AS retained
    FROM part AS p
    LEFT JOIN likely AS l ON l.passage_id = p.passage_id
    GROUP BY p.memory_id
  )
  SELECT h.passage_id, coalesce(r.parts, '{}'), r.retained
  FROM head AS h LEFT JOIN rated AS r ON r.memory_id = h.passage_id
  ORDER BY h.passage_id;
END
$$;
COMMENT ON FUNCTION memsvc.retained_memories(
  uuid, uuid, integer, text[], integer[], integer, interval, double precision
) IS 'A page of a user''s memories, with how well those that may be archived are retained.';

-- When something last happened in a user's memory, as far as the clock was right: a message, a recall, a run of sleep
-- mode. Null: nothing ever did.
CREATE OR REPLACE FUNCTION memsvc.last_activity(p_user_id uuid) RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader
BEGIN ATOMIC
  SELECT greatest(
    (SELECT p.recorded_at FROM memsvc.passages AS p WHERE p.user_id = p_user_id ORDER BY p.passage_id DESC LIMIT 1),
    (SELECT e.at FROM memsvc.recall_events AS e WHERE e.user_id = p_user_id ORDER BY e.recall_id DESC LIMIT 1),
    (SELECT r.started_at FROM memsvc.sleep_runs AS r WHERE r.user_id = p_user_id ORDER BY r.run_id DESC LIMIT 1)
  );
END;
COMMENT ON FUNCTION memsvc.last_activity(uuid) IS 'When something last happened in a user''s memory.';
