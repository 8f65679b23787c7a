"""Gives an OpenAI client memory: ``wrap(client, memory)``. It still asks the model itself, where it always did.

Before each chat completion what the user says is stored and what matters for it is put in front of the model, as one
fenced system message behind the caller's own; what the model says is stored when it is complete. All else of the
client is as it was, and a memory that fails costs no answer. The package openai is not imported: a client is known by
its methods. A service that does the same for clients of any language: docs/chat.md.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar, overload

from memsvc.client.asynchronous import AsyncMemory
from memsvc.client.errors import ClientError
from memsvc.client.memory import Memory

Client = TypeVar("Client")
INSTRUCTING = ("system", "developer")
log = logging.getLogger(__name__)


@overload
def wrap(client: Client, memory: Memory, *, conversation: str = ..., budget_tokens: int = ...) -> Client: ...
@overload
def wrap(client: Client, memory: AsyncMemory, *, conversation: str = ..., budget_tokens: int = ...) -> Client: ...
def wrap(client: Any, memory: Memory | AsyncMemory, *, conversation: str = "chat", budget_tokens: int = 1_500) -> Any:
    """A client whose ``chat.completions.create`` remembers; the given one stays as it is.

    Args:
        client: an ``OpenAI`` with a ``Memory``, or an ``AsyncOpenAI`` with an ``AsyncMemory``.
        memory: of the user who talks.
        conversation: what the conversation is called.
        budget_tokens: most tokens of memories in front of the model, 50 to 100,000.
    """
    wrapped = client.with_options()
    completions = wrapped.chat.completions
    create = completions.create
    if isinstance(memory, Memory):
        completions.create = _remembering(create, memory, conversation, budget_tokens)
    else:
        completions.create = _awaiting(create, memory, conversation, budget_tokens)
    return wrapped


def _remembering(create: Callable[..., Any], memory: Memory, conversation: str, budget: int) -> Callable[..., Any]:
    def store(answer: str) -> None:
        try:
            if answer.strip():
                memory.responded(answer, conversation)
        except ClientError as error:
            _failed(error)

    @functools.wraps(create)
    def remembering(*, messages: Sequence[Any], **options: Any) -> Any:
        known = ""
        try:
            if said := _said(messages):
                known = memory.enrich(said, conversation, budget_tokens=budget).text
        except ClientError as error:
            _failed(error)
        answer = create(messages=_with_block(messages, known), **options)
        if options.get("stream"):
            return _Stream(answer, store)
        store(_answered(answer))
        return answer

    return remembering


def _awaiting(create: Callable[..., Any], memory: AsyncMemory, conversation: str, budget: int) -> Callable[..., Any]:
    async def store(answer: str) -> None:
        try:
            if answer.strip():
                await memory.responded(answer, conversation)
        except ClientError as error:
            _failed(error)

    @functools.wraps(create)
    async def remembering(*, messages: Sequence[Any], **options: Any) -> Any:
        known = ""
        try:
            if said := _said(messages):
                known = (await memory.enrich(said, conversation, budget_tokens=budget)).text
        except ClientError as error:
            _failed(error)
        answer = await create(messages=_with_block(messages, known), **options)
        if options.get("stream"):
            return _AsyncStream(answer, store)
        await store(_answered(answer))
        return answer

    return remembering


def _failed(error: ClientError) -> None:
    log.warning("the chat goes on without memory: %s", error.code)


def _said(messages: Sequence[Any]) -> str:
    """What the user says, where that is the last message; empty: something else is."""
    last = messages[-1] if messages else None
    if not isinstance(last, Mapping) or last.get("role") != "user":
        return ""
    content = last.get("content") or ""
    if isinstance(content, str):
        return content.strip()
    return "\n".join(part["text"] for part in content if part.get("type") == "text").strip()


def _with_block(messages: Sequence[Any], block: str) -> list[Any]:
    """The messages with the block behind those that instruct the model; as they were where there is none."""
    sent = list(messages)
    if block:
        roles = [message.get("role") if isinstance(message, Mapping) else None for message in sent]
        place = next((n for n, role in enumerate(roles) if role not in INSTRUCTING), len(sent))
        sent.insert(place, {"role": "system", "content": block})
    return sent


def _answered(completion: Any) -> str:
    """What the model says; empty: it calls tools, or nothing."""
    return (completion.choices[0].message.content or "") if completion.choices else ""


def _piece(chunk: Any) -> str:
    return (chunk.choices[0].delta.content or "") if chunk.choices else ""


class _Stream:
    """A stream that also listens; what was said till its end, or till it is closed, is stored once."""

    def __init__(self, stream: Any, store: Callable[[str], None]) -> None:
        self._stream = stream
        self._store = store
        self._heard: list[str] = []
        self._chunks = self._listen()

    def _listen(self) -> Generator[Any, None, None]:
        try:
            for chunk in self._stream:
                self._heard.append(_piece(chunk))
                yield chunk
        finally:
            self._store("".join(self._heard))

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
        self._chunks.close()
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _AsyncStream:
    """The same for who awaits."""

    def __init__(self, stream: Any, store: Callable[[str], Awaitable[None]]) -> None:
        self._stream = stream
        self._store = store
        self._heard: list[str] = []
        self._chunks = self._listen()

    async def _listen(self) -> AsyncGenerator[Any, None]:
        try:
            async for chunk in self._stream:
                self._heard.append(_piece(chunk))
                yield chunk
        finally:
            await self._store("".join(self._heard))

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
        await self._chunks.aclose()
        await self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
