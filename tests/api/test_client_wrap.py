"""OpenAI's own client with memory: what the model is told, what is remembered, and what stays as it was."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import httpx
import openai
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.client import AsyncMemory, Memory, RefusedError, Retries, ordering, wrap
from tests.api.conftest import Connect
from tests.api.test_langgraph import Bridge
from tests.fakes.upstream import STREAM_HEAD, FakeUpstream, completion, event, response, says, sends, serving

PATIENT_S = 30.0
"""Longer than memory takes on a busy machine."""
BIKE = "The bike is called Rosalinde."
QUESTION: Any = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "What is the bike called?"}]


@pytest.fixture
async def model() -> AsyncIterator[FakeUpstream]:
    async with serving() as fake:
        yield fake


@pytest.fixture
async def memory(api: Litestar, connect: Connect, owner: Owner) -> AsyncIterator[AsyncMemory]:
    key = (await connect("read", "write", user=owner)).headers["Authorization"].removeprefix("Bearer ")
    async with AsyncMemory("http://memsvc.test", key, transport=httpx.ASGITransport(app=api)) as memory:  # type: ignore[arg-type]
        yield memory


@pytest.fixture
async def client(model: FakeUpstream) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=model.url, api_key="sk-up", max_retries=0) as client:
        yield client


async def test_the_model_knows_what_was_said_before(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory, conversation="kitchen", memory_s=PATIENT_S)
    await chat.chat.completions.create(model="m-1", messages=[{"role": "user", "content": BIKE}])
    other = wrap(client, memory, conversation="elsewhere", memory_s=PATIENT_S)
    answer = await other.chat.completions.create(model="m-1", messages=QUESTION, temperature=0.5)
    assert answer.choices[0].message.content == "Noted."
    sent = model.asked[-1].body
    assert [one["role"] for one in sent["messages"]] == ["system", "system", "user"]
    assert BIKE in sent["messages"][1]["content"]
    assert sent["messages"][1]["content"].startswith("[memsvc context")
    assert sent["temperature"] == 0.5
    assert [(said.role, said.text) async for said in memory.messages("kitchen")] == [
        ("user", BIKE),
        ("assistant", "Noted."),
    ]
    await client.chat.completions.create(model="m-1", messages=QUESTION)  # the client itself has no memory
    assert model.memory == ""


async def test_a_stream_is_heard_to_its_end_or_as_far_as_it_went(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    model.act = says("The bike is Rosalinde.")
    chat = wrap(client, memory, memory_s=PATIENT_S)
    stream = await chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True)
    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert len(pieces) > 4
    async with await chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True) as stream:
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
    said = [one.text async for one in memory.messages("chat") if one.role == "assistant"]
    assert said == ["".join(pieces), "The"]


CALL = {"id": "t-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


async def test_errors_pass(memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    model.act = sends(response({"error": {"message": "slow down"}}, status=429))
    with pytest.raises(openai.RateLimitError):
        await chat.chat.completions.create(model="m-1", messages=QUESTION)
    assert {one.role async for one in memory.messages("chat")} == {"user"}


async def test_behind_a_tool_the_model_knows_what_it_knew(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    await memory.add(BIKE, "kitchen")
    chat = wrap(client, memory, memory_s=PATIENT_S)
    model.act = sends(response(completion("Let me look.", "tool_calls", tool_calls=[CALL])))
    answer = await chat.chat.completions.create(model="m-1", messages=QUESTION)
    assert answer.choices[0].message.tool_calls is not None
    first, model.act = model.memory, says("Rosalinde.")
    told: Any = [*QUESTION, answer.choices[0].message, {"role": "tool", "tool_call_id": "t-1", "content": "Nothing."}]
    await chat.chat.completions.create(model="m-1", messages=told)
    for block in (first, model.memory):
        assert BIKE in block
        assert "What is the bike called?" not in block, "nobody is reminded of what he asks"
    assert [one.text async for one in memory.messages("chat")] == ["What is the bike called?", "Rosalinde."]


async def test_what_is_said_beside_a_call_of_a_tool_or_before_a_filter_is_no_answer(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    calls = [{"index": 0, **CALL}]
    for events in (
        [event({"content": "Let me look."}), event({"tool_calls": calls}), event({}, "tool_calls")],
        [event({"content": "Here is how"}), event({}, "content_filter")],
    ):
        model.act = sends(STREAM_HEAD + b"".join(events) + b"data: [DONE]\n\n")
        stream = await chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True)
        assert [chunk async for chunk in stream]
    model.act = sends(response(completion("Here is how", "content_filter")))
    await chat.chat.completions.create(model="m-1", messages=QUESTION)
    assert {one.role async for one in memory.messages("chat")} == {"user"}


@pytest.mark.parametrize("lacks", [{"choices": None}, {"choices": [{"index": 0}]}], ids=["choices", "words"])
async def test_what_a_server_leaves_out_costs_no_answer(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream, lacks: dict[str, Any]
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    said = {"index": 0, "message": {"role": "assistant", "content": "Rosalinde."}}
    for answer in ({"choices": [said]}, lacks):
        model.act = sends(response({"id": "c-1", **answer}))
        await chat.chat.completions.create(model="m-1", messages=QUESTION)
    piece = {"choices": [{"index": 0, "delta": {"content": "The bike."}}]}
    lines = b"".join(b"data: " + json.dumps({"id": "c-1", **one}).encode() + b"\n\n" for one in (piece, lacks))
    model.act = sends(STREAM_HEAD + lines + b"data: [DONE]\n\n")
    stream = await chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True)
    assert len([chunk async for chunk in stream]) == 2
    stored = [one.text async for one in memory.messages("chat") if one.role == "assistant"]
    assert stored == ["Rosalinde.", "The bike."]


async def test_of_several_choices_the_first_is_the_answer(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    second, first = ({"index": 1, "delta": {"content": "It."}}, {"index": 0, "delta": {"content": "The bike."}})
    pieces = [{"id": "c-1", "choices": choices} for choices in ([second], [first], [second, first])]
    lines = b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces)
    model.act = sends(STREAM_HEAD + lines + b"data: [DONE]\n\n")
    stream = await chat.chat.completions.create(model="m-1", messages=iter(QUESTION), n=2, stream=True)
    assert len([chunk async for chunk in stream]) == 3
    stored = [one.text async for one in memory.messages("chat")]
    assert stored == ["What is the bike called?", "The bike.The bike."]


async def test_words_that_are_no_unicode_cost_no_answer(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    half = "Noted \ud83d."
    model.act = sends(response(json.dumps(completion(half)).encode()))

    def talk() -> Any:
        with openai.OpenAI(base_url=model.url, api_key="sk-up") as plain:
            nobody = Memory("http://127.0.0.1:9", "mk_0.no", retries=Retries(tries=1))
            return wrap(plain, nobody, memory_s=PATIENT_S).chat.completions.create(model="m-1", messages=QUESTION)

    for answer in (
        await wrap(client, memory, memory_s=PATIENT_S).chat.completions.create(model="m-1", messages=QUESTION),
        await asyncio.to_thread(talk),
    ):
        assert answer.choices[0].message.content == half
    assert caplog.messages.count("the chat goes on without memory: UnicodeEncodeError") == 2


class Slow(httpx.AsyncBaseTransport):
    """Lets nothing through for a while."""

    def __init__(self, api: Litestar) -> None:
        self._way = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
        self.opened = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await self.opened.wait()
        return await self._way.handle_async_request(request)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    for _ in range(400):
        if await holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to be so")


async def test_a_slow_memory_is_not_waited_for_and_stores_all_the_same(
    api: Litestar, connect: Connect, owner: Owner, client: openai.AsyncOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    key = (await connect("read", "write", user=owner)).headers["Authorization"].removeprefix("Bearer ")
    slow = Slow(api)
    async with AsyncMemory("http://memsvc.test", key, transport=slow) as memory:
        chat = wrap(client, memory, memory_s=0.05)
        answer = await chat.chat.completions.create(model="m-1", messages=QUESTION)
        assert answer.choices[0].message.content == "Noted."
        assert "the chat goes on without memory: memory_slow" in caplog.messages
        slow.opened.set()

        async def stored() -> bool:
            try:
                return {one.role async for one in memory.messages("chat")} == {"user", "assistant"}
            except RefusedError:
                return False

        await until(stored)


async def test_what_was_said_is_stored_though_who_chats_has_gone(
    api: Litestar, connect: Connect, owner: Owner, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    key = (await connect("read", "write", user=owner)).headers["Authorization"].removeprefix("Bearer ")
    slow = Slow(api)
    slow.opened.set()
    model.act = sends(STREAM_HEAD + event({"content": "The"}), then=60)
    async with AsyncMemory("http://memsvc.test", key, transport=slow) as memory:
        stream = await wrap(client, memory, memory_s=PATIENT_S).chat.completions.create(
            model="m-1", messages=QUESTION, stream=True
        )
        with anyio.CancelScope() as request:  # as web frameworks end what nobody reads any more
            async for chunk in stream:
                if chunk.choices[0].delta.content:
                    slow.opened.clear()
                    request.cancel()
                    await stream.close()
        assert request.cancelled_caught
        await asyncio.wait_for(model.broken_off.wait(), 20)
        slow.opened.set()

        async def stored() -> bool:
            return [one.text async for one in memory.messages("chat")] == ["What is the bike called?", "The"]

        await until(stored)


async def test_a_slow_memory_is_not_waited_for_by_who_does_not_await(
    model: FakeUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    opened = threading.Event()

    class Hangs(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            opened.wait(20)
            raise httpx.ConnectError("gone", request=request)

    def talk() -> float:
        with openai.OpenAI(base_url=model.url, api_key="sk-up") as plain:
            memory = Memory("http://memsvc.test", "mk_0.no", transport=Hangs(), retries=Retries(tries=1))
            started = time.monotonic()
            wrap(plain, memory, memory_s=0.05).chat.completions.create(model="m-1", messages=QUESTION)
            return time.monotonic() - started

    assert await asyncio.to_thread(talk) < 10
    assert caplog.messages.count("the chat goes on without memory: memory_slow") == 2
    opened.set()

    async def told() -> bool:
        return sum("memory failed after the chat: unreachable" in said for said in caplog.messages) == 2

    await until(told)


class Held(httpx.BaseTransport):
    """Holds what the user says for a while, and refuses it then; notes when each call was answered."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.answered: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/message"):
            self.opened.wait(20)
        self.answered.append(request.url.path)
        return httpx.Response(400)


class AsyncHeld(Held, httpx.AsyncBaseTransport):
    """The same for who awaits."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await asyncio.to_thread(self.handle_request, request)


TURN = ["/v1/hooks/message", "/v1/hooks/response"]


async def test_an_answer_is_stored_behind_what_the_user_said(model: FakeUpstream, client: openai.AsyncOpenAI) -> None:
    held = Held()

    def talk() -> None:
        with openai.OpenAI(base_url=model.url, api_key="sk-up") as plain:
            memory = Memory("http://memsvc.test", "mk_0.no", transport=held)
            wrap(plain, memory, memory_s=0.05).chat.completions.create(model="m-1", messages=QUESTION)

    async def both() -> bool:
        return len(held.answered) == 2

    await asyncio.to_thread(talk)
    assert held.answered == []
    held.opened.set()
    await until(both)
    assert held.answered == TURN
    held = AsyncHeld()
    async with AsyncMemory("http://memsvc.test", "mk_0.no", transport=held) as memory:
        await wrap(client, memory, memory_s=0.05).chat.completions.create(model="m-1", messages=QUESTION)
        assert held.answered == []
        held.opened.set()
        await until(both)
    assert held.answered == TURN


async def test_a_memory_that_hangs_is_not_asked_without_end(
    model: FakeUpstream,
    client: openai.AsyncOpenAI,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ordering, "MOST_PENDING", 3)
    held, busy = AsyncHeld(), "the chat goes on without memory: memory_busy"

    def talk() -> None:
        with openai.OpenAI(base_url=model.url, api_key="sk-up") as plain:
            chat = wrap(plain, Memory("http://memsvc.test", "mk_0.no", transport=held), memory_s=0.05)
            for _ in range(2):
                chat.chat.completions.create(model="m-1", messages=QUESTION)

    async def answered() -> bool:
        return len(held.answered) == 3

    async with AsyncMemory("http://memsvc.test", "mk_0.no", transport=held) as memory:
        await asyncio.to_thread(talk)
        assert caplog.messages.count(busy) == 1
        chat = wrap(client, memory, memory_s=0.05)
        answer = await chat.chat.completions.create(model="m-1", messages=QUESTION)
        assert answer.choices[0].message.content == "Noted."
        assert caplog.messages.count(busy) == 3
        held.opened.set()
        await until(answered)
        await wrap(client, memory, memory_s=PATIENT_S).chat.completions.create(model="m-1", messages=QUESTION)
        assert held.answered[3:] == TURN
        assert caplog.messages.count(busy) == 3


async def test_a_closed_memory_costs_no_answer(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    def talk() -> Any:
        closed = Memory("http://memsvc.test", "mk_0.no")
        closed.close()
        with openai.OpenAI(base_url=model.url, api_key="sk-up") as plain:
            return wrap(plain, closed).chat.completions.create(model="m-1", messages=QUESTION)

    await memory.close()
    for answer in (
        await wrap(client, memory).chat.completions.create(model="m-1", messages=QUESTION),
        await asyncio.to_thread(talk),
    ):
        assert answer.choices[0].message.content == "Noted."
    assert caplog.messages.count("the chat goes on without memory: closed") == 4


async def test_without_memory_the_chat_goes_on(client: openai.AsyncOpenAI, caplog: pytest.LogCaptureFixture) -> None:
    async with AsyncMemory("http://127.0.0.1:9", "mk_0.no", retries=Retries(tries=1)) as nobody:
        chat = wrap(client, nobody, memory_s=PATIENT_S)
        answer = await chat.chat.completions.create(model="m-1", messages=QUESTION)
    assert answer.choices[0].message.content == "Noted."
    assert [record.getMessage() for record in caplog.records if record.name.startswith("memsvc")] == [
        "the chat goes on without memory: unreachable"
    ] * 2


async def test_two_users_who_do_not_await(
    api: Litestar, connect: Connect, owner: Owner, other: Owner, model: FakeUpstream
) -> None:
    key = (await connect("read", "write")).headers["Authorization"].removeprefix("Bearer ")
    memory = Memory("http://memsvc.test", key, transport=Bridge(api, asyncio.get_running_loop()))

    def talk(user: Owner, word: str) -> str:
        with openai.OpenAI(base_url=model.url, api_key="sk-up") as plain:
            chat = wrap(plain, memory.for_user(str(user.user_id)), memory_s=PATIENT_S)
            said: Any = [{"role": "user", "content": f"The bike is called {word}."}]
            chat.chat.completions.create(model="m-1", messages=said)
            with chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True) as stream:
                return "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    answers = await asyncio.gather(
        asyncio.to_thread(talk, owner, "Rosalinde"), asyncio.to_thread(talk, other, "Cesare")
    )
    assert {*answers} == {"Noted."}
    told = [asked.memory for asked in model.asked]
    assert sum("Rosalinde" in one for one in told) == sum("Cesare" in one for one in told) == 1
    assert not any("Rosalinde" in one and "Cesare" in one for one in told)
