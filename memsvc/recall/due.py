"""What is to be done at the time that a question names, for a context: the agenda's items as items of its block."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from memsvc.access.users import Owner, valid_zone
from memsvc.db.together import Together
from memsvc.recall.agenda import AgendaItem, Read, Spoken, ask, midnight, place, when
from memsvc.recall.items import Item
from memsvc.recall.options import Filters
from memsvc.times.plans import coming_dates
from memsvc.times.relative import relative_times
from memsvc.times.tense import Way, asked_way

MOST_FOR_A_CONTEXT, LOOK_FOR_A_CONTEXT, MOST_SHOWN = 1_000, 10_000, 8
"""Messages with words of time that are read for a context, messages that are looked at, and items that it shows."""
LONGEST_ASKED = timedelta(days=31)
"""Of a time that a question names, for its agenda."""
MOST_SPANS = 3
WAYS: dict[Way, tuple[Way, ...]] = {-1: (-1,), 0: (1, -1), 1: (1,)}
NOT_ALL = "The agenda may lack what was said long ago: so much was said since that not all of it was looked at."
ASKS_FOR_PLANS = re.compile(
    r"\b(?:supposed to|(?:anything|something|what(?:['’]s| is| was| do (?:i|we) have)?|got|have(?: i| we)?)"
    r" (?:\w+ ){0,3}?(?:on|planned|due|scheduled|coming up)\b|appointments?|agenda|schedule|calendar|reminders?"
    r"|to-?dos?|plans?|(?:do|did|must|should|need to|have to|had to) (?:i|we) (?:have|need|go|do|get|buy|be|remember)\b"
    r"|what (?:do|did|must|should|have|had) (?:i|we)\b|(?:i|we) (?:have|had|need|needed) to\b"
    r"|steht .{0,30}\ban\b|(?:habe|hatte|muss|musste|soll|sollte) ich|termine?|vorhabe)|安排|日程|计划|要做什么",
    re.IGNORECASE,
)
"""Words of a question for what is to be done at a time."""


class Due(NamedTuple):
    """Items for a context."""

    items: list[Item]
    truncated: bool
    """There was too much to look at, and some may be missing."""


def asked_spans(question: str, now: datetime, zone: ZoneInfo) -> list[tuple[datetime, datetime]]:
    """The days for which a question asks what is to be done; none where it asks something else, or names no time.

    Args:
        question: in natural language.
        now: the moment of asking.
        zone: the user's time zone; a weekday alone, and a date without a year, is the next one; of a question in the
            past tense the last one, and of "was I supposed to" either weekday, and the nearer date.
    """
    if len(question) > 400 or ASKS_FOR_PLANS.search(question) is None:  # noqa: PLR2004 - longer texts are no question
        return []
    local, said = now.astimezone(zone), " ".join(question.split())
    either = asked_way(said)
    days: list[tuple[date, date]] = []
    for way in WAYS[either]:
        times = relative_times(said, local, ahead=way > 0, back=way < 0)
        days += [(time.begin, time.end) for time in times]
        days += [(begin, end) for _, _, begin, end in coming_dates(said, local, zone, either)]
    spans = [(midnight(begin, zone), midnight(end, zone)) for begin, end in days if end - begin <= LONGEST_ASKED]
    return list(dict.fromkeys(spans))[:MOST_SPANS]


def plans_asked(
    trip: Together, owner: Owner, question: str, filters: Filters, now: datetime
) -> Callable[[], Due] | None:
    """Ask for what is to be done at the time that a question names, for a context; None: it asks nothing of the kind.

    Args:
        trip: asked here, and sent by the caller; what this gives tells after that.
        owner: whose memory.
        question: in natural language.
        filters: of the request; where they narrow what may be recalled, nothing is given; without facts, messages.
        now: the moment of asking, on the user's clock.
    """
    narrowed = filters.narrows or any(
        (filters.kinds, filters.conversations, filters.not_conversations, filters.said_from, filters.said_to,
         filters.known_at, filters.least_score is not None)
    )  # fmt: skip
    spans = [] if narrowed else asked_spans(question, now, valid_zone(owner.time_zone))
    if not spans:
        return None
    said, read = (MOST_FOR_A_CONTEXT, LOOK_FOR_A_CONTEXT), Read()
    told = [ask(trip, owner, span, now, then=filters.then, said=said, known=filters.facts, read=read) for span in spans]

    def due() -> Due:
        answers = [one() for one in told]
        found = {place(item): (item, spoken) for answer in answers for item, spoken in answer.found}
        coming = [at for at, (item, _) in found.items() if not item.past]
        over = [at for at in found if at not in set(coming)]
        shown = [found[at] for at in sorted([*coming, *over][:MOST_SHOWN])]
        items = [_as_item(item, spoken) for item, spoken in shown]
        return Due(items, any(answer.truncated for answer in answers))

    return due


def _as_item(one: AgendaItem, spoken: Spoken | None) -> Item:
    """An item of a context."""
    told = when(one)
    if spoken is None:
        plain = re.fullmatch(r"[\w -]{1,40}", one.state)  # it stands in front of the quote
        says = one.says or (f"{one.kind}, {one.state}" if plain else one.kind)
        kind: Literal["fact", "node"] = "fact" if one.kind == "fact" else "node"
        return Item(
            id=one.id, kind=kind, memory_id=one.memory_id, text=one.what, why="on the agenda", validity=f"{says} {told}"
        )
    return Item(
        id=one.id,
        kind="message",
        memory_id=one.memory_id,
        text=one.what,
        why=f"on the agenda: “{one.says}” is {told}",
        validity=told,
        speaker=one.speaker,
        said_at=one.said_at,
        conversation=one.conversation,
        remark=one.remark,
        **msgspec.structs.asdict(spoken),
    )
