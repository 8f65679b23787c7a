"""Probes of what nights and feeds do past row security: it tells ids alone, and changes nothing of others."""

from __future__ import annotations

from tests.sql.probes import probe, refused, rows
from tests.sql.world import APP, Doors, World, value

LOOKS = "SELECT * FROM memsvc.due_looks(100000)"


@probe
def due_looks_tell_ids_of_all_users_and_nothing_else(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        for tenant in (world.bob, world.ada):
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
            connection.execute("UPDATE memsvc.schedules SET look_at = now() - interval '1 hour' WHERE kind = 'sleep'")
        answer = connection.execute(LOOKS)
        assert [column.name for column in answer.description or ()] == ["user_id"]
        assert {row[0] for row in answer} >= {world.ada.user_id, world.bob.user_id}


@probe
def pushed_feed_tells_whose_it_is_and_its_salt_whoever_asks(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        feed = value(
            connection,
            "INSERT INTO memsvc.feeds (user_id, kind, identifier, name, salt) VALUES (%s, 'push', 'p', 'p', %s) "
            "RETURNING feed_id",
            [world.ada.user_id, b"s" * 16],
        )
        connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.bob)])
        assert rows(connection, "SELECT * FROM memsvc.pushed_feed(%s)", feed) == [(world.ada.user_id, b"s" * 16)]


@probe
def nobody_archives_or_restores_passages_of_others(doors: Doors, world: World) -> None:
    for function in ("archive_passages", "restore_passages"):
        call = f"SELECT memsvc.{function}('{world.bob.user_id}', ARRAY['{world.bob.passage_id}']::uuid[], NULL)"
        refused(doors, APP, world.token(world.ada), call)


@probe
def uses_of_instructions_are_of_ones_own(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        for tenant in (world.bob, world.ada):
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
            used = (
                "INSERT INTO memsvc.recall_events "
                "(user_id, recall_id, door, mode, memories, conversation_id, instructions) "
                "SELECT v.user_id, uuidv7(), 'probe', 'eager', '{}', s.source_id, ARRAY[v.version_id] FROM "
                "memsvc.node_versions AS v INNER JOIN memsvc.sources AS s USING (user_id) WHERE v.user_id = %s LIMIT 1"
            )
            connection.execute(used, [tenant.user_id])
        found = rows(connection, "SELECT DISTINCT user_id FROM memsvc.instructions_used")
        assert found == [(world.ada.user_id,)], "Ada sees instructions of others"


@probe
def signals_of_documents_are_of_ones_own(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        for tenant in (world.bob, world.ada):
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
            document = "INSERT INTO memsvc.sources (user_id, kind, identifier) VALUES (%s, 'document', 'probe.md')"
            connection.execute(document, [tenant.user_id])
        found = rows(connection, "SELECT DISTINCT user_id FROM memsvc.document_signals")
        assert found == [(world.ada.user_id,)], "Ada sees documents of others"
