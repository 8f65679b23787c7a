"""OpenAI's own client with memory: what the model is told, what is remembered, and what stays as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.client import AsyncMemory, Memory, Retries, wrap
from tests.api.conftest import Connect
from tests.api.test_langgraph import Bridge
from tests.fakes.upstream import FakeUpstream, completion, response, says, sends, serving

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
    chat = wrap(client, memory, conversation="kitchen")
    await chat.chat.completions.create(model="m-1", messages=[{"role": "user", "content": BIKE}])
    other = wrap(client, memory, conversation="elsewhere")
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
    chat = wrap(client, memory)
    stream = await chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True)
    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert len(pieces) > 4
    async with await chat.chat.completions.create(model="m-1", messages=QUESTION, stream=True) as stream:
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
    said = [one.text async for one in memory.messages("chat") if one.role == "assistant"]
    assert said == ["".join(pieces), "The"]


async def test_errors_and_calls_of_tools_pass(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory)
    model.act = sends(response({"error": {"message": "slow down"}}, status=429))
    with pytest.raises(openai.RateLimitError):
        await chat.chat.completions.create(model="m-1", messages=QUESTION)
    call = {"id": "t-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    model.act = sends(response(completion(None, "tool_calls", tool_calls=[call])))
    answer = await chat.chat.completions.create(model="m-1", messages=QUESTION)
    assert answer.choices[0].message.tool_calls is not None
    told: Any = [*QUESTION, answer.choices[0].message, {"role": "tool", "tool_call_id": "t-1", "content": "Nothing."}]
    await chat.chat.completions.create(model="m-1", messages=told)
    assert model.memory == ""  # nobody said anything
    assert {one.role async for one in memory.messages("chat")} == {"user"}


async def test_without_memory_the_chat_goes_on(client: openai.AsyncOpenAI, caplog: pytest.LogCaptureFixture) -> None:
    async with AsyncMemory("http://127.0.0.1:9", "mk_0.no", retries=Retries(tries=1)) as nobody:
        answer = await wrap(client, nobody).chat.completions.create(model="m-1", messages=QUESTION)
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
            chat = wrap(plain, memory.for_user(str(user.user_id)))
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
