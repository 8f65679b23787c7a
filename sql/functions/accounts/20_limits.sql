-- Limits of keys: requests in a minute of the clock, messages in a day (UTC). Each key is counted in its own row; the
-- row of a key without limits is never written. A crash may lose the latest counts, because commits do not wait for the
-- disk.

-- Sets the limits of a key of the app (null: no limit); returns false if the app has no such working key.
CREATE OR REPLACE FUNCTION memsvc.limit_key(
  p_app_id uuid, p_key_id text, p_requests_per_minute integer, p_messages_per_day integer
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.require_restored();
  UPDATE memsvc.api_keys AS k
  SET requests_per_minute = p_requests_per_minute, messages_per_day = p_messages_per_day
  WHERE k.app_id = p_app_id AND k.key_id = p_key_id AND k.revoked_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM memsvc.audit('key.limit', p_app_id, NULL, p_key_id);
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.limit_key(uuid, text, integer, integer) IS 'Sets the limits of a key of the app.';

-- Counts a request of a key. Returns the seconds until the next minute if the request exceeds the limit, else 0.
CREATE OR REPLACE FUNCTION memsvc.count_request(p_key_id text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
  this_minute CONSTANT timestamptz := date_trunc('minute', moment);
  too_many boolean;
BEGIN
  PERFORM memsvc.require_restored();
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE memsvc.api_keys AS k
  SET minute = this_minute,
    requests = CASE WHEN k.minute = this_minute THEN least(k.requests, k.requests_per_minute) + 1 ELSE 1 END
  WHERE k.key_id = p_key_id AND k.requests_per_minute IS NOT NULL
  RETURNING k.requests > k.requests_per_minute INTO too_many;
  RETURN CASE WHEN too_many THEN ceil(extract(epoch FROM this_minute + interval '1 minute' - moment)) ELSE 0 END;
END
$$;
COMMENT ON FUNCTION memsvc.count_request(text) IS
  'Counts a request of a key; returns the seconds to wait if it exceeds the limit.';

-- Counts messages that a key is about to store, and returns 0. If they exceed the limit, it counts none and returns the
-- seconds until the next day.
CREATE OR REPLACE FUNCTION memsvc.count_messages(p_key_id text, p_messages integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  moment CONSTANT timestamp := clock_timestamp() AT TIME ZONE 'UTC';
  today CONSTANT date := moment::date;
  most bigint; -- null: the key has no limit
  used bigint;
BEGIN
  PERFORM memsvc.require_restored();
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT k.messages_per_day, CASE WHEN k.day = today THEN k.messages ELSE 0 END INTO most, used
  FROM memsvc.api_keys AS k
  WHERE k.key_id = p_key_id AND k.messages_per_day IS NOT NULL
  FOR UPDATE;
  IF used + p_messages > most THEN
    RETURN ceil(extract(epoch FROM today + interval '1 day' - moment));
  END IF;
  UPDATE memsvc.api_keys AS k SET day = today, messages = used + p_messages
  WHERE k.key_id = p_key_id AND k.messages_per_day IS NOT NULL;
  RETURN 0;
END
$$;
COMMENT ON FUNCTION memsvc.count_messages(text, integer) IS
  'Counts messages of a key; returns the seconds to wait if they exceed the limit.';
