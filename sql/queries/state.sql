-- Statements of memsvc.server.state: statistics of the database itself.

-- name: database_state
-- PostgreSQL shows the start of a transaction only to its own login and to members of pg_read_all_stats.
SELECT
  pg_catalog.pg_database_size(current_database()) AS bytes,
  (SELECT sum(d.numbackends) FROM pg_catalog.pg_stat_database AS d)::integer AS connections,
  current_setting('max_connections')::integer AS connections_max,
  coalesce((
    SELECT date_part('epoch', clock_timestamp() - min(pg_catalog.pg_stat_get_backend_xact_start(b.number)))
    FROM pg_catalog.pg_stat_get_backend_idset() AS b (number)
  ), 0) AS oldest_transaction_seconds,
  (SELECT max(age(d.datfrozenxid)) FROM pg_catalog.pg_database AS d) AS xid_age;

-- name: table_rows
-- The rows of the view pg_stat_user_tables, without its sums over indexes.
SELECT c.relname AS name, pg_catalog.pg_stat_get_live_tuples(c.oid) AS live,
  pg_catalog.pg_stat_get_dead_tuples(c.oid) AS dead
FROM pg_catalog.pg_class AS c
WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind = 'r'
ORDER BY c.relname;
