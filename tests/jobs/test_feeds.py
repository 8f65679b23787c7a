"""Feeds are read when they are due, once, whatever happens to the processes that read them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import AlreadyExistsError, FeedRefusedError, FeedStateError, FeedUnknownError, FolderMissingError
from memsvc.feeds.feeds import Feed, add, change, look, pause, remove, resume, run, runs
from memsvc.feeds.planning import MOST_FAILURES, begin_due
from memsvc.feeds.wanted import Door, FeedIn
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources.ingests import look as look_at
from tests.jobs.working import process, until
from tests.sql.world import value

# ruff: noqa: ASYNC240 - small files of tests
pytestmark = pytest.mark.slow

OPERATOR, CLIENT = Door(by_operator=True), Door()
TEXTS = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND kind = 'chunk' AND recorded_to = 'infinity'"
FILES = 150
STATE = "UPDATE memsvc.feeds SET {} WHERE feed_id = %s"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "heron.md").write_text("# Heron\n\nThe heron stands in the pond.\n")
    (folder / "oak.md").write_text("# Oak\n\nThe oak is old.\n")
    return folder


def due(admin: psycopg.Connection, feed: Feed, ago: str = "1 minute") -> None:
    """Make a feed due."""
    admin.execute(STATE.format("next_run = now() - %s::interval").encode(), [ago, feed.feed_id])


async def work(db: Database, settings: Settings) -> int:
    """Do all waiting jobs."""
    return await run_due(db, all_steps(settings, None))


async def all_runs(db: Database, owner: Owner, feed: Feed) -> list[Any]:
    """The runs of a feed, oldest first."""
    return list(reversed((await runs(db, owner, feed.feed_id)).items))


async def test_a_folder_is_read_at_once_and_again_when_it_is_due(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes), rule="every 2 hours"), settings, OPERATOR)
    assert feed.next_run is not None
    assert timedelta() < feed.next_run - datetime.now(UTC) <= timedelta(hours=2)
    assert await begin_due(db) == 0
    await work(db, settings)
    assert value(admin, TEXTS, [owner.user_id]) == 2
    shown = await look(db, owner, feed.feed_id)
    assert (shown.state, shown.failures, shown.last_error, shown.run_id) == ("active", 0, None, None)
    (notes / "oak.md").write_text("# Oak\n\nThe oak was felled.\n")
    (notes / "heron.md").rename(notes / "bird.md")
    (notes / "elm.md").write_text("# Elm\n\nA new one.\n")
    due(admin, feed, "3 days")
    assert await begin_due(db) == 1  # what was missed is caught up once
    assert await begin_due(db) == 0
    await work(db, settings)
    first, second = await all_runs(db, owner, feed)
    outcomes = {
        one.name.rsplit("/", 1)[-1]: one.document.outcome
        for one in (await look_at(db, owner, second.ingest_id)).items
        if one.document is not None
    }
    assert outcomes == {"oak.md": "changed", "bird.md": "moved", "elm.md": "created"}
    assert (first.state, second.state, first.feed_id) == ("completed", "completed", feed.feed_id)
    (notes / "elm.md").unlink()
    await run(db, owner, feed.feed_id, settings, OPERATOR)
    await work(db, settings)
    third = (await all_runs(db, owner, feed))[-1]
    items = (await look_at(db, owner, third.ingest_id)).items
    assert [(one.name, one.counts) for one in items] == [("files without anything new", {"unchanged": 2})]
    assert value(admin, TEXTS, [owner.user_id]) == 2


async def test_two_workers_never_read_one_feed_at_once(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes)), settings, OPERATOR)
    await work(db, settings)
    due(admin, feed)
    begun = await asyncio.gather(*(begin_due(db) for _ in range(8)))
    asked = {
        one.ingest_id
        for one in await asyncio.gather(*(run(db, owner, feed.feed_id, settings, OPERATOR) for _ in range(4)))
    }
    due(admin, feed)
    begun += await asyncio.gather(*(begin_due(db) for _ in range(4)))  # it is due again while it is still being read
    assert sum(begun) == 1
    assert len(asked) == 1
    assert len(await all_runs(db, owner, feed)) == 2
    await work(db, settings)
    due(admin, feed)
    assert await begin_due(db) == 1


async def test_failures_put_the_next_run_off_and_at_last_end_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes), rule="every 10 minutes"), settings, OPERATOR)
    other = await add(db, owner, FeedIn(kind="folder", path=str(notes.parent)), settings, OPERATOR)
    await work(db, settings)
    notes.rename(notes.with_name("elsewhere"))
    pauses = []
    for failures in range(1, MOST_FAILURES + 1):
        due(admin, feed)
        due(admin, other)
        assert await begin_due(db) == 2
        await work(db, settings)
        shown = await look(db, owner, feed.feed_id)
        assert (shown.failures, shown.last_error) == (failures, "folder_missing")
        if shown.next_run is not None:
            pauses.append((shown.next_run - datetime.now(UTC)).total_seconds() / 60)
        assert (await look(db, owner, other.feed_id)).failures == 0
    assert shown.state == "failed"
    assert pauses[0] <= 10
    assert [round(minutes) for minutes in pauses[2:]] == [20, 40, 80, 160, 320, 640, 1280]
    assert value(admin, TEXTS, [owner.user_id]) == 2, "what cannot be read is not gone"
    [item] = (await look_at(db, owner, (await all_runs(db, owner, feed))[-1].ingest_id)).items
    assert (item.outcome, item.code) == ("refused", "folder_missing")
    due(admin, feed)
    due(admin, other)
    assert await begin_due(db) == 1
    with pytest.raises(FolderMissingError):
        await resume(db, owner, feed.feed_id, settings, OPERATOR)
    notes.with_name("elsewhere").rename(notes)
    assert (await resume(db, owner, feed.feed_id, settings, OPERATOR)).state == "active"
    await work(db, settings)
    shown = await look(db, owner, feed.feed_id)
    assert (shown.state, shown.failures, shown.last_error) == ("active", 0, None)


async def test_a_job_that_ends_without_its_run_is_a_failure_and_the_next_run_begins(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes)), settings, OPERATOR)
    admin.execute(
        "UPDATE memsvc.jobs SET state = 'failed', error_code = 'job_timeout', finished_at = now() "
        "WHERE user_id = %s AND kind = 'ingest'",
        [owner.user_id],
    )
    due(admin, feed)
    assert await begin_due(db) == 1
    shown = await look(db, owner, feed.feed_id)
    assert (shown.failures, shown.last_error) == (1, "job_timeout")
    await work(db, settings)
    assert (await look(db, owner, feed.feed_id)).failures == 0
    assert value(admin, TEXTS, [owner.user_id]) == 2


async def test_a_paused_feed_rests_and_a_removed_one_leaves_what_it_stored(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes)), settings, OPERATOR)
    with pytest.raises(AlreadyExistsError):
        await add(db, owner, FeedIn(kind="folder", path=f"{notes}/../notes"), settings, OPERATOR)
    paused = await pause(db, owner, feed.feed_id)  # while it is being read, which goes on
    assert (paused.state, paused.next_run) == ("paused", None)
    await work(db, settings)
    assert (await look(db, owner, feed.feed_id)).next_run is None
    assert value(admin, TEXTS, [owner.user_id]) == 2
    assert await begin_due(db) == 0
    wanted = FeedIn(kind="folder", path=str(notes), name="n", rule="0 7 * * *")
    changed = await change(db, owner, feed.feed_id, wanted, settings, door=CLIENT)
    assert (changed.name, changed.rule, changed.state) == ("n", "0 7 * * *", "paused")
    wanted = FeedIn(kind="folder", path=str(notes.parent))
    with pytest.raises(FeedStateError):
        await change(db, owner, feed.feed_id, wanted, settings, door=OPERATOR)
    await remove(db, owner, feed.feed_id)
    assert value(admin, TEXTS, [owner.user_id]) == 2


async def test_a_feed_keeps_to_the_clock_of_its_users_zone(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes), rule="30 7 * * *"), settings, OPERATOR)
    for zone in ("Asia/Kathmandu", "America/St_Johns"):
        admin.execute("UPDATE memsvc.users SET time_zone = %s WHERE user_id = %s", [zone, owner.user_id])
        assert await begin_due(db) == 0  # it is planned anew and not read
        next_run = (await look(db, owner, feed.feed_id)).next_run
        assert next_run is not None
        assert f"{next_run.astimezone(ZoneInfo(zone)):%H:%M}" == "07:30"


async def test_a_client_reads_only_what_the_operator_allows(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, notes: Path
) -> None:
    tmp_path = notes.parent
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.md").write_text("The key is under the mat.")
    rooted = settings.model_copy(update={"feed_roots": str(notes)})
    for path in ("/etc", str(tmp_path), str(tmp_path / "nothing"), f"{notes}/../secret", "/proc/self/environ"):
        for some in (settings, rooted):
            with pytest.raises(FeedRefusedError):
                await add(db, owner, FeedIn(kind="folder", path=path), some, CLIENT)
            with pytest.raises(FeedRefusedError):
                await add(db, owner, FeedIn(kind="ics", path=path), some, CLIENT)
    with pytest.raises(FeedRefusedError):
        await add(db, owner, FeedIn(kind="imap"), rooted, CLIENT)
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes)), rooted, CLIENT)
    await work(db, rooted)
    assert value(admin, TEXTS, [owner.user_id]) == 2
    # A link that appears later leads nowhere either, and what is no longer allowed is not read.
    (notes / "link.md").symlink_to(tmp_path / "secret" / "key.md")
    await run(db, owner, feed.feed_id, rooted, CLIENT)
    await work(db, rooted)
    notes.rename(tmp_path / "moved")
    notes.symlink_to(tmp_path / "secret")
    admin.execute(STATE.format("next_run = now()").encode(), [feed.feed_id])
    with pytest.raises(FeedRefusedError):
        await run(db, owner, feed.feed_id, settings, CLIENT)
    assert await begin_due(db) == 1
    await work(db, settings)
    assert (await look(db, owner, feed.feed_id)).last_error == "feed_refused"
    said = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND text LIKE '%%mat%%'"
    assert value(admin, said, [owner.user_id]) == 0


async def test_a_users_feeds_are_not_another_users(
    db: Database, owner: Owner, other: Owner, settings: Settings, notes: Path
) -> None:
    feed = await add(db, owner, FeedIn(kind="folder", path=str(notes)), settings, OPERATOR)
    same = await add(db, other, FeedIn(kind="folder", path=str(notes)), settings, OPERATOR)
    assert same.feed_id != feed.feed_id
    for call in (look, pause, remove, runs):
        with pytest.raises(FeedUnknownError):
            await call(db, other, feed.feed_id)
    assert isinstance(feed.feed_id, UUID)


async def test_a_worker_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, tmp_path: Path
) -> None:
    for number in range(FILES):
        (tmp_path / f"{number:03}.md").write_text(f"# Page {number}\n\nThe heron was seen {number} times.\n")
    feed = await add(db, owner, FeedIn(kind="folder", path=str(tmp_path)), settings, OPERATOR)
    with process(settings, MEMSVC_EMBEDDING_MODEL="") as worker:
        await until(lambda: 0 < value(admin, TEXTS, [owner.user_id]) < FILES, 120)
        worker.kill()
    there = value(admin, TEXTS, [owner.user_id])
    assert 0 < there < FILES
    due(admin, feed)
    assert await begin_due(db) == 0, "the run that was begun goes on"
    await until(lambda: value(admin, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", []) == 0)
    await work(db, settings)
    versions = "SELECT count(*) FROM memsvc.document_versions WHERE user_id = %s"
    assert [value(admin, one, [owner.user_id]) for one in (TEXTS, versions)] == [FILES, FILES]
    shown = await look(db, owner, feed.feed_id)
    assert (shown.failures, shown.run_id, len(await all_runs(db, owner, feed))) == (0, None, 1)
