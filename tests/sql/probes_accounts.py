"""Probes of the definer functions that keep accounts and list work: each app answers for its own users and keys."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import errors

from tests.sql.probes import probe, refused, rows
from tests.sql.world import ANALYST, APP, CYPHER, OWNER, READER, Doors, World, value

AUTHENTICATE = "SELECT app_id, bound_user_id, user_id, scopes FROM memsvc.authenticate_key(%s, %s, %s)"


@probe
def an_app_is_made_once(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        assert value(connection, "SELECT memsvc.ensure_app('first app of ' || %s)", [_name(world)]) == world.ada.app_id
        assert value(connection, "SELECT memsvc.find_app('an app of the probe')") is None
        made = value(connection, "SELECT memsvc.ensure_app('an app of the probe')")
        assert value(connection, "SELECT memsvc.find_app('an app of the probe')") == made
        assert value(connection, "SELECT memsvc.ensure_app('an app of the probe')") == made


def _name(world: World) -> str:
    return world.ada.external_id.removeprefix("ada of ")


@probe
def a_user_is_made_once(doors: Doors, world: World) -> None:
    make = "SELECT memsvc.create_user(%s, 'probe', 'Probe', 'UTC', 'english')"
    with doors.enter(APP) as connection:
        made = value(connection, make, [world.ada.app_id])
        assert made is not None
        assert value(connection, make, [world.ada.app_id]) is None
        assert value(connection, make, [world.eve.app_id]) not in {None, made}
        listed = rows(connection, "SELECT user_id FROM memsvc.users_of_app(%s, 'probe', NULL, 9)", world.ada.app_id)
        assert listed == [(made,)]


@probe
def a_user_has_one_place_and_is_acted_for_there_alone(doors: Doors, world: World) -> None:
    place, here = "SELECT * FROM memsvc.place_of_user(%s)", "SELECT memsvc.whereabouts(%s, %s)"
    ada, bob = world.ada.user_id, world.bob.user_id
    changed = "UPDATE memsvc.users SET cell_id = %s, epoch = %s, moving = %s WHERE user_id = %s"
    with doors.enter(OWNER) as connection:
        for cell_id, epoch, moving, told, found in (
            (0, 0, None, None, "here"),
            (0, 3, None, None, "here"),
            (0, 3, None, 3, "here"),
            (0, 3, None, 2, "away"),
            (0, 3, "closing", 3, "here"),
            (0, 3, "frozen", 3, "away"),
            (7, 3, None, 3, "away"),
        ):
            connection.execute(changed.encode(), [cell_id, epoch, moving, ada])
            assert rows(connection, place, ada) == [(cell_id, epoch, moving is not None)]
            assert value(connection, here, [ada, told]) == found, f"{cell_id}, {epoch}, {moving}, {told}"
        assert rows(connection, place, bob) == [(0, 0, False)], "another user moved"
        moving = "SELECT memsvc.is_moving(%s)"
        assert value(connection, moving, [ada]) is False
        connection.execute(b"UPDATE memsvc.moves SET state = 'copying' WHERE user_id = %s", [ada])
        assert [value(connection, moving, [one]) for one in (ada, bob)] == [True, False]
        assert value(connection, here, [bob, None]) == "here"
        connection.execute(b"UPDATE memsvc.users SET erasing_since = now() WHERE user_id = %s", [ada])
        assert rows(connection, place, ada) == []
        assert value(connection, here, [ada, 3]) is None
        assert value(connection, here, [UUID(int=1), None]) is None
        assert value(connection, here, [UUID(int=1), 3]) == "away", "who has left is called erased"


@probe
def users_of_other_cells_are_listed_and_settled_once(doors: Doors, world: World) -> None:
    made = "SELECT memsvc.list_user(%s, %s, %s, 'Zoe', 'UTC', 'english', %s::smallint)"
    zoe, app_id = UUID(int=7), world.ada.app_id
    with doors.enter(APP) as connection:
        assert [row[:2] for row in rows(connection, "SELECT * FROM memsvc.all_cells()")] == [(0, "home"), (7, "seven")]
        assert value(connection, "SELECT memsvc.is_moving(%s)", [world.bob.user_id]) is False
        assert value(connection, "SELECT memsvc.name_of_app(%s)", [app_id]) == f"first app of {_name(world)}"
        assert value(connection, "SELECT memsvc.name_of_app(%s)", [zoe]) is None
        assert value(connection, made, [app_id, zoe, "zoe", 7]) is True
        assert value(connection, made, [app_id, zoe, "zoe", 7]) is False
        assert value(connection, made, [app_id, UUID(int=8), world.bob.external_id, 7]) is False
        assert rows(connection, "SELECT * FROM memsvc.place_of_user(%s)", zoe) == [(7, 1, False)]
        assert value(connection, "SELECT memsvc.whereabouts(%s, 1)", [zoe]) == "away"
    for cell_id in (0, 8):
        values: dict[str, object] = {"app": app_id, "user": zoe, "cell": cell_id}
        call = "SELECT memsvc.list_user(%(app)s, %(user)s, 'zoe', 'Zoe', 'UTC', 'english', %(cell)s::smallint)"
        refused(doors, APP, "", call, values, error=errors.ForeignKeyViolation)
    policy = '{"card": "mask"}'
    settled = f"SELECT memsvc.settle_user(%s, 'an app that moves', %s, 'zoe', 'Zoe', 'UTC', 'english', 4, '{policy}')"
    with doors.enter(APP) as connection:
        assert value(connection, settled, [UUID(int=9), zoe]) == zoe
        assert value(connection, settled, [UUID(int=9), zoe]) == zoe
        assert value(connection, settled, [UUID(int=9), UUID(int=8)]) == zoe, "the same name settles twice"
        named = settled.replace("an app that moves", "another app").replace("'zoe'", "'nobody'")
        assert value(connection, named, [UUID(int=10), world.bob.user_id]) is None, "another user's id is taken over"
        assert value(connection, "SELECT memsvc.whereabouts(%s, 4)", [zoe]) == "here"
        assert value(connection, "SELECT memsvc.find_app('an app that moves')") == UUID(int=9)
        assert value(connection, "SELECT memsvc.app_policy(%s)", [UUID(int=9)]) == {"card": "mask"}


@probe
def an_app_lists_its_own_users(doors: Doors, world: World) -> None:
    listing = "SELECT user_id FROM memsvc.users_of_app(%s, %s, NULL, 100)"
    with doors.enter(APP) as connection:
        users = {row[0] for row in rows(connection, listing, world.ada.app_id, None)}
        assert users == {world.ada.user_id, world.bob.user_id}, f"the app lists {users}"
        assert rows(connection, listing, world.eve.app_id, None) == [(world.eve.user_id,)]
        for ref in (world.eve.external_id, str(world.eve.user_id)):
            assert rows(connection, listing, world.ada.app_id, ref) == [], "the app finds another app's user"
            assert rows(connection, listing, world.eve.app_id, ref) == [(world.eve.user_id,)]


@probe
def an_app_lists_its_own_keys(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        first = {
            row[0]
            for row in rows(
                connection, "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL)", world.ada.app_id
            )
        }
        second = {
            row[0]
            for row in rows(
                connection, "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL)", world.eve.app_id
            )
        }
    assert second == {world.keys["eve"].key_id}, f"the app lists {second}"
    assert first == {key.key_id for sort, key in world.keys.items() if sort != "eve"}, f"the app lists {first}"


@probe
def keys_are_limited_by_their_own_app_and_count_for_themselves(doors: Doors, world: World) -> None:
    mine, others = world.keys["ada"].key_id, world.keys["app"].key_id
    limit = "SELECT memsvc.limit_key(%s, %s, 1, 2)"
    with doors.enter(APP) as connection:
        assert value(connection, limit, [world.eve.app_id, mine]) is False
        assert value(connection, limit, [world.ada.app_id, world.keys["revoked"].key_id]) is False
        assert value(connection, limit, [world.ada.app_id, mine]) is True
        waits = [value(connection, "SELECT memsvc.count_request(%s)", [key]) for key in (mine, others, others, mine)]
        assert waits[:1] == [0]
        assert not any(waits[1:3]), "a key without limits is counted"
        spend = "SELECT memsvc.count_messages(%s, %s)"
        assert [bool(value(connection, spend, [mine, messages])) for messages in (1, 2, 1, 1)] == [
            False, True, False, True,
        ]  # fmt: skip
        assert not value(connection, spend, [others, 1_000])
        limited = rows(
            connection,
            "SELECT key_id FROM memsvc.keys_of_app(%s, NULL, NULL, NULL, NULL) WHERE messages_per_day = 2",
            world.ada.app_id,
        )
        assert limited == [(mine,)]


@probe
def a_key_is_for_a_user_of_its_app(doors: Doors, world: World) -> None:
    make = "SELECT memsvc.create_key(%(app)s, 'mk_probe', sha256('x'), %(user)s, '{read}', '', NULL)"
    own: dict[str, object] = {"app": world.ada.app_id, "user": world.ada.user_id}
    with doors.enter(APP) as connection:
        connection.execute(make.encode(), own)
        assert rows(connection, AUTHENTICATE, "mk_probe", _sha256(connection), None) != []
    foreign = own | {"user": world.eve.user_id}
    refused(doors, APP, "", make, foreign, error=errors.ForeignKeyViolation)


def _sha256(connection: Any) -> bytes:
    digest: bytes = value(connection, "SELECT sha256('x')")
    return digest


@probe
def an_app_revokes_its_own_keys_once(doors: Doors, world: World) -> None:
    key = world.keys["app"]
    revoke = "SELECT memsvc.revoke_key(%s, %s)"
    with doors.enter(APP) as connection:
        assert value(connection, revoke, [world.eve.app_id, key.key_id]) is False, "another app revoked the key"
        assert value(connection, revoke, [world.ada.app_id, "mk_nothing"]) is False
        assert rows(connection, AUTHENTICATE, key.key_id, key.hash, None) != []
        assert value(connection, revoke, [world.ada.app_id, key.key_id]) is True
        assert value(connection, revoke, [world.ada.app_id, key.key_id]) is False, "the key was revoked twice"
        assert rows(connection, AUTHENTICATE, key.key_id, key.hash, None) == []
        bound = world.keys["ada"]
        assert rows(connection, AUTHENTICATE, bound.key_id, bound.hash, None) != [], "all keys were revoked"


@probe
def a_key_works_only_with_its_secret_and_in_its_life(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        good, other = world.keys["app"], world.keys["ada"]
        assert len(rows(connection, AUTHENTICATE, good.key_id, good.hash, None)) == 1
        for wrong, key_id, secret in (
            ("another key's secret", good.key_id, other.hash),
            ("another key's id", other.key_id, good.hash),
            ("an unknown id", "mk_nothing", good.hash),
            ("no secret", good.key_id, None),
            ("an expired key", world.keys["expired"].key_id, world.keys["expired"].hash),
            ("a revoked key", world.keys["revoked"].key_id, world.keys["revoked"].hash),
        ):
            assert rows(connection, AUTHENTICATE, key_id, secret, None) == [], f"{wrong}: it works"


@probe
def a_key_acts_for_users_of_its_app_and_a_bound_key_for_one(doors: Doors, world: World) -> None:
    anyone, bound, eves = world.keys["app"], world.keys["ada"], world.keys["eve"]
    ada, bob, eve = world.ada, world.bob, world.eve
    with doors.enter(APP) as connection:
        for key, ref, acts_for in (
            (anyone, None, None),
            (anyone, ada.external_id, ada),
            (anyone, str(bob.user_id), bob),
            (anyone, eve.external_id, None),
            (anyone, str(eve.user_id), None),
            (anyone, "nobody", None),
            (bound, None, ada),
            (bound, ada.external_id, ada),
            (bound, str(ada.user_id), ada),
            (bound, bob.external_id, None),
            (bound, str(bob.user_id), None),
            (bound, str(eve.user_id), None),
            (eves, str(eve.user_id), eve),
            (eves, str(ada.user_id), None),
        ):
            [(app_id, bound_id, user_id, scopes)] = rows(connection, AUTHENTICATE, key.key_id, key.hash, ref)
            assert app_id == (eve.app_id if key is eves else ada.app_id)
            assert bound_id == (ada.user_id if key is bound else None)
            assert scopes == ["read", "write"]
            wanted = acts_for.user_id if acts_for else None
            assert user_id == wanted, f"{key.key_id} with {ref!r} acts for {user_id}"


@probe
def due_jobs_tell_ids_of_all_users_and_nothing_else(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        answer = connection.execute("SELECT * FROM memsvc.due_jobs(100000)")
        assert [column.name for column in answer.description or ()] == ["user_id", "job_id", "kind"]
        found = answer.fetchall()
        assert {world.ada.user_id, world.bob.user_id} <= {row[0] for row in found}
        begun = connection.execute("SELECT * FROM memsvc.begin_job(%s, %s)", found[0][:2])
        assert [column.name for column in begun.description or ()] == ["subject_id", "requests", "started_at"]
        assert len(begun.fetchall()) == 1
        assert (
            connection.execute(
                "SELECT * FROM memsvc.begin_job(%s, %s)", [world.ada.user_id, world.bob.user_id]
            ).fetchall()
            == []
        )


@probe
def the_queue_holds_ids_of_all_users_for_workers_alone(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        waiting = rows(connection, "SELECT user_id, message FROM memsvc.dramatiq_queue")
        assert {world.ada.user_id, world.bob.user_id} <= {row[0] for row in waiting}
        keys = {"queue_name", "actor_name", "args", "kwargs", "options", "message_id", "message_timestamp"}
        assert {frozenset(row[1]) for row in waiting} == {frozenset(keys)}
        claimed = rows(
            connection, "SELECT * FROM memsvc.claim_messages('models', gen_random_uuid(), %s, 1000)", UUID(int=0)
        )
        assert {world.ada.user_id, world.bob.user_id} <= {row[1] for row in claimed}


@probe
def a_worker_keeps_the_queue_of_all_users(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        connection.execute("INSERT INTO memsvc.dramatiq_worker VALUES (gen_random_uuid(), now() - interval '1 hour')")
        assert len(rows(connection, "SELECT FROM memsvc.dramatiq_worker")) == 1
        connection.execute("DELETE FROM memsvc.dramatiq_queue WHERE user_id = %s", [world.bob.user_id])
        acting = b"SELECT set_config('memsvc.identity', %s, true)"
        connection.execute(acting, [world.token(world.bob)])
        later = b"UPDATE memsvc.jobs SET run_after = now() + interval '1 day' WHERE state = 'pending'"
        assert connection.execute(later).rowcount > 0
        connection.execute(acting, [world.token(world.ada)])
        connection.execute("SELECT memsvc.keep_queue('1 minute')")
        assert rows(connection, "SELECT FROM memsvc.dramatiq_worker") == []
        connection.execute(acting, [world.token(world.bob)])
        still = "SELECT FROM memsvc.jobs WHERE run_after > now() + interval '1 hour'"
        assert rows(connection, still) == [], "jobs of others are not kept"


@probe
def the_backlog_counts_over_all_users(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        [(pending, deltas)] = rows(connection, "SELECT pending, unfolded_deltas FROM memsvc.backlog()")
        [(waiting,)] = rows(connection, "SELECT sum(waiting + running + retrying) FROM memsvc.work_now()")
    assert pending == waiting >= sum(world.counts["jobs"].values())
    assert deltas >= sum(world.counts["term_deltas"].values())


@probe
def due_schedules_tell_ids_of_all_users_and_nothing_else(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        due = "UPDATE memsvc.schedules SET next_at = now() - interval '1 hour'"
        for tenant in (world.bob, world.ada):  # so that two users have a schedule that is due
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(tenant)])
            assert connection.execute(due.encode()).rowcount == 2
        answer = connection.execute("SELECT * FROM memsvc.due_schedules(100000)")
        assert [column.name for column in answer.description or ()] == ["user_id", "kind"]
        assert {row[0] for row in answer} >= {world.ada.user_id, world.bob.user_id}
        run = "SELECT memsvc.run_schedule(%s, 'tidy')"
        assert value(connection, run, [world.bob.user_id]) is False, "Ada ran what is Bob's"
        assert value(connection, run, [world.ada.user_id]) is True
        assert value(connection, run, [world.ada.user_id]) is False, "it ran twice"
        asked = rows(connection, "SELECT user_id, subject_id FROM memsvc.jobs WHERE kind = 'tidy'")
        assert asked == [(world.ada.user_id, world.ada.user_id)]


@probe
def due_feeds_tell_ids_of_all_users_and_nothing_else(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        answer = connection.execute("SELECT * FROM memsvc.due_feeds(100000)")
        assert [column.name for column in answer.description or ()] == ["user_id", "feed_id"]
        assert {row[0] for row in answer} >= {world.ada.user_id, world.bob.user_id}
        answer = connection.execute("SELECT * FROM memsvc.pushed_feed(uuidv7())")
        assert [column.name for column in answer.description or ()] == ["user_id", "salt"]
        assert answer.fetchall() == []


@probe
def schedules_are_set_for_oneself(doors: Doors, world: World) -> None:
    insert = "INSERT INTO memsvc.schedules (user_id, kind, at_local, next_at) VALUES (%(user)s, 'tidy', '06:00', now())"
    own: dict[str, object] = {"user": world.ada.user_id}
    with doors.enter(APP, world.token(world.ada)) as connection:
        upsert = insert + " ON CONFLICT (user_id, kind) DO UPDATE SET at_local = excluded.at_local"
        assert connection.execute(upsert.encode(), own).rowcount == 1
    # There is a row, but who may not add it is not told so.
    refused(doors, APP, world.token(world.ada), insert, {"user": world.bob.user_id})
    refused(doors, APP, "", insert, own)
    refused(doors, READER, world.token(world.ada), insert, own)


@probe
def a_new_user_has_a_schedule_and_all_are_seeded(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        made = value(
            connection, "SELECT memsvc.create_user(%s, 'probe', 'Probe', 'UTC', 'english')", [world.ada.app_id]
        )
        assert value(connection, "SELECT memsvc.seed_schedules(%s)", [made]) == 2
        assert value(connection, "SELECT memsvc.seed_schedules(NULL)") > len(world.counts["schedules"])
        connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.signer.token(made)])
        assert rows(connection, "SELECT kind, enabled FROM memsvc.schedules ORDER BY 1") == [
            ("sleep", True),
            ("tidy", True),
        ]


@probe
def old_jobs_and_events_are_deleted_for_oneself(doors: Doors, world: World) -> None:
    delete = "SELECT * FROM memsvc.delete_ended(%(user)s, '0', '0', 10)"
    foreign: dict[str, object] = {"user": world.bob.user_id}
    refused(doors, APP, world.token(world.ada), delete, foreign)
    refused(doors, APP, "", delete, foreign)
    refused(doors, APP, "", delete, {"user": None})
    refused(doors, READER, world.token(world.ada), delete, {"user": world.ada.user_id})
    with doors.enter(APP, world.token(world.ada)) as connection:
        connection.execute(
            "INSERT INTO memsvc.jobs (user_id, job_id, kind, subject_id, state, finished_at) "
            "VALUES (%s, uuidv7('-3 days'), 'tidy', gen_random_uuid(), 'done', now() - interval '2 days')",
            [world.ada.user_id],
        )
        connection.execute(
            "INSERT INTO memsvc.outbox (user_id, event_id, kind, subject_id, recorded_at) "
            "VALUES (%s, uuidv7('-3 days'), 'passages.added', gen_random_uuid(), now() - interval '2 days')",
            [world.ada.user_id],
        )
        assert connection.execute(delete.encode(), {"user": world.ada.user_id}).fetchall() == [(1, 1)]
        for table in ("jobs", "outbox"):
            left = value(connection, f"SELECT count(*) FROM memsvc.{table}")
            assert left == world.counts[table][world.ada.user_id], f"{left} rows of {table} are left"


@probe
def who_has_news_is_said_of_those_that_are_named_and_nobody_else(doors: Doors, world: World) -> None:
    nobody = UUID(int=0)
    ask = (
        "SELECT memsvc.users_with_news("
        "%(users)s, '{0,0}'::text[]::xid8[], '{\"{}\",\"{}\"}'::text[], '{0,0}'::text[]::xid8[], %(events)s)"
    )
    about: dict[str, object] = {"users": [world.ada.user_id, nobody], "events": [nobody, nobody]}
    refused(doors, READER, world.token(world.ada), ask, about)
    with doors.enter(APP) as connection:
        assert connection.execute(ask.encode(), about).fetchall() == [(world.ada.user_id,)]


@probe
def sessions_of_people_are_watched_by_the_service_alone(doors: Doors, world: World) -> None:
    ask = "SELECT count(*) FROM memsvc.end_long_sessions('1 day')"
    for role in (READER, CYPHER, ANALYST):
        refused(doors, role, world.token(world.ada), ask)
    with doors.enter(APP) as connection:
        assert value(connection, ask) == 0


@probe
def operators_see_counts_ages_and_codes_of_all_users(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        connection.execute("UPDATE memsvc.jobs SET state = 'failed', finished_at = now(), error_code = 'odd'")
        connection.execute("SELECT set_config('memsvc.identity', '', true)")
        assert world.ada.user_id in {row[0] for row in rows(connection, "SELECT memsvc.users_with_failed_jobs()")}
        assert "odd" in {row[0] for row in rows(connection, "SELECT error_code FROM memsvc.work_errors()")}
        for function in ("backlog", "work_now", "work_errors"):
            told = connection.execute(f"SELECT * FROM memsvc.{function}()".encode()).description or ()
            assert told
            assert not any(column.name.endswith("_id") for column in told)


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


ACTS = "SELECT action, user_id, door, key_id FROM memsvc.acts_of_app(%s, %s, %s, NULL, NULL, NULL, NULL, 1000)"


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
def an_app_changes_the_scopes_of_its_own_keys(doors: Doors, world: World) -> None:
    key = world.keys["app"]
    rescope = "SELECT memsvc.rescope_key(%s, %s, '{read}')"
    with doors.enter(APP) as connection:
        assert value(connection, rescope, [world.eve.app_id, key.key_id]) is False, "another app changed the key"
        assert value(connection, rescope, [world.ada.app_id, world.keys["revoked"].key_id]) is False
        assert value(connection, rescope, [world.ada.app_id, key.key_id]) is True
        [(_, _, _, scopes)] = rows(connection, AUTHENTICATE, key.key_id, key.hash, None)
        assert scopes == ["read"]
        details = "SELECT details FROM memsvc.acts_of_app(%s, NULL, 'key.scopes', NULL, NULL, NULL, NULL, 1)"
        changed = {"before": ["read", "write"], "after": ["read"]}
        assert rows(connection, details, world.ada.app_id) == [(changed,)]


@probe
def an_app_sees_jobs_and_costs_of_its_own_users(doors: Doors, world: World) -> None:
    jobs = "SELECT DISTINCT user_id FROM memsvc.jobs_of_app(%s, NULL, NULL, NULL, 100000)"
    spent = "SELECT sum(calls)::int FROM memsvc.model_spending_of_app(%s, '2026-01-01')"
    with doors.enter(APP) as connection:
        assert {row[0] for row in rows(connection, jobs, world.ada.app_id)} == {world.ada.user_id, world.bob.user_id}
        assert rows(connection, jobs, world.eve.app_id) == [(world.eve.user_id,)]
        assert [value(connection, spent, [app]) for app in (world.ada.app_id, world.eve.app_id)] == [2, 1]


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


@probe
def readers_reach_no_account_or_work(doors: Doors, world: World) -> None:
    for role in (READER, CYPHER):
        for call in (
            "memsvc.due_jobs(1)",
            "memsvc.begin_job(NULL, NULL)",
            "memsvc.keep_queue('1 minute')",
            "memsvc.claim_messages('models', NULL, NULL, 1)",
            "memsvc.dramatiq_queue",
            "memsvc.dramatiq_worker",
            "memsvc.backlog()",
            "memsvc.due_schedules(1)",
            "memsvc.due_feeds(1)",
            "memsvc.pushed_feed(uuidv7())",
            f"memsvc.run_schedule('{world.ada.user_id}', 'tidy')",
            f"memsvc.seed_schedules('{world.ada.user_id}')",
            "memsvc.work_now()",
            "memsvc.work_errors()",
            "memsvc.users_with_failed_jobs()",
            "memsvc.ensure_model('x', 3)",
            "memsvc.build_model('x', 3)",
            "memsvc.pause_model('x', true)",
            "memsvc.switch_model('x', true)",
            "memsvc.retire_model('x')",
            "memsvc.drop_model_index(1::smallint)",
            "memsvc.drop_vectors(1::smallint, gen_random_uuid(), 1)",
            "memsvc.embedding_totals()",
            "memsvc.ensure_app('x')",
            "memsvc.find_app('x')",
            f"memsvc.users_of_app('{world.ada.app_id}', NULL, NULL, 9)",
            f"memsvc.keys_of_app('{world.ada.app_id}', NULL, NULL, NULL, NULL)",
            f"memsvc.fold_statistics('{world.ada.user_id}')",
            "memsvc.authenticate_key('x', 'x', NULL)",
            "memsvc.all_cells()",
            f"memsvc.is_moving('{world.ada.user_id}')",
            f"memsvc.name_of_app('{world.ada.app_id}')",
            f"memsvc.place_of_user('{world.ada.user_id}')",
            f"memsvc.list_user('{world.ada.app_id}', gen_random_uuid(), 'x', 'x', 'UTC', 'english', 7::smallint)",
            f"memsvc.settle_user('{world.ada.app_id}', 'x', gen_random_uuid(), 'x', 'x', 'UTC', 'english', 1, '{{}}')",
        ):
            refused(doors, role, world.token(world.ada), f"SELECT * FROM {call}")
    for role in (APP, READER, CYPHER):
        refused(doors, role, "", "SELECT memsvc.users_lacking(1::smallint)")
        refused(doors, role, "", "SELECT memsvc.vectors_missing(1::smallint, 2::smallint)")
        refused(doors, role, "", "SELECT memsvc.audit('x', NULL, NULL, 'x')")


@probe
def a_budget_belongs_to_its_app_and_is_spent_by_its_user(doors: Doors, world: World) -> None:
    ada, bob, eve = world.ada, world.bob, world.eve
    give = "SELECT memsvc.set_budget(%s, 'user', %s, 2, NULL, 5, NULL)"
    listed = "SELECT user_id, messages_per_day, messages FROM memsvc.budgets_of_app(%s, NULL, NULL, 9)"
    limited = "SELECT memsvc.is_budgeted(%s)"
    with doors.enter(APP, world.token(world.ada)) as connection:
        assert value(connection, give, [world.eve.app_id, world.ada.user_id]) is False, "another app set the budget"
        assert value(connection, give, [world.ada.app_id, world.ada.user_id]) is True
        assert [value(connection, limited, [one.user_id]) for one in (world.ada, world.bob)] == [True, False]
        connection.execute("SELECT memsvc.spend_budget(%s, 2, 3)", [world.ada.user_id])
        assert rows(connection, listed, world.ada.app_id) == [(world.ada.user_id, 2, 2)]
        assert rows(connection, listed, world.eve.app_id) == []
        model = "SELECT whose, what, most FROM memsvc.model_budgets(%s)"
        assert rows(connection, model, world.ada.user_id) == [("user", "tokens", 5)]
        assert value(connection, give, [ada.app_id, bob.user_id]) is True
        assert rows(connection, model, bob.user_id) == [], "another user's budget of the language model"
        assert ("user", "messages", 1) in rows(connection, "SELECT * FROM memsvc.budgets_used_up()")
    with doors.enter(APP) as connection:  # counts of a cell, and limits for one
        connection.execute("SELECT memsvc.set_budget(%s, 'user', %s, 9, NULL, NULL, NULL)", [ada.app_id, ada.user_id])
        connection.execute("SELECT memsvc.set_budget(%s, 'user', %s, 9, NULL, NULL, NULL)", [ada.app_id, bob.user_id])
        for app_id, most in ((ada.app_id, 8), (eve.app_id, 7)):
            for whose in ("app", "each"):
                connection.execute("SELECT memsvc.set_budget(%s, %s, NULL, %s, NULL, NULL, 0.1)", [app_id, whose, most])
        assert (
            value(connection, "SELECT memsvc.set_budget(%s, 'app', NULL, 1, NULL, NULL, NULL)", [UUID(int=1)]) is False
        )
        of_some = "SELECT user_id, messages_per_day FROM memsvc.budgets_of_app(%s, NULL, NULL, 9, p_users => %s)"
        assert set(rows(connection, of_some, ada.app_id, [ada.user_id])) == {(ada.user_id, 9), (None, 8)}
        counted = "SELECT user_id FROM memsvc.budgets_of_app(%s, NULL, NULL, 9, p_counted => true)"
        assert rows(connection, counted, ada.app_id) == []
        told = value(connection, "SELECT memsvc.limits_to_bring(%s)", [ada.app_id])
        assert [(one["whose"], one["messages_per_day"], one["cost_per_day"]) for one in told] == [
            ("app", 8, 0.1), ("each", 8, 0.1)
        ]  # fmt: skip
        bring = "SELECT memsvc.bring_limits(%s, %s::jsonb)"
        connection.execute(bring, [ada.app_id, '[{"whose": "each", "bytes_per_day": 3}]'])
        assert set(rows(connection, listed, ada.app_id)) == {(ada.user_id, 9, 0), (bob.user_id, 9, 0), (None, None, 0)}
        assert rows(connection, listed, eve.app_id) == [(None, 7, 0), (None, 7, 0)], "another app's limits went"
    refused(doors, APP, world.token(world.ada), f"SELECT memsvc.spend_budget('{world.bob.user_id}', 1, 1)")
    for role in (READER, CYPHER, ANALYST):
        for call in (
            f"memsvc.set_budget('{world.ada.app_id}', 'app', NULL, 1, NULL, NULL, NULL)",
            f"memsvc.budgets_of_app('{world.ada.app_id}', NULL, NULL, 9)",
            f"memsvc.hold_limits('{world.ada.app_id}')",
            f"memsvc.limits_to_bring('{world.ada.app_id}')",
            f"memsvc.bring_limits('{world.ada.app_id}', '[]')",
            f"memsvc.is_budgeted('{world.ada.user_id}')",
            f"memsvc.spend_budget('{world.ada.user_id}', 1, 1)",
            f"memsvc.model_budgets('{world.ada.user_id}')",
            "memsvc.budgets_used_up()",
        ):
            refused(doors, role, world.token(world.ada), f"SELECT * FROM {call}")


@probe
def policies_on_secrets_are_of_one_app_and_its_users(doors: Doors, world: World) -> None:
    ada, eve = world.ada, world.eve
    with doors.enter(APP) as connection:
        set_app = "SELECT memsvc.set_app_policy(%s, %s::jsonb)"
        set_user = "SELECT memsvc.set_user_policy(%s, %s, %s::jsonb)"
        assert value(connection, "SELECT memsvc.app_policy(%s)", [UUID(int=1)]) is None
        assert value(connection, set_app, [ada.app_id, '{"card": "mask"}']) is True
        assert value(connection, set_app, [UUID(int=1), "{}"]) is False
        assert value(connection, "SELECT memsvc.app_policy(%s)", [ada.app_id]) == {"card": "mask"}
        assert value(connection, "SELECT memsvc.app_policy(%s)", [eve.app_id]) == {}
        assert value(connection, set_user, [ada.app_id, ada.user_id, '{"iban": "mask"}']) is True
        assert value(connection, set_user, [ada.app_id, eve.user_id, '{"iban": "mask"}']) is False
    with doors.enter(OWNER) as connection:
        found = rows(connection, "SELECT user_id FROM memsvc.users WHERE policy <> '{}' AND user_id <> %s", ada.user_id)
        assert (ada.user_id,) not in found
        assert (eve.user_id,) not in found
