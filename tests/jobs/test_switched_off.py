"""Extraction, summaries and forgetting leave out kinds of sources, and turns of agents need none of them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.asking import ask_all
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep
from memsvc.sources.messages import MessageIn, append
from memsvc.summaries.stored import list_summaries
from memsvc.turns.history import document_staleness, document_versions
from tests.jobs.reading import Desk
from tests.jobs.test_forgetting import TELLING, pass_days
from tests.jobs.test_summaries import DAYS
from tests.sql import desk as agents

MAIL = {"origin": {"kind": "mail", "file": "box.mbox"}}
ODD: list[dict[str, Any]] = [{"origin": "mail"}, {"origin": {"kind": None}}, {"origin": ["mail"]}, {}]

WRITTEN = """
SELECT (SELECT count(*) FROM memsvc.node_versions WHERE user_id = USER),
  (SELECT count(*) FROM memsvc.edge_versions WHERE user_id = USER)
"""


async def told(db: Database, owner: Owner, settings: Settings, conversation: str, metadata: dict[str, Any]) -> None:
    said = [
        MessageIn(
            conversation=conversation, speaker="Ines", text=text, metadata=metadata, said_at=f"{day[:13]}:{n:02}:00"
        )
        for day, texts in DAYS.items()
        for n, text in enumerate(texts)
    ]
    await append(db, owner, said, settings)


async def test_no_facts_are_read_from_kinds_that_are_left_out_unless_that_source_is_named(desk: Desk) -> None:
    choosy = desk.settings.model_copy(update={"extractor": "saying", "extractor_skips": "slack, mail"})
    steps = all_steps(choosy, None)
    mail = await desk.say("I OWNS a boat.", conversation="mail", metadata=MAIL)
    for number, metadata in enumerate(ODD):
        await desk.say(f"I OWNS car{number}.", conversation=f"chat{number}", metadata=metadata)
    await run_due(desk.db, steps)
    others = sorted(f"I OWNS car{number}." for number in range(len(ODD)))
    assert desk.facts() == others
    asked = await ask_all(desk.db, desk.owner, desk.extractor, "saying", left_out=choosy.kinds_of("extractor_skips"))
    await run_due(desk.db, steps)
    assert desk.facts() == others
    assert len(asked.jobs) == 0
    await ask_all(desk.db, desk.owner, desk.extractor, "saying", source=mail, left_out=["mail"])
    await run_due(desk.db, steps)
    assert desk.facts() == sorted(["I OWNS a boat.", *others])
    await desk.say("I OWNS a bike.", conversation="mail", metadata=MAIL)
    await run_due(desk.db, steps)
    assert "I OWNS a bike." not in desk.facts()


async def test_summaries_leave_out_kinds_and_take_back_what_they_told_of_them(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await told(db, owner, settings, "mails", MAIL)
    await sleep(db, owner, ["summaries"], settings=settings.model_copy(update={"summaries_skip": "mail"}))
    assert (await list_summaries(db, owner)).items == []
    await told(db, owner, settings, "planning", {})
    await sleep(db, owner, ["summaries"], settings=settings)
    both = {one.node_id for one in (await list_summaries(db, owner, level="conversation")).items}
    await sleep(db, owner, ["summaries"], settings=settings.model_copy(update={"summaries_skip": "mail"}))
    left = {one.node_id for one in (await list_summaries(db, owner, level="conversation")).items}
    assert left < both
    assert (len(both), len(left)) == (2 * len(DAYS), len(DAYS))


@pytest.mark.parametrize(
    ("skips", "archived"),
    [(None, 4), ("mail", 3), ("messages", 3), ("mail,messages", 2), ("turns", 2), ("turns, mail ,messages", 0)],
)
async def test_forgetting_leaves_out_kinds_and_turns(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, *, skips: str | None, archived: int
) -> None:
    for conversation, metadata in (("mails", MAIL), ("pond", {})):
        await append(db, owner, [MessageIn(conversation=conversation, text=TELLING, metadata=metadata)], settings)
    await agents.Desk(db, settings, owner, admin).record(id="1", request="Fix the login test.", answer="It is green.")
    await run_due(db)
    pass_days(admin, owner, 4_000)
    forgets = settings.model_copy(update={"forgetting": True, "forgetting_skips": skips})
    [run] = await sleep(db, owner, ["forgetting"], settings=forgets)
    assert run.applied == archived


async def test_turns_need_no_extraction_no_summaries_and_no_sleep(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    off = settings.model_copy(
        update={
            "extractor": "none", "summaries": "off", "concepts": "off", "reflection": "off", "forgetting": False,
            "embedding_model": None,
        }
    )  # fmt: skip
    desk = agents.Desk(db, off, owner, admin)
    before = desk.rows(WRITTEN)
    first = [agents.read("a.py", "one"), agents.write("a.py", "two")]
    await desk.record(id="1", request="Fix the login test.", calls=first, answer="I pinned bcrypt.")
    await run_due(db, all_steps(off, None))
    later = [agents.read("a.py", "three")]
    await desk.record(id="2", conversation="tuesday", request="Look at it again.", calls=later)
    await run_due(db, all_steps(off, None))
    found = await desk.past("Fix the login", files=["a.py"], conversation="wednesday")
    assert {turn.request for turn in found.turns} == {"Fix the login test.", "Look at it again."}
    assert "I pinned bcrypt." in found.text
    assert "v2 → v3" in found.text
    [[document]] = desk.rows("SELECT source_id FROM memsvc.sources WHERE user_id = USER AND kind = 'document'")
    versions = (await document_versions(db, owner, document)).items
    assert [(one.version, one.cause) for one in versions] == [(3, "external"), (2, "inbound"), (1, "external")]
    touched = (await document_staleness(db, owner, document)).items
    assert [(one.id, one.version, one.staleness) for one in touched] == [("2", 3, 0), ("1", 2, 1)]
    assert desk.rows(WRITTEN) == before
    await sleep(db, owner, settings=off)
    again = await desk.past("Fix the login", files=["a.py"], conversation="wednesday")
    assert [turn.turn_id for turn in again.turns] == [turn.turn_id for turn in found.turns]
