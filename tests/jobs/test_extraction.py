"""Sources are read window by window: once, in order, whatever dies or fails meanwhile."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import TextClause
from structlog.testing import capture_logs

from memsvc.db.files import query as named
from memsvc.erasing.memories import erase
from memsvc.errors import ExtractorError
from memsvc.extract import unread as turns
from memsvc.extract import write
from memsvc.extract.asking import ask_all, pause, progress, totals
from memsvc.extract.run import read_source
from memsvc.queue.execution import run_due
from memsvc.queue.jobs import retry_job
from tests.jobs.reading import Desk
from tests.jobs.working import due_now


async def test_what_is_said_is_read_once_and_in_order(desk: Desk) -> None:
    said = [f"I OWNS boat{number}." for number in range(30)]
    source = await desk.say(*said)
    assert await desk.read() == 3, "one job for the source, one for its facts, one for their vectors"
    windows = desk.extractor.windows
    assert [len(window.turns) for window in windows] == [12, 12, 6]
    assert [turn.text for window in windows for turn in window.turns] == said
    assert [turn.text for turn in windows[1].before] == said[6:12]
    assert desk.facts() == sorted(said)

    await desk.say("I OWNS a car.")
    await desk.read()
    assert [turn.text for turn in windows[-1].turns] == ["I OWNS a car."]
    [told] = await progress(desk.db, desk.owner)
    assert (told.source_id, told.extractor, told.turns, told.left, told.facts) == (source, "saying/1", 31, 0, 31)
    assert await desk.read() == 0


async def test_a_system_without_extractor_asks_for_no_reading(desk: Desk) -> None:
    await desk.say("I OWNS a car.")
    assert not desk.steps_of_none["process"]
    await run_due(desk.db, desk.steps_of_none)
    assert await desk.jobs() == []


async def test_a_window_ends_where_it_would_be_too_long(desk: Desk) -> None:
    await desk.say(*[f"{letter * 900}. " * 10 for letter in "ab"])
    await desk.read()
    lengths = [[len(turn.text) for turn in window.turns] for window in desk.extractor.windows]
    assert sum(map(sum, lengths)) == 2 * 10 * 902
    assert all(sum(window) <= 6_000 for window in lengths)


async def test_a_later_part_of_a_message_knows_how_the_message_begins(desk: Desk) -> None:
    await desk.say("Ben wrote: " + "I like it here. " * 300, "Bye.")
    await desk.read()
    first, *rest, last = [turn for window in desk.extractor.windows for turn in window.turns]
    assert rest
    assert {turn.opening for turn in rest} == {first.text}
    assert first.opening == last.opening == ""


async def test_every_fact_and_node_shows_its_words(desk: Desk) -> None:
    await desk.say("Morning! Ana KNOWS Rui. Bye.")
    await desk.read()
    spoken = desk.rows(
        "SELECT CASE WHEN l.edge_version_id IS NULL THEN 'node' ELSE 'edge' END, "
        "substr(p.text, l.span_from + 1, l.span_to - l.span_from), l.asserted_by "
        "FROM memsvc.source_links AS l JOIN memsvc.passages AS p USING (user_id, passage_id) "
        "WHERE l.user_id = %s ORDER BY 1, 2"
    )
    assert spoken == [
        ("edge", "Ana KNOWS Rui.", "saying/1"),
        ("node", "Ana", "saying/1"),
        ("node", "Rui", "saying/1"),
    ]
    assert desk.rows("SELECT importance, sentiment FROM memsvc.memory_signals WHERE user_id = %s") == [(7, 0.5)]


async def test_what_is_killed_anywhere_is_done_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off in the statements of the writing transaction, one after the other, then left alone."""
    await desk.say("Ana KNOWS Rui.", "maybe Ana LIKES tea.", "Rui LIVES_IN Faro.")
    for broken in ("begin_reading", "keep_signs", "keep_reviews", "end_reading"):

        def query(name: str, broken: str = broken) -> Any:
            if name == broken:
                raise RuntimeError(name)
            return named(name)

        with monkeypatch.context() as patched, capture_logs():
            patched.setattr(write, "query", query)
            await desk.read()
        assert desk.facts() == []
        due_now(desk.admin, desk.owner)
        desk.rows("UPDATE memsvc.jobs SET attempts = 0 WHERE user_id = %s RETURNING 1")
    await desk.read()
    assert desk.facts() == ["Ana KNOWS Rui.", "Rui LIVES_IN Faro."]
    [told] = await progress(desk.db, desk.owner)
    assert (told.turns, told.facts, told.refused) == (3, 2, 1)
    assert desk.labels() == ["Ada", "Ana", "Faro", "Rui"]


async def test_two_readers_of_one_source_write_it_once(desk: Desk) -> None:
    source = await desk.say(*(f"Ana KNOWS Rui{number}." for number in range(20)))
    desk.extractor.slow_s = 0.02
    done = await asyncio.gather(
        *(read_source(desk.db, desk.owner, source, desk.extractor, backend="saying") for _ in range(3)),
        return_exceptions=True,
    )
    assert sum(read.turns for read in done if not isinstance(read, BaseException)) == 20
    assert len(desk.facts()) == desk.links() == 20


async def test_conversations_that_meet_somebody_new_at_once_make_one_node(desk: Desk) -> None:
    sources = [await desk.say("Ana KNOWS Rui.", conversation=f"talk {number}") for number in range(6)]
    desk.extractor.slow_s = 0.05
    await asyncio.gather(
        *(read_source(desk.db, desk.owner, source, desk.extractor, backend="saying") for source in sources)
    )
    assert desk.labels() == ["Ada", "Ana", "Rui"]
    assert (desk.facts(), desk.links()) == (["Ana KNOWS Rui."], 6)


async def test_what_cannot_be_read_fails_visibly_and_the_rest_goes_on(desk: Desk) -> None:
    texts = ["Ana KNOWS Eva.", "do not read: Tim LIKES tea.", "Ana KNOWS Tim.", *["Ana KNOWS Rui."] * 20]
    source = await desk.say(*texts)
    await desk.say("I OWNS a boat.", conversation="other")
    await desk.read()
    rest = ["Ana KNOWS Eva.", "Ana KNOWS Rui.", "Ana KNOWS Tim.", "I OWNS a boat."]
    assert desk.facts() == rest
    [late] = [job for job in await desk.jobs() if job.state == "pending"]
    for _ in range(3):
        assert (await totals(desk.db, desk.owner, "saying/1")).failed == 0
        due_now(desk.admin, desk.owner)
        await desk.read()
    [failed] = [job for job in await desk.jobs() if job.state == "failed"]
    assert (failed.job_id, failed.error_code) == (late.job_id, "extractor")
    done = await totals(desk.db, desk.owner, "saying/1")
    assert (done.failed, done.left, done.turns) == (1, 1, 23)
    [told] = await progress(desk.db, desk.owner, source=source)
    assert (told.job_id, told.job_state, told.left) == (failed.job_id, "failed", 1)
    await desk.say("Ana KNOWS Zoe.")  # what cannot be read stands before it, and is no context of it
    await desk.read()
    assert [turn.text for turn in desk.extractor.windows[-1].turns] == ["Ana KNOWS Zoe."]

    desk.extractor.deaf_to = "nothing at all"
    await retry_job(desk.db, desk.owner.user_id, failed.job_id)
    await desk.read()
    assert desk.facts() == sorted([*rest, "Ana KNOWS Zoe.", "Tim LIKES tea."])
    done = await totals(desk.db, desk.owner, "saying/1")
    assert (done.failed, done.left, done.turns) == (0, 0, 25)
    assert desk.links() == 25


async def test_a_reader_that_can_read_nothing_passes_nothing_over(desk: Desk) -> None:
    await desk.say(*["do not read"] * 7, "Ana KNOWS Rui.")
    await desk.say("do not read", conversation="other")
    for _ in range(4):
        await desk.read()
        due_now(desk.admin, desk.owner)
    assert [(job.state, job.error_code) for job in await desk.jobs() if job.kind == "extract"] == [
        ("failed", "extractor")
    ] * 2
    assert desk.rows("SELECT passed_over, upto FROM memsvc.extractions WHERE user_id = %s") == []
    assert (await totals(desk.db, desk.owner, "saying/1")).turns == 0


async def test_asking_again_tries_what_was_passed_over_and_erasing_ends_it(desk: Desk) -> None:
    await desk.say("do not read this", "Ana KNOWS Rui.", "nor do not read that")
    await desk.say("Ana KNOWS Eva.")
    await desk.read()
    passages = [row[0] for row in desk.rows("SELECT passage_id FROM memsvc.passages WHERE user_id = %s ORDER BY 1")]
    assert desk.rows("SELECT passed_over FROM memsvc.extractions WHERE user_id = %s") == [([passages[0], passages[2]],)]
    receipt = await erase(desk.db, desk.owner, "passage", passages[0], requested_by="tests")
    assert (receipt.verified, receipt.leftovers) == (True, {})
    assert desk.rows("SELECT passed_over FROM memsvc.extractions WHERE user_id = %s") == [([passages[2]],)]
    [waiting] = [job for job in await desk.jobs() if job.state == "pending"]
    assert waiting.subject_id == passages[2]
    await pause(desk.db, desk.owner)
    asked = await ask_all(desk.db, desk.owner, desk.extractor, "saying")
    assert len(asked.jobs) == 1
    desk.extractor.deaf_to = "nothing at all"
    await desk.read()
    assert desk.rows("SELECT passed_over FROM memsvc.extractions WHERE user_id = %s") == [([],)]


async def test_a_model_that_is_down_delays_and_ends_nothing(desk: Desk) -> None:
    await desk.say("Ana KNOWS Rui.")
    desk.extractor.failure = ExtractorError("It is down.")
    for _ in range(6):
        await desk.read()
        due_now(desk.admin, desk.owner)
    [job] = await desk.jobs()
    assert (job.state, job.error_code) == ("pending", "extractor")
    desk.extractor.failure = None
    await desk.read()
    assert desk.facts() == ["Ana KNOWS Rui."]


async def test_another_extractor_reads_again_and_takes_back_what_only_the_first_one_found(desk: Desk) -> None:
    said = ["Ana KNOWS Rui.", "Ana LIKES tea.", "Rui LIVES_IN Faro.", "Eva LIKES wine."]
    await desk.say(*said)
    await desk.read()
    assert desk.facts() == sorted(said)
    desk.better.without = frozenset({"LIKES"})
    asked = await ask_all(desk.db, desk.owner, desk.better, "better")
    assert (asked.extractor, len(asked.jobs)) == ("saying/2", 1)
    await desk.read()
    assert desk.facts() == ["Ana KNOWS Rui.", "Rui LIVES_IN Faro."]
    assert desk.labels() == ["Ada", "Ana", "Faro", "Rui"], "nobody finds wine, tea and Eva any more"
    told = {one.extractor: one for one in await progress(desk.db, desk.owner)}
    assert (told["saying/2"].turns, told["saying/2"].asked) == (4, False)
    # It reads no further by itself, and asking again finds nothing to do.
    await desk.say("Eva KNOWS Rui.")
    await desk.read()
    assert {one.extractor: one.left for one in await progress(desk.db, desk.owner)} == {"saying/1": 0, "saying/2": 1}
    assert len((await ask_all(desk.db, desk.owner, desk.better, "better")).jobs) == 1
    await desk.read()
    assert (await ask_all(desk.db, desk.owner, desk.better, "better")).jobs == []
    assert desk.facts() == ["Ana KNOWS Rui.", "Eva KNOWS Rui.", "Rui LIVES_IN Faro."]


async def test_reading_that_was_asked_for_can_be_paused_and_goes_on(desk: Desk) -> None:
    steps = desk.steps_of_none
    for number in range(3):
        await desk.say("Ana KNOWS Rui.", conversation=f"talk {number}")
    await run_due(desk.db, steps)
    assert len((await ask_all(desk.db, desk.owner, desk.better, "better")).jobs) == 3
    assert await pause(desk.db, desk.owner) == 3
    await run_due(desk.db, steps)
    waiting = await totals(desk.db, desk.owner, "saying/2")
    assert (waiting.pending, waiting.left, desk.facts()) == (0, 3, [])
    await ask_all(desk.db, desk.owner, desk.better, "better")
    await run_due(desk.db, steps)
    done = await totals(desk.db, desk.owner, "saying/2")
    assert (done.left, done.turns, done.facts, done.pending) == (0, 3, 3, 0)


async def test_what_was_said_before_a_time_can_be_left_out(desk: Desk) -> None:
    for year, name in ((2024, "Rui"), (2025, "Eva"), (2026, "Tim")):
        await desk.say(f"Ana KNOWS {name}.", said=f"{year}-01-01T00:00:00Z")
    await ask_all(desk.db, desk.owner, desk.better, "better", since=datetime(2025, 1, 1, tzinfo=UTC))
    await run_due(desk.db, desk.steps_of_none)
    assert desk.facts() == ["Ana KNOWS Eva.", "Ana KNOWS Tim."]


async def test_a_place_that_moves_while_turns_are_taken_is_noticed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    source = await desk.say("Ada likes tea.", "Ada likes rye.")
    passages = [row[0] for row in desk.rows("SELECT passage_id FROM memsvc.passages WHERE user_id = %s ORDER BY 1")]
    desk.admin.execute(
        "INSERT INTO memsvc.extractions (user_id, source_id, extractor, backend) VALUES (%s, %s, 'tests/1', 'tests')",
        [desk.owner.user_id, source],
    )
    asked: list[str] = []

    def moving(name: str) -> TextClause:
        asked.append(name)
        if len(asked) == 2:  # another reader was faster
            desk.admin.execute(
                "UPDATE memsvc.extractions SET upto = %s WHERE user_id = %s", [passages[0], desk.owner.user_id]
            )
        return named(name)

    monkeypatch.setattr(turns, "query", moving)
    async with desk.db.transaction(desk.owner.user_id) as connection:
        taken = await turns.next_turns(connection, desk.owner, source, "tests/1")
    assert taken is not None
    assert len(asked) == 2
    assert taken.upto != passages[0]  # so write_window refuses it


async def test_what_is_asked_for_while_a_reader_ends_stays_asked_for(desk: Desk) -> None:
    source = await desk.say("Ada likes tea.")
    desk.admin.execute(
        "INSERT INTO memsvc.extractions (user_id, source_id, extractor, backend, asked) "
        "VALUES (%s, %s, 'tests/1', 'tests', true)",
        [desk.owner.user_id, source],
    )
    about = {"user_id": desk.owner.user_id, "source_id": source, "extractor": "tests/1", "backend": "tests"}
    for read, left in ((False, [(True,)]), (True, [(False,)])):
        if read:
            desk.admin.execute(
                "UPDATE memsvc.extractions SET upto = (SELECT passage_id FROM memsvc.passages WHERE source_id = %s) "
                "WHERE source_id = %s",
                [source, source],
            )
        async with desk.db.transaction(desk.owner.user_id) as connection:
            await connection.execute(named("reading_answered"), about)
        assert desk.rows("SELECT asked FROM memsvc.extractions WHERE user_id = %s") == left
