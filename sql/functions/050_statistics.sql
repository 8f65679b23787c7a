-- BM25 statistics: folding what writers noted.

-- Moves a user's deltas into corpora and terms. Readers see the sum of both at any moment, for it is one transaction;
-- folders of one user take turns at a lock, and terms are upserted in their order.
CREATE OR REPLACE FUNCTION memsvc.fold_statistics(p_user_id uuid) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
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
  'Moves a user''s term deltas into corpora and terms; how many there were.';
