"""A way to the database that can be cut: the server gets what was sent and does it, and its answer is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

BLOCK = 65_536
Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class CutLine:
    """Listens on a port of its own and passes on what comes, until it is told to lose an answer."""

    def __init__(self, server: str) -> None:
        """Lead to the server of an URL."""
        self.server = server
        self.url = ""
        """The same database by this way."""
        self.word: bytes | None = None
        """The answer to the next thing sent that holds this is lost, and the connection with it."""

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection till either end closes it."""
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
                ahead.write(sent)

        async def back() -> None:
            while answer := await behind.read(BLOCK):
                if lost.is_set():
                    return
                writer.write(answer)

        ways = [asyncio.create_task(there()), asyncio.create_task(back())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for end in (ahead, writer):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()


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
