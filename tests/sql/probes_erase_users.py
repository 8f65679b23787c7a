"""Probes of erasing whole users: an app erases its own, after a mark, and only who is proved by the token."""

from __future__ import annotations

from uuid import UUID

from psycopg import errors

from tests.sql.probes import probe, refused, rows
from tests.sql.world import APP, ERASER, READER, Doors, Tenant, World, value

MARK = "SELECT memsvc.begin_user_erasure(%s, %s, 'probe')"
ERASE = "SELECT erased, finished FROM memsvc.erase_user(%(user)s, 100000)"


def _stored(world: World, tenant: Tenant) -> dict[str, int]:
    """Rows that the tables of the world hold for a user."""
    return {table: counts[tenant.user_id] for table, counts in world.counts.items()}


@probe
def an_app_erases_its_own_users_and_no_others(doors: Doors, world: World) -> None:
    ada, bob, eve = world.ada, world.bob, world.eve
    keys = "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL) WHERE revoked_at IS NULL"
    with doors.enter(APP, world.token(ada)) as connection:
        for app_id, ref in ((eve.app_id, ada.external_id), (eve.app_id, str(ada.user_id)), (ada.app_id, "nobody")):
            assert value(connection, MARK, [app_id, ref]) is None, f"{ref} is marked"
        before = {row[0] for row in rows(connection, keys, ada.app_id)}
        assert value(connection, "SELECT memsvc.user_is_here(%s)", [ada.user_id])
        assert value(connection, MARK, [ada.app_id, ada.external_id]) == ada.user_id
        assert value(connection, MARK, [ada.app_id, str(ada.user_id)]) == ada.user_id
        here = "SELECT memsvc.user_is_here(%s)"
        assert not value(connection, here, [ada.user_id]), "a marked user may be acted for"
        assert value(connection, here, [bob.user_id]), "another user may not be acted for"
        assert not value(connection, here, [UUID(int=1)])
        assert before - {row[0] for row in rows(connection, keys, ada.app_id)} == {world.keys["ada"].key_id}
        assert rows(connection, "SELECT user_id FROM memsvc.users_of_app(%s, NULL, NULL, 9)", ada.app_id) == [
            (bob.user_id,)
        ]
        named = "SELECT user_id FROM memsvc.authenticate_key(%s, %s, %s)"
        key = world.keys["app"]
        assert value(connection, named, [key.key_id, key.hash, ada.external_id]) is None, "a marked user is found"
        assert rows(connection, "SELECT user_id FROM memsvc.users_erasing(9)") == [(ada.user_id,)]
        due = rows(connection, "SELECT user_id, job_id FROM memsvc.due_jobs(10000)")
        assert {row[0] for row in due} >= {bob.user_id, eve.user_id}, "others have nothing to do"
        assert ada.user_id not in {row[0] for row in due}, "work goes on for a marked user"
        for user_id, job_id in due:
            assert rows(connection, "SELECT * FROM memsvc.begin_job(%s, %s)", user_id, job_id) != []


@probe
def workers_learn_who_is_to_be_erased(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:  # as workers do: nobody has proved anything yet
        assert rows(connection, "SELECT user_id FROM memsvc.users_erasing(9)") == []
        for tenant in (world.eve, world.ada):
            assert value(connection, MARK, [tenant.app_id, tenant.external_id]) == tenant.user_id
        found = rows(connection, "SELECT user_id FROM memsvc.users_erasing(9)")
        assert found == [(world.eve.user_id,), (world.ada.user_id,)], f"workers are told {found}"


@probe
def who_is_marked_is_erased_and_nobody_else(doors: Doors, world: World) -> None:
    ada, bob = world.ada, world.bob
    record = "SELECT finished_at IS NOT NULL FROM memsvc.user_erasure(%s, %s)"
    with doors.enter(APP, world.token(ada)) as connection:
        assert value(connection, MARK, [ada.app_id, bob.external_id]) == bob.user_id
        found = dict(rows(connection, "SELECT * FROM memsvc.rows_of_user(%s)", ada.user_id))
        known = {table: count for table, count in _stored(world, ada).items() if count}
        assert {table: found.get(table) for table in known} == known, f"counted {found}"
        assert found.get("api_keys") == 1, f"counted {found}"
        assert value(connection, MARK, [ada.app_id, ada.external_id]) == ada.user_id
        assert rows(connection, record, ada.app_id, ada.user_id) == [(False,)]
        assert rows(connection, record, world.eve.app_id, ada.user_id) == [], "another app reads the record"
        erased, finished = rows(connection, ERASE.replace("%(user)s", "%s"), ada.user_id)[0]
        assert (erased > 50, finished) == (True, False)
        assert rows(connection, ERASE.replace("%(user)s", "%s"), ada.user_id) == [(1, True)]
        assert rows(connection, record, ada.app_id, ada.user_id) == [(True,)]
        assert rows(connection, "SELECT * FROM memsvc.rows_of_user(%s)", ada.user_id) == []
        assert rows(connection, ERASE.replace("%(user)s", "%s"), ada.user_id) == [(0, True)]
        connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(bob)])
        kept = dict(rows(connection, "SELECT * FROM memsvc.rows_of_user(%s)", bob.user_id))
        assert {table: kept.get(table) for table in known} == {table: _stored(world, bob)[table] for table in known}


@probe
def nobody_erases_another_user_or_without_a_mark(doors: Doors, world: World) -> None:
    ada, bob = world.ada, world.bob
    for user, token in ((bob, world.token(ada)), (ada, "")):
        refused(doors, APP, token, ERASE, {"user": user.user_id})
        refused(doors, APP, token, "SELECT * FROM memsvc.rows_of_user(%(user)s)", {"user": user.user_id})
    refused(doors, APP, world.token(ada), ERASE, {"user": ada.user_id}, error=errors.ObjectNotInPrerequisiteState)
    for role in (APP, READER):
        inner = "SELECT memsvc.erase_user_rows(%(user)s, 10, true)"
        refused(doors, role, world.token(ada), inner, {"user": ada.user_id})
    refused(doors, READER, world.token(ada), ERASE, {"user": ada.user_id})
    with doors.enter(ERASER, world.token(ada)) as connection:
        for table in ("api_keys", "dramatiq_queue", "moves"):
            seen = rows(connection, f"SELECT DISTINCT user_id FROM memsvc.{table}")
            assert seen == [(ada.user_id,)], f"{table} shows {seen}"
    for call in (
        "SELECT memsvc.erase_user_rows(%(user)s, 10, true)", "SELECT * FROM memsvc.rows_of_user(%(user)s)",
    ):  # fmt: skip
        refused(doors, ERASER, world.token(ada), call, {"user": bob.user_id})


@probe
def who_is_anonymised_leaves_numbers_once_and_only_to_the_app(doors: Doors, world: World) -> None:
    ada, bob, eve = world.ada, world.bob, world.eve
    begin = "SELECT * FROM memsvc.begin_user_anonymising(%s, %s, 'probe')"
    figures = "SELECT * FROM memsvc.figures_of_user(%s)"
    for user, token in ((bob, world.token(ada)), (ada, "")):
        asked: dict[str, object] = {"user": user.user_id, "app": user.app_id}
        refused(doors, APP, token, "SELECT * FROM memsvc.figures_of_user(%(user)s)", asked)
        refused(doors, APP, token, "SELECT * FROM memsvc.begin_user_anonymising(%(app)s, %(user)s, 'probe')", asked)
    refused(doors, READER, world.token(ada), "SELECT * FROM memsvc.figures_of_user(%(user)s)", {"user": ada.user_id})
    with doors.enter(APP, world.token(ada)) as connection:  # who is marked has no figures that would ask again
        assert value(connection, MARK, [bob.app_id, bob.external_id]) == bob.user_id
        try:
            connection.execute(begin.encode(), [bob.app_id, bob.user_id])
        except errors.InsufficientPrivilege:
            pass
        else:
            raise AssertionError("Ada anonymises Bob")
    with doors.enter(APP, world.token(ada)) as connection:
        of_ada = rows(connection, figures, ada.user_id)
        messages = sum(row[3] for row in of_ada if row[1] == "messages")
        assert messages > 0, of_ada
        assert rows(connection, begin, eve.app_id, ada.user_id) == [], "another app anonymises the user"
        assert rows(connection, begin, ada.app_id, ada.user_id) == [(ada.user_id, len(of_ada))]
        assert rows(connection, begin, ada.app_id, ada.user_id) == [(ada.user_id, 0)]
        assert rows(connection, "SELECT * FROM memsvc.figures_of_app(%s)", ada.app_id) == of_ada
        assert rows(connection, "SELECT * FROM memsvc.figures_of_app(%s)", eve.app_id) == []
        kept = rows(connection, "SELECT erasing_since IS NULL FROM memsvc.users WHERE user_id = %s", bob.user_id)
        assert kept in ([], [(True,)])
