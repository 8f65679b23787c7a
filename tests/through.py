"""Tests of isolation once more, through what stands between the service and its database.

``MEMSVC_TEST_THROUGH=pooler`` puts a real PgBouncer in transaction mode before the server under test, ``replica`` lets
a real streaming standby serve the reads. The tests are the same: ``Logins.enter`` and the service's settings ask here
where to connect. It needs the embedded server of a run (no ``MEMSVC_TEST_SERVER``).
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
from sqlalchemy import URL, make_url

from memsvc.db.engine import Database
from memsvc.db.replicas import Replicas
from memsvc.server import embedded
from memsvc.settings import Settings
from tests.acceptance.killpoints import free_port, wait_until
from tests.cluster import FAST
from tests.poolers import Pooler, pooling
from tests.standbys import make_standby

THROUGH = os.environ.get("MEMSVC_TEST_THROUGH", "")
PATIENCE_S = 30.0
LOGINS = {
    "memsvc_app": "app_password", "memsvc_reader": "reader_password", "memsvc_cypher": "cypher_password",
    "memsvc_analyst": "analyst_password",
}  # fmt: skip
WRITTEN = "SELECT pg_current_wal_insert_lsn()"
REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"


@dataclass(frozen=True, slots=True)
class Between:
    """What stands between: a pooler, or a standby."""

    pooler: Pooler | None = None
    standby: URL | None = None

    def divert(self, url: str) -> str:
        """The URL by which a login gets to the same database."""
        given = make_url(url)
        if self.pooler is not None:
            return self.pooler.url(given.database or "", given.username or "")
        assert self.standby is not None
        made = self.standby.set(username=given.username, password=given.password, database=given.database)
        return made.render_as_string(hide_password=False)

    def settings(self, database: str) -> dict[str, str | float]:
        """What the service's settings say of it."""
        if self.pooler is not None:
            return {"pooler_url": self.pooler.url(database)}
        assert self.standby is not None
        return {"replica_urls": self.standby.set(database=database).render_as_string(hide_password=False)}

    def caught_up(self, admin_url: str) -> None:
        """Return when a standby has all that was committed in the database."""
        if self.standby is None:
            return
        with psycopg.connect(admin_url) as primary:
            [position] = primary.execute(WRITTEN).fetchone() or ()
        url = self.standby.set(database="postgres").render_as_string(hide_password=False)
        with psycopg.connect(url, autocommit=True) as standby:
            wait_until(lambda: standby.execute(REPLAYED, [position]).fetchone() == (True,), seconds=PATIENCE_S)


CURRENT: list[Between] = []
"""What stands between in this run; empty for nothing."""


@contextmanager
def standing(folder: Path, settings: Settings, name: str) -> Iterator[Between | None]:
    """Put between what MEMSVC_TEST_THROUGH names, while the block runs.

    Args:
        folder: the folder of the run, on which its embedded server runs.
        settings: with the run's secrets.
        name: tells the processes of the run apart.
    """
    with ExitStack() as stack:
        if not THROUGH:
            yield None
            return
        server = stack.enter_context(embedded.running(folder))
        if THROUGH == "pooler":
            passwords = {login: settings.secret(secret) for login, secret in LOGINS.items()}
            made = pooling(folder / f"pooler-{name}", server, free_port(), passwords, "postgres")
            between = Between(pooler=stack.enter_context(made))
        else:
            assert THROUGH == "replica", THROUGH
            with (folder / "standby.lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not (folder / "standby").exists():
                    make_standby(folder, folder / "standby")
            standby = stack.enter_context(embedded.running(folder / "standby", options=FAST))
            between = Between(standby=make_url(standby.conninfo()))
        CURRENT.append(between)
        try:
            yield between
        finally:
            CURRENT.clear()


class Patient(httpx.AsyncBaseTransport):
    """Sends each request once the standby has all that was stored, so that the standby serves the reads."""

    def __init__(self, inner: httpx.AsyncBaseTransport, db: Database) -> None:
        self._inner, self._replicas = inner, db.replicas

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        async with asyncio.timeout(PATIENCE_S):
            while not _all_there(self._replicas):
                await self._replicas.look()
        return await self._inner.handle_async_request(request)


def _all_there(replicas: Replicas) -> bool:
    last = max(replicas._wrote.values(), default=0.0)
    return all(one.has_until > last for one in replicas._replicas)
