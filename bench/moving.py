"""``python -m bench.moving``: a large user and an ordinary one are moved between two databases of one server.

The large user moves once, and is measured by how many rows a second are copied and by the pause. The ordinary one moves
there and back several times, while somebody appends messages to it as fast as they are accepted; what counts is the
pause, from the moment at which new requests wait to the one at which they go on. A pause is printed with its parts.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
import time
from dataclasses import dataclass, field

import psycopg
from sqlalchemy import make_url

from bench.corpus_users import Person, build
from bench.harness import Bench, Outcome, beside, database, figures_table, report, run, table
from bench.metrics import percentile
from memsvc.cells.crossing import Pause
from memsvc.cells.moving import Moved, move_user
from memsvc.db.engine import Database, role_url
from memsvc.errors import UserMovingError
from memsvc.sources.messages import MessageIn, append

APP = "bench"
PARTS = ("closing", "waiting", "copying", "comparing", "switching", "total")
BARS = {"ordinary.pause.p95_s": "<= 2"}


@dataclass
class Talker:
    """Appends messages to a user in the cell that the directory names, from a thread of its own."""

    home: Bench
    other: Bench
    person: Person
    stored: int = 0
    longest_s: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        asyncio.run(self._talk())

    def stop(self) -> None:
        self._stop.set()

    async def _talk(self) -> None:
        cells = [bench.connect(pool_size=2) for bench in (self.home, self.other)]
        with self.home.admin() as directory:
            while not self._stop.is_set():
                began, message = time.perf_counter(), MessageIn(conversation="bench", text=f"Message {self.stored}.")
                while not await self._append(cells, directory, message):  # noqa: ASYNC110 - a door asks like this
                    await asyncio.sleep(0.01)
                self.longest_s = max(self.longest_s, time.perf_counter() - began)
                self.stored += 1
                await asyncio.sleep(0.02)
        for db in cells:
            await db.close()

    async def _append(self, cells: list[Database], directory: psycopg.Connection, message: MessageIn) -> bool:
        query = "SELECT cell_id, moving FROM memsvc.place_of_user(%s)"
        cell, moving = directory.execute(query, [self.person.owner.user_id]).fetchall()[0]
        if moving:
            return False
        try:
            await append(cells[cell], self.person.owner, [message], self.home.settings)
        except UserMovingError:
            return False
        return True


def moved(home: Bench, person: Person, to: str) -> Moved:
    """One move."""
    with home.admin() as admin:
        query = "SELECT a.name FROM memsvc.apps AS a INNER JOIN memsvc.users AS u USING (app_id) WHERE u.user_id = %s"
        [(app,)] = admin.execute(query, [person.owner.user_id]).fetchall()
    return move_user(home.admin_url, home.settings, app, str(person.owner.user_id), to, report=print)


def measure(passages: int, ordinary: int, moves: int) -> None:
    """Build both users, move them, and report."""
    outcome = Outcome("moving", bars=BARS, configuration={"passages": passages, "ordinary": ordinary, "moves": moves})
    with database() as home, beside(home) as other:
        with home.admin() as admin:
            url = make_url(other.admin_url)._replace(username=None, password=None).render_as_string()
            admin.execute("INSERT INTO memsvc.cells (cell_id, name, url) VALUES (1, 'north', %s)", [url])

        async def fill() -> dict[str, Person]:
            url = role_url(home.admin_url, "memsvc_app", home.settings.secret("app_password"))
            db = Database(url, home.settings)
            try:
                return (await build(db, home, {"large": passages, "ordinary": ordinary}, outcome))[0]
            finally:
                await db.close()

        people = asyncio.run(fill())
        began = time.perf_counter()
        large = moved(home, people["large"], "north")
        taken = time.perf_counter() - began
        outcome.figures |= {
            "large.seconds": taken, "large.rows": large.copied, "large.rows_s": large.copied / taken,
            "large.passages_s": passages / taken,
        }  # fmt: skip
        talker = Talker(home, other, people["ordinary"])
        thread = threading.Thread(target=talker.run)
        thread.start()
        pauses = [
            done.pause
            for number in range(moves)
            if (done := moved(home, people["ordinary"], ("north", "home")[number % 2])).pause is not None
        ]
        talker.stop()
        thread.join()
        with (home if moves % 2 == 0 else other).admin() as admin:
            query = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND text LIKE 'Message %%'"
            [(found,)] = admin.execute(query, [people["ordinary"].owner.user_id]).fetchall()
        outcome.figures |= {
            "ordinary.pause.p50_s": percentile([pause.total for pause in pauses], 0.5),
            "ordinary.pause.p95_s": percentile([pause.total for pause in pauses], 0.95),
            "ordinary.longest_call_s": talker.longest_s,
            "ordinary.lost": talker.stored - found,
        }
        shown: list[Pause] = [*([large.pause] if large.pause else []), *pauses]
        names = ["large", *["ordinary"] * len(pauses)]
        rows = [
            [name, *(f"{getattr(pause, part):.3f}" for part in PARTS)] for name, pause in zip(names, shown, strict=True)
        ]
        table("Pauses, in seconds", [["user", *PARTS], *rows])
        if large.pause:
            outcome.figures |= {f"large.pause.{part}_s": getattr(large.pause, part) for part in PARTS}
        figures_table("Moves", outcome, ("large", "ordinary"))
        report(outcome, home)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000, help="of the large user")
    parser.add_argument("--ordinary", type=int, default=3_000, help="passages of the ordinary user")
    parser.add_argument("--moves", type=int, default=10, help="of the ordinary user")
    asked = parser.parse_args()
    run(lambda: measure(asked.passages, asked.ordinary, asked.moves))
