-- Budgets: what an app and its users may use in a day (UTC). Messages and bytes are counted in the transaction that
-- stores them, so what is rolled back is not counted; an app with such a budget therefore commits its stores one after
-- another. Tokens and costs are summed from model_calls. Without a budget, storing costs one look at an index.
-- With several cells, the home has all limits. A cell has those of its apps and of its users, and counts what they use
-- there (memsvc/cells/budgets.py).

-- Whether storing for this user counts.
CREATE OR REPLACE FUNCTION memsvc.is_budgeted(p_user_id uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM budgets) THEN -- as in most databases
    RETURN false;
  END IF;
  RETURN EXISTS (
    SELECT FROM users AS u
    INNER JOIN budgets AS b ON b.app_id = u.app_id AND (b.of_user IS NULL OR b.of_user = u.user_id)
    WHERE u.user_id = p_user_id AND num_nonnulls(b.messages_per_day, b.bytes_per_day) > 0
  );
END
$$;
COMMENT ON FUNCTION memsvc.is_budgeted(uuid) IS 'Whether a budget limits what is stored for this user.';

-- Counts what is about to be stored for the user to whom the transaction is bound. Raises MS008, with a JSON object as
-- detail, if it exceeds a budget.
CREATE OR REPLACE FUNCTION memsvc.spend_budget(p_user_id uuid, p_messages bigint, p_bytes bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
  mine CONSTANT uuid := (SELECT u.app_id FROM users AS u WHERE u.user_id = p_user_id);
  every budgets;
  one budgets;
  over record;
BEGIN
  IF p_user_id IS DISTINCT FROM memsvc.current_user_id() THEN
    RAISE EXCEPTION 'a budget is spent only by its user' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT * INTO every FROM budgets AS b WHERE b.app_id = mine AND b.whose = 'each';
  IF FOUND THEN
    INSERT INTO budgets (app_id, whose, of_user) VALUES (mine, 'user', p_user_id) ON CONFLICT DO NOTHING;
  END IF;
  FOR one IN -- the user's row first: whoever is refused there does not wait for the app's
    SELECT b.* FROM budgets AS b
    WHERE b.app_id = mine AND (b.of_user = p_user_id OR b.whose = 'app')
    ORDER BY b.whose DESC
    FOR NO KEY UPDATE
  LOOP
    IF one.day IS DISTINCT FROM today THEN
      one.messages := 0;
      one.bytes := 0;
    END IF;
    IF one.whose = 'user' THEN
      one.messages_per_day := coalesce(one.messages_per_day, every.messages_per_day);
      one.bytes_per_day := coalesce(one.bytes_per_day, every.bytes_per_day);
    END IF;
    SELECT f.* INTO over
    FROM (
      VALUES ('messages', one.messages_per_day, one.messages, p_messages),
        ('bytes', one.bytes_per_day, one.bytes, p_bytes)
    ) AS f (what, most, used, more)
    WHERE f.used + f.more > f.most
    LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'budget exceeded' USING ERRCODE = 'MS008', DETAIL = jsonb_build_object(
        'budget', over.what, 'whose', one.whose, 'limit', over.most, 'used', over.used
      );
    END IF;
    UPDATE budgets AS b SET day = today, messages = one.messages + p_messages, bytes = one.bytes + p_bytes
    WHERE b.budget_id = one.budget_id;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.spend_budget(uuid, bigint, bigint) IS
  'Counts what is about to be stored for a user; an error if it exceeds a budget of the user or the app.';

-- What the language model has used today, for each budget of this user and of the user's app that limits it.
CREATE OR REPLACE FUNCTION memsvc.model_budgets(p_user_id uuid)
RETURNS TABLE (whose text, what text, most numeric, used numeric)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  WITH bound AS (
    SELECT m.app_id, date_trunc('day', now(), 'UTC') AS since,
      coalesce(o.tokens_per_day, e.tokens_per_day) AS tokens, coalesce(o.cost_per_day, e.cost_per_day) AS cost,
      a.tokens_per_day AS app_tokens, a.cost_per_day AS app_cost
    FROM memsvc.users AS m
    LEFT JOIN memsvc.budgets AS o ON o.app_id = m.app_id AND o.of_user = m.user_id
    LEFT JOIN memsvc.budgets AS e ON e.app_id = m.app_id AND e.whose = 'each'
    LEFT JOIN memsvc.budgets AS a ON a.app_id = m.app_id AND a.whose = 'app'
    WHERE m.user_id = p_user_id AND p_user_id = memsvc.current_user_id()
  ),
  spent AS (
    SELECT 'user' AS whose, b.tokens, b.cost, sum(c.tokens_in::bigint + c.tokens_out) AS used, sum(c.cost) AS paid
    FROM bound AS b
    LEFT JOIN memsvc.model_calls AS c ON c.user_id = p_user_id AND c.at >= b.since
    WHERE num_nonnulls(b.tokens, b.cost) > 0
    GROUP BY b.tokens, b.cost
    UNION ALL
    SELECT 'app', b.app_tokens, b.app_cost, sum(c.tokens_in::bigint + c.tokens_out), sum(c.cost)
    FROM bound AS b
    LEFT JOIN (
      memsvc.model_calls AS c INNER JOIN memsvc.users AS w ON w.user_id = c.user_id
    ) ON w.app_id = b.app_id AND c.at >= b.since
    WHERE num_nonnulls(b.app_tokens, b.app_cost) > 0
    GROUP BY b.app_tokens, b.app_cost
  )
  SELECT s.whose, f.what, f.most, coalesce(f.used, 0)
  FROM spent AS s CROSS JOIN LATERAL (
    VALUES ('tokens', s.tokens::numeric, s.used), ('cost', s.cost, s.paid)
  ) AS f (what, most, used)
  WHERE f.most IS NOT NULL;
END;
COMMENT ON FUNCTION memsvc.model_budgets(uuid) IS
  'What the language model has used today, for each budget that limits it for this user.';

-- Sets the limits of an app (p_whose 'app'), of each of its users ('each') or of one user ('user'); null: no limit.
-- False: there is no such app in this database, or the app has no such user.
CREATE OR REPLACE FUNCTION memsvc.set_budget(
  p_app_id uuid, p_whose text, p_of_user uuid, p_messages bigint, p_bytes bigint, p_tokens bigint, p_cost numeric
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM memsvc.require_restored();
  IF NOT EXISTS (SELECT FROM apps AS a WHERE a.app_id = p_app_id) THEN
    RETURN false;
  END IF;
  IF p_of_user IS NOT NULL AND NOT EXISTS (
    SELECT FROM users AS u WHERE u.user_id = p_of_user AND u.app_id = p_app_id AND u.erasing_since IS NULL
  ) THEN
    RETURN false;
  END IF;
  INSERT INTO budgets AS b (app_id, whose, of_user, messages_per_day, bytes_per_day, tokens_per_day, cost_per_day)
  VALUES (p_app_id, p_whose, p_of_user, p_messages, p_bytes, p_tokens, p_cost)
  ON CONFLICT ON CONSTRAINT budgets_once DO UPDATE SET messages_per_day = excluded.messages_per_day,
    bytes_per_day = excluded.bytes_per_day, tokens_per_day = excluded.tokens_per_day,
    cost_per_day = excluded.cost_per_day;
  IF num_nonnulls(p_messages, p_bytes, p_tokens, p_cost) = 0 THEN
    DELETE FROM budgets AS b
    WHERE b.app_id = p_app_id AND b.whose = p_whose AND b.of_user IS NOT DISTINCT FROM p_of_user;
  END IF;
  PERFORM memsvc.audit('budget.set', p_app_id, p_of_user, p_whose, jsonb_strip_nulls(jsonb_build_object(
    'messages_per_day', p_messages, 'bytes_per_day', p_bytes, 'tokens_per_day', p_tokens, 'cost_per_day', p_cost
  )));
  RETURN true;
END
$$;
COMMENT ON FUNCTION memsvc.set_budget(uuid, text, uuid, bigint, bigint, bigint, numeric) IS
  'Sets what an app, each of its users, or one user may use in a day.';

-- Until the transaction ends, nobody else sets budgets of this app or takes its limits to a cell.
CREATE OR REPLACE FUNCTION memsvc.hold_limits(p_app_id uuid) RETURNS void
LANGUAGE sql
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT pg_advisory_xact_lock(hashtextextended('memsvc limits of ' || p_app_id, 0));
END;
COMMENT ON FUNCTION memsvc.hold_limits(uuid) IS 'Keeps others from changing or taking limits of an app.';

-- The limits of an app and of each of its users, to take to a cell: an array of objects, which nobody changes until the
-- transaction ends.
CREATE OR REPLACE FUNCTION memsvc.limits_to_bring(p_app_id uuid) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc limits of ' || p_app_id, 0));
  RETURN (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
      'whose', b.whose, 'messages_per_day', b.messages_per_day, 'bytes_per_day', b.bytes_per_day,
      'tokens_per_day', b.tokens_per_day, 'cost_per_day', b.cost_per_day
    ) ORDER BY b.whose), '[]')
    FROM budgets AS b WHERE b.app_id = p_app_id AND b.of_user IS NULL
  );
END
$$;
COMMENT ON FUNCTION memsvc.limits_to_bring(uuid) IS 'The limits of an app and of each of its users, for a cell.';

-- Makes the limits of an app and of each of its users those of the home, as limits_to_bring tells them. Counts stay.
CREATE OR REPLACE FUNCTION memsvc.bring_limits(p_app_id uuid, p_limits jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  changed bigint;
  removed bigint;
BEGIN
  PERFORM memsvc.require_restored();
  DELETE FROM budgets AS b
  WHERE b.app_id = p_app_id AND b.of_user IS NULL
    AND NOT EXISTS (SELECT FROM jsonb_to_recordset(p_limits) AS l (whose text) WHERE l.whose = b.whose);
  GET DIAGNOSTICS removed = ROW_COUNT;
  INSERT INTO budgets AS b (app_id, whose, messages_per_day, bytes_per_day, tokens_per_day, cost_per_day)
  SELECT p_app_id, l.whose, l.messages_per_day, l.bytes_per_day, l.tokens_per_day, l.cost_per_day
  FROM jsonb_to_recordset(p_limits) AS l (
    whose text, messages_per_day bigint, bytes_per_day bigint, tokens_per_day bigint, cost_per_day numeric
  )
  ON CONFLICT ON CONSTRAINT budgets_once DO UPDATE SET messages_per_day = excluded.messages_per_day,
    bytes_per_day = excluded.bytes_per_day, tokens_per_day = excluded.tokens_per_day,
    cost_per_day = excluded.cost_per_day
  WHERE (b.messages_per_day, b.bytes_per_day, b.tokens_per_day, b.cost_per_day) IS DISTINCT FROM (
    excluded.messages_per_day, excluded.bytes_per_day, excluded.tokens_per_day, excluded.cost_per_day
  );
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed + removed > 0 THEN
    PERFORM memsvc.audit('budget.bring', p_app_id, NULL, '', jsonb_build_object('limits', p_limits));
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.bring_limits(uuid, jsonb) IS
  'Makes the limits of an app and of each of its users in this cell those of the home.';

-- Budgets of an app, oldest first, with what was used today; of one user with p_user_id. A cell is asked for the use of
-- the app and of some users (p_users), and for users who are counted without limits of their own (p_counted), who are
-- not in the home's list. Calls of the language model count where their user is: the copy of a user who is arriving, or
-- what is left of one who has gone, does not.
CREATE OR REPLACE FUNCTION memsvc.budgets_of_app(
  p_app_id uuid, p_user_id uuid, p_after uuid, p_limit integer, p_counted boolean DEFAULT false,
  p_users uuid[] DEFAULT NULL
)
RETURNS TABLE (
  budget_id uuid, whose text, user_id uuid, user_name text, messages_per_day bigint, bytes_per_day bigint,
  tokens_per_day bigint, cost_per_day numeric, messages bigint, bytes bigint, tokens bigint, cost numeric
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT b.budget_id, b.whose, b.of_user, w.name, b.messages_per_day, b.bytes_per_day, b.tokens_per_day, b.cost_per_day,
    CASE WHEN b.day = (now() AT TIME ZONE 'UTC')::date THEN b.messages ELSE 0 END,
    CASE WHEN b.day = (now() AT TIME ZONE 'UTC')::date THEN b.bytes ELSE 0 END,
    coalesce(c.tokens, 0), coalesce(c.cost, 0)
  FROM memsvc.budgets AS b
  LEFT JOIN memsvc.users AS w ON w.user_id = b.of_user
  LEFT JOIN LATERAL (
    SELECT sum(m.tokens_in::bigint + m.tokens_out)::bigint AS tokens, sum(m.cost) AS cost
    FROM memsvc.model_calls AS m
    INNER JOIN memsvc.users AS o ON o.user_id = m.user_id AND o.app_id = b.app_id
    WHERE m.at >= date_trunc('day', now(), 'UTC') AND b.whose <> 'each'
      AND (b.of_user IS NULL OR m.user_id = b.of_user)
      AND o.cell_id = 0 AND o.moving IS DISTINCT FROM 'frozen'
  ) AS c ON true
  WHERE b.app_id = p_app_id AND (p_user_id IS NULL OR b.of_user = p_user_id)
    AND (p_after IS NULL OR b.budget_id > p_after)
    AND (NOT p_counted OR (b.of_user IS NOT NULL AND num_nonnulls(
      b.messages_per_day, b.bytes_per_day, b.tokens_per_day, b.cost_per_day
    ) = 0))
    AND (p_users IS NULL OR b.whose = 'app' OR b.of_user = ANY (p_users))
  ORDER BY b.budget_id
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.budgets_of_app(uuid, uuid, uuid, integer, boolean, uuid[]) IS
  'Budgets of an app, with what was used today.';

-- For operators: how many budgets are used up today, of all apps.
CREATE OR REPLACE FUNCTION memsvc.budgets_used_up()
RETURNS TABLE (whose text, what text, budgets bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  WITH every AS (
    SELECT b.app_id, b.messages_per_day, b.bytes_per_day, b.tokens_per_day, b.cost_per_day
    FROM memsvc.budgets AS b WHERE b.whose = 'each'
  ),
  spent AS (
    SELECT o.app_id, m.user_id, sum(m.tokens_in::bigint + m.tokens_out) AS tokens, sum(m.cost) AS cost
    FROM memsvc.model_calls AS m
    INNER JOIN memsvc.users AS o ON o.user_id = m.user_id
    WHERE m.at >= date_trunc('day', now(), 'UTC') AND EXISTS (SELECT FROM memsvc.budgets)
    GROUP BY o.app_id, m.user_id
  ),
  used AS (
    SELECT 'user' AS whose, coalesce(s.app_id, b.app_id) AS app_id, s.tokens, s.cost,
      coalesce(b.messages_per_day, e.messages_per_day) AS most_messages,
      coalesce(b.bytes_per_day, e.bytes_per_day) AS most_bytes,
      coalesce(b.tokens_per_day, e.tokens_per_day) AS most_tokens, coalesce(b.cost_per_day, e.cost_per_day) AS most_cost,
      b.day, b.messages, b.bytes
    FROM (SELECT * FROM memsvc.budgets WHERE budgets.whose = 'user') AS b
    FULL JOIN spent AS s ON s.user_id = b.of_user
    LEFT JOIN every AS e ON e.app_id = coalesce(s.app_id, b.app_id)
    UNION ALL
    SELECT 'app', b.app_id, (SELECT sum(s.tokens) FROM spent AS s WHERE s.app_id = b.app_id),
      (SELECT sum(s.cost) FROM spent AS s WHERE s.app_id = b.app_id), b.messages_per_day, b.bytes_per_day,
      b.tokens_per_day, b.cost_per_day, b.day, b.messages, b.bytes
    FROM memsvc.budgets AS b WHERE b.whose = 'app'
  )
  SELECT u.whose, f.what, count(*)
  FROM used AS u CROSS JOIN LATERAL (
    VALUES ('messages', u.most_messages::numeric, u.messages::numeric, u.day), ('bytes', u.most_bytes, u.bytes, u.day),
      ('tokens', u.most_tokens, u.tokens, NULL), ('cost', u.most_cost, u.cost, NULL)
  ) AS f (what, most, used, day)
  WHERE f.used >= f.most AND (f.what IN ('tokens', 'cost') OR f.day = (now() AT TIME ZONE 'UTC')::date)
  GROUP BY u.whose, f.what
  ORDER BY u.whose, f.what;
END;
COMMENT ON FUNCTION memsvc.budgets_used_up() IS 'How many budgets are used up today, over all apps; no ids.';
