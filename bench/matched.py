"""At which setting another program finds as much as memsvc: a ladder for each way to set it, and the choice of a rung.

A program's defaults are its makers' trade of exactness for time, so times by defaults compare different work. Here its
own documented settings are raised until it finds as many of the exact nearest as memsvc does, on questions that are not
timed; ``bench.latency_peers`` then times it so, beside its defaults. Of several ways the fastest one counts; where
none finds enough, the exact search without a vector index.

What can be set: pgvector's search and the index of LangGraph's ``PostgresIndexConfig``
(https://github.com/pgvector/pgvector#hnsw); LanceDB's search and index types (https://docs.lancedb.com/indexing).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

CLOSE = 0.01
"""Recall may be so much lower and still counts as the same."""
Setting = Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to set a program."""

    search: Setting = field(default_factory=dict)
    """Of each search."""
    index: Setting = field(default_factory=dict)
    """Of its vector index, which is built for that beside the one of its defaults; empty: theirs."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a program does on a rung."""

    rung: Rung
    recall: float
    """Share of the exact ten nearest that it finds by vectors alone."""
    milliseconds: float
    """Median of these searches."""

    def reaches(self, wanted: float) -> bool:
        """It finds as much as is wanted, or all but."""
        return round(self.recall - wanted + CLOSE, 9) >= 0

    def told(self) -> dict[str, object]:
        """For the configuration of an outcome."""
        return {**asdict(self.rung), "recall": round(self.recall, 4), "ms": round(self.milliseconds, 2)}


def _rungs(index: Setting, searches: Iterable[Setting]) -> Sequence[Rung]:
    return [Rung(search, index) for search in searches]


EF_SEARCH = (40, 80, 120, 160, 240, 320, 480, 640, 800, 1000)
"""pgvector's default to its most."""
SCANS: Sequence[Setting] = [{"hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": ef} for ef in EF_SEARCH]
"""Iterative, so that rows of other users in the same index leave nobody short."""
REFINED = (2, 3, 5, 8, 12, 20, 30)
"""So many times the rows that are asked for are compared by whole vectors; 1.5 times these are LanceDB's default ef."""

LADDERS: Mapping[str, Sequence[Sequence[Rung]]] = {
    "langgraph": (
        _rungs({}, SCANS),
        _rungs({"kind": "hnsw", "vector_type": "halfvec", "m": 24, "ef_construction": 200}, SCANS),
    ),
    "lancedb": (
        _rungs({}, [{"refine_factor": factor} for factor in REFINED]),
        _rungs({}, [{"refine_factor": 3, "ef": ef} for ef in (45, 70, 100, 150, 250, 400)]),
        _rungs({"index_type": "IVF_SQ"}, [{"refine_factor": 3, "nprobes": probes} for probes in (20, 40, 80, 160)]),
    ),
}
"""For each program its ladders, each from the least work to the most."""
EXACT: Mapping[str, Rung] = {
    "langgraph": Rung(index={"kind": "flat"}),
    "lancedb": Rung({"bypass_vector_index": 1}),
}
"""For each program its way without a vector index: it finds all, and is the slowest of all among many vectors."""


async def climb(
    ladders: Sequence[Sequence[Rung]], exact: Rung, attempt: Callable[[Rung], Awaitable[Tried]], wanted: float
) -> list[Tried]:
    """Go up each ladder until its program finds enough, or the ladder ends; where none gets there, try the exact way.

    Args:
        ladders: of one program.
        exact: its way without a vector index.
        attempt: sets the program and asks it.
        wanted: recall, 0 to 1.

    Returns:
        What was tried, in order.
    """
    tried = []
    for ladder in ladders:
        for rung in ladder:
            tried.append(await attempt(rung))
            if tried[-1].reaches(wanted):
                break
    if not any(one.reaches(wanted) for one in tried):
        tried.append(await attempt(exact))
    return tried


def choose(tried: Sequence[Tried], wanted: float) -> Tried:
    """The fastest of those that find enough; where none does, the one that finds most, and of equals the faster one.

    Args:
        tried: at least one.
        wanted: recall, 0 to 1.
    """
    enough = [one for one in tried if one.reaches(wanted)]
    if enough:
        return min(enough, key=lambda one: one.milliseconds)
    return max(tried, key=lambda one: (one.recall, -one.milliseconds))
