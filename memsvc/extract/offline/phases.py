"""When a fact is told anew: after it ended, or after what cannot hold beside it, it is another fact, with its own time.

"I live in Lyon", "we moved to Nantes", "back in Lyon": two times in Lyon, not one with two quotes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from memsvc.extract.extraction import Change
from memsvc.extract.offline.findings import MAYBE, Finding
from memsvc.graph.operations import BESIDE

TASTES = frozenset({"LIKES", "DISLIKES"})
Relation = tuple[int, str, int]
"""Start, type and end of a fact: keys of entities."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a turn said."""

    relation: Relation
    change: Change
    turn: int


class Phases:
    """Counts, for each relation, how often something came between."""

    def __init__(self, functional: AbstractSet[str]) -> None:
        """Begin before anything is said, with the types that have one value at a time."""
        self._functional = functional
        self._told: dict[tuple[object, ...], list[Told]] = defaultdict(list)
        self._phase: dict[tuple[Relation, Change], int] = defaultdict(int)

    def of(self, finding: Finding, relation: Relation) -> int:
        """The phase in which something is told; findings come in the order of their turns.

        Args:
            finding: what is told.
            relation: its ends and type, in the order in which they are compared.
        """
        told = self._told[self._line(relation, beside=BESIDE in finding.data)]
        change, turn = finding.change, finding.clause.reading.index
        same = [one for one in told if (one.relation, one.change) == (relation, change)]
        if same and any(same[-1].turn < one.turn < turn for one in told if one not in same):
            self._phase[relation, change] += 1
        if finding.confidence >= MAYBE:
            told.append(Told(relation, change, turn))
        return self._phase[relation, change]

    def _line(self, relation: Relation, *, beside: bool) -> tuple[object, ...]:
        """Of what is told on one line, one thing holds at a time."""
        start, type_, end = relation
        if type_ in TASTES:
            return start, TASTES, end
        return (start, type_) if type_ in self._functional and not beside else relation
