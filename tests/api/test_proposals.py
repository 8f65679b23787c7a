"""Proposals by the Python client: listed, accepted once, rejected for good, and nobody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.client import AsyncMemory, RefusedError
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Close, Edge, Evidence, Node, Thread
from memsvc.profiles.write import write_block
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep
from memsvc.sources.messages import MessageIn, append
from tests.api.conftest import Connect

HOSTILE = "<script>alert(1)</script> plays \u202echess.\u202c"


async def outdated(db: Database, owner: Owner, settings: Settings, *facts: str) -> None:
    """Make lines of the block "remembered" whose facts have ended since."""
    (said,) = await append(db, owner, [MessageIn(conversation="pond", text=" ".join(facts))], settings)
    assert said.passage_id is not None
    seen = [Evidence(passage_id=said.passage_id)]
    nodes = [Node(type="Person", label="Rui"), *(Node(type="Concept", label=f"thing {n}") for n in range(len(facts)))]
    edges = [
        Edge(from_node=0, type="LIKES", to_node=n, fact=fact, evidence=seen)
        for n, fact in enumerate(facts, 1)
    ]  # fmt: skip
    made = await write(db, owner, [*nodes, *edges], asserted_by="tests")
    await write_block(db, owner, "remembered", "\n".join(facts), evidence=[said.passage_id])
    left = datetime.now(UTC) - timedelta(days=1)
    ends = [Close(thread=Thread(edge=one.edge_id), at=left) for one in made.results if one.edge_id is not None]
    await write(db, owner, ends, asserted_by="tests")
    await sleep(db, owner, ["promotion"], settings=settings)


Made = Callable[[Owner], Awaitable[AsyncMemory]]


@pytest.fixture
async def make(api: Litestar, connect: Connect) -> AsyncIterator[Made]:
    """Makes a user's memory, as a program has it."""
    async with AsyncExitStack() as stack:

        async def made(owner: Owner) -> AsyncMemory:
            key = (await connect("read", "write", user=owner)).headers["Authorization"].removeprefix("Bearer ")
            transport = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
            return await stack.enter_async_context(AsyncMemory("http://memsvc.test", key, transport=transport))

        yield made


async def test_proposals_are_listed_accepted_once_and_rejected_for_good(
    make: Made, db: Database, owner: Owner, other: Owner, settings: Settings
) -> None:
    memory, stranger = await make(owner), await make(other)
    await outdated(db, owner, settings, HOSTILE, "Rui likes tea.")
    found = {one.text: one async for one in memory.proposals(kind="outdated", page=1)}
    assert set(found) == {HOSTILE, "Rui likes tea."}
    assert {(one.block, one.instead) for one in found.values()} == {("remembered", None)}
    assert [one async for one in memory.proposals(kind="link")] == []
    assert [one async for one in stranger.proposals()] == []
    with pytest.raises(RefusedError, match="proposal"):
        await stranger.accept_proposal(found[HOSTILE].proposal_id)

    done = await memory.accept_proposal(found[HOSTILE].proposal_id)
    assert (done.state, done.block) == ("accepted", "remembered")
    assert (await memory.read_block("remembered")).text == "Rui likes tea."
    assert (await memory.accept_proposal(found[HOSTILE].proposal_id)).state == "accepted"
    assert (await memory.reject_proposal(found["Rui likes tea."].proposal_id)).state == "rejected"
    await sleep(db, owner, ["promotion"], settings=settings)
    assert [one async for one in memory.proposals()] == []
    assert [one.state async for one in memory.proposals(status="rejected")] == ["rejected"]
    assert (await memory.read_block("remembered")).text == "Rui likes tea."
