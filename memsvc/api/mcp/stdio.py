"""MCP over standard input and output, for the program that started this process and one user."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.messages import refused
from memsvc.api.mcp.server import make_server

Send = Callable[[SessionMessage], Awaitable[None]]


class Lines:
    """The lines of standard input that the SDK can answer. Others are refused here."""

    def __init__(self, lines: AsyncIterable[str]) -> None:
        """Read from ``lines``; ``send`` is set before the first line is read."""
        self._lines = lines
        self.send: Send | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the lines that the SDK can answer."""
        async for line in self._lines:
            if not line.strip():
                continue
            error = refused(line)
            if error is None:
                yield line
            elif self.send is not None:
                await self.send(SessionMessage(error))


@contextmanager
def _own_input() -> Iterator[AsyncIterable[str]]:
    """Reserve standard input for the protocol: other readers, such as child processes, find it empty."""
    kept, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        # Never closed: a thread may still be waiting in it for a line.
        yield anyio.wrap_file(open(kept, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115
    finally:
        os.dup2(kept, 0)


async def serve_stdio(asker: Asker) -> None:
    """Answer until standard input ends. Standard output is reserved for the protocol; prints go to standard error.

    It cannot be cancelled while it waits for a line, because nothing wakes the reading thread.
    """
    server = make_server(lambda _ctx: asker)
    with _own_input() as given:
        lines = Lines(given)
        async with stdio_server(stdin=cast("Any", lines)) as (reading, writing):
            lines.send = writing.send
            await server.run(reading, writing, server.create_initialization_options())
