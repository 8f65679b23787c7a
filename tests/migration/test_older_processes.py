"""A process that is older than its database goes on, or says that it must be restarted; its jobs are done later."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from jobs import worker
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db import files
from memsvc.db.engine import Database, role_url
from memsvc.db.together import Together
from memsvc.errors import DatabaseTooOldError, EmbeddedServerError, UpgradedError
from memsvc.queue import broker
from memsvc.queue.execution import WORDS_ALONE, run_job
from memsvc.queue.jobs import list_jobs
from memsvc.server import embedded, objects
from memsvc.server.locate import located, ready
from memsvc.server.upgrade import is_current, upgrade
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.migration.conftest import Upgrader
from tests.migration.samples import THING, USER, all_rows, insert_samples, lost
from tests.sql.world import value

RELEASE_BEFORE = "0035"
OLD_WAY = """
CREATE OR REPLACE FUNCTION memsvc.old_way() RETURNS {kind} LANGUAGE sql STABLE
-- callers: app
RETURN '1'::{kind};
"""
CALL = text("SELECT memsvc.old_way() AS found")


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of sql/ that the next upgrade applies."""
    copy = tmp_path / "sql"
    shutil.copytree(files.folder("sql"), copy)
    monkeypatch.setattr(objects, "folder", lambda name: copy if name == "sql" else files.folder(name))
    return copy


@pytest.fixture
async def process(at_head: str, settings: Settings) -> AsyncIterator[Database]:
    """What a process has of a database that is upgraded meanwhile."""
    url = role_url(at_head, "memsvc_app", settings.secret("app_password"))
    made = Database(url, settings)
    yield made
    await made.close()


@pytest.fixture
async def ada(process: Database) -> Owner:
    """Somebody in it."""
    return (await add_user(process, await app_id(process, "tests"), name="Ada")).owner


async def called(process: Database, user: Owner) -> list[object]:
    """What the function gives by each way to the database."""
    async with process.transaction(user.user_id) as connection:
        found = [(await connection.execute(CALL)).scalar_one()]
    async with process.statement() as connection:
        found.append((await connection.execute(CALL)).scalar_one())
    trip = Together(process, user.user_id)
    rows = trip.ask(CALL, {})
    await trip.send()
    return [*found, rows[0].found]


async def by_transaction(process: Database) -> None:
    async with process.transaction() as connection:
        await connection.execute(CALL)


async def by_statement(process: Database) -> None:
    async with process.statement() as connection:
        await connection.execute(CALL)


async def by_trip(process: Database) -> None:
    trip = Together(process, None)
    trip.ask(CALL, {})
    await trip.send()


WAYS = (by_transaction, by_statement, by_trip)


async def test_a_function_that_is_gone_says_which_side_is_too_old(
    process: Database, ada: Owner, at_head: str, run_upgrade: Upgrader, release: Path
) -> None:
    for way in WAYS:  # nothing was upgraded since the process began
        with pytest.raises(DatabaseTooOldError) as missing:
            await way(process)
        assert (missing.value.code, missing.value.status) == ("database_outdated", 503)
    new = release / "functions" / "queue" / "99_old_way.sql"
    new.write_text(OLD_WAY.format(kind="integer"))
    run_upgrade(at_head)
    assert await called(process, ada) == [1, 1, 1]
    new.unlink()
    run_upgrade(at_head)
    for way in WAYS:
        with pytest.raises(UpgradedError) as upgraded:
            await way(process)
        assert (upgraded.value.code, upgraded.value.status) == ("upgraded", 503)
        assert "Restart" in upgraded.value.advice


async def test_a_process_that_began_on_a_newer_database_says_so(process: Database, at_head: str) -> None:
    with psycopg.connect(at_head, autocommit=True) as admin:
        admin.execute("UPDATE memsvc.schema_version SET version_num = '9999'")
    for way in WAYS:
        with pytest.raises(UpgradedError):
            await way(process)


async def test_a_function_whose_result_changed_costs_a_process_nothing(
    process: Database, ada: Owner, at_head: str, run_upgrade: Upgrader, release: Path
) -> None:
    """What a connection has prepared is prepared anew."""
    changing = release / "functions" / "queue" / "99_old_way.sql"
    changing.write_text(OLD_WAY.format(kind="integer"))
    run_upgrade(at_head)
    for _ in range(20):
        assert await called(process, ada) == [1, 1, 1]
    changing.write_text(OLD_WAY.format(kind="text"))
    run_upgrade(at_head)

    async def once() -> list[object]:
        return await called(process, ada)

    assert await process.again(once) == ["1", "1", "1"]


def test_an_older_version_upgrades_no_newer_database(at_head: str, run_upgrade: Upgrader) -> None:
    with psycopg.connect(at_head, autocommit=True) as admin:
        admin.execute("UPDATE memsvc.schema_version SET version_num = '9999'")
        admin.execute("UPDATE memsvc.applied_sql SET sha256 = 'of a newer version'")
        with pytest.raises(UpgradedError, match="9999"):
            run_upgrade(at_head)
        assert value(admin, "SELECT version_num FROM memsvc.schema_version") == "9999"
        assert value(admin, "SELECT bool_and(sha256 = 'of a newer version') FROM memsvc.applied_sql")


@pytest.mark.acceptance
def test_a_data_folder_of_the_release_before_is_opened(settings: Settings) -> None:
    """By any command; one that a newer release has opened is refused, and stays as it is."""
    base = Path(tempfile.mkdtemp(prefix="memsvc-test-", dir="/tmp"))
    base.chmod(0o755)  # the server's user must reach it
    opening = settings.model_copy(update={"database_url": None, "data_dir": base / "data"})
    try:
        with located(opening) as url:
            upgrade(url, opening, revision=RELEASE_BEFORE)
            with psycopg.connect(url, autocommit=True) as admin:
                insert_samples(admin, RELEASE_BEFORE)
                before = all_rows(admin)
        with ready(opening) as url, psycopg.connect(url, autocommit=True) as admin:
            assert is_current(url, opening)
            before.pop("applied_sql")
            assert lost(before, all_rows(admin)) == []
            admin.execute("UPDATE memsvc.schema_version SET version_num = '9999'")
        with pytest.raises(UpgradedError, match="newer version"), ready(opening):
            pass
    finally:
        with suppress(EmbeddedServerError):
            embedded.stop(opening.data_dir)
        shutil.rmtree(base)


# Jobs ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker looks often."""
    for name, seconds in (("HEARTBEAT_S", 0.2), ("UPKEEP_S", 0.2), ("POLL_S", 0.1), ("LATER_S", 0.2)):
        monkeypatch.setattr(broker, name, seconds)
    monkeypatch.setattr("dramatiq.worker.CONSUMER_RESTART_DELAY_SECS", 0.2)


async def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Return as soon as the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        await asyncio.sleep(0.05)


def renamed(release: Path, function: str) -> dict[Path, str]:
    """Give a function another name in a release; the files as they were."""
    kept = {path: body for path in release.rglob("*.sql") if f"memsvc.{function}(" in (body := path.read_text())}
    for path, body in kept.items():
        path.write_text(body.replace(f"memsvc.{function}(", f"memsvc.{function}_newly("))
    return kept


def restored(files_before: dict[Path, str]) -> None:
    """Take that back."""
    for path, body in files_before.items():
        path.write_text(body)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("begin_job", {"event": "jobs wait for the database", "code": "upgraded"}),
        ("claim_messages", {"event": "no jobs are taken", "code": "upgraded"}),
    ],
)
async def test_an_older_worker_leaves_its_jobs_to_a_newer_one(
    *, process: Database, ada: Owner, at_head: str, run_upgrade: Upgrader, release: Path, settings: Settings,
    monkeypatch: pytest.MonkeyPatch, gone: str, said: dict[str, str],
) -> None:  # fmt: skip
    done: list[UUID] = []

    async def step(_db: Database, _user: UUID, subject: UUID) -> bool:
        done.append(subject)
        return False

    monkeypatch.setattr(worker, "all_steps", lambda _settings, _models: {**WORDS_ALONE, "process": [step]})
    await append(process, ada, [MessageIn(conversation="pond", text="a heron")], settings)
    with capture_logs() as logs:
        async with worker.working(settings, process.engine.url, None):
            await until(lambda: len(done) == 1)
            kept = renamed(release, gone)
            await asyncio.to_thread(run_upgrade, at_head)
            await append(process, ada, [MessageIn(conversation="pond", text="an otter")], settings)
            await until(lambda: any(said.items() <= line.items() for line in logs))
            await asyncio.sleep(1)
            [job, _] = await list_jobs(process, ada.user_id)
            assert (job.state, job.attempts, job.error_code, len(done)) == ("pending", 0, None, 1)
            restored(kept)
            await asyncio.to_thread(run_upgrade, at_head)  # as if the worker were of the newer version
            await until(lambda: len(done) == 2)
    assert not [line for line in logs if line["log_level"] == "critical"]


async def test_a_step_that_misses_a_function_leaves_its_job_pending(
    process: Database, ada: Owner, at_head: str, settings: Settings
) -> None:
    async def step(db: Database, _user: UUID, _subject: UUID) -> bool:
        await by_transaction(db)
        return False

    await append(process, ada, [MessageIn(conversation="pond", text="a heron")], settings)
    with psycopg.connect(at_head, autocommit=True) as admin:
        admin.execute("UPDATE memsvc.applied_sql SET applied_at = now()")
    [job] = await list_jobs(process, ada.user_id)
    with pytest.raises(UpgradedError):
        await run_job(process, "process", ada.user_id, job.job_id, [step])
    [job] = await list_jobs(process, ada.user_id)
    assert (job.state, job.attempts) == ("pending", 0)


OLD_CLAIM = """
UPDATE memsvc.dramatiq_queue SET state = 'consumed', worker_id = %s, consumed_at = clock_timestamp(),
  mtime = clock_timestamp(), deliveries = deliveries + 1
WHERE message_id = ANY (ARRAY(
  SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'queued' ORDER BY position LIMIT 5 FOR UPDATE SKIP LOCKED
))
"""
OLD_LATER = """
UPDATE memsvc.dramatiq_queue SET state = 'queued', worker_id = NULL, consumed_at = NULL, mtime = clock_timestamp(),
  deliveries = deliveries - 1, available_at = clock_timestamp()
WHERE worker_id = %s AND state = 'consumed'
"""


def test_jobs_in_the_hands_of_an_older_worker_are_kept_by_an_upgrade(
    empty: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    """It has fetched some, gives some back and dies with others, all in the words of the release before."""
    run_upgrade(empty, RELEASE_BEFORE)
    worker_id, dead_id = uuid4(), uuid4()
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, RELEASE_BEFORE)
        admin.execute("UPDATE memsvc.dramatiq_queue SET state = 'rejected'")
        admin.execute(
            "WITH j AS (INSERT INTO memsvc.jobs (user_id, kind, subject_id) SELECT %s, 'process', uuidv7() "
            "FROM generate_series(1, 10) RETURNING user_id, job_id) "
            "INSERT INTO memsvc.dramatiq_queue (message_id, user_id, queue_name, message) "
            "SELECT job_id, user_id, 'models', '{}' FROM j",
            [USER],
        )
        admin.execute("INSERT INTO memsvc.dramatiq_worker VALUES (%s, now()), (%s, now() - interval '1 day')", [
            worker_id, dead_id,
        ])  # fmt: skip
        admin.execute(OLD_CLAIM, [worker_id])
        admin.execute(OLD_CLAIM, [dead_id])
        assert not is_current(empty)
        run_upgrade(empty)
        admin.execute(OLD_LATER, [worker_id])
        admin.execute(OLD_CLAIM, [worker_id])
        admin.execute(OLD_LATER, [worker_id])
        value(admin, "SELECT memsvc.keep_queue('12 seconds')")
        waiting = "SELECT count(*), max(deliveries) FROM memsvc.dramatiq_queue WHERE state = 'queued' AND user_id = %s"
        count, deaths = admin.execute(waiting, [USER]).fetchone() or (0, 0)
        assert count >= 10
        assert deaths < 5
        claimed = admin.execute("SELECT FROM memsvc.claim_messages('models', %s, %s, 100)", [worker_id, broker.NOBODY])
        assert len(claimed.fetchall()) >= 10
        states = "SELECT DISTINCT state FROM memsvc.jobs WHERE user_id = %s AND kind = 'process' AND subject_id <> %s"
        assert admin.execute(states, [USER, THING]).fetchall() == [("pending",)]
