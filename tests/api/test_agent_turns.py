"""Turns of agents over HTTP: by the Python client, piece by piece, and whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.client import AsyncMemory, RefusedError
from memsvc.client.turns import Turn
from memsvc.turns.draft import TurnDraft
from memsvc.turns.storing import StoredTurn, TurnIn
from tests.api.conftest import Connect


@pytest.fixture
async def memory(api: Litestar, connect: Connect, owner: Owner) -> AsyncIterator[AsyncMemory]:
    rest = await connect("read", "write", user=owner)
    key = rest.headers["Authorization"].removeprefix("Bearer ")
    way = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
    async with AsyncMemory("http://memsvc.test", key, transport=way) as made:
        yield made


async def test_an_agent_records_what_it_does_and_finds_it_again(memory: AsyncMemory, tmp_path: Path) -> None:
    (tmp_path / ".memsvc-project").write_text("shop\n")
    (tmp_path / "auth.py").write_text("one")
    (tmp_path / "link.py").symlink_to(tmp_path / "auth.py")
    async with memory.turn("monday", project=tmp_path, agent="claude") as turn:
        turn.user("Fix the login.")
        for _ in range(12):
            turn.tool("READ", "auth.py", result="   1 one")
        (tmp_path / "auth.py").write_text("two")
        turn.tool("EDIT", "link.py", arguments={"old": "one", "new": "two"})
        huge = "x" * 1_000_000 + "\nError: no pg_config"
        turn.tool("BASH", "pip install psycopg2", ok=False, result=huge, exit_code=1)
        turn.agent("Done.", ok=True, commit="abc")
    stored = turn.draft.stored
    assert stored is not None
    assert (stored.outcome, stored.done) == ("changed", True)
    found = await memory.past_work("Nobody can sign in.", files=["auth.py"], project="shop", root=str(tmp_path))
    [past] = found.turns
    assert (past.request, past.answer) == ("Fix the login.", "Done.")
    assert (past.ok, past.commit, past.agent) == (True, "abc", "claude")
    assert len(past.calls) == 14
    assert [(one.document, one.version, one.staleness, one.wrote) for one in past.documents] == [
        ("shop//auth.py", 2, 0, True)
    ]
    assert "BASH pip install psycopg2 — failed: Error: no pg_config" in found.text
    turn = memory.turn("monday", id="broken")
    turn.user("Divide.")
    with pytest.raises(ZeroDivisionError):
        async with turn:
            raise ZeroDivisionError
    failed = await memory.past_work("Divide.", ok=False)
    assert [(one.id, one.ok, one.done) for one in failed.turns] == [("broken", False, True)]


async def test_a_turn_over_http_is_stored_once_and_refused_if_it_differs(memory: AsyncMemory) -> None:
    turn = {"conversation": "c", "id": "1", "request": "Ask."}
    assert [(await memory.record_turn(turn)).outcome for _ in range(2)] == ["created", "existing"]
    with pytest.raises(RefusedError) as met:
        await memory.record_turn({**turn, "request": "Else."})
    assert met.value.code == "turn_conflict"


def test_the_sync_client_sends_the_first_call_then_every_tenth_and_the_rest() -> None:
    sent: list[TurnIn] = []

    def send(part: TurnIn) -> StoredTurn:
        sent.append(part)
        return StoredTurn(
            outcome="created", turn_id=None, conversation_id=None, done=part.done, calls=0, versions=0, job_id=None
        )

    with Turn(send, TurnDraft("c", {"id": "t"})) as turn:
        turn.user("One.")
        turn.user("Two.")
        for number in range(12):
            turn.tool("WEB_SEARCH", f"q{number}")
        turn.user("Three.")
        turn.agent("Done.")
    assert [(len(part.calls), part.done, part.request) for part in sent] == [
        (1, False, "One.\n\nTwo."), (10, False, "One.\n\nTwo."), (2, True, "One.\n\nTwo."),
    ]  # fmt: skip
    assert [call.number for part in sent for call in part.calls] == list(range(13))
    assert sent[-1].calls[-1].arguments == {"text": "Three."}
