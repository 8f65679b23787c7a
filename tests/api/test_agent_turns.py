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
from memsvc.turns.files import read_file
from memsvc.turns.storing import StoredTurn, TurnIn
from tests.api.conftest import Connect
from tests.api.mcp_clients import is_fenced, mcp_client, refused, use


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


async def test_a_file_is_read_with_what_is_known_about_it(
    memory: AsyncMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".memsvc-project").write_text("shop\n")
    (file := tmp_path / "auth.py").write_text("one")
    async with memory.turn("monday", project=tmp_path, agent="claude") as turn:
        turn.user("Look.")
        first = await turn.read_document("auth.py")
        turn.tool("WRITE", "auth.py", arguments={"content": "two"})
        file.write_text("two")
        turn.tool("EDIT", "auth.py")
    assert (first.text, first.version, first.seen, first.told) == ("one", 1, None, "not seen before")
    file.write_text("three")
    async with memory.turn("tuesday", project=tmp_path, agent="codex") as turn:
        turn.user("Look again.")
        again = await turn.read_document("auth.py", content=False)
        same = await turn.read_document("auth.py")
        with pytest.raises(FileNotFoundError):
            await turn.read_document("gone.py")
    assert (again.version, again.seen, again.staleness, again.told) == (3, 2, 1, "changed since: v2 → v3")
    assert (same.version, same.told, same.changing) == (3, "unchanged since: v3", False)
    assert again.document_id is not None
    assert again.change is not None
    assert (again.change.cause, again.change.agent, again.change.tool) == ("external", "codex", "READ")
    versions = [one async for one in memory.document_versions(again.document_id, page=1)]
    assert [(one.version, one.cause, one.conversation) for one in versions] == [
        (3, "external", "tuesday"), (2, "inbound", "monday"), (1, "external", "monday"),
    ]  # fmt: skip
    page = await memory.document_staleness(again.document_id, limit=1)
    rest = await memory.document_staleness(again.document_id, cursor=page.next_cursor)
    assert (page.document, page.version, page.familiarity) == ("shop//auth.py", 3, 2)
    assert [(one.agent, one.version, one.staleness, one.wrote) for one in (*page.items, *rest.items)] == [
        ("codex", 3, 0, False), ("claude", 2, 1, True),
    ]  # fmt: skip
    assert rest.next_cursor is None
    with pytest.raises(RefusedError) as met:
        await memory.document_staleness("0197b7c0-0000-7000-8000-000000000000")
    assert met.value.code == "document_unknown"
    ticks = iter(range(100))
    monkeypatch.setattr("memsvc.turns.files._state", lambda _stat: (next(ticks), 0, 0))
    assert read_file(file).changing
    (binary := tmp_path / "x.bin").write_bytes(b"\xff\0")
    assert read_file(binary).text is None


async def test_an_assistant_records_its_work_and_finds_it_by_mcp(api: Litestar, connect: Connect, owner: Owner) -> None:
    async with mcp_client(api, await connect("read", "write", user=owner)) as client:
        calls = [
            {"tool": "READ", "target": "src/auth.py", "result": "import bcrypt"},
            {"tool": "BASH", "target": "pip install psycopg2", "result": "Error: no pg_config", "ok": False},
        ]
        turn = {"request": "Fix the login.", "calls": calls, "answer": "Done.", "project": "shop", "id": "t"}
        told, stored = await use(client, "record_turn", **turn, agent="robot")
        assert (told, stored["outcome"], stored["versions"]) == ("Recorded, with 2 calls.", "created", 1)
        assert (await use(client, "record_turn", **turn))[1]["outcome"] == "existing"
        assert await refused(client, "record_turn", **turn | {"request": "Else."}) == "turn_conflict"
        text, found = await use(client, "past_work", query="Nobody can log in", files=["src/auth.py"], project="shop")
        assert is_fenced(text)
        [past] = found["turns"]
        assert past["calls"] == ["READ src/auth.py", "BASH pip install psycopg2 — failed: Error: no pg_config"]
        assert past["documents"] == ["shop//src/auth.py: unchanged since: v1"]
        for narrow in ({"agent": "other"}, {"ok": True}, {"conversation": "agent"}):
            assert (await use(client, "past_work", query="login", **narrow))[1]["turns"] == [], narrow
        assert len((await use(client, "past_work", agent="robot"))[1]["turns"]) == 1
