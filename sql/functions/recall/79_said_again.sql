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
-- and the ids of all of them, the latest first. Texts are compared of those alone that are as long as another one of
-- theirs, and have the same words. What a script writes without spaces has three words where the index has three.
CREATE OR REPLACE FUNCTION memsvc.said_again(p_user_id uuid, p_memories memsvc.memory[])
RETURNS TABLE (memory_id uuid, times bigint, last_said timestamptz, ids uuid[])
LANGUAGE sql STABLE
ROWS 10
SET search_path = memsvc, public, pg_temp
-- callers: app, reader, recall
-- plans: kept, by-key, no-nested-loop
BEGIN ATOMIC
  WITH alike AS MATERIALIZED (
    SELECT m.memory_id, m.asks
    FROM (
      SELECT u.memory_id, u.asks, count(*) OVER (PARTITION BY u.speaker, u.role, u.length, u.asks) AS times
      FROM unnest(p_memories) AS u
      WHERE u.kind = 'passage' AND u.length > 2
    ) AS m
    WHERE m.times > 1
  ),
  worded AS MATERIALIZED ( -- comparing words costs a tenth of what writing a text plainly does
    SELECT p.passage_id, p.said_at, p.speaker, p.role, a.asks, coalesce(p.caption, '') AS caption, p.text,
      count(*) OVER (PARTITION BY p.speaker, p.role, a.asks, p.tsv_simple) AS times
    FROM memsvc.passages AS p
    INNER JOIN alike AS a ON a.memory_id = p.passage_id
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (ARRAY(SELECT a.memory_id FROM alike AS a))
      AND p.kind IN ('message', 'trace')
  ),
  said AS MATERIALIZED (
    SELECT w.passage_id, w.said_at, w.speaker, w.role, w.asks, w.caption, memsvc.plain_saying(w.text) AS text
    FROM worded AS w
    WHERE w.times > 1
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
