"""Probes of the definer functions that list and keep background work: counts of all users, but rows of one only."""

from __future__ import annotations

from uuid import UUID

from tests.sql.probes import probe, refused, rows
from tests.sql.world import ANALYST, APP, CYPHER, READER, Doors, World, value

DUE = "SELECT * FROM memsvc.due_jobs(100000)"


@probe
def due_jobs_tell_ids_of_all_users_and_nothing_else(doors: Doors, world: World) -> None:
    with doors.enter(APP) as connection:
        answer = connection.execute(DUE.encode())
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
def an_app_sees_jobs_and_costs_of_its_own_users(doors: Doors, world: World) -> None:
    jobs = "SELECT DISTINCT user_id FROM memsvc.jobs_of_app(%s, NULL, NULL, NULL, 100000)"
    spent = "SELECT sum(calls)::int FROM memsvc.model_spending_of_app(%s, '2026-01-01')"
    with doors.enter(APP) as connection:
        assert {row[0] for row in rows(connection, jobs, world.ada.app_id)} == {world.ada.user_id, world.bob.user_id}
        assert rows(connection, jobs, world.eve.app_id) == [(world.eve.user_id,)]
        assert [value(connection, spent, [app]) for app in (world.ada.app_id, world.eve.app_id)] == [2, 1]
