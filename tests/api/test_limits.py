"""What a key may use, and requests that are sent twice."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from litestar import Litestar

from memsvc.access import keys
from memsvc.access.keys import Limits, create_key, get_key, limit_key
from memsvc.access.users import Owner, app_id
from memsvc.db.engine import Database
from tests.api.conftest import Connect, client_of
from tests.api.mcp_clients import mcp_client

REFUSED = ("quota_exceeded", "budget_exceeded")
Limit = Callable[[Limits], Awaitable[tuple[httpx.AsyncClient, str]]]


@pytest.fixture
async def limited(api: Litestar, db: Database, app: UUID, owner: Owner) -> AsyncIterator[Limit]:
    """Makes a key of Ada's with limits: a client that sends it, and the key's id."""
    async with AsyncExitStack() as stack:

        async def make(limits: Limits) -> tuple[httpx.AsyncClient, str]:
            key = await create_key(db, app, user_id=owner.user_id, limits=limits)
            client = await stack.enter_async_context(client_of(api, Authorization=f"Bearer {key}"))
            return client, key.split(".", 1)[0]

        yield make


async def test_one_request_too_many_waits_for_the_next_minute(
    limited: Limit, api: Litestar, db: Database, app: UUID, admin: psycopg.Connection
) -> None:
    for _ in range(5):  # until the token and the five requests fall into one minute of the database's clock
        client, key_id = await limited(Limits(requests_per_minute=3))
        begun = minute_of(admin)
        token = (await client.post("/v1/token")).json()["token"]
        async with client_of(api, Authorization=f"Bearer {token}") as by_token:
            answers = await asyncio.gather(*(one.get("/v1/me") for one in (client, by_token, client, by_token, client)))
        if minute_of(admin) == begun:
            break
    else:
        pytest.fail("six requests never fell into one minute")
    assert sorted(answer.status_code for answer in answers) == [200, 200, 429, 429, 429], "the token counts too"
    for refused in (answer for answer in answers if answer.status_code == 429):
        assert (refused.json()["code"], refused.json()["limit"]) == ("rate_limited", 3)
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
    admin.execute("UPDATE memsvc.api_keys SET minute = minute - interval '1 minute' WHERE key_id = %s", [key_id])
    assert (await client.get("/v1/me")).status_code == 200
    await limit_key(db, app, key_id, keys.UNLIMITED)
    assert {(await client.get("/v1/me")).status_code for _ in range(5)} == {200}


def minute_of(admin: psycopg.Connection) -> object:
    """The minute that the database counts requests in now."""
    return admin.execute("SELECT date_trunc('minute', clock_timestamp())").fetchone()


async def by_messages(api: Litestar, client: httpx.AsyncClient, name: str) -> bool:
    """POST /v1/messages."""
    said = {"conversation": "a", "text": "oak", "id": name}
    return accepted(await client.post("/v1/messages", json=said), 202)


async def by_memory(api: Litestar, client: httpx.AsyncClient, name: str) -> bool:
    """The short address."""
    return accepted(await client.post("/memory", json={"text": "oak", "id": name}), 202)


async def by_hook_message(api: Litestar, client: httpx.AsyncClient, name: str) -> bool:
    """The hook before the model."""
    said = {"conversation": "a", "text": "oak", "message_id": name}
    return accepted(await client.post("/v1/hooks/message", json=said), 200)


async def by_hook_response(api: Litestar, client: httpx.AsyncClient, name: str) -> bool:
    """The hook behind the model."""
    said = {"conversation": "a", "text": "oak", "message_id": name}
    return accepted(await client.post("/v1/hooks/response", json=said), 202)


async def by_mcp(api: Litestar, client: httpx.AsyncClient, name: str) -> bool:
    """MCP's tool remember."""
    async with mcp_client(api, client) as tools:
        answer = await tools.call_tool("remember", {"text": "oak", "conversation": "a", "id": name})
    assert not answer.is_error or answer.structured_content["code"] in REFUSED, answer
    return not answer.is_error


async def by_chat(api: Litestar, client: httpx.AsyncClient, name: str) -> bool:
    """The drop-in door, which answers in any case and says what memory did."""
    said = {"messages": [{"role": "user", "content": "oak"}], "stream": False}
    heads = {"Idempotency-Key": name, "X-Memsvc-Conversation": "a"}
    answer = await client.post("/v1/chat/completions", json=said, headers=heads)
    assert answer.status_code == 200
    return not any(code in answer.headers.get("X-Memsvc-Memory-Reason", "") for code in REFUSED)


def accepted(answer: httpx.Response, good: int) -> bool:
    """Whether it was stored; else it was refused for the quota."""
    assert answer.status_code == good or (answer.status_code == 429 and answer.json()["code"] in REFUSED)
    return answer.status_code == good


# How each door stores one message, and how many it stores and counts when it does.
DOORS = {
    "messages": (by_messages, 1),
    "short address": (by_memory, 1),
    "hook before": (by_hook_message, 1),
    "hook behind": (by_hook_response, 1),
    "MCP": (by_mcp, 1),
    "chat": (by_chat, 2),  # what the user says, and the answer
}


@pytest.mark.usefixtures("chatting")
@pytest.mark.parametrize("door", DOORS)
async def test_every_door_that_stores_counts_and_keeps_to_the_days_quota(
    door: str, limited: Limit, api: Litestar, owner: Owner, admin: psycopg.Connection
) -> None:
    send, each = DOORS[door]
    client, key_id = await limited(Limits(messages_per_day=2 * each))
    used = "SELECT messages FROM memsvc.api_keys WHERE key_id = %s"
    stored = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"
    for time in (1, 2):
        assert await send(api, client, f"{door} {time}".replace(" ", "-"))
        assert admin.execute(used, [key_id]).fetchone() == (time * each,)
    assert admin.execute(stored, [owner.user_id]).fetchone() == (2 * each,)
    assert not await send(api, client, "one-too-many")
    assert admin.execute(stored, [owner.user_id]).fetchone() == (2 * each,)
    assert admin.execute(used, [key_id]).fetchone() == (2 * each,), "what is refused is not counted"


async def test_messages_beyond_the_days_quota_are_refused_as_a_whole(
    limited: Limit, db: Database, app: UUID, admin: psycopg.Connection
) -> None:
    client, key_id = await limited(Limits(messages_per_day=3))
    batch = {"messages": [{"conversation": "a", "text": text} for text in ("one", "two")]}
    assert (await client.post("/v1/messages", json=batch)).status_code == 202
    refused = await client.post("/v1/messages", json=batch)
    assert (refused.status_code, refused.json()["code"], refused.json()["limit"]) == (429, "quota_exceeded", 3)
    assert 1 <= int(refused.headers["Retry-After"]) <= 86_400
    assert (await client.post("/memory", json={"text": "three"})).status_code == 202
    assert (await client.post("/memory", json={"text": "four"})).status_code == 429
    stored = (await client.get("/v1/conversations/a/messages")).json()["items"]
    assert [message["text"] for message in stored] == ["one", "two"]
    key = await get_key(db, app, key_id)
    assert (key.messages_per_day, key.messages_today, key.requests_per_minute) == (3, 3, None)
    admin.execute("UPDATE memsvc.api_keys SET day = day - 1 WHERE key_id = %s", [key_id])
    assert (await client.post("/v1/messages", json=batch)).status_code == 202


async def test_tokens_are_counted_by_the_limits_that_their_key_has_now(
    limited: Limit, api: Litestar, db: Database, app: UUID
) -> None:
    client, key_id = await limited(Limits(messages_per_day=1))
    token = (await client.post("/v1/token")).json()["token"]
    async with client_of(api, Authorization=f"Bearer {token}") as by_token:

        async def stored() -> list[int]:
            return [(await by_token.post("/memory", json={"text": "oak"})).status_code for _ in range(2)]

        assert await stored() == [202, 429]
        await limit_key(db, app, key_id, Limits(messages_per_day=2))
        assert await stored() == [202, 429], "it was raised"
        assert (await by_token.post("/memory", json={"text": "oak"})).json()["limit"] == 1, "of when it was made"
        await limit_key(db, app, key_id, keys.UNLIMITED)
        assert await stored() == [202, 202], "it was removed"
        unlimited = (await client.post("/v1/token")).json()["token"]
        await limit_key(db, app, key_id, Limits(messages_per_day=1))
        assert await stored() == [429, 429], "it was lowered"
    async with client_of(api, Authorization=f"Bearer {unlimited}") as by_token:
        assert await stored() == [202, 202], "it was made without a limit"


async def test_a_key_without_limits_is_never_written_to(limited: Limit, admin: psycopg.Connection) -> None:
    client, key_id = await limited(keys.UNLIMITED)
    version = "SELECT xmin::text FROM memsvc.api_keys WHERE key_id = %s"
    before = admin.execute(version, [key_id]).fetchone()
    assert (await client.post("/memory", json={"text": "oak"})).status_code == 202
    assert admin.execute(version, [key_id]).fetchone() == before


async def test_an_administrator_limits_keys_of_the_own_app_alone(chief: httpx.AsyncClient, db: Database) -> None:
    foreign = (await create_key(db, await app_id(db, "elsewhere"))).split(".")[0]
    body = {"requests_per_minute": 5}
    assert (await chief.put(f"/v1/keys/{foreign}/limits", json=body)).status_code == 404
    for wrong in ({"requests_per_minute": 0}, {"messages_per_day": -1}, {"other": 1}):
        assert (await chief.put(f"/v1/keys/{foreign}/limits", json=wrong)).status_code == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/notes", {"title": "Oak"}),
        ("/v1/nodes", {"type": "Person", "label": "Ines"}),
        ("/v1/changes", {"operations": [{"op": "node", "type": "Person", "label": "Ines"}]}),
    ],
)
async def test_what_is_sent_again_with_its_key_is_done_once(
    path: str, body: dict[str, object], ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    again = {"Idempotency-Key": "the-very-same"}
    answers = await asyncio.gather(*(ada.post(path, json=body, headers=again) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.text for answer in answers}) == 1
    changed = await ada.post(path, json={**body, "evidence": []} if path != "/v1/changes" else {
        "operations": [{"op": "node", "type": "Person", "label": "Bea"}]
    }, headers=again)  # fmt: skip
    assert changed.status_code == (201 if path != "/v1/changes" else 409)
    assert (await ada.post(path, json=body)).json() != answers[0].json()
    assert (await bob.post(path, json=body, headers=again)).json() != answers[0].json()
    assert len((await ada.get("/v1/changes")).json()["items"]) == 2
    assert (await ada.post(path, json=body, headers={"Idempotency-Key": "x" * 201})).status_code == 400


async def test_a_key_can_be_used_for_something_new_after_a_day(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    daily, other = {"Idempotency-Key": "daily"}, {"Idempotency-Key": "another"}
    for headers in (daily, other):
        assert (await ada.post("/v1/notes", json={"title": "Oak"}, headers=headers)).status_code == 201
    age = "UPDATE memsvc.answered_requests SET answered_at = answered_at - interval '24 hours' WHERE user_id = %s"
    assert admin.execute(age, [owner.user_id]).rowcount == 2
    answers = [await ada.post("/v1/notes", json={"title": "Elm"}, headers=daily) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].text == answers[1].text
    kept = "SELECT count(*) FROM memsvc.answered_requests WHERE user_id = %s"
    assert admin.execute(kept, [owner.user_id]).fetchone() == (1,)
    assert len((await ada.get("/v1/changes")).json()["items"]) == 3


async def test_a_user_is_made_once_for_its_key(chief: httpx.AsyncClient, connect: Connect) -> None:
    body = {"name": "Nora", "external_id": f"nora-{uuid4()}", "aliases": ["No"]}
    again = {"Idempotency-Key": "the-very-same"}
    answers = await asyncio.gather(*(chief.post("/v1/users", json=body, headers=again) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.text for answer in answers}) == 1
    other = await chief.post("/v1/users", json={**body, "name": "Norah"}, headers=again)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    for headers in ({}, {"Idempotency-Key": "another"}):
        other = await chief.post("/v1/users", json=body, headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "already_exists")
    elsewhere = await connect("admin", app_name="users elsewhere")
    there = await elsewhere.post("/v1/users", json=body, headers=again)
    assert there.json()["user_id"] != answers[0].json()["user_id"]


async def test_a_key_is_made_once_for_its_key_and_its_secret_kept_nowhere(
    chief: httpx.AsyncClient, connect: Connect, admin: psycopg.Connection
) -> None:
    body, again = {"scopes": ["admin"], "label": "phone"}, {"Idempotency-Key": secrets.token_hex(16)}
    answers = await asyncio.gather(*(chief.post("/v1/keys", json=body, headers=again) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [201] * 3
    [secret] = {answer.json()["secret"] for answer in answers}
    key_id, _, hidden = secret.partition(".")
    assert (len(key_id), len(hidden)) == (19, 22)
    assert (await chief.get("/v1/keys", headers={"Authorization": f"Bearer {secret}"})).status_code == 200
    for table in ("api_keys", "audit_log", "answered_requests"):
        told = admin.execute(f"SELECT count(*) FROM memsvc.{table} AS t WHERE t::text LIKE %s", [f"%{hidden}%"])
        assert told.fetchone() == (0,), table

    async def refused(change: dict[str, object] | None = None) -> None:
        answer = await chief.post("/v1/keys", json=body | (change or {}), headers=again)
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")
        assert hidden not in answer.text

    await refused({"label": "another phone"})
    elsewhere = await connect("admin", app_name="keys elsewhere")
    assert hidden not in (await elsewhere.post("/v1/keys", json=body, headers=again)).text
    assert hidden not in (await chief.post("/v1/keys", json=body)).text
    age = "UPDATE memsvc.api_keys SET created_at = created_at - interval '24 hours' * %s WHERE key_id = %s"
    admin.execute(age, [1, key_id])
    await refused()
    admin.execute(age, [-1, key_id])
    assert (await chief.post("/v1/keys", json=body, headers=again)).json()["secret"] == secret
    assert (await chief.delete(f"/v1/keys/{key_id}")).status_code == 204
    await refused()


async def test_short_addresses_do_what_the_long_ones_do(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    stored = await ada.post("/memory", json={"text": "The worktop is made of oak.", "id": "1"})
    assert [one["outcome"] for one in stored.json()["messages"]] == ["created"]
    found = (await ada.get("/search", params={"q": "oak worktop"})).json()
    assert [memory["text"] for memory in found["memories"]] == ["The worktop is made of oak."]
    assert "made of oak" in (await ada.get("/context", params={"query": "oak worktop"})).json()["text"]
    assert (await bob.get("/search", params={"q": "oak worktop"})).json()["memories"] == []
    await ada.post("/v1/nodes", json={"type": "Person", "label": "Ines"})
    first = (await ada.get("/graph")).json()
    assert first == (await ada.get("/v1/graph")).json()
    rest = (await ada.get("/graph", params={"cursor": first["next_cursor"]})).json()
    assert "Ines" in {node["label"] for node in rest["nodes"]}
    assert (await ada.get("/search")).status_code == 400
    assert (await ada.get("/search", params={"q": "oak", "k": 1})).status_code == 400
