"""Probes of the ontology: everybody reads the core, and nobody sees or changes types of another user."""

from __future__ import annotations

import json

from psycopg import errors

from tests.sql.probes import probe, refused, rows
from tests.sql.world import APP, READER, Doors, World, history_rows, value

TABLES = {"node": "node_types", "edge": "edge_types"}
PROPOSE = "SELECT memsvc.propose_type(%(user)s, %(kind)s, %(type)s::jsonb, 'probe')"
APPROVE = "SELECT memsvc.decide_type(%(user)s, %(kind)s, 'PROBE', 'approved', 'probe')"


def _type(kind: str, tenant: object) -> dict[str, object]:
    proposal = {"name": "PROBE", "description": "x", "reason": "", "functional": False}
    return {"user": tenant, "kind": kind, "type": json.dumps(proposal)}


@probe
def each_user_sees_the_core_and_own_types(doors: Doors, world: World) -> None:
    for kind, table in TABLES.items():
        with doors.enter(APP, world.token(world.ada)) as connection:
            connection.execute(PROPOSE.encode(), _type(kind, world.ada.user_id))
            seen = {row[0] for row in rows(connection, f"SELECT name FROM memsvc.{table} WHERE status = 'proposed'")}
            assert seen == {"PROBE"}, f"Ada sees {seen} in {table}"
            for tenant, sees in ((world.bob, 0), (world.ada, 1)):
                connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
                own = f"SELECT count(*) FROM memsvc.{table} WHERE status <> 'core'"
                assert value(connection, own) == sees, f"{table} does not show {sees} own types"
        for role in (APP, READER):
            with doors.enter(role) as connection:
                strange = f"SELECT count(*) FROM memsvc.{table} WHERE status <> 'core'"
                assert value(connection, strange) == 0


@probe
def types_are_added_and_changed_for_oneself(doors: Doors, world: World) -> None:
    for kind, table in TABLES.items():
        refused(doors, APP, world.token(world.ada), PROPOSE, _type(kind, world.bob.user_id))
        more = "from_types, to_types, " if kind == "edge" else ""
        insert = (
            f"INSERT INTO memsvc.{table} (user_id, name, category, {more}description, status, proposed_by, "
            f"proposed_at) VALUES (%(user)s, 'PROBE', 'x', {'%(none)s, %(none)s, ' if more else ''}'x', 'proposed', "
            "'x', now())"
        )
        values: dict[str, object] = {"none": []}
        with doors.enter(APP, world.token(world.ada)) as connection:
            assert connection.execute(insert.encode(), values | {"user": world.ada.user_id}).rowcount == 1
        refused(doors, APP, world.token(world.ada), insert, values | {"user": world.bob.user_id})
        refused(doors, APP, "", PROPOSE, _type(kind, world.ada.user_id))
        refused(doors, READER, world.token(world.ada), PROPOSE, _type(kind, world.ada.user_id))
        with doors.enter(APP, world.token(world.ada)) as connection:
            change = f"UPDATE memsvc.{table} SET description = 'changed'"
            drop = f"DELETE FROM memsvc.{table}"
            assert connection.execute(change.encode()).rowcount == 0, f"the core of {table} changes"
            connection.execute(PROPOSE.encode(), _type(kind, world.ada.user_id))
            for tenant, reaches in ((world.bob, 0), (world.ada, 1)):
                connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
                for statement in (change, drop):
                    with connection.transaction(force_rollback=True):
                        reached = connection.execute(statement.encode()).rowcount
                    assert reached == reaches, f"{statement} reaches {reached} rows"
            connection.execute(APPROVE.encode(), _type(kind, world.ada.user_id))
            assert connection.execute(drop.encode()).rowcount == 0, f"an approved type of {table} is deleted"


@probe
def types_of_others_cannot_be_used(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        for kind in TABLES:
            connection.execute(PROPOSE.encode(), _type(kind, world.ada.user_id))
            connection.execute(APPROVE.encode(), _type(kind, world.ada.user_id))
        for tenant, code in ((world.ada, "written"), (world.bob, "type_unknown")):
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
            node = value(connection, "SELECT uuidv7()")
            for operation in (
                {"op": "node", "node_id": node, "fresh": True, "type": "PROBE", "label": "x"},
                {"op": "edge", "from_node": tenant.node_id, "type": "PROBE", "to_node": tenant.node_id, "fact": "x"},
            ):
                try:
                    with connection.transaction():
                        found = history_rows(connection, tenant.user_id, [operation])[0][0]
                except errors.DatabaseError as error:
                    found = error.diag.message_detail or str(error)
                assert found == code, f"{operation}: {found}"
