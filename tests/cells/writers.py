"""Somebody who talks while being moved: an event loop in a thread that writes through the real functions, like a door.

Each call goes to the cell that the directory names, waits while the user is stopped, and is repeated if it is refused.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar
from uuid import UUID

from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database, role_url
from memsvc.erasing.memories import erase
from memsvc.errors import PassageUnknownError, UserMovingError
from memsvc.graph.history import retract, write
from memsvc.graph.operations import Edge, Evidence, Node, Thread
from memsvc.sources.messages import MessageIn, append
from tests.cells.pair import Deployment

T = TypeVar("T")
PLACE = text("SELECT cell_id, moving FROM memsvc.place_of_user(:user_id)")
CALL_S = 30.0


@dataclass
class Writer:
    """Writes messages, facts, retractions and erasures, and remembers what was acknowledged."""

    deployment: Deployment
    owner: Owner
    pause_s: float = 0.0
    said: dict[str, UUID] = field(default_factory=dict)
    """Passages by the client's id of the message."""
    erased: dict[str, UUID] = field(default_factory=dict)
    facts: dict[UUID, bool] = field(default_factory=dict)
    """Whether the version of the edge stands."""
    edges: dict[UUID, UUID] = field(default_factory=dict)
    told: dict[str, UUID] = field(default_factory=dict)
    """Facts by the message that tells them, which are erased with it."""
    errors: list[BaseException] = field(default_factory=list)
    longest_s: float = 0.0
    """The longest time that a call took, with waiting."""
    refused: int = 0

    def __enter__(self) -> Self:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        while not self.said and not self.errors:
            time.sleep(0.01)
        return self

    def __exit__(self, *_unused: object) -> None:
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        assert self.errors == []

    def _run(self) -> None:
        try:
            asyncio.run(self._write())
        except BaseException as error:  # noqa: BLE001 - the test's thread raises it
            self.errors.append(error)

    async def _write(self) -> None:
        self._cells = {
            number: open_cell(self.deployment, cell) for number, cell in enumerate(("home", "north"))
        }  # fmt: skip
        try:
            number = 0
            while not self._stop.is_set():
                await self._step(number)
                number += 1
                await asyncio.sleep(self.pause_s)
        finally:
            for db in self._cells.values():
                await db.close()

    async def _step(self, number: int) -> None:
        client_id, settings = f"w{number}", self.deployment.settings
        message = MessageIn(
            conversation=f"talk {number % 3}", id=client_id, role="user", text=f"Heron {number} flew to the mill.",
            said_at=f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        )  # fmt: skip
        [stored] = await self._call(lambda db: append(db, self.owner, [message], settings))
        said = stored.passage_id
        assert said is not None
        self.said[client_id] = said
        if number % 3 == 0:
            edge, version = await self._call(lambda db: self._fact(db, number, said))
            self.facts[version], self.edges[version], self.told[client_id] = True, edge, version
        if number % 7 == 6:
            stands = [version for version, yes in self.facts.items() if yes]
            if stands:
                thread = Thread(edge=self.edges[stands[0]])
                await self._call(lambda db: retract(db, self.owner, [thread], asserted_by="user"))
                self.facts[stands[0]] = False
        if number % 5 == 4:
            victim = f"w{number - 4}"
            passage = self.said.pop(victim)
            self.erased[victim] = passage
            self.facts.pop(self.told.pop(victim, passage), None)
            await self._call(lambda db: self._erase(db, passage))

    async def _erase(self, db: Database, passage: UUID) -> None:
        with suppress(PassageUnknownError):  # a call that was refused in its second transaction, and is repeated
            await erase(db, self.owner, "message", passage, requested_by="user")

    async def _fact(self, db: Database, number: int, passage: UUID) -> tuple[UUID, UUID]:
        nodes = [Node(type="Person", label=f"Person {number} {side}") for side in ("a", "b")]
        change = await write(db, self.owner, nodes, asserted_by="user")
        ends = [result.node_id for result in change.results]
        assert ends[0] is not None
        assert ends[1] is not None
        knows = Edge(
            from_node=ends[0], type="KNOWS", to_node=ends[1], fact=f"Person {number} a knows Person {number} b.",
            evidence=[Evidence(passage_id=passage)],
        )  # fmt: skip
        made = await write(db, self.owner, [knows], asserted_by="user")
        edge = made.results[0].edge_id
        assert edge is not None
        return edge, made.results[0].versions[0]

    async def _call(self, work: Callable[[Database], Awaitable[T]]) -> T:
        began = time.monotonic()
        while True:
            async with self._cells[0].transaction() as connection:
                row = (await connection.execute(PLACE, {"user_id": self.owner.user_id})).one()
            if row.moving:
                assert time.monotonic() - began < CALL_S, "the user waits too long"
                await asyncio.sleep(0.01)
                continue
            with suppress(UserMovingError):
                done = await work(self._cells[row.cell_id])
                self.longest_s = max(self.longest_s, time.monotonic() - began)
                return done
            self.refused += 1
            await asyncio.sleep(0.01)


def open_cell(deployment: Deployment, cell: str) -> Database:
    """A cell as the application sees it."""
    url = role_url(deployment.url(cell), "memsvc_app", deployment.settings.secret("app_password"))
    return Database(url, deployment.settings, pool_size=3)


def run_with(deployment: Deployment, cell: str, work: Callable[[Database], Awaitable[Any]]) -> Any:
    """Run work on a cell."""

    async def run() -> Any:
        db = open_cell(deployment, cell)
        try:
            return await work(db)
        finally:
            await db.close()

    return asyncio.run(run())
