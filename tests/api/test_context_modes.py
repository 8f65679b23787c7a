"""Modes of contexts: short lines for every turn, more around the best where there is time, through every door."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from litestar import Litestar

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.options import EFFORTS
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.api.conftest import client_of, running
from tests.api.mcp_clients import NEW, mcp_client, use
from tests.fakes.upstream import says, serving

FILLING = " ".join(f"On day {n} it rained and we stayed at home." for n in range(30))
LONG = f"{FILLING} Ines wants an oak worktop. {FILLING}"
TURNS = ["Hello.", "Who builds it?", "Tell me of the worktop.", LONG, "Noted.", "Anything else?", "No."]
QUESTION = "Which oak worktop does Ines want?"
NOTED = "SELECT door, mode FROM memsvc.recall_events WHERE user_id = %s ORDER BY at, door"


@pytest.fixture
async def said(db: Database, owner: Owner, settings: Settings) -> None:
    """A talk with one long message in the middle, which has several parts."""
    messages = [MessageIn(conversation="talk", ordinal=n, speaker="Ada", text=text) for n, text in enumerate(TURNS)]
    await append(db, owner, messages, settings)


async def shown(db: Database, owner: Owner, settings: Settings, **options: Any) -> list[tuple[str, str]]:
    """What stands among the memories: kinds and texts."""
    chosen = ContextOptions(limit=1, budget_tokens=4_000, **options)
    found = await build_context(db, owner, QUESTION, settings, options=chosen)
    assert "oak worktop" in found.memories[0].text
    assert len(found.memories[0].text) > 200, "the answer has all of it, whatever the block shows"
    return [(item.kind, item.text) for section in found.sections for item in section.items]


async def test_eager_shows_what_was_asked_for_in_a_short_line(
    db: Database, owner: Owner, settings: Settings, said: None
) -> None:
    [(kind, text)] = await shown(db, owner, settings, mode="eager")
    assert kind == "message"
    assert text.startswith("… Ines wants an oak worktop. On day 0 it rained")
    assert len(text.strip("… ")) <= (EFFORTS["eager"].chars or 0)


async def test_deliberate_shows_the_rest_of_a_long_message_and_two_passages_each_way(
    db: Database, owner: Owner, settings: Settings, said: None
) -> None:
    balanced = await shown(db, owner, settings, mode="balanced")
    assert balanced == await shown(db, owner, settings), "what nobody chose is balanced"
    [best] = [text for kind, text in balanced if kind == "message"]
    assert [text for _, text in balanced] == [best], "it can be read without what stands around it"

    deliberate = [text for _, text in await shown(db, owner, settings, mode="deliberate")]
    place = deliberate.index(best)
    assert (place, len(deliberate)) == (2, 5)
    everything = "".join(deliberate)
    assert len([text for text in deliberate if text in LONG]) > 1, "parts of the same message, in its order"
    assert "".join(text for text in deliberate if text in LONG) in LONG
    assert everything in "".join(TURNS)
    assert [kind for kind, _ in await shown(db, owner, settings, mode="deliberate", neighbours=False)] == ["message"]


async def test_every_door_takes_a_mode_and_notes_it(
    ada: httpx.AsyncClient, api: Litestar, owner: Owner, admin: psycopg.Connection, said: None
) -> None:
    asked: dict[str, Any] = {"query": QUESTION, "mode": "eager"}
    hook = {"conversation": "now", "text": QUESTION, "mode": "deliberate"}
    blocks = [
        (await ada.post("/v1/context", json=asked)).json()["text"],
        (await ada.get("/context", params=asked)).json()["text"],
    ]
    async with mcp_client(api, ada, NEW) as client:
        blocks += [(await use(client, door, **asked))[0] for door in ("get_context", "recall")]
    for block in blocks:
        assert "“… Ines wants an oak worktop." in block
    assert "“… Ines wants" not in (await ada.post("/v1/hooks/message", json=hook)).json()["text"]
    assert [tuple(row) for row in admin.execute(NOTED, [owner.user_id]).fetchall()] == [
        ("context", "eager"), ("context", "eager"), ("mcp", "eager"), ("mcp", "eager"), ("hook", "deliberate"),
    ]  # fmt: skip
    for answer in (
        await ada.post("/v1/context", json=asked | {"mode": "fast"}),
        await ada.get("/context", params=asked | {"mode": "fast"}),
        await ada.post("/v1/hooks/message", json=hook | {"mode": "fast"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


@pytest.mark.usefixtures("said")
async def test_a_chat_has_the_mode_of_the_settings(
    db: Database, app: UUID, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    key = await create_key(db, app, scopes=("read", "write"), user_id=owner.user_id)
    async with serving() as fake:
        chosen = settings.model_copy(update={"chat_url": fake.url, "chat_model": "m-1", "chat_mode": "eager"})
        fake.act = says("Oak.")
        async with running(create_app(chosen, db)) as made, client_of(made, Authorization=f"Bearer {key}") as client:
            asked = {"model": "memsvc", "messages": [{"role": "user", "content": QUESTION}]}
            assert (await client.post("/v1/chat/completions", json=asked)).status_code == 200
            assert "“… Ines wants an oak worktop." in fake.memory
            for _ in range(100):  # noted behind the answer
                if noted := admin.execute(NOTED, [owner.user_id]).fetchall():
                    break
                await asyncio.sleep(0.05)
    assert [tuple(row) for row in noted] == [("chat", "eager")]


async def test_a_mode_that_is_none_is_refused(db: Database, owner: Owner, settings: Settings) -> None:
    with pytest.raises(InvalidRequestError, match="mode is one of: eager, balanced, deliberate"):
        await build_context(db, owner, "oak", settings, options=ContextOptions(mode="fast"))  # type: ignore[arg-type]
    assert set(EFFORTS) == set(Settings.model_fields["chat_mode"].annotation.__args__)  # type: ignore[union-attr]
