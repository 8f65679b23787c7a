-- Who is asking: the signed token in the setting memsvc.identity, `user.expiry.key.mac`.

-- The user that the transaction's token proves, or null: no token, a forged, expired or garbled one, a retired key.
-- HMAC-SHA256 (RFC 2104) from the built-in sha256, with both pads prepared in identity_keys. 8 microseconds, once per
-- statement where it is called as a scalar subquery; the query does no more than read the key, for expressions of a
-- query are prepared at each call, those of PL/pgSQL once. Both macs are hashed before they are compared, so that the
-- time that a comparison takes says nothing about the right one.
CREATE OR REPLACE FUNCTION memsvc.current_user_id() RETURNS uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
-- callers: app, reader, cypher, recall, eraser
-- plans: kept; planning takes longer than all of it, and some logins plan each time
AS $$
DECLARE
  field CONSTANT text[] := string_to_array(current_setting('memsvc.identity', true), '.');
  inner_pad bytea;
  outer_pad bytea;
  claim bytea;
  signed bytea;
BEGIN
  IF cardinality(field) IS DISTINCT FROM 4 THEN
    RETURN NULL;
  END IF;
  SELECT k.inner_pad, k.outer_pad INTO inner_pad, outer_pad
  FROM memsvc.identity_keys AS k
  WHERE k.key_id = field[3] AND k.retired_at IS NULL;
  claim := convert_to(field[1] || '.' || field[2] || '.' || field[3], 'UTF8');
  signed := sha256(convert_to(encode(sha256(outer_pad || sha256(inner_pad || claim)), 'hex'), 'UTF8'));
  IF signed IS NULL OR signed <> sha256(convert_to(field[4], 'UTF8')) THEN
    RETURN NULL;
  END IF;
  -- The mac is right, so the fields are as we wrote them and the casts cannot fail.
  IF to_timestamp(field[2]::double precision) <= clock_timestamp() THEN
    RETURN NULL;
  END IF;
  RETURN field[1]::uuid;
END
$$;
COMMENT ON FUNCTION memsvc.current_user_id() IS 'The user proved by the signed token in memsvc.identity, or null.';

-- Definer functions that read past row security begin with this: it gives back the user if the token proves that user
-- and ends the statement otherwise. Tests replace the call by its argument and expect to see a leak.
CREATE OR REPLACE FUNCTION memsvc.require_identity(p_user_id uuid) RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
-- callers: app, reader, recall, eraser
AS $$
BEGIN
  IF p_user_id IS NULL OR p_user_id IS DISTINCT FROM memsvc.current_user_id() THEN
    RAISE EXCEPTION 'the identity token does not prove this user' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN p_user_id;
END
$$;
COMMENT ON FUNCTION memsvc.require_identity(uuid) IS
  'Its argument, if the identity token proves that user; an error otherwise.';

-- Whether somebody may act for a user: there is one, who is not being erased. Each transaction that is bound to a user
-- asks for it. A look-up by key, with a kept plan: planning it would take longer than the rest of the binding.
CREATE OR REPLACE FUNCTION memsvc.user_is_here(p_user_id uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
SET search_path = memsvc, pg_temp
-- callers: app, cypher
-- plans: kept
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM users AS u WHERE u.user_id = p_user_id AND u.erasing_since IS NULL);
END
$$;
COMMENT ON FUNCTION memsvc.user_is_here(uuid) IS 'Whether there is this user, and is not being erased.';

-- Acts for a user until the end of the transaction. Where that cannot be, an error ends it, so that nothing is done of
-- what was sent along. p_keep_plans: what the connection has prepared is not planned again; a plan that was made while
-- a table was small must go by an index all the same. p_erasing: also for one who is being erased, or was.
CREATE OR REPLACE FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
DECLARE
  said text; -- what is assigned costs a tenth of what is performed
BEGIN
  IF p_keep_plans THEN -- at first: it counts for what is asked below
    said := set_config('plan_cache_mode', 'force_generic_plan', true);
    said := set_config('enable_seqscan', 'off', true);
  END IF;
  said := set_config('memsvc.identity', p_token, true);
  IF (memsvc.current_user_id() = p_user_id) IS NOT TRUE THEN
    RAISE EXCEPTION 'the identity token does not prove this user' USING ERRCODE = 'MS004';
  END IF;
  IF NOT (p_erasing OR memsvc.user_is_here(p_user_id)) THEN
    RAISE EXCEPTION 'this user does not exist any more' USING ERRCODE = 'MS003';
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.act_for(uuid, text, boolean, boolean) IS
  'Binds the transaction to the user whom the token proves; an error where it proves another one or nobody.';
