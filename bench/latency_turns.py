"""``python -m bench.latency_turns --beside FOLDER``: recall of two checkouts, asked in turns on one machine.

A machine shared with others may be twice as fast in one minute as in the next, so two runs of ``make bench-latency``
differ by more than most changes do. Here both checkouts build the same corpus at the same time, each on a server of its
own, and are then asked the same questions in turns; which of the two is first changes each time. The figures are
medians over the turns; ``ratio.*`` is this checkout's by the other's.

The other checkout needs ``bench.latency_fused.ask`` and ``bench.corpus_users.build`` as they are here, not this file.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from bench.corpus_users import QUESTIONS, build
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.latency_fused import SIZES, SMALL, SMALL_USERS, WARM_UP, ask
from bench.metrics import percentile

TURNS = 6
SIDES = ("here", "beside")


async def serve(bench: Bench, sizes: Sequence[str]) -> None:
    """Build the corpus; then, for each line of standard input, a size, print the percentiles of its recalls as JSON."""
    db = bench.connect()
    wanted = {name: SIZES[name] for name in sizes} | {f"small{number}": SMALL for number in range(SMALL_USERS)}
    users, _ = await build(db, bench, wanted, Outcome("latency"), memory="1GB")
    gc.collect()
    gc.freeze()
    print("built", flush=True)
    while size := (await asyncio.to_thread(sys.stdin.readline)).strip():
        asked = users[size].questions(QUESTIONS)
        for question, vector in asked[:WARM_UP]:
            await ask(db, users[size], question, vector)
        times = [(await ask(db, users[size], question, vector))[1] for question, vector in asked]
        print(json.dumps([percentile(times, 0.5), percentile(times, 0.95)]), flush=True)
    await db.close()


def start(checkout: Path, sizes: str) -> subprocess.Popen[str]:
    """Start this file in a checkout, with the code of that checkout."""
    return subprocess.Popen(
        [sys.executable, "-P", __file__, "--serve", "--sizes", sizes], cwd=checkout, text=True,
        env={**os.environ, "PYTHONPATH": str(checkout)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def line(side: subprocess.Popen[str], given: str | None = None) -> str:
    """What a side says next, after a line for it.

    Raises:
        RuntimeError: it has ended.
    """
    if side.stdin is None or side.stdout is None:
        raise RuntimeError("A side has no pipes.")
    if given is not None:
        side.stdin.write(f"{given}\n")
        side.stdin.flush()
    while said := side.stdout.readline():
        if said.startswith(("[", "built")):
            return said
    raise RuntimeError("A side ended; its error is above.")


def compare(other: Path, sizes: Sequence[str], turns: int) -> Outcome:
    """Ask both sides in turns."""
    outcome = Outcome("latency-turns", bars={f"{size}.ratio.p95": "<= 1.0" for size in sizes})
    commit = ["git", "-C", str(other), "rev-parse", "HEAD"]
    outcome.configuration |= {
        "turns": turns, "questions": QUESTIONS, "small_users": SMALL_USERS,
        "beside": subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip(),
    }  # fmt: skip
    folders = (Path(__file__).resolve().parent.parent, other.resolve())
    sides = {name: start(folder, ",".join(sizes)) for name, folder in zip(SIDES, folders, strict=True)}
    try:
        for side in sides.values():
            line(side)
        for size in sizes:
            found: dict[str, list[list[float]]] = {name: [] for name in SIDES}
            with progress(f"asking, {size}", turns) as done:
                for turn in range(turns):
                    for name in SIDES if turn % 2 == 0 else SIDES[::-1]:
                        found[name].append(json.loads(line(sides[name], size)))
                    done(1)
            for number, of in enumerate(("p50", "p95")):
                middle = {name: statistics.median(one[number] for one in found[name]) for name in SIDES}
                outcome.figures |= {f"{size}.{name}.{of}_ms": value for name, value in middle.items()}
                outcome.figures[f"{size}.ratio.{of}"] = middle["here"] / middle["beside"]
    finally:
        for side in sides.values():
            if side.stdin is not None:
                side.stdin.close()
            side.wait(60)
    return outcome


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.latency_turns")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="the other checkout")
    parser.add_argument("--sizes", default="100k", help=f"of {', '.join(SIZES)}, with commas between")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    sizes = chosen.sizes.split(",")
    if chosen.serve:
        with database() as bench:
            uvloop.run(serve(bench, sizes))
        return
    if chosen.beside is None:
        parser.error("Say which checkout to compare with: --beside FOLDER.")

    def bench_latency_turns() -> None:
        outcome = compare(chosen.beside, sizes, chosen.turns)
        with database() as bench:
            figures_table("latency in turns", outcome, tuple(sizes))
            report(outcome, bench)

    run(bench_latency_turns)


if __name__ == "__main__":
    main()
