"""What the drop-in door stores of a request: all that is new of it, nothing twice; and what it says of the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.keys import create_key
from memsvc.access.users import Owner, add_user
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.extract.run import Extractors
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.served import served
from tests.fakes.upstream import FakeUpstream, completion, response, says, sends, serving

Message = dict[str, Any]
KITE, CANOE = "I have a kite.", "And I own a canoe."
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 5_000}"}}


def user(content: str | list[Message], **more: Any) -> Message:
    """A message of the user."""
    return {"role": "user", "content": content, **more}


def assistant(content: str | None, **more: Any) -> Message:
    """A message of the assistant."""
    return {"role": "assistant", "content": content, **more}


def called(number: int, **arguments: Any) -> list[Message]:
    """A call of a tool, and its result."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": str(arguments)}}
    return [
        assistant(None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"Result {number}."},
    ]


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
    world: tuple[str, FakeUpstream], upstream: FakeUpstream, db: Database, app: UUID, owner: Owner
) -> AsyncIterator[httpx.AsyncClient]:
    """Ada's client."""
    key = await create_key(db, app, scopes=("read", "write", "forget"), user_id=owner.user_id)
    async with httpx.AsyncClient(base_url=world[0], headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        yield client


Say = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
def say(ada: httpx.AsyncClient) -> Say:
    """Sends a request with these messages; memory must be ok."""

    async def said(*messages: Message, memory: str = "ok", **headers: str) -> httpx.Response:
        answer = await ada.post("/v1/chat/completions", json={"messages": messages}, headers=headers)
        assert answer.headers["X-Memsvc-Memory"] == memory, answer.headers
        return answer

    return said


@pytest.fixture
def stored(ada: httpx.AsyncClient) -> Callable[..., Awaitable[list[str]]]:
    """What the conversation has of the user, or of other roles."""

    async def found(*roles: str) -> list[str]:
        answer = await ada.get("/v1/conversations/chat/messages", params={"limit": 200})
        return [one["text"] for one in answer.json().get("items", []) if one["role"] in (roles or ("user", "other"))]

    return found


Stored = Callable[..., Awaitable[list[str]]]


@pytest.mark.parametrize(
    "more",
    [
        [user(CANOE)],
        [assistant("{")],
        [{"role": "developer", "content": "Be brief."}],
        [{"role": "system", "content": "Be brief."}, assistant("{")],
        [user([PICTURE])],
        [user("")],
        called(1),
    ],
    ids=["row", "prefill", "developer", "both", "picture", "empty", "tool"],
)
async def test_what_the_user_says_is_stored_wherever_it_stands(say: Say, stored: Stored, more: list[Message]) -> None:
    said = [KITE, *(one["content"] for one in more if one["content"] == CANOE)]
    for _ in range(2):  # also when it is sent again
        await say(user(KITE), *more)
        assert await stored() == said
    # and the conversation goes on behind it
    await say(user(KITE), *more, assistant("Noted."), user("And a sledge."), user("And skis."))
    assert await stored() == [*said, "And a sledge.", "And skis."]


async def test_it_is_stored_once_if_no_answer_came(say: Say, stored: Stored, upstream: FakeUpstream) -> None:
    upstream.act = sends(response({"error": {"message": "no"}}, 500))
    await say(user(KITE))
    await say(user(KITE), user(CANOE))
    await say(user(KITE), user(CANOE))
    upstream.act = says()
    await say(user(KITE), user(CANOE), user(CANOE))
    assert await stored() == [KITE, CANOE, CANOE], "the second canoe is said again"
    await say(user("x"), assistant("Summary."), user(KITE), user(CANOE), user(CANOE), assistant("Noted."), user("Now."))
    assert await stored() == [KITE, CANOE, CANOE, "Now."]


async def test_regenerated_answers_and_edited_history_store_only_what_is_new(
    say: Say, stored: Stored, upstream: FakeUpstream
) -> None:
    upstream.act = says("First")
    await say(user(KITE))
    await say(user(KITE))  # another answer, please
    assert await stored() == [KITE]
    await say(user(KITE), assistant("First"), user(CANOE))
    upstream.act = says("Other")
    await say(user(KITE), assistant("First"), user(CANOE))
    await say(user(KITE), assistant("Edited by the client"), user(CANOE))
    assert await stored() == [KITE, CANOE]
    await say(user(KITE), assistant("First"), user("And I own a raft."))  # the user edits the second message
    await say(user(KITE), assistant("First"), user("And I own a raft."), assistant("Other"), user("Yes."))
    assert await stored() == [KITE, CANOE, "And I own a raft.", "Yes."]
    # only the end of the history
    await say(user("And I own a raft."), assistant("Other"), user("Yes."), assistant("Other"), user("Yes."))
    assert await stored() == [KITE, CANOE, "And I own a raft.", "Yes.", "Yes."]


async def test_a_persons_name_says_who_speaks(say: Say, ada: httpx.AsyncClient) -> None:
    await say(user("Hi, I am Bob and I live in Kyoto.", name="Bob"), user("And I am here.", name="Ada"))
    items = (await ada.get("/v1/conversations/chat/messages")).json()["items"]
    assert [(one["speaker"], one["role"]) for one in items] == [("Bob", "other"), ("Ada", "user"), ("", "assistant")]


async def test_nothing_that_somebody_else_says_is_told_of_the_owner(
    say: Say, ada: httpx.AsyncClient, db: Database, settings: Settings
) -> None:
    reading = settings.model_copy(update={"extractor": "offline"})

    async def told() -> list[str]:
        await run_due(db, all_steps(reading, None, extractors=Extractors(reading)))
        facts = (await ada.get("/v1/facts", params={"about": "I", "as_of": "always"})).json()["items"]
        return [fact["fact"] for fact in facts]

    await say(user("Hi, I am Bob and I live in Kyoto.", name="Bob"))
    assert await told() == []
    await say(user("I live in Porto.", name="user"), **{"X-Memsvc-Conversation": "alone"})
    [fact] = await told()
    assert "Porto" in fact


async def test_tools_and_pictures_are_kept_as_traces(say: Say, stored: Stored, ada: httpx.AsyncClient) -> None:
    picture = user([{"type": "text", "text": "What is this heron?"}, PICTURE])
    answer = await say(picture)
    assert answer.headers["X-Memsvc-Not-Stored"] == "0 data"
    steps = [picture]
    for number in range(40):  # each step sends all steps before it
        steps += called(number, of="heron")
        await say(*steps)
    await say(*steps[:3], *called(1, of="heron")[1:])  # some are left out by the client
    assert await stored() == ["What is this heron?"]
    results = [text for text in await stored("tool") if text.startswith("Result")]
    assert results == [f"Result {number}." for number in range(40)]
    [kept] = await stored("system")
    assert "data:image/png" in kept
    assert len(kept) < 200
    recalled = await ada.post("/v1/recall", json={"query": "heron Result"})
    assert {one["kind"] for one in recalled.json()["memories"]} <= {"message", "turn"}


async def test_the_header_says_what_is_not_stored_and_why(say: Say, stored: Stored, ada: httpx.AsyncClient) -> None:
    elsewhere = [part for number in range(10) for part in (user(f"Old {number}."), assistant("I see."))]
    answer = await say(*elsewhere, user(KITE))
    assert answer.headers["X-Memsvc-Not-Stored"] == "0-19 history"
    assert await stored() == [KITE]
    later = await say(*elsewhere, user(KITE), assistant("Noted."), user(CANOE))
    assert "X-Memsvc-Not-Stored" not in later.headers
    bad = await say(user("A zero: \0."), user("But this."), memory="degraded")
    assert bad.headers["X-Memsvc-Memory-Reason"] == "invalid_text"
    assert bad.headers["X-Memsvc-Not-Stored"] == "0 invalid_text"
    assert await stored() == [KITE, CANOE, "But this."]
    await say(user("The first words."), **{"Idempotency-Key": "k-1"})
    again = await say(user("Before."), user("Other words."), memory="degraded", **{"Idempotency-Key": "k-1"})
    assert again.headers["X-Memsvc-Not-Stored"] == "1 message_conflict"
    assert (await stored())[-2:] == ["The first words.", "Before."]
    assert (await ada.post("/v1/hooks/session-end", json={"conversation": "chat", "forget": "conversation"})).is_success
    erased = await say(user("The first words."), **{"Idempotency-Key": "k-1"})
    assert erased.headers["X-Memsvc-Not-Stored"] == "0 erased, answer erased"


async def test_what_was_said_without_memory_is_not_stored_later(say: Say, stored: Stored) -> None:
    await say(user(KITE))
    between = [user(KITE), assistant("Noted."), user("Between us.")]
    await say(*between, memory="off", **{"X-Memsvc-Memory": "off"})
    answer = await say(*between, assistant("Noted."), user(CANOE))
    assert await stored() == [KITE, CANOE]
    assert answer.headers["X-Memsvc-Not-Stored"] == "2-3 history"


async def test_a_request_of_two_thousand_messages_costs_one_look_up(
    say: Say, stored: Stored, owner: Owner, admin: psycopg.Connection
) -> None:
    row = [user(f"Number {number}.") for number in range(2_000)]
    await say(*row)
    count = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND role = 'user'"
    assert admin.execute(count, [owner.user_id]).fetchone() == (2_000,)
    answer = await say(*row, assistant("Noted."), user(KITE))
    assert admin.execute(count, [owner.user_id]).fetchone() == (2_001,)
    assert answer.elapsed.total_seconds() < 3


async def test_users_share_no_history(
    say: Say, world: tuple[str, FakeUpstream], db: Database, app: UUID, upstream: FakeUpstream
) -> None:
    upstream.act = sends(response(completion("Noted.")))
    await say(user(KITE))
    bob = await add_user(db, app, name=f"Bob {uuid4()}")
    key = await create_key(db, app, scopes=("read", "write"), user_id=bob.owner.user_id)
    async with httpx.AsyncClient(base_url=world[0], headers={"Authorization": f"Bearer {key}"}) as client:
        body = {"messages": [user(KITE), assistant("Noted."), user(CANOE)]}
        answer = await client.post("/v1/chat/completions", json=body)
        assert answer.headers["X-Memsvc-Not-Stored"] == "0-1 history"
        items = (await client.get("/v1/conversations/chat/messages")).json()["items"]
    assert [one["text"] for one in items] == [CANOE, "Noted."]


async def test_while_memory_is_paused_a_chat_goes_on_and_tells_what_was_not_stored(
    ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    await ada.post("/v1/messages", json={"conversation": "before", "text": KITE})
    await ada.put("/v1/me/pause", json={})
    told = {"messages": [user("What do I have, a kite?")]}
    answer = await ada.post("/v1/chat/completions", json=told, headers={"X-Memsvc-Conversation": "paused"})
    assert answer.status_code == 200
    assert answer.headers["X-Memsvc-Not-Stored"] == "0 paused, answer paused"
    assert KITE in upstream.memory
    assert (await ada.get("/v1/conversations/paused/messages")).status_code == 404


async def test_an_answer_s_echoes_of_memories_are_counted(ada: httpx.AsyncClient, upstream: FakeUpstream) -> None:
    for text in ("The kite is called Rosalinde and is purple.", "The kite club meets at the harbour."):
        await ada.post("/v1/messages", json={"conversation": "before", "text": text})
    upstream.act = says("It is called Rosalinde.")
    await ada.post("/v1/chat/completions", json={"messages": [user("What is my kite called?")]})
    upstream.act = says("Your kite is purple, and Rosalinde is its name.")
    await ada.post("/v1/chat/completions", json={"messages": [user("Tell me about my kite.")]})

    async def told() -> dict[str, Any]:
        counted: dict[str, Any] = (await ada.get("/v1/usefulness")).json()
        return counted

    async with asyncio.timeout(10):
        while (await told())["answered"] < 2:  # noqa: ASYNC110 - notes follow their answers
            await asyncio.sleep(0.05)
    [row] = [one for one in (await told())["by_door_and_kind"] if (one["door"], one["kind"]) == ("chat", "message")]
    assert row["seen"] == row["given"] >= 3
    assert row["echoed"] == 1  # only the second answer has two words of it that its question lacks


async def test_a_header_has_options_of_the_memory_block(
    ada: httpx.AsyncClient, upstream: FakeUpstream, say: Say
) -> None:
    texts = [f"Kite number {n} has the colour {n} of the catalogue of the shop at the harbour." for n in range(40)]
    messages = [{"conversation": "before", "text": text, "said_at": "2026-03-01T10:00:00Z"} for text in texts]
    assert (await ada.post("/v1/messages", json={"messages": messages})).status_code == 202
    question = user("Which kites of the catalogue are there?")

    async def told(options: str) -> str:
        await say(question, **{"X-Memsvc-Context": options, "X-Memsvc-Conversation": f"to {options}"})
        return upstream.memory

    few, many = await told("limit=2, salient=0, chance=false"), await told("limit=30, budget_tokens=5000")
    assert few.count("Kite number") == 2
    assert many.count("Kite number") > few.count("Kite number")
    assert len(await told("budget_tokens=100")) < len(many)
    assert "Kite number" not in await told("asked_at=2026-02-01T10:00:00Z")


@pytest.mark.parametrize(
    "options", ["budget=600", "limit=0", "mode=fast", "limit", "limit=1, limit=2", "asked_at=2026-02-01", "chance=2"]
)
async def test_a_wrong_option_is_refused_by_its_name(
    ada: httpx.AsyncClient, options: str, upstream: FakeUpstream
) -> None:
    headers = {"X-Memsvc-Context": options}
    answer = await ada.post("/v1/chat/completions", json={"messages": [user(KITE)]}, headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (400, "X-Memsvc-Context")
    told = answer.json()["detail"] + answer.json()["hint"]
    assert options.partition("=")[0] in told or "name=value" in told or "offset" in told
    assert upstream.asked == []
