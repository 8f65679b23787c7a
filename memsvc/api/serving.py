"""The HTTP server: Granian, within this process.

Granian serves a limited number of connections at the same time (``backpressure``); further ones wait until others end.
By default the limit is 128, and Granian guesses the protocol from the first bytes, without a time limit: 128 silent
clients would keep out all others for ever. So memsvc allows only HTTP/1.1, where reading the head has a time limit, and
sets a higher limit.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

HEAD_S = 30.0
"""The longest time for the head of a request, and between two requests of a connection, in seconds."""
PLACES = 1_024
"""Connections in addition to the live ones."""
BACKLOG = 1_024
"""Connections that the kernel queues for the server, if the system allows as many."""
FILES = 256
"""Further files that a process has open: database connections, models, pipes."""


def server(
    app: Any, host: str, port: int, *, live: int, interface: Interfaces = Interfaces.ASGI, head_s: float = HEAD_S
) -> Server:
    """Build a server for an application. ``serve()`` runs until ``stop()``.

    Args:
        app: the application.
        host: the address to listen on.
        port: the port to listen on.
        live: how many connections may be live ones, which stay open.
        interface: ASGI, or ASGI without a lifespan.
        head_s: the longest time for a head, in seconds.
    """
    connections = live + PLACES
    connections = max(PLACES // 4, min(connections, _may_open(connections + FILES) - FILES))
    return Server(
        app,
        address=host,
        port=port,
        interface=interface,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=round(head_s * 1_000)),
        backlog=BACKLOG,
        backpressure=connections,
        log_enabled=False,
    )


def _may_open(files: int) -> int:
    """Raise this process's limit of open files as far as the system allows; the default is often 1,024.

    Returns:
        How many files it may open now, at most ``files``.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not everywhere

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if now != resource.RLIM_INFINITY and now < files:
            now = files if most == resource.RLIM_INFINITY else max(now, min(files, most))
            resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))
        return files if now == resource.RLIM_INFINITY else min(now, files)
    return files
