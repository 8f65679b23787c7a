"""One call to a language model: what servers do wrong becomes an error that tells what to do, and no text gets out."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count
from typing import Any

import pytest

from memsvc.errors import ConfigurationError, LlmAnswerError, LlmError, LlmRefusedError
from memsvc.llm.chat import ChatClient, Message, Patience, Reply
from memsvc.settings import Settings
from tests.fakes.chat_server import ChatServer, Dies, Hangs, Raw, Say, Status, Step, serving

SECRET = "the treasure lies under the mill"
TALK = [Message("system", "Be short."), Message("user", SECRET)]
BUSY = Status(429, {"Retry-After": "0.2"})
_models = (f"model-{number}" for number in count())


@pytest.fixture(autouse=True)
def _pauses_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))


@pytest.fixture
def start() -> Iterator[Callable[..., ChatServer]]:
    """Start servers with scripts; they end with the test."""
    with ExitStack() as stack:
        yield lambda *steps, **more: stack.enter_context(serving(ChatServer(*steps, **more)))


def client(server: ChatServer, *, whole_s: float = 5.0, silence_s: float = 5.0, places: int = 8) -> ChatClient:
    settings = Settings.model_validate({
        "llm_url": server.url, "llm_model": next(_models), "llm_key": "sk-1", "llm_concurrency": places,
    })  # fmt: skip
    return ChatClient(settings, Patience(whole=whole_s, silence=silence_s))


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_comes_with_its_cost(start: Callable[..., ChatServer], *, stream: bool) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 12, "cost": 0.00025}
    server = start(Say("Grüße, 世界!", usage=usage))
    reply = await client(server).chat(TALK, stream=stream, max_tokens=50, form={"type": "json_object"})
    assert reply == Reply(
        text="Grüße, 世界!", finish="stop", tokens_in=90, tokens_out=12, cost=0.00025, first_ms=reply.first_ms,
        ms=reply.ms, tries=1,
    )  # fmt: skip
    assert 0 < reply.first_ms <= reply.ms
    asked = server.requests[0]
    assert asked["messages"] == [{"role": "system", "content": "Be short."}, {"role": "user", "content": SECRET}]
    assert (asked["max_tokens"], asked["temperature"], asked["response_format"]) == (50, 0, {"type": "json_object"})
    assert asked.get("stream_options") == ({"include_usage": True} if stream else None)
    assert server.keys == ["Bearer sk-1"]


@pytest.mark.parametrize("stream", [False, True])
async def test_tokens_are_estimated_where_the_server_counts_none(
    start: Callable[..., ChatServer], *, stream: bool
) -> None:
    reply = await client(start(Say("five words are said here", usage=None))).chat(TALK, stream=stream)
    assert reply.tokens_in > 5
    assert reply.tokens_out == 5


@pytest.mark.parametrize("first", [BUSY, Status(503), Status(500), Dies()])
async def test_a_second_try_helps(start: Callable[..., ChatServer], first: Step) -> None:
    server = start(first, Say("here"))
    reply = await client(server).chat(TALK)
    assert (reply.text, reply.tries, len(server)) == ("here", 2, 2)
    assert reply.ms >= reply.first_ms >= (200 if first == BUSY else 0), "the pause that the server wants counts"


async def test_a_date_may_say_when_to_try_again(start: Callable[..., ChatServer]) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    assert (await client(start(Status(429, {"Retry-After": soon}), Say("here"))).chat(TALK)).tries == 2


@pytest.mark.parametrize(
    ("steps", "says", "details"),
    [
        (
            (Status(429, {"Retry-After": "3600"}),),
            "answers 429",
            {"answered": 429, "retry_after_s": 3600.0, "tries": 1},
        ),
        ((Status(429, {"Retry-After": "soon"}), Status(429)), "answers 429", {"answered": 429, "tries": 2}),
        ((Status(500), Status(502)), "answers 502", {"answered": 502, "tries": 2}),
        ((Status(501),), "answers 501", {"answered": 501, "tries": 1}),
        ((Dies(), Dies()), "broke off", {"tries": 2}),
    ],
)
async def test_who_is_busy_or_down_is_asked_later(
    start: Callable[..., ChatServer], steps: tuple[Step, ...], says: str, details: dict[str, object]
) -> None:
    with pytest.raises(LlmError, match=says) as caught:
        await client(start(*steps)).chat(TALK)
    assert caught.value.passing
    assert caught.value.details == details


async def test_a_server_that_is_not_there(start: Callable[..., ChatServer]) -> None:
    settings = Settings.model_validate({"llm_url": "http://127.0.0.1:1/v1", "llm_model": "m"})
    with pytest.raises(LlmError, match="cannot be reached") as caught:
        await ChatClient(settings).chat(TALK)
    assert caught.value.passing
    assert caught.value.details == {"tries": 2}


@pytest.mark.parametrize("code", [301, 400, 401, 403, 404, 422])
async def test_a_refusal_is_final_and_tells_nothing_of_the_question(
    start: Callable[..., ChatServer], code: int
) -> None:
    error = {"message": f"I cannot answer {SECRET}", "code": "invalid_api_key", "param": None}
    server = start(Status(code, {"Location": "/elsewhere"}, error))
    with pytest.raises(LlmRefusedError, match=rf"answers {code} \(invalid_api_key\)") as caught:
        await client(server).chat(TALK)
    assert not caught.value.passing
    assert len(server) == 1
    told = f"{caught.value} {caught.value.advice} {caught.value.details}"
    assert SECRET not in told
    assert "sk-1" not in told


async def test_what_servers_call_their_errors_is_told_only_if_it_is_a_name(start: Callable[..., ChatServer]) -> None:
    for error in ({"code": SECRET}, {"type": ["x"]}, {"code": 7}):
        with pytest.raises(LlmRefusedError) as caught:
            await client(start(Status(400, error=error))).chat(TALK)
        assert str(caught.value) == "The language model's server answers 400."


async def test_what_a_model_does_not_want_to_be_told_is_left_out_from_then_on(start: Callable[..., ChatServer]) -> None:
    unwanted = [
        Status(400, error={"param": name, "code": "unsupported_parameter"}) for name in ("temperature", "max_tokens")
    ]
    server = start(*unwanted, Say("a"), Say("b"))
    asker = client(server)
    assert (await asker.chat(TALK, max_tokens=9)).tries == 3
    assert (await asker.chat(TALK, max_tokens=9)).tries == 1
    for asked in server.requests[2:]:
        assert "temperature" not in asked
        assert "max_tokens" not in asked
        assert asked["max_completion_tokens"] == 9
    server.script(*[Status(400, error={"param": name}) for name in ("max_completion_tokens", "messages")])
    with pytest.raises(LlmRefusedError):
        await asker.chat(TALK, max_tokens=9)


@pytest.mark.parametrize(
    ("step", "stream", "says"),
    [
        (Hangs(), False, r"took longer than 0\.3 s"),
        (Hangs(), True, r"took longer than 0\.3 s"),
        (Hangs("Once upon a time"), True, r"took longer than 0\.3 s"),
    ],
)
async def test_a_slow_server_is_waited_for_so_long_and_not_asked_again(
    start: Callable[..., ChatServer], step: Step, says: str, *, stream: bool
) -> None:
    server = start(step, Say("late"))
    began = time.monotonic()
    with pytest.raises(LlmError, match=says) as caught:
        await client(server, whole_s=0.3).chat(TALK, stream=stream)
    assert 0.3 <= time.monotonic() - began < 2
    assert caught.value.passing
    assert len(server) == 1


async def test_a_stream_that_falls_silent_is_given_up_early(start: Callable[..., ChatServer]) -> None:
    began = time.monotonic()
    with pytest.raises(LlmError, match=r"fell silent for 0\.2 s"):
        await client(start(Hangs("Once upon")), silence_s=0.2).chat(TALK, stream=True)
    assert time.monotonic() - began < 2


async def test_a_stream_that_ends_in_the_middle_is_no_answer(start: Callable[..., ChatServer]) -> None:
    server = start(Dies("Once upon a time there"), Say("whole"))
    assert (await client(server).chat(TALK, stream=True)).text == "whole"
    with pytest.raises(LlmError, match="broke off"):
        await client(start(Dies("Once"), Dies("Once upon"))).chat(TALK, stream=True)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>It works!</html>",
        b"[]",
        b'{"choices": 3}',
        b'{"choices": [{"message": {"content": [1]}}]}',
        b"[" * 9_000,
    ],
)
async def test_what_is_no_completion(start: Callable[..., ChatServer], body: bytes) -> None:
    with pytest.raises(LlmAnswerError, match="not a chat completion") as caught:
        await client(start(Raw(body))).chat(TALK)
    assert "MEMSVC_LLM_URL" in caught.value.advice


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_endless_answer_is_not_read(start: Callable[..., ChatServer], kind: str) -> None:
    with pytest.raises(LlmAnswerError, match="more data than any answer"):
        await client(start(Raw(b" " * 5_000_000, kind))).chat(TALK, stream=kind != "application/json")


class Slow:
    """Answers after a while; counts how many answers are being made at once, so a client still waits for each."""

    def __init__(self) -> None:
        self.busy = self.most_busy = 0
        self._lock = threading.Lock()

    def __call__(self, _body: dict[str, Any]) -> str:
        with self._lock:
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
        time.sleep(0.05)
        with self._lock:
            self.busy -= 1
        return "there"


async def test_so_many_calls_at_once_by_all_threads_of_the_process(start: Callable[..., ChatServer]) -> None:
    slow = Slow()
    server = start(otherwise=Say(slow))
    askers = [client(server, places=2) for _ in range(3)]

    def elsewhere() -> None:
        asyncio.run(_all(askers[1], 3))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    await asyncio.gather(_all(askers[0], 3), _all(askers[2], 3))
    await asyncio.to_thread(thread.join)
    assert (len(server), slow.most_busy) == (9, 2)


async def _all(asker: ChatClient, calls: int) -> None:
    await asyncio.gather(*(asker.chat(TALK) for _ in range(calls)))


@pytest.mark.parametrize(
    "given",
    [{"llm_model": None}, {"llm_model": "m", "llm_key": "two\nlines"}, {"llm_model": "m", "llm_key": "Schlüssel"}],
)
def test_what_cannot_work_is_said_before_anybody_is_asked(given: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ChatClient(Settings.model_validate(given))
    assert "lines" not in str(caught.value)
