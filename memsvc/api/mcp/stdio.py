"""MCP over standard input and output, for the program that started this process and one user."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.server import make_server


async def serve_stdio(asker: Asker) -> None:
    """Answer until standard input ends. Meanwhile standard output is the protocol's; what others print goes to error.

    Cannot be cancelled while it waits for a line: the thread that reads would have to be woken.
    """
    server = make_server(lambda _ctx: asker)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
