"""The HTTP server: Granian, within this process.

Granian takes so many connections at once (``backpressure``), and those beyond wait until others end. By its defaults
these are 128, and it guesses the protocol from what comes first, without a time limit: 128 clients that say nothing
would keep out all others for ever. So HTTP/1.1 alone is spoken, where a head has its time, and there are many places.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

HEAD_S = 30.0
"""Longest time for the head of a request, and between two requests of a connection."""
PLACES = 1_024
"""Connections beside the live ones."""
BACKLOG = 1_024
"""Connections that the kernel accepts before the server has looked at them, where the system allows as many."""
FILES = 256
"""Further files that a process has open: the database's connections, models, pipes."""


def server(
    app: Any, host: str, port: int, *, live: int, interface: Interfaces = Interfaces.ASGI, head_s: float = HEAD_S
) -> Server:
    """A server for an application; ``serve()`` serves until ``stop()``.

    Args:
        app: the application.
        host: where to listen.
        port: the same.
        live: so many connections may be live ones, which stay open.
        interface: ASGI, or ASGI without a lifespan.
        head_s: longest time for a head.
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
    """Let this process have so many files open, as far as the system lets it: often 1,024 where it may have more.

    Returns:
        How many it may have now, at most what was asked for.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not everywhere

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if now != resource.RLIM_INFINITY and now < files:
            now = files if most == resource.RLIM_INFINITY else max(now, min(files, most))
            resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))
        return files if now == resource.RLIM_INFINITY else min(now, files)
    return files
