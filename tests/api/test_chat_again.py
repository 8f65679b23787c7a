"""The drop-in door meets clients that send the same again: each text is stored once, and what is not stored is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from memsvc import observe
from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.served import served
from tests.fakes.upstream import (
    STREAM_HEAD,
    Asked,
    FakeUpstream,
    completion,
    message,
    model_response,
    output_message,
    response,
    says,
    sends,
    serving,
    stream,
)

Body = dict[str, Any]
COMPLETIONS, RESPONSES, ANTHROPIC = "/v1/chat/completions", "/v1/responses", "/anthropic/v1/messages"
PATHS = pytest.mark.parametrize("path", [COMPLETIONS, RESPONSES, ANTHROPIC], ids=["completions", "responses", "claude"])
FAILS = sends(response({"error": {"message": "no"}}, 500))
LEFT = "X-Memsvc-Not-Stored"


@pytest.fixture(scope="module")
async def world(db: Database, settings: Settings) -> AsyncIterator[tuple[str, FakeUpstream]]:
    """The application over real HTTP, before one chat server for all APIs."""
    async with serving() as fake:
        chosen: Body = {"chat_url": fake.url, "chat_model": "m-1"}
        chosen |= {"anthropic_url": fake.url, "anthropic_model": "c-1"}
        chosen |= {"chat_memory_ms": 5_000, "max_text_chars": 100_000}
        async with served(create_app(settings.model_copy(update=chosen), db)) as address:
            yield address, fake


@pytest.fixture
def upstream(world: tuple[str, FakeUpstream]) -> FakeUpstream:
    """The chat server."""
    world[1].act, world[1].asked = says(), []
    return world[1]


class Client:
    """A client of all APIs."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def say(self, *turns: str | Body, path: str = COMPLETIONS, session: str = "", **more: Any) -> httpx.Response:
        """Send turns: texts are the user's; those that begin with "> " are the assistant's."""
        said = [turn if isinstance(turn, dict) else self._turn(turn) for turn in turns]
        body = {"messages": said, "input": said, "max_tokens": 9, **more}
        body.pop("messages" if path == RESPONSES else "input")
        answer = await self.http.post(path, json=body, headers={"X-Memsvc-Session": session} if session else {})
        assert answer.status_code < 600
        return answer

    @staticmethod
    def _turn(text: str) -> Body:
        role = "assistant" if text.startswith("> ") else "user"
        return {"role": role, "content": text.removeprefix("> ")}

    async def items(self) -> list[Body]:
        """All messages of the conversation."""
        page = (await self.http.get("/v1/conversations/chat/messages", params={"limit": 200})).json()
        found: list[Body] = page.get("items", [])
        return found

    async def stored(self, *roles: str) -> list[str]:
        """The texts of some roles, the user's by default."""
        return [one["text"] for one in await self.items() if one["role"] in (roles or ("user", "other"))]

    async def erase(self, text: str) -> None:
        """Erase the messages with a text."""
        for one in await self.items():
            if one["text"] == text:
                assert (await self.http.delete(f"/v1/messages/{one['passage_id']}")).is_success


@pytest.fixture
async def ada(
    world: tuple[str, FakeUpstream], upstream: FakeUpstream, db: Database, app: UUID, owner: Owner
) -> AsyncIterator[Client]:
    """Ada's client."""
    assert not upstream.asked
    key = await create_key(db, app, scopes=("read", "write", "forget"), user_id=owner.user_id)
    async with httpx.AsyncClient(base_url=world[0], headers={"Authorization": f"Bearer {key}"}, timeout=20) as http:
        yield Client(http)


@pytest.mark.parametrize("earlier", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("fails", [False, True], ids=["answers", "fails"])
async def test_a_history_of_the_users_texts_alone_is_stored_once(
    ada: Client, upstream: FakeUpstream, *, fails: bool, earlier: bool
) -> None:
    if earlier:
        await ada.say("Something else.")
    upstream.act = FAILS if fails else says()
    texts = [f"Number {number}." for number in range(40)]
    for number in range(1, len(texts) + 1):
        answer = await ada.say(*texts[:number])
        assert answer.headers.get(LEFT) == {1: None, 2: "0 existing"}.get(number, f"0-{number - 2} existing")
    assert await ada.stored() == ["Something else."] * earlier + texts


@PATHS
async def test_a_chat_that_begins_like_an_earlier_one_loses_nothing(ada: Client, path: str) -> None:
    for _ in range(2):
        turns = list[str]()
        for text in ("Hello.", "I moved.", "To Porto."):
            turns.append(text)
            await ada.say(*turns, path=path)
            if len(turns) > 1:
                again = await ada.say(*turns, path=path)  # another answer is asked for
                assert again.headers[LEFT] == f"{len(turns) - 1} existing"
            turns.append("> Noted.")
    assert await ada.stored() == ["Hello.", "I moved.", "To Porto."] * 2


async def test_what_is_taken_for_stored_is_told(ada: Client, upstream: FakeUpstream) -> None:
    upstream.act = FAILS
    assert LEFT not in (await ada.say("Hello.")).headers
    again = await ada.say("Hello.")
    assert (again.headers[LEFT], again.headers["X-Memsvc-Memory"]) == ("0 existing", "ok")
    upstream.act = says("Noted.")
    await ada.say("Hello.", "> Noted.", "I moved.")
    upstream.act = says("Really?")
    await ada.say("Hello.", "> Noted.", "I moved.", "> Really?", "Yes.")
    back = await ada.say("Hello.", "> Noted.", "I moved.")  # the client goes back two turns
    assert back.headers[LEFT] == "2 existing"
    assert await ada.stored() == ["Hello.", "I moved.", "Yes."]


@pytest.mark.parametrize("before", [[], ["Something else."]], ids=["first", "later"])
async def test_the_same_said_at_once_is_stored_once(ada: Client, upstream: FakeUpstream, before: list[str]) -> None:
    for text in before:
        await ada.say(text)
    together = asyncio.Event()

    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if len(upstream.asked) == len(before) + 8:
            together.set()
        await together.wait()  # no answer before all have asked
        await says()(asked, writer)

    upstream.act = act
    await asyncio.gather(*(ada.say("Hello.") for _ in range(8)))
    assert await ada.stored() == [*before, "Hello."]


@pytest.mark.parametrize("answer", [True, False], ids=["answer stays", "answer goes"])
@pytest.mark.parametrize(
    ("earlier", "turns", "at"),
    [
        ([], ["The code is 4711."], 0),
        (["Hello."], ["The code is 4711."], 0),
        ([], ["Hello.", "> Noted.", "The code is 4711."], 2),
        ([], ["Hello.", "The code is 4711."], 1),
        (["Other."], ["Hello.", "The code is 4711."], 1),
    ],
    ids=["first", "later", "history", "row", "later row"],
)
async def test_what_was_erased_does_not_return(
    *, ada: Client, upstream: FakeUpstream, earlier: list[str], turns: list[str], at: int, answer: bool
) -> None:
    for text in earlier:
        await ada.say(text)
    for end in range(1, len(turns) + 1):
        if not turns[end - 1].startswith("> "):
            upstream.act = says("Noted." if end < len(turns) else "The answer.")
            await ada.say(*turns[:end])
    await ada.erase("The code is 4711.")
    if not answer:
        await ada.erase("The answer.")
    for _ in range(2):
        again = await ada.say(*turns)
        assert f"{at} erased" in again.headers[LEFT]
        assert "The code is 4711." not in await ada.stored()


async def test_what_was_erased_long_ago_may_be_said_again(ada: Client) -> None:
    await ada.say("Hello.")
    await ada.say("Yes.")
    await ada.erase("Yes.")
    for number in range(20):
        await ada.say(f"Number {number}.")
    await ada.say("Yes.")
    assert (await ada.stored())[-1] == "Yes."


@pytest.mark.parametrize("bad", ["A zero: \0.", "x" * 100_001], ids=["zero", "long"])
async def test_an_answer_that_cannot_be_stored_is_told(ada: Client, upstream: FakeUpstream, bad: str) -> None:
    code = "invalid_text" if "\0" in bad else "text_too_long"
    upstream.act = sends(response(completion(bad)))
    told = await ada.say("Hello.")
    assert (told.headers["X-Memsvc-Memory"], told.headers["X-Memsvc-Memory-Reason"]) == ("degraded", code)
    assert told.headers[LEFT] == f"answer {code}"
    upstream.act = sends(STREAM_HEAD + stream(bad))
    counted = observe.DEGRADED.labels(code)._value
    before = counted.get()
    assert (await ada.say("Once more.", stream=True)).headers["X-Memsvc-Memory"] == "ok", "the header was sent before"
    assert counted.get() == before + 1
    assert await ada.stored("assistant") == []


async def test_an_answer_of_which_only_the_beginning_is_stored_is_told(
    ada: Client, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.chat.hearing.MAX_CHARS", 10)
    upstream.act = says("A long answer.")
    told = await ada.say("Hello.")
    assert told.headers[LEFT] == "answer shortened"
    assert await ada.stored("assistant") == ["A long ans"]


async def test_a_long_id_of_a_client_keeps_nothing_from_being_stored(ada: Client) -> None:
    given = {"conversation": "chat", "text": "Hello.", "id": "x" * 400}
    assert (await ada.http.post("/v1/messages", json=given)).is_success
    result = {"role": "tool", "tool_call_id": "c" * 5_000, "content": "sun"}
    for _ in range(2):
        told = await ada.say("Hello.", {"role": "assistant", "tool_calls": [{"id": "c" * 5_000}]}, result)
        assert (told.headers["X-Memsvc-Memory"], told.headers[LEFT]) == ("ok", "0 existing")
    assert await ada.stored("user", "assistant") == ["Hello.", "Noted."]
    assert (await ada.stored("tool"))[1:] == ["sun"]


async def test_results_are_kept_where_the_server_keeps_the_history(ada: Client, upstream: FakeUpstream) -> None:
    def output(call: str) -> Body:
        return {"type": "function_call_output", "call_id": call, "output": "ok"}

    steps: list[tuple[list[str | Body], str]] = [
        (["Yes."], "r-0"), ([output("c-1")], "r-1"), ([output("c-1")], "r-2"), ([output("c-2"), output("c-3")], "r-3"),
        (["Yes."], "r-4"), ([output("c-4"), "Yes."], "r-5"), (["Yes."], "r-6"),
    ]  # fmt: skip
    for turns, previous in steps:
        for _ in range(2):  # also when it is sent again
            told = await ada.say(*turns, path=RESPONSES, previous_response_id=previous)
            assert told.headers["X-Memsvc-Memory"] == "ok"
    assert await ada.stored() == ["Yes."] * 4
    assert await ada.stored("tool") == ["ok"] * 5
    assert len(await ada.stored("assistant")) == len(steps)


def nested(depth: int) -> Any:
    """A list in a list in a list, so deep."""
    value: Any = "end"
    for _ in range(depth):
        value = [value]
    return value


@PATHS
@pytest.mark.parametrize("depth", [60, 200, 900])
async def test_nested_parts_are_shortened_and_the_chat_goes_on(ada: Client, path: str, depth: int) -> None:
    odd = {"type": "odd", "of": nested(depth)}
    call = {"id": "c", "type": "tool_use", "input": nested(depth)}
    acts = (
        {"role": "assistant", "content": [call]} if path == ANTHROPIC else {"role": "assistant", "tool_calls": [call]}
    )
    acts = {"type": "function_call", "arguments": nested(depth)} if path == RESPONSES else acts
    told = await ada.say({"role": "user", "content": [odd, {"type": "text", "text": "Hello."}]}, acts, path=path)
    assert (told.status_code, told.headers["X-Memsvc-Memory"], told.headers[LEFT]) == (200, "ok", "0-1 data")
    assert await ada.stored() == ["Hello."]
    for text in [*(await ada.stored("system")), *(await ada.stored("tool"))]:
        assert text.count("[") <= 50, text
    assert len(await ada.stored("system", "tool")) == 2


@PATHS
async def test_a_body_that_is_nested_without_end_is_refused(ada: Client, path: str) -> None:
    deep = b'{"messages": [{"role": "user", "content": %b}]}' % (b'[{"a":' * 10_000 + b"1" + b"}]" * 10_000)
    deep = deep.replace(b"messages", b"input") if path == RESPONSES else deep
    told = await ada.http.post(path, content=deep, headers={"Content-Type": "application/json"})
    assert (told.status_code, told.json()["code"]) == (400, "invalid_request")


PICTURE = {"type": "image", "source": {"type": "base64", "data": "A" * 5_000}}


@PATHS
async def test_every_api_keeps_the_same_of_names_and_of_results(ada: Client, path: str) -> None:
    use = {"id": "c-1", "name": "look", "input": {}}
    turns: dict[str, list[Body]] = {
        COMPLETIONS: [
            {"role": "assistant", "content": "Let me look.", "tool_calls": [use]},
            {"role": "tool", "tool_call_id": "c-1", "content": [PICTURE]},
        ],
        RESPONSES: [
            output_message("Let me look."),
            {"type": "computer_call", "call_id": "c-1", **use},
            {"type": "computer_call_output", "call_id": "c-1", "output": PICTURE},
        ],
        ANTHROPIC: [
            {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, {"type": "tool_use", **use}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c-1", "content": [PICTURE]}]},
        ],
    }
    asked = {"role": "user", "name": "Bob", "content": [{"type": "text", "text": "Hello."}, {"type": ["odd"]}]}
    for _ in range(2):
        told = await ada.say(asked, *turns[path], path=path)
        assert (told.status_code, told.headers["X-Memsvc-Memory"]) == (200, "ok")
    items = [one for one in await ada.items() if one["role"] != "assistant"]
    assert [(one["role"], one["speaker"]) for one in items] == [
        ("other", "Bob"), ("system", ""), ("thinking", ""), ("tool", ""), ("tool", ""),
    ]  # fmt: skip
    picture = items[-1]
    assert picture["metadata"] == {"tool_call_id": "c-1"}
    assert "5,000 characters" in picture["text"]


@pytest.mark.parametrize(
    "kind",
    [
        "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call",
        "mcp_approval_request",
    ],
)  # fmt: skip
async def test_a_text_before_a_call_for_the_client_is_no_answer(ada: Client, upstream: FakeUpstream, kind: str) -> None:
    call = {"type": kind, "call_id": "c-1", "action": {}}
    upstream.act = sends(response(model_response(output_message("Let me look."), call)))
    await ada.say("Hello.", path=RESPONSES)
    assert await ada.stored("assistant") == []
    done: list[Body] = (
        [call, {"type": f"{kind}_output", "call_id": "c-1", "output": []}] if kind.endswith("_call") else []
    )
    upstream.act = sends(response(model_response(*done, output_message("Done."))))
    await ada.say("And now?", path=RESPONSES)
    assert await ada.stored("assistant") == ["Done."], "the server did it by itself"


@PATHS
async def test_no_header_names_the_operators_account(ada: Client, upstream: FakeUpstream, path: str) -> None:
    passed = {
        "openai-processing-ms": "7", "openai-version": "2020-10-01", "openai-model": "m-1", "request-id": "r",
        "x-ratelimit-remaining-requests": "9", "anthropic-ratelimit-requests-limit": "50",
    }  # fmt: skip
    names = (
        "openai-organization",
        "openai-project",
        "anthropic-organization-id",
        "anthropic-workspace-id",
        "x-account",
    )
    secret = dict.fromkeys(names, "acme-4711")
    whole: Body = message({"type": "text", "text": "Noted."}) if path == ANTHROPIC else completion("Noted.")
    for status in (200, 429):
        upstream.act = sends(response(whole, status, headers=passed | secret))
        told = await ada.say("Hello.", path=path)
        assert {name: told.headers.get(name) for name in passed} == passed
        assert "acme" not in str(told.headers)
