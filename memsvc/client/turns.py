"""A turn of an agent as a context manager: what ``memory.turn(…)`` gives, in both clients.

What is said and done is sent in parts: with the first call, with every tenth after it, and at the end. So a process
that dies loses at most the last few calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from memsvc.turns.draft import TurnDraft
from memsvc.turns.files import DocumentRead, FileRead, read_known
from memsvc.turns.history import Staleness
from memsvc.turns.storing import StoredTurn, TouchedDocument, TurnIn

LOOKED_AT = 10
"""Turns among which the last one that saw a document is looked for."""


class Turn:
    """A turn as a context manager: it is committed at the end of the block; of one that raises, as failed."""

    def __init__(
        self,
        send: Callable[[TurnIn], StoredTurn],
        draft: TurnDraft,
        staleness: Callable[..., Staleness] | None = None,
    ) -> None:
        """Begin a turn that ``send`` stores; ``staleness`` asks how a document fared."""
        self._send, self.draft, self._staleness = send, draft, staleness

    def user(self, text: str) -> None:
        """Say what the user asked."""
        self.draft.user(text)

    def tool(self, tool: str, target: str | None = None, **fields: Any) -> None:
        """Add a call; see ``TurnDraft.add``."""
        if self.draft.add(tool, target, **fields):
            self.flush()

    def agent(self, text: str, *, ok: bool | None = None, commit: str | None = None) -> None:
        """Say what the agent answered; see ``TurnDraft.agent``."""
        self.draft.agent(text, ok=ok, commit=commit)

    def read_document(self, path: str, *, content: bool = True) -> DocumentRead:
        """Read a file, record that, and return it with what is known about it, such as what changed it since.

        Args:
            path: absolute, or below the project's root.
            content: keep the beginning and the end of the text with the call; False: only its digest.

        Raises:
            OSError: there is no such file, or it cannot be read; that is recorded, too.
        """
        read = self.draft.read(path, content=content)
        self.flush()
        known, touched = None, self.draft.touched()
        if touched is not None and self._staleness is not None:
            known = self._staleness(touched.document_id, limit=LOOKED_AT)
        return _known(self.draft, read, touched, known)

    def flush(self) -> None:
        """Store what is new now; the turn stays open."""
        self.draft.stored = self._send(self.draft.part(done=False))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self.draft.ok = False
        self.draft.stored = self._send(self.draft.part(done=True))


class AsyncTurn:
    """The same with ``async with``; parts are sent while the agent goes on."""

    def __init__(
        self,
        send: Callable[[TurnIn], Awaitable[StoredTurn]],
        draft: TurnDraft,
        staleness: Callable[..., Awaitable[Staleness]] | None = None,
    ) -> None:
        """Begin a turn that ``send`` stores; ``staleness`` asks how a document fared."""
        self._send, self.draft, self._staleness = send, draft, staleness
        self._sending: asyncio.Task[None] | None = None

    def user(self, text: str) -> None:
        """Say what the user asked."""
        self.draft.user(text)

    def tool(self, tool: str, target: str | None = None, **fields: Any) -> None:
        """Add a call; see ``TurnDraft.add``."""
        if self.draft.add(tool, target, **fields):
            self._sending = asyncio.create_task(self._after(self._sending, self.draft.part(done=False)))

    def agent(self, text: str, *, ok: bool | None = None, commit: str | None = None) -> None:
        """Say what the agent answered; see ``TurnDraft.agent``."""
        self.draft.agent(text, ok=ok, commit=commit)

    async def read_document(self, path: str, *, content: bool = True) -> DocumentRead:
        """Read a file, record that, and return it with what is known about it, such as what changed it since.

        Args:
            path: absolute, or below the project's root.
            content: keep the beginning and the end of the text with the call; False: only its digest.

        Raises:
            OSError: there is no such file, or it cannot be read; that is recorded, too.
        """
        read = await asyncio.to_thread(self.draft.read, path, content=content)
        await self.flush()
        known, touched = None, self.draft.touched()
        if touched is not None and self._staleness is not None:
            known = await self._staleness(touched.document_id, limit=LOOKED_AT)
        return _known(self.draft, read, touched, known)

    async def flush(self) -> None:
        """Store what is new now; the turn stays open."""
        await self._after(self._sending, self.draft.part(done=False))

    async def _after(self, before: asyncio.Task[None] | None, part: TurnIn) -> None:
        if before is not None:
            await before
        self.draft.stored = await self._send(part)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is not None:
            self.draft.ok = False
        await self._after(self._sending, self.draft.part(done=True))


def _known(draft: TurnDraft, read: FileRead, touched: TouchedDocument | None, known: Staleness | None) -> DocumentRead:
    if touched is None or known is None:
        return read_known(read, None, None, None, None)
    seen = draft.seen.get(touched.document_id)
    if touched.version is not None:
        draft.seen[touched.document_id] = touched.version
    return read_known(read, touched.version, known, draft.stored.turn_id if draft.stored else None, seen)
