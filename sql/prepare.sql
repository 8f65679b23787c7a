-- Roles, schema and extensions of memsvc. Run by 'memsvc db upgrade' with the administrator's login, before the
-- migrations; safe to run again. The caller sets the passwords. No role here is a superuser, and none may bypass row
-- security.

DO $roles$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY[
    'memsvc_owner', 'memsvc_recall', 'memsvc_eraser', 'memsvc_watchdog', 'memsvc_app', 'memsvc_reader',
    'memsvc_cypher', 'memsvc_analyst'
  ] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', wanted);
    END IF;
  END LOOP;
  -- The administrator acts as the owner for migrations, and as memsvc_recall, memsvc_eraser and memsvc_watchdog, which
  -- own functions. An administrator may be a plain role with CREATEROLE; INHERIT lets it read the schema, which it does
  -- not own.
  EXECUTE format('GRANT memsvc_owner TO %I WITH SET TRUE, INHERIT TRUE', current_user);
  EXECUTE format(
    'GRANT memsvc_recall, memsvc_eraser, memsvc_watchdog TO %I WITH SET TRUE, INHERIT FALSE', current_user
  );
END
$roles$;

GRANT memsvc_recall, memsvc_eraser TO memsvc_owner WITH SET TRUE, INHERIT FALSE;
-- Ending sessions of these logins needs their privileges (sql/functions/accounts/30_watchdog.sql).
GRANT memsvc_reader, memsvc_cypher, memsvc_analyst TO memsvc_watchdog WITH INHERIT TRUE, SET FALSE;

ALTER ROLE memsvc_app LOGIN;
ALTER ROLE memsvc_reader LOGIN;
ALTER ROLE memsvc_cypher LOGIN;
ALTER ROLE memsvc_analyst LOGIN;

-- A generic plan uses neither partial indexes nor the number of rows of a user (39 ms instead of 0.5).
ALTER ROLE memsvc_app SET plan_cache_mode = force_custom_plan;
ALTER ROLE memsvc_app SET jit = off;
ALTER ROLE memsvc_app SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_app SET search_path = memsvc, public;

-- Logins for people with psql and Cypher: read-only by a setting and, more important, by their privileges. Operators on
-- AGE's values are found by search_path; ag_catalog comes last, so that it hides nothing. Roles belong to the whole
-- server, so their settings are all made here (except AGE's library, in sql/projection/010_access.sql), the same for
-- databases with and without Cypher: a session that begins while another database is upgraded must find all of them.
ALTER ROLE memsvc_reader SET default_transaction_read_only = on;
ALTER ROLE memsvc_reader SET statement_timeout = '30s';
ALTER ROLE memsvc_reader SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_reader SET transaction_timeout = '5min';
ALTER ROLE memsvc_reader SET plan_cache_mode = force_custom_plan;
ALTER ROLE memsvc_reader SET search_path = memsvc, public;
ALTER ROLE memsvc_cypher SET default_transaction_read_only = on;
ALTER ROLE memsvc_cypher SET statement_timeout = '10s';
ALTER ROLE memsvc_cypher SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_cypher SET transaction_timeout = '5min';
ALTER ROLE memsvc_cypher SET search_path = pg_catalog, ag_catalog;
ALTER ROLE memsvc_cypher SET jit = off;
ALTER ROLE memsvc_cypher SET max_parallel_workers_per_gather = 0;
ALTER ROLE memsvc_analyst SET default_transaction_read_only = on;
ALTER ROLE memsvc_analyst SET statement_timeout = '60s';
ALTER ROLE memsvc_analyst SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_analyst SET transaction_timeout = '5min';
ALTER ROLE memsvc_analyst SET search_path = memsvc, public;

-- Settings that a login cannot change itself. Only a superuser, or a role that was granted SET on them, may make them.
-- If the administrator may not, 'memsvc doctor' names what is missing and docs/operations.md says what to do.
--
-- The server's log must not hold the contents of a failed statement: its text (STATEMENT), its values (parameters,
-- DETAIL, CONTEXT), or a message that quotes a value ('invalid input syntax for type integer: "..."'). So errors of
-- these logins are not logged at all: the sender of the statement receives them, and memsvc logs an error of its own.
-- At level 'log' an administrator can still log slow statements and waits of the service, whose statements hold no
-- values.
-- People's statements hold values, so for their logins only the end of a session is logged.
--
-- A session's temporary files are limited: a query that sorts too many rows must not fill the disk.
DO $guarded$
DECLARE
  one record;
  refused text[] := '{}';
BEGIN
  FOR one IN
    SELECT l.login, s.name, s.value
    FROM (
      VALUES ('memsvc_app', 'log', '8GB'), ('memsvc_reader', 'fatal', '1GB'), ('memsvc_cypher', 'fatal', '1GB'),
        ('memsvc_analyst', 'fatal', '1GB')
    ) AS l (login, least, files)
    CROSS JOIN LATERAL (
      VALUES ('log_min_messages', l.least), ('log_min_error_statement', 'panic'), ('log_error_verbosity', 'terse'),
        ('log_parameter_max_length', '0'), ('log_parameter_max_length_on_error', '0'), ('temp_file_limit', l.files)
    ) AS s (name, value)
  LOOP
    BEGIN
      EXECUTE format('ALTER ROLE %I SET %I = %L', one.login, one.name, one.value);
    EXCEPTION WHEN insufficient_privilege THEN
      refused := refused || one.name;
    END;
  END LOOP;
  IF refused <> '{}' THEN
    RAISE WARNING 'memsvc: the logins of memsvc cannot be given % (needs a superuser, or GRANT SET ON PARAMETER)',
      (SELECT string_agg(DISTINCT r.name, ', ' ORDER BY r.name) FROM unnest(refused) AS r (name));
  END IF;
END
$guarded$;

CREATE SCHEMA IF NOT EXISTS memsvc AUTHORIZATION memsvc_owner;
GRANT USAGE, CREATE ON SCHEMA memsvc TO memsvc_recall, memsvc_eraser, memsvc_watchdog; -- CREATE: they own functions
COMMENT ON SCHEMA memsvc IS 'memsvc: long-term memory for AI assistants.';

-- If the server lacks one of these extensions, the upgrade fails here with PostgreSQL's own message; 'memsvc doctor'
-- lists them.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE EXTENSION IF NOT EXISTS unaccent;

-- Optional extensions; without them everything else works. Places are searched with PostGIS, or with cube, which an
-- administrator who is no superuser may create too.
DO $places$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['postgis', 'cube'] LOOP
    CONTINUE WHEN NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = wanted);
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA public', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING 'memsvc: extension % cannot be made (%)', wanted, SQLERRM;
    END;
    EXIT WHEN EXISTS (
      SELECT FROM pg_extension WHERE extname = wanted AND extnamespace = 'public'::regnamespace
    );
  END LOOP;
END
$places$;

DO $database$
BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT, CREATE ON DATABASE %I TO memsvc_owner', current_database());
  EXECUTE format(
    'GRANT CONNECT ON DATABASE %I TO memsvc_app, memsvc_reader, memsvc_cypher, memsvc_analyst', current_database()
  );
END
$database$;

-- Sessions of one login see each other's statements in these views, and people share memsvc_reader. A login that may
-- take or read advisory locks could see when another user's memories are written, and could block that. Large objects
-- are not protected: any login could fill the disk with them, and read those of others. Only a superuser may revoke
-- these privileges; on a managed server this block raises a warning, and 'memsvc doctor' shows it too.
DO $monitoring$
DECLARE
  locking regprocedure;
  storing regprocedure;
BEGIN
  REVOKE ALL ON pg_catalog.pg_stat_activity, pg_catalog.pg_locks FROM PUBLIC;
  REVOKE EXECUTE ON FUNCTION pg_catalog.pg_stat_get_activity(integer), pg_catalog.pg_lock_status() FROM PUBLIC;
  GRANT SELECT ON pg_catalog.pg_stat_activity, pg_catalog.pg_locks TO pg_monitor;
  GRANT EXECUTE ON FUNCTION pg_catalog.pg_stat_get_activity(integer), pg_catalog.pg_lock_status() TO pg_monitor;
  GRANT SELECT ON pg_catalog.pg_stat_activity TO memsvc_watchdog;
  GRANT EXECUTE ON FUNCTION pg_catalog.pg_stat_get_activity(integer) TO memsvc_watchdog;
  REVOKE EXECUTE ON FUNCTION pg_catalog.pg_stat_get_backend_activity(integer) FROM PUBLIC;
  FOR locking IN
    SELECT p.oid FROM pg_proc AS p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', locking);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO memsvc_owner, memsvc_app, memsvc_eraser', locking);
  END LOOP;
  FOR storing IN
    SELECT p.oid FROM pg_proc AS p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^(lo_|loread$|lowrite$)'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', storing);
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'memsvc: cannot hide statements and locks from logins that share a role, nor large objects '
    '(needs a superuser)';
END
$monitoring$;
