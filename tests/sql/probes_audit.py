"""Probes of the audit log and of the use of keys: an app reads its own, and nobody acts as another."""

from __future__ import annotations

from psycopg import errors

from tests.sql.probes import probe, refused, rows
from tests.sql.world import ANALYST, APP, CYPHER, OWNER, READER, Doors, World, value

ACTS = "SELECT action, user_id, door, key_id FROM memsvc.acts_of_app(%s, %s, %s, NULL, NULL, NULL, NULL, 1000)"


@probe
def what_the_app_does_to_accounts_is_written_down(doors: Doors, world: World) -> None:
    with doors.enter(OWNER) as connection:
        noted = rows(
            connection, "SELECT actor, action, user_id FROM memsvc.audit_log WHERE app_id = %s", world.ada.app_id
        )
    assert (APP, "app.create", None) in noted
    assert (APP, "user.create", world.ada.user_id) in noted
    assert (APP, "key.create", world.ada.user_id) in noted
    assert (APP, "key.revoke", None) in noted


@probe
def an_app_reads_its_own_acts_and_those_on_the_whole_service(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        acts = rows(connection, ACTS, world.ada.app_id, None, None)
        users = {row[1] for row in acts} - {None}
        assert users == {world.ada.user_id, world.bob.user_id}, f"the app reads acts on {users}"
        assert {row[1] for row in rows(connection, ACTS, world.eve.app_id, None, None)} - {None} == {world.eve.user_id}
        kinds = {row[0] for row in rows(connection, ACTS, world.ada.app_id, None, "key")}
        assert kinds == {"key.create", "key.revoke"}, f"asked for acts on keys, the app reads {kinds}"
        whole = "SELECT DISTINCT whole_service FROM memsvc.acts_of_app(%s, NULL, 'model', NULL, NULL, NULL, NULL, 9)"
        for app in (world.ada.app_id, world.eve.app_id):
            assert rows(connection, whole, app) == [(True,)], "acts on the whole service belong to every app"


@probe
def an_act_says_by_which_door_and_key(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        connection.execute("SELECT set_config('memsvc.acting', 'page mk_7', true)")
        connection.execute("SELECT memsvc.note_act('memory.export', %s, '')", [world.ada.user_id])
        found = rows(connection, ACTS, world.ada.app_id, "mk_7", None)
        assert found == [("memory.export", world.ada.user_id, "page", "mk_7")]
        assert rows(connection, ACTS, world.ada.app_id, "page", None) == found
        assert rows(connection, ACTS, world.ada.app_id, "cli", None) == []


@probe
def nobody_is_said_to_have_acted_for_another_user(doors: Doors, world: World) -> None:
    note = f"SELECT memsvc.note_act('memory.export', '{world.bob.user_id}', '')"
    refused(doors, APP, world.token(world.ada), note)
    own = f"SELECT memsvc.note_act('user.erase', '{world.ada.user_id}', '')"
    refused(doors, APP, world.token(world.ada), own, error=errors.InvalidParameterValue)
    for role in (READER, CYPHER, ANALYST):
        for call in (
            f"memsvc.note_act('memory.export', '{world.ada.user_id}', '')",
            "memsvc.note_queue_act('dead_letter.drop', '')",
            f"memsvc.acts_of_app('{world.ada.app_id}', NULL, NULL, NULL, NULL, NULL, NULL, 9)",
            f"memsvc.key_use_of_app('{world.ada.app_id}', NULL, '2026-01-01')",
            f"memsvc.jobs_of_app('{world.ada.app_id}', NULL, NULL, NULL, 9)",
            f"memsvc.model_spending_of_app('{world.ada.app_id}', '2026-01-01')",
            f"memsvc.rescope_key('{world.ada.app_id}', '{world.keys['app'].key_id}', '{{admin}}')",
            "memsvc.count_key_use('{}', '{}', '{}', '{}')",
            "memsvc.prune_audit('1 day', 9)",
        ):
            refused(doors, role, world.token(world.ada), f"SELECT * FROM {call}")


@probe
def an_app_reads_the_use_of_its_own_keys(doors: Doors, world: World) -> None:
    mine, others = world.keys["app"].key_id, world.keys["eve"].key_id
    count = "SELECT memsvc.count_key_use(%s, %s::date[], %s::bigint[], %s::timestamptz[])"
    use = "SELECT key_id, requests FROM memsvc.key_use_of_app(%s, NULL, '2026-01-01')"
    with doors.enter(APP) as connection:
        for _ in range(2):  # the second time adds to the first
            connection.execute(
                count.encode(),
                [[mine, others, "mk_gone"], ["2026-01-02"] * 3, [3, 5, 7], ["2026-01-02T03:04:05Z"] * 3],
            )
        assert rows(connection, use, world.ada.app_id) == [(mine, 6)]
        assert rows(connection, use, world.eve.app_id) == [(others, 10)]


@probe
def the_service_records_and_prunes_what_it_may_not_write(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        connection.execute("SELECT memsvc.note_queue_act('dead_letter.drop', '')")
        assert value(connection, "SELECT memsvc.prune_audit('100 days', 9)") >= 0


@probe
def old_acts_go_and_those_that_a_restore_repeats_stay(doors: Doors, world: World) -> None:
    with doors.enter(OWNER) as connection:
        connection.execute("UPDATE memsvc.audit_log SET recorded_at = now() - interval '99 days'")
        connection.execute("SELECT memsvc.prune_audit('100 days', 100000)")
        assert value(connection, "SELECT count(*) FROM memsvc.audit_log WHERE action = 'key.create'") > 0
        connection.execute("SELECT memsvc.prune_audit('98 days', 100000)")
        left = {row[0] for row in rows(connection, "SELECT action FROM memsvc.audit_log")}
        assert left <= {"user.erase", "user.erased", "key.revoke"}
        assert "key.revoke" in left
