"""``python -m bench.nearby``: what is near, for a user with 100,000 places beside 20 with 5,000, by each extension.

Places are drawn by lot (seeded): nine of ten around 40 cities, most of them near the middle; the others anywhere.
Questions start at such places, too: the nearest 10, a radius of 1 km, and the nearest 10 of a type that one node in
eleven has, each through ``memsvc.graph.places.nearby``, as REST and the command line ask. ``p50_ms`` and ``p95_ms``
are of all of them together, end to end on one connection pool.

Both are measured on the full server (``ops/postgres``: Debian, root), or on that of ``MEMSVC_BENCH_DATABASE_URL``;
``--embedded`` takes the embedded one. What the server lacks is left out. ``cube`` is the way without PostGIS
(docs/adr/0028-places.md).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

from sqlalchemy import create_engine, make_url, text

from bench.harness import URL_VARIABLE, Bench, Outcome, database, figures_table, progress, report, run
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.places import area, nearby
from memsvc.server.place_index import NAMES, By, index_places
from ops.postgres.server import running as full_server

PLACES, OTHERS, OTHERS_PLACES, CITIES, SEED = 100_000, 20, 5_000, 40, 11
KEYS: tuple[By, ...] = ("postgis", "cube")
BARS = {f"{key}.p95_ms": "<= 10" for key in KEYS}
RARE, COMMON = "Event", "Place"
Point = tuple[float, float]
FILL = """
WITH given AS MATERIALIZED (
  SELECT uuidv7() AS node_id, g.* FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS g (latitude double precision, longitude double precision, type text, label text)
), node AS (
  INSERT INTO memsvc.nodes (user_id, node_id) SELECT %(user)s, g.node_id FROM given AS g
), version AS (
  INSERT INTO memsvc.node_versions (user_id, node_id, type, label)
  SELECT %(user)s, g.node_id, g.type, g.label FROM given AS g
)
INSERT INTO memsvc.locations (user_id, node_id, latitude, longitude, asserted_by, recorded_from)
SELECT %(user)s, g.node_id, g.latitude, g.longitude, 'bench', clock_timestamp() FROM given AS g
"""


def points(lot: random.Random, count: int) -> list[Point]:
    """Places by lot: clouds around cities, and some anywhere."""
    cities = [(lot.uniform(-55, 65), lot.uniform(-180, 180)) for _ in range(CITIES)]
    found: list[Point] = []
    for number in range(count):
        if number % 10:
            latitude, longitude = lot.choice(cities)
            latitude, longitude = latitude + lot.gauss(0, 0.05), longitude + lot.gauss(0, 0.08)
        else:
            latitude, longitude = lot.uniform(-80, 80), lot.uniform(-180, 180)
        found.append((latitude, (longitude + 180) % 360 - 180))
    return found


def fill(bench: Bench, user: UUID, found: list[Point]) -> None:
    """Write places of a user, all at once: what is measured is reading."""
    rows = [
        {"latitude": latitude, "longitude": longitude, "type": COMMON if n % 11 else RARE, "label": f"Place {n}"}
        for n, (latitude, longitude) in enumerate(found)
    ]
    with bench.admin() as admin, progress("writing", len(rows)) as done:
        for start in range(0, len(rows), 10_000):
            part = rows[start : start + 10_000]
            admin.execute(FILL, {"rows": json.dumps(part), "user": user})
            done(len(part))


def index(bench: Bench, by: By) -> float | None:
    """Search by this extension from now on; the seconds that its index took, or None where the server lacks it."""
    engine = create_engine(make_url(bench.admin_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        there = text("SELECT count(*) FROM pg_available_extensions WHERE name = :name")
        if not connection.execute(there, {"name": by}).scalar_one():
            return None
        connection.execute(text(f"CREATE EXTENSION IF NOT EXISTS {by} WITH SCHEMA public"))
        connection.commit()
        connection.execute(text(f"DROP INDEX IF EXISTS memsvc.{NAMES[by]}"))
        connection.commit()
        started = time.perf_counter()
        index_places(connection, lambda _line: None, by)
        took = time.perf_counter() - started
    engine.dispose()
    return took


async def ask(db: Database, owner: Owner, starts: list[Point]) -> list[float]:
    """Milliseconds of each question."""
    took: list[float] = []
    with progress("asking", len(starts)) as done:
        for number, (latitude, longitude) in enumerate(starts):
            radius, types = ((None, None), (1_000.0, None), (None, [RARE]))[number % 3]
            where = area(latitude, longitude, radius)
            started = time.perf_counter()
            await nearby(db, owner, where, types=types, limit=10 if radius is None else 50)
            took.append((time.perf_counter() - started) * 1000)
            done(1)
    return took


async def measure(bench: Bench, outcome: Outcome, by: By, owners: list[Owner], starts: list[Point]) -> None:
    """Figures of one extension, for the large user and for small ones."""
    seconds = await asyncio.to_thread(index, bench, by)
    if seconds is None:
        print(f"{by}: the server has no {by}")
        return
    db = bench.connect()
    try:
        await ask(db, owners[0], starts[:60])  # connections and plans are made once
        took = await ask(db, owners[0], starts)
        small = await ask(db, owners[1], starts)
    finally:
        await db.close()
    cuts, small_cuts = statistics.quantiles(took, n=20), statistics.quantiles(small, n=20)
    outcome.figures |= {
        f"{by}.p50_ms": cuts[9],
        f"{by}.p95_ms": cuts[18],
        f"{by}.small.p95_ms": small_cuts[18],
        f"{by}.index_s": seconds,
    }


async def work(bench: Bench, outcome: Outcome, places: int, questions: int) -> None:
    """Fill the database, then ask."""
    lot = random.Random(SEED)
    db = bench.connect()
    try:
        owners = [await new_user(db, f"user {number}") for number in range(OTHERS + 1)]
    finally:
        await db.close()
    for number, owner in enumerate(owners):
        await asyncio.to_thread(fill, bench, owner.user_id, points(lot, OTHERS_PLACES if number else places))
    with bench.admin() as admin:
        admin.execute("ANALYZE")
    starts = points(random.Random(SEED), questions)  # the same cities
    for by in KEYS:
        await measure(bench, outcome, by, owners, starts)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=PLACES, help="of the large user (default: %(default)s)")
    parser.add_argument("--questions", type=int, default=900)
    parser.add_argument("--embedded", action="store_true", help="on the embedded server, which has no PostGIS")
    given = parser.parse_args()
    outcome = Outcome("nearby", bars=BARS, configuration={"places": given.places, "questions": given.questions})
    with ExitStack() as stack:
        if not given.embedded and URL_VARIABLE not in os.environ:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="memsvc-bench-", dir="/var/tmp"))
            os.environ[URL_VARIABLE] = stack.enter_context(full_server(Path(folder) / "server")).url()
        bench = stack.enter_context(database())
        asyncio.run(work(bench, outcome, given.places, given.questions))
        figures_table("What is near", outcome, KEYS)
        report(outcome, bench)


if __name__ == "__main__":
    run(main)
