-- Identity: the signed token in the setting memsvc.identity, `user.expiry.key.mac`. For a user who has moved between
-- cells, the first field is `user~epoch`.

-- Returns the user that the transaction's token proves. Returns null if there is no token, or it is forged, expired or
-- malformed, or its key is retired. The mac is HMAC-SHA256 (RFC 2104), computed with the built-in sha256 and both pads
-- from identity_keys. It takes 8 microseconds, once per statement if called as a scalar subquery. The query only reads
-- the key, because expressions of a query are prepared at each call and those of PL/pgSQL only once. Both macs are
-- hashed before the comparison, so that the time it takes reveals nothing about the right one.
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
  -- The mac is right, so memsvc wrote the fields and the casts cannot fail.
  IF to_timestamp(field[2]::double precision) <= clock_timestamp() THEN
    RETURN NULL;
  END IF;
  RETURN left(field[1], 36)::uuid;
END
$$;
COMMENT ON FUNCTION memsvc.current_user_id() IS 'The user proved by the signed token in memsvc.identity, or null.';

-- Definer functions that bypass row security call this first. It returns the user if the token proves that user;
-- otherwise it raises an error. Tests replace the call by its argument and expect a leak.
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
  'Returns its argument if the identity token proves that user; raises an error otherwise.';

-- Returns whether a user exists and is not being erased, so that a transaction may act for the user. Each transaction
-- that is bound to a user calls this. It reads by key with a kept plan: planning would take longer than the rest of the
-- binding.
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
COMMENT ON FUNCTION memsvc.user_is_here(uuid) IS 'Whether the user exists and is not being erased.';

-- Whether a transaction may act for a user in this database: 'here', 'away' (the user is in another cell, moving, or
-- has left since the token was made), or null (there is no such user, or the user is being erased). p_epoch is that of
-- the token; null: the token has none. It reads by key with a kept plan, as above.
CREATE OR REPLACE FUNCTION memsvc.whereabouts(p_user_id uuid, p_epoch integer) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
SET search_path = memsvc, pg_temp
-- callers: app, cypher
-- plans: kept
AS $$
DECLARE
  mine record;
BEGIN
  SELECT
    u.erasing_since IS NULL AS lives,
    u.cell_id = 0 AND u.moving IS DISTINCT FROM 'frozen' AND coalesce(p_epoch, u.epoch) = u.epoch AS is_here
  INTO mine
  FROM users AS u
  WHERE u.user_id = p_user_id;
  IF NOT FOUND THEN -- a user who has ever moved may just have left; the directory knows
    RETURN CASE WHEN p_epoch IS NOT NULL THEN 'away' END;
  END IF;
  RETURN CASE WHEN NOT mine.lives THEN NULL WHEN mine.is_here THEN 'here' ELSE 'away' END;
END
$$;
COMMENT ON FUNCTION memsvc.whereabouts(uuid, integer) IS
  'Whether one may act for a user in this database: here, away, or null if there is no such user.';

-- Binds the transaction to a user. If that is not allowed, an error ends the transaction, so that statements sent with
-- it do nothing. p_keep_plans: prepared statements keep their plans; sequential scans are off, so that a plan made
-- while a table was small uses an index too. p_erasing: also allow a user who is being or has been erased.
CREATE OR REPLACE FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
DECLARE
  ignored text; -- an assignment takes a tenth of the time of PERFORM
  place text;
BEGIN
  IF p_keep_plans THEN -- first, so that it applies to the queries below
    ignored := set_config('plan_cache_mode', 'force_generic_plan', true);
    ignored := set_config('enable_seqscan', 'off', true);
  END IF;
  ignored := set_config('memsvc.identity', p_token, true);
  IF (memsvc.current_user_id() = p_user_id) IS NOT TRUE THEN
    RAISE EXCEPTION 'the identity token does not prove this user' USING ERRCODE = 'MS004';
  END IF;
  IF p_erasing THEN
    RETURN;
  END IF;
  -- Only a believed token gets here, so what follows the tilde is a number.
  place := memsvc.whereabouts(
    p_user_id, nullif(split_part(split_part(p_token, '.', 1), '~', 2), '')::integer
  );
  IF place = 'here' THEN
    RETURN;
  ELSIF place = 'away' THEN
    RAISE EXCEPTION 'this user is in another cell, or moving there' USING ERRCODE = 'MS007';
  END IF;
  RAISE EXCEPTION 'this user no longer exists' USING ERRCODE = 'MS003';
END
$$;
COMMENT ON FUNCTION memsvc.act_for(uuid, text, boolean, boolean) IS
  'Binds the transaction to the user that the token proves; raises an error if it proves another user or none.';
