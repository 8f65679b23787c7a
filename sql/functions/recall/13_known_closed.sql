-- owner: memsvc_eraser

-- Closes the passages of versions that were superseded or taken back: they stay for reads of the past, by their words,
-- and lose their vectors.
CREATE OR REPLACE FUNCTION memsvc.close_known(p_user_id uuid, p_versions uuid[], p_at timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  PERFORM memsvc.close_passages(memsvc.require_identity(p_user_id), p_versions, p_at);
END
$$;
COMMENT ON FUNCTION memsvc.close_known(uuid, uuid[], timestamptz[]) IS
  'Closes the passages of versions that do not stand any more.';
