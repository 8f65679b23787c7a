"""What recall must and may find at two times, read from the plain model.

Weights, limits and scores are left to other tests: histories are small, so that no limit takes anything away but the
fan-out along the graph, which ``crowded`` tells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from tests.model.history import Content, History, Node, Thread

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Told:
    """A message as it was stored."""

    words: frozenset[str]
    tick: int
    """When it was said."""
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Way:
    """How a node is reached."""

    distance: int
    reach: float
    paths: frozenset[tuple[str, ...]]
    """Nodes and types in turn; several where they are equally good."""


def links(history: History, moment: int, known: datetime) -> list[tuple[Node, str, Node]]:
    """Facts that hold between two nodes, merges resolved."""
    found = []
    for thread in history.threads():
        if thread[0] == "edge" and history.content(thread, moment, known) is not None:
            start, end = (history.resolve(node, known) for node in (thread[1], thread[3]))
            if start != end:
                found.append((start, thread[2], end))
    return found


def around(history: History, node: Node, moment: int, known: datetime) -> list[tuple[str, Node]]:
    """Types and other ends of the facts at a node."""
    found = links(history, moment, known)
    return [(kind, end) for start, kind, end in found if start == node] + [
        (kind, start) for start, kind, end in found if end == node
    ]


def crowded(history: History, moment: int, known: datetime, fan_out: int) -> bool:
    """Whether a node has more facts than are followed."""
    return any(
        len(around(history, node, moment, known)) > fan_out
        for node in {end for link in links(history, moment, known) for end in (link[0], link[2])}
    )


def reached(  # noqa: PLR0917 - what a walk is asked for
    history: History, starts: Iterable[Node], hops: int, moment: int, known: datetime, strength: Mapping[str, float]
) -> dict[Node, Way]:
    """Nodes within some steps of others, however many facts they have."""
    found = {(stands := history.resolve(node, known)): Way(0, 1, frozenset({(stands,)})) for node in starts}
    for hop in range(1, hops + 1):
        ways: dict[Node, list[tuple[float, frozenset[tuple[str, ...]]]]] = {}
        for node, way in found.items():
            edges = around(history, node, moment, known) if way.distance == hop - 1 else []
            for kind, other in edges:
                if other not in found:
                    share = strength[kind] / (1 + math.log(len(edges)))
                    paths = frozenset((*path, kind, other) for path in way.paths)
                    ways.setdefault(other, []).append((way.reach * share, paths))
        for node, several in ways.items():
            best = max(reach for reach, _ in several)
            equal = [paths for reach, paths in several if reach >= best * (1 - TOLERANCE)]
            found[node] = Way(hop, best, frozenset().union(*equal))
    return found


def labels(history: History, node: Node, moment: int, known: datetime) -> set[str]:
    """What a node may be shown as: how it was called then, else the last that is known; a merged one's at need."""
    stands = history.resolve(node, known)
    nodes = [thread[1] for thread in history.threads() if thread[0] == "node"]
    same = [other for other in nodes if other != stands and history.resolve(other, known) == stands]
    for moments in ([moment], list(reversed(history.moments))):
        if own := _label(history, stands, moments, known):
            return {own}
        if others := {label for other in same if (label := _label(history, other, moments, known))}:
            return others
    return {""}


def _label(history: History, node: Node, moments: list[int], known: datetime) -> str:
    for moment in moments:
        content = history.content(("node", node), moment, known)
        if content is not None:
            return str(content["label"])
    return ""


def mentions(history: History, node: Node, moment: int | None, known: datetime) -> tuple[set[str], set[str]]:
    """Passages that must, and that may be found for a node, whenever they were said; moment: only facts of then."""
    must: set[str] = set()
    may: set[str] = set()
    stands = history.resolve(node, known)
    for thread in history.threads():
        named = (thread[1], thread[3]) if thread[0] == "edge" else thread[1:2]
        ends = [history.resolve(end, known) for end in named]
        if stands not in ends or (len(ends) == 2 and ends[0] == ends[1]):
            continue
        for at in history.moments if moment is None or thread[0] != "edge" else [moment]:
            if history.content(thread, at, known) is not None:
                some, all_of_them = history.evidence(thread, at, known)
                must |= some
                may |= all_of_them
    return must, may


def turned(history: History, thread: Thread, window: range, moment: int | None, known: datetime) -> tuple[bool, bool]:
    """Whether a fact must, and whether it may have begun or ended at one of some ticks, or held at all and ended since.

    With a moment the version that held then counts, without one any. Where neighbouring moments say the same, the store
    may have cut there or not.
    """

    def content(at: int) -> Content | None:
        return history.content(thread, at, known) if at in history.moments else None

    if moment is None:
        turns = [at for at in window if at - 1 in history.moments and at in history.moments]
        there = content(window.start - 1)
        throughout = there is not None and all(content(at) == there for at in window)
        last = window.stop - 1
        while throughout and last + 1 in history.moments and content(last + 1) == there:
            last += 1
        return (
            (throughout and last + 1 in history.moments) or any(content(at - 1) != content(at) for at in turns),
            throughout or any(content(at - 1) is not None or content(at) is not None for at in turns),
        )
    held = content(moment)
    if held is None:
        return False, False
    first = last = moment
    while first - 1 in history.moments and content(first - 1) == held:
        first -= 1
    while last + 1 in history.moments and content(last + 1) == held:
        last += 1
    began = [at in window and at >= 0 for at in range(first, moment + 1)]
    ended = [at in window and at in history.moments for at in range(moment + 1, last + 2)]
    throughout = first < window.start and last + 1 >= window.stop
    return all(began) or all(ended), throughout or any(began) or any(ended)


def facts(  # noqa: PLR0917 - what a recall is asked for
    history: History, words: frozenset[str], nodes: Collection[Node], window: range, moment: int, known: datetime
) -> tuple[set[tuple[Thread, str]], set[tuple[Thread, str]]]:
    """Facts that must, and that may come: by their words, about nodes (as they stand), or by when they turned."""
    must, may = set(), set()
    for thread in history.threads():
        content = history.content(thread, moment, known) if thread[0] == "edge" else None
        if content is None:
            continue
        one = (thread, str(content["fact"]))
        ends = [history.resolve(end, known) for end in (thread[1], thread[3])]
        surely, maybe = turned(history, thread, window, moment, known)
        said = bool(words & set(one[1].lower().split())) or (ends[0] != ends[1] and not set(ends).isdisjoint(nodes))
        if said or surely:
            must.add(one)
        if said or maybe:
            may.add(one)
    return must, may


def messages(  # noqa: PLR0917 - what a recall is asked for
    history: History,
    told: Mapping[str, Told],
    words: frozenset[str],
    ways: Mapping[Node, int],
    window: range,
    moment: int,
    known: datetime,
) -> tuple[set[str], set[str]]:
    """Messages that must, and that may come: by their words, their times, or for nodes so many steps away."""
    there = {name for name, one in told.items() if one.tick <= moment and one.recorded_at <= known}
    must = {name for name in there if told[name].words & words or told[name].tick in window}
    may = set(must)
    for node, distance in ways.items():
        some, all_of_them = mentions(history, node, None if distance == 0 else moment, known)
        must |= some & there
        may |= all_of_them & there
    return must, may
