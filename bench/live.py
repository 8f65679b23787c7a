"""``python -m bench.live``: 100 sockets of 10 users beside a writer: how late a change is told, and whether all are.

A real ``memsvc api`` serves; this process writes to the database, as a worker elsewhere would, and listens. Each socket
leaves now and then and comes back with its cursor. What counts is the time from the commit's return to the socket, and
that each change of a user comes to each socket of that user once, in order, and to nobody else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from websockets.asyncio.client import connect

from bench.harness import Outcome, database, figures_table, report, run
from bench.metrics import percentile
from bench.processes import HOST, Serving, api
from bench.store import new_user
from memsvc.access.tickets import issue_ticket
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph import history
from memsvc.graph.operations import Edge, Node

USERS, SOCKETS, WRITES_PER_S = 10, 10, 8
STAY_S = (5.0, 30.0)
WARM_UP_S, SETTLE_S = 2.0, 5.0
BARS = {
    "event.p95_ms": "<= 500", "lost": "0", "doubled": "0", "foreign": "0", "disordered": "0", "memory.grown_mb": "<= 8",
}  # fmt: skip
Told = dict[UUID, float]


class Listener:
    """One socket, across its comings and goings."""

    def __init__(self, db: Database, owner: Owner, port: int) -> None:
        self.owner = owner
        self.heard: list[tuple[UUID, float]] = []
        self.comings = 0
        self.came = asyncio.Event()
        self._db = db
        self._port = port
        self._cursor = "now"

    async def listen(self, over: asyncio.Event) -> None:
        """Listen until it is over, and leave in between."""
        while not over.is_set():
            ticket = issue_ticket(self._db, self.owner).ticket
            stay_until = time.monotonic() + random.uniform(*STAY_S)
            async with connect(f"ws://{HOST}:{self._port}/ws?ticket={ticket}&cursor={self._cursor}") as socket:
                self.comings += 1
                while time.monotonic() < stay_until and not over.is_set():
                    with suppress(TimeoutError):
                        said = json.loads(await asyncio.wait_for(socket.recv(), 0.5))
                        self._cursor = said.get("cursor", self._cursor)
                        self.came.set()
                        if said["type"] == "GRAPH_UPDATE":
                            self.heard.append((UUID(said["change_id"]), time.perf_counter()))


async def write(db: Database, owners: Sequence[Owner], seconds: float) -> dict[UUID, Told]:
    """Change graphs of all users in turn; when each change was committed, by user."""
    committed: dict[UUID, Told] = {owner.user_id: {} for owner in owners}
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        owner = owners[number % len(owners)]
        facts = [
            Node(type="Person", label=f"Person {number}"),
            Node(type="Place", label=f"Place {number}"),
            Edge(from_node=0, type="LIVES_IN", to_node=1, fact=f"Person {number} lives in place {number}."),
        ]
        change = await history.write(db, owner, facts, asserted_by="bench")
        committed[owner.user_id][change.change_id] = time.perf_counter()
        number += 1
        await asyncio.sleep(1 / WRITES_PER_S)
    return committed


async def strangers(db: Database) -> list[Owner]:
    """Users for whom nobody listens."""
    return [await new_user(db, f"stranger {number}") for number in range(2)]


def judge(outcome: Outcome, listeners: Sequence[Listener], committed: dict[UUID, Told]) -> None:
    """Compare what was heard with what was written."""
    lost = doubled = foreign = disordered = 0
    delays = []
    for listener in listeners:
        mine = committed[listener.owner.user_id]
        counts = Counter(change for change, _ in listener.heard)
        lost += sum(change not in counts for change in mine)
        doubled += sum(count - 1 for count in counts.values())
        foreign += sum(change not in mine for change in counts)
        order = [change for change, _ in listener.heard]
        disordered += order != sorted(order, key=list(mine).index) if not foreign else 0
        delays += [(at - mine[change]) * 1_000 for change, at in listener.heard if change in mine]
    outcome.figures |= {
        "event.p50_ms": percentile(delays, 0.5),
        "event.p95_ms": percentile(delays, 0.95),
        "events": len(delays),
        "changes": sum(map(len, committed.values())),
        "reconnects": sum(listener.comings - 1 for listener in listeners),
        "lost": lost,
        "doubled": doubled,
        "foreign": foreign,
        "disordered": disordered,
    }


async def measure(db: Database, outcome: Outcome, serving: Serving, seconds: float, *, owners: Sequence[Owner]) -> None:
    """Listen and write for so long; each user has ``SOCKETS`` sockets."""
    listeners = [Listener(db, owner, serving.port) for owner in owners for _ in range(SOCKETS)]
    over = asyncio.Event()
    tasks = [asyncio.create_task(listener.listen(over)) for listener in listeners]
    await asyncio.gather(*(listener.came.wait() for listener in listeners))
    await write(db, await strangers(db), WARM_UP_S)
    writing = asyncio.create_task(write(db, owners, seconds))
    await asyncio.sleep(seconds / 2)
    halfway = serving.resident_mb
    committed = await writing
    await asyncio.sleep(SETTLE_S)
    end = serving.resident_mb
    outcome.figures |= {"memory.halfway_mb": halfway, "memory.end_mb": end, "memory.grown_mb": end - halfway}
    over.set()
    await asyncio.gather(*tasks)
    judge(outcome, listeners, committed)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.live", description="Live updates under many sockets.")
    parser.add_argument("--seconds", type=float, default=180, help="how long the writer writes")
    seconds: float = parser.parse_args().seconds

    def bench_live() -> None:
        outcome = Outcome("live", bars=BARS)
        outcome.configuration = {
            "users": USERS, "sockets_of_each": SOCKETS, "writes_per_s": WRITES_PER_S, "seconds": seconds,
            "a_socket_stays_s": STAY_S,
        }  # fmt: skip
        with database() as bench, api(bench, embedding_model="") as serving:

            async def measured() -> None:
                db = bench.connect()
                owners = [await new_user(db, f"listener {number}") for number in range(USERS)]
                await measure(db, outcome, serving, seconds, owners=owners)
                await db.close()

            asyncio.run(measured())
            figures_table("live updates", outcome, ("",))
            report(outcome, bench)

    run(bench_live)


if __name__ == "__main__":
    main()
