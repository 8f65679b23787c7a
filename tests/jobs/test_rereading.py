"""A new version of an extractor reads again what the old one has read: in the background, as one operation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import TextClause
from structlog.testing import capture_logs

from jobs.steps import all_steps
from memsvc.access.users import Owner, add_user
from memsvc.db.files import query as named
from memsvc.erasing.memories import erase
from memsvc.errors import InvalidRequestError, JobFailedError, NotFoundError, RereadingStateError
from memsvc.extract import outcomes, rereading, write
from memsvc.extract.asking import ask_all, progress
from memsvc.extract.rehearsal import rehearse
from memsvc.extract.rereading import (
    Rereading,
    ask_undo,
    begin,
    changes_to_undo,
    get_rereading,
    list_rereadings,
    report,
    stop,
)
from memsvc.extract.review import accept, list_reviews
from memsvc.extract.run import Extractors
from memsvc.graph import history
from memsvc.graph.history import correct
from memsvc.graph.operations import Annotate, Evidence
from memsvc.queue.execution import run_due, run_job
from memsvc.queue.jobs import list_jobs
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep
from memsvc.sleep.runs import list_runs
from tests.jobs.reading import Desk
from tests.jobs.working import until

SAID = ["I LIVES_IN Porto.", "I OWNS a boat.", "Ana KNOWS Rui.", "maybe Ana LIKES tea.", "Ana WORKS_AT Lidl."]


def chosen(desk: Desk) -> Settings:
    """Of a process that has the extractor."""
    return desk.settings.model_copy(update={"extractor": "saying", "reread_messages": 24})


async def new_version(desk: Desk, *, without: str = "OWNS", name: str = "saying/2") -> None:
    """Install a version that finds something else: not this type, but also WORKS_AT, which the first one does not."""
    desk.extractor.name, desk.extractor.without = name, frozenset({without})


async def read_by_the_old_version(desk: Desk, *texts: str, **more: Any) -> UUID:
    desk.extractor.without = frozenset({"WORKS_AT"})
    source = await desk.say(*(texts or SAID), **more)
    await desk.read()
    return source


async def reread(desk: Desk) -> Rereading | None:
    """Read all again, as a person asks for it."""
    opened = await begin(desk.db, desk.owner, desk.extractor, "saying")
    await sleep(desk.db, desk.owner, ["reread"], settings=chosen(desk))
    return await get_rereading(desk.db, desk.owner, opened.rereading_id) if opened is not None else None


def evidence(desk: Desk) -> list[Any]:
    """Which messages say what is known now, as who read them."""
    return desk.rows(
        "SELECT v.fact, l.passage_id, l.asserted_by FROM memsvc.edge_versions AS v JOIN memsvc.source_links AS l "
        "ON l.user_id = v.user_id AND l.edge_version_id = v.version_id "
        "WHERE v.user_id = %s AND v.recorded_to = 'infinity' AND l.recorded_to = 'infinity' ORDER BY 1, 2, 3"
    )


def told(found: Rereading) -> dict[str, int]:
    """How many facts had each outcome."""
    counts: dict[str, int] = {}
    for one in found.counts:
        counts[one.outcome] = counts.get(one.outcome, 0) + one.facts
    return counts


async def night(desk: Desk) -> None:
    await run_now(desk.db, desk.owner.user_id, "sleep")
    steps = all_steps(chosen(desk), None)
    await run_due(desk.db, {"sleep": steps["sleep"]})


async def test_what_the_new_version_finds_replaces_what_the_old_one_found(desk: Desk) -> None:
    await read_by_the_old_version(desk)
    kept = desk.rows("SELECT edge_id FROM memsvc.edges WHERE user_id = %s AND type = 'KNOWS'")
    await new_version(desk)
    found = await reread(desk)
    assert found is not None
    assert desk.facts() == ["Ana KNOWS Rui.", "Ana WORKS_AT Lidl.", "I LIVES_IN Porto."]
    assert told(found) == {"added": 1, "retracted": 1, "refused": 1, "unchanged": 2}
    assert (found.state, found.turns, found.left) == ("done", 5, 0)
    assert desk.rows("SELECT edge_id FROM memsvc.edges WHERE user_id = %s AND type = 'KNOWS'") == kept
    shown = await report(desk.db, desk.owner, found.rereading_id)
    assert {(one.outcome, one.fact) for one in shown.facts} == {
        ("added", "Ana WORKS_AT Lidl."), ("retracted", "I OWNS a boat."),
        ("unchanged", "I LIVES_IN Porto."), ("unchanged", "Ana KNOWS Rui."),
    }  # fmt: skip


async def test_new_messages_are_read_by_the_new_version_at_once_and_old_ones_later(desk: Desk) -> None:
    await read_by_the_old_version(desk)
    await new_version(desk)
    await desk.say("I KNOWS Eva.")
    before = len(desk.extractor.windows)
    await desk.read()
    assert [turn.text for window in desk.extractor.windows[before:] for turn in window.turns] == ["I KNOWS Eva."]
    assert "I OWNS a boat." in desk.facts()
    mine = [one for one in await progress(desk.db, desk.owner) if one.extractor == "saying/2"]
    assert [(one.turns, one.left, one.again) for one in mine] == [(1, 0, 5)]
    asked = await ask_all(desk.db, desk.owner, desk.extractor, "saying")
    assert asked.jobs == [], "all has been read; reading it again is asked for otherwise"
    await night(desk)
    assert "I OWNS a boat." not in desk.facts()


async def test_applying_twice_is_applying_once(desk: Desk) -> None:
    await read_by_the_old_version(desk)
    await new_version(desk)
    first = await reread(desk)
    links, history, windows = desk.links(), desk.history(), len(desk.extractor.windows)
    assert await reread(desk) == first
    await night(desk)
    assert (desk.links(), desk.history(), len(desk.extractor.windows)) == (links, history, windows)
    assert len(await list_rereadings(desk.db, desk.owner)) == 1


ALL = (
    "changes", "edges", "edge_versions", "nodes", "node_versions", "aliases", "source_links", "extractions",
    "rereadings", "fact_reviews", "jobs", "outbox", "memory_signals", "sleep_runs",
)  # fmt: skip


def everything(desk: Desk) -> dict[str, list[str]]:
    return {
        name: sorted(str(row[0]) for row in desk.rows(f"SELECT to_jsonb(t) FROM memsvc.{name} AS t WHERE user_id = %s"))
        for name in ALL
    }


async def test_a_dry_run_tells_what_applying_does_and_writes_nothing(desk: Desk) -> None:
    await read_by_the_old_version(desk)
    await read_by_the_old_version(desk, *(f"I OWNS boat{number}." for number in range(30)), conversation="harbour")
    await new_version(desk)
    before = everything(desk)
    pages = [await rehearse(desk.db, desk.owner, desk.extractor, "saying", desk.settings, messages=20)]
    while pages[-1].next_cursor is not None:
        cursor = pages[-1].next_cursor
        pages.append(
            await rehearse(desk.db, desk.owner, desk.extractor, "saying", desk.settings, cursor=cursor, messages=20)
        )
    assert everything(desk) == before
    assert [page.left for page in pages] == [35] * len(pages)
    assert sum(page.turns for page in pages) == 35
    assert len(pages) > 1
    announced: dict[tuple[str, str], int] = {}
    for page in pages:
        for one in page.counts:
            announced[one.outcome, one.type] = announced.get((one.outcome, one.type), 0) + one.facts
    examples = {(one.outcome, one.fact) for page in pages for one in page.facts}
    found = await reread(desk)
    assert found is not None
    assert {(one.outcome, one.type): one.facts for one in found.counts} == announced
    assert announced == {
        ("added", "WORKS_AT"): 1, ("retracted", "OWNS"): 31, ("refused", "LIKES"): 1, ("unchanged", "KNOWS"): 1,
        ("unchanged", "LIVES_IN"): 1,
    }  # fmt: skip
    done = {
        (one.outcome, one.fact)
        for outcome in (None, "refused")
        for one in (await report(desk.db, desk.owner, found.rereading_id, outcome=outcome)).facts
    }
    assert done == examples
    after = await rehearse(desk.db, desk.owner, desk.extractor, "saying", desk.settings)
    assert (after.left, after.turns, after.counts, after.next_cursor) == (0, 0, [], None)


async def test_the_report_comes_in_pages_and_by_type(desk: Desk) -> None:
    await read_by_the_old_version(desk, *(f"I OWNS boat{number}." for number in range(30)), "maybe Ana LIKES tea.")
    await new_version(desk)
    found = await reread(desk)
    assert found is not None
    seen, cursor = list[str](), None
    while True:
        facts, cursor = await report(
            desk.db, desk.owner, found.rereading_id, outcome="retracted", type_="OWNS", cursor=cursor, limit=7
        )
        seen += [one.fact for one in facts]
        if cursor is None:
            break
    assert sorted(seen) == sorted(f"I OWNS boat{number}." for number in range(30))
    [refused] = (await report(desk.db, desk.owner, found.rereading_id, outcome="refused")).facts
    assert (refused.fact, refused.reason) == ("Ana LIKES tea.", "doubtful")
    assert (await report(desk.db, desk.owner, found.rereading_id, type_="KNOWS")).facts == []
    with pytest.raises(InvalidRequestError):
        await report(desk.db, desk.owner, found.rereading_id, outcome="lost")


async def test_what_is_killed_anywhere_is_finished(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await read_by_the_old_version(desk, *SAID, *(f"I OWNS boat{number}." for number in range(20)))
    await new_version(desk)
    for module, broken in (
        (write, "reread_place"), (write, "found_by_others_alone"), (write, "end_rereading_window"),
        (outcomes, "mark_reread"), (outcomes, "note_reread"),
    ):  # fmt: skip

        def query(name: str, broken: str = broken) -> TextClause:
            if name == broken:
                raise RuntimeError(name)
            return named(name)

        with monkeypatch.context() as patched, capture_logs():
            patched.setattr(module, "query", query)
            with pytest.raises(JobFailedError):
                await reread(desk)
    [opened] = await list_rereadings(desk.db, desk.owner)
    assert (opened.state, opened.turns, opened.left) == ("open", 0, 25)

    kept = desk.extractor.extract

    async def dies(window: Any) -> Any:
        if len(window.turns) < 12 or window.before:
            raise RuntimeError
        return await kept(window)

    with monkeypatch.context() as patched, capture_logs():
        patched.setattr(desk.extractor, "extract", dies)
        with pytest.raises(JobFailedError):
            await reread(desk)
    [opened] = await list_rereadings(desk.db, desk.owner)
    assert (opened.state, opened.turns, opened.left) == ("open", 12, 13)
    found = await reread(desk)
    assert found is not None
    assert (found.state, found.turns, found.left) == ("done", 25, 0)
    assert told(found) == {"added": 1, "retracted": 21, "refused": 1, "unchanged": 2}
    assert desk.facts() == ["Ana KNOWS Rui.", "Ana WORKS_AT Lidl.", "I LIVES_IN Porto."]


async def test_undoing_restores_what_was_and_applying_again_finds_it_again(desk: Desk) -> None:
    await read_by_the_old_version(desk, *SAID, *(f"I OWNS boat{number}." for number in range(20)))
    before, said, labels = desk.facts(), evidence(desk), desk.labels()
    await new_version(desk)
    found = await reread(desk)
    assert found is not None
    after = desk.facts()
    await ask_undo(desk.db, desk.owner, found.rereading_id)
    with pytest.raises(RereadingStateError):
        await begin(desk.db, desk.owner, desk.extractor, "saying")
    await night(desk)
    undone = await get_rereading(desk.db, desk.owner, found.rereading_id)
    assert (undone.state, undone.not_undone, undone.counts) == ("undone", 0, found.counts)
    assert (desk.facts(), evidence(desk), desk.labels()) == (before, said, labels)
    await night(desk)
    assert desk.facts() == before, "what a person undid is not begun again at night"
    again = await reread(desk)
    assert again is not None
    assert again.rereading_id != found.rereading_id
    assert (desk.facts(), told(again)) == (after, told(found))
    with pytest.raises(RereadingStateError):
        await ask_undo(desk.db, desk.owner, found.rereading_id)


async def test_undoing_that_dies_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await read_by_the_old_version(desk, *(f"I OWNS boat{number}." for number in range(30)))
    before = desk.facts()
    await new_version(desk)
    found = await reread(desk)
    assert found is not None
    await ask_undo(desk.db, desk.owner, found.rereading_id)
    [second] = [
        change for change, _ in (await changes_to_undo(desk.db, desk.owner, found.rereading_id, before=None))[1:2]
    ]

    async def undo_in(connection: Any, owner: Owner, change: UUID, by: str) -> Any:
        if change == second:
            raise RuntimeError
        return await undo(connection, owner, change, by)

    undo = history.undo_in
    with monkeypatch.context() as patched:
        patched.setattr(rereading, "UNDONE_TOGETHER", 1)
        patched.setattr(history, "undo_in", undo_in)
        with pytest.raises(JobFailedError):
            await sleep(desk.db, desk.owner, ["reread"], settings=chosen(desk))
    undone = await changes_to_undo(desk.db, desk.owner, found.rereading_id, before=None)
    assert undone[0][0] == second, "the last change is undone, the one before is not"
    assert (await get_rereading(desk.db, desk.owner, found.rereading_id)).state == "undoing"
    await sleep(desk.db, desk.owner, ["reread"], settings=chosen(desk))
    assert (await get_rereading(desk.db, desk.owner, found.rereading_id)).state == "undone"
    assert desk.facts() == before


async def test_undoing_leaves_what_a_person_did_since_and_names_it(desk: Desk) -> None:
    await read_by_the_old_version(desk, "I OWNS a boat.")
    await read_by_the_old_version(desk, "Ana WORKS_AT Lidl.", "Ana KNOWS Rui.", conversation="shop")
    await new_version(desk)
    found = await reread(desk)
    assert found is not None
    [(version,)] = desk.rows("SELECT version_id FROM memsvc.edge_versions WHERE user_id = %s AND type = 'WORKS_AT'")
    await correct(desk.db, desk.owner, version, {"fact": "Ana works at the shop."}, asserted_by="user")
    await ask_undo(desk.db, desk.owner, found.rereading_id)
    await night(desk)
    assert desk.facts() == ["Ana KNOWS Rui.", "Ana works at the shop.", "I OWNS a boat."]
    undone = await get_rereading(desk.db, desk.owner, found.rereading_id)
    assert (undone.state, undone.not_undone) == ("undone", 1)
    left = await report(desk.db, desk.owner, found.rereading_id, not_undone=True)
    assert ("added", "Ana WORKS_AT Lidl.") in {(one.outcome, one.fact) for one in left.facts}


@pytest.mark.parametrize("how", ["corrected", "validated", "pinned", "found by another", "accepted"])
async def test_what_a_person_stands_for_survives(desk: Desk, how: str) -> None:
    await read_by_the_old_version(desk, "maybe I OWNS a boat." if how == "accepted" else "I OWNS a boat.")
    if how == "accepted":
        [review] = await list_reviews(desk.db, desk.owner)
        await accept(desk.db, desk.owner, review.review_id, by="user")
    [(version, passage)] = desk.rows(
        "SELECT v.version_id, l.passage_id FROM memsvc.edge_versions AS v JOIN memsvc.source_links AS l "
        "ON l.user_id = v.user_id AND l.edge_version_id = v.version_id WHERE v.user_id = %s AND v.type = 'OWNS'"
    )
    if how == "corrected":
        await correct(desk.db, desk.owner, version, {"fact": "I OWNS a blue boat."}, asserted_by="user")
    elif how == "validated":
        mark = Annotate(version=version, stance="validated", evidence=[Evidence(passage_id=passage)])
        await history.write(desk.db, desk.owner, [mark], asserted_by="user")
    elif how == "pinned":
        desk.admin.execute(
            "INSERT INTO memsvc.memory_signals (user_id, memory_id, kind, pinned) VALUES (%s, %s, 'fact', true)",
            [desk.owner.user_id, version],
        )
    elif how == "found by another":
        await ask_all(desk.db, desk.owner, desk.better, "better")
        await desk.read()
    kept = desk.facts()
    assert len(kept) == 1
    await new_version(desk, name="saying/3")
    await reread(desk)
    assert desk.facts() == kept


async def test_what_nobody_stands_for_goes(desk: Desk) -> None:
    """Without this one, the test above could not fail."""
    await read_by_the_old_version(desk, "I OWNS a boat.")
    await new_version(desk)
    await reread(desk)
    assert desk.facts() == []


async def test_the_most_recalled_conversation_comes_first_and_a_night_reads_a_part(desk: Desk) -> None:
    for name in ("first", "second", "third"):
        await read_by_the_old_version(desk, *(f"I OWNS {name}{number}." for number in range(20)), conversation=name)
    recalled = desk.rows(
        "SELECT p.passage_id FROM memsvc.passages AS p JOIN memsvc.sources AS s USING (user_id, source_id) "
        "WHERE p.user_id = %s AND s.identifier = 'second' AND p.kind = 'message' LIMIT 3"
    )
    for (passage,) in recalled:
        desk.admin.execute(
            "INSERT INTO memsvc.memory_signals AS s (user_id, memory_id, kind, recalls, last_recalled_at) "
            "VALUES (%s, %s, 'passage', 2, now()) "
            "ON CONFLICT (user_id, memory_id) DO UPDATE SET recalls = 2, last_recalled_at = now()",
            [desk.owner.user_id, passage],
        )
    await new_version(desk)
    begun = len(desk.extractor.windows)
    await night(desk)
    read = [turn.text for window in desk.extractor.windows[begun:] for turn in window.turns]
    assert read[:20] == [f"I OWNS second{number}." for number in range(20)]
    assert 24 <= len(read) < 24 + 12, "a night ends with the window that reaches its bound"
    [opened] = await list_rereadings(desk.db, desk.owner)
    assert (opened.state, opened.left) == ("open", 60 - len(read))
    [run] = [one for one in await list_runs(desk.db, desk.owner.user_id) if one.task == "reread"]
    assert (run.state, run.examined) == ("done", len(read))
    for _ in range(3):
        await night(desk)
    [done] = await list_rereadings(desk.db, desk.owner)
    assert (done.state, done.left, desk.facts()) == ("done", 0, [])


async def test_new_messages_go_first(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.sleep.runner.GIVE_WAY_S", 0.0)
    await read_by_the_old_version(desk, *(f"I OWNS boat{number}." for number in range(30)))
    await new_version(desk)
    await desk.say("I KNOWS Eva.")
    begun = len(desk.extractor.windows)
    await run_now(desk.db, desk.owner.user_id, "sleep")
    steps = all_steps(desk.settings.model_copy(update={"extractor": "saying"}), None)
    [job] = [one for one in await list_jobs(desk.db, desk.owner.user_id, state="pending") if one.kind == "sleep"]
    for _ in range(2):
        outcome = await run_job(desk.db, "sleep", desk.owner.user_id, job.job_id, steps["sleep"])
        assert (outcome, len(desk.extractor.windows)) == ("again", begun), "the message waits still"
    await desk.read()
    assert [turn.text for turn in desk.extractor.windows[begun].turns] == ["I KNOWS Eva."]
    assert desk.facts() == ["I KNOWS Eva."]


async def test_who_stops_it_keeps_it_stopped_until_it_is_asked_for(desk: Desk) -> None:
    await read_by_the_old_version(desk)
    await new_version(desk)
    opened = await begin(desk.db, desk.owner, desk.extractor, "saying")
    assert opened is not None
    stopped = await stop(desk.db, desk.owner, opened.rereading_id)
    assert stopped.state == (await stop(desk.db, desk.owner, opened.rereading_id)).state == "stopped"
    await night(desk)
    assert "I OWNS a boat." in desk.facts()
    done = await reread(desk)
    assert done is not None
    assert (done.rereading_id, done.state) == (opened.rereading_id, "done")
    with pytest.raises(RereadingStateError):
        await stop(desk.db, desk.owner, opened.rereading_id)


async def test_it_stops_in_the_middle_of_a_conversation(desk: Desk) -> None:
    await read_by_the_old_version(desk, *(f"I OWNS boat{number}." for number in range(30)))
    await new_version(desk)
    opened = await begin(desk.db, desk.owner, desk.extractor, "saying")
    assert opened is not None
    desk.extractor.slow_s = 0.3
    begun = len(desk.extractor.windows)
    reading = asyncio.create_task(sleep(desk.db, desk.owner, ["reread"], settings=chosen(desk)))
    await until(lambda: len(desk.extractor.windows) > begun + 1)
    await stop(desk.db, desk.owner, opened.rereading_id)
    await reading
    stopped = await get_rereading(desk.db, desk.owner, opened.rereading_id)
    assert (stopped.state, stopped.turns, stopped.left) == ("stopped", 12, 18)


async def test_users_do_not_meet(desk: Desk, app: UUID) -> None:
    other = replace(desk, owner=(await add_user(desk.db, app, name="Bob")).owner)
    await read_by_the_old_version(desk)
    await read_by_the_old_version(other, speaker="Bob")
    before = everything(other)
    await new_version(desk)
    found = await reread(desk)
    assert found is not None
    assert everything(other) == before
    assert await list_rereadings(other.db, other.owner) == []
    for refused in (get_rereading, stop, ask_undo, report):
        with pytest.raises(NotFoundError):
            await refused(other.db, other.owner, found.rereading_id)
    await reread(other)
    await ask_undo(desk.db, desk.owner, found.rereading_id)
    await night(desk)
    [theirs] = await list_rereadings(other.db, other.owner)
    assert (theirs.state, told(theirs)["retracted"]) == ("done", 1)


async def test_turns_that_cannot_be_read_alone_are_passed_over_and_belong_to_it(desk: Desk) -> None:
    desk.extractor.deaf_to = "nothing"
    await read_by_the_old_version(desk, "do not read: I OWNS a boat.", "Ana KNOWS Rui.")
    await new_version(desk)
    desk.extractor.deaf_to = "do not read"
    with capture_logs():
        found = await reread(desk)
    assert found is not None
    assert (found.state, found.left, told(found)) == ("done", 0, {"unchanged": 1})
    desk.extractor.deaf_to = "nothing"
    await desk.read()
    found = await get_rereading(desk.db, desk.owner, found.rereading_id)
    assert told(found) == {"unchanged": 1, "retracted": 1}
    await ask_undo(desk.db, desk.owner, found.rereading_id)
    await night(desk)
    assert len(desk.facts()) == 2


async def test_what_is_erased_meanwhile_leaves_no_gap(desk: Desk) -> None:
    source = await read_by_the_old_version(desk, *(f"I OWNS boat{number}." for number in range(14)))
    await new_version(desk)
    await begin(desk.db, desk.owner, desk.extractor, "saying")
    for (passage,) in desk.rows(
        "SELECT passage_id FROM memsvc.passages WHERE user_id = %s AND kind = 'message' ORDER BY 1 DESC LIMIT 2"
    ):
        await erase(desk.db, desk.owner, "passage", passage, requested_by="user")
    found = await reread(desk)
    assert found is not None
    assert (found.state, found.turns, found.left, desk.facts()) == ("done", 12, 0, [])
    await erase(desk.db, desk.owner, "source", source, requested_by="user")
    assert (await get_rereading(desk.db, desk.owner, found.rereading_id)).counts == found.counts


async def test_a_system_without_extractor_has_nothing_to_read_again(desk: Desk) -> None:
    await read_by_the_old_version(desk)
    extractors = Extractors(desk.settings.model_copy(update={"extractor": "none"}))
    [run] = await sleep(desk.db, desk.owner, ["reread"], settings=desk.settings, extractors=extractors)
    assert (run.state, run.examined) == ("done", 0)
