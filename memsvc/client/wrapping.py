"""Gives an OpenAI client memory: ``wrap(client, memory)``. The client still asks its own model server.

Before each chat completion, the user's message is stored, and memories that matter for it are added as one fenced
system message after the caller's own. The model's answer is stored when it is complete. Everything else in the client
stays as it was, and a memory that fails or is slow costs no answer. The package openai is not imported; a client is
recognized by its methods. docs/chat.md describes a service that does the same for clients in any language.
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
SPEAKING = (*TALKING, "tool", "function")
SLOW = "memory_slow"
BUSY = "memory_busy"
MOST_PENDING = 32
"""The most calls of a process that nobody waits for any more. At the limit, memory is not asked."""
FILTERED = "content_filter"
log = logging.getLogger(__name__)
_pending: set[Future[Any] | asyncio.Task[Any]] = set()
"""Calls that continue although their chat no longer waits for them."""


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
    """Return a client whose ``chat.completions.create`` remembers. The given client stays as it is.

    A repeated call, for example after an error, stores nothing twice: the messages before it identify the user's
    message. If there are none, the same text counts as the same message until this client stores something else, such
    as the answer. After that it is a new message.

    Args:
        client: an ``OpenAI`` with a ``Memory``, or an ``AsyncOpenAI`` with an ``AsyncMemory``.
        memory: the memory of the user who chats.
        conversation: the identifier of the conversation.
        budget_tokens: the most tokens of memories for the model, 50 to 100,000.
        memory_s: the longest wait for memory, in seconds: once before the model is asked, and once after its answer.
            Then the chat goes on without memory. What was to be stored is stored in the background, an answer after
            the user's message. While 32 such calls are pending in the process, chats have no memory and store nothing.
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
            order.within(chat.memory_s, lambda: memory.responded(answer, name, message_id=named), after_said=True)

    def known(asked: _Asked) -> str:
        if not asked.text:
            return ""

        def enriched() -> str:
            for text, named in asked.earlier:
                memory.add(text, name, id=named)
            return memory.enrich(
                asked.text, name, message_id=asked.id, budget_tokens=chat.budget_tokens, store=asked.new
            ).text

        return order.within(chat.memory_s, enriched, stores=asked.new) or ""

    @functools.wraps(create)
    def remembering(*, messages: Iterable[Any], **options: Any) -> Any:
        sent = list(messages)
        asked = ids.asked(sent)
        answer = create(messages=_with_block(sent, known(asked)), **options)
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
            await order.within(chat.memory_s, lambda: memory.responded(answer, name, message_id=named), after_said=True)

    async def known(asked: _Asked) -> str:
        if not asked.text:
            return ""

        async def enriched() -> str:
            for text, named in asked.earlier:
                await memory.add(text, name, id=named)
            found = await memory.enrich(
                asked.text, name, message_id=asked.id, budget_tokens=chat.budget_tokens, store=asked.new
            )
            return found.text

        return await order.within(chat.memory_s, enriched, stores=asked.new) or ""

    @functools.wraps(create)
    async def remembering(*, messages: Iterable[Any], **options: Any) -> Any:
        sent = list(messages)
        asked = ids.asked(sent)
        answer = await create(messages=_with_block(sent, await known(asked)), **options)
        if options.get("stream"):
            return _AsyncStream(answer, functools.partial(store, asked))
        await store(asked, _answered(answer))
        return answer

    return remembering


class _Order:
    """Calls to the memory of a chat. An answer is stored after the user's message."""

    def __init__(self) -> None:
        self._said: Future[Any] | None = None
        """Stores what the user said last."""

    def within(
        self, seconds: float, work: Callable[[], T], *, stores: bool = False, after_said: bool = False
    ) -> T | None:
        """Return memory's answer within a time limit; None: it failed, or continues in a daemon thread.

        Args:
            seconds: the longest wait.
            work: asks memory. It is not run while ``MOST_PENDING`` calls are pending.
            stores: it stores the user's message.
            after_said: it begins after the user's message was stored, or failed.
        """
        if _are_many():
            _failed(BUSY)
            return None
        given: Future[T] = Future()
        before = self._said if after_said else None
        if stores:
            self._said = given

        def run() -> None:
            try:
                if before is not None:
                    wait([before])
                given.set_result(work())
            except BaseException as error:  # noqa: BLE001 - the waiting caller gets it
                given.set_exception(error)

        threading.Thread(target=run, name="memsvc", daemon=True).start()
        try:
            return given.result(seconds)
        except TimeoutError:
            _failed(SLOW)
            _goes_on(given)
        except Exception as error:  # noqa: BLE001 - the chat goes on after any error
            _failed(_code(error))
        return None


class _AsyncOrder:
    """The same for async programs. Work that nobody waits for continues as a task."""

    def __init__(self) -> None:
        self._said: asyncio.Task[Any] | None = None

    async def within(
        self, seconds: float, work: Callable[[], Awaitable[T]], *, stores: bool = False, after_said: bool = False
    ) -> T | None:
        """Do the same as ``_Order.within``."""
        if _are_many():
            _failed(BUSY)
            return None
        before = self._said if after_said else None

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
        except asyncio.CancelledError:  # the caller has gone; messages are still stored
            if stores or after_said:
                _goes_on(task)
            else:
                task.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the chat goes on after any error
            _failed(_code(error))
        else:
            _failed(SLOW)
            _goes_on(task)
        return None


def _are_many() -> bool:
    """Whether the limit of pending calls is reached. Calls in closed loops do not count."""
    if len(_pending) >= MOST_PENDING:
        for one in list(_pending):
            if isinstance(one, asyncio.Task) and one.get_loop().is_closed():
                _pending.discard(one)
    return len(_pending) >= MOST_PENDING


def _goes_on(given: Future[Any] | asyncio.Task[Any]) -> None:
    """Keep a call that nobody waits for any more."""
    _pending.add(given)
    given.add_done_callback(_pending.discard)
    given.add_done_callback(_ended)


def _failed(code: str) -> None:
    log.warning("the chat goes on without memory: %s", code)


def _code(error: Exception) -> str:
    """The code of a client's or service's error; for any other error, the name of its class."""
    return error.code if isinstance(error, ClientError) else type(error).__name__


def _ended(given: Future[Any] | asyncio.Task[Any]) -> None:
    """Log the error of a call that nobody waited for."""
    error = None if given.cancelled() else given.exception()
    if error is not None:
        log.warning("memory failed after the chat: %s", error)


class _Asked(NamedTuple):
    """What the user says."""

    text: str
    """The user's last text; empty: none."""
    new: bool
    """True: nobody has answered it yet."""
    id: str
    earlier: Sequence[tuple[str, str]]
    """Texts before it that nobody has answered yet either, with their ids."""


class _Ids:
    """Gives messages ids, so a message is stored once however often a call is repeated. ``wrap`` has the rule.

    The drop-in endpoint (``memsvc.chat.known``) has the same rule, but looks up what is stored.
    """

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._last: dict[str, str] = {}
        """The ids of messages without history that were stored last; empty: that was an answer."""

    def asked(self, messages: Sequence[Any]) -> _Asked:
        """Return what the user says after the last answer, with ids. An answer at the end is to be continued."""
        said = [(_field(one, "role"), _words(_field(one, "content")), _calls(one)) for one in messages]
        end = len(said)
        while end and (_is_answer(*said[end - 1]) or not (said[end - 1][0] in SPEAKING and any(said[end - 1][1:]))):
            end -= 1
        begin = next((index for index in range(end, 0, -1) if _is_answer(*said[index - 1])), 0)
        known, turns, new = self._last, list[tuple[Any, str]](), list[tuple[str, str]]()
        is_alone = not any(role == "user" and words for role, words, _ in said[:begin])
        if end > begin:
            self._last = {}
        for index, (role, words, _) in enumerate(said):
            if role not in TALKING or not words:
                continue
            turns.append((role, words))
            if role == "user" and begin <= index < end:
                name = f"wrap:{_digest(self._conversation, *turns)}"
                if is_alone:
                    self._last[name] = name = known.get(name) or f"{name}:{secrets.token_hex(4)}"
                new.append((words, name))
        if new:
            return _Asked(new[-1][0], new=True, id=new[-1][1], earlier=new[:-1])
        name = f"wrap:{_digest(self._conversation, *turns)}"
        if len(turns) < 2:  # noqa: PLR2004 - no history
            self._last[name] = name = known.get(name) or f"{name}:{secrets.token_hex(4)}"
        text = next((words for role, words in reversed(turns) if role == "user"), "")
        return _Asked(text, new=False, id=name, earlier=())

    def answer(self, asked: _Asked, words: str) -> str:
        """Return the id of an answer that is stored now. A repeated question may get a different answer."""
        self._last = {}
        return f"answer:{asked.id}:{_digest(words)[:12]}"


def _digest(*of: Any) -> str:
    return hashlib.sha256(json.dumps(of, default=str).encode()).hexdigest()[:40]


def _calls(message: Any) -> bool:
    """Whether a message calls tools, or has the result of a call, or parts without text."""
    content = _field(message, "content")
    parts = [_field(part, "type") for part in content] if isinstance(content, (list, tuple)) else []
    names = ("tool_calls", "function_call", "tool_call_id")
    return any(_field(message, name) for name in names) or any(part != "text" for part in parts)


def _is_answer(role: Any, words: str, calls: bool) -> bool:
    return role == "assistant" and bool(words) and not calls


def _field(given: Any, name: str) -> Any:
    """Return a field of a message or a part, which may be a mapping or an object; None: it has no such field."""
    try:
        return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    except Exception:  # noqa: BLE001 - the chat goes on after any error
        return None


def _words(content: Any) -> str:
    """Return the text of a message's content, which is a text or a list of parts."""
    if isinstance(content, (list, tuple)):
        texts = [_field(part, "text") for part in content if _field(part, "type") == "text"]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return trimmed(content) if isinstance(content, str) else ""


def _with_block(messages: Sequence[Any], block: str) -> list[Any]:
    """Return the messages with the block after the system messages; unchanged if there is no block."""
    sent = list(messages)
    if block:
        roles = [_field(message, "role") for message in sent]
        index = next((n for n, role in enumerate(roles) if role not in INSTRUCTING), len(sent))
        sent.insert(index, {"role": "system", "content": block})
    return sent


def _answered(completion: Any) -> str:
    """Return the model's answer; empty if it calls tools or was stopped by a filter."""
    heard = _Heard()
    heard.hear(completion, "message")
    return heard.answer


class _Heard:
    """What the model said so far."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._answers = True

    def hear(self, given: Any, name: str) -> None:
        """Read the first choice of a completion ("message") or of a chunk of a stream ("delta").

        Fields that servers leave out count as empty.
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
        """The whole text; empty: it is not an answer."""
        return "".join(self._words) if self._answers else ""


class _Stream:
    """A stream that also reads the answer, and stores it once when it ends or is closed."""

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
        """Close the stream."""
        try:
            self._chunks.close()
        finally:
            self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _AsyncStream:
    """The same for async programs."""

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
        """Close the stream."""
        try:
            await self._chunks.aclose()
        finally:
            await self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
