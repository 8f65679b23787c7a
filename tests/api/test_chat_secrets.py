"""What the chat server says about us and to one user stays there: no cookies go on, and no secret of ours comes out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import quote

import httpx
import pytest
from litestar import Litestar
from pydantic import SecretStr

from memsvc.access.users import Owner
from memsvc.llm.upstream import Upstream
from memsvc.settings import Settings
from tests.api.conftest import Connect
from tests.fakes.upstream import STREAM_HEAD, Asked, FakeUpstream, completion, response, sends, serving, stream

KEY = "sk-live/4f+9a7c0d2e61b8"
DATABASE = "postgresql://memsvc:p%40ss-of-db@db.test/memsvc"
SAID = {"messages": [{"role": "user", "content": "Hello."}]}


@pytest.fixture
async def upstream(api: Litestar, settings: Settings) -> AsyncIterator[FakeUpstream]:
    """A chat server that wants a key."""
    before = api.state["service"]
    async with serving() as fake:
        given = {"chat_url": fake.url, "chat_key": SecretStr(KEY), "database_url": SecretStr(DATABASE)}
        asking = Upstream(settings.model_copy(update=given))
        api.state["service"] = replace(before, upstream=asking)
        yield fake
        await asking.close()
    api.state["service"] = before


async def chat(client: httpx.AsyncClient, **more: object) -> httpx.Response:
    """Say hello."""
    return await client.post("/v1/chat/completions", json=SAID | more, headers={"X-Memsvc-Memory": "off"})


async def test_a_cookie_for_one_user_is_not_sent_with_anothers_request(
    upstream: FakeUpstream, ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    cookies = {"Set-Cookie": "session=of-ada; Path=/", "set-cookie": "second=of-ada; Domain=127.0.0.1"}

    async def act(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(response(completion("Hello."), headers=cookies))
        await writer.drain()

    upstream.act = act
    told = [await chat(one) for one in (ada, bob, ada)]
    assert [answer.status_code for answer in told] == [200] * 3
    assert (await ada.get("/v1/models")).status_code == 200
    assert [asked.headers.get("cookie") for asked in upstream.asked] == [None] * 4
    assert not any("set-cookie" in answer.headers for answer in told)


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_error_of_the_chat_server_comes_without_secrets_of_ours(
    upstream: FakeUpstream, connect: Connect, owner: Owner, settings: Settings, *, streamed: bool
) -> None:
    ada = await connect(user=owner)
    own_key = ada.headers["Authorization"].removeprefix("Bearer ")
    secrets = [
        KEY, KEY.replace("/", "\\/"), quote(KEY, safe=""), DATABASE, "p@ss-of-db", own_key,
        settings.secret("app_password"), settings.secret("identity_secret"),
    ]  # fmt: skip

    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        echoed = {"message": f"Bad key: {' '.join(secrets)}.", "headers": asked.headers, "code": "invalid_api_key"}
        kind = "text/event-stream" if streamed else "application/json"
        headers = {"openai-organization": f"of {KEY}", "x-ratelimit-limit": "10"}
        writer.write(response({"error": echoed}, 401, kind, headers))
        await writer.drain()

    upstream.act = act
    for answer in (await chat(ada, stream=streamed), await ada.get("/v1/models")):
        assert answer.status_code == 401
        assert upstream.asked[-1].headers["authorization"] == f"Bearer {KEY}"
        everything = answer.text + str(answer.headers)
        assert [secret for secret in (*secrets, json.dumps(KEY)[1:-1]) if secret in everything] == []
        assert answer.json()["error"]["code"] == "invalid_api_key"
        assert answer.json()["error"]["headers"]["authorization"] == "Bearer [removed]"
        assert answer.headers["x-ratelimit-limit"] == "10"


async def test_an_error_within_a_stream_comes_without_the_key_that_lies_across_its_pieces(
    upstream: FakeUpstream, ada: httpx.AsyncClient
) -> None:
    raw = b'data: {"error": {"message": "Bad key: ' + KEY.encode() + b'. Try sk-live."}}\n\n' + stream("Hello")

    async def act(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for place in range(0, len(raw), 7):
            writer.write(raw[place : place + 7])
            await writer.drain()
            await asyncio.sleep(0)

    upstream.act = act
    told = await chat(ada, stream=True)
    assert told.content == raw.replace(KEY.encode(), b"[removed]")


async def test_an_answer_without_secrets_stays_byte_for_byte(upstream: FakeUpstream, ada: httpx.AsyncClient) -> None:
    said = completion(f"Send Authorization: Bearer {'a' * 40}, a key such as mk_{'0' * 16}.secret, to the postgres.")
    upstream.act = sends(response(said))
    assert (await chat(ada)).content == json.dumps(said).encode()
    upstream.act = sends(response({"error": {"message": "No bearer token was found."}}, 401))
    assert (await chat(ada)).json() == {"error": {"message": "No bearer token was found."}}
