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
from memsvc.turns.storing import StoredTurn, TurnIn


class Turn:
    """A turn as a context manager: it is committed at the end of the block; of one that raises, as failed."""

    def __init__(self, send: Callable[[TurnIn], StoredTurn], draft: TurnDraft) -> None:
        """Begin a turn that ``send`` stores."""
        self._send, self.draft = send, draft

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

    def __init__(self, send: Callable[[TurnIn], Awaitable[StoredTurn]], draft: TurnDraft) -> None:
        """Begin a turn that ``send`` stores."""
        self._send, self.draft = send, draft
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
