"""Memory in the official clients of OpenAI's Responses API and of Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import openai
import pytest

from memsvc.client import AsyncMemory, wrap
from tests.api.test_client_wrap import BIKE, PATIENT_S, client, memory, model
from tests.fakes.upstream import (
    STREAM_HEAD,
    FakeUpstream,
    message,
    message_stream,
    model_response,
    named_events,
    output_message,
    response,
    says,
    sends,
)

__all__ = ["client", "memory", "model"]
ASK = "What is the bike called?"
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c-1",
    "name": "look",
    "arguments": "{}",
    "status": "completed",
}
USE = {"type": "tool_use", "id": "tu_1", "name": "look", "input": {}}
Chat = Callable[..., Any]


@pytest.fixture
async def claude(model: FakeUpstream) -> AsyncIterator[anthropic.AsyncAnthropic]:
    base = model.url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(base_url=base, api_key="sk-up", max_retries=0) as made:
        yield made


@pytest.fixture(params=["responses", "messages"])
def chat(
    request: pytest.FixtureRequest, memory: AsyncMemory, client: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic
) -> Chat:
    """Makes a wrapped ``create`` of one of the two APIs, for messages with a role and a text."""

    def made(conversation: str) -> Any:
        if request.param == "responses":
            return wrap(client, memory, conversation=conversation, memory_s=PATIENT_S).responses.create
        create: Any = wrap(claude, memory, conversation=conversation, memory_s=PATIENT_S).messages.create

        def asking(*, input: Any, **options: Any) -> Any:  # noqa: A002 - as the other API calls it
            messages = [{"role": "user", "content": input}] if isinstance(input, str) else input
            system = {"system": options.pop("instructions")} if "instructions" in options else {}
            return create(messages=messages, max_tokens=100, **system, **options)

        return asking

    return made


async def kept(memory: AsyncMemory, conversation: str) -> list[tuple[str, str]]:
    return [(said.role, said.text) async for said in memory.messages(conversation)]


async def test_the_model_knows_what_was_said_before(memory: AsyncMemory, chat: Chat, model: FakeUpstream) -> None:
    create = chat("kitchen")
    await create(model="m-1", input=BIKE)
    assert await kept(memory, "kitchen") == [("user", BIKE), ("assistant", "Noted.")]
    history = [{"role": "user", "content": BIKE}, {"role": "assistant", "content": "Noted."}]
    await create(model="m-1", input=[*history, {"role": "user", "content": "It is green."}])
    assert [text for _, text in await kept(memory, "kitchen")] == [BIKE, "Noted.", "It is green.", "Noted."]

    await chat("elsewhere")(model="m-1", input=ASK, instructions="Be short.")
    assert BIKE in model.memory
    sent = model.asked[-1].body
    assert str(sent.get("instructions") or sent.get("system")).startswith("Be short.\n\n[memsvc context")


async def test_without_instructions_the_block_stands_alone(
    memory: AsyncMemory, chat: Chat, model: FakeUpstream
) -> None:
    await memory.add(BIKE, "before")
    await chat("kitchen")(model="m-1", input=iter([{"role": "user", "content": ASK}]))
    assert BIKE in model.memory


async def test_a_stream_is_heard_to_its_end_or_as_far_as_it_went(
    memory: AsyncMemory, chat: Chat, model: FakeUpstream
) -> None:
    model.act = says("The bike is Rosalinde.")
    create = chat("kitchen")
    stream = await create(model="m-1", input=ASK, stream=True)
    assert len([event async for event in stream]) > 4
    async with await create(model="m-1", input=f"{ASK} Again?", stream=True) as stream:
        async for event in stream:
            if event.type in {"response.output_text.delta", "content_block_delta"}:
                break
    said = [text for role, text in await kept(memory, "kitchen") if role == "assistant"]
    assert said == ["ThebikeisRosalinde.", "The"]  # the fake's pieces have no spaces


@pytest.mark.parametrize("streams", [False, True])
async def test_what_is_said_beside_a_call_of_a_tool_is_no_answer(
    memory: AsyncMemory, chat: Chat, model: FakeUpstream, *, streams: bool
) -> None:
    text = {"type": "text", "text": "Let me look."}
    begun: dict[str, Any] = {"type": "content_block_start", "index": 1, "content_block": USE}
    done: dict[str, Any] = {"type": "response.output_item.done", "output_index": 0, "item": CALL, "sequence_number": 1}
    head, end, tail = message_stream("Let me look.").rpartition(b"event: message_stop")
    spoken = STREAM_HEAD + head + named_events(begun) + end + tail
    whole = model_response(output_message("Let me look."), CALL)
    called = STREAM_HEAD + named_events(done, {"type": "response.completed", "response": whole, "sequence_number": 2})

    async def act(asked: Any, writer: Any) -> None:
        messages = asked.path.endswith("/messages")
        answer = message(text, USE, stop="tool_use") if messages else whole
        raw = (spoken if messages else called) if streams else response(answer)
        await sends(raw)(asked, writer)

    model.act = act
    answer = await chat("kitchen")(model="m-1", input=ASK, stream=streams)
    if streams:
        assert [one async for one in answer]
    assert await kept(memory, "kitchen") == [("user", ASK)]


async def test_behind_a_tool_the_model_knows_what_it_knew_and_nothing_is_stored_twice(
    memory: AsyncMemory, client: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic, model: FakeUpstream
) -> None:
    await memory.add(BIKE, "before")
    asked: Any = [{"role": "user", "content": ASK}]
    first: Any = [*asked, CALL, {"type": "function_call_output", "call_id": "c-1", "output": "Nothing."}]
    result = {"type": "tool_result", "tool_use_id": "tu_1", "content": "Nothing."}
    second: Any = [*asked, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [result]}]
    responses = wrap(client, memory, conversation="kitchen", memory_s=PATIENT_S).responses
    messages = wrap(claude, memory, conversation="garden", memory_s=PATIENT_S).messages
    for told, answer in ((asked, model_response(CALL)), (first, model_response(output_message("Rosalinde.")))):
        model.act = sends(response(answer))
        await responses.create(model="m-1", input=told)
        assert BIKE in model.memory
    for told, answer in ((asked, message(USE, stop="tool_use")), (second, message({"type": "text", "text": "Yes."}))):
        model.act = sends(response(answer))
        await messages.create(model="m-1", messages=told, max_tokens=9)
        assert BIKE in model.memory
    for conversation in ("kitchen", "garden"):
        assert [role for role, _ in await kept(memory, conversation)] == ["user", "assistant"]


async def test_a_refusal_is_no_answer(
    memory: AsyncMemory, claude: anthropic.AsyncAnthropic, model: FakeUpstream
) -> None:
    create = wrap(claude, memory, conversation="kitchen", memory_s=PATIENT_S).messages.create
    model.act = sends(response(message({"type": "text", "text": "Here is"}, stop="refusal")))
    await create(model="m-1", messages=[{"role": "user", "content": ASK}], max_tokens=9)
    assert await kept(memory, "kitchen") == [("user", ASK)]
