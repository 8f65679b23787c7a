"""The ways by which Ada tries to learn of Bob's rows in SQL, one a line. ``test_ways`` goes each of them.

A way is a list of statements in one transaction with Ada's identity; it ends with the first error. ``{user}``,
``{node}``, ``{word}`` and the like are Bob's, or nobody's the second time (``scene.py``). ``REFUSED`` ones must be
refused, for want of a privilege and for no other reason: what they would do is bad enough, whatever they show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.conftest import SERVER
from tests.sql.world import ANALYST, APP, CYPHER, READER

PEOPLE = (READER, CYPHER, ANALYST)
"""Logins whose SQL somebody else writes."""
ALL = (APP, *PEOPLE)


@dataclass(frozen=True, slots=True)
class Way:
    """Statements, the logins that try them, and whether they must be refused."""

    steps: tuple[str, ...]
    logins: tuple[str, ...] = ALL
    refused: bool = False


def _group(
    logins: tuple[str, ...], ways: Mapping[str, str | tuple[str, ...]], *, refused: bool = False
) -> dict[str, Way]:
    return {name: Way((steps,) if isinstance(steps, str) else steps, logins, refused) for name, steps in ways.items()}


COUNTED = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) "
NO_INDEX = ("SET enable_indexscan = off", "SET enable_bitmapscan = off", "SET enable_indexonlyscan = off")
INDEXES = ("SET enable_seqscan = off",)
BOBS_ALONE = "user_id <= '{user}' AND user_id >= '{user}'"


def between(column: str) -> str:
    """A condition that holds for what begins with the word to guess."""
    return f"{column} >= '{{word}}' AND {column} < '{{after}}'"


READING = _group(ALL, {
    "a table": "SELECT * FROM memsvc.passages",
    "by owner": "SELECT * FROM memsvc.passages WHERE user_id = '{user}'",
    "by id": "SELECT * FROM memsvc.passages WHERE passage_id = '{passage}'",
    "by words": "SELECT * FROM memsvc.passages WHERE text LIKE '%{word}%' OR tsv @@ to_tsquery('simple', '{word}')",
    "whatever the condition": "SELECT * FROM memsvc.passages WHERE user_id = '{user}' OR true",
    "as JSON": "SELECT to_jsonb(p), row_to_json(p) FROM memsvc.passages AS p",
    "by a join": "SELECT b.* FROM memsvc.passages AS a JOIN memsvc.passages AS b ON b.user_id <> a.user_id",
    "by a lateral join": "SELECT x.* FROM (VALUES ('{user}'::uuid)) AS v (u), LATERAL "
    "(SELECT * FROM memsvc.node_versions AS n WHERE n.user_id = v.u) AS x",
    "by a recursive query": "WITH RECURSIVE r AS (SELECT '{node}'::uuid AS n UNION SELECT e.to_node FROM r "
    "JOIN memsvc.edges AS e ON e.from_node = r.n) SELECT l.* FROM r JOIN memsvc.node_labels AS l ON l.node_id = r.n",
    "by a whole row": "SELECT count(*), max(p::text) FROM memsvc.passages AS p WHERE user_id = '{user}'",
    "counts": "SELECT count(*), count(DISTINCT user_id) FROM memsvc.nodes",
    "a sample": "SELECT * FROM memsvc.passages TABLESAMPLE SYSTEM (100) WHERE user_id = '{user}'",
    "a sample of rows": "SELECT text FROM memsvc.passages TABLESAMPLE BERNOULLI (100) REPEATABLE (1)",
    "by place in the file": "SELECT * FROM memsvc.passages WHERE ctid >= '(0,0)' AND ctid < '(99,0)' AND user_id = "
    "'{user}'",
    "system columns": "SELECT ctid, xmin, xmax, cmin, tableoid FROM memsvc.passages WHERE user_id = '{user}'",
    "only the parent": "SELECT * FROM ONLY memsvc.embeddings WHERE user_id = '{user}'",
    "a union of views": "SELECT user_id, text FROM memsvc.messages UNION SELECT user_id, fact FROM "
    "memsvc.facts_current",
    "a view by owner": "SELECT * FROM memsvc.facts_history WHERE user_id = '{user}'",
    "people by name": "SELECT * FROM memsvc.people WHERE name ILIKE '{word}%'",
    "timeline": "SELECT * FROM memsvc.timeline WHERE user_id = '{user}'",
    "the nearest vector": (*INDEXES, ("SELECT user_id, passage_id FROM memsvc.embeddings ORDER BY vector <#> "
    "'[0,1,0]' LIMIT 9")),
    "own types": "SELECT * FROM memsvc.node_types WHERE own_user_id = '{user}' OR name = '{word}'",
    "statistics of words": "SELECT word FROM ts_stat('SELECT tsv FROM memsvc.passages') WHERE word ILIKE '{word}'",
    "a query in a query": "SELECT ts_rewrite('a'::tsquery, "
    "'SELECT ''a''::tsquery, to_tsquery(''simple'', lower(split_part(text, '' '', 1))) FROM memsvc.passages LIMIT 1')",
    "a query in XML": "SELECT query_to_xml('SELECT * FROM memsvc.passages', true, false, '')",
    "a table in XML": "SELECT table_to_xml('memsvc.node_versions'::regclass, true, false, '')",
    "the schema in XML": "SELECT schema_to_xml('memsvc', true, false, '')",
    "the database in XML": "SELECT database_to_xml(true, false, '')",
    "a cursor in XML": ("DECLARE c CURSOR FOR SELECT * FROM memsvc.aliases", ("SELECT cursor_to_xml('c', 99, true, "
    "false, '')")),
    "a copy": "COPY memsvc.passages TO STDOUT",
    "a copy of a query": "COPY (SELECT * FROM memsvc.passages WHERE user_id = '{user}') TO STDOUT",
    "a dump": ("SET row_security = off", "COPY memsvc.passages TO STDOUT"),
    "a dump with row security": ("SET row_security = on", "COPY memsvc.passages TO STDOUT"),
    "a locked row": "SELECT text FROM memsvc.passages WHERE user_id = '{user}' FOR KEY SHARE",
    "planner's samples": "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE schemaname = "
    "'memsvc'",
    "planner's samples of several columns": "SELECT * FROM pg_stats_ext WHERE schemaname = 'memsvc'",
    "planner's samples of expressions": "SELECT * FROM pg_stats_ext_exprs WHERE schemaname = 'memsvc'",
    "what was prepared": "SELECT name, statement FROM pg_prepared_statements",
    "what is open": "SELECT name, statement FROM pg_cursors",
})  # fmt: skip

# What fails, or says something, where it meets one of Bob's rows: if a condition of Ada's came before the policy.
TALKING = _group(ALL, {
    "a cast": "SELECT 1 FROM memsvc.passages WHERE text::integer = 1 AND user_id = '{user}'",
    "a cast to JSON": "SELECT 1 FROM memsvc.passages WHERE text::jsonb IS NOT NULL AND user_id = '{user}'",
    "a cast to a date": "SELECT 1 FROM memsvc.node_versions WHERE label::date < now() AND user_id = '{user}'",
    "a cast to a table's name": "SELECT 1 FROM memsvc.aliases WHERE alias::regclass = 0 AND user_id = '{user}'",
    "a cast to a path": "SELECT 1 FROM memsvc.passages WHERE text::jsonpath IS NULL AND user_id = '{user}'",
    "a division by zero": "SELECT 1 FROM memsvc.passages WHERE 1 / (CASE WHEN text LIKE '{word}%' THEN 0 ELSE 1 "
    "END) = 1",
    "a pattern": "SELECT 1 FROM memsvc.passages WHERE 'a' ~ ('(' || text) AND user_id = '{user}'",
    "a setting": (
        "SELECT 1 FROM memsvc.passages WHERE set_config('my.loot', text, false) = '' AND user_id = '{user}'",
        "SELECT current_setting('my.loot', true)",
    ),
    "a large object": (
        "SELECT 1 FROM memsvc.passages WHERE lo_from_bytea(0, text::bytea) = 0 AND user_id = '{user}'",
        "SELECT lo_get(oid) FROM pg_largeobject_metadata",
    ),
    "a notification": (
        "LISTEN loot", ("SELECT pg_notify('loot', text) FROM memsvc.passages WHERE user_id = "
        "'{user}'"), "COMMIT", "SELECT 1"
    ),
    "a list of words": "SELECT 1 FROM memsvc.passages WHERE text::tsvector IS NULL AND user_id = '{user}'",
    "a query per row": "SELECT 1 FROM memsvc.passages WHERE query_to_xml(text, true, true, '') IS NULL AND user_id "
    "= '{user}'",
    "cheap conditions": (
        "SET cpu_operator_cost = 0", "SELECT 1 FROM memsvc.passages WHERE text::integer = 1 AND user_id = '{user}'"
    ),
    "a condition in a join": "SELECT 1 FROM memsvc.passages AS a JOIN memsvc.passages AS b ON b.text::integer = 1 "
    "AND b.user_id = '{user}'",
    "an outer join": "SELECT 1 FROM memsvc.nodes AS n LEFT JOIN memsvc.node_versions AS v ON v.node_id = n.node_id "
    "AND v.label::integer = 1 AND v.user_id = '{user}'",
    "an aggregate's filter": "SELECT count(*) FILTER (WHERE text::integer = 1) FROM memsvc.passages WHERE user_id = "
    "'{user}'",
    "a condition in a view": "SELECT 1 FROM memsvc.messages WHERE text::integer = 1 AND user_id = '{user}'",
    "a sort": "SELECT 1 FROM memsvc.passages WHERE user_id = '{user}' ORDER BY text::integer",
    "a block of code": "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM memsvc.passages WHERE user_id = '{user}' "
    "LOOP RAISE NOTICE '%', r; END LOOP; END $$",
    "parallel workers": (
        "SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0", "SET min_parallel_table_scan_size = 0",
        "SET debug_parallel_query = on", "SELECT text FROM memsvc.passages WHERE user_id = '{user}'",
    ),
})  # fmt: skip

# What a plan tells of rows that were looked at and not shown. The app's login is our own: nobody else writes its SQL.
COUNTING = _group(PEOPLE, {
    "a plan by owner": COUNTED + "SELECT * FROM memsvc.passages WHERE user_id = '{user}'",
    "a plan by owner and id": COUNTED + "SELECT 1 FROM memsvc.nodes WHERE user_id = '{user}' AND node_id = '{node}'",
    "a plan by id": (*INDEXES, COUNTED + "SELECT 1 FROM memsvc.nodes WHERE node_id = '{node}'"),
    "a plan without indexes": (*NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.passages WHERE user_id = '{user}'"),
    "a text between two": (
        *NO_INDEX, COUNTED + f"SELECT 1 FROM memsvc.passages WHERE {between('text')}"
    ),
    "Bob's text between two": (
        *NO_INDEX,
        COUNTED + f"SELECT 1 FROM memsvc.passages WHERE {BOBS_ALONE} AND {between('text')}",
    ),
    "a label between two": (
        *NO_INDEX, COUNTED + f"SELECT 1 FROM memsvc.node_versions WHERE {between('label')}"
    ),
    "a name that begins so": (*NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.aliases WHERE starts_with(alias, '{word}')"),
    "a name that is not another": (*NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.aliases WHERE alias <> '{word} c' "
    "AND length(alias) = 9 AND user_id = '{user}'"),
    "one of one name": (*NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.aliases WHERE alias = ANY (ARRAY['{word} c'])"),
    "cheaper than the policy": (*NO_INDEX, "SET cpu_operator_cost = 0",
    COUNTED + f"SELECT 1 FROM memsvc.passages WHERE {between('text')}"),
    "a type of one's own": (
        *NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.node_types WHERE upper(description) > '' AND name = ANY "
        "(ARRAY[upper('{word}')])"
    ),
    "a type between two": (*NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.edge_types WHERE "
    + between("description")),
    "a view's plan": (*NO_INDEX, COUNTED + f"SELECT 1 FROM memsvc.messages WHERE {between('text')}"),
    "a prepared plan": (
        "DEALLOCATE ALL", "SET plan_cache_mode = force_generic_plan", *NO_INDEX,
        "PREPARE peek (text, text) AS SELECT 1 FROM memsvc.passages WHERE text >= $1 AND text < $2",
        COUNTED + "EXECUTE peek ('{word}', '{after}')",
    ),
    "one's own counters": (
        *NO_INDEX, f"SELECT 1 FROM memsvc.passages WHERE {between('text')}",
        "SELECT relname, seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'identity_keys'",
    ),
    "a plan of recall": COUNTED + "SELECT * FROM memsvc.recall('{user}', '{word}', 10)",
    "an index of places": COUNTED + "SELECT * FROM memsvc.locations WHERE user_id = '{user}'",
})  # fmt: skip

# Identity: tokens that are Bob's and no good any more, or no good at all, by every way to set one.
_SEEN = "SELECT memsvc.current_user_id(), (SELECT count(*) FROM memsvc.passages WHERE user_id = '{user}')"
IDENTITY = {
    f"{way} with {what}": Way((*steps, _SEEN))
    for what, token in {
        "a bare id": "{user}", "a token that has run out": "{expired}", "a token of a retired key": "{retired}",
        "another database's token": "{elsewhere}", "Bob's name on one's own token": "{claimed}",
        "no signature": "{unsigned}", "a guessed signature": "{guessed}", "a name before one's token": "{joined}",
    }.items()
    for way, steps in {
        "SET": (f"SET memsvc.identity = '{token}'",),
        "SET LOCAL": (f"SET LOCAL memsvc.identity = '{token}'",),
        "set_config in a query": ((f"SELECT set_config('memsvc.identity', '{token}', false), count(*) FROM "
        f"memsvc.passages"),),
    }.items()
}  # fmt: skip
IDENTITY |= _group(ALL, {
    "other settings": (
        "SET memsvc.user_id = '{user}'", "SET \"memsvc.current_user\" = '{user}'", ('SET "session.user" = '
        "'memsvc_owner'"), _SEEN
    ),
    "identity changed under a cursor": (
        "DECLARE c CURSOR FOR SELECT * FROM memsvc.passages", "SET memsvc.identity = '{claimed}'", "FETCH ALL FROM c",
    ),
    "identity changed under a kept cursor": (
        "DECLARE c CURSOR WITH HOLD FOR SELECT user_id, text FROM memsvc.passages", "COMMIT",
        "SET memsvc.identity = '{guessed}'", "FETCH ALL FROM c", _SEEN,
    ),
    "identity changed between prepared runs": (
        "SET plan_cache_mode = force_generic_plan", "PREPARE seen AS SELECT user_id, text FROM memsvc.passages",
        "EXECUTE seen", "SET memsvc.identity = '{claimed}'", "EXECUTE seen", "RESET memsvc.identity", "EXECUTE seen",
    ),
    "a function of memsvc in front": ("SET search_path = pg_temp, public, memsvc", _SEEN),
    "a path without pg_catalog first": ("SET search_path = public, memsvc, pg_catalog", _SEEN),
})  # fmt: skip

# What nobody may do. Rows do not matter here: that it can be done at all is the leak.
REFUSED = _group(ALL, {
    **{f"SET ROLE {role}": f"SET ROLE {role}" for role in (
        "memsvc_owner", "memsvc_recall", "memsvc_eraser", "pg_read_all_data", "pg_monitor", "pg_read_server_files",
    )},
    "set_config of the role": "SELECT set_config('role', 'memsvc_recall', false)",
    "SET SESSION AUTHORIZATION": "SET SESSION AUTHORIZATION memsvc_owner",
    "set_config of the session's user": "SELECT set_config('session_authorization', 'memsvc_owner', false)",
    "another role's member": "GRANT memsvc_recall TO CURRENT_USER",
    "a new role": "CREATE ROLE mine BYPASSRLS",
    "one's own powers": "ALTER ROLE CURRENT_USER BYPASSRLS",
    "row security off": "ALTER TABLE memsvc.passages DISABLE ROW LEVEL SECURITY",
    "a policy": "ALTER POLICY own_rows ON memsvc.passages USING (true)",
    "the proving function": "CREATE OR REPLACE FUNCTION memsvc.current_user_id() RETURNS uuid LANGUAGE sql "
    "AS 'SELECT ''{user}''::uuid'",
    "the keys of tokens": "SELECT * FROM memsvc.identity_keys",
    "API keys": "SELECT * FROM memsvc.api_keys",
    "passwords": "SELECT * FROM pg_authid",
    "tables of all users' apps": "SELECT * FROM memsvc.apps",
    "the log of accounts": "SELECT * FROM memsvc.audit_log",
    "a partition": "SELECT * FROM memsvc.embeddings_0",
    "a function in memsvc": "CREATE FUNCTION memsvc.f(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "a function in public": "CREATE FUNCTION public.f(text) RETURNS boolean LANGUAGE sql COST 0.01 AS 'SELECT true'",
    "a function of the session": "CREATE FUNCTION pg_temp.f(text) RETURNS boolean LANGUAGE sql COST 0.01 AS 'SELECT "
    "true'",
    "an operator": "CREATE OPERATOR public.=== (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = uuid_eq)",
    "an operator of the session": "CREATE OPERATOR pg_temp.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = uuid_ne)",
    "a type": "CREATE TYPE public.mine AS (a integer)",
    "a domain of the session": "CREATE DOMAIN pg_temp.mine AS text CHECK (value <> '')",
    "a temporary table": "CREATE TEMP TABLE t AS SELECT * FROM memsvc.passages",
    "a temporary view": "CREATE TEMP VIEW v AS SELECT * FROM memsvc.passages",
    "a view": "CREATE VIEW public.v AS SELECT * FROM memsvc.passages",
    "a materialised view": "CREATE MATERIALIZED VIEW public.v AS SELECT * FROM memsvc.passages",
    "a schema": "CREATE SCHEMA mine",
    "an extension": "CREATE EXTENSION pg_stat_statements",
    "another server": "CREATE EXTENSION postgres_fdw",
    "a connection from the database": "CREATE EXTENSION dblink",
    "pages of tables": "CREATE EXTENSION pageinspect",
    "a trigger": "CREATE TRIGGER t BEFORE INSERT ON memsvc.passages FOR EACH ROW EXECUTE FUNCTION "
    "tsvector_update_trigger()",
    "a rule": "CREATE RULE r AS ON SELECT TO memsvc.passages DO INSTEAD SELECT 1",
    "an index": "CREATE INDEX ON memsvc.passages ((text::integer))",
    "statistics": "CREATE STATISTICS public.s ON text, kind FROM memsvc.passages",
    "a table that refers": "CREATE TABLE public.t (user_id uuid, node_id uuid, FOREIGN KEY (user_id, node_id) "
    "REFERENCES memsvc.nodes)",
    "a publication": "CREATE PUBLICATION p FOR TABLE memsvc.passages",
    "a replication slot": "SELECT pg_create_logical_replication_slot('s', 'test_decoding')",
    "decoded changes": "SELECT * FROM pg_logical_slot_peek_changes('s', NULL, NULL)",
    "a copy to a program": "COPY (SELECT 1) TO PROGRAM 'true'",
    "a copy to a file": "COPY (SELECT 1) TO '/tmp/memsvc-leak'",
    "a copy from a file": "COPY memsvc.passages FROM '/etc/passwd'",
    "a file": "SELECT pg_read_file('PG_VERSION')",
    "bytes of a file": "SELECT pg_read_binary_file('PG_VERSION')",
    "a folder": "SELECT pg_ls_dir('base')",
    "logs": "SELECT pg_ls_logdir()",
    "a large object from a file": "SELECT lo_import('/etc/passwd')",
    "a file from a large object": "SELECT lo_export(1, '/tmp/memsvc-leak')",
    "large objects raw": "SELECT * FROM pg_largeobject",
    "planner's samples raw": "SELECT * FROM pg_statistic",
    "planner's samples of several columns raw": "SELECT * FROM pg_statistic_ext_data",
    "what others ask": "SELECT query FROM pg_stat_activity",
    "what others ask, by function": "SELECT * FROM pg_stat_get_activity(NULL)",
    "what another asks": "SELECT pg_stat_get_backend_activity(1)",
    "who holds locks": "SELECT * FROM pg_locks",
    "who holds locks, by function": "SELECT * FROM pg_lock_status()",
    "Bob's lock": "SELECT pg_advisory_lock(hashtextextended('memsvc memories of ' || '{user}', 0))",
    "a try at Bob's lock": "SELECT pg_try_advisory_xact_lock(hashtextextended('memsvc memories of ' || '{user}', 0))",
    "memory of other sessions": "SELECT pg_log_backend_memory_contexts(1)",
    "a library": "LOAD '/tmp/memsvc-leak.so'",
    "settings of the server": "SELECT pg_reload_conf()",
    "replication's role": "SET session_replication_role = replica",
    "logging": "SET log_statement = 'all'",
    "emptying": "TRUNCATE memsvc.passages",
    "a comment": "COMMENT ON TABLE memsvc.passages IS 'x'",
    "a sequence": "SELECT last_value FROM memsvc.nodes_gid_seq",
    "a sequence's next value": "SELECT nextval('memsvc.nodes_gid_seq')",
    "who has which labels": "SELECT * FROM memsvc.graph_labels()",
    "texts of all, by an inner function": "SELECT * FROM memsvc.users_lacking(1::smallint)",
}, refused=True)  # fmt: skip
REFUSED["a try at Bob's lock"] = Way(REFUSED["a try at Bob's lock"].steps, PEOPLE, refused=True)
REFUSED["Bob's lock"] = Way(REFUSED["Bob's lock"].steps, PEOPLE, refused=True)

# The app's login with Ada's identity: what a mistake in a statement of ours would show or change of Bob's.
MISTAKES = _group((APP,), {
    "a row for Bob": "INSERT INTO memsvc.nodes (user_id) VALUES ('{user}')",
    "a row with Bob's key": "INSERT INTO memsvc.nodes (user_id, node_id) VALUES ('{user}', '{node}')",
    "Bob's key under Ada's name": "INSERT INTO memsvc.nodes (user_id, node_id) VALUES ('{ada}', '{node}') RETURNING 1",
    "Bob's key or nothing": "INSERT INTO memsvc.nodes (user_id, node_id) VALUES ('{user}', '{node}') ON CONFLICT DO "
    "NOTHING",
    "a row that points to Bob's": "INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by) "
    "VALUES ('{ada}', '{node}', 'x', 'x', 'user')",
    "evidence of Bob's": "INSERT INTO memsvc.source_links (user_id, node_id, passage_id, span_from, span_to) "
    "SELECT '{ada}', node_id, '{passage}', 0, 1 FROM memsvc.nodes LIMIT 1",
    "Bob's rows changed": "UPDATE memsvc.sources SET title = 'x' WHERE user_id = '{user}' RETURNING *",
    "Bob's rows changed with a glance": "UPDATE memsvc.sources SET title = 'x' WHERE source_id = '{source}' "
    "RETURNING old.*",
    "rows given to Bob": "UPDATE memsvc.jobs SET state = state FROM memsvc.sources AS s WHERE s.user_id = '{user}' "
    "RETURNING s.*",
    "Bob's rows deleted": "DELETE FROM memsvc.recall_events WHERE user_id = '{user}' RETURNING *",
    "a merge": "MERGE INTO memsvc.sources AS s USING (VALUES ('{source}'::uuid)) AS v (id) ON s.source_id = v.id "
    "WHEN MATCHED THEN UPDATE SET title = 'x' RETURNING s.*",
    "a change that names Bob's node": "SELECT * FROM memsvc.write_history('{ada}', 'user', "
    "'[{{\"position\": 0, \"op\": \"alias\", \"node_id\": \"{node}\", \"alias\": \"x\"}}]')",
    "feedback on Bob's": "SELECT * FROM memsvc.give_feedback('{ada}', '{source}', ARRAY['{passage}']::uuid[], '{{}}')",
    "erasing Bob's": "SELECT * FROM memsvc.erase('{ada}', 'message', '{passage}', 'user', 10)",
})  # fmt: skip

# The graph of Cypher, on the full server.
PROPERTIES = 'properties OPERATOR(ag_catalog.@>) \'{{"name": "{word} a"}}\'::ag_catalog.agtype'
GRAPH = _group((CYPHER,), {
    "a label's table": 'SELECT * FROM memory."Person"',
    "all labels": "SELECT tableoid::regclass, properties::text FROM memory._ag_label_vertex",
    "all relations": "SELECT tableoid::regclass, properties::text FROM memory._ag_label_edge",
    "vertices by owner": "SELECT properties::text FROM memory._ag_label_vertex WHERE user_id = '{user}'",
    "vertices by properties": f'SELECT properties::text FROM memory."Person" WHERE {PROPERTIES}',
    "Cypher by name": "SELECT * FROM ag_catalog.cypher('memory', $$ MATCH (n:Person {{name: '{word} a'}}) RETURN n $$) "
    "AS (n ag_catalog.agtype)",
    "Cypher by owner": "SELECT * FROM ag_catalog.cypher('memory', $$ MATCH (n) WHERE n.id = '{node}' RETURN n $$) "
    "AS (n ag_catalog.agtype)",
    "a plan by properties": COUNTED + f'SELECT 1 FROM memory."Person" WHERE {PROPERTIES}',
    "a plan by properties by an index": (*INDEXES, COUNTED + f'SELECT 1 FROM memory."Person" WHERE {PROPERTIES}'),
    "a plan by node": (*NO_INDEX, COUNTED + 'SELECT 1 FROM memory."Person" WHERE node_id = ANY '
    "(ARRAY['{node}'::uuid])"),
    "a plan by version": (*NO_INDEX, COUNTED + f'SELECT 1 FROM memory."KNOWS" WHERE {BOBS_ALONE}'),
    "a plan of Cypher": COUNTED + "SELECT * FROM ag_catalog.cypher('memory', $$ MATCH (n:Person {{name: '{word} a'}}) "
    "RETURN n $$) AS (n ag_catalog.agtype)",
    "a copy of a label": 'COPY (SELECT properties FROM memory."Person") TO STDOUT',
    "a label in XML": "SELECT query_to_xml('SELECT properties::text FROM memory.\"Person\"', true, false, '')",
    "a cast of properties": 'SELECT 1 FROM memory."Person" WHERE properties::text::integer = 1 AND user_id = '
    "'{user}'",
    "properties that are none": 'SELECT 1 FROM memory."Person" WHERE properties OPERATOR(ag_catalog.@>) '
    "'[1]'::ag_catalog.agtype "
    "OR properties OPERATOR(ag_catalog.@>) '1'::ag_catalog.agtype OR properties OPERATOR(ag_catalog.@>) "
    "'null'::ag_catalog.agtype",
})  # fmt: skip

WAYS: dict[str, Way] = {
    **READING, **TALKING, **COUNTING, **IDENTITY, **REFUSED, **MISTAKES, **(GRAPH if SERVER == "full" else {}),
}  # fmt: skip
