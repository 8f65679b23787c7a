"""What falls into a span of time: plans that people told, facts and tasks and events with a time, and birthdays.

Messages are looked at that were said within sixty days before the span (``memsvc.times.plans`` reads their words), two
thousand at most; of what is known, a thousand of each sort. All counting is done on the user's clock. Statements:
``sql/queries/agenda.sql``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import Row

from memsvc.access.users import Owner, valid_zone
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.db.short_ids import short_id
from memsvc.db.together import Together
from memsvc.errors import InvalidRequestError, InvalidTimeError
from memsvc.recall.items import Item
from memsvc.recall.options import Filters
from memsvc.recall.times_in_words import clock, days
from memsvc.sources.times import parse_time
from memsvc.times.dates import DAY
from memsvc.times.plans import coming_dates, plans
from memsvc.times.relative import relative_times

MOST_YEARS, LOOK_BACK = 10, timedelta(days=60)
LONGEST_SPAN = timedelta(days=MOST_YEARS * 365 + 3)
MOST_SAID, MOST_KNOWN = 2_000, 1_000
MOST_FOR_A_CONTEXT, MOST_SHOWN = 1_000, 8
"""Messages that are looked at for a context, and items that it shows."""
LONGEST_EVENT = timedelta(days=93)
"""What holds longer is a state and no event: it is told only where it begins or ends."""
LONGEST_ASKED = timedelta(days=31)
"""Of a time that a question names, for its agenda."""
Kind = Literal["message", "fact", "task", "event", "yearly"]
DATED = ("due", "due_at", "deadline", "date", "starts_at")
YEARLY = ("birthday", "birth_date", "date_of_birth", "anniversary", "wedding_date")
OF_YEAR = re.compile(r"(?:\d{4}|-)?-?(?P<month>\d{2})-(?P<day>\d{2})")
ASKS_FOR_PLANS = re.compile(
    r"\b(?:supposed to|(?:anything|something|what(?:['’]s| is| was| do (?:i|we) have)?|got|have(?: i| we)?)"
    r" (?:\w+ ){0,3}?(?:on|planned|due|scheduled|coming up)\b|appointments?|agenda|schedule|calendar|reminders?"
    r"|to-?dos?|plans?|(?:do|did|must|should|need to|have to|had to) (?:i|we) (?:have|need|go|do|get|buy|be|remember)\b"
    r"|what (?:do|did|must|should|have|had) (?:i|we)\b|(?:i|we) (?:have|had|need|needed) to\b"
    r"|steht .{0,30}\ban\b|(?:habe|hatte|muss|musste|soll|sollte) ich|termine?|vorhabe)|安排|日程|计划|要做什么",
    re.IGNORECASE,
)
"""Words of a question for what is to be done at a time."""


class AgendaItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that falls into a span of time."""

    id: str
    """Opens what it rests on: m: a message, f: a fact, n: a node."""
    kind: Kind
    """message: what somebody said; fact; task or event: a node; yearly: a birthday or an anniversary."""
    memory_id: UUID
    """The whole id: of the passage, the fact's version, or the node."""
    what: str
    """The message, the fact's sentence, or the node's name."""
    begins: datetime
    """On the user's clock; a day begins at midnight."""
    ends: datetime
    """The end of the day or days; the same as ``begins`` where an hour is told."""
    timed: bool
    """Whether an hour is told."""
    past: bool
    """Whether it was over at the moment of asking."""
    says: str = ""
    """Words of the message that name the time, such as tomorrow; of a fact: begins, ends or holds."""
    state: str = ""
    """Of a task: its state, as its data has it."""
    speaker: str = ""
    said_at: datetime | None = None
    """When the message was said, on the speaker's clock."""
    conversation: str = ""


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """Where the message of an item stands, for contexts."""

    conversation_id: UUID
    role: str
    session: str
    ordinal: int
    part: int


Found = tuple[AgendaItem, Spoken | None]


def asked_spans(question: str, now: datetime, zone: ZoneInfo) -> list[tuple[datetime, datetime]]:
    """The days for which a question asks what is to be done; none where it asks something else, or names no time.

    Args:
        question: in natural language.
        now: the moment of asking.
        zone: the user's time zone; a weekday alone, and a date without a year, is the next one.
    """
    if len(question) > 400 or ASKS_FOR_PLANS.search(question) is None:  # noqa: PLR2004 - longer texts are no question
        return []
    local = now.astimezone(zone)
    days = [(time.begin, time.end) for time in relative_times(question, local, ahead=True)]
    days += [(begin, end) for _, begin, end in coming_dates(question, local, zone)]
    spans = [(_midnight(begin, zone), _midnight(end, zone)) for begin, end in days if end - begin <= LONGEST_ASKED]
    return list(dict.fromkeys(spans))[:3]


def asked(
    trip: Together,
    owner: Owner,
    span: tuple[datetime, datetime],
    now: datetime,
    *,
    then: datetime | None = None,
    most: int = MOST_SAID,
) -> Callable[[], list[Found]]:
    """Ask for what falls into a span; what it gives tells, once the trip is sent.

    Args:
        trip: asked here, and sent by the caller.
        owner: whose memory.
        span: on any clock.
        now: the moment of asking.
        then: what was said by then counts; None: by ``now``.
        most: messages that are looked at.
    """
    begin, end = span
    said = trip.ask(
        query("agenda_said"),
        {"user_id": owner.user_id, "said_from": begin - LOOK_BACK, "said_to": min(end, then or now), "limit": most},
    )
    bounds = {"user_id": owner.user_id, "limit": MOST_KNOWN}
    facts = trip.ask(query("agenda_facts"), bounds | {"valid_from": begin, "valid_to": end})
    nodes = trip.ask(query("agenda_nodes"), bounds)
    return lambda: _found(owner, span, now, (said, facts, nodes))


async def agenda(
    db: Database,
    owner: Owner,
    begin: datetime,
    end: datetime,
    *,
    asked_at: datetime | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Page[AgendaItem]:
    """What falls into a span, in the order of its times.

    Args:
        db: the database.
        owner: whose memory.
        begin: aware.
        end: after it, ten years at most.
        asked_at: the moment of asking: what was said later does not count; None: now.
        limit: items of a page, 1 to 1,000.
        cursor: next_cursor of the page before.

    Raises:
        InvalidRequestError: the span or the limit cannot be.
        BadCursorError: the cursor is not one of ours.
    """
    check_page(limit)
    if begin >= end:
        raise InvalidRequestError("from must lie before to.", field="to")
    if end - begin > LONGEST_SPAN:
        raise InvalidRequestError(
            f"The span is longer than {MOST_YEARS} years.", hint="Ask for parts of it, one after the other.", field="to"
        )
    after = read_cursor(cursor, tuple[Moment, str]) if cursor is not None else None
    now = asked_at or datetime.now(UTC)
    trip = Together(db, owner.user_id, keep_plans=True, stores=False)
    told = asked(trip, owner, (begin, end), now)
    await trip.send()
    items = [item for item, _ in await asyncio.to_thread(told)]
    rest = items if after is None else [item for item in items if _place(item) > (after[0].astimezone(UTC), after[1])]
    page = rest[:limit]
    following = write_cursor(_place(page[-1])) if len(rest) > limit else None
    return Page(items=page, next_cursor=following)


def plans_asked(
    trip: Together, owner: Owner, question: str, filters: Filters, now: datetime
) -> Callable[[], list[Item]] | None:
    """Ask for what is to be done at the time that a question names, for a context; None: it asks nothing of the kind.

    Args:
        trip: asked here, and sent by the caller; what this gives tells after that.
        owner: whose memory.
        question: in natural language.
        filters: of the request; where they narrow what may be recalled, nothing is given.
        now: the moment of asking, on the user's clock.
    """
    narrowed = filters.narrows or any(
        (filters.kinds, filters.conversations, filters.not_conversations, filters.said_from, filters.said_to,
         filters.known_at, filters.least_score is not None)
    )  # fmt: skip
    spans = [] if narrowed else asked_spans(question, now, valid_zone(owner.time_zone))
    if not spans:
        return None
    told = [asked(trip, owner, span, now, then=filters.then, most=MOST_FOR_A_CONTEXT) for span in spans]

    def items() -> list[Item]:
        found = {_place(item): (item, spoken) for one in told for item, spoken in one()}
        due = [place for place, (item, _) in found.items() if not item.past]
        over = [place for place in found if place not in set(due)]
        return [_as_item(*found[place]) for place in sorted([*due, *over][:MOST_SHOWN])]

    return items


def when(item: AgendaItem) -> str:
    """When an item is, in words: "Friday, 13 November 2026, 09:00", "3 to 9 May 2026, past"."""
    begins, ends = item.begins, item.ends
    told = days(begins.date(), max(ends.date(), begins.date() + DAY))
    if item.timed or ends.date() - begins.date() <= DAY:
        told = f"{begins:%A}, {told}"
    return f"{told}{f', {clock(begins)}' if item.timed else ''}{', past' if item.past else ''}"


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
        **msgspec.structs.asdict(spoken),
    )


def _place(item: AgendaItem) -> tuple[datetime, str]:
    """Its place in the order; one message may speak of several times."""
    return item.begins.astimezone(UTC), item.id


def _found(
    owner: Owner, span: tuple[datetime, datetime], now: datetime, rows: tuple[Sequence[Row[Any]], ...]
) -> list[Found]:
    zone = valid_zone(owner.time_zone)
    said, facts, nodes = rows
    found = [
        *(one for row in said for one in _of_message(row, zone, span)),
        *((item, None) for row in facts for item in _of_fact(row, zone, span)),
        *((item, None) for row in nodes for item in _of_node(row, zone, span)),
    ]
    told: dict[tuple[datetime, str], Found] = {}
    for item, spoken in found:
        over = item.ends <= now if not item.timed else item.begins < now
        told.setdefault(_place(item), (msgspec.structs.replace(item, past=over), spoken))
    return [told[place] for place in sorted(told)]


def _falls(begins: datetime, ends: datetime, span: tuple[datetime, datetime]) -> bool:
    """Whether a moment (both are the same) or days lie in a span, in part at least."""
    return begins < span[1] and (ends > span[0] or begins == ends == span[0])


def _of_message(row: Row[Any], zone: ZoneInfo, span: tuple[datetime, datetime]) -> Iterator[Found]:
    said_at = on_clock(row.said_at, row.said_offset)
    for plan in plans(row.text, said_at, zone):
        spoken = Spoken(
            conversation_id=row.source_id, role=row.role, session=row.session, ordinal=row.ordinal, part=row.part
        )
        days = _each_year(plan.begins, span) if plan.yearly else [plan.begins]
        for begins in days:
            ends = begins + (plan.ends - plan.begins)
            if _falls(begins, ends, span):
                item = _item(
                    "m",
                    row.passage_id,
                    "message",
                    (begins.astimezone(zone), ends.astimezone(zone)),
                    what=row.text,
                    timed=plan.timed,
                    says=plan.words,
                    speaker=row.speaker or row.role,
                    said_at=said_at,
                    conversation=row.identifier,
                )
                yield item, spoken


def _of_fact(row: Row[Any], zone: ZoneInfo, span: tuple[datetime, datetime]) -> Iterator[AgendaItem]:
    begins, ends = row.valid_from, row.valid_to
    for says, moment in (("begins", begins), ("ends", ends)):
        if moment is not None and span[0] <= moment < span[1]:
            local = moment.astimezone(zone)
            timed = local.timetz().replace(tzinfo=None) != datetime.min.time()
            until = local if timed else _midnight(local.date() + DAY, zone)
            yield _fact_item(row, local, until, timed=timed, says=says)
    event = begins is not None and ends is not None and ends - begins <= LONGEST_EVENT
    if event and begins < span[0] and ends >= span[1]:
        yield _fact_item(row, begins.astimezone(zone), ends.astimezone(zone), timed=False, says="holds")


def _fact_item(row: Row[Any], begins: datetime, ends: datetime, *, timed: bool, says: str) -> AgendaItem:
    return _item("f", row.version_id, "fact", (begins, ends), what=row.fact, timed=timed, says=says)


def _of_node(row: Row[Any], zone: ZoneInfo, span: tuple[datetime, datetime]) -> Iterator[AgendaItem]:
    data: dict[str, Any] = row.data
    name, state = row.label or row.description, str(data.get("state", ""))[:100]
    if row.kind != "Person":
        kind: Kind = "task" if row.kind == "Task" else "event"
        for moment in filter(None, (_moment(data.get(key), zone) for key in DATED)):
            timed = moment.timetz().replace(tzinfo=None) != datetime.min.time()
            until = moment if timed else _midnight(moment.date() + DAY, zone)
            if _falls(moment, until, span):
                yield _item("n", row.node_id, kind, (moment, until), what=name, timed=timed, state=state)
        if row.valid_from is not None or row.valid_to is not None:
            begins, ends = row.valid_from or row.valid_to, row.valid_to or row.valid_from + DAY
            if _falls(begins, ends, span):
                local = begins.astimezone(zone), ends.astimezone(zone)
                yield _item("n", row.node_id, kind, local, what=name, timed=False, state=state)
    for key in YEARLY:
        match = OF_YEAR.fullmatch(value) if isinstance(value := data.get(key), str) else None
        first = _day(2000, match, zone) if match else None  # a leap year
        for begins in _each_year(first, span) if first is not None else ():
            ends = _midnight(begins.date() + DAY, zone)
            if _falls(begins, ends, span):
                says = key.replace("_", " ")
                yield _item("n", row.node_id, "yearly", (begins, ends), what=name, timed=False, says=says)


def _item(letter: str, memory_id: UUID, kind: Kind, span: tuple[datetime, datetime], **more: Any) -> AgendaItem:
    """An item that is not over yet, as far as nobody has looked."""
    id_, (begins, ends) = f"{letter}:{short_id(memory_id)}", span
    return AgendaItem(id=id_, kind=kind, memory_id=memory_id, begins=begins, ends=ends, past=False, **more)


def _each_year(first: datetime, span: tuple[datetime, datetime]) -> Iterator[datetime]:
    """The same day of the years of a span; 29 February is 1 March where there is none."""
    for year in range(span[0].year - 1, span[1].year + 2):
        try:
            yield first.replace(year=year)
        except ValueError:
            yield first.replace(year=year, month=3, day=1)


def _day(year: int, match: re.Match[str], zone: ZoneInfo) -> datetime | None:
    try:
        return _midnight(date(year, int(match["month"]), int(match["day"])), zone)
    except ValueError:
        return None


def _moment(value: object, zone: ZoneInfo) -> datetime | None:
    """A time in a node's data, on the user's clock; None: there is none."""
    try:
        return parse_time(value, zone).moment.astimezone(zone) if isinstance(value, str) else None
    except (InvalidTimeError, OverflowError):
        return None


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)
