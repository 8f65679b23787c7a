"""A chat goes on where the database does not answer, also with a key: its last good caller is remembered for that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import UUID

import httpx
import psycopg
import pytest
from litestar import Litestar

from memsvc.access.keys import Limits, create_key, revoke_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database, role_url
from memsvc.settings import Settings
from tests.api.conftest import MODELS, client_of, running
from tests.cluster import Cluster
from tests.fakes.cut_line import CutLine, cut_line
from tests.fakes.upstream import FakeUpstream, response, says, sends, serving

MEMORY_S, UNKNOWN_S = 0.4, 1.0
LITTLE_S = 0.4
HANGS_S = 4.0
Key = Callable[..., Awaitable[httpx.AsyncClient]]
Revoke = Callable[[httpx.AsyncClient], Awaitable[None]]
DOWN = {"cut": {"database_unavailable"}, "stall": {"memory_slow"}}
"""How the line fails, and what the header may say then."""


@pytest.fixture(scope="session")
async def world(
    cluster: Cluster, database_name: str, settings: Settings
) -> AsyncIterator[tuple[CutLine, FakeUpstream, Litestar]]:
    """A line to the database, a chat server, and the application between them."""
    password = settings.secret("app_password")
    straight = role_url(cluster.admin_url(database_name), "memsvc_app", password)
    async with cut_line(straight.render_as_string(hide_password=False)) as line, serving() as fake:
        chosen = settings.model_copy(
            update={
                "chat_url": fake.url,
                "chat_model": "m-1",
                "chat_memory_ms": round(MEMORY_S * 1000),
                "pool_timeout_s": UNKNOWN_S,
            }
        )
        pool = Database(role_url(line.url, "memsvc_app", password), chosen, pool_size=4)
        async with running(create_app(chosen, pool)) as app:
            yield line, fake, app
        await pool.close()


@pytest.fixture
async def line(world: tuple[CutLine, FakeUpstream, Litestar]) -> AsyncIterator[CutLine]:
    """The way of the application to the database."""
    yield world[0]
    world[0].cut()
    await asyncio.sleep(0.1)  # what hangs ends
    world[0].mend()


@pytest.fixture
def upstream(world: tuple[CutLine, FakeUpstream, Litestar]) -> FakeUpstream:
    """The chat server."""
    world[1].act, world[1].asked = says("Noted."), []
    return world[1]


@pytest.fixture
def api(world: tuple[CutLine, FakeUpstream, Litestar], line: CutLine, upstream: FakeUpstream) -> Litestar:
    """The application, with both at work."""
    return world[2]


@pytest.fixture
async def key(api: Litestar, db: Database, app: UUID) -> AsyncIterator[Key]:
    """Makes a key by another way, and a client of the application that sends it."""
    async with AsyncExitStack() as stack:

        async def made(user: Owner | None = None, **more: object) -> httpx.AsyncClient:
            user_id = user.user_id if user is not None else None
            given = await create_key(db, app, user_id=user_id, **more)  # type: ignore[arg-type]
            return await stack.enter_async_context(client_of(api, Authorization=f"Bearer {given}"))

        yield made


@pytest.fixture
def revoke(db: Database, app: UUID) -> Revoke:
    """Ends a client's key by another way, as another process would."""

    async def ended(client: httpx.AsyncClient) -> None:
        await revoke_key(db, app, client.headers["Authorization"].removeprefix("Bearer "))

    return ended


async def say(client: httpx.AsyncClient, text: str, **headers: str) -> httpx.Response:
    """Say something; whatever hangs, the test does not."""
    body = {"messages": [{"role": "user", "content": text}]}
    async with asyncio.timeout(HANGS_S):
        return await client.post("/v1/chat/completions", json=body, headers=headers)


def stored(owner: Owner, admin: psycopg.Connection) -> list[str]:
    """What a user's messages say."""
    rows = admin.execute(
        "SELECT p.text FROM memsvc.passages AS p JOIN memsvc.messages AS m USING (user_id, passage_id) "
        'WHERE user_id = %s ORDER BY p.text COLLATE "C"',
        [owner.user_id],
    )
    return [text for (text,) in rows]


@pytest.mark.parametrize("how", DOWN)
async def test_a_known_key_chats_on_in_time(key: Key, line: CutLine, owner: Owner, how: str) -> None:
    ada = await key(owner)
    assert (await say(ada, "My dog is called Pixel.")).headers["X-Memsvc-Memory"] == "ok"
    getattr(line, how)()
    for _ in range(3):  # also when there is no connection any more that could hang
        began = time.monotonic()
        answer = await say(ada, "What is my dog called?")
        assert time.monotonic() - began < MEMORY_S + LITTLE_S
        assert (answer.status_code, answer.headers.get("X-Memsvc-Memory")) == (200, "degraded"), answer.text
        assert answer.headers["X-Memsvc-Memory-Reason"] in DOWN[how]
        assert answer.json()["choices"][0]["message"]["content"] == "Noted."
    off = await say(ada, "Between us.", **{"X-Memsvc-Memory": "off"})
    assert (off.status_code, off.headers["X-Memsvc-Memory"]) == (200, "off")


@pytest.mark.parametrize("how", DOWN)
async def test_a_known_key_lists_models(
    key: Key, line: CutLine, owner: Owner, upstream: FakeUpstream, how: str
) -> None:
    upstream.act = sends(response(MODELS))
    ada = await key(owner)
    assert (await ada.get("/v1/models")).json() == MODELS
    getattr(line, how)()
    async with asyncio.timeout(HANGS_S):
        assert (await ada.get("/v1/models")).json() == MODELS


@pytest.mark.parametrize("how", DOWN)
async def test_a_key_never_seen_waits_no_longer_than_for_a_connection(
    key: Key, line: CutLine, owner: Owner, upstream: FakeUpstream, how: str
) -> None:
    await say(await key(owner), "Hello.")
    new = await key(owner)
    getattr(line, how)()
    began = time.monotonic()
    answer = await say(new, "Hello.")
    assert time.monotonic() - began < UNKNOWN_S + LITTLE_S
    code = {"cut": "database_unavailable", "stall": "overloaded"}[how]
    assert (answer.status_code, answer.json()["code"], answer.json()["error"]["code"]) == (503, code, code)
    assert len(upstream.asked) == 1


async def test_no_other_route_lets_a_remembered_key_in(key: Key, line: CutLine, owner: Owner, api: Litestar) -> None:
    ada = await key(owner)
    await say(ada, "Hello.")
    line.cut()
    assert (await say(ada, "Hello?")).status_code == 200
    for method, path, body in (("POST", "/v1/recall", {"query": "dog"}), ("GET", "/v1/me", None)):
        answer = await ada.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable"), answer.text
    marked = {
        route.path
        for route in api.routes
        for handler in getattr(route, "route_handlers", [])
        if handler.opt.get("chats_on")
    }
    assert marked == {"/v1/chat/completions", "/v1/responses", "/anthropic/v1/messages", "/v1/models"}


async def test_a_revoked_key_is_refused_at_once_and_forgotten(
    key: Key, revoke: Revoke, line: CutLine, owner: Owner
) -> None:
    ada = await key(owner)
    await say(ada, "Hello.")
    await revoke(ada)
    assert (await say(ada, "Hello.")).status_code == 401
    line.cut()
    assert (await say(ada, "Hello.")).status_code == 503


async def test_any_route_that_refuses_a_key_forgets_it_for_all_its_users(
    key: Key, revoke: Revoke, line: CutLine, owner: Owner
) -> None:
    everybody = await key()
    user = {"X-Memsvc-User": str(owner.user_id)}
    assert (await say(everybody, "Hello.", **user)).status_code == 200
    await revoke(everybody)
    assert (await everybody.get("/v1/me")).status_code == 401
    line.cut()
    assert (await say(everybody, "Hello.", **user)).status_code == 503


async def test_an_expired_key_is_refused_while_the_database_answers(key: Key, owner: Owner) -> None:
    ada = await key(owner, ttl=timedelta(seconds=0.5))
    assert (await say(ada, "Hello.")).status_code == 200
    await asyncio.sleep(0.6)
    assert (await say(ada, "Hello.")).status_code == 401


async def test_one_users_caller_is_never_anothers(key: Key, line: CutLine, owner: Owner, other: Owner) -> None:
    everybody = await key()
    as_ada, as_bob = ({"X-Memsvc-User": str(user.user_id)} for user in (owner, other))
    assert (await say(everybody, "Hello.", **as_ada)).status_code == 200
    assert (await say(everybody, "Hello.")).json()["code"] == "user_required"
    line.cut()
    assert (await say(everybody, "Hello.", **as_ada)).status_code == 200
    for headers in (as_bob, {}, {"X-Memsvc-User": ""}):
        assert (await say(everybody, "Hello.", **headers)).status_code == 503


async def test_what_was_said_is_stored_once_a_slow_database_lets_the_key_in(
    key: Key, line: CutLine, owner: Owner, admin: psycopg.Connection
) -> None:
    ada = await key(owner)
    await say(ada, "Hello.")
    line.stall()
    assert (await say(ada, "My cat is called Mog.")).headers["X-Memsvc-Memory-Reason"] == "memory_slow"
    assert stored(owner, admin) == ["Hello.", "Noted."]
    line.mend()
    async with asyncio.timeout(5):
        while len(stored(owner, admin)) < 4:  # noqa: ASYNC110 - another process' database
            await asyncio.sleep(0.02)
    assert stored(owner, admin) == ["Hello.", "My cat is called Mog.", "Noted.", "Noted."]


async def test_a_key_that_a_slow_database_refuses_leaves_no_trace(
    key: Key, revoke: Revoke, line: CutLine, owner: Owner, admin: psycopg.Connection
) -> None:
    ada = await key(owner)
    await say(ada, "Hello.")
    line.stall()
    await revoke(ada)
    assert (await say(ada, "My cat is called Mog.")).status_code == 200
    line.mend()
    await asyncio.sleep(0.3)
    assert stored(owner, admin) == ["Hello.", "Noted."]
    line.cut()
    assert (await say(ada, "Hello?")).status_code == 503


@pytest.mark.parametrize("how", DOWN)
async def test_a_limit_is_counted_in_the_process_meanwhile(
    key: Key, line: CutLine, owner: Owner, api: Litestar, *, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await key(owner, limits=Limits(requests_per_minute=4, messages_per_day=1_000))
    token = (await ada.post("/v1/token")).json()["token"]
    by_token = {"Authorization": f"Bearer {token}"}
    for headers in ({}, by_token):
        assert (await say(ada, "Hello.", **headers)).status_code == 200
    getattr(line, how)()
    now = time.monotonic()
    monkeypatch.setattr(api.state["service"].admitting, "_clock", lambda: now)  # all in one minute
    for headers in ({}, by_token, {}, by_token):
        answer = await say(ada, "Hello.", **headers)
        assert (answer.status_code, answer.headers.get("X-Memsvc-Memory")) == (200, "degraded"), answer.text
    answer = await say(ada, "Hello.")
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@pytest.mark.parametrize("how", DOWN)
async def test_a_token_chats_on_in_time(key: Key, line: CutLine, owner: Owner, how: str) -> None:
    ada = await key(owner)
    token = (await ada.post("/v1/token")).json()["token"]
    getattr(line, how)()
    began = time.monotonic()
    answer = await say(ada, "Hello.", Authorization=f"Bearer {token}")
    # Nothing has to be looked up: recall, storing what the user said, and storing the answer wait in turn.
    assert time.monotonic() - began < 2 * MEMORY_S + 2 * LITTLE_S
    assert (answer.status_code, answer.headers["X-Memsvc-Memory"]) == (200, "degraded")
