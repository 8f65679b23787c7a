"""The drop-in door for clients of Anthropic's Messages API and of OpenAI's Responses API, with the official clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import anthropic
import httpx
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import SecretStr

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.api.controllers.anthropic import EXAMPLE
from memsvc.api.controllers.chat import INPUT
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.served import served
from tests.fakes.upstream import (
    STREAM_HEAD,
    FakeUpstream,
    message,
    message_stream,
    model_response,
    named_events,
    output_message,
    response,
    response_stream,
    says,
    sends,
    serving,
)

SILENCE_S = 0.4
KEY = "sk-ant-of-the-server-4711"
ANTHROPIC, RESPONSES = "/anthropic/v1/messages", "/v1/responses"
Body = dict[str, Any]


@pytest.fixture(scope="module")
async def world(db: Database, settings: Settings) -> AsyncIterator[tuple[str, FakeUpstream]]:
    """The application over real HTTP, before one chat server for all APIs."""
    async with serving() as fake:
        chosen = {"chat_url": fake.url, "chat_model": "m-1", "chat_timeout_s": SILENCE_S, "chat_memory_ms": 5_000}
        chosen |= {"anthropic_url": fake.url, "anthropic_key": SecretStr(KEY), "anthropic_model": "claude-1"}
        async with served(create_app(settings.model_copy(update=chosen), db)) as address:
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
    key = await create_key(db, app, scopes=("read", "write"), user_id=owner.user_id)
    async with httpx.AsyncClient(base_url=world[0], headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        yield client


def key_of(client: httpx.AsyncClient) -> str:
    """The client's key."""
    return client.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
async def claude(world: tuple[str, FakeUpstream], ada: httpx.AsyncClient) -> AsyncIterator[AsyncAnthropic]:
    """Anthropic's own client, with Ada's key."""
    async with AsyncAnthropic(base_url=f"{world[0]}/anthropic", api_key=key_of(ada), max_retries=0) as client:
        yield client


@pytest.fixture
async def gpt(world: tuple[str, FakeUpstream], ada: httpx.AsyncClient) -> AsyncIterator[AsyncOpenAI]:
    """OpenAI's own client, with Ada's key."""
    async with AsyncOpenAI(base_url=f"{world[0]}/v1", api_key=key_of(ada), max_retries=0) as client:
        yield client


async def stored(client: httpx.AsyncClient) -> list[tuple[str, str]]:
    """What the conversation holds: roles and texts."""
    answer = await client.get("/v1/conversations/chat/messages", params={"limit": 100})
    return [(one["role"], one["text"]) for one in answer.json().get("items", [])]


async def test_anthropics_client_gets_memory(
    claude: AsyncAnthropic, ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    first = await claude.messages.create(
        model="memsvc", max_tokens=50, system="Be brief.", messages=[{"role": "user", "content": "My bike is green."}]
    )
    assert [block.text for block in first.content if block.type == "text"] == ["Noted."]
    sent = upstream.asked[0]
    assert (sent.path, sent.body["model"], sent.headers["x-api-key"]) == ("/v1/messages", "claude-1", KEY)
    assert sent.headers["anthropic-version"] == claude.default_headers["anthropic-version"]
    assert "authorization" not in sent.headers
    assert sent.body["system"].startswith("Be brief.\n\nWhat you remember")
    upstream.act = says("It is green.")
    async with claude.messages.stream(
        model="memsvc",
        max_tokens=50,
        system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        messages=[{"role": "user", "content": [{"type": "text", "text": "Which colour has my bike?"}]}],
        extra_headers={"X-Memsvc-Session": "later", "Anthropic-Beta": "some-2026"},
    ) as stream:
        assert "".join([text async for text in stream.text_stream]) == "Itisgreen."
    assert "My bike is green." in upstream.memory
    [first_part, _] = upstream.asked[1].body["system"]
    assert first_part == {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    assert upstream.asked[1].headers["anthropic-beta"] == "some-2026"
    assert await stored(ada) == [
        ("user", "My bike is green."), ("assistant", "Noted."),
        ("user", "Which colour has my bike?"), ("assistant", "Itisgreen."),
    ]  # fmt: skip


async def test_openais_client_gets_memory_for_responses(
    gpt: AsyncOpenAI, ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    first = await gpt.responses.create(model="memsvc", input="My bike is green.", instructions="Be brief.")
    assert first.output_text == "Noted."
    sent = upstream.asked[0]
    assert (sent.path, sent.body["model"], sent.body["input"]) == ("/v1/responses", "m-1", "My bike is green.")
    assert sent.body["instructions"].startswith("Be brief.\n\nWhat you remember")
    upstream.act = says("It is green.")
    said: Any = {"role": "user", "content": [{"type": "input_text", "text": "Which colour has my bike?"}]}
    pieces = await gpt.responses.create(
        model="gpt-x", input=[said], stream=True, extra_headers={"X-Memsvc-Session": "later"}
    )
    words = [event.delta async for event in pieces if event.type == "response.output_text.delta"]
    assert "".join(words) == "Itisgreen."
    assert "My bike is green." in upstream.memory
    assert upstream.asked[1].body["model"] == "gpt-x"
    assert await stored(ada) == [
        ("user", "My bike is green."), ("assistant", "Noted."),
        ("user", "Which colour has my bike?"), ("assistant", "Itisgreen."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "streamed"),
    [(ANTHROPIC, message_stream("Näch", "ste Woche 木.")), (RESPONSES, response_stream("Näch", "ste Woche 木."))],
)
async def test_a_stream_passes_byte_by_byte_and_is_remembered(
    ada: httpx.AsyncClient, upstream: FakeUpstream, path: str, streamed: bytes
) -> None:
    upstream.act = sends(STREAM_HEAD + streamed)
    body = {"stream": True, "max_tokens": 9, "messages": [{"role": "user", "content": "Wann?"}], "input": "Wann?"}
    answer = await ada.post(path, json=body)
    assert (answer.content, answer.headers["X-Memsvc-Memory"]) == (streamed, "ok")
    assert await stored(ada) == [("user", "Wann?"), ("assistant", "Nächste Woche 木.")]


async def test_tools_of_anthropics_api_are_traces(ada: httpx.AsyncClient, upstream: FakeUpstream) -> None:
    asked: Body = {"role": "user", "content": "How is the weather in Porto?"}
    use = {"type": "tool_use", "id": "t-1", "name": "weather", "input": {"city": "Porto"}}
    thought = {"type": "thinking", "thinking": "A tool knows.", "signature": "x" * 3_000}
    upstream.act = sends(response(message({"type": "text", "text": "Let me look."}, use, stop="tool_use")))
    await ada.post(ANTHROPIC, json={"messages": [asked]})
    assert await stored(ada) == [("user", asked["content"])]
    upstream.act = says("Sunny.")
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 5_000}}
    result = {"type": "tool_result", "tool_use_id": "t-1", "content": [{"type": "text", "text": "sun"}, picture]}
    messages = [
        asked,
        {"role": "assistant", "content": [thought, {"type": "text", "text": "Let me look."}, use]},
        {"role": "user", "content": [result, {"type": "text", "text": "And in Faro?"}]},
    ]
    for left in ("0 existing, 2 data", "0 existing, 2 data, 2 existing"):
        answer = await ada.post(ANTHROPIC, json={"messages": messages})
        assert answer.headers["X-Memsvc-Not-Stored"] == left
        found = await stored(ada)
        assert [one for one in found if one[0] in {"user", "assistant"}] == [
            ("user", asked["content"]), ("user", "And in Faro?"), ("assistant", "Sunny."),
        ]  # fmt: skip
        assert [text for role, text in found if role == "thinking"] == ["Let me look.", "A tool knows."]
        call, shown = [text for role, text in found if role == "tool"]
        assert "Porto" in call
        assert shown.startswith("sun\n{")
        assert len(shown) < 300


async def test_tools_of_the_responses_api_are_traces(ada: httpx.AsyncClient, upstream: FakeUpstream) -> None:
    asked: Body = {"role": "user", "content": "How is the weather in Porto?"}
    call = {"type": "function_call", "call_id": "c-1", "name": "weather", "arguments": "{}"}
    upstream.act = sends(response(model_response(output_message("Let me look."), call)))
    await ada.post(RESPONSES, json={"input": [asked]})
    assert await stored(ada) == [("user", asked["content"])]
    upstream.act = says("Sunny.")
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "A tool knows."}]}
    result = {"type": "function_call_output", "call_id": "c-1", "output": "sun"}
    items = [asked, thought, output_message("Let me look."), call, result, {"type": "item_reference", "id": "x"}]
    for _ in range(2):
        assert (await ada.post(RESPONSES, json={"input": items})).headers["X-Memsvc-Memory"] == "ok"
        found = await stored(ada)
        assert [role for role, _ in found] == ["user", "thinking", "thinking", "tool", "tool", "assistant"]
        assert found[4][1] == "sun"


@pytest.mark.parametrize("path", [ANTHROPIC, RESPONSES])
async def test_what_the_user_says_is_stored_wherever_it_stands(ada: httpx.AsyncClient, path: str) -> None:
    for last in ({"role": "user", "content": "And a canoe."}, {"role": "assistant", "content": "{"}):
        said = [{"role": "user", "content": "I have a kite."}, last]
        for _ in range(2):
            answer = await ada.post(
                path, json={"messages": said, "input": said}, headers={"X-Memsvc-Session": last["role"]}
            )
            assert answer.headers["X-Memsvc-Memory"] == "ok"
    texts = [text for role, text in await stored(ada) if role == "user"]
    assert texts == ["I have a kite.", "And a canoe.", "I have a kite."]


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        (ANTHROPIC, message({"type": "text", "text": "I would"}, stop="refusal")),
        (
            RESPONSES,
            model_response(
                output_message("I would"), status="incomplete", incomplete_details={"reason": "content_filter"}
            ),
        ),
    ],
)
async def test_what_a_filter_cut_off_is_no_answer(
    ada: httpx.AsyncClient, upstream: FakeUpstream, path: str, whole: Body
) -> None:
    upstream.act = sends(response(whole))
    body = {"messages": [{"role": "user", "content": "Hello."}], "input": "Hello."}
    assert (await ada.post(path, json=body)).json() == whole
    assert await stored(ada) == [("user", "Hello.")]


async def test_errors_have_the_form_of_anthropics_api(
    claude: AsyncAnthropic, ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    said: Any = {"model": "memsvc", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello."}]}
    with pytest.raises(anthropic.AuthenticationError, match="The key"):
        await claude.with_options(api_key="mk_no.no").messages.create(**said)
    with pytest.raises(anthropic.BadRequestError) as bad:
        await claude.messages.create(**{**said, "messages": "x"})
    told: Any = bad.value.body
    assert (told["type"], told["error"]["type"]) == ("error", "invalid_request_error")
    passed = {"type": "error", "error": {"type": "overloaded_error", "message": f"not now, {KEY}"}}
    upstream.act = sends(response(passed, 529))
    answer = await ada.post(ANTHROPIC, json=said)
    assert (answer.status_code, answer.json()["error"]["message"]) == (529, "not now, [removed]")
    upstream.act = sends(b"", 5)
    silent = await ada.post(ANTHROPIC, json=said)
    assert (silent.status_code, silent.json()["error"]["type"]) == (504, "timeout_error")
    begun = named_events({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half"}})
    upstream.act = sends(STREAM_HEAD + begun, 5)
    with pytest.raises(anthropic.APIError, match="did not respond in time"):
        async for _ in await claude.messages.create(stream=True, **said):
            pass
    async with asyncio.timeout(5):
        while ("assistant", "Half") not in await stored(ada):  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.02)


async def test_a_responses_stream_that_breaks_off_ends_with_an_error(gpt: AsyncOpenAI, upstream: FakeUpstream) -> None:
    begun = response_stream("Half").split(b"event: response.output_item.done")[0]
    upstream.act = sends(STREAM_HEAD + begun, 5)
    stream = await gpt.responses.create(model="memsvc", input="Hello.", stream=True)
    events = [event async for event in stream]
    assert [event.type for event in events] == ["response.created", "response.output_text.delta", "error"]
    assert "did not respond in time" in str(events[-1])


async def test_only_anthropics_route_takes_a_key_in_its_header(
    world: tuple[str, FakeUpstream], ada: httpx.AsyncClient, upstream: FakeUpstream
) -> None:
    async with httpx.AsyncClient(base_url=world[0], headers={"X-Api-Key": key_of(ada)}) as client:
        assert (await client.post(ANTHROPIC, json=EXAMPLE)).status_code == 200
        for path, body in ((RESPONSES, INPUT), ("/v1/recall", {"query": "x"})):
            assert (await client.post(path, json=body)).status_code == 401
    assert len(upstream.asked) == 1


async def test_without_a_server_the_route_says_which_setting_is_missing(
    anybody: httpx.AsyncClient, ada: httpx.AsyncClient
) -> None:
    headers = {"X-Api-Key": key_of(ada)}
    answer = await anybody.post(ANTHROPIC, json=EXAMPLE, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (503, "upstream_missing")
    assert "MEMSVC_ANTHROPIC_URL" in answer.json()["hint"]
    assert answer.json()["error"]["type"] == "api_error"


@pytest.mark.parametrize(("path", "example"), [(ANTHROPIC, EXAMPLE), (RESPONSES, INPUT)])
async def test_the_documented_examples_are_accepted(
    ada: httpx.AsyncClient, upstream: FakeUpstream, path: str, example: Body
) -> None:
    answer = await ada.post(path, json=example)
    assert (answer.status_code, answer.headers["X-Memsvc-Memory"]) == (200, "ok")
    assert await stored(ada) == [("user", "Where do we meet Ines?"), ("assistant", "Noted.")]
    assert upstream.memory


async def test_openais_client_chats(gpt: AsyncOpenAI, ada: httpx.AsyncClient, upstream: FakeUpstream) -> None:
    whole = await gpt.chat.completions.create(
        model="memsvc", messages=[{"role": "user", "content": "My bike is green."}]
    )
    assert whole.choices[0].message.content == "Noted."
    upstream.act = says("It is green.")
    pieces = await gpt.chat.completions.create(
        model="memsvc", messages=[{"role": "user", "content": "Which colour has my bike?"}], stream=True
    )
    assert "".join([piece.choices[0].delta.content or "" async for piece in pieces]) == "Itisgreen."
    assert "My bike is green." in upstream.memory
    upstream.act = sends(response({"object": "list", "data": [{"id": "m-1", "object": "model"}]}))
    assert [model.id async for model in gpt.models.list()] == ["m-1"]
    upstream.act = sends(response({"error": {"message": "slow down", "code": "rate"}}, 429))
    with pytest.raises(openai.RateLimitError, match="slow down"):
        await gpt.chat.completions.create(model="memsvc", messages=[{"role": "user", "content": "x"}])
    with pytest.raises(openai.AuthenticationError, match="The key"):
        await gpt.with_options(api_key="mk_no.no").models.list()
    assert [text for _, text in await stored(ada)][:4] == [
        "My bike is green.", "Noted.", "Which colour has my bike?", "Itisgreen.",
    ]  # fmt: skip
