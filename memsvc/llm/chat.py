"""Asks a language model one question over any OpenAI-compatible ``/chat/completions``.

OpenAI, vLLM, Ollama, llama.cpp, LM Studio and most others support it. The openai package is not used: it takes 1.8 s to
import, and the protocol is one POST. Text from a server or a person never gets into an error or a log, because servers
repeat parts of the question.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import re
import ssl
import threading
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import Any, Literal, Self

import httpx
import msgspec

from memsvc.errors import (
    ConfigurationError,
    LlmAnswerError,
    LlmContextError,
    LlmError,
    LlmRefusedError,
    LlmSlowError,
)
from memsvc.settings import Settings
from memsvc.text.tokens import estimate_tokens

TRIES = 2
PAUSE_S = (0.3, 0.8)
"""Range of a random pause before the second try, if the server names none; random, because other calls failed too."""
MAX_PAUSE_S = 10.0
"""If the server asks for a longer pause, the call gives up; a job has tries of its own."""
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
UNFIT = frozenset({400, 422})
LONG = UNFIT | {500}
"""Statuses with which servers refuse a question that exceeds the context."""
MAX_ANSWER_BYTES = 4_000_000
MOST_SEARCHED = 2_000
"""Characters of a server's error in which its kind is looked for; none of them is kept."""
CODE = re.compile(r"[a-z][a-z0-9_.]{1,59}")
"""Shape of servers' error codes; anything else could be quoted text."""
TOO_LONG = re.compile(r"context[ _](?:length|size|window)|(?:prompt|input) is too long|too many tokens", re.IGNORECASE)
"""In a server's error: the question does not fit the model's context. Servers have no common code for it."""
NEVER_DROPPED = frozenset({"model", "messages", "response_format", "stream"})
RENAMED = {"max_tokens": "max_completion_tokens"}
"""The name that newer models of OpenAI expect."""
LOOK_S = 0.02


class Message(msgspec.Struct, frozen=True):
    """A message in the conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A model's answer, and what it cost."""

    text: str
    finish: str
    """stop; length: it was cut off; or another reason that the server gives; empty: none."""
    tokens_in: int
    tokens_out: int
    """As counted by the server; estimated if it does not report them."""
    cost: float | None = None
    """In the server's currency, if it reports the cost."""
    first_ms: float
    """Milliseconds until the first token of the answer; the same as ``ms`` without a stream."""
    ms: float
    """Milliseconds until it was complete, tries and pauses included."""
    tries: int
    """Number of requests that it took."""

    def after(self, ms: float, tries: int) -> Self:
        """Return the same reply, with earlier time and tries added."""
        return msgspec.structs.replace(self, first_ms=self.first_ms + ms, ms=self.ms + ms, tries=self.tries + tries)


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts of a try, in seconds."""

    whole: float
    """Until the answer is complete."""
    connect: float = 5.0
    first: float = 60.0
    """Until the first token of a stream: servers read the whole question before it."""
    silence: float = 30.0
    """Between two tokens of a stream."""


class Gate:
    """Limits the number of simultaneous calls, across threads and event loops."""

    def __init__(self, slots: int) -> None:
        """Open the gate for this many calls."""
        self._free = threading.BoundedSemaphore(slots)

    async def __aenter__(self) -> Self:
        """Wait for a free slot; polling costs nothing compared with the seconds that a model takes."""
        while not self._free.acquire(blocking=False):  # noqa: ASYNC110 - asyncio's events work in one loop only
            await asyncio.sleep(LOOK_S)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the slot."""
        self._free.release()


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()  # the system's certificates; loading takes 20 ms, so it is cached


@dataclass(slots=True)
class _Manners:
    """The parts of a request that a model does not accept, learnt from its refusals; kept by this process."""

    left_out: set[str] = field(default_factory=set)

    def applied(self, body: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in body.items() if name not in self.left_out}
        renamed = {RENAMED[name]: body[name] for name in self.left_out & set(body) if name in RENAMED}
        return {**kept, **{name: value for name, value in renamed.items() if name not in self.left_out}}


# For this process: the gate of each server, and the parts of a request that each of its models does not accept.
_gates: dict[tuple[str, int], Gate] = {}
_manners: dict[tuple[str, str], _Manners] = {}


class _TryAgainError(Exception):
    """This try failed, and another one may succeed."""

    def __init__(self, error: LlmError, pause_s: float | None = None) -> None:
        super().__init__()
        self.error, self.pause_s = error, pause_s


class _UnwantedError(Exception):
    """The server refuses a part of the request that can be left out."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self.part = part


class ChatClient:
    """A model of a server. No connection is kept between calls, so any event loop of any thread may use it."""

    def __init__(self, settings: Settings, patience: Patience | None = None) -> None:
        """Read the settings; the server is not contacted yet.

        Args:
            settings: give the server, model and key, the timeout, and the number of simultaneous calls.
            patience: None: ``llm_timeout_s`` for the whole answer.

        Raises:
            ConfigurationError: no model is named, or the key cannot be sent in a header.
        """
        if not settings.llm_model:
            raise ConfigurationError("MEMSVC_LLM_MODEL is not set.", hint="Set it to the name of a model.")
        self.model = settings.llm_model
        self.url = settings.llm_url.rstrip("/")
        key = settings.llm_key.get_secret_value().strip() if settings.llm_key else ""
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError("MEMSVC_LLM_KEY holds characters that a key cannot have.")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.patience = patience or Patience(whole=settings.llm_timeout_s)
        slots = settings.llm_concurrency
        self._gate = _gates.setdefault((self.url, slots), Gate(slots))
        self._manners = _manners.setdefault((self.url, self.model), _Manners())

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        form: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
        stream: bool = False,
        again: frozenset[int] = AGAIN,
    ) -> Reply:
        """Ask; a failed try is repeated once if that may help, after the pause that the server asks for.

        Args:
            messages: the conversation so far.
            form: ``response_format``; None: any text.
            max_tokens: of the answer; None: the server's limit.
            stream: receive the answer in pieces, so that a silent server is noticed early.
            again: statuses after which a second try is made.

        Raises:
            LlmError: the server cannot be reached, is too slow or too busy, or broke off; details have ``tries``, and
                may have ``answered`` (its HTTP status) and ``retry_after_s``.
            LlmSlowError: the answer took longer than it may.
            LlmRefusedError: it refuses the request.
            LlmContextError: the request is longer than the model's context.
            LlmAnswerError: its answer does not follow the protocol.
        """
        body: dict[str, Any] = {
            "model": self.model, "messages": [msgspec.to_builtins(message) for message in messages], "temperature": 0,
        }  # fmt: skip
        if form is not None:
            body["response_format"] = form
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        began, tries, failures = time.monotonic(), 0, 0
        while True:
            tries += 1
            try:
                async with self._gate:
                    reply = await self._try(self._manners.applied(body), again)
            except _UnwantedError as refusal:
                self._manners.left_out.add(refusal.part)
                continue
            except _TryAgainError as failure:
                failures += 1
                pause_s = failure.pause_s if failure.pause_s is not None else random.uniform(*PAUSE_S)  # noqa: S311
                if failures == TRIES or pause_s > MAX_PAUSE_S:
                    failure.error.details["tries"] = tries
                    raise failure.error from failure.__cause__
                await asyncio.sleep(pause_s)
            except LlmError as error:
                error.details["tries"] = tries
                raise
            else:
                return _counted(reply, messages).after((time.monotonic() - began) * 1000 - reply.ms, tries - 1)

    async def _try(self, body: Mapping[str, Any], again: frozenset[int]) -> Reply:
        began = time.monotonic()
        patience = self.patience
        first = min(patience.first, patience.whole) if body.get("stream") else patience.whole
        answer = _Arriving()
        try:
            async with asyncio.timeout(first) as limit:
                async with aclosing(self._lines(body, again)) as lines:
                    async for line in lines:
                        elapsed_s = time.monotonic() - began
                        if answer.take(line, elapsed_s):
                            break
                        left_s = min(patience.silence, patience.whole - elapsed_s)
                        limit.reschedule(asyncio.get_running_loop().time() + left_s)
        except TimeoutError as error:
            # A server that was too slow is not asked again right away.
            raise LlmSlowError(f"The language model's server {self._lateness(began, answer)}.") from error
        except (httpx.ConnectTimeout, httpx.ConnectError) as error:
            raise _TryAgainError(LlmError("The language model's server cannot be reached.")) from error
        except httpx.TransportError as error:
            raise _TryAgainError(LlmError("The language model's server broke off its answer.")) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise LlmError(f"The language model's server cannot be asked: {type(error).__name__}.") from error
        if body.get("stream") and not answer.ended:
            raise _TryAgainError(LlmError("The language model's server broke off its answer."))
        return answer.reply(time.monotonic() - began)

    def _lateness(self, began: float, answer: _Arriving) -> str:
        if time.monotonic() - began >= self.patience.whole - 0.01:
            return f"took longer than {self.patience.whole:g} s"
        if answer.first_s is None:
            return f"gave no sign for {self.patience.first:g} s"
        return f"fell silent for {self.patience.silence:g} s"

    async def _lines(self, body: Mapping[str, Any], again: frozenset[int]) -> AsyncGenerator[str]:
        """Yield the answer's lines: one JSON document, or a stream of events."""
        async with (
            httpx.AsyncClient(
                verify=_certificates(),
                timeout=httpx.Timeout(None, connect=self.patience.connect),
                headers=self._headers,
            ) as client,
            client.stream("POST", f"{self.url}/chat/completions", json=body) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise _refusal(response, await _read(response), again, body)
            if "text/event-stream" in response.headers.get("Content-Type", ""):
                async for line in _split(response):
                    yield line
            else:
                yield (await _read(response)).decode(errors="replace")


async def _pieces(response: httpx.Response) -> AsyncGenerator[bytes]:
    """Yield the body as it arrives.

    Raises:
        LlmAnswerError: it is larger than any answer can be.
    """
    size = 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise LlmAnswerError("The language model's server sends more data than any answer has.")
        yield piece


async def _read(response: httpx.Response) -> bytes:
    return b"".join([piece async for piece in _pieces(response)])


async def _split(response: httpx.Response) -> AsyncGenerator[str]:
    """Yield the body's lines; httpx's own reader would buffer a line without limit."""
    rest = b""
    async for piece in _pieces(response):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    yield rest.decode(errors="replace")


def _refusal(
    response: httpx.Response, raw: bytes, again: frozenset[int], body: Mapping[str, Any]
) -> LlmError | _TryAgainError | _UnwantedError:
    """Return the error for a status other than 200."""
    status = response.status_code
    try:
        says = msgspec.json.decode(raw)["error"]
        part, code = str(says.get("param")), str(says.get("code") or says.get("type"))
        too_long = TOO_LONG.search(f"{code} {says.get('type')} {says.get('message')}"[:MOST_SEARCHED]) is not None
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError, RecursionError):
        part, code, too_long = "", "", False
    if status in UNFIT and part in body and part not in NEVER_DROPPED:
        return _UnwantedError(part)
    why = f" ({code})" if CODE.fullmatch(code) else ""
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE or (too_long and status in LONG):
        return LlmContextError(f"The question exceeds the language model's context: {status}{why}.", answered=status)
    if status in again:
        pause_s = _wanted_pause(response.headers.get("Retry-After"))
        error = LlmError(f"The language model's server answers {status}{why}.", answered=status)
        if pause_s is not None:
            error.details["retry_after_s"] = round(pause_s, 1)
        return _TryAgainError(error, pause_s)
    kind = LlmRefusedError if status < 500 and status not in AGAIN else LlmError  # noqa: PLR2004 - HTTP's own border
    return kind(f"The language model's server answers {status}{why}.", answered=status)


def _wanted_pause(header: str | None) -> float | None:
    """Return Retry-After in seconds (RFC 9110, 10.2.3: seconds, or a date); None: missing or not readable."""
    if header is None:
        return None
    try:
        pause_s = float(header) if header.strip().replace(".", "", 1).isdigit() else None
        if pause_s is None:
            pause_s = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(pause_s, 0.0)


class _Arriving:
    """An answer while it arrives."""

    def __init__(self) -> None:
        self.first_s: float | None = None
        self.ended = False
        self._pieces: list[str] = []
        self._finish = ""
        self._usage: dict[str, Any] = {}

    def take(self, line: str, elapsed_s: float) -> bool:
        """Take a line; return True if it was the last one of a stream.

        Raises:
            LlmAnswerError: it does not follow the protocol.
        """
        line = line.strip()
        if not line or line.startswith((":", "event:", "id:", "retry:")):
            return False
        self.first_s = elapsed_s if self.first_s is None else self.first_s
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            self.ended = True
            return True
        try:
            self._add(msgspec.json.decode(data))
        except (msgspec.MsgspecError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise LlmAnswerError(
                "The language model's server sends something that is not a chat completion.",
                hint="See MEMSVC_LLM_URL: it is the base of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1.",
            ) from error
        return False

    def _add(self, event: dict[str, Any]) -> None:
        if "error" in event and not event.get("choices"):
            raise _TryAgainError(LlmError("The language model's server failed in the middle of its answer."))
        self._usage = event.get("usage") or self._usage
        if not event["choices"]:  # the last event of a stream has only the usage
            return
        choice = event["choices"][0]
        said = choice.get("message") or choice.get("delta") or {}
        content = said.get("content") or ""
        if not isinstance(content, str):
            raise TypeError(content)
        self._pieces.append(content)
        if choice.get("finish_reason"):
            self._finish = str(choice["finish_reason"])
            self.ended = True

    def reply(self, elapsed_s: float) -> Reply:
        """Return the complete answer."""
        first_s = self.first_s if self.first_s is not None else elapsed_s
        return Reply(
            text="".join(self._pieces),
            finish=self._finish,
            tokens_in=_number(self._usage.get("prompt_tokens")),
            tokens_out=_number(self._usage.get("completion_tokens")),
            cost=_cost(self._usage.get("cost")),
            first_ms=first_s * 1000,
            ms=elapsed_s * 1000,
            tries=1,
        )


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 2**31 else 0


def _cost(value: Any) -> float | None:
    return float(value) if type(value) in {int, float} and 0 <= value < math.inf else None


def _counted(reply: Reply, messages: Sequence[Message]) -> Reply:
    """Add estimated tokens if the server counted none, so that budgets work there too."""
    return msgspec.structs.replace(
        reply,
        tokens_in=reply.tokens_in or sum(estimate_tokens(message.content) for message in messages),
        tokens_out=reply.tokens_out or estimate_tokens(reply.text),
    )
