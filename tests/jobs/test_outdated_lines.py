"""Lines of core memory that a later fact ended or contradicts are proposed to be changed, and changed one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import ProposalDecidedError, ProposalUnknownError
from memsvc.graph.history import Result, assert_facts, write
from memsvc.graph.operations import Annotate, Close, Edge, Evidence, Node, Thread
from memsvc.profiles.read import history, read_block
from memsvc.profiles.write import write_block
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sleep.promotion import Promotion
from memsvc.sleep.proposals import Proposed, accept, proposals, reject
from memsvc.sleep.runner import sleep
from memsvc.sleep.undoing import undo_run
from memsvc.sources.messages import MessageIn, append

NOW = datetime.now(UTC)
LIVES, WORKS, TEA = "I live in Porto.", "I work at Lidl with Bo.", "I like tea."
BLOCK = f"Call me Ada.\n{LIVES} Since 2024.\n{WORKS}\n{TEA}"


class Told:
    """What is known of a user, as told by messages that lines of two core blocks rest on."""

    def __init__(self, db: Database, owner: Owner, settings: Settings) -> None:
        self.db, self.owner, self.settings = db, owner, settings
        self.said: dict[str, UUID] = {}
        self.nodes: list[UUID] = []
        self.work: UUID | None = None
        self.tea: UUID | None = None

    async def say(self, text: str) -> UUID:
        (stored,) = await append(self.db, self.owner, [MessageIn(conversation="talk", text=text)], self.settings)
        assert stored.passage_id is not None
        self.said[text] = stored.passage_id
        return stored.passage_id

    async def begin(self) -> None:
        """Ada lives in Porto, works at Lidl and likes tea; two blocks say so."""
        made = await write(
            self.db, self.owner,
            [Node(type="Person", label="Ada"), Node(type="Place", label="Porto"), Node(type="Place", label="Lisbon"),
             Node(type="Organization", label="Lidl"), Node(type="Concept", label="tea")],
            asserted_by="tests",
        )  # fmt: skip
        self.nodes = [one.node_id for one in made.results if one.node_id is not None]
        for text in (LIVES, WORKS, TEA):
            await self.say(text)
        await self.learn(LIVES, "LIVES_IN", 1, "Ada lives in Porto.", days=-90)
        self.work = (await self.learn(WORKS, "WORKS_AT", 3, "Ada works at Lidl.", days=-90)).edge_id
        self.tea = (await self.learn(TEA, "LIKES", 4, "Ada likes tea.", days=-90)).versions[0]
        await write_block(self.db, self.owner, "preferences", "Call me Ada.")
        text = "Call me Ada."
        for line in BLOCK.split("\n")[1:]:
            text = f"{text}\n{line}"
            passage = next(self.said[said] for said in self.said if line.startswith(said))
            await write_block(self.db, self.owner, "preferences", text, evidence=[passage])
        await write_block(self.db, self.owner, "remembered", "Ada lives in Porto.", evidence=[self.said[LIVES]])
        await run_due(self.db)

    async def learn(self, said: str, type_: str, to_node: int, fact: str, *, days: int, **more: Any) -> Result:
        edge = Edge(
            from_node=self.nodes[0], type=type_, to_node=self.nodes[to_node], fact=fact,
            valid_from=NOW + timedelta(days=days), evidence=[Evidence(passage_id=self.said[said])], **more,
        )  # fmt: skip
        change = await assert_facts(self.db, self.owner, [edge], asserted_by="tests")
        return change.results[0]

    async def move(self) -> None:
        """Ada moves to Lisbon, which ends that she lives in Porto."""
        await self.say("I moved to Lisbon.")
        await self.learn("I moved to Lisbon.", "LIVES_IN", 2, "Ada lives in Lisbon.", days=-3)

    async def night(self, **more: Any) -> Any:
        runs = await sleep(self.db, self.owner, ["promotion"], settings=self.settings, **more)
        return runs[0] if runs else None

    async def waiting(self) -> dict[str, Proposed]:
        """Open proposals about lines, by the line."""
        found = (await proposals(self.db, self.owner, kind="outdated")).items
        return {one.text or str(one.proposal_id): one for one in found}


@pytest.fixture
async def told(db: Database, owner: Owner, settings: Settings) -> Told:
    told = Told(db, owner, settings)
    await told.begin()
    return told


async def test_nothing_is_proposed_while_all_lines_hold(told: Told) -> None:
    assert not await Promotion().has_work(told.db, told.owner)
    await told.night()
    assert await told.waiting() == {}


async def test_a_line_whose_fact_ended_is_replaced_by_what_holds_now_and_others_stay(told: Told) -> None:
    await told.move()
    assert await Promotion().has_work(told.db, told.owner)
    assert (await told.night()).proposed == 2
    found = await told.waiting()
    assert {(line, one.instead, one.block, round(one.score, 3)) for line, one in found.items()} == {
        (f"{LIVES} Since 2024.", "Ada lives in Lisbon.", "preferences", 0.9),
        ("Ada lives in Porto.", "Ada lives in Lisbon.", "remembered", 0.9),
    }
    assert not await Promotion().has_work(told.db, told.owner)
    assert (await told.night()).proposed == 0, "once"

    before = await read_block(told.db, told.owner, "preferences")
    done = await accept(told.db, told.owner, found[f"{LIVES} Since 2024."].proposal_id, by="ada")
    after = await read_block(told.db, told.owner, "preferences")
    assert (done.block, done.block_version, after.asserted_by) == ("preferences", before.version + 1, "ada")
    assert after.text == BLOCK.replace(f"{LIVES} Since 2024.", "Ada lives in Lisbon.")
    rests = {line: one.passage_id for one in after.evidence for line in one.lines}
    assert rests == {2: told.said["I moved to Lisbon."], 3: told.said[WORKS], 4: told.said[TEA]}
    assert (await read_block(told.db, told.owner, "remembered")).text == "Ada lives in Porto.", "one line at a time"
    assert (await history(told.db, told.owner, "preferences"))[1].text == BLOCK
    again = await accept(told.db, told.owner, done.proposal_id)
    assert (again.state, again.block) == ("accepted", None)
    assert (await read_block(told.db, told.owner, "preferences")).version == after.version
    await told.night()
    assert set(await told.waiting()) == {"Ada lives in Porto."}


async def test_a_line_that_nothing_follows_goes_and_one_that_is_disputed_is_doubted(told: Told) -> None:
    assert told.work is not None
    assert told.tea is not None
    left = Close(thread=Thread(edge=told.work), at=NOW - timedelta(days=1))
    dispute = Annotate(version=told.tea, stance="disputed", evidence=[Evidence(passage_id=told.said[TEA])])
    await write(told.db, told.owner, [left, dispute], asserted_by="user")
    await told.night()
    found = await told.waiting()
    assert {(line, one.instead, round(one.score, 3)) for line, one in found.items()} == {
        (WORKS, None, 0.7), (TEA, None, 0.5),
    }  # fmt: skip
    await accept(told.db, told.owner, found[WORKS].proposal_id)
    await reject(told.db, told.owner, found[TEA].proposal_id)
    assert (await read_block(told.db, told.owner, "preferences")).text == BLOCK.replace(f"{WORKS}\n", "")
    await told.night()
    assert await told.waiting() == {}, "what was rejected never comes back"


async def test_what_had_ended_when_the_line_was_written_is_meant_so(told: Told) -> None:
    await told.say("I lived in Lisbon until 2020.")
    await told.learn(
        "I lived in Lisbon until 2020.", "PART_OF", 2, "Ada was part of Lisbon.", days=-3_000,
        valid_to=NOW - timedelta(days=2_000),
    )  # fmt: skip
    passage = told.said["I lived in Lisbon until 2020."]
    await write_block(told.db, told.owner, "past", "Ada was part of Lisbon.", evidence=[passage])
    await told.night()
    assert await told.waiting() == {}


async def test_a_line_that_was_changed_meanwhile_stays_as_it_was_changed(told: Told) -> None:
    await told.move()
    run = await told.night()
    mine = (await told.waiting())["Ada lives in Porto."]
    await write_block(told.db, told.owner, "remembered", "I am in Lisbon now.")
    with pytest.raises(ProposalDecidedError, match="does not stand there"):
        await accept(told.db, told.owner, mine.proposal_id)
    assert (await told.waiting())[str(mine.proposal_id)].text is None
    await told.say("Something new.")
    await told.night()
    assert set(await told.waiting()) == {f"{LIVES} Since 2024."}
    assert (await undo_run(told.db, told.owner, run.run_id, told.settings)).other == 1
    assert await told.waiting() == {}
    assert (await read_block(told.db, told.owner, "preferences")).text == BLOCK


async def test_a_proposal_goes_with_the_fact_that_it_rests_on_and_other_users_have_none(
    told: Told, other: Owner
) -> None:
    await told.move()
    await told.night()
    mine = (await told.waiting())["Ada lives in Porto."]
    assert (await proposals(told.db, other)).items == []
    with pytest.raises(ProposalUnknownError):
        await accept(told.db, other, mine.proposal_id)
    receipt = await erase(told.db, told.owner, "passage", told.said[LIVES], requested_by="tests")
    assert receipt.verified
    assert await told.waiting() == {}
    with pytest.raises(ProposalUnknownError):
        await accept(told.db, told.owner, mine.proposal_id)
