"""Ways by which Ines, with logins that may use Cypher, tries to see what Bob has. None works, and each wall is needed.

They go to the database directly: what the API refuses before (tests/cypher/test_cypher_text.py) is no wall. What Bob
has holds the word SECRET, so whatever shows it has leaked; counts must be those of Ines alone, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import psycopg
import pytest
from psycopg import sql

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.db.identity import Signer
from memsvc.graph.history import assert_facts
from memsvc.graph.operations import Edge, Node
from memsvc.settings import Settings
from tests.sql.world import CYPHER, READER, Logins

SECRET = "Zyzzyva"
NOT_IN_1_7 = {"_get_vertex_by_graphid", "age_shortest_path", "age_all_shortest_paths", "create_subgraph"}
"""Functions that AGE has from 1.8 on; the extra ``cypher`` brings 1.7."""
Record = Callable[[str, object], None]
_numbers = count()


@dataclass(frozen=True, slots=True)
class Scene:
    """Two users with graphs alike, and what Ines may know of Bob's."""

    ines: Owner
    bob: Owner
    token: str
    known: dict[str, str]


@pytest.fixture(scope="module")
async def scene(cypher_db: Database, cypher_url: str, cypher_settings: Settings) -> Scene:
    """Each has three people and two edges."""
    app = await app_id(cypher_db, "tests")
    owners = []
    for word in ("Open", SECRET):
        owner = (await add_user(cypher_db, app, name=f"{word} self", external_id=f"leaks-{next(_numbers)}")).owner
        facts: list[Node | Edge] = [
            Node(type="Person", label=f"{word} one", description=word),
            Node(type="Person", label=f"{word} two", data={"deep": {"word": word}}),
            Edge(from_node=0, type="KNOWS", to_node=1, fact=f"{word} knows."),
            Edge(from_node=1, type="LIKES", to_node=0, fact=f"{word} likes."),
        ]
        await assert_facts(cypher_db, owner, facts, asserted_by="tests")
        owners.append(owner)
    ines, bob = owners
    with psycopg.connect(cypher_url) as admin:
        row = admin.execute(
            "SELECT v.id::text, v.node_id::text, e.id::text, e.start_id::text, e.end_id::text "
            'FROM memory._ag_label_vertex AS v, memory."KNOWS" AS e '
            "WHERE v.user_id = %(bob)s AND e.user_id = %(bob)s AND v.id::text = e.start_id::text",
            {"bob": bob.user_id},
        ).fetchone()
        mine = admin.execute(
            'SELECT e.start_id::text FROM memory."KNOWS" AS e WHERE e.user_id = %s', [ines.user_id]
        ).fetchone()
        graph = admin.execute("SELECT graphid::text FROM ag_catalog.ag_graph").fetchone()
    assert row is not None
    assert mine is not None
    assert graph is not None
    signer = Signer(cypher_settings.secret("identity_secret").encode(), 3600)
    known = dict(zip(("vertex", "node", "edge", "start", "end"), row, strict=True))
    known |= {"bob": str(bob.user_id), "mine": mine[0], "graph": graph[0], "old": signer.token(bob.user_id, now=1)}
    return Scene(ines, bob, signer.token(ines.user_id), known)


EDGE = "{{id: {edge}, label: 'KNOWS', start_id: {start}, end_id: {end}, properties: {{}}}}::edge"
VERTEX = "{{id: {vertex}, label: 'Person', properties: {{}}}}::vertex"
CYPHERS = {
    "all vertices": "MATCH (n) RETURN n",
    "one label": "MATCH (n:Person) RETURN n",
    "all edges": "MATCH ()-[e]->() RETURN e",
    "undirected": "MATCH (a:Person)-[e:KNOWS]-(b:Person) RETURN a, e, b",
    "by id": "MATCH (n:Person {{id: '{node}'}}) RETURN n",
    "by id, any label": "MATCH (n {{id: '{node}'}}) RETURN n",
    "by AGE's id": "MATCH (n) WHERE id(n) = {vertex} RETURN n",
    "by owner": "MATCH (n) WHERE n.user_id = '{bob}' RETURN n",
    "optional": "OPTIONAL MATCH (n:Person {{id: '{node}'}}) RETURN n",
    "exists": "MATCH (n) WHERE EXISTS((n)-[:KNOWS]->({{id: '{node}'}})) RETURN n",
    "collected": "MATCH (n) RETURN collect(n)",
    "paths": "MATCH p = (a)-[]->(b) RETURN p",
    "two hops": "MATCH (a:Person)-[e]->(b)-[f]->(c) RETURN a, e, b, f, c",
    "union": "MATCH (n:Person) RETURN n.name UNION ALL MATCH (m) RETURN m.name",
    "variable length": "MATCH (a)-[*1..3]->(b) RETURN b",
    "variable length, all of them": "MATCH p = (a)-[*]->(b) RETURN p",
    "vle": "RETURN ag_catalog.age_vle('\"memory\"'::agtype)",
    "start of a made-up edge": f"WITH {EDGE} AS e RETURN startNode(e)",
    "end of a made-up edge": f"WITH {EDGE} AS e RETURN endNode(e)",
    "properties of a made-up vertex": f"WITH {VERTEX} AS v RETURN properties(v), v.name",
    "shortest path": "MATCH (a), (b) RETURN shortest_path(a, b)",
    "vertex_stats": f"WITH {VERTEX} AS v RETURN vertex_stats(v)",
    "graph_stats": "RETURN graph_stats('memory')",
    "raw vertex": "RETURN ag_catalog._get_vertex_by_graphid('memory', {vertex})",
    "another identity": "RETURN pg_catalog.set_config('memsvc.identity', '{old}', false)",
    "a role": "RETURN pg_catalog.set_config('role', 'memsvc_owner', false)",
    "session authorization": "RETURN pg_catalog.set_config('session_authorization', 'memsvc_app', false)",
    "row security off": "RETURN pg_catalog.set_config('row_security', 'off', false)",
    "a query in XML": "RETURN pg_catalog.query_to_xml('SELECT * FROM memsvc.passages', true, false, '')",
    "a graph in XML": "RETURN pg_catalog.query_to_xml('SELECT properties FROM memory.\"Person\"', true, false, '')",
    "a table in XML": "RETURN pg_catalog.table_to_xml('memory.\"Person\"'::pg_catalog.regclass, true, false, '')",
    "a schema in XML": "RETURN pg_catalog.schema_to_xml('memory', true, false, '')",
    "a file": "RETURN pg_catalog.pg_read_file('PG_VERSION')",
    "a large object": "RETURN pg_catalog.lo_import('/etc/passwd')",
    "statistics": "RETURN pg_catalog.pg_stat_get_live_tuples('memory.\"Person\"'::pg_catalog.regclass)",
    "create": "CREATE (n:Person {{name: 'mine'}}) RETURN n",
    "a new label": "CREATE (n:Mine) RETURN n",
    "set": "MATCH (n:Person) SET n.name = 'x' RETURN n",
    "delete": "MATCH (n:Person) DETACH DELETE n RETURN 1",
    "merge": "MERGE (n:Person {{name: 'x'}}) RETURN n",
}
STATEMENTS = {
    "a label table": 'SELECT properties::text FROM memory."Person"',
    "its parent": "SELECT properties::text FROM memory._ag_label_vertex",
    "edges": 'SELECT properties::text FROM memory."KNOWS"',
    "edges' parent": "SELECT properties::text FROM memory._ag_label_edge",
    "only the parent": "SELECT properties::text FROM ONLY memory._ag_label_vertex",
    "by owner": "SELECT properties::text FROM memory._ag_label_vertex WHERE user_id = '{bob}'",
    "a filter that talks": "SELECT FROM memory.\"Person\" WHERE (properties::text)::integer > 0 AND user_id = '{bob}'",
    "a join": 'SELECT b.properties::text FROM memory."KNOWS" e, memory."Person" b WHERE b.id = e.end_id',
    "copy": 'COPY memory."Person" TO STDOUT',
    "copy of a query": 'COPY (SELECT properties FROM memory."Person") TO STDOUT',
    "truncate": 'TRUNCATE memory."Person"',
    "update": "UPDATE memory.\"Person\" SET user_id = '{bob}'",
    "insert for Bob": "INSERT INTO memory.\"Person\" (user_id, node_id) VALUES ('{bob}', '{node}')",
    "labels' catalog": "SELECT * FROM ag_catalog.ag_label",
    "a function for a path": "SELECT * FROM ag_catalog.age_vle('\"memory\"'::agtype, NULL, NULL, NULL, NULL, '1', '1')",
    "graph_stats": "SELECT ag_catalog.age_graph_stats('\"memory\"'::agtype)",
    "vertex_stats": "SELECT ag_catalog.age_vertex_stats('\"memory\"'::agtype, '\"x\"'::agtype)",
    "startNode": "SELECT ag_catalog.age_startnode('\"memory\"'::agtype, '{{\"id\": {edge}, \"label\": \"KNOWS\", "
    "\"start_id\": {start}, \"end_id\": {end}, \"properties\": {{}}}}::edge'::agtype)",
    "a file into labels": "SELECT ag_catalog.load_labels_from_file('memory', 'Person', '/etc/passwd')",
    "another graph": "SELECT ag_catalog.create_graph('mine')",
    "drop": "SELECT ag_catalog.drop_graph('memory', true)",
    "a label": "SELECT ag_catalog.create_vlabel('memory', 'Mine')",
    "a prepared Cypher": "SELECT ag_catalog.age_prepare_cypher('memory', 'MATCH (n) RETURN n')",
    "projecting functions": "SELECT * FROM memsvc.vertices_of('{bob}', ARRAY['{node}']::uuid[])",
    "rebuilding": "SELECT memsvc.rebuild_projection('{bob}', 'graph')",
    "comparing": "SELECT * FROM memsvc.compare_projection('{bob}')",
    "statistics of columns": "SELECT most_common_vals::text FROM pg_catalog.pg_stats WHERE schemaname = 'memory'",
    "statistics raw": "SELECT stavalues1::text FROM pg_catalog.pg_statistic",
    "a role": "SET ROLE memsvc_owner",
    "another login": "SET SESSION AUTHORIZATION memsvc_app",
    "a function of mine": "CREATE FUNCTION pg_temp.f(text) RETURNS bool LANGUAGE sql AS 'SELECT true'",
    "a temporary table": 'CREATE TEMP TABLE t AS SELECT * FROM memory."Person"',
    "a view": 'CREATE VIEW public.v AS SELECT * FROM memory."Person"',
    "a policy": 'DROP POLICY own_rows ON memory."Person"',
    "row security": 'ALTER TABLE memory."Person" DISABLE ROW LEVEL SECURITY',
    "explain": 'EXPLAIN (ANALYZE, VERBOSE) SELECT properties FROM memory."Person" WHERE user_id = \'{bob}\'',
    "a forged token": "SELECT set_config('memsvc.identity', '{bob}.9999999999.aa.bb', false)",
}  # fmt: skip


def cyphered(query: str) -> str:
    """A query as a statement with one column."""
    return f"SELECT * FROM ag_catalog.cypher('memory', $q$ {query} $q$) AS (c ag_catalog.agtype)"


def shown(connection: psycopg.Connection, statement: str) -> str:
    """All that a statement says: its rows, or its error with every part that a client gets."""
    try:
        if statement.startswith("COPY"):
            with connection.cursor().copy(statement.encode()) as copied:
                return " ".join(bytes(block).decode() for block in copied)
        cursor = connection.execute(statement.encode())
        return " ".join(map(str, cursor.fetchall() if cursor.description else ["done"]))
    except psycopg.Error as error:
        diag = error.diag
        return f"ERROR {diag.message_primary} {diag.message_detail} {diag.message_hint} {diag.context}"


@pytest.fixture
def login(cypher_logins: Logins, scene: Scene) -> Iterator[psycopg.Connection]:
    """Ines, as the login that may use Cypher, in a transaction that may write."""
    with cypher_logins.enter(CYPHER, scene.token) as connection:
        yield connection


def columns_of(query: str) -> str:
    """The query with one column: what it returns in a list."""
    head, _, tail = query.rpartition("RETURN ")
    return query if "UNION" in query else f"{head}RETURN [{tail}]"


@pytest.mark.parametrize("way", CYPHERS, ids=str)
def test_no_query_shows_what_bob_has(
    way: str, login: psycopg.Connection, scene: Scene, record_property: Record
) -> None:
    record_property("ways in Cypher, and in SQL on its graph, by which nobody got there, by some login", 1)
    said = shown(login, cyphered(columns_of(CYPHERS[way]).format(**scene.known)))
    assert SECRET not in said
    login.rollback()
    login.execute("SELECT set_config('memsvc.identity', %s, true)", [scene.token])
    assert "Open one" in shown(login, cyphered("MATCH (n:Person) RETURN n.name"))


@pytest.mark.parametrize("way", STATEMENTS, ids=str)
def test_no_statement_shows_what_bob_has(
    way: str, login: psycopg.Connection, scene: Scene, record_property: Record
) -> None:
    record_property("ways in Cypher, and in SQL on its graph, by which nobody got there, by some login", 1)
    said = shown(login, STATEMENTS[way].format(**scene.known))
    assert SECRET not in said
    if "function" in way or "file" in way or way in {"drop", "truncate", "a role", "rebuilding", "comparing"}:
        assert said.startswith("ERROR")
    if said.startswith("ERROR"):
        return
    after = shown(login, cyphered("MATCH (n:Person) RETURN n.name"))
    assert SECRET not in after


def test_counts_are_those_of_ines(login: psycopg.Connection) -> None:
    assert shown(login, cyphered("MATCH (n) RETURN count(*)")) == "('3',)"
    assert shown(login, cyphered("MATCH ()-[e]->() RETURN count(*)")) == "('2',)"
    assert shown(login, "SELECT count(*) FROM memory._ag_label_vertex") == "(3,)"


@pytest.mark.parametrize("token", ["", "nonsense", "a.b.c.d"])
def test_without_an_identity_there_is_nothing(token: str, login: psycopg.Connection) -> None:
    login.execute("SELECT set_config('memsvc.identity', %s, true)", [token])
    assert shown(login, cyphered("MATCH (n) RETURN n")) == ""
    assert shown(login, "SELECT * FROM memory._ag_label_edge") == ""


LEAK = {
    "_ag_label_vertex": "MATCH (n) RETURN n", "Person": "MATCH (n:Person) RETURN n",
    "_ag_label_edge": "MATCH ()-[e]->() RETURN e", "KNOWS": "MATCH ()-[e:KNOWS]->() RETURN e.fact",
}  # fmt: skip


@pytest.mark.parametrize("table", LEAK)
def test_each_policy_is_needed(table: str, cypher_admin: psycopg.Connection, scene: Scene) -> None:
    """Without row security on a table, Cypher shows what Bob has; so the probes above can fail."""
    names = [table] if not table.startswith("KNOWS") else [table, "Person", "_ag_label_vertex"]
    if table == "_ag_label_edge":
        names.append("_ag_label_vertex")
    with cypher_admin.transaction(force_rollback=True):
        for name in names:
            cypher_admin.execute(
                sql.SQL("ALTER TABLE memory.{} DISABLE ROW LEVEL SECURITY").format(sql.Identifier(name))
            )
        cypher_admin.execute("SET LOCAL ROLE memsvc_cypher")
        cypher_admin.execute("SET LOCAL search_path = pg_catalog, ag_catalog")
        cypher_admin.execute("SELECT set_config('memsvc.identity', %s, true)", [scene.token])
        assert SECRET in shown(cypher_admin, cyphered(LEAK[table]))


_MADE_UP = (
    '\'{{"id": {edge}, "label": "KNOWS", "start_id": {start}, "end_id": {end}, "properties": {{}}}}::edge\'::agtype'
)
RAW = {
    # Read label tables by their own means. AGE wants exactly the columns that it made, and ours have two more; the ends
    # of a made-up edge it refuses, since the policy holds a query.
    "age_vle": "SELECT * FROM ag_catalog.age_vle('\"memory\"', NULL, NULL, NULL, '1', '1', '0', '1')",
    "age_startnode": f"SELECT ag_catalog.age_startnode('\"memory\"', {_MADE_UP})",
    "age_endnode": f"SELECT ag_catalog.age_endnode('\"memory\"', {_MADE_UP})",
    "_get_vertex_by_graphid": "SELECT ag_catalog._get_vertex_by_graphid('memory', '{vertex}')",
    "age_graph_stats": "SELECT ag_catalog.age_graph_stats('\"memory\"')",
    "age_vertex_stats": "SELECT ag_catalog.age_vertex_stats('\"memory\"', '\"x\"')",
    "age_shortest_path": "SELECT ag_catalog.age_shortest_path('\"memory\"', '{start}', '{end}', NULL, NULL, NULL, "
    "NULL)",
    "age_all_shortest_paths": "SELECT ag_catalog.age_all_shortest_paths('\"memory\"', '{start}', '{end}', NULL, "
    "NULL, NULL, "
    "NULL)",
    # Load files or make tables: PostgreSQL's own privileges refuse that a second time.
    "load_labels_from_file": "SELECT ag_catalog.load_labels_from_file('memory', 'Person', '/etc/passwd')",
    "load_edges_from_file": "SELECT ag_catalog.load_edges_from_file('memory', 'KNOWS', '/etc/passwd')",
    "create_graph": "SELECT ag_catalog.create_graph('mine')",
    "create_vlabel": "SELECT ag_catalog.create_vlabel('memory', 'Mine')",
    "create_elabel": "SELECT ag_catalog.create_elabel('memory', 'MINE')",
    "create_complete_graph": "SELECT ag_catalog.create_complete_graph('mine', 2, 'e', 'v')",
    "create_subgraph": "SELECT * FROM ag_catalog.create_subgraph('mine', 'memory', 'true', 'true')",
    "age_create_barbell_graph": "SELECT ag_catalog.age_create_barbell_graph('mine', 2, 2, 'v', NULL, 'e', NULL)",
    "drop_graph": "SELECT ag_catalog.drop_graph('memory', true)",
    "drop_label": "SELECT ag_catalog.drop_label('memory', 'Person', true)",
    "alter_graph": "SELECT ag_catalog.alter_graph('memory', 'RENAME', 'mine')",
    # Run a query that was kept, take all memory, throw away what AGE keeps.
    "age_prepare_cypher": "SELECT ag_catalog.age_prepare_cypher('memory', 'MATCH (n) RETURN n')",
    "age_range": "SELECT ag_catalog.age_range('0'::agtype, '9'::agtype)",
    "age_delete_global_graphs": "SELECT ag_catalog.age_delete_global_graphs('\"memory\"')",
}
HARMLESS = (
    r"agtype_(send|recv|typecast_\w+)|graphid_(in|send|recv|btree_sort)|gin_\w+|(vertex|edge)_to_jsonb?"  # on values
    r"|age_\w+(transfn|finalfn|_accum)|age_agtype_sum"  # parts of aggregates, which are called by these
    r"|_cypher_\w+_clause|age_invalidate_graph_cache"  # want what no SQL can give
    r"|age_(build|materialize|match)_vle_\w+|age_match_two_vle_edges"  # on paths, which nobody has
    r"|get_cypher_keywords|age_is_valid_label_name|graph_exists|_agehash_self_test|_graphid|_label_id"  # read no table
    r"|age_\w+_pg_upgrade\w*|age_pg_upgrade_status"  # change AGE's catalogs, which PostgreSQL refuses
)
"""What is revoked and would show nothing: by names, so that what a newer AGE brings is looked at by somebody."""


@pytest.mark.parametrize("function", RAW)
def test_a_function_of_age_that_was_not_granted_is_refused(
    function: str, login: psycopg.Connection, cypher_admin: psycopg.Connection, scene: Scene, record_property: Record
) -> None:
    call = RAW[function].format(**scene.known).replace("agtype", "ag_catalog.agtype")
    if function in lacking(cypher_admin):
        assert re.match("ERROR function .* does not exist", shown(login, call))
        return
    refusal = f"permission denied for function {function} "
    assert shown(login, call).startswith(f"ERROR {refusal}")
    with cypher_admin.transaction(force_rollback=True):
        cypher_admin.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ag_catalog TO {CYPHER}".encode())
        cypher_admin.execute("SET LOCAL SESSION AUTHORIZATION memsvc_cypher")
        cypher_admin.execute("SET LOCAL search_path = pg_catalog, ag_catalog")
        cypher_admin.execute("SELECT set_config('memsvc.identity', %s, true)", [scene.token])
        said = shown(cypher_admin, call)
    assert refusal not in said  # the privilege was what refused it
    assert SECRET not in said  # and there is a second wall
    record_property("walls of AGE taken away, and noticed, by some login", 1)


def lacking(admin: psycopg.Connection) -> set[str]:
    """Functions that this server's AGE does not have."""
    row = admin.execute("SELECT extversion FROM pg_extension WHERE extname = 'age'").fetchone()
    assert row is not None
    return NOT_IN_1_7 if row[0].startswith("1.7.") else set()


def test_what_of_age_is_revoked_was_looked_at(cypher_admin: psycopg.Connection) -> None:
    revoked = cypher_admin.execute(
        "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'ag_catalog'::regnamespace "
        "AND NOT has_function_privilege('memsvc_cypher', oid, 'EXECUTE')"
    ).fetchall()
    assert {name for (name,) in revoked if not re.fullmatch(HARMLESS, name)} == set(RAW) - lacking(cypher_admin)


def test_which_functions_are_leakproof_was_decided(cypher_admin: psycopg.Connection) -> None:
    """A leakproof function may be asked before a policy: beside PostgreSQL's own, two of AGE's are (ADR 0030)."""
    found = cypher_admin.execute(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE proleakproof AND oid >= 16384 ORDER BY 1"
    ).fetchall()
    assert [name for (name,) in found] == [
        "ag_catalog.agtype_contains(ag_catalog.agtype,ag_catalog.agtype)",
        "ag_catalog.graphid_eq(ag_catalog.graphid,ag_catalog.graphid)",
    ]


def test_what_of_age_each_login_may_call(cypher_admin: psycopg.Connection) -> None:
    """Nothing that reads raw, loads files or makes tables; nobody else anything."""
    found = cypher_admin.execute(
        "SELECT r.rolname, p.proname FROM pg_proc AS p, pg_roles AS r "
        "WHERE p.pronamespace = 'ag_catalog'::regnamespace AND r.rolname LIKE 'memsvc_%' "
        "AND r.rolname <> 'memsvc_admin' AND has_function_privilege(r.oid, p.oid, 'EXECUTE')"
    ).fetchall()
    callable_by = {role: {name for other, name in found if other == role} for role, _ in found}
    raw = {"age_vle", "age_startnode", "age_endnode", "age_vertex_stats", "age_graph_stats", "age_range",
           "load_labels_from_file", "load_edges_from_file", "create_complete_graph", "age_create_barbell_graph",
           "age_shortest_path", "age_all_shortest_paths", "_get_vertex_by_graphid", "create_subgraph", "drop_graph",
           "drop_label", "alter_graph", "create_graph", "create_vlabel", "create_elabel", "age_prepare_cypher",
           "age_delete_global_graphs", "_cypher_create_clause", "_cypher_set_clause"}  # fmt: skip
    assert "memsvc_reader" not in callable_by
    assert not callable_by["memsvc_cypher"] & raw
    assert callable_by["memsvc_app"] == callable_by["memsvc_eraser"]
    assert callable_by["memsvc_app"] <= {
        "_graphid", "_label_id", "_extract_label_id", "agtype_in", "graphid_out", "graphid_eq", "agtype_ne", "agtype_eq"
    }  # fmt: skip
    assert "memsvc_recall" not in callable_by
    assert not cypher_admin.execute(
        "SELECT p.proname FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a "
        "WHERE p.pronamespace = 'ag_catalog'::regnamespace AND a.grantee = 0"
    ).fetchall()


@pytest.mark.parametrize("way", [
    "LOAD 'age'", "SET session_preload_libraries = 'age'", "SELECT '1'::ag_catalog.agtype",
    "SELECT pg_input_is_valid('1', 'ag_catalog.agtype')", "SELECT ag_catalog.agtype_in('1')",
    'SELECT * FROM memory."Person"', "SELECT 1 OPERATOR(ag_catalog.+) 1", "SELECT memsvc.compare_projection('{bob}')",
])  # fmt: skip
def test_people_at_psql_cannot_end_the_server_by_age(way: str, cypher_logins: Logins, scene: Scene) -> None:
    """AGE's hooks end the server at plain SQL (ADR 0030); so nobody at psql may get them into a session."""
    with cypher_logins.enter(READER, scene.token) as reader:
        assert shown(reader, way.format(**scene.known)).startswith("ERROR")
        reader.rollback()
        [(count,)] = reader.execute(
            "SELECT count(*) FROM pg_settings WHERE name = 'age.enable_containment'"  # is there once AGE is loaded
        ).fetchall()
        assert count == 0
        assert reader.execute("SELECT * FROM CAST(%s AS text) AS t", ["still here"]).fetchone() == ("still here",)


def test_every_table_of_the_graph_is_under_row_security(cypher_admin: psycopg.Connection) -> None:
    found = cypher_admin.execute(
        "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, c.relowner::regrole::text, "
        "ARRAY(SELECT p.polname::text FROM pg_policy AS p WHERE p.polrelid = c.oid ORDER BY 1) "
        "FROM pg_class AS c WHERE c.relnamespace = 'memory'::regnamespace AND c.relkind = 'r'"
    ).fetchall()
    assert len(found) > 50
    assert {(*row[1:3], *row[3]) for row in found} == {(True, "memsvc_owner", "own_rows", "rows_asked_for")}


def test_the_owner_is_in_every_index_of_the_graph(cypher_admin: psycopg.Connection) -> None:
    """EXPLAIN (ANALYZE) counts what an index finds before row security takes it away."""
    without = cypher_admin.execute(
        "SELECT i.indexrelid::regclass::text FROM pg_index AS i "
        "JOIN pg_class AS c ON c.oid = i.indrelid AND c.relnamespace = 'memory'::regnamespace "
        "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' WHERE i.indkey[0] <> a.attnum"
    )
    assert without.fetchall() == []
