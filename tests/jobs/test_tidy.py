"""Upkeep of a user: what is over goes after its time, what waits stays, and nobody else's rows are touched."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.queue.execution import Step, Steps, run_due
from memsvc.queue.jobs import list_jobs
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sources import tidy
from memsvc.sources.embedding import embedding_steps
from memsvc.sources.messages import MessageIn, append
from tests.fakes.embedders import WordsEmbedder, resident
from tests.sql.world import value

MODEL = "tidy:words"


@pytest.fixture(autouse=True)
async def _nothing_else_is_due(db: Database, admin: psycopg.Connection) -> None:
    """Jobs of other tests are done, and one model is active."""
    await run_due(db)
    admin.execute("UPDATE memsvc.embedding_models SET state = 'retired' WHERE state = 'active' AND name <> %s", [MODEL])


def ended(admin: psycopg.Connection, user_id: UUID, state: str, days: float) -> UUID:
    """A job that ended so many days ago, or that waits for so long."""
    job_id: UUID = value(
        admin,
        "INSERT INTO memsvc.jobs (user_id, job_id, kind, subject_id, state, created_at, finished_at, run_after) "
        "SELECT %(user)s, uuidv7(-make_interval(days => 1) - t.age), 'process', gen_random_uuid(), %(state)s, "
        "now() - t.age, CASE WHEN %(state)s <> 'pending' THEN now() - t.age END, now() + interval '4 minutes' "
        "FROM (SELECT make_interval(secs => %(days)s * 86400) AS age) AS t RETURNING job_id",
        {"user": user_id, "state": state, "days": days},
    )
    return job_id


def told(admin: psycopg.Connection, user_id: UUID, days: float) -> UUID:
    """An event of so many days ago."""
    event_id: UUID = value(
        admin,
        "INSERT INTO memsvc.outbox (user_id, event_id, kind, subject_id, recorded_at) "
        "SELECT %(user)s, uuidv7(-t.age), 'passages.added', gen_random_uuid(), now() - t.age "
        "FROM (SELECT make_interval(secs => %(days)s * 86400) AS age) AS t RETURNING event_id",
        {"user": user_id, "days": days},
    )
    return event_id


def ids(admin: psycopg.Connection, table: str, user_id: UUID) -> set[UUID]:
    key = {"jobs": "job_id", "outbox": "event_id"}[table]
    found = admin.execute(f"SELECT {key} FROM memsvc.{table} WHERE user_id = %s".encode(), [user_id])
    return {row[0] for row in found}


def tidying(steps: Steps) -> Step:
    """The step that deletes what is over and asks for what lacks, among those of the job."""
    [step] = [step for step in steps["tidy"] if step.__name__ == "tidy"]
    return step


async def tidied(db: Database, owner: Owner, settings: Settings) -> UUID:
    """Tidy up; the job that did it."""
    job_id = await run_now(db, owner.user_id, "tidy")
    assert await run_due(db, all_steps(settings, None)) == 1
    return job_id


async def test_what_is_over_goes_and_what_is_not_stays(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    kept_jobs, kept_events = set[UUID](), set[UUID]()
    for user in (owner, other):
        for state, days, old in (
            ("done", 31, True), ("done", 29, False), ("done", 0, False), ("cancelled", 31, True),
            ("cancelled", 29, False), ("failed", 181, True), ("failed", 179, False), ("pending", 400, False),
        ):  # fmt: skip
            job_id = ended(admin, user.user_id, state, days)
            if not old or user is other:
                kept_jobs.add(job_id)
        for days, old in ((31, True), (29, False), (0, False)):
            event_id = told(admin, user.user_id, days)
            if not old or user is other:
                kept_events.add(event_id)
    job_id = await tidied(db, owner, settings)
    assert ids(admin, "jobs", owner.user_id) | ids(admin, "jobs", other.user_id) == kept_jobs | {job_id}
    assert ids(admin, "outbox", owner.user_id) | ids(admin, "outbox", other.user_id) == kept_events


async def test_what_doors_kept_for_a_while_goes_for_users_who_do_not_come_back(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for user in (owner, other):
        for hours in (25, 23):
            admin.execute(
                "INSERT INTO memsvc.answered_requests (user_id, request_key, digest, answer, answered_at) "
                "SELECT %s, sha256(%s), sha256('a'), '{}', now() - make_interval(hours => %s)",
                [user.user_id, str(hours).encode(), hours],
            )
            admin.execute(
                "INSERT INTO memsvc.used_tickets (user_id, ticket_id, expires_at) "
                "VALUES (%s, uuidv7(), now() + make_interval(hours => 24 - %s))",
                [user.user_id, hours],
            )
    await tidied(db, owner, settings)
    for table in ("answered_requests", "used_tickets"):
        for user, left in ((owner, 1), (other, 2)):
            count = f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %(user)s"
            assert value(admin, count, {"user": user.user_id}) == left


async def test_how_long_things_are_kept_is_a_setting(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for days in (1.5, 2.5, 3.5):
        ended(admin, owner.user_id, "done", days)
        told(admin, owner.user_id, days)
    failed = ended(admin, owner.user_id, "failed", 11), ended(admin, owner.user_id, "failed", 13)
    job_id = await tidied(db, owner, settings.model_copy(update={"keep_jobs_days": 2, "keep_events_days": 3}))
    assert len(ids(admin, "jobs", owner.user_id)) == 3
    assert {failed[0], job_id} < ids(admin, "jobs", owner.user_id)
    assert len(ids(admin, "outbox", owner.user_id)) == 2


async def test_the_application_cannot_delete_what_waits_or_is_young(
    db: Database, owner: Owner, admin: psycopg.Connection
) -> None:
    """By no arguments: the function has its own least age."""
    for state in ("done", "failed", "cancelled", "pending"):
        ended(admin, owner.user_id, state, 0.5)
    ended(admin, owner.user_id, "pending", 4_000)
    told(admin, owner.user_id, 0.5)
    call = "SELECT jobs + events FROM memsvc.delete_ended(%s, '-99 years', '-99 years', 1000)"
    async with db.transaction(owner.user_id) as connection:
        assert (await connection.exec_driver_sql(call, (owner.user_id,))).scalar_one() == 0


async def test_much_is_deleted_in_slices(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidy, "BATCH", 3)
    monkeypatch.setattr(tidy, "SLICE_S", -1.0)
    for days in range(40, 50):
        ended(admin, owner.user_id, "done", days)
    step = tidying(all_steps(settings, None))
    more = [await step(db, owner.user_id, owner.user_id) for _ in range(4)]
    assert more == [True, True, True, False]
    for days in range(40, 50):
        ended(admin, owner.user_id, "done", days)
        told(admin, owner.user_id, days)
    job_id = await tidied(db, owner, settings)
    assert ids(admin, "jobs", owner.user_id) == {job_id}
    assert ids(admin, "outbox", owner.user_id) == set()


async def test_a_job_that_goes_takes_its_message_along(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    job_id = ended(admin, owner.user_id, "done", 40)
    admin.execute(
        "INSERT INTO memsvc.dramatiq_queue (message_id, user_id, state) VALUES (%s, %s, 'rejected')",
        [job_id, owner.user_id],
    )
    await tidied(db, owner, settings)
    left = "SELECT count(*) FROM memsvc.dramatiq_queue WHERE message_id = %s"
    assert value(admin, left, [job_id]) == 0


async def test_vectors_that_lack_are_asked_for(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    holder = resident(WordsEmbedder(), MODEL, settings)
    steps = all_steps(settings, holder)
    await append(db, owner, [MessageIn(conversation="pond", text="a heron")], settings)
    assert await run_due(db) >= 1  # without a model, so that the message has no vector
    step = tidying(steps)
    kinds = "SELECT count(*) FROM memsvc.jobs WHERE user_id = %s AND kind = 'embed'"
    await step(db, owner.user_id, owner.user_id)
    assert value(admin, kinds, [owner.user_id]) == 0, "asked for vectors of a model that is not active"

    known = "SELECT count(*) FROM memsvc.ensure_model(%s, 8)"
    assert value(admin, known, [MODEL]) == 1
    admin.execute("UPDATE memsvc.embedding_models SET state = 'active' WHERE name = %s", [MODEL])
    other_step = tidying(all_steps(settings, None))
    await other_step(db, owner.user_id, owner.user_id)
    assert value(admin, kinds, [owner.user_id]) == 0, "asked for vectors that this process cannot make"

    for _ in range(2):
        await step(db, owner.user_id, owner.user_id)
    [job] = [job for job in await list_jobs(db, owner.user_id) if job.kind == "embed"]
    assert job.state == "pending"
    admin.execute(
        "UPDATE memsvc.jobs SET state = 'failed', finished_at = now() - interval '6 days' WHERE job_id = %s",
        [job.job_id],
    )
    await step(db, owner.user_id, owner.user_id)
    assert value(admin, kinds, [owner.user_id]) == 1, "asked again for what failed"
    admin.execute("UPDATE memsvc.jobs SET finished_at = now() - interval '8 days' WHERE job_id = %s", [job.job_id])
    await step(db, owner.user_id, owner.user_id)
    assert value(admin, kinds, [owner.user_id]) == 2
    await run_due(db, steps)
    await step(db, owner.user_id, owner.user_id)
    assert value(admin, kinds, [owner.user_id]) == 2, "asked for vectors that are there"


async def test_commands_that_run_jobs_know_all_steps(settings: Settings) -> None:
    holder = resident(WordsEmbedder(), MODEL, settings)
    assert set(all_steps(settings, holder)) == {
        "process",
        "embed",
        "extract",
        "tidy",
        "erase",
        "sleep",
        "analyse",
        "ingest",
    }
    assert {kind: len(steps) for kind, steps in all_steps(settings, None).items()} == {
        "process": 0, "embed": 0, "extract": 2, "tidy": 4, "erase": 1, "sleep": 1, "analyse": 1, "ingest": 1,
    }  # fmt: skip
    assert set(embedding_steps(holder)) == {"process", "embed"}
