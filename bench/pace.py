"""How fast an extractor reads, alone on one core: ``python -m bench.pace SET EXTRACTOR`` prints messages per second.

A process of its own, with one thread in every library, pinned to one core: the median of three passes over all windows
of a set of gold conversations, read as they come, nothing known yet. Only what people say counts as a message; what an
assistant says is given, but there is little to read in it.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time

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


def messages_per_s(sets: str, extractor: str) -> float:
    """Measure, in a process of its own.

    Args:
        sets: names of sets of gold, comma-separated.
        extractor: a name of ``memsvc.extract.registry``.
    """
    done = subprocess.run(
        [sys.executable, "-m", "bench.pace", sets, extractor],
        env=os.environ | ALONE, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found: float = json.loads(done.stdout)
    return found


async def seconds(extractor: Extractor, windows: list[Window]) -> float:
    """How long one pass takes."""
    began = time.perf_counter()
    for window in windows:
        await extractor.extract(window)
    return time.perf_counter() - began


def main(sets: str, name: str) -> None:
    """Measure, here."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    conversations = [one for part in sets.split(",") for one in load(part)]
    windows = [window for one in conversations for _, window in windows_of(one, Memory())]
    said = sum(turn.role == "user" for one in conversations for turn in one.turns)
    extractor = registry.load(name, Settings())
    asyncio.run(seconds(extractor, windows[:1]))  # loads what is loaded late
    print(json.dumps(said / statistics.median(asyncio.run(seconds(extractor, windows)) for _ in range(PASSES))))


if __name__ == "__main__":
    main(*sys.argv[1:3])
