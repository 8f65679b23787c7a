"""The reference client of the drop-in door (examples/chat_client.py), as a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.served import served
from tests.fakes.upstream import Asked, FakeUpstream, response, says, serving

CLIENT = Path(__file__).resolve().parents[2] / "examples" / "chat_client.py"


@pytest.fixture(scope="module")
async def world(db: Database, settings: Settings) -> AsyncIterator[tuple[str, FakeUpstream]]:
    """The application over real HTTP, before a chat server of ours."""
    async with serving() as fake:
        chosen = settings.model_copy(update={"chat_url": fake.url, "chat_model": "m-1", "chat_memory_ms": 5_000})
        async with served(create_app(chosen, db)) as address:
            yield address, fake


@pytest.fixture
def upstream(world: tuple[str, FakeUpstream]) -> FakeUpstream:
    """The chat server."""
    world[1].act, world[1].asked = says(), []
    return world[1]


@pytest.fixture
async def ada(
    world: tuple[str, FakeUpstream], db: Database, app: UUID, owner: Owner
) -> AsyncIterator[httpx.AsyncClient]:
    """Ada, with the key that the client gets."""
    key = await create_key(db, app, scopes=("read", "write", "forget"), user_id=owner.user_id)
    async with httpx.AsyncClient(base_url=world[0], headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        yield client


async def stored(client: httpx.AsyncClient, conversation: str) -> list[str]:
    """The texts that a conversation holds."""
    answer = await client.get(f"/v1/conversations/{conversation}/messages")
    return [one["text"] for one in answer.json().get("items", [])]


async def test_the_reference_client_talks(
    world: tuple[str, FakeUpstream], ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    upstream.act = says("Noted indeed.")
    key = ada.headers["Authorization"].removeprefix("Bearer ")
    client = await asyncio.create_subprocess_exec(
        sys.executable, CLIENT, "--url", world[0], "--conversation", "Küche 台所",
        env={**os.environ, "MEMSVC_KEY": key}, stdin=PIPE, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    lines = "My dog is called Pixel.\nWhat is my dog called?\n/why\n/off\nBetween us.\n/why\n/forget\n\n"
    said, complained = await asyncio.wait_for(client.communicate(lines.encode()), 20)
    assert complained == b""
    answers = said.decode().splitlines()
    assert answers[:2] == ["Notedindeed.", "Notedindeed."]
    off = answers.index("Memory is off.")
    names, texts = zip(*(line.split(" ", 1) for line in answers[2:off]), strict=True)
    assert "My dog is called Pixel." in texts
    assert all(name in upstream.asked[1].memory for name in names), "what was given, not what would be now"
    assert "What is my dog called?" not in texts
    assert answers[off + 2] == "No memories."
    assert '"passages": 4' in answers[-1]
    assert await stored(ada, "Küche 台所") == []


async def test_the_reference_client_prints_errors_of_any_form(
    world: tuple[str, FakeUpstream], ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    errors = iter(
        [
            response({"error": {"message": "slow down", "code": "rate"}}, 429),
            response({"error": "model not found"}, 404),
            response(b"<h1>Bad gateway</h1>", 502, "text/html"),
            b"",
        ]
    )

    async def act(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(next(errors))
        await writer.drain()

    upstream.act = act
    key = ada.headers["Authorization"].removeprefix("Bearer ")
    client = await asyncio.create_subprocess_exec(
        sys.executable, CLIENT, "--url", world[0], env={**os.environ, "MEMSVC_KEY": key},
        stdin=PIPE, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    said, complained = await asyncio.wait_for(client.communicate(b"One.\nTwo.\nThree.\nFour.\n/help\n\n"), 20)
    limited, unknown, page, unreachable = complained.decode().splitlines()
    assert (limited, unknown) == ("slow down", "model not found")
    assert page.endswith("<h1>Bad gateway</h1>")
    assert unreachable.startswith("The chat server ")
    assert said.decode().splitlines() == ["Commands: /why, /on, /off and /forget."], "it goes on"
