"""Reference model of the bi-temporal store: a log of what was done, and questions answered by reading it backwards.

As simple as can be, and built differently from the SQL on purpose: there are no versions and no cutting of intervals.
Valid time is a few whole numbers; what held at a number is whatever the last entry that covers it said. Recorded time
is the time that the database gave to the entry. ``tests/sql/test_history.py`` compares the two.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

Node = str
Thread = tuple[str, ...]
"""("node", n), ("alias", n, normal form) or ("edge", from, type, to, key): what is true or not at each moment."""
Content = Mapping[str, Any]
Cell = tuple[Thread, int]


class RefusedError(Exception):
    """The store must refuse this, with this code."""


@dataclass(frozen=True, slots=True)
class Assert:
    """This holds in [start, end); None: without bound."""

    thread: Thread
    start: int | None
    end: int | None
    content: Content
    evidence: frozenset[str] = frozenset()
    correction: bool = False
    """The edge was let in before, so its ends are not judged again."""


@dataclass(frozen=True, slots=True)
class Cut:
    """This does not hold in [start, end)."""

    thread: Thread
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Close:
    """This ended at a moment."""

    thread: Thread
    at: int


@dataclass(frozen=True, slots=True)
class Merge:
    """A node is the same as another."""

    node: Node
    canonical: Node


@dataclass(frozen=True, slots=True)
class Unmerge:
    """A node is not the same as another after all."""

    node: Node


@dataclass(frozen=True, slots=True)
class Restored:
    """What an undone change had altered, as it was before."""

    undone: datetime
    cells: Mapping[Cell, Content | None]
    merges: Mapping[Node, Node | None]


Operation = Assert | Cut | Close | Merge | Unmerge
Entry = Assert | Cut | Merge | Unmerge | Restored


def covers(entry: Assert | Cut, at: int) -> bool:
    """Whether an entry speaks of a moment."""
    return (entry.start is None or entry.start <= at) and (entry.end is None or at < entry.end)


@dataclass(slots=True)
class History:
    """Everything that was done for one user."""

    moments: range
    """Every moment of valid time that anybody can tell from its neighbours; the first stands for all before."""
    functional: frozenset[str]
    endpoints: Mapping[str, tuple[frozenset[str], frozenset[str]]]
    """For each edge type the node types at which it may start and end; empty: any."""
    log: list[tuple[datetime, Entry]] = field(default_factory=list)
    erasures: list[tuple[datetime, str]] = field(default_factory=list)
    """When which passages were erased, by the name of what they all say."""
    said_by: Callable[[Content], str] = lambda _: ""
    """For histories with erasures: the one name of the passages that speak for a content, whoever asserts it."""

    # Writing

    def apply(self, at: datetime, operations: Iterable[Operation]) -> None:
        """Record a batch, all of it or nothing."""
        before, todo = len(self.log), list(operations)
        try:
            for operation in todo:
                self.log.extend((at, entry) for entry in self._entries(operation))
            for operation in todo:
                if isinstance(operation, Assert) and operation.thread[0] == "edge" and not operation.correction:
                    self._check_endpoints(operation.thread)
        except RefusedError:
            del self.log[before:]
            raise

    def _entries(self, operation: Operation) -> Iterator[Entry]:
        match operation:
            case Close(thread, at):
                held = [moment for moment in self.moments if self.content(thread, moment) is not None]
                if held and held[0] >= at:
                    raise RefusedError("invalid_interval")
                yield Cut(thread, at, None)
            case Merge(node, canonical):
                merged = self.merges()
                if node == canonical or self.resolve(canonical) == node:
                    raise RefusedError("merge_cycle")
                if merged.get(node, canonical) != canonical:
                    raise RefusedError("already_merged")
                yield operation
            case _:
                yield operation

    def _check_endpoints(self, thread: Thread) -> None:
        _, start, kind, end, _ = thread
        for node, allowed in zip((start, end), self.endpoints[kind], strict=True):
            if allowed and self.type_of(node) not in allowed:
                raise RefusedError("endpoint_forbidden")

    def undo(self, at: datetime, undone: datetime) -> None:
        """Put back what a change altered, unless somebody has altered it since."""
        cells: dict[Cell, Content | None] = {}
        for cell in [(thread, moment) for thread in self.threads() for moment in self.moments]:
            was, became = self.content(*cell, before=undone), self.content(*cell, known=undone)
            if was != became:
                cells[cell] = was
                if self.content(*cell) != became:
                    raise RefusedError("change_built_upon")
        was_merged, became_merged = self.merges(before=undone), self.merges(known=undone)
        merges = {
            node: was_merged.get(node)
            for node in was_merged.keys() | became_merged.keys()
            if was_merged.get(node) != became_merged.get(node)
        }
        if any(self.merges().get(node) != became_merged.get(node) for node in merges):
            raise RefusedError("change_built_upon")
        self.log.append((at, Restored(undone, cells, merges)))
        if any(self._rivals_at(thread, moment) for (thread, moment), content in cells.items() if content is not None):
            self.log.pop()
            raise RefusedError("change_built_upon")
        if self._has_cycle():
            self.log.pop()
            raise RefusedError("merge_cycle")

    def erase(self, at: datetime, name: str) -> None:
        """Nobody knows any more, or ever did, what these passages said up to now."""
        self.erasures.append((at, name))

    def _unless_erased(self, said_at: datetime, content: Content | None) -> Content | None:
        if content is None or any(at >= said_at and name == self.said_by(content) for at, name in self.erasures):
            return None
        return content

    def _rivals_at(self, thread: Thread, moment: int) -> bool:
        return any(
            self.content(other, moment) is not None for other in self.threads() if self.are_rivals(thread, other)
        )

    def _has_cycle(self) -> bool:
        merged = self.merges()
        for node in merged:
            seen, walker = {node}, node
            while (walker := merged.get(walker, "")) and walker not in seen:
                seen.add(walker)
            if walker:
                return True
        return False

    # Reading

    def entries(self, known: datetime | None, before: datetime | None) -> list[tuple[datetime, Entry]]:
        """What was recorded up to a time, or before one. The log is in the order of time."""
        if before is not None:
            return self.log[: bisect_left(self.log, before, key=itemgetter(0))]
        return self.log if known is None else self.log[: bisect_right(self.log, known, key=itemgetter(0))]

    def threads(self) -> list[Thread]:
        """All that anything was ever said about."""
        return sorted({entry.thread for _, entry in self.log if isinstance(entry, (Assert, Cut))})

    def are_rivals(self, one: Thread, other: Thread) -> bool:
        """Whether only one of two facts can hold at a time."""
        return one != other and one[0] == other[0] == "edge" and one[2] in self.functional and one[1:3] == other[1:3]

    def content(
        self, thread: Thread, moment: int, known: datetime | None = None, before: datetime | None = None
    ) -> Content | None:
        """What held then, as it was known."""
        for at, entry in reversed(self.entries(known, before)):
            match entry:
                case Assert() if covers(entry, moment):
                    if entry.thread == thread:
                        return self._unless_erased(at, entry.content)
                    if self.are_rivals(thread, entry.thread):
                        return None
                case Cut() if covers(entry, moment) and entry.thread == thread:
                    return None
                case Restored() if (thread, moment) in entry.cells:
                    return self._unless_erased(at, entry.cells[thread, moment])
                case _:
                    pass
        return None

    def evidence(self, thread: Thread, moment: int, known: datetime) -> tuple[set[str], set[str]]:
        """Passages that must, and passages that may be shown for what held then."""
        entries = self.entries(known, None)
        undone = {entry.undone for _, entry in entries if isinstance(entry, Restored)}
        content = self.content(thread, moment, known)
        said = [
            (at, entry)
            for at, entry in entries
            if isinstance(entry, Assert) and entry.thread == thread and entry.content == content
        ]
        may = {passage for _, entry in said for passage in entry.evidence}
        # Undoing takes away what a change brought, though a later one may have said the same again.
        gone = {passage for at, entry in said if at in undone for passage in entry.evidence}
        for at, entry in reversed(said):
            if covers(entry, moment) and self.content(thread, moment, at) == content:
                return set() if at in undone else set(entry.evidence) - gone, may
        return set(), may

    def merges(self, known: datetime | None = None, before: datetime | None = None) -> dict[Node, Node]:
        """Which node stands for which."""
        merged: dict[Node, Node] = {}
        for _, entry in self.entries(known, before):
            match entry:
                case Merge(node, canonical):
                    merged[node] = canonical
                case Unmerge(node):
                    merged.pop(node, None)
                case Restored(merges=merges):
                    for node, canonical_or_none in merges.items():
                        merged.pop(node, None)
                        if canonical_or_none is not None:
                            merged[node] = canonical_or_none
                case _:
                    pass
        return merged

    def resolve(self, node: Node, known: datetime | None = None) -> Node:
        """The node that stands for this one."""
        merged = self.merges(known)
        while node in merged:
            node = merged[node]
        return node

    def type_of(self, node: Node) -> str | None:
        """The type of a node today, or when it was last known to have one; its canonical node's goes first."""
        for candidate in (self.resolve(node), node):
            for moment in reversed(self.moments):
                held = self.content(("node", candidate), moment)
                if held is not None:
                    return str(held["type"])
        return None

    def facts(self, about: Node, moment: int, known: datetime) -> set[tuple[Thread, str, bool]]:
        """Edges of a node and of all that are merged with it: thread, fact, contested."""
        merged = self.merges(known)

        def resolve(node: Node) -> Node:
            while node in merged:
                node = merged[node]
            return node

        held = {
            thread: content
            for thread in self.threads()
            if thread[0] == "edge" and (content := self.content(thread, moment, known)) is not None
        }
        ends = {thread: (resolve(thread[1]), resolve(thread[3])) for thread in held}

        def contested(thread: Thread) -> bool:
            return thread[2] in self.functional and any(
                other[2] == thread[2] and ends[other][0] == ends[thread][0] and ends[other][1] != ends[thread][1]
                for other in held
            )

        return {
            (thread, str(content["fact"]), contested(thread))
            for thread, content in held.items()
            if resolve(about) in ends[thread]
        }

    # Walking

    def links(self, moment: int, known: datetime, types: frozenset[str] | None = None) -> set[tuple[Node, Node]]:
        """Which nodes are joined by a fact, merges resolved; from start to end."""
        merged = self.merges(known)

        def resolve(node: Node) -> Node:
            while node in merged:
                node = merged[node]
            return node

        return {
            (resolve(thread[1]), resolve(thread[3]))
            for thread in self.threads()
            if thread[0] == "edge"
            and (types is None or thread[2] in types)
            and self.content(thread, moment, known) is not None
        }

    # Recalling

    def said(
        self, words: frozenset[str], about: Node, moment: int, known: datetime
    ) -> set[tuple[Thread, str, bool, bool]]:
        """Facts to recall: thread, fact, whether it says one of the words, and whether it is about the node."""
        found = set()
        for thread in self.threads():
            content = self.content(thread, moment, known) if thread[0] == "edge" else None
            if content is None:
                continue
            ends = [self.resolve(end, known) for end in (thread[1], thread[3])]
            says, of_node = bool(words & set(str(content["fact"]).split())), self.resolve(about, known) in ends
            if says or (of_node and ends[0] != ends[1]):
                found.add((thread, str(content["fact"]), says, of_node))
        return found

    def named(self, query: str, moment: int, known: datetime) -> set[tuple[str, Node]]:
        """Names in a query, small letters, the longest ones; with the nodes that are called so."""
        called: dict[str, set[Node]] = {}
        for thread in self.threads():
            content = self.content(thread, moment, known)
            if content is not None and thread[0] != "edge":
                name = str(content["label"] if thread[0] == "node" else content["alias"]).lower()
                called.setdefault(name, set()).add(self.resolve(thread[1], known))
        words = list(re.finditer(r"\w+", query.lower()))
        runs = [
            (first.start(), last.end())
            for place, first in enumerate(words)
            for last in words[place : place + 6]
            if query.lower()[first.start() : last.end()] in called
        ]
        longest = [one for one in runs if not any(o != one and o[0] <= one[0] and one[1] <= o[1] for o in runs)]
        names = {query.lower()[begin:end] for begin, end in longest}
        return {(name, node) for name in names for node in called[name]}


def walked(links: Iterable[tuple[Node, Node]], side: str) -> set[tuple[Node, Node]]:
    """Steps that one may take: along the links, against them, or both."""
    there = set(links)
    back = {(end, start) for start, end in there}
    return {"from": there, "to": back, "both": there | back}[side]


def distances(steps: set[tuple[Node, Node]], start: Node, hops: int) -> dict[Node, int]:
    """How many steps the nodes are away, up to some."""
    found = {start: 0}
    for hop in range(1, hops + 1):
        for node in {end for begin, end in steps if found.get(begin) == hop - 1} - found.keys():
            found[node] = hop
    return found


def shortest(steps: set[tuple[Node, Node]], start: Node, end: Node, hops: int) -> set[tuple[Node, ...]]:
    """All shortest ways with at most so many steps, as the nodes on them."""
    ways: set[tuple[Node, ...]] = {(start,)}
    for _ in range(hops + 1):
        if arrived := {way for way in ways if way[-1] == end}:
            return arrived
        ways = {(*way, onward) for way in ways for begin, onward in steps if begin == way[-1] and onward not in way}
    return set()
