"""The application behind real HTTP, in the test's own event loop: for streams, and for clients that go away."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from granian.constants import Interfaces
from litestar import Litestar

from memsvc.api.serving import HEAD_S, server
from tests.api.conftest import running


@asynccontextmanager
async def served(app: Litestar, *, header_timeout_s: float = HEAD_S) -> AsyncIterator[str]:
    """Serve it on a free port of this machine; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    listening = server(app, "127.0.0.1", port, live=100, interface=Interfaces.ASGINL, head_s=header_timeout_s)
    async with running(app):
        serving = asyncio.create_task(listening.serve())
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
            listening.stop()  # type: ignore[no-untyped-call]
            await serving
