-- BM25 statistics: counts words of passages, folds writers' deltas, and finds what an erasure removes.

-- Moves a user's deltas into corpora and terms. It is one transaction, so readers always see the right sum of both.
-- Concurrent folds of one user take turns at a lock, and terms are upserted in order.
CREATE OR REPLACE FUNCTION memsvc.fold_statistics(p_user_id uuid) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
AS $$
DECLARE
  folded integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || p_user_id::text, 0));
  WITH taken AS MATERIALIZED (
    DELETE FROM term_deltas AS d WHERE d.user_id = p_user_id
    RETURNING d.kind, d.form, d.passages, d.length, d.terms, d.changes
  ),
  sizes AS (
    INSERT INTO corpora AS c (user_id, kind, form, passages, length)
    SELECT p_user_id, t.kind, t.form, sum(t.passages), sum(t.length) FROM taken AS t GROUP BY t.kind, t.form
    ON CONFLICT (user_id, kind, form) DO UPDATE
    SET passages = c.passages + excluded.passages, length = c.length + excluded.length
  ),
  frequencies AS (
    INSERT INTO terms AS f (user_id, kind, form, term, passages)
    SELECT p_user_id, t.kind, t.form, u.term, sum(u.change)
    FROM taken AS t CROSS JOIN LATERAL unnest(t.terms, t.changes) AS u (term, change)
    GROUP BY t.kind, t.form, u.term
    ORDER BY t.kind, t.form, u.term
    ON CONFLICT (user_id, kind, form, term) DO UPDATE SET passages = f.passages + excluded.passages
  )
  SELECT count(*) INTO folded FROM taken;
  RETURN folded;
END
$$;
COMMENT ON FUNCTION memsvc.fold_statistics(uuid) IS
  'Moves a user''s term deltas into corpora and terms; returns their number.';

-- Each recall reads all unfolded deltas. Every job folds them; if none did for about sixty writes, the writer does. It
-- does not wait for another fold, so there is no deadlock. It leaves long work to jobs: many deltas, or the words of large
-- batches (250,000 bytes are about 20,000 words).
CREATE OR REPLACE FUNCTION memsvc.fold_when_many(p_user_id uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  IF (
    SELECT count(*) BETWEEN 128 AND 255 AND sum(pg_column_size(o.terms)) < 250000
    FROM (SELECT d.terms FROM term_deltas AS d WHERE d.user_id = p_user_id ORDER BY d.delta_id LIMIT 256) AS o
  ) AND pg_try_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || p_user_id::text, 0))
  THEN
    PERFORM memsvc.fold_statistics(p_user_id);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.fold_when_many(uuid) IS 'Folds a user''s deltas if no job did for about sixty writes.';

-- In how many passages each term occurs, by kind and form: what the statistics lose with these passages.
CREATE OR REPLACE FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[])
RETURNS TABLE (kind text, form text, term text, passages bigint)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT p.kind, f.form, f.term, count(*)
  FROM memsvc.passages AS p
  CROSS JOIN LATERAL (
    SELECT 'stemmed' AS form, s.term FROM unnest(tsvector_to_array(p.tsv)) AS s (term)
    UNION ALL
    SELECT 'simple', s.term FROM unnest(tsvector_to_array(p.tsv_simple)) AS s (term)
  ) AS f
  WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
  GROUP BY p.kind, f.form, f.term;
END;
COMMENT ON FUNCTION memsvc.terms_of(uuid, uuid[]) IS 'In how many of these passages each term occurs.';

-- Counts the words of passages that were just stored or have a new kind.
CREATE OR REPLACE FUNCTION memsvc.count_words(p_user_id uuid, p_passages uuid[]) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes)
  SELECT p_user_id, c.kind, c.form, c.passages, c.length, coalesce(t.terms, '{}'), coalesce(t.changes, '{}')
  FROM (
    SELECT p.kind, f.form, count(*) AS passages, sum(f.length) AS length
    FROM memsvc.passages AS p
    CROSS JOIN LATERAL (VALUES ('stemmed', p.length), ('simple', p.length_simple)) AS f (form, length)
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    GROUP BY p.kind, f.form
  ) AS c
  LEFT JOIN (
    SELECT o.kind, o.form, array_agg(o.term) AS terms, array_agg(o.passages::integer) AS changes
    FROM memsvc.terms_of(p_user_id, p_passages) AS o
    GROUP BY o.kind, o.form
  ) AS t ON t.kind = c.kind AND t.form = c.form;
END;
COMMENT ON FUNCTION memsvc.count_words(uuid, uuid[]) IS 'Counts words of passages that were just stored.';
