"""Probes of the graph: its reads show one's own facts, its writes reach nobody else's nodes."""

from __future__ import annotations

import json

import psycopg

from tests.sql.probes import probe, refused, rows
from tests.sql.world import APP, CYPHER, READER, Doors, Tenant, World, history_rows, value

READS = (
    "SELECT fact, from_node, to_node FROM memsvc.facts(%s, ARRAY[%s])",
    "SELECT label FROM memsvc.node_states(%s, ARRAY[%s])",
    "SELECT normal_form FROM memsvc.node_names(%s, ARRAY[%s])",
    "SELECT id FROM memsvc.history_of(%s, %s, NULL, 100)",
    "SELECT version_id FROM memsvc.neighbourhood(%s, ARRAY[%s], 2) WHERE hop > 0",
    "SELECT version_id FROM memsvc.edges_between(%s, ARRAY[%s])",
    "SELECT location_id FROM memsvc.node_locations(%s, ARRAY[%s])",
)

RECALLS = (
    ("similar_names(%(user)s, '{ada}', NULL, NULL)", 3),
    ("names_with_words(%(user)s, '{ada}', 9)", 3),
    (
        "match_locations(%(user)s, 52.5, 13.4, 1000, NULL, '{Person}', '{}', '{}', '-infinity', 'infinity', NULL, 9)",
        1,
    ),
    ("match_words(%(user)s, 'Who knows Ada?', 9, p_scope => memsvc.scope('{fact}', ARRAY[%(source)s::uuid]))", 1),
    (
        (
            "match_words(%(user)s, 'heron', 9, p_scope => "
            "memsvc.scope('{message}', p_least_importance => 6, p_source_kinds => '{conversation}'))"
        ),
        1,
    ),
    ("match_nodes(%(user)s, ARRAY[%(node)s], NULL, '{0}', 9, memsvc.scope('{fact}'))", 0),
    ("match_mentions(%(user)s, ARRAY[%(node)s], '{1}', '{0}', 9)", 0),
    ("facts_at(%(user)s, ARRAY[%(node)s], ARRAY[%(node)s], '{9}', '{NULL}', NULL)", 1),
    (
        (
            "match_evidence(%(user)s, ARRAY[%(node)s], ARRAY[%(node)s], '{1}', '{0}', '{9}', '{NULL}', '{}', '{}', 9, "
            "memsvc.scope('{message}'))"
        ),
        0,
    ),
    ("overtaken(%(user)s, ARRAY(SELECT passage_id FROM memsvc.passages))", 0),
)
"""What looks past row security, with how many rows it gives to its user."""
NAMED = (
    ("names_in_query(%(user)s, 'Did Ada L. come?')", 1),
    ("nearby(%(user)s, 52.5, 13.4, NULL, NULL, '{Person}', '-infinity', 'infinity', NULL, NULL, 9)", 1),
    ("memories_shown(%(user)s, ARRAY(SELECT version_id FROM memsvc.edge_versions WHERE edge_id = %(edge)s))", 1),
)

VIEWS = (
    "canonical_nodes", "nodes_current", "node_labels", "facts_current", "facts_history", "timeline", "people",
    "daily_activity", "procedures", "sources_status", "document_history", "agent_days",
)  # fmt: skip


@probe
def facts_are_read_for_oneself(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        with doors.enter(role, world.token(world.ada)) as connection:
            ada = world.ada.node_id
            found = rows(connection, READS[0], world.ada.user_id, ada)
            assert found == [("Ada knows Ada L.", ada, ada)], f"{role} is shown {found}"
            assert len(rows(connection, READS[3], world.ada.user_id, ada)) == 6
            for call in READS:
                assert rows(connection, call, world.bob.user_id, world.bob.node_id) == [], f"{role} reads Bob: {call}"
            for call in READS[5:]:
                assert len(rows(connection, call, world.ada.user_id, ada)) == 1
            called = "SELECT canonical_id FROM memsvc.nodes_called(%s, '{ADA}')"
            assert rows(connection, called, world.ada.user_id) == [(ada,)]
            assert rows(connection, called, world.bob.user_id) == []
            resolved = "SELECT canonical_id FROM memsvc.resolve_nodes(%s, ARRAY[%s])"
            for tenant, stands in ((world.ada, ada), (world.bob, world.bob.second_id)):
                assert rows(connection, resolved, tenant.user_id, tenant.second_id) == [(stands,)]
    refused(doors, CYPHER, world.token(world.ada), "SELECT * FROM memsvc.facts(NULL, '{}')")


@probe
def names_and_facts_are_recalled_for_oneself(doors: Doors, world: World) -> None:
    def asked(tenant: Tenant) -> dict[str, object]:
        return {
            "user": tenant.user_id, "node": tenant.node_id, "source": tenant.source_id, "edge": tenant.edge_id,
        }  # fmt: skip

    shown = "SELECT f::text FROM memsvc.{} AS f"  # as text: a fact may begin with time itself
    for role in (APP, READER):
        with doors.enter(role, world.token(world.ada)) as connection:
            for call, count in (*RECALLS, *NAMED):
                found = connection.execute(shown.format(call).encode(), asked(world.ada)).fetchall()
                assert len(found) == count, f"{role}: {call} gives {found}"
            for call, _ in NAMED:
                found = connection.execute(shown.format(call).encode(), asked(world.bob)).fetchall()
                assert found == [], f"{role} recalls for Bob: {call} gives {found}"
        for call, _ in RECALLS:
            for tenant, token in ((world.bob, world.token(world.ada)), (world.ada, "")):
                refused(doors, role, token, shown.format(call), asked(tenant))
    for call, _ in (*RECALLS, *NAMED):
        refused(doors, CYPHER, world.token(world.ada), shown.format(call), asked(world.ada))


@probe
def nobody_changes_the_graph_of_another_user(doors: Doors, world: World) -> None:
    def linked(tenant: Tenant, other: Tenant) -> list[dict[str, object]]:
        return [{"op": "edge", "from_node": tenant.node_id, "type": "KNOWS", "to_node": other.node_id, "fact": "x"}]

    with doors.enter(APP, world.token(world.ada)) as connection:
        written = history_rows(connection, world.ada.user_id, linked(world.ada, world.ada))
        assert written[0][0] == "written"
        undone = "SELECT count(*) FROM memsvc.undo_change(%s, 'probe', %s)"
        assert value(connection, undone, [world.ada.user_id, written[0][3]]) == 1
    call = "SELECT * FROM memsvc.write_history(%(user)s, 'probe', %(operations)s::jsonb)"
    for user, token in ((world.bob, world.token(world.ada)), (world.ada, "")):
        operations = json.dumps([{"position": 0, **linked(user, user)[0]}], default=str)
        refused(doors, APP, token, call, {"user": user.user_id, "operations": operations})
    refused(doors, READER, world.token(world.ada), call, {"user": world.ada.user_id, "operations": "[]"})
    for across in (
        linked(world.ada, world.bob),
        linked(world.bob, world.ada),
        [{"op": "merge", "node_id": world.ada.node_id, "canonical_id": world.bob.node_id}],
        [{"op": "retract", "edge_id": world.bob.edge_id}],
    ):
        code = "nothing"
        with doors.enter(APP, world.token(world.ada)) as connection:
            try:
                with connection.transaction():
                    history_rows(connection, world.ada.user_id, across)
            except psycopg.DatabaseError as error:
                code = str(error.diag.message_detail or error)
        assert code in {"node_unknown", "fact_unknown"}, f"{across}: refused with {code}"


@probe
def views_show_ones_own_rows(doors: Doors, world: World) -> None:
    for view in VIEWS:
        for role in (APP, READER):
            with doors.enter(role, world.token(world.ada)) as connection:
                found = rows(connection, f"SELECT DISTINCT user_id FROM memsvc.{view}")
                assert found == [(world.ada.user_id,)], f"{role} sees {found} in {view}"
            with doors.enter(role) as connection:
                assert rows(connection, f"SELECT user_id FROM memsvc.{view}") == [], f"{role} without token: {view}"
        refused(doors, CYPHER, world.token(world.ada), f"SELECT * FROM memsvc.{view}")
    with doors.enter(READER, world.token(world.ada)) as connection:
        assert rows(connection, "SELECT facts FROM memsvc.people ORDER BY 1") == [(0,), (1,)]
