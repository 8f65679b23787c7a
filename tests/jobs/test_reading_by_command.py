"""What ``memsvc extract --all`` and ``memsvc demo`` do, in this process: reading with pauses, and the picture."""

from __future__ import annotations

import asyncio
import sys

import pytest

from memsvc.cli import demo, demo_facts
from memsvc.cli.extraction import read_stored
from memsvc.extract import registry
from memsvc.extract.asking import totals
from memsvc.queue.execution import run_due
from tests.jobs.reading import Desk


async def test_ctrl_c_pauses_and_the_same_command_goes_on(desk: Desk) -> None:
    said = [f"I OWNS boat{number}." for number in range(40)]
    for place in range(2):
        await desk.say(*said[place * 20 : place * 20 + 20], conversation=f"pond {place}")
    await run_due(desk.db, desk.steps_of_none)
    settings = desk.settings.model_copy(update={"extractor": "saying"})
    desk.extractor.slow_s = 0.1
    reading = asyncio.create_task(read_stored(desk.db, settings, desk.owner))
    while (await totals(desk.db, desk.owner, "saying/1")).turns < 12:
        assert not reading.done(), await reading
        await asyncio.sleep(0.01)
    reading.cancel()  # as Ctrl-C does
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert {job.state for job in await desk.jobs()} <= {"cancelled", "done"}
    so_far = await totals(desk.db, desk.owner, "saying/1")
    assert 12 <= so_far.turns < 40
    assert so_far.facts == so_far.turns

    desk.extractor.slow_s = 0
    found = await read_stored(desk.db, settings, desk.owner)
    assert (found.sources, found.turns, found.left, found.facts, found.pending) == (2, 40, 0, 40, 0)
    assert desk.facts() == sorted(said)
    again = len(desk.extractor.windows)
    assert await read_stored(desk.db, settings, desk.owner) == found
    assert len(desk.extractor.windows) == again


async def test_one_conversation_is_read_by_another_extractor(desk: Desk) -> None:
    for place in range(2):
        await desk.say("I OWNS boat.", conversation=f"pond {place}")
    found = await read_stored(desk.db, desk.settings, desk.owner, extractor="better", conversation="pond 1")
    assert (found.extractor, found.sources, found.turns) == ("saying/2", 1, 1)
    assert desk.extractor.windows == []


async def test_the_picture_shows_names_facts_and_what_changed(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.say("I LIVES_IN Porto since 2020. I KNOWS Rui.\x1b[31m", "I LIVES_IN Faro since 2021. I LIKES tea.")
    monkeypatch.setattr(registry, "load", lambda _name, _settings: desk.extractor)
    await demo_facts.read_and_show(desk.db, desk.settings, desk.owner)
    told = capsys.readouterr().out
    assert told.startswith("4 facts extracted from 2 messages")
    assert "People: Rui (1)\n" in told
    assert "Places: Faro (1), Porto (1)\n" in told
    facts, changed = told.partition("What changed")[::2]
    assert "I KNOWS Rui.  " in facts
    assert "“I KNOWS Rui.” (Ada, " in facts
    assert "Porto since" not in facts.partition("Facts, and who said so")[2]
    lines = [line.split("  ")[1].strip() for line in changed.splitlines() if line.startswith("  ")]
    assert lines == ["Ada lives in Porto", "Ada lives in Faro"]
    assert "1 Jan 2020 – 1 Jan 2021" in changed
    assert "1 Jan 2021 – now" in changed
    assert "\x1b" not in told


def test_the_demos_folder_is_its_own_and_gone_in_the_end() -> None:
    with demo.own_folder() as one, demo.own_folder() as other:
        assert one != other
        one.mkdir()
        assert one.parent.stat().st_mode & 0o022 == 0
    folders = [one, other]

    def stopped() -> None:
        with demo.own_folder() as folder:
            folders.append(folder)
            (folder / "pg").mkdir(parents=True)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert not any(folder.parent.exists() for folder in folders)


async def test_without_the_extra_the_demo_says_so(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.say("I OWNS a boat.")
    monkeypatch.undo()  # the real registry
    monkeypatch.setitem(sys.modules, "memsvc.extract.offline.extractor", None)
    await demo_facts.read_and_show(desk.db, desk.settings, desk.owner)
    told = capsys.readouterr()
    assert told.out == ""
    assert "memsvc[nlp]" in told.err
