"""How fast an extractor reads, alone on one core: ``python -m bench.pace SET EXTRACTOR`` prints messages per second.

A process of its own, with one thread in every library, pinned to one core: the median of three passes over all windows
of a set of gold conversations, read as they come, nothing known yet. Only what people say counts as a message; what an
assistant says is given, but there is little to read in it. By the clock on the wall, which wants an idle machine; and
by the processor's, which does not mind others and counts no waiting.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

from bench.direct import Memory, windows_of
from bench.gold import load
from memsvc.extract import registry
from memsvc.extract.extraction import Extractor
from memsvc.extract.window import Window
from memsvc.settings import Settings

PASSES = 3
ALONE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


class Pace(NamedTuple):
    """Messages per second."""

    by_wall: float
    by_processor: float


def pace(sets: str, extractor: str) -> Pace:
    """Measure, in a process of its own.

    Args:
        sets: names of sets of gold, comma-separated.
        extractor: a name of ``memsvc.extract.registry``.
    """
    done = subprocess.run(
        [sys.executable, "-m", "bench.pace", sets, extractor],
        env=os.environ | ALONE, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return Pace(**json.loads(done.stdout))


async def seconds(extractor: Extractor, windows: list[Window]) -> tuple[float, float]:
    """How long one pass takes, by both clocks."""
    began, worked = time.perf_counter(), time.process_time()
    for window in windows:
        await extractor.extract(window)
    return time.perf_counter() - began, time.process_time() - worked


def main(sets: str, name: str) -> None:
    """Measure, here."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    conversations = [one for part in sets.split(",") for one in load(part)]
    windows = [window for one in conversations for _, window in windows_of(one, Memory())]
    said = sum(turn.role == "user" for one in conversations for turn in one.turns)
    extractor = registry.load(name, Settings())
    asyncio.run(seconds(extractor, windows[:1]))  # loads what is loaded late
    passes = [asyncio.run(seconds(extractor, windows)) for _ in range(PASSES)]
    wall, processor = map(statistics.median, zip(*passes, strict=True))
    print(json.dumps(Pace(said / wall, said / processor)._asdict()))


if __name__ == "__main__":
    main(*sys.argv[1:3])
