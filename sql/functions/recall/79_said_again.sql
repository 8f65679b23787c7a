-- What was said again in the same words: recall gives it once, and says how often.

-- A text as it is compared: small letters, without signs between words, one space for each gap. Signs that belong to a
-- number (-5, $5, 50 %) remain.
CREATE OR REPLACE FUNCTION memsvc.plain_saying(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN btrim(regexp_replace(
  lower(p_text), '([[:space:].,;:!?…"''“”„‘’«»()\[\]–—。、，！？「」『』؟،।]|-(?![0-9]))+', ' ', 'g'
));
COMMENT ON FUNCTION memsvc.plain_saying(text) IS 'A text without case, spaces and punctuation, to compare.';

-- Messages among candidates that the same speaker said in the same words, of three words at least: how often, when last,
-- and the ids of all of them, the latest first. Texts are read of those alone that are as long as another one of
-- theirs. What a script writes without spaces has three words where the index has three.
CREATE OR REPLACE FUNCTION memsvc.said_again(p_user_id uuid, p_memories memsvc.memory[])
RETURNS TABLE (memory_id uuid, times bigint, last_said timestamptz, ids uuid[])
LANGUAGE sql STABLE
ROWS 10
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, by-key, no-nested-loop
BEGIN ATOMIC
  WITH alike AS MATERIALIZED (
    SELECT m.memory_id
    FROM (
      SELECT u.memory_id, count(*) OVER (PARTITION BY u.speaker, u.role, u.length, u.asks) AS times
      FROM unnest(p_memories) AS u
      WHERE u.kind = 'passage' AND u.length > 2
    ) AS m
    WHERE m.times > 1
  ),
  said AS MATERIALIZED (
    SELECT p.passage_id, p.said_at, p.speaker, p.role, memsvc.is_question(p.text) AS asks,
      coalesce(p.caption, '') AS caption, memsvc.plain_saying(p.text) AS text
    FROM memsvc.passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY(SELECT a.memory_id FROM alike AS a))
      AND p.kind IN ('message', 'trace')
  )
  SELECT s.passage_id, g.times, g.last_said, g.ids
  FROM (
    SELECT o.speaker, o.role, o.asks, o.caption, o.text, count(*) AS times, max(o.said_at) AS last_said,
      array_agg(o.passage_id ORDER BY o.said_at DESC, o.passage_id DESC) AS ids
    FROM said AS o
    WHERE o.text LIKE '% % %' OR memsvc.has_signs(o.text) OR memsvc.has_clusters(o.text)
    GROUP BY o.speaker, o.role, o.asks, o.caption, o.text
    HAVING count(*) > 1
  ) AS g
  INNER JOIN said AS s
    ON s.text = g.text AND s.speaker = g.speaker AND s.role = g.role AND s.asks = g.asks AND s.caption = g.caption;
END;
COMMENT ON FUNCTION memsvc.said_again(uuid, memsvc.memory[]) IS
  'Messages among candidates that were said again in the same words: how often, when last, and which.';
