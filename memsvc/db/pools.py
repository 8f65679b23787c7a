"""A pool of connections to one server, as the service needs it."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import QueuePool

from memsvc import traces
from memsvc.db import spans, vectors
from memsvc.db.liveness import roll_back, watch
from memsvc.observe import POOLS
from memsvc.settings import Settings


def open_pool(url: URL, settings: Settings, size: int, *, pooled: bool = False) -> AsyncEngine:
    """A pool of at most ``size`` connections; nothing connects yet.

    Args:
        url: the server, with one of memsvc's logins.
        settings: timeouts.
        size: the most connections.
        pooled: there is a pooler in between. It gives each transaction any session of the server, so nothing may be
            left in a session: no prepared statement, if the pooler does not keep them, and no setting. Poolers refuse
            the startup parameter ``options``, too.
    """
    # The server notices within half a minute that this machine is gone, and releases its sessions' locks.
    options = (
        f"-c statement_timeout={settings.statement_timeout_ms} -c tcp_keepalives_idle=10 "
        "-c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
    )
    prepares = not pooled or settings.pooler_prepares
    engine = create_async_engine(
        url,
        pool_size=size,
        max_overflow=0,
        pool_timeout=settings.pool_timeout_s,
        pool_use_lifo=True,
        pool_reset_on_return=None,  # roll_back does it if a transaction is open
        hide_parameters=True,  # they hold texts and tokens, and an error's message ends up in a log
        json_deserializer=_read_json,
        connect_args={
            "connect_timeout": settings.connect_timeout_s,
            "application_name": "memsvc",
            **({} if pooled else {"options": options}),
            **({} if prepares else {"prepare_threshold": None}),
        },
    )
    POOLS.watch(cast("QueuePool", engine.pool), url.username or "")
    watch(engine)  # a restarted database causes no error
    roll_back(engine)
    vectors.watch(engine)
    if traces.is_on():
        spans.watch(engine)
    return engine


def _read_json(written: bytes) -> Any:
    """Read JSON from the database; msgspec takes a third of the time, but refuses numbers outside a double's range."""
    try:
        return msgspec.json.decode(written)
    except msgspec.DecodeError:
        return json.loads(written)
