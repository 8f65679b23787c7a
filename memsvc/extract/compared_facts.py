"""What the timeline compares: facts that are known and facts that are said, and the questions that it asks of both.

Pure. ``memsvc.extract.timeline`` decides by them what a new fact does to those that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from memsvc.extract.comparing import Relation
from memsvc.extract.extraction import Change
from memsvc.graph.operations import Close, Evidence, Operation, Retract, Thread
from memsvc.times.untold import TIMES, begin_is_untold, marked, unmarked

LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)


class KnownFact(msgspec.Struct, frozen=True, kw_only=True):
    """An open version, as ``memsvc.facts_to_compare`` gives it; unbounded times are None."""

    version_id: UUID
    edge_id: UUID
    from_node: UUID
    type: str
    to_node: UUID
    stored_from: UUID
    stored_to: UUID
    key: str
    fact: str
    data: dict[str, Any]
    weight: float
    confidence: float
    asserted_by: str
    valid_from: datetime | None
    valid_to: datetime | None
    said: list[datetime]
    """When passages said so, in order; when it was recorded, where there are none."""
    supported: bool
    """Passages speak for it; what was entered by hand gets no evidence, or it would go with the message."""
    here: UUID | None
    """The last passage of the same source that does."""

    @property
    def relation(self) -> Relation:
        """Its start, type and end."""
        return self.from_node, self.type, self.to_node

    @property
    def last_said(self) -> datetime:
        """When it was said last."""
        return self.said[-1] if self.said else LONG_AGO

    def said_after(self, moment: datetime) -> datetime | None:
        """When it was said next, if it was said before that moment, too: it was interrupted, not denied."""
        following = [said for said in self.said if said > moment]
        return following[0] if following and len(following) < len(self.said) else None

    def holds_at(self, moment: datetime) -> bool:
        """Whether it is said to hold then."""
        return (self.valid_from is None or self.valid_from <= moment) and (
            self.valid_to is None or moment < self.valid_to
        )


class NewFact(msgspec.Struct, kw_only=True):
    """A fact that is to be written; its ends are nodes by now."""

    place: int
    """Of the fact, in the caller's list."""
    from_node: UUID
    type: str
    to_node: UUID
    sentence: str
    said_at: datetime
    evidence: Evidence
    change: Change = "holds"
    since: datetime | None = None
    until: datetime | None = None
    earlier: bool = False
    """It began before it was said; nobody knows when."""
    lasts: bool = False
    """So it did, and it is said to go on."""
    moved: bool = False
    """It is the home to which somebody moved: of the homes before, none is theirs that is not said to be beside it."""
    never: bool = False
    """It was planned, and is off."""
    confidence: float = 1.0
    data: dict[str, Any] = {}
    functional: bool = False
    """Its type has one value at a time, and this is not said to hold beside another ("I also work at Lidl")."""
    beside: bool = False
    """It is said so of a type that has one value at a time."""

    @property
    def relation(self) -> Relation:
        """Its start, type and end."""
        return self.from_node, self.type, self.to_node


def with_mark(fact: NewFact, begin: datetime | None) -> dict[str, Any]:
    """Its data; a begin that is only the time at which it was said is marked as that."""
    if begin is None or fact.since is not None or begin != fact.said_at:
        return dict(fact.data)
    return marked(fact.data, "since", begin)


def retold(data: dict[str, Any], fact: NewFact) -> dict[str, Any]:
    """What is known of a fact, with what its begin is called now that it is told."""
    called = fact.data.get(TIMES, {}).get("since")
    plain = unmarked(data, "since")
    return {**plain, TIMES: {**plain.get(TIMES, {}), "since": called}} if called else plain


def with_untold_begin(same: Sequence[KnownFact], fact: NewFact, end: datetime | None) -> KnownFact | None:
    """The version that a fact with a told begin reaches, and whose own begin nobody told: the two are one."""
    if fact.since is None or fact.until is not None or end is None:
        return None
    return next(
        (
            known
            for known in same
            if known.supported and known.valid_from == end and begin_is_untold(known.valid_from, known.data)
        ),
        None,
    )


def newer(known: KnownFact, fact: NewFact) -> bool:
    """Whether what is known was said after what is said."""
    return known.last_said > fact.said_at


def stays(known: KnownFact, fact: NewFact) -> bool:
    """Whether a rival that begins later is left alone: it was said later, or speaks of what lies ahead."""
    return newer(known, fact) or (known.valid_from is not None and known.valid_from > fact.said_at)


def lies_in(known: KnownFact, begin: datetime | None, end: datetime | None) -> bool:
    """Whether what is known begins within a time, so that it is denied from its beginning."""
    return (
        begin is not None
        and known.valid_from is not None
        and known.valid_from >= begin
        and (end is None or known.valid_from < end)
    )


def holds_from(known: KnownFact, begin: datetime | None) -> bool:
    return known.holds_at(begin) if begin is not None else known.valid_from is None


def earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one is not None and other is not None else one or other


def ending(known: KnownFact, span: tuple[datetime, datetime | None], evidence: Evidence) -> Operation:
    """What ends a version: a close where nothing follows, else only its own time is taken away."""
    thread = Thread(edge=known.edge_id)
    if span[1] is None and (known.valid_from is None or known.valid_from < span[0]):
        return Close(thread=thread, at=span[0], evidence=(evidence,))
    return Retract(thread=thread, valid_from=span[0], valid_to=span[1], evidence=(evidence,))
