"""Which replica may serve, by what a process knows of the servers; the servers' answers are given here."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from memsvc.db import replicas
from memsvc.db.engine import Database
from memsvc.db.replicas import GONE, Replica, Replicas
from memsvc.db.together import Together
from memsvc.errors import OverloadedError

USER = uuid4()


class Servers:
    """A primary and a replica that tell these positions."""

    def __init__(self) -> None:
        """Both are at the same position."""
        self.now = 100.0
        self.told: dict[str, int | None] = {"primary": 10, "replica": 10}
        one = Replica("replica", _Engine("replica"))  # type: ignore[arg-type]
        self.replicas = Replicas(_Engine("primary"), [one], most_lag_s=5)  # type: ignore[arg-type]
        self.replicas._looking = _Looking()  # type: ignore[assignment]

    async def later(self, seconds: float = 1, **told: int | None) -> bool:
        """Whether the replica serves after so many seconds and a look."""
        self.now += seconds
        self.told |= told
        await self.replicas.look()
        return self.replicas.choose(USER) is not None


class _Looking:
    def done(self) -> bool:
        return False


class _Engine:
    def __init__(self, name: str) -> None:
        self.name = name
        self.pool = self

    def checkedout(self) -> int:
        return 0


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    """Servers whose answers and time the test gives."""
    made = Servers()

    async def position(engine: Any, _statement: object) -> int | None:
        return made.told[engine.name]

    monkeypatch.setattr(replicas, "_position", position)
    monkeypatch.setattr(replicas, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


async def test_a_replica_serves_while_it_keeps_up_and_nobody_without_a_name(servers: Servers) -> None:
    assert servers.replicas.choose(USER) is None
    assert await servers.later()
    assert servers.replicas.choose(None) is None
    assert await servers.later(4, primary=20)
    assert not await servers.later(4, primary=30)
    assert await servers.later(1, replica=30)
    assert not await servers.later(1, replica=GONE)


async def test_a_user_reads_what_this_process_stored(servers: Servers) -> None:
    assert await servers.later()
    servers.replicas.wrote(USER)
    assert servers.replicas.choose(USER) is None
    assert await servers.later(1, primary=11, replica=11)


@pytest.mark.parametrize(("caught_up", "waited"), [(2, 2), (None, 3)])
async def test_who_waits_for_a_replica_gets_the_first_that_has_caught_up(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, caught_up: int | None, waited: float
) -> None:
    assert await servers.later()
    servers.replicas.wrote(USER)
    slept = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal slept
        slept += seconds
        await servers.later(seconds, primary=11, replica=11 if caught_up and slept >= caught_up else 10)

    monkeypatch.setattr(replicas, "asyncio", SimpleNamespace(sleep=sleep, gather=asyncio.gather))
    assert (await servers.replicas.wait(USER, 3.0) is not None) == bool(caught_up)
    assert slept == waited
    servers.replicas.wrote(USER)
    assert await servers.replicas.wait(USER, 0) is None
    assert slept == waited


async def test_nobody_waits_for_a_replica_that_is_gone(servers: Servers) -> None:
    assert not await servers.later(1, replica=GONE)
    assert await servers.replicas.wait(USER, 3.0) is None


async def test_replicas_serve_without_a_primary_but_not_beside_a_busy_one(servers: Servers) -> None:
    assert await servers.later()
    assert await servers.later(60, primary=GONE)
    assert await servers.later(1, primary=10)
    assert await servers.later(4, primary=None)
    assert not await servers.later(4, primary=None)


async def test_another_primary_that_lacks_the_end_of_the_old_one_begins_anew(servers: Servers) -> None:
    assert await servers.later(1, primary=20, replica=20)
    assert not await servers.later(1, primary=15, replica=12)
    assert await servers.later(1, primary=15, replica=15)


class _Turns:
    """Turns of users, which are refused or given."""

    def __init__(self, *, refuses: bool) -> None:
        self.asked = 0
        self._refuses = refuses

    async def share(self, _user: object) -> AbstractContextManager[object]:
        self.asked += 1
        if self._refuses:
            raise OverloadedError("Too many requests of this user are under way.", retry_after=1)
        return nullcontext()


class _Busy:
    """A server that has no connection left."""

    async def raw_connection(self) -> None:
        raise OverloadedError("All connections are in use.")


class _Database:
    def __init__(self, *, refuses: bool) -> None:
        self.recalls = _Turns(refuses=refuses)
        self.engine = _Busy()
        self.replicas = SimpleNamespace(choose=lambda _user: SimpleNamespace(engine=_Busy(), served=0))

    line = Database.line


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_request_waits_for_one_turn_whichever_server_serves_it(*, refuses: bool) -> None:
    db = _Database(refuses=refuses)
    trip = Together(db, USER, stores=False)  # type: ignore[arg-type]
    trip.ask(text("SELECT 1"), {})
    with pytest.raises(OverloadedError):
        await trip.send()
    assert db.recalls.asked == 1
