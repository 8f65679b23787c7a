"""The application behind real HTTP, in the test's own event loop: for streams, and for clients that go away."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
from litestar import Litestar

from tests.api.conftest import running


@asynccontextmanager
async def served(app: Litestar, *, header_timeout_s: float = 30.0) -> AsyncIterator[str]:
    """Serve it on a free port of this machine; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(
        app,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        log_enabled=False,
        websockets=False,
        http1_settings=HTTP1Settings(header_read_timeout=round(header_timeout_s * 1_000)),
    )
    async with running(app):
        serving = asyncio.create_task(server.serve())
        try:
            for _ in range(500):
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.stop()  # type: ignore[no-untyped-call]
            await serving
