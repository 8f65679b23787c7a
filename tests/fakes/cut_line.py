"""A way to the database that fails: it loses an answer to what the server has done, is cut, or stalls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

BLOCK = 65_536
Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class CutLine:
    """Listens on a port of its own and passes on what comes, until it is told to lose something."""

    def __init__(self, server: str) -> None:
        """Lead to the server of an URL."""
        self.server = server
        self.url = ""
        """The same database by this way."""
        self.word: bytes | None = None
        """The answer to the next thing sent that holds this is lost, and the connection with it."""
        self._flows, self._cut = asyncio.Event(), asyncio.Event()
        self.mend()

    def mend(self) -> None:
        """Pass on again; what was held up, too."""
        self._flows.set()
        self._cut.clear()

    def stall(self) -> None:
        """Hold everything up: connections stay open, new ones too, and nothing arrives."""
        self._flows.clear()

    def cut(self) -> None:
        """End all connections, and new ones at once."""
        self._cut.set()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection till either end closes it, or it is cut."""
        told = conninfo_to_dict(self.server)
        host, port = str(told["host"]), int(told.get("port") or 5432)
        if host.startswith("/"):
            behind, ahead = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            behind, ahead = await asyncio.open_connection(host, port)
        lost = asyncio.Event()

        async def there() -> None:
            while sent := await reader.read(BLOCK):
                if self.word is not None and self.word in sent:
                    self.word = None
                    lost.set()
                await self._flows.wait()
                ahead.write(sent)

        async def back() -> None:
            while answer := await behind.read(BLOCK):
                if lost.is_set():
                    return
                await self._flows.wait()
                writer.write(answer)

        ways: list[asyncio.Task[Any]] = [asyncio.create_task(way()) for way in (there, back, self._cut.wait)]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for side in (ahead, writer):
                side.close()
                with suppress(OSError):
                    await side.wait_closed()


@asynccontextmanager
async def cut_line(server: str) -> AsyncIterator[CutLine]:
    """A way to the server of an URL, until the block ends; its connections are closed before."""
    line = CutLine(server.replace("+psycopg", ""))
    listener = await asyncio.start_server(line.pass_on, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    line.url = make_url(server).set(host="127.0.0.1", port=port, query={}).render_as_string(hide_password=False)
    try:
        yield line
    finally:
        listener.close()
