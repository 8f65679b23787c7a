"""Streams of a model's answer that also let memory hear it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, Self

from memsvc.client.dialects import Heard


class Stream:
    """A stream that also reads the answer, and stores it once when it ends or is closed."""

    def __init__(self, stream: Any, heard: Heard, store: Callable[[str], None]) -> None:
        self._stream = stream
        self._store = store
        self._heard = heard
        self._chunks = self._listen()

    def _listen(self) -> Generator[Any, None, None]:
        try:
            for chunk in self._stream:
                self._heard.hear(chunk)
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


class AsyncStream:
    """The same for async programs."""

    def __init__(self, stream: Any, heard: Heard, store: Callable[[str], Awaitable[None]]) -> None:
        self._stream = stream
        self._store = store
        self._heard = heard
        self._chunks = self._listen()

    async def _listen(self) -> AsyncGenerator[Any, None]:
        try:
            async for chunk in self._stream:
                self._heard.hear(chunk)
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
