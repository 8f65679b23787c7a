"""OpenAI's own client with memory: a call that comes again, odd messages, and what else the client can do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.client import AsyncMemory, Memory, wrap
from tests.api.conftest import Connect
from tests.api.test_client_wrap import BIKE, PATIENT_S, QUESTION
from tests.api.test_langgraph import Bridge
from tests.fakes.upstream import FakeUpstream, response, says, sends, serving


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


def turn(role: str, text: Any) -> Any:
    return {"role": role, "content": text}


NAMED = [turn("user", BIKE), turn("assistant", "Noted.")]
YES: Any = [turn("system", "Be short."), turn("user", "Yes.")]
FAILS, LONGER = [*NAMED, *YES], [*NAMED, *YES, turn("assistant", "Sure?"), turn("user", "Yes.")]
AGAIN = [turn("system", "At noon."), turn("user", [{"type": "text", "text": BIKE}]), NAMED[1], *YES]


async def said(memory: AsyncMemory, conversation: str) -> list[str]:
    return [one.text async for one in memory.messages(conversation)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_call_that_comes_again_stores_nothing_twice(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream, *, stream: bool
) -> None:
    answers = model.act
    create: Any = wrap(client, memory, memory_s=PATIENT_S).chat.completions.create

    async def ask(messages: Any) -> None:
        answer = await create(model="m-1", messages=messages, stream=stream)
        if stream:
            assert [chunk async for chunk in answer]

    for failing, asked in ((FAILS, AGAIN), (LONGER, LONGER)):
        model.act = sends(response({"error": {"message": "slow down"}}, status=429))
        with pytest.raises(openai.RateLimitError):
            await ask(failing)
        model.act = answers
        await ask(asked)
        await ask(asked)  # answered alike once more
    assert await said(memory, "chat") == ["Yes.", "Noted.", "Yes.", "Noted."]
    other = wrap(client, memory, memory_s=PATIENT_S)  # as after a restart
    await other.chat.completions.create(model="m-1", messages=LONGER)
    assert len(await said(memory, "chat")) == 4
    await wrap(client, memory, conversation="hall", memory_s=PATIENT_S).chat.completions.create(
        model="m-1", messages=LONGER
    )
    assert await said(memory, "hall") == ["Yes.", "Noted."]


async def test_another_answer_to_the_same_call_is_stored(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    for words in ("Sure.", "Of course.", "Sure."):
        model.act = says(words)
        await chat.chat.completions.create(model="m-1", messages=FAILS)
    assert await said(memory, "chat") == ["Yes.", "Sure.", "Of course."]


async def test_without_history_the_same_text_is_new_once_something_else_was_stored(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    answers, create = model.act, wrap(client, memory, memory_s=PATIENT_S).chat.completions.create
    for _ in range(2):
        model.act = sends(response({"error": {"message": "slow down"}}, status=429))
        for _ in range(2):
            with pytest.raises(openai.RateLimitError):
                await create(model="m-1", messages=YES)
        model.act = answers
        await create(model="m-1", messages=YES)
    assert await said(memory, "chat") == ["Yes.", "Noted.", "Yes.", "Noted."]
    model.act = sends(response({"error": {"message": "slow down"}}, status=429))
    for words in ("Yes.", "No.", "Yes."):
        with pytest.raises(openai.RateLimitError):
            await create(model="m-1", messages=[turn("user", words)])
    assert (await said(memory, "chat"))[4:] == ["Yes.", "No.", "Yes."]


async def test_pictures_without_words_may_have_the_same_answer(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    shown: Any = [turn("user", [{"type": "image_url", "image_url": {"url": "data:,"}}])]
    for _ in range(2):
        await chat.chat.completions.create(model="m-1", messages=shown)
    assert await said(memory, "chat") == ["Noted."] * 2


async def test_a_call_that_comes_again_from_who_does_not_await(
    api: Litestar, connect: Connect, owner: Owner, memory: AsyncMemory, model: FakeUpstream
) -> None:
    key = (await connect("read", "write", user=owner)).headers["Authorization"].removeprefix("Bearer ")
    plain_memory = Memory("http://memsvc.test", key, transport=Bridge(api, asyncio.get_running_loop()))
    answers = model.act

    def talk() -> None:
        with openai.OpenAI(base_url=model.url, api_key="sk-up", max_retries=0) as plain:
            create = wrap(plain, plain_memory, memory_s=PATIENT_S).chat.completions.create
            for failing, asked in ((FAILS, AGAIN), (LONGER, LONGER), (YES, YES), (YES, YES)):
                model.act = sends(response({"error": {"message": "slow down"}}, status=429))
                with pytest.raises(openai.RateLimitError):
                    create(model="m-1", messages=failing)
                model.act = answers
                create(model="m-1", messages=asked)

    await asyncio.to_thread(talk)
    assert await said(memory, "chat") == ["Yes.", "Noted."] * 4


class Broken:
    """A message that cannot be read."""

    @property
    def role(self) -> str:
        raise RuntimeError("no role")


ODD = [
    None,
    7,
    Broken(),
    {},
    turn("assistant", None),
    turn("user", 7),
    turn("assistant", [None, "words", {"type": "text"}, {"type": "text", "text": None}]),
    turn("assistant", "half \ud83d"),
    SimpleNamespace(role="assistant", content=[SimpleNamespace(type="text", text="Noted.")]),
]


async def test_whatever_the_messages_are_the_chat_goes_on(memory: AsyncMemory) -> None:
    told: list[list[Any]] = []

    async def create(*, messages: list[Any], **_options: Any) -> None:
        told.append(messages)

    completions = SimpleNamespace(create=create)
    client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
    client.with_options = lambda: client
    asked = [*ODD, SimpleNamespace(role="user", content=BIKE)]
    wrap(client, memory, memory_s=PATIENT_S)
    for messages in (asked, asked, [], ODD):
        await completions.create(messages=messages)
        assert [one for one in told[-1] if one in messages] == messages
    assert await said(memory, "chat") == [BIKE]


async def test_which_ways_to_the_model_have_memory(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    completions = chat.chat.completions
    await completions.create(model="m-1", messages=FAILS)
    async with completions.stream(model="m-1", messages=LONGER) as stream:
        assert [part async for part in stream]
    assert await said(memory, "chat") == ["Yes.", "Noted."] * 2
    await completions.with_raw_response.create(model="m-1", messages=QUESTION)
    assert (await said(memory, "chat"))[4:] == ["What is the bike called?"]
    await completions.parse(model="m-1", messages=YES)
    await chat.with_options(timeout=60).chat.completions.create(model="m-1", messages=YES)
    assert len(await said(memory, "chat")) == 5


@pytest.mark.parametrize(
    "more",
    [
        [turn("user", "And a canoe.")],
        [turn("assistant", "{")],
        [turn("developer", "Be brief.")],
        [turn("user", [{"type": "image_url", "image_url": {"url": "data:,"}}])],
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "t"}]}, turn("tool", "sun")],
    ],
    ids=["row", "prefill", "developer", "picture", "tool"],
)
async def test_what_the_user_says_is_stored_wherever_it_stands(
    memory: AsyncMemory, client: openai.AsyncOpenAI, model: FakeUpstream, more: list[Any]
) -> None:
    chat = wrap(client, memory, memory_s=PATIENT_S)
    messages: Any = [turn("user", BIKE), *more]
    texts = [BIKE, *(one["content"] for one in more if one["content"] == "And a canoe.")]
    model.act = sends(response({"error": {"message": "slow down"}}, status=429))
    for _ in range(2):
        with pytest.raises(openai.RateLimitError):
            await chat.chat.completions.create(model="m-1", messages=messages)
        assert await said(memory, "chat") == texts
    model.act = says("Noted.")
    await chat.chat.completions.create(model="m-1", messages=messages)
    later: Any = [*messages, turn("assistant", "Noted."), turn("user", "Yes."), turn("user", "Yes.")]
    for _ in range(2):
        await chat.chat.completions.create(model="m-1", messages=later)
    assert await said(memory, "chat") == [*texts, "Noted.", "Yes.", "Yes.", "Noted."]
