-- owner: memsvc_eraser

-- Removes memories from what is stored about recalls, as a part of an erasure and under its locks: their signals are
-- deleted, and events lose their ids (the entry stays empty, so that ranks stay right). Returns the number of deleted
-- signals. Events have no index by memory, which would cost more than everything else about them. A folded event can
-- name only memories that have signals with recalls, so most erasures read only the few events that are not folded.
CREATE OR REPLACE FUNCTION memsvc.forget_recalls(p_user_id uuid, p_ids uuid[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- plans: by-key
AS $$
DECLARE
  recalled CONSTANT boolean := EXISTS (
    SELECT FROM memory_signals AS s WHERE s.user_id = p_user_id AND s.memory_id = ANY (p_ids) AND s.recalls > 0
  );
  named uuid[];
  gone bigint;
BEGIN
  IF recalled THEN
    named := ARRAY(
      SELECT e.recall_id FROM recall_events AS e CROSS JOIN LATERAL unnest(e.memories) AS m (id)
      WHERE e.user_id = p_user_id AND m.id IN (SELECT unnest(p_ids))
    );
  ELSE
    named := ARRAY(
      SELECT e.recall_id FROM recall_events AS e CROSS JOIN LATERAL unnest(e.memories) AS m (id)
      WHERE e.user_id = p_user_id AND e.folded_at IS NULL AND m.id IN (SELECT unnest(p_ids))
    );
  END IF;
  UPDATE recall_events AS e
  SET memories = ARRAY(
    SELECT CASE WHEN m.id NOT IN (SELECT unnest(p_ids)) THEN m.id END
    FROM unnest(e.memories) WITH ORDINALITY AS m (id, position) ORDER BY m.position
  )
  WHERE e.user_id = p_user_id AND e.recall_id = ANY (named);
  IF EXISTS (
    SELECT FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_ids) AND p.kind = 'instruction'
  ) THEN
    UPDATE recall_events AS e
    SET instructions = ARRAY(SELECT i.id FROM unnest(e.instructions) AS i (id) WHERE i.id <> ALL (p_ids))
    WHERE e.user_id = p_user_id AND e.instructions && p_ids;
  END IF;
  DELETE FROM memory_signals AS d WHERE d.user_id = p_user_id AND d.memory_id = ANY (p_ids);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;
COMMENT ON FUNCTION memsvc.forget_recalls(uuid, uuid[]) IS
  'Removes memories from recalls and signals; number of deleted signals.';
