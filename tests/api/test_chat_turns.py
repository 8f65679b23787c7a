"""Agents that work through the drop-in door: their calls of tools become turns, whole and once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.served import served
from tests.fakes.upstream import (
    Asked,
    FakeUpstream,
    completion,
    message,
    model_response,
    output_message,
    response,
    says,
    serving,
)

Body = dict[str, Any]
ASKED, DONE = "Fix the login test.", "It is green: I pinned bcrypt."
TOKEN = "ghp_" + "a1" * 18
STEPS: list[list[tuple[str, Body, str]]] = [
    [("read_file", {"path": "src/auth.py"}, "import bcrypt"), ("bash", {"command": f"push {TOKEN}"}, "Error: denied")],
    [("write_file", {"path": "src/auth.py", "content": "import bcrypt4"}, "written")],
]
"""What the scripted model calls, with what the tools return."""
CALLS = [
    ("READ_FILE", "shop//src/auth.py", 1, True, False), ("BASH", None, None, False, False),
    ("WRITE_FILE", "shop//src/auth.py", 2, True, True),
]  # fmt: skip


@pytest.fixture(scope="module")
async def world(db: Database, settings: Settings) -> AsyncIterator[tuple[str, FakeUpstream]]:
    """The application over real HTTP, before a chat server of ours."""
    async with serving() as fake:
        chosen = settings.model_copy(
            update={"chat_url": fake.url, "chat_model": "m", "anthropic_url": fake.url, "chat_memory_ms": 9_000}
        )
        async with served(create_app(chosen, db)) as address:
            yield address, fake


@pytest.fixture
async def ada(
    world: tuple[str, FakeUpstream], db: Database, app: UUID, owner: Owner
) -> AsyncIterator[httpx.AsyncClient]:
    """Ada's agent."""
    key = await create_key(db, app, scopes=("read", "write", "forget"), user_id=owner.user_id)
    headers = {
        "Authorization": f"Bearer {key}", "X-Memsvc-Conversation": "kitchen", "X-Memsvc-Agent": "robot",
        "X-Memsvc-Project": "shop",
    }  # fmt: skip
    async with httpx.AsyncClient(base_url=world[0], headers=headers, timeout=20) as client:
        yield client


@pytest.fixture
def rows(admin: psycopg.Connection, owner: Owner) -> Callable[[str], list[tuple[Any, ...]]]:
    """Rows of a statement about the user."""
    return lambda what: admin.execute(what.replace("USER", f"'{owner.user_id}'").encode()).fetchall()


def ends(path: str, body: Body) -> Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]:
    """Answers one request with this."""

    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        assert asked.path.endswith(path)
        writer.write(response(body))
        await writer.drain()

    return act


async def said(client: httpx.AsyncClient, fake: FakeUpstream, path: str, body: Body, answer: Body) -> Body:
    fake.act = ends(path.removeprefix("/anthropic/v1").removeprefix("/v1"), answer)  # type: ignore[assignment]
    answered = await client.post(path, json=body)
    assert (answered.status_code, answered.headers["X-Memsvc-Memory"]) == (200, "ok"), dict(answered.headers)
    return body


async def completions(client: httpx.AsyncClient, fake: FakeUpstream) -> Body:
    """An agent that sends its whole history with each request."""
    messages: list[Body] = [{"role": "system", "content": "Work."}, {"role": "user", "content": ASKED}]
    for step, calls in enumerate(STEPS):
        made = [
            {"id": f"c{step}.{at}", "type": "function", "function": {"name": tool, "arguments": json.dumps(given)}}
            for at, (tool, given, _) in enumerate(calls)
        ]
        answer = completion(None, "tool_calls", tool_calls=made)
        await said(client, fake, "/v1/chat/completions", {"model": "m", "messages": messages}, answer)
        messages = [*messages, answer["choices"][0]["message"]]
        messages += [
            {"role": "tool", "tool_call_id": f"c{step}.{at}", "content": told} for at, (_, _, told) in enumerate(calls)
        ]
    body = {"model": "m", "messages": messages}
    return await said(client, fake, "/v1/chat/completions", body, completion(DONE))


async def responses(client: httpx.AsyncClient, fake: FakeUpstream) -> Body:
    """An agent whose server keeps the history: each request has only what is new."""
    body: Body = {"model": "m", "input": [{"role": "user", "content": ASKED}]}
    for step, calls in enumerate(STEPS):
        made = [
            {"type": "function_call", "id": f"i{at}", "call_id": f"c{step}.{at}", "name": tool,
             "arguments": json.dumps(given)}
            for at, (tool, given, _) in enumerate(calls)
        ]  # fmt: skip
        answer = model_response(*made) | {"id": f"resp_{step}"}
        await said(client, fake, "/v1/responses", body, answer)
        told = [
            {"type": "function_call_output", "call_id": f"c{step}.{at}", "output": told}
            for at, (_, _, told) in enumerate(calls)
        ]
        body = {"model": "m", "previous_response_id": f"resp_{step}", "input": told}
    return await said(client, fake, "/v1/responses", body, model_response(output_message(DONE)))


async def anthropic(client: httpx.AsyncClient, fake: FakeUpstream) -> Body:
    """An agent of Anthropic's API, whose app says more beside a result."""
    messages: list[Body] = [{"role": "user", "content": ASKED}]
    for step, calls in enumerate(STEPS):
        made = [
            {"type": "tool_use", "id": f"c{step}.{at}", "name": tool, "input": given}
            for at, (tool, given, _) in enumerate(calls)
        ]
        body = {"model": "m", "max_tokens": 9, "messages": messages}
        await said(client, fake, "/anthropic/v1/messages", body, message(*made, stop="tool_use"))
        results = [
            {"type": "tool_result", "tool_use_id": f"c{step}.{at}", "content": told, "is_error": "Error" in told}
            for at, (_, _, told) in enumerate(calls)
        ]
        messages = [*messages, {"role": "assistant", "content": made}, {"role": "user", "content": results}]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    return await said(client, fake, "/anthropic/v1/messages", body, message({"type": "text", "text": DONE}))


PATHS = {completions: "/v1/chat/completions", responses: "/v1/responses", anthropic: "/anthropic/v1/messages"}


@pytest.mark.parametrize(("agent", "path"), PATHS.items())
async def test_an_agents_loop_leaves_one_whole_turn(
    world: tuple[str, FakeUpstream],
    ada: httpx.AsyncClient,
    rows: Callable[[str], list[tuple[Any, ...]]],
    agent: Callable[[httpx.AsyncClient, FakeUpstream], Awaitable[Body]],
    path: str,
) -> None:
    last = await agent(ada, world[1])
    turns = "SELECT agent, project, ended_at IS NOT NULL FROM memsvc.turns WHERE user_id = USER"
    calls = "SELECT tool, document, version, ok, wrote FROM memsvc.procedures WHERE user_id = USER ORDER BY number"
    texts = "SELECT ordinal, text FROM memsvc.passages WHERE user_id = USER AND kind = 'turn' ORDER BY ordinal"
    assert rows(turns) == [("robot", "shop", True)]
    assert rows(calls) == CALLS
    stored = rows(texts)
    assert [stored[0], stored[-1]] == [(0, ASKED), (2, DONE)]
    assert "BASH push [secret:github] — failed: Error: denied" in stored[1][1]
    assert rows("SELECT count(result_sha256) FROM memsvc.tool_calls WHERE user_id = USER") == [(3,)]
    assert TOKEN not in str(rows("SELECT arguments, result_head FROM memsvc.tool_calls WHERE user_id = USER"))
    world[1].act = says("Another answer.")
    assert (await ada.post(path, json=last)).status_code == 200
    assert (rows(turns), rows(calls), rows(texts)) == ([("robot", "shop", True)], CALLS, stored)
    found = (await ada.post("/v1/past-work", json={"query": ASKED, "agent": "robot", "tool": "bash"})).json()
    assert [(turn["conversation"], len(turn["calls"])) for turn in found["turns"]] == [("kitchen", 3)]
    assert rows("SELECT count(*) FROM memsvc.model_calls WHERE user_id = USER") == [(0,)]


@pytest.mark.parametrize("what", ["request", "answer", "conversation"])
async def test_erasing_the_chat_erases_the_turn_and_it_does_not_come_back(
    world: tuple[str, FakeUpstream], ada: httpx.AsyncClient, rows: Callable[[str], list[tuple[Any, ...]]], what: str
) -> None:
    last = await completions(ada, world[1])
    said_by = {"request": "user", "answer": "assistant"}.get(what)
    [(passage,)] = rows(
        f"SELECT passage_id FROM memsvc.passages WHERE user_id = USER AND kind = 'message' AND role = '{said_by}'"
    ) or [(None,)]
    path = f"/v1/messages/{passage}" if said_by else "/v1/conversations/kitchen"
    receipt = (await ada.delete(path)).json()
    assert (receipt["state"], receipt["leftovers"]) == ("done", {})
    assert receipt["counts"]["turns"] == 1
    left = (
        "SELECT (SELECT count(*) FROM memsvc.turns WHERE user_id = USER), "
        "(SELECT count(*) FROM memsvc.tool_calls WHERE user_id = USER), "
        "(SELECT count(*) FROM memsvc.passages WHERE user_id = USER AND kind = 'turn')"
    )
    assert rows(left) == [(0, 0, 0)]
    world[1].act = says(DONE)
    assert (await ada.post("/v1/chat/completions", json=last)).status_code == 200
    assert rows(left) == [(0, 0, 0)]


async def test_another_attempt_is_another_turn_and_one_that_the_user_left_ends(
    world: tuple[str, FakeUpstream], ada: httpx.AsyncClient, rows: Callable[[str], list[tuple[Any, ...]]]
) -> None:
    def work(name: str, command: str) -> list[Body]:
        call = {
            "id": name,
            "type": "function",
            "function": {"name": "bash", "arguments": f'{{"command": "{command}"}}'},
        }
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": name, "content": "fine"},
        ]

    asked: list[Body] = [{"role": "user", "content": ASKED}]
    for history, answer in (
        ([*asked, *work("call_0", "make")], "One."),
        ([*asked, *work("call_0", "make test")], "Two."),
        ([*asked, *work("call_0", "make"), *work("call_0", "again"), {"role": "user", "content": "Stop."}], "Three."),
    ):
        await said(ada, world[1], "/v1/chat/completions", {"messages": history}, completion(answer))
    assert rows(
        "SELECT string_agg(c.told, ',' ORDER BY c.number), bool_and(t.ended_at IS NOT NULL) FROM memsvc.turns AS t "
        "INNER JOIN memsvc.tool_calls AS c USING (user_id, turn_id) WHERE t.user_id = USER "
        "GROUP BY t.turn_id ORDER BY t.turn_id"
    ) == [("BASH make", True), ("BASH make test", True), ("BASH make,BASH again", True)]
