"""``python -m bench.scale`` (``make bench-scale``): from measured figures to machines, and a year of a growing service.

The model takes what the other benches measured (``bench/results``): bytes of a passage, processor time of a recall, a
message, a vector and a reading. ``capacity`` turns them into what one cell bears: an ordinary PostgreSQL with the
whole of memsvc, on a machine whose memory, disk, processors and price are parameters. ``simulate`` lets users come,
grow with a skewed distribution of sizes and be moved between cells for a year, and counts cells, moves and bytes. A
user cannot be split: one who outgrows ``OWN_SHARE`` of a cell gets a cell of their own. All is arithmetic with a seed,
without a database; docs/scale.md says which figure was measured and which computed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.harness import RESULTS, Outcome, report, run, table

GIB, DAY_S = 2**30, 86_400
OWN_SHARE, FULL, EMPTY_ENOUGH = 0.4, 0.85, 0.7
"""Parts of a cell: who has more gets an own cell; above FULL users move away; below EMPTY_ENOUGH users come in."""
SCALES = (1e6, 1e7, 1e8, 1e9)
BARS = {"1e9.unplaced": "0", "1e9.overfull_days": "0"}


@dataclass(frozen=True, slots=True)
class Measured:
    """What benches measured, with the file it comes from in ``SOURCES``."""

    bytes_per_passage: float
    """On disk, with all indexes, its vector and its token vectors."""
    vector_bytes: float
    """Of these, the vector and its index, which recall reads at random."""
    token_vector_bytes: float
    recall_ms: float
    """Processor time of a recall: API and database."""
    hook_ms: float
    """The same of a hook: a context and a message stored."""
    message_ms: float
    """Of a message stored without a recall."""
    embed_ms: float
    """Of a vector, in a worker."""
    read_ms: float
    """Of reading a message for facts offline, in a worker."""
    jobs_per_s: float
    """Drained by one worker process."""
    night_ms: float
    """Of a night, for each new message, in worker and database."""


SOURCES: dict[str, tuple[str, str]] = {
    "bytes_per_passage": ("recall-beam-100k", "bytes_per_passage.with_token_vectors"),
    "vector_bytes": ("recall-beam-100k", "bytes_per_passage.embeddings"),
    "token_vector_bytes": ("recall-beam-100k", "bytes_per_passage.token_vectors"),
    "recall_ms": ("api", "recall.8.api_cpu_ms + recall.8.database_cpu_ms"),
    "hook_ms": ("api", "hook.8.api_cpu_ms + hook.8.database_cpu_ms"),
    "message_ms": ("ingest", "2000 / clients8.turns_per_s"),
    "embed_ms": ("ingest", "2000 / embed.turns_per_s"),
    "read_ms": ("extract-kept", "1000 / offline.messages_per_processor_s"),
    "jobs_per_s": ("queue", "drain.jobs_per_s"),
    "night_ms": ("sleep-locomo", "1000 * seconds / 5882"),
}
"""Where each figure comes from: a file of ``bench/results``, and names of figures in it. The 2000: two cores, in ms;
the 5,882: the turns of LoCoMo, all of them new to that night."""


def measured(folder: Path = RESULTS) -> Measured:
    """Read the results."""
    values: dict[str, float] = {}
    for name, (file, formula) in SOURCES.items():
        figures: Mapping[str, float] = json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))["figures"]
        values[name] = _value(formula, figures)
    return Measured(**values)


def _value(formula: str, figures: Mapping[str, float]) -> float:
    """The sum, product or quotient that a formula of ``SOURCES`` names."""
    total, sign = 0.0, "+"
    for word in formula.split():
        if word in "+*/":
            sign = word
            continue
        value = figures[word] if word in figures else float(word)
        total = total * value if sign == "*" else total / value if sign == "/" else total + value
    return total


@dataclass(frozen=True, slots=True)
class Machine:
    """A cell's machine, and what it costs; assumptions."""

    cores: int = 16
    memory_gib: float = 64
    disk_gib: float = 1_000
    price: float = 200.0
    """A month, in any currency."""
    copies: int = 2
    """Machines of a cell: the primary and its standbys."""
    backup_price: float = 0.02
    """A GiB and month of object storage for backups."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How people use it; assumptions."""

    messages_per_day: float = 60.0
    """Of a user on a day with memsvc, what both sides say."""
    active: float = 0.3
    """The part of the users who use it on a day."""
    recalls_per_message: float = 0.5
    """Each message of the user asks for a context."""
    passages_per_message: float = 1.2
    peak: float = 3.0
    """The busiest hour, in mean hours."""
    read: bool = True
    """Messages are read for facts, offline."""


@dataclass(frozen=True, slots=True)
class Use:
    """How far a cell may be used; assumptions."""

    processors: float = 0.6
    memory: float = 0.7
    disk: float = 0.7
    hot_vectors: float = 1.0
    """The part of vectors that should stay in memory; of passages and words, ``hot_words``."""
    hot_words: float = 0.25
    slack: float = 1.3
    """Dead rows, the write-ahead log, space for moves: of the bytes on disk."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What one cell bears."""

    passages_by_memory: float
    passages_by_disk: float
    messages_per_day: float
    """By processors, with their recalls, vectors and readings."""
    recalls_per_s: float
    """If it did nothing else."""
    worker_share: float
    """Of the processors, what background work takes."""
    gib_per_million: float
    """Of disk, for a million passages."""

    @property
    def passages(self) -> float:
        """By what is full first."""
        return min(self.passages_by_memory, self.passages_by_disk)


def message_cost_ms(m: Measured, habits: Habits) -> tuple[float, float]:
    """Processor time of a message with all that follows, in ms: while somebody waits, and in the background."""
    hooked = min(1.0, habits.recalls_per_message)
    asking = hooked * m.hook_ms + max(0.0, habits.recalls_per_message - 1) * m.recall_ms + (1 - hooked) * m.message_ms
    behind = habits.passages_per_message * m.embed_ms + (m.read_ms if habits.read else 0.0) + m.night_ms
    return asking, behind


def capacity(m: Measured, machine: Machine, habits: Habits, use: Use) -> Capacity:
    """What one cell bears."""
    words = m.bytes_per_passage - m.vector_bytes - m.token_vector_bytes
    hot = m.vector_bytes * use.hot_vectors + (words + m.token_vector_bytes) * use.hot_words
    asking, behind = message_cost_ms(m, habits)
    # At the busiest hour people come first; background work may lag and is done over the day.
    cores_ms = machine.cores * use.processors * 1_000
    by_peak = cores_ms / (asking * habits.peak)
    by_day = cores_ms / (asking + behind)
    per_s = min(by_peak, by_day)
    return Capacity(
        passages_by_memory=machine.memory_gib * GIB * use.memory / hot,
        passages_by_disk=machine.disk_gib * GIB * use.disk / (m.bytes_per_passage * use.slack),
        messages_per_day=per_s * DAY_S,
        recalls_per_s=cores_ms / m.recall_ms,
        worker_share=behind / (asking + behind),
        gib_per_million=m.bytes_per_passage * use.slack * 1e6 / GIB,
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """How users come and grow; assumptions."""

    mean_passages: float = 10_000.0
    """Of a user, at the end of the year."""
    sigma: float = 2.2
    """Of the logarithm of sizes: with 2.2, the median user has a tenth of the mean, the largest a thousand times it."""
    before: float = 0.5
    """The part of the passages that is there when the year begins."""
    days: int = 365


@dataclass(slots=True)
class Year:
    """What happened in a year."""

    cells: int
    own_cells: int
    users: int
    largest: float
    """Passages of the largest user."""
    moves: NDArray[np.int64]
    """By day."""
    moved: NDArray[np.float64]
    """Passages that were moved, by day."""
    unplaced: int
    """Users with more than a whole cell."""
    overfull_days: int
    """Cells above their limit at a day's end, summed over days, without own cells of users who cannot be split."""
    fill: float
    """The mean part of a shared cell that is used at the end."""
    sizes: NDArray[np.float64]
    cell_of: NDArray[np.int64]


def simulate(passages: float, cell: float, growth: Growth, seed: int = 1) -> Year:
    """Let a service grow to so many passages within a year.

    Args:
        passages: of all users at the end.
        cell: passages of one cell.
        growth: how users grow.
        seed: of the draws.
    """
    draw = np.random.default_rng(seed)
    users = max(1, round(passages / growth.mean_passages))
    final = draw.lognormal(0.0, growth.sigma, users)
    final *= passages / final.sum()
    joins = np.where(draw.random(users) < growth.before, 0, draw.integers(0, growth.days, users))
    start = np.where(joins == 0, final * growth.before, 0.0)
    service = _Cells(cell)
    cell_of = np.full(users, -1)
    moves, moved = np.zeros(growth.days, np.int64), np.zeros(growth.days)
    sizes, overfull = start, 0
    for day in range(growth.days):
        grown = (day + 1 - joins) / (growth.days - joins)
        sizes = np.where(joins <= day, start + (final - start) * np.clip(grown, 0, 1), 0.0)
        service.add(cell_of, sizes, np.flatnonzero((joins == day) & (cell_of < 0)))
        moves[day], moved[day] = service.balance(cell_of, sizes)
        overfull += service.overfull(cell_of, sizes)
    shared = np.flatnonzero(~service.is_own())
    loads = service.loads(cell_of, sizes)
    return Year(
        cells=len(service.own), own_cells=int(service.is_own().sum()), users=users, largest=float(final.max()),
        moves=moves, moved=moved, unplaced=int((final > cell).sum()), overfull_days=overfull,
        fill=float(loads[shared].mean() / cell) if len(shared) else 1.0, sizes=sizes, cell_of=cell_of,
    )  # fmt: skip


class _Cells:
    """The directory's view: which cells there are, and which of them belong to one user."""

    def __init__(self, cell: float) -> None:
        self.cell = cell
        self.own: list[bool] = []

    def is_own(self) -> NDArray[np.bool_]:
        return np.array(self.own, dtype=bool)

    def loads(self, cell_of: NDArray[np.int64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        here = cell_of >= 0
        return np.bincount(cell_of[here], weights=sizes[here], minlength=len(self.own)).astype(np.float64)

    def overfull(self, cell_of: NDArray[np.int64], sizes: NDArray[np.float64]) -> int:
        return int(((self.loads(cell_of, sizes) > self.cell) & ~self.is_own()).sum())

    def _new(self, *, own: bool = False) -> int:
        self.own.append(own)
        return len(self.own) - 1

    def add(self, cell_of: NDArray[np.int64], sizes: NDArray[np.float64], coming: NDArray[np.int64]) -> None:
        """Place new users, each in the emptiest shared cell that is not too full for that."""
        loads = self.loads(cell_of, sizes)
        for user in coming:
            open_ = [one for one in range(len(self.own)) if not self.own[one]]
            best = min(open_, key=lambda one: loads[one], default=-1)
            if best < 0 or loads[best] + sizes[user] > EMPTY_ENOUGH * self.cell:
                best = self._new()
                loads = np.append(loads, 0.0)
            cell_of[user] = best
            loads[best] += sizes[user]

    def balance(self, cell_of: NDArray[np.int64], sizes: NDArray[np.float64]) -> tuple[int, float]:
        """Give large users their own cells, and move users away from full cells, the largest first: few moves."""
        moves, moved = 0, 0.0
        own = self.is_own()
        for user in np.flatnonzero((sizes > OWN_SHARE * self.cell) & (cell_of >= 0)):
            if not own[cell_of[user]]:
                cell_of[user] = self._new(own=True)
                moves, moved = moves + 1, moved + sizes[user]
        loads = self.loads(cell_of, sizes)
        for full in np.flatnonzero((loads > FULL * self.cell) & ~self.is_own()):
            here = np.flatnonzero(cell_of == full)
            for user in here[np.argsort(-sizes[here])]:
                if loads[full] <= EMPTY_ENOUGH * self.cell:
                    break
                shared = [one for one in range(len(self.own)) if not self.own[one] and one != full]
                best = min(shared, key=lambda one: loads[one], default=-1)
                if best < 0 or loads[best] + sizes[user] > EMPTY_ENOUGH * self.cell:
                    best = self._new()
                    loads = np.append(loads, 0.0)
                cell_of[user] = best
                loads[full] -= sizes[user]
                loads[best] += sizes[user]
                moves, moved = moves + 1, moved + sizes[user]
        return moves, moved


def _figures(outcome: Outcome, name: str, year: Year, *, bears: Capacity, m: Measured, machine: Machine) -> list[str]:
    gib = year.sizes.sum() * bears.gib_per_million / 1e6
    machines = year.cells * machine.copies
    price = machines * machine.price + gib * machine.backup_price
    moved_gib = year.moved * m.bytes_per_passage / GIB
    outcome.figures |= {
        f"{name}.users": year.users, f"{name}.cells": year.cells, f"{name}.own_cells": year.own_cells,
        f"{name}.machines": machines, f"{name}.memory_gib": machines * machine.memory_gib, f"{name}.disk_gib": gib,
        f"{name}.price_per_month": price, f"{name}.price_per_user_month": price / year.users,
        f"{name}.moves_per_day": float(year.moves.mean()), f"{name}.moves_worst_day": int(year.moves.max()),
        f"{name}.moved_gib_per_day": float(moved_gib.mean()), f"{name}.moved_gib_worst_day": float(moved_gib.max()),
        f"{name}.largest_user": year.largest, f"{name}.fill": year.fill, f"{name}.unplaced": year.unplaced,
        f"{name}.overfull_days": year.overfull_days,
    }  # fmt: skip
    return [
        name, f"{year.users:,}", f"{year.cells:,}", f"{year.own_cells}", f"{machines * machine.memory_gib:,.0f}",
        f"{gib:,.0f}", f"{price:,.0f}", f"{year.moves.mean():.1f} / {year.moves.max()}",
        f"{moved_gib.mean():.1f} / {moved_gib.max():.0f}", f"{year.largest:,.0f}",
    ]  # fmt: skip


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Cells, memory and cost, computed.")
    parser.add_argument("--passages", type=float, action="append", help="of all users; default: 1e6 to 1e9")
    parser.add_argument("--mean", type=float, default=Growth().mean_passages, help="passages of a user")
    parser.add_argument("--sigma", type=float, default=Growth().sigma, help="how unequal users are")
    parser.add_argument("--messages", type=float, default=Habits().messages_per_day, help="of a user on an active day")
    parser.add_argument("--cores", type=int, default=Machine().cores)
    parser.add_argument("--memory", type=float, default=Machine().memory_gib, help="GiB")
    parser.add_argument("--disk", type=float, default=Machine().disk_gib, help="GiB")
    parser.add_argument("--price", type=float, default=Machine().price, help="of a machine and month")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()

    def bench_scale() -> None:
        m = measured()
        machine = Machine(cores=given.cores, memory_gib=given.memory, disk_gib=given.disk, price=given.price)
        habits, use = Habits(messages_per_day=given.messages), Use()
        growth = Growth(mean_passages=given.mean, sigma=given.sigma)
        bears = capacity(m, machine, habits, use)
        small = capacity(m, replace(machine, cores=2, memory_gib=8, disk_gib=100), habits, use)
        outcome = Outcome("scale", bars=dict(BARS))
        outcome.configuration = {
            "machine": asdict(machine), "habits": asdict(habits), "use": asdict(use), "growth": asdict(growth),
            "sources": {name: list(source) for name, source in SOURCES.items()}, "seed": given.seed,
        }  # fmt: skip
        outcome.figures |= {f"measured.{name}": value for name, value in asdict(m).items()}
        for name, one in (("cell", bears), ("small", small)):
            outcome.figures |= {f"{name}.{key}": value for key, value in asdict(one).items()}
            outcome.figures[f"{name}.passages"] = one.passages
        by_users = bears.messages_per_day / (habits.messages_per_day * habits.active)
        cell = min(bears.passages, by_users * growth.mean_passages)
        outcome.figures |= {"cell.users": by_users, "cell.limit": cell}
        table("measured", [["figure", "value", "from"], *(
            [name, f"{value:,.1f}", " ".join(SOURCES[name])] for name, value in asdict(m).items()
        )])  # fmt: skip
        names = ("passages_by_memory", "passages_by_disk", "messages_per_day", "recalls_per_s", "worker_share")
        table("computed: what a machine bears", [
            ["", f"{machine.cores} cores, {machine.memory_gib:.0f} GiB", "2 cores, 8 GiB"],
            *([name, f"{getattr(bears, name):,.2f}", f"{getattr(small, name):,.2f}"] for name in names),
        ])  # fmt: skip
        heads = ["passages", "users", "cells", "own", "memory GiB", "disk GiB", "price/month", "moves/day: mean, worst",
                 "GiB/day: mean, worst", "largest user"]  # fmt: skip
        rows = [heads]
        for passages in given.passages or SCALES:
            name = f"1e{math.log10(passages):g}"
            rows.append(
                _figures(outcome, name, simulate(passages, cell, growth, given.seed), bears=bears, m=m, machine=machine)
            )
        table("computed: a year of growth", rows)
        report(outcome)

    run(bench_scale)


if __name__ == "__main__":
    main()
