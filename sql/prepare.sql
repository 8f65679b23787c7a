-- Roles, schema and extensions of memsvc. Run by 'memsvc db upgrade' with the administrator's login, before the
-- migrations; safe to run again. Passwords are set by the caller. Nothing here is a superuser, and nothing here may
-- bypass row security.

DO $roles$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY[
    'memsvc_owner', 'memsvc_recall', 'memsvc_eraser', 'memsvc_app', 'memsvc_reader', 'memsvc_cypher', 'memsvc_analyst'
  ] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', wanted);
    END IF;
  END LOOP;
  -- The administrator acts as the owner for migrations, and as memsvc_recall and memsvc_eraser, which own functions.
  -- (An administrator may be a plain role with CREATEROLE: with INHERIT it may look into the schema that it does not
  -- own.)
  EXECUTE format('GRANT memsvc_owner TO %I WITH SET TRUE, INHERIT TRUE', current_user);
  EXECUTE format('GRANT memsvc_recall, memsvc_eraser TO %I WITH SET TRUE, INHERIT FALSE', current_user);
END
$roles$;

GRANT memsvc_recall, memsvc_eraser TO memsvc_owner WITH SET TRUE, INHERIT FALSE;

ALTER ROLE memsvc_app LOGIN;
ALTER ROLE memsvc_reader LOGIN;
ALTER ROLE memsvc_cypher LOGIN;
ALTER ROLE memsvc_analyst LOGIN;

-- Partial indexes and per-user sizes are lost under generic plans (FACTS: 39 ms for 0.5).
ALTER ROLE memsvc_app SET plan_cache_mode = force_custom_plan;
ALTER ROLE memsvc_app SET jit = off;
ALTER ROLE memsvc_app SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_app SET search_path = memsvc, public;

-- People at psql and Cypher: read-only by setting and, what counts, by privilege. Operators on AGE's values are found by
-- search_path; behind everything else, so that they replace nothing. Roles belong to the whole server, so what they are
-- set to is said here (but for AGE's library, in sql/projection/010_access.sql), the same for databases with Cypher and
-- without: nobody who connects while another database is upgraded may find half of it.
ALTER ROLE memsvc_reader SET default_transaction_read_only = on;
ALTER ROLE memsvc_reader SET statement_timeout = '30s';
ALTER ROLE memsvc_reader SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_reader SET plan_cache_mode = force_custom_plan;
ALTER ROLE memsvc_reader SET search_path = memsvc, public;
ALTER ROLE memsvc_cypher SET default_transaction_read_only = on;
ALTER ROLE memsvc_cypher SET statement_timeout = '10s';
ALTER ROLE memsvc_cypher SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_cypher SET search_path = pg_catalog, ag_catalog;
ALTER ROLE memsvc_cypher SET jit = off;
ALTER ROLE memsvc_cypher SET max_parallel_workers_per_gather = 0;
ALTER ROLE memsvc_analyst SET default_transaction_read_only = on;
ALTER ROLE memsvc_analyst SET statement_timeout = '60s';
ALTER ROLE memsvc_analyst SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE memsvc_analyst SET search_path = memsvc, public;

CREATE SCHEMA IF NOT EXISTS memsvc AUTHORIZATION memsvc_owner;
GRANT USAGE, CREATE ON SCHEMA memsvc TO memsvc_recall, memsvc_eraser; -- CREATE: they own functions
COMMENT ON SCHEMA memsvc IS 'memsvc: long-term memory for AI assistants.';

-- Extensions that a server lacks end the upgrade here, with PostgreSQL's own message; 'memsvc doctor' lists them.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE EXTENSION IF NOT EXISTS unaccent;

-- Optional ones light a capability up; where one is missing, or may not be made, the rest works. Places are searched by
-- PostGIS, else by cube, which plain administrators may make, too.
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

-- Sessions of one login see each other's statements in these views; people share memsvc_reader. And whoever may take
-- advisory locks or look at them could see when another user's memories are written, and keep them from being written.
-- Only a superuser may revoke this, so a managed server answers with a warning here and 'memsvc doctor' repeats it.
DO $monitoring$
DECLARE
  locking regprocedure;
BEGIN
  REVOKE ALL ON pg_catalog.pg_stat_activity, pg_catalog.pg_locks FROM PUBLIC;
  REVOKE EXECUTE ON FUNCTION pg_catalog.pg_stat_get_activity(integer), pg_catalog.pg_lock_status() FROM PUBLIC;
  GRANT SELECT ON pg_catalog.pg_stat_activity, pg_catalog.pg_locks TO pg_monitor;
  GRANT EXECUTE ON FUNCTION pg_catalog.pg_stat_get_activity(integer), pg_catalog.pg_lock_status() TO pg_monitor;
  REVOKE EXECUTE ON FUNCTION pg_catalog.pg_stat_get_backend_activity(integer) FROM PUBLIC;
  FOR locking IN
    SELECT p.oid FROM pg_proc AS p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', locking);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO memsvc_owner, memsvc_app, memsvc_eraser', locking);
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'memsvc: cannot hide statements and locks from logins that share a role (needs a superuser)';
END
$monitoring$;
