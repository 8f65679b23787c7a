"""``python -m bench.ingest``: how fast text is accepted, and how much room it takes.

Everything goes through ``sources.messages.append`` in this process, as the application's role: checking, splitting, one
transaction with text, statistics, job and event. The database holds LoCoMo's 4,119 turns first. A worker runs for
``lag.vectors`` alone, a process of its own.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from multiprocessing.synchronize import Event

from bench import lags
from bench.datasets import Turn, load
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.store import BATCH, new_user, store
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.queue.execution import run_due
from memsvc.sources.messages import MessageIn, append

WARM_UP, SINGLE, A_CLIENT, CLIENTS, ROUNDS = 50, 600, 150, 8, 3
BULK_START_S = 60
BARS = {
    "write.p50_ms": "<= 8", "batch.turns_per_s": ">= 1,000", "write_during_bulk.p95_ms": "<= 25", **lags.BARS
}  # fmt: skip


def again(turns: list[Turn], mark: str) -> Iterator[MessageIn]:
    """The set's turns for ever, each time as new messages of the conversation ``mark``."""
    for number, turn in enumerate(cycle(turns)):
        yield MessageIn(
            conversation=mark, session=turn.session_id, id=f"{number}", speaker=turn.speaker, role="other",
            text=turn.text, caption=turn.image_caption, said_at=turn.session_time,
        )  # fmt: skip


async def single_writes(
    db: Database, bench: Bench, owner: Owner, messages: Iterator[MessageIn], label: str
) -> list[float]:
    """Milliseconds of each of ``SINGLE`` single turns, after a warm-up."""
    times: list[float] = []
    with progress(label, WARM_UP + SINGLE) as done:
        for message in islice(messages, WARM_UP + SINGLE):
            start = time.perf_counter()
            await append(db, owner, [message], bench.settings)
            times.append((time.perf_counter() - start) * 1_000)
            done(1)
    return times[WARM_UP:]


async def fill(db: Database, bench: Bench, outcome: Outcome) -> list[Turn]:
    """Store LoCoMo, each conversation a user of its own, and measure its room after folding and vacuum."""
    data = load("locomo")
    turns = [turn for of_one in data.conversations.values() for turn in of_one]
    with progress("filling", len(turns)) as done:
        for conversation, of_one in data.conversations.items():
            owner = await new_user(db, conversation)
            await store(db, owner, [turn.message() for turn in of_one], bench.settings, done=done)
    await run_due(db)
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
        sizes = {
            str(table): int(size)
            for table, size in admin.execute(
                "SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class AS c "
                "WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind = 'r' ORDER BY 2 DESC"
            )
        }
    outcome.figures["bytes_per_turn"] = sum(sizes.values()) / len(turns)
    outcome.configuration |= {
        "turns": len(turns),
        "text_bytes_per_turn": round(sum(len((t.text + (t.image_caption or "")).encode()) for t in turns) / len(turns)),
        "bytes": {table: size for table, size in sizes.items() if size >= 100_000},
    }
    return turns


async def batches(db: Database, bench: Bench, turns: list[Turn], outcome: Outcome) -> None:
    """Turns a second in batches of 500, one client; the median of three rounds, each with a user of its own."""
    whole = len(turns) // BATCH * BATCH
    rates: list[float] = []
    with progress("batches", ROUNDS * whole) as done:
        for number in range(ROUNDS):
            owner = await new_user(db, f"batch {number}")
            messages = list(islice(again(turns, "batches"), whole))
            start = time.perf_counter()
            await store(db, owner, messages, bench.settings, done=done)
            rates.append(whole / (time.perf_counter() - start))
    outcome.figures["batch.turns_per_s"] = percentile(rates, 0.5)


async def clients(db: Database, bench: Bench, turns: list[Turn], outcome: Outcome) -> None:
    """Turns a second of eight clients at once, single turns, each with its own user and conversation."""
    owners = [await new_user(db, f"client {number}") for number in range(CLIENTS)]
    with progress("8 clients", CLIENTS * A_CLIENT) as done:

        async def client(owner: Owner) -> None:
            await store(db, owner, list(islice(again(turns, owner.name), A_CLIENT)), bench.settings, batch=1, done=done)

        start = time.perf_counter()
        await asyncio.gather(*(client(owner) for owner in owners))
        outcome.figures["clients8.turns_per_s"] = CLIENTS * A_CLIENT / (time.perf_counter() - start)


def bulk_load(bench: Bench, turns: list[Turn], started: Event, stop: Event) -> None:
    """What the other process does: batches of 500 for a user of its own until it is told to stop."""

    async def work() -> None:
        db = bench.connect(pool_size=1)
        try:
            owner = await new_user(db, "bulk")
            messages = again(turns, "bulk")
            while not stop.is_set():
                await append(db, owner, list(islice(messages, BATCH)), bench.settings)
                started.set()
        finally:
            await db.close()

    asyncio.run(work())


@contextmanager
def bulk_loader(bench: Bench, turns: list[Turn]) -> Iterator[None]:
    """Another process that loads in bulk while the block runs.

    Raises:
        ConfigurationError: it did not start, or it ended before the block did.
    """
    context = multiprocessing.get_context("spawn")
    started, stop = context.Event(), context.Event()
    process = context.Process(target=bulk_load, args=(bench, turns, started, stop), daemon=True)
    process.start()
    try:
        if not started.wait(BULK_START_S):
            raise ConfigurationError("The bulk load did not start.")
        yield
        if not process.is_alive():
            raise ConfigurationError("The bulk load ended early; the figure would mean nothing.")
    finally:
        stop.set()
        process.join(BULK_START_S)
        if process.is_alive():
            process.terminate()


async def measure(bench: Bench, outcome: Outcome) -> None:
    """The whole bench."""
    db = bench.connect(pool_size=CLIENTS)
    try:
        turns = await fill(db, bench, outcome)
        writer = await new_user(db, "writer")
        single = await single_writes(db, bench, writer, again(turns, "single"), "single turns")
        outcome.figures["write.p50_ms"] = percentile(single, 0.5)
        outcome.figures["write.p95_ms"] = percentile(single, 0.95)
        await batches(db, bench, turns, outcome)
        await clients(db, bench, turns, outcome)
        with bulk_loader(bench, turns):
            before = _passages(bench)
            start = time.perf_counter()
            beside = await single_writes(db, bench, writer, again(turns, "beside"), "beside a bulk load")
            seconds = time.perf_counter() - start
            loaded = _passages(bench) - before - len(beside) - WARM_UP
        outcome.figures["write_during_bulk.p50_ms"] = percentile(beside, 0.5)
        outcome.figures["write_during_bulk.p95_ms"] = percentile(beside, 0.95)
        outcome.figures["write_during_bulk.bulk_turns_per_s"] = loaded / seconds
        await run_due(db)
        await lags.words(db, bench, outcome)
        await lags.vectors(db, bench, again(turns, "lag"), outcome)
        await run_due(db)
        await lags.embedding(db, bench, again(turns, "embedded"), outcome)
    finally:
        await db.close()


def _passages(bench: Bench) -> int:
    with bench.admin() as admin:
        row = admin.execute("SELECT count(*) FROM memsvc.passages").fetchone()
    return int(row[0]) if row else 0


def main() -> None:
    """Run."""

    def bench_ingest() -> None:
        outcome = Outcome("ingest", bars=dict(BARS))
        outcome.configuration |= {
            "text": "LoCoMo: speaker, text, caption",
            "batch": BATCH,
            "clients": CLIENTS,
            "single_turns": SINGLE,
            "worker": "none while writing, one process for lag.vectors; jobs run before bytes_per_turn",
            "embed": "the whole job of a conversation of 500 turns against the bare model on the same texts",
        }
        load("locomo")  # missing data should be told before a server is started
        with database() as bench:
            asyncio.run(measure(bench, outcome))
            figures_table("ingest", outcome, ("",))
            report(outcome, bench)

    run(bench_ingest)


if __name__ == "__main__":
    main()
