-- owner: memsvc_eraser

-- Removes passages from what extraction stores, as a part of an erasure and under its locks: facts under review are
-- deleted with the passage in which they were found, the watermarks of a source move to the previous passage, and
-- passages that could not be read are not tried again. Returns the number of deleted reviews.
CREATE OR REPLACE FUNCTION memsvc.forget_readings(p_user_id uuid, p_passages uuid[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM fact_reviews AS d WHERE d.user_id = p_user_id AND d.passage_id = ANY (p_passages);
  GET DIAGNOSTICS gone = ROW_COUNT;
  UPDATE extractions AS e
  SET (upto, begun_after, again_upto) = (
    SELECT max(m.moved::text) FILTER (WHERE m.mark = 'upto')::uuid,
      max(m.moved::text) FILTER (WHERE m.mark = 'begun_after')::uuid,
      max(m.moved::text) FILTER (WHERE m.mark = 'again_upto')::uuid
    FROM (
      SELECT w.mark, CASE WHEN w.at = ANY (p_passages) THEN (
        SELECT p.passage_id FROM passages AS p
        WHERE p.user_id = p_user_id AND p.source_id = e.source_id AND p.kind = 'message' AND p.passage_id < w.at
          AND p.passage_id NOT IN (SELECT unnest(p_passages))
        ORDER BY p.user_id DESC, p.source_id DESC, p.passage_id DESC
        LIMIT 1
      ) ELSE w.at END AS moved
      FROM (
        VALUES ('upto', e.upto), ('begun_after', e.begun_after), ('again_upto', e.again_upto)
      ) AS w (mark, at)
    ) AS m
  )
  WHERE e.user_id = p_user_id AND ARRAY[e.upto, e.begun_after, e.again_upto] && p_passages
    AND e.source_id IN (
      SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    );
  UPDATE extractions AS e
  SET passed_over = ARRAY(
    SELECT o.id FROM unnest(e.passed_over) WITH ORDINALITY AS o (id, position)
    WHERE o.id NOT IN (SELECT unnest(p_passages))
    ORDER BY o.position
  )
  WHERE e.user_id = p_user_id AND e.passed_over <> '{}'
    AND e.source_id IN (
      SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    );
  RETURN gone;
END
$$;
COMMENT ON FUNCTION memsvc.forget_readings(uuid, uuid[]) IS
  'Removes passages from what extraction stores; number of deleted facts under review.';
