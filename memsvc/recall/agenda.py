"""What falls into a span of time: plans that people told, facts and tasks and events with a time, and birthdays.

Messages count that were said within sixty days before the span and hold words of time (``memsvc.times.telling``), two
thousand of a hundred thousand at most (``memsvc.times.plans`` reads them); of what is known, a thousand facts of each
sort and five thousand nodes. Where there is more, ``truncated`` says so. All counting is done on the user's clock.
Statements: ``sql/queries/agenda.sql``. What a context shows of it: ``memsvc.recall.due``.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import Row

from memsvc.access.users import Owner, valid_zone
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, check_page, read_cursor, write_cursor
from memsvc.db.short_ids import short_id
from memsvc.db.together import Together
from memsvc.errors import InvalidRequestError, InvalidTimeError
from memsvc.recall.moved import Told, later_messages
from memsvc.recall.times_in_words import clock, days
from memsvc.sources.times import parse_time
from memsvc.times.dates import DAY
from memsvc.times.plans import Plan, plans
from memsvc.times.telling import TELLING_IN_SQL

MOST_YEARS, LOOK_BACK = 10, timedelta(days=60)
LONGEST_SPAN = timedelta(days=MOST_YEARS * 365 + 3)
MOST_SAID, LOOK_SAID = 2_000, 100_000
"""Messages with words of time that are read, and messages that are looked at for such words."""
MOST_FACTS, LOOK_NODES = 1_000, 5_000
LONGEST_EVENT = timedelta(days=93)
"""What holds longer is a state and no event: it is told only where it begins or ends."""
Kind = Literal["message", "fact", "task", "event", "yearly"]
LAST_SORT = 4
"""Of facts: 4 and 5 are closed since (``memsvc.agenda_facts``), and share a limit."""
DATED = ("due", "due_at", "deadline", "date", "starts_at")
YEARLY = ("birthday", "birth_date", "date_of_birth", "anniversary", "wedding_date")
OF_YEAR = re.compile(r"(?:\d{4}|-)?-?(?P<month>\d{2})-(?P<day>\d{2})")


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
    remark: str = ""
    """Of a message: that a later one may have moved it, with that one's id: "may be out of date: see m:…"."""


class AgendaPage(msgspec.Struct, frozen=True, kw_only=True):
    """What falls into a span of time: one page."""

    items: list[AgendaItem]
    next_cursor: str | None
    """Send it as the cursor of the next page; None: this was the last."""
    truncated: bool
    """There was too much to look at, so something may be missing in the span; ask for a shorter one."""


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """Where the message of an item stands, for contexts."""

    conversation_id: UUID
    role: str
    session: str
    ordinal: int
    part: int


Found = tuple[AgendaItem, Spoken | None]
Read = dict[UUID, list[Plan]]
"""Plans of passages that were read, by id: no message is read twice for several spans."""


class Asked(NamedTuple):
    """What was found for a span, in the order of its times."""

    found: list[Found]
    truncated: bool


def ask(
    trip: Together,
    owner: Owner,
    span: tuple[datetime, datetime],
    now: datetime,
    *,
    then: datetime | None = None,
    said: tuple[int, int] = (MOST_SAID, LOOK_SAID),
    known: bool = True,
    read: Read | None = None,
) -> Callable[[], Asked]:
    """Ask for what falls into a span; what it gives tells, once the trip is sent.

    Args:
        trip: asked here, and sent by the caller.
        owner: whose memory.
        span: on any clock.
        now: the moment of asking.
        then: what was said and recorded by then counts; None: by ``now``.
        said: messages with words of time that are read, and messages that are looked at.
        known: facts and nodes too.
        read: plans that were read already; filled.
    """
    (begin, end), (most, look) = span, said
    then = then or now
    rows: list[Sequence[Row[Any]]] = [
        trip.ask(
            query("agenda_said"),
            {"user_id": owner.user_id, "said_from": begin - LOOK_BACK, "said_to": min(end, then),
             "telling": TELLING_IN_SQL, "look": look, "limit": most + 1},
        )
    ]  # fmt: skip
    if known:
        bounds = {"user_id": owner.user_id, "known_at": then if then < datetime.now(UTC) else None}
        in_span = {"valid_from": begin, "valid_to": end, "longest": LONGEST_EVENT, "limit": MOST_FACTS + 1}
        rows += [
            trip.ask(query("agenda_facts"), bounds | in_span),
            trip.ask(query("agenda_nodes"), bounds | {"look": LOOK_NODES}),
        ]

    def told() -> Asked:
        messages, facts, nodes = [*rows, (), ()][:3]
        sorts = Counter(min(row.sort, LAST_SORT) for row in facts)
        truncated = (
            len(messages) > most
            or any(row.nth > look for row in messages)
            or any(count > MOST_FACTS for count in sorts.values())
            or any(row.nth > LOOK_NODES for row in nodes)
        )
        return Asked(_found(owner, span, now, (messages, facts, nodes), {} if read is None else read), truncated)

    return told


async def agenda(
    db: Database,
    owner: Owner,
    begin: datetime,
    end: datetime,
    *,
    asked_at: datetime | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> AgendaPage:
    """What falls into a span, in the order of its times.

    Args:
        db: the database.
        owner: whose memory.
        begin: aware.
        end: after it, ten years at most.
        asked_at: the moment of asking: what was said or recorded later does not count; None: now.
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
    told = ask(trip, owner, (begin, end), now)
    await trip.send()
    found, truncated = await asyncio.to_thread(told)
    items = [item for item, _ in found]
    rest = items if after is None else [item for item in items if place(item) > (after[0].astimezone(UTC), after[1])]
    page = rest[:limit]
    following = write_cursor(place(page[-1])) if len(rest) > limit else None
    return AgendaPage(items=page, next_cursor=following, truncated=truncated)


def when(item: AgendaItem) -> str:
    """When an item is, in words: "Friday, 13 November 2026, 09:00", "3 to 9 May 2026, past"."""
    begins, ends = item.begins, item.ends
    told = days(begins.date(), max(ends.date(), begins.date() + DAY))
    if item.timed or ends.date() - begins.date() <= DAY:
        told = f"{begins:%A}, {told}"
    return f"{told}{f', {clock(begins)}' if item.timed else ''}{', past' if item.past else ''}"


def place(item: AgendaItem) -> tuple[datetime, str]:
    """Its place in the order; one message may speak of several times."""
    return item.begins.astimezone(UTC), item.id


def _found(
    owner: Owner, span: tuple[datetime, datetime], now: datetime, rows: tuple[Sequence[Row[Any]], ...], read: Read
) -> list[Found]:
    zone = valid_zone(owner.time_zone)
    said, facts, nodes = rows
    found = [
        *(one for row in said for one in _of_message(row, zone, span, read)),
        *((item, None) for row in facts for item in _of_fact(row, zone, span) if row.sort <= LAST_SORT),
        *((item, None) for row in nodes for item in _of_node(row, zone, span)),
    ]
    remarks = _remarks(found, said, zone, read)
    told: dict[tuple[datetime, str], Found] = {}
    for number, (item, spoken) in enumerate(found):
        over = item.ends <= now if not item.timed else item.begins < now
        marked = msgspec.structs.replace(item, past=over, remark=remarks.get(number, ""))
        told.setdefault(place(item), (marked, spoken))
    return [told[at] for at in sorted(told)]


def _remarks(found: Sequence[Found], said: Sequence[Row[Any]], zone: ZoneInfo, read: Read) -> dict[int, str]:
    """What is to be said of messages that a later one may have moved: by their place among what was found."""
    of_messages = [(number, item) for number, (item, _) in enumerate(found) if item.said_at is not None]
    if not of_messages:
        return {}
    shown = [
        Told(item.memory_id, item.speaker, item.said_at or item.begins, item.what, item.says, item.begins.date())
        for _, item in of_messages
    ]
    all_told = [
        Told(row.passage_id, row.speaker or row.role, row.said_at, row.text, plan.words, _local(plan.begins, zone))
        for row in said
        for plan in read[row.passage_id]
    ]
    later = later_messages(shown, all_told)
    return {of_messages[at][0]: f"may be out of date: see m:{short_id(passage)}" for at, passage in later.items()}


def _local(moment: datetime, zone: ZoneInfo) -> date:
    return moment.astimezone(zone).date()


def _falls(begins: datetime, ends: datetime, span: tuple[datetime, datetime]) -> bool:
    """Whether a moment (both are the same) or days lie in a span, in part at least."""
    return begins < span[1] and (ends > span[0] or begins == ends == span[0])


def _of_message(row: Row[Any], zone: ZoneInfo, span: tuple[datetime, datetime], read: Read) -> Iterator[Found]:
    said_at = on_clock(row.said_at, row.said_offset)
    if row.passage_id not in read:
        read[row.passage_id] = plans(row.text, said_at, zone)
    for plan in read[row.passage_id]:
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
            until = local if timed else midnight(local.date() + DAY, zone)
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
            until = moment if timed else midnight(moment.date() + DAY, zone)
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
            ends = midnight(begins.date() + DAY, zone)
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
        return midnight(date(year, int(match["month"]), int(match["day"])), zone)
    except ValueError:
        return None


def _moment(value: object, zone: ZoneInfo) -> datetime | None:
    """A time in a node's data, on the user's clock; None: there is none."""
    try:
        return parse_time(value, zone).moment.astimezone(zone) if isinstance(value, str) else None
    except (InvalidTimeError, OverflowError):
        return None


def midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)
