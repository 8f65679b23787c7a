"""Gives an OpenAI client memory: ``wrap(client, memory)``. It still asks the model itself, where it always did.

Before each chat completion what the user says is stored and what matters for it is put in front of the model, as one
fenced system message behind the caller's own; what the model says is stored when it is complete. All else of the
client is as it was, and a memory that fails or is slow costs no answer. The package openai is not imported: a client is
known by its methods. A service that does the same for clients of any language: docs/chat.md.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import logging
import secrets
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, Self, TypeVar, overload

from memsvc.client.asynchronous import AsyncMemory
from memsvc.client.errors import ClientError
from memsvc.client.memory import Memory
from memsvc.text.characters import is_visible, trimmed

Client = TypeVar("Client")
T = TypeVar("T")
INSTRUCTING = ("system", "developer")
TALKING = ("user", "assistant")
SLOW = "memory_slow"
BUSY = "memory_busy"
MOST_BEHIND = 32
"""Calls of a process that nobody waits for any more; while there are so many, memory is not asked."""
FILTERED = "content_filter"
log = logging.getLogger(__name__)
_behind: set[Future[Any] | asyncio.Task[Any]] = set()
"""What goes on behind a chat that did not wait for it."""


@overload
def wrap(
    client: Client, memory: Memory, *, conversation: str = ..., budget_tokens: int = ..., memory_s: float = ...
) -> Client: ...
@overload
def wrap(
    client: Client, memory: AsyncMemory, *, conversation: str = ..., budget_tokens: int = ..., memory_s: float = ...
) -> Client: ...
def wrap(
    client: Any,
    memory: Memory | AsyncMemory,
    *,
    conversation: str = "chat",
    budget_tokens: int = 1_500,
    memory_s: float = 0.8,
) -> Any:
    """A client whose ``chat.completions.create`` remembers; the given one stays as it is.

    A call that comes again, after an error say, stores nothing twice: what the user says is named by all that was said
    before it in the messages. Where they hold nothing else, the same text is the same message until this client stored
    something else, such as the answer; after that it is a new one.

    Args:
        client: an ``OpenAI`` with a ``Memory``, or an ``AsyncOpenAI`` with an ``AsyncMemory``.
        memory: of the user who talks.
        conversation: what the conversation is called.
        budget_tokens: most tokens of memories in front of the model, 50 to 100,000.
        memory_s: longest wait for memory, in seconds: once before the model is asked, once behind its answer. Then the
            chat goes on without, and what was to be stored is still stored in the background, an answer behind what
            the user said. While 32 calls of the process go on there, chats go without memory, and store nothing.
    """
    wrapped = client.with_options()
    completions = wrapped.chat.completions
    create = completions.create
    if isinstance(memory, Memory):
        completions.create = _remembering(create, memory, _Chat(conversation, budget_tokens, memory_s))
    else:
        completions.create = _awaiting(create, memory, _Chat(conversation, budget_tokens, memory_s))
    return wrapped


class _Chat(NamedTuple):
    """How a conversation is remembered."""

    conversation: str
    budget_tokens: int
    memory_s: float


def _remembering(create: Callable[..., Any], memory: Memory, chat: _Chat) -> Callable[..., Any]:
    order, ids, name = _Order(), _Ids(chat.conversation), chat.conversation

    def store(asked: _Asked, answer: str) -> None:
        if is_visible(answer):
            named = ids.answer(asked, answer)
            order.within(chat.memory_s, lambda: memory.responded(answer, name, message_id=named), behind=True)

    def known(asked: _Asked) -> str:
        if not asked.text:
            return ""
        found = order.within(
            chat.memory_s,
            lambda: memory.enrich(
                asked.text, name, message_id=asked.id, budget_tokens=chat.budget_tokens, store=asked.new
            ),
            stores=asked.new,
        )
        return found.text if found is not None else ""

    @functools.wraps(create)
    def remembering(*, messages: Iterable[Any], **options: Any) -> Any:
        told = list(messages)
        asked = ids.asked(told)
        answer = create(messages=_with_block(told, known(asked)), **options)
        if options.get("stream"):
            return _Stream(answer, functools.partial(store, asked))
        store(asked, _answered(answer))
        return answer

    return remembering


def _awaiting(create: Callable[..., Any], memory: AsyncMemory, chat: _Chat) -> Callable[..., Any]:
    order, ids, name = _AsyncOrder(), _Ids(chat.conversation), chat.conversation

    async def store(asked: _Asked, answer: str) -> None:
        if is_visible(answer):
            named = ids.answer(asked, answer)
            await order.within(chat.memory_s, lambda: memory.responded(answer, name, message_id=named), behind=True)

    async def known(asked: _Asked) -> str:
        if not asked.text:
            return ""
        found = await order.within(
            chat.memory_s,
            lambda: memory.enrich(
                asked.text, name, message_id=asked.id, budget_tokens=chat.budget_tokens, store=asked.new
            ),
            stores=asked.new,
        )
        return found.text if found is not None else ""

    @functools.wraps(create)
    async def remembering(*, messages: Iterable[Any], **options: Any) -> Any:
        told = list(messages)
        asked = ids.asked(told)
        answer = await create(messages=_with_block(told, await known(asked)), **options)
        if options.get("stream"):
            return _AsyncStream(answer, functools.partial(store, asked))
        await store(asked, _answered(answer))
        return answer

    return remembering


class _Order:
    """Calls to the memory of a chat: an answer is stored behind what the user said before it."""

    def __init__(self) -> None:
        self._said: Future[Any] | None = None
        """Stores what the user said last."""

    def within(self, seconds: float, work: Callable[[], T], *, stores: bool = False, behind: bool = False) -> T | None:
        """What memory gives within so many seconds; None: it fails, or goes on in a thread that no program waits for.

        Args:
            seconds: longest wait.
            work: asks memory; it is not asked while ``MOST_BEHIND`` calls go on behind chats.
            stores: it stores what the user says.
            behind: it begins when that is done, or failed.
        """
        if _are_many():
            _failed(BUSY)
            return None
        given: Future[T] = Future()
        before = self._said if behind else None
        if stores:
            self._said = given

        def run() -> None:
            try:
                if before is not None:
                    wait([before])
                given.set_result(work())
            except BaseException as error:  # noqa: BLE001 - whoever waits gets it
                given.set_exception(error)

        threading.Thread(target=run, name="memsvc", daemon=True).start()
        try:
            return given.result(seconds)
        except TimeoutError:
            _failed(SLOW)
            _goes_on(given)
        except Exception as error:  # noqa: BLE001 - whatever it is, the chat goes on
            _failed(_code(error))
        return None


class _AsyncOrder:
    """The same for who awaits; what is not waited for goes on as a task."""

    def __init__(self) -> None:
        self._said: asyncio.Task[Any] | None = None

    async def within(
        self, seconds: float, work: Callable[[], Awaitable[T]], *, stores: bool = False, behind: bool = False
    ) -> T | None:
        """As above."""
        if _are_many():
            _failed(BUSY)
            return None
        before = self._said if behind else None

        async def run() -> T:
            if before is not None and not before.done():
                await asyncio.wait([before])
            return await work()

        task = asyncio.create_task(run())
        if stores:
            self._said = task
        try:
            done, _ = await asyncio.wait([task], timeout=seconds)
            if done:
                return task.result()
        except asyncio.CancelledError:  # whoever chats has gone; what was said is stored all the same
            if stores or behind:
                _goes_on(task)
            else:
                task.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the chat goes on
            _failed(_code(error))
        else:
            _failed(SLOW)
            _goes_on(task)
        return None


def _are_many() -> bool:
    """Whether so many go on behind chats; nothing does in a loop that was closed."""
    if len(_behind) >= MOST_BEHIND:
        for one in list(_behind):
            if isinstance(one, asyncio.Task) and one.get_loop().is_closed():
                _behind.discard(one)
    return len(_behind) >= MOST_BEHIND


def _goes_on(given: Future[Any] | asyncio.Task[Any]) -> None:
    """Wait for it no more."""
    _behind.add(given)
    given.add_done_callback(_behind.discard)
    given.add_done_callback(_ended)


def _failed(code: str) -> None:
    log.warning("the chat goes on without memory: %s", code)


def _code(error: Exception) -> str:
    """The client's or the service's; of what neither foresaw, such as words that are no Unicode, its kind."""
    return error.code if isinstance(error, ClientError) else type(error).__name__


def _ended(given: Future[Any] | asyncio.Task[Any]) -> None:
    """Tell of what failed when nobody waited any more."""
    error = None if given.cancelled() else given.exception()
    if error is not None:
        log.warning("memory failed behind the chat: %s", error)


class _Asked(NamedTuple):
    """What the user said last."""

    text: str
    """Empty: nothing in words."""
    new: bool
    """Nothing stands behind it."""
    id: str


class _Ids:
    """Names what is said, so that it is stored once however often a call is made; ``wrap`` tells the rule.

    It is the drop-in door's (``memsvc.chat.remembering``), which knows of all doors what was said last.
    """

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._last = ""
        """The id of what was stored last; empty: that was an answer."""

    def asked(self, messages: Sequence[Any]) -> _Asked:
        """What the user said last, with its id."""
        told = [(_field(one, "role"), _words(_field(one, "content"))) for one in messages]
        turns = [(role, words) for role, words in told if role in TALKING and words]
        new = bool(told) and told[-1][0] == "user" and bool(told[-1][1])
        name = f"wrap:{_digest(self._conversation, *turns)}"
        if len(turns) < 2 or (new and sum(role == "user" for role, _ in turns) == 1):  # noqa: PLR2004 - no history
            name = self._last if self._last.startswith(f"{name}:") else f"{name}:{secrets.token_hex(4)}"
        if new:
            self._last = name
        return _Asked(next((words for role, words in reversed(turns) if role == "user"), ""), new, name)

    def answer(self, asked: _Asked, words: str) -> str:
        """The id of an answer, which is stored now; a question that comes again may get another one."""
        self._last = ""
        return f"answer:{asked.id}:{_digest(words)[:12]}"


def _digest(*of: Any) -> str:
    return hashlib.sha256(json.dumps(of, default=str).encode()).hexdigest()[:40]


def _field(given: Any, name: str) -> Any:
    """A field of a message or of a part of it, be it a mapping or an object; None: it has none."""
    try:
        return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    except Exception:  # noqa: BLE001 - whatever it is, the chat goes on
        return None


def _words(content: Any) -> str:
    """The words of a message's content, which is a text or a list of parts."""
    if isinstance(content, (list, tuple)):
        texts = [_field(part, "text") for part in content if _field(part, "type") == "text"]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return trimmed(content) if isinstance(content, str) else ""


def _with_block(messages: Sequence[Any], block: str) -> list[Any]:
    """The messages with the block behind those that instruct the model; as they were where there is none."""
    sent = list(messages)
    if block:
        roles = [_field(message, "role") for message in sent]
        place = next((n for n, role in enumerate(roles) if role not in INSTRUCTING), len(sent))
        sent.insert(place, {"role": "system", "content": block})
    return sent


def _answered(completion: Any) -> str:
    """What the model answers; empty: it calls tools, whatever it says beside that, or was stopped by a filter."""
    heard = _Heard()
    heard.hear(completion, "message")
    return heard.answer


class _Heard:
    """What the model said so far."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._answers = True

    def hear(self, given: Any, name: str) -> None:
        """Take in a completion ("message") or a chunk of a stream ("delta"), of several choices the first one.

        What servers leave out is nothing said.
        """
        choices = getattr(given, "choices", None) or ()
        for choice in [one for one in choices if not getattr(one, "index", 0)][:1]:
            said = getattr(choice, name, None)
            words = getattr(said, "content", None)
            self._words.append(words if isinstance(words, str) else "")
            filtered = getattr(choice, "finish_reason", None) == FILTERED
            if filtered or getattr(said, "tool_calls", None) or getattr(said, "function_call", None):
                self._answers = False

    @property
    def answer(self) -> str:
        """All of it; empty: it is no answer."""
        return "".join(self._words) if self._answers else ""


class _Stream:
    """A stream that also listens; what was said till its end, or till it is closed, is stored once."""

    def __init__(self, stream: Any, store: Callable[[str], None]) -> None:
        self._stream = stream
        self._store = store
        self._heard = _Heard()
        self._chunks = self._listen()

    def _listen(self) -> Generator[Any, None, None]:
        try:
            for chunk in self._stream:
                self._heard.hear(chunk, "delta")
                yield chunk
        finally:
            self._store(self._heard.answer)

    def __iter__(self) -> Iterator[Any]:
        return self._chunks

    def __next__(self) -> Any:
        return next(self._chunks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        try:
            self._chunks.close()
        finally:
            self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _AsyncStream:
    """The same for who awaits."""

    def __init__(self, stream: Any, store: Callable[[str], Awaitable[None]]) -> None:
        self._stream = stream
        self._store = store
        self._heard = _Heard()
        self._chunks = self._listen()

    async def _listen(self) -> AsyncGenerator[Any, None]:
        try:
            async for chunk in self._stream:
                self._heard.hear(chunk, "delta")
                yield chunk
        finally:
            await self._store(self._heard.answer)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._chunks

    async def __anext__(self) -> Any:
        return await anext(self._chunks)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up."""
        try:
            await self._chunks.aclose()
        finally:
            await self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
