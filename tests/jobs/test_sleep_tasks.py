"""Tasks of sleep as entry points: what they may do, what becomes of faulty ones, what runs record, undoing a run."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    InvalidRequestError,
    MemsvcError,
    NotFoundError,
    SleepBusyError,
    SleepUndoError,
)
from memsvc.graph.history import merge, undo, write
from memsvc.graph.operations import Node
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sleep import registry, runner, runs
from memsvc.sleep.runner import sleep
from memsvc.sleep.runs import Run, list_runs
from memsvc.sleep.tasks import Applied, Offer, Page
from memsvc.sleep.undoing import undo_run
from memsvc.sleep.wishes import list_tasks, switch_task
from tests.jobs.test_sleep import TWICE, merged, people
from tests.sql.world import USER_TABLES, value

PAGE = Path(__file__).parents[2] / "docs" / "sleep.md"
PLUGIN = "a_package_with_tasks"
DOCTORS = ["Dr. Ines Albrecht", "Prof. Rui Costa", "Dr. Eva Lind"]


class Faulty:
    """A task that fails where it is told to."""

    name = "faulty"
    gives_way = False

    def __init__(self, where: str = "", error: Exception | None = None) -> None:
        self.where, self.error = where, error or ValueError("a text of the user")

    async def has_work(self, db: Database, owner: Owner) -> bool:
        return self._fails("has_work") or True

    async def pages(self, db: Database, owner: Owner, scope: object, place: object) -> AsyncGenerator[Page]:
        self._fails("pages")
        if place is None:
            yield Page(place={}, examined=1, left=0)

    async def apply(self, connection: object, owner: Owner, page: Page) -> Applied:
        self._fails("apply")
        return Applied(applied=1, counts={"Ada's secret": 1} if self.where == "counts" else {})

    def _fails(self, where: str) -> bool:
        if where == self.where:
            raise self.error
        return False


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """Install tasks for this test: names, each with an object that its entry point names."""

    def plug(**offered: object) -> ModuleType:
        module = ModuleType(PLUGIN)
        monkeypatch.setitem(sys.modules, PLUGIN, module)
        points = []
        for name, offer in offered.items():
            setattr(module, name, offer)
            points.append(EntryPoint(name, f"{PLUGIN}:{name}", registry.ENTRY_POINTS))
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        registry.offers.cache_clear()
        return module

    yield plug
    registry.offers.cache_clear()


def sample() -> dict[str, Any]:
    """What the page's example of a task defines."""
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    defined: dict[str, Any] = {}
    exec(code, defined)
    return defined


async def night(db: Database, owner: Owner, settings: Settings) -> list[Run]:
    """Run the night's job to its end; all runs of the user, by task."""
    await run_now(db, owner.user_id, "sleep")
    await run_due(db, {"sleep": all_steps(settings, None)["sleep"]})
    return await list_runs(db, owner.user_id)


def names_of(admin: psycopg.Connection, owner: Owner) -> list[str]:
    rows = admin.execute(
        "SELECT alias FROM memsvc.aliases WHERE user_id = %s AND recorded_to = 'infinity' "
        "AND asserted_by LIKE 'sleep%%'",
        [owner.user_id],
    )
    return sorted(row[0] for row in rows)


async def test_the_pages_task_runs_at_night_and_its_run_can_be_undone(
    db: Database,
    owner: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    plugged: Callable[..., ModuleType],
) -> None:
    plugged(titles=sample()["OFFER"])
    await people(db, owner, [(name, {}) for name in DOCTORS])
    done = {run.task: run for run in await night(db, owner, settings)}
    named = ["Eva Lind", "Ines Albrecht", "Rui Costa"]
    assert names_of(admin, owner) == named
    run = done["titles"]
    assert (run.state, run.cause, run.applied, run.counts) == ("done", "night", 3, {"named": 3})

    undone = await undo_run(db, owner, run.run_id, settings)
    assert (undone.changes, undone.left, names_of(admin, owner)) == (1, [], [])
    assert undone.run.undone_at is not None
    assert (await undo_run(db, owner, run.run_id, settings)).changes == 0
    await night(db, owner, settings)
    assert names_of(admin, owner) == [], "what was undone came back"


async def test_a_user_switches_a_task_off(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, plugged: Callable[..., ModuleType]
) -> None:
    plugged(titles=sample()["OFFER"])
    await people(db, owner, [(DOCTORS[0], {})])
    off = await switch_task(db, owner.user_id, settings, "titles", on=False)
    assert (off.on, off.why_off) == (False, "memsvc schedule on sleep --task titles")
    await night(db, owner, settings)
    assert "titles" not in {run.task for run in await sleep(db, owner, settings=settings)}
    assert names_of(admin, owner) == []
    with pytest.raises(NotFoundError):
        await switch_task(db, owner.user_id, settings, "dreams", on=False)

    await sleep(db, owner, ["titles"], settings=settings)
    assert names_of(admin, owner) == ["Ines Albrecht"], "what is asked for by its name runs"
    assert (await switch_task(db, owner.user_id, settings, "titles", on=True)).on
    listed = {task.name: task for task in await list_tasks(db, owner.user_id, settings)}
    assert [*listed] == [
        "duplicates", "reread", "concepts", "reviews", "summaries", "reflection", "forgetting", "titles", "salience",
        "promotion", "links", "aliases", "versions",
    ]  # fmt: skip
    assert "MEMSVC_LLM_REVIEWS_PER_NIGHT" in (listed["reviews"].why_off or "")


def _fails(_means: object) -> Any:
    raise OSError


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        (Offer(make=_fails, help=""), "making it fails with OSError"),
        (Offer(make=lambda _means: object(), help=""), "it has no name"),  # type: ignore[arg-type,return-value]
        (Offer(make=lambda _means: sample()["Titles"](), help=""), "it has another name than its entry point"),
        ("no offer", "it is no Offer but str"),
    ],
)
async def test_a_task_that_cannot_be_used_says_so_and_stops_no_other(
    db: Database, owner: Owner, settings: Settings, plugged: Callable[..., ModuleType], *, offer: object, says: str
) -> None:
    plugged(faulty=offer)
    await people(db, owner, TWICE[:2])
    done = {run.task: run for run in await night(db, owner, settings)}
    assert (done["faulty"].state, done["faulty"].error_code) == ("failed", ConfigurationError.code)
    assert (done["duplicates"].state, done["duplicates"].applied) == ("done", 1)
    with pytest.raises(ConfigurationError, match=says) as caught:
        await sleep(db, owner, ["faulty"], settings=settings)
    assert PLUGIN in caught.value.advice


def test_names_of_tasks_are_checked(plugged: Callable[..., ModuleType], settings: Settings) -> None:
    plugged(duplicates=sample()["OFFER"])
    with pytest.raises(ConfigurationError, match="another one has this name"):
        registry.offers()
    plugged(Loud=sample()["OFFER"])
    with pytest.raises(ConfigurationError, match="lower-case"):
        registry.offers()
    module = plugged(gone=sample()["OFFER"])
    del module.gone
    assert "AttributeError" in registry.known(settings)[-1].help
    with pytest.raises(InvalidRequestError, match="no task"):
        registry.named(["dreams"], settings)


@pytest.mark.parametrize("where", ["has_work", "pages", "apply", "counts"])
@pytest.mark.parametrize("order", [1, 999])
async def test_a_failing_task_ends_its_run_and_no_other(
    db: Database,
    owner: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    plugged: Callable[..., ModuleType],
    *,
    where: str,
    order: int,
) -> None:
    plugged(faulty=Offer(make=lambda _means: Faulty(where), help="", order=order))
    await people(db, owner, TWICE[:2])
    done = {run.task: run for run in await night(db, owner, settings)}
    assert (done["faulty"].state, done["faulty"].error_code, done["faulty"].applied) == ("failed", "job_failed", 0)
    assert (done["duplicates"].state, done["duplicates"].applied) == ("done", 1)
    states = admin.execute(
        "SELECT state, error FROM memsvc.jobs WHERE user_id = %s AND kind = 'sleep'", [owner.user_id]
    )
    assert states.fetchall() == [("done", None)]
    if where != "has_work":
        await people(db, owner, TWICE[2:4])
        with pytest.raises(MemsvcError, match="ValueError") as caught:
            await sleep(db, owner, settings=settings)
        assert "text of the user" not in str(caught.value)
        assert len(merged(admin, owner)) == 2, "the others ran"


class Dying:
    """Lets a run die once: at a page, before it is applied, within its transaction, or after it."""

    def __init__(self, page: int, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
        applying, seen = runs.Writer.apply, 0

        async def apply(writer: runs.Writer, page_: Page, *, seconds: float) -> None:
            nonlocal seen
            seen += 1
            if seen != page:
                await applying(writer, page_, seconds=seconds)
                return
            if moment == "before":
                raise DatabaseUnavailableError
            if moment == "within":
                writer._task.apply = self._within(writer._task.apply)  # type: ignore[method-assign]
            await applying(writer, page_, seconds=seconds)
            raise DatabaseUnavailableError

        monkeypatch.setattr(runs.Writer, "apply", apply)

    @staticmethod
    def _within(applied: Any) -> Any:
        async def apply(*arguments: Any) -> None:
            await applied(*arguments)
            raise DatabaseUnavailableError

        return apply


@pytest.mark.parametrize("moment", ["before", "within", "after"])
@pytest.mark.parametrize("page", [1, 2, 3])
async def test_a_run_that_dies_at_any_page_does_each_once(
    db: Database,
    owner: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    plugged: Callable[..., ModuleType],
    *,
    page: int,
    moment: str,
) -> None:
    defined = sample()
    defined["TITLED"].text = defined["TITLED"].text.replace("LIMIT 100", "LIMIT 1")
    plugged(titles=defined["OFFER"])
    await people(db, owner, [(name, {}) for name in DOCTORS])
    with pytest.MonkeyPatch.context() as patched:
        Dying(page, moment, patched)
        with pytest.raises(DatabaseUnavailableError):
            await sleep(db, owner, ["titles"], settings=settings)
    reached = page if moment == "after" else page - 1
    [opened] = await list_runs(db, owner.user_id)
    assert (opened.state, opened.applied, len(names_of(admin, owner))) == ("open", reached, reached)

    [run] = await sleep(db, owner, ["titles"], settings=settings)
    assert (run.run_id, run.state, run.applied, run.counts) == (opened.run_id, "done", 3, {"named": 3})
    assert len(names_of(admin, owner)) == 3
    changes = "SELECT count(*) FROM memsvc.changes WHERE user_id = %s AND sleep_run_id = %s"
    assert value(admin, changes, [owner.user_id, run.run_id]) == 3


async def test_a_night_of_many_slices_runs_every_task_once(
    db: Database,
    owner: Owner,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    plugged: Callable[..., ModuleType],
) -> None:
    plugged(faulty=Offer(make=lambda _means: Faulty(), help="", order=1), titles=sample()["OFFER"]._replace(order=2))
    monkeypatch.setattr(runner, "SLICE_S", 0.0)
    await people(db, owner, [*TWICE[:2], (DOCTORS[0], {})])
    done = await night(db, owner, settings)
    assert sorted(run.task for run in done) == ["aliases", "concepts", "duplicates", "faulty", "salience", "titles"]
    assert {run.state for run in done} == {"done"}


def contents(admin: psycopg.Connection, owner: Owner) -> dict[str, str]:
    """Every row of a user by table, but for the jobs by which the night is asked for."""
    found = {}
    for table in sorted({*USER_TABLES} - {"jobs", "users"}):
        digest = f"SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM memsvc.{table} AS t"
        found[table] = str(admin.execute(f"{digest} WHERE user_id = %s".encode(), [owner.user_id]).fetchone())
    return found


async def test_a_night_without_news_writes_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, plugged: Callable[..., ModuleType]
) -> None:
    plugged(titles=sample()["OFFER"])
    await people(db, owner, [*TWICE, (DOCTORS[0], {})])
    assert len(await night(db, owner, settings)) == 5
    before = contents(admin, owner)
    for _ in range(2):
        await night(db, owner, settings)
        assert contents(admin, owner) == before


async def test_of_many_who_sleep_at_once_one_does(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await people(db, owner, TWICE)
    asked = [sleep(db, owner, ["duplicates"], settings=settings) for _ in range(4)]
    found = await asyncio.gather(*asked, night(db, owner, settings), return_exceptions=True)
    assert all(isinstance(one, (list, SleepBusyError)) for one in found), found
    assert len(merged(admin, owner)) == 2
    assert sum(run.applied for run in await list_runs(db, owner.user_id)) == 2
    assert {run.state for run in await list_runs(db, owner.user_id)} == {"done"}


async def test_undoing_a_run_takes_back_its_merges_and_names_what_stays(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    nodes = await people(db, owner, TWICE)
    [run] = await sleep(db, owner, ["duplicates"], settings=settings)
    [stranger] = await people(db, owner, [("Somebody Else", {})])
    canonical = value(admin, "SELECT canonical_id FROM memsvc.merges WHERE user_id = %s LIMIT 1", [owner.user_id])
    undone = await undo_run(db, owner, run.run_id, settings)
    assert (undone.changes, merged(admin, owner)) == (1, set())
    assert [one.code for one in undone.left] == ["stays"] * (run.proposed > 0)
    [again] = await sleep(db, owner, ["duplicates"], settings=settings)
    assert again.applied == 0, "a merge that was undone is only proposed"

    change = value(
        admin, "SELECT change_id FROM memsvc.changes WHERE user_id = %s AND undoes IS NOT NULL", [owner.user_id]
    )
    await undo(db, owner, change, asserted_by="user")
    assert len(merged(admin, owner)) == 2
    await merge(db, owner, canonical, stranger, asserted_by="user")
    later = await undo_run(db, owner, run.run_id, settings)
    assert later.changes == 0, "a person said that it shall stay"
    assert nodes


async def test_what_was_built_upon_stays_and_is_named(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await people(db, owner, TWICE[:2])
    [run] = await sleep(db, owner, ["duplicates"], settings=settings)
    [(node,)] = admin.execute("SELECT node_id FROM memsvc.merges WHERE user_id = %s", [owner.user_id]).fetchall()
    [stranger] = await people(db, owner, [("Somebody Else", {})])
    await merge_again(db, owner, node, stranger)
    undone = await undo_run(db, owner, run.run_id, settings)
    [left] = [one for one in undone.left if one.change_id is not None]
    assert (undone.changes, left.code) == (0, "change_built_upon")
    assert re.search(r"Zephyrine Oakthorpe? as Zephyrine Oakthorpe?", left.what)


async def merge_again(db: Database, owner: Owner, node: UUID, other: UUID) -> None:
    """Merge a node that is merged elsewhere into another one."""
    from memsvc.graph.history import unmerge  # noqa: PLC0415

    await unmerge(db, owner, node, asserted_by="user")
    await merge(db, owner, node, other, asserted_by="user")


async def test_runs_that_cannot_be_undone_are_refused_by_name(
    db: Database,
    owner: Owner,
    settings: Settings,
    plugged: Callable[..., ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugged(faulty=Offer(make=lambda _means: Faulty(), help="", stays={"changed": "things that are gone"}))
    [run] = await sleep(db, owner, ["faulty"], settings=settings)
    with pytest.raises(SleepUndoError, match="faulty cannot be undone: 1 things that are gone"):
        await undo_run(db, owner, run.run_id, settings)
    with pytest.raises(NotFoundError):
        await undo_run(db, owner, UUID(int=0), settings)
    await write(db, owner, [Node(type="Person", label=DOCTORS[0])], asserted_by="tests")
    with monkeypatch.context() as patched:
        Dying(1, "before", patched)
        with pytest.raises(DatabaseUnavailableError):
            await sleep(db, owner, ["faulty"], settings=settings)
    with pytest.raises(SleepUndoError, match="has not ended"):
        await undo_run(db, owner, (await list_runs(db, owner.user_id))[0].run_id, settings)
    async with db.holding(runner.lock_of(owner.user_id)):
        with pytest.raises(SleepBusyError):
            await undo_run(db, owner, run.run_id, settings)
