-- owner: memsvc_eraser

-- Removes the words of passages from the statistics, as if they had never been stored. Pending deltas are folded first,
-- under the same lock, so that a term's count is complete when it is lowered.
CREATE OR REPLACE FUNCTION memsvc.forget_words(p_user_id uuid, p_passages uuid[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  deleted_terms bigint;
BEGIN
  PERFORM memsvc.fold_statistics(p_user_id);
  UPDATE corpora AS c
  SET passages = greatest(c.passages - s.passages, 0), length = greatest(c.length - s.length, 0)
  FROM (
    SELECT p.kind, f.form, count(*) AS passages, sum(f.length) AS length
    FROM passages AS p
    CROSS JOIN LATERAL (VALUES ('stemmed', p.length), ('simple', p.length_simple)) AS f (form, length)
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    GROUP BY p.kind, f.form
  ) AS s
  WHERE c.user_id = p_user_id AND c.kind = s.kind AND c.form = s.form;
  DELETE FROM corpora AS c WHERE c.user_id = p_user_id AND c.passages = 0;

  WITH lost AS MATERIALIZED (
    SELECT * FROM memsvc.terms_of(p_user_id, p_passages)
  ),
  lowered AS (
    UPDATE terms AS t SET passages = t.passages - l.passages
    FROM lost AS l
    WHERE t.user_id = p_user_id AND t.kind = l.kind AND t.form = l.form AND t.term = l.term AND t.passages > l.passages
  ),
  deleted AS (
    DELETE FROM terms AS t USING lost AS l
    WHERE t.user_id = p_user_id AND t.kind = l.kind AND t.form = l.form AND t.term = l.term AND t.passages <= l.passages
    RETURNING t.term
  )
  SELECT count(*) INTO deleted_terms FROM deleted;
  RETURN deleted_terms;
END
$$;
COMMENT ON FUNCTION memsvc.forget_words(uuid, uuid[]) IS
  'Removes words of passages from the statistics; returns how many terms were deleted.';
