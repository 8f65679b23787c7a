"""Read a calendar's file: the part of iCalendar (RFC 5545) that says what happens when, where and with whom.

What is read: unfolding, escapes, parameters, VEVENT with DTSTART, DTEND, DURATION, RRULE, RDATE, EXDATE, RECURRENCE-ID,
STATUS, SUMMARY, DESCRIPTION, LOCATION, GEO, ORGANIZER and ATTENDEE; times in UTC, with TZID, floating, and days. TZID
is a name of the IANA database, or a VTIMEZONE's X-LIC-LOCATION. What cannot be read is refused by name: one event, or
the file if it is no calendar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from memsvc.errors import CalendarError, InvalidRequestError
from memsvc.sources.kinds.kind import zone_called
from memsvc.times.recurrence import Recurrence, read_recurrence

FOLD = re.compile(rb"\r?\n[ \t]")
NAME = re.compile(r"(?P<name>[A-Za-z0-9-]+)(?P<rest>[;:].*)", re.DOTALL)
PARAMETER = re.compile(r';(?P<name>[A-Za-z0-9-]+)=(?P<value>(?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)')
MOMENT = re.compile(r"(?P<date>[0-9]{8})(?:T(?P<time>[0-9]{6})(?P<utc>Z)?)?")
DURATION = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<weeks>\d{1,4})W)?(?:(?P<days>\d{1,5})D)?"
    r"(?:T(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,7})S)?)?"
)
ESCAPE = re.compile(r"\\(.)")
MOST_BYTES, MOST_EVENTS, MOST_DATES, MOST_PEOPLE = 50_000_000, 20_000, 5_000, 200
FIRST_YEAR, LAST_YEAR = 1000, 8999
DAY = timedelta(days=1)


class Line(NamedTuple):
    """A property."""

    name: str
    parameters: Mapping[str, str]
    value: str


class Person(NamedTuple):
    """Who organises an event or was invited."""

    name: str
    address: str
    """An e-mail address in small letters; empty: there is none."""
    declined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event, or one time of an event that recurs."""

    uid: str
    recurrence: str
    """Which of its times, as a moment of ISO 8601; empty: it does not recur."""
    starts: datetime
    ends: datetime
    all_day: bool
    """Its times are the beginning of the first day and the end of the last, on the owner's clock."""
    summary: str
    description: str
    location: str
    place: tuple[float, float] | None
    """Latitude and longitude in degrees."""
    people: tuple[Person, ...]
    cancelled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Component:
    """An event as it is written: the first of those that recur, or one that differs."""

    event: Event
    zone: tzinfo
    rule: Recurrence | None
    more: tuple[datetime, ...]
    without: frozenset[datetime]
    instead_of: datetime | None
    """The time that this one stands for."""
    sequence: int


@dataclass(slots=True)
class Calendar:
    """What a calendar's file has."""

    components: list[_Component] = field(default_factory=list)
    odd: Counter[str] = field(default_factory=Counter)
    """Events that were left out, by reason."""

    def events(self, since: datetime, until: datetime) -> Iterator[Event]:
        """Yield the events; of those that recur, the times that begin from ``since`` up to ``until``.

        A time that was moved counts by where it was moved to.
        """
        latest: dict[tuple[str, datetime | None], _Component] = {}
        for one in self.components:
            key = (one.event.uid, one.instead_of)
            if key not in latest or latest[key].sequence <= one.sequence:
                latest[key] = one
        moved: dict[str, set[datetime]] = {}
        for uid, instead_of in latest:
            if instead_of is not None:
                moved.setdefault(uid, set()).add(instead_of)
        for (uid, instead_of), one in latest.items():
            if instead_of is not None:
                if since <= one.event.starts < until or since <= instead_of < until:
                    yield replace(one.event, recurrence=_named(instead_of))
            elif one.rule is None and not one.more:
                yield one.event
            else:
                yield from _times(one, moved.get(uid, set()), since, until)


def _times(one: _Component, moved: set[datetime], since: datetime, until: datetime) -> Iterator[Event]:
    """Yield the times of an event that recurs."""
    first = one.event.starts
    starts: set[datetime] = {moment for moment in (first, *one.more) if since <= moment < until}
    if one.rule is not None:
        for moment in one.rule.moments(first.astimezone(one.zone), since):
            if moment.astimezone(UTC) >= until:
                break
            starts.add(moment.astimezone(UTC))
    length = one.event.ends - first
    for moment in sorted(starts - one.without - moved):
        ends = moment + length
        if one.event.all_day:  # days, not hours: a day may have 23
            local = moment.astimezone(one.zone)
            days = (one.event.ends.astimezone(one.zone).date() - first.astimezone(one.zone).date()).days
            ends = _day(local.date() + timedelta(days=days), one.zone)
        yield replace(one.event, starts=moment, ends=ends, recurrence=_named(moment))


def _named(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _day(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def read_calendar(content: bytes, zone: tzinfo) -> Calendar:
    """Read a calendar's file.

    Args:
        content: its bytes.
        zone: of the owner, for days and for times without any zone.

    Raises:
        CalendarError: it is no calendar, or too large.
    """
    if len(content) > MOST_BYTES:
        raise CalendarError(f"It has more than {MOST_BYTES:,} bytes.")
    try:
        text = FOLD.sub(b"", content.removeprefix(b"\xef\xbb\xbf")).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise CalendarError("It is not UTF-8.") from error
    reader = _FileReader(zone)
    for number, raw in enumerate(text.split("\n"), 1):
        if raw.strip():
            reader.take(_line(raw, number), number)
    if not reader.is_calendar:
        raise CalendarError("It does not begin with BEGIN:VCALENDAR.")
    if reader.within:
        raise CalendarError(f"It ends within {reader.within[-1]}.")
    return reader.calendar


class _FileReader:
    """Reads a file line by line."""

    def __init__(self, zone: tzinfo) -> None:
        self.calendar = Calendar()
        self.within: list[str] = []
        """What was begun and has not ended."""
        self.is_calendar = False
        self._zone = zone
        self._zones: dict[str, str] = {}
        self._zone_lines: dict[str, str] = {}
        self._lines: list[Line] = []

    def take(self, line: Line, number: int) -> None:
        """Read a line.

        Raises:
            CalendarError: it cannot be there.
        """
        if line.name == "BEGIN":
            self._begin(line.value.strip().upper())
        elif line.name == "END":
            self._end(line.value.strip().upper(), number)
        elif self.within[-1:] == ["VEVENT"]:
            self._lines.append(line)
        elif self.within[-1:] == ["VTIMEZONE"]:
            self._zone_lines[line.name] = line.value

    def _begin(self, what: str) -> None:
        self.is_calendar = self.is_calendar or (what == "VCALENDAR" and not self.within)
        if not self.is_calendar:
            raise CalendarError("It does not begin with BEGIN:VCALENDAR.")
        self.within.append(what)
        if what == "VEVENT":
            self._lines = []
        elif what == "VTIMEZONE":
            self._zone_lines = {}

    def _end(self, what: str, number: int) -> None:
        if not self.within or self.within.pop() != what:
            raise CalendarError(f"Line {number}: END does not belong to what was begun.")
        if what == "VEVENT":
            _add(self.calendar, self._lines, self._zones, self._zone)
        elif what == "VTIMEZONE":
            self._zones[self._zone_lines.get("TZID", "")] = self._zone_lines.get("X-LIC-LOCATION", "")


def _line(raw: str, number: int) -> Line:
    """Read a line.

    Raises:
        CalendarError: it is none.
    """
    found = NAME.match(raw)
    if found is None:
        raise CalendarError(f"Line {number} is no property.")
    rest, parameters = found["rest"], {}
    position = 0
    while (parameter := PARAMETER.match(rest, position)) is not None:
        parameters[parameter["name"].upper()] = parameter["value"].strip('"')
        position = parameter.end()
    if rest[position : position + 1] != ":":
        raise CalendarError(f"Line {number} has parameters that cannot be read.")
    return Line(found["name"].upper(), parameters, rest[position + 1 :])


def _add(calendar: Calendar, lines: list[Line], zones: Mapping[str, str], zone: tzinfo) -> None:
    """Add an event, or count why it is left out."""
    if len(calendar.components) == MOST_EVENTS:
        calendar.odd[f"events after the first {MOST_EVENTS:,}"] += 1
        return
    try:
        calendar.components.append(_Reader(lines, zones, zone).component())
    except (_OddError, InvalidRequestError) as error:
        calendar.odd[f"events that cannot be read: {str(error).rstrip('.')}"] += 1


class _OddError(Exception):
    """An event cannot be read; says why."""


class _Reader:
    """Reads one event."""

    def __init__(self, lines: list[Line], zones: Mapping[str, str], zone: tzinfo) -> None:
        self._lines, self._zones, self._own = lines, zones, zone

    def component(self) -> _Component:
        start = self._one("DTSTART")
        if start is None:
            raise _OddError("DTSTART is missing")
        uid = self._text("UID")
        if not uid:
            raise _OddError("UID is missing")
        starts, all_day = self._moment(start, start.value)
        zone = self._zone(start) if not all_day else self._own
        rule_line, instead = self._one("RRULE"), self._one("RECURRENCE-ID")
        if instead is not None and instead.parameters.get("RANGE"):
            raise _OddError("RANGE of RECURRENCE-ID is not supported")
        if len([line for line in self._lines if line.name == "RRULE"]) > 1 or self._one("EXRULE") is not None:
            raise _OddError("several RRULE, or EXRULE, are not supported")
        sequence = self._text("SEQUENCE")
        event = Event(
            uid=uid,
            recurrence="",
            starts=starts,
            ends=self._ends(start, starts, zone, all_day=all_day),
            all_day=all_day,
            summary=self._text("SUMMARY"),
            description=self._text("DESCRIPTION"),
            location=self._text("LOCATION"),
            place=self._place(),
            people=self._people(),
            cancelled=self._text("STATUS").upper() == "CANCELLED",
        )
        return _Component(
            event=event,
            zone=zone,
            rule=read_recurrence(rule_line.value, "RRULE") if rule_line is not None else None,
            more=tuple(self._moments("RDATE")),
            without=frozenset(self._moments("EXDATE")),
            instead_of=self._moment(instead, instead.value)[0] if instead is not None else None,
            sequence=int(sequence[:9]) if sequence.isascii() and sequence.isdecimal() else 0,
        )

    def _one(self, name: str) -> Line | None:
        return next((line for line in self._lines if line.name == name), None)

    def _text(self, name: str) -> str:
        line = self._one(name)
        return unescaped(line.value).strip() if line is not None else ""

    def _zone(self, line: Line) -> tzinfo:
        """Return the zone of a time.

        Raises:
            _OddError: nobody knows it.
        """
        if line.value.endswith("Z"):
            return UTC
        name = line.parameters.get("TZID")
        if name is None:
            return self._own
        found = zone_called(name) or zone_called(self._zones.get(name)) or zone_called("/".join(name.split("/")[-2:]))
        if found is None:
            raise _OddError("TZID is no time zone that is known")
        return found

    def _moment(self, line: Line, value: str) -> tuple[datetime, bool]:
        """Return a moment in UTC, and whether it is a day."""
        found = MOMENT.fullmatch(value.strip())
        try:
            if found is None:
                raise _OddError(f"{line.name} is no time")
            day = date(int(found["date"][:4]), int(found["date"][4:6]), int(found["date"][6:]))
            if not FIRST_YEAR <= day.year <= LAST_YEAR:
                raise _OddError(f"{line.name} has a year before {FIRST_YEAR} or after {LAST_YEAR}")
            if found["time"] is None:
                return _day(day, self._own), True
            hour, minute, second = (int(found["time"][place : place + 2]) for place in (0, 2, 4))
            at = time(hour, minute, min(second, 59))  # a leap second
        except ValueError as error:
            raise _OddError(f"{line.name} is no time") from error
        zone = UTC if found["utc"] else self._zone(line)
        return datetime.combine(day, at, zone).astimezone(UTC), False

    def _moments(self, name: str) -> Iterator[datetime]:
        values = [(line, value) for line in self._lines if line.name == name for value in line.value.split(",")]
        if len(values) > MOST_DATES:
            raise _OddError(f"{name} has more than {MOST_DATES:,} times")
        for line, value in values:
            yield self._moment(line, value.split("/")[0])[0]  # of a period, its begin

    def _ends(self, start: Line, starts: datetime, zone: tzinfo, *, all_day: bool) -> datetime:
        end, length = self._one("DTEND"), self._one("DURATION")
        if end is not None:
            ends = self._moment(end, end.value)[0]
        elif length is not None:
            ends = starts + _duration(length.value)
            if all_day:  # days of the clock
                ends = _day(starts.astimezone(zone).date() + timedelta(days=_duration(length.value).days), zone)
        elif all_day:
            ends = _day(starts.astimezone(zone).date() + DAY, zone)
        else:
            ends = starts
        if ends < starts:
            raise _OddError(f"{start.name} is after its end")
        return ends

    def _place(self) -> tuple[float, float] | None:
        latitude, _, longitude = self._text("GEO").partition(";")
        try:
            place = float(latitude), float(longitude)
        except ValueError:
            return None
        return place if abs(place[0]) <= 90 and abs(place[1]) <= 180 else None  # noqa: PLR2004 - degrees

    def _people(self) -> tuple[Person, ...]:
        people: dict[str, Person] = {}
        for line in self._lines:
            if line.name not in {"ORGANIZER", "ATTENDEE"} or len(people) == MOST_PEOPLE:
                continue
            if line.parameters.get("CUTYPE", "INDIVIDUAL").upper() not in {"INDIVIDUAL", "UNKNOWN"}:
                continue  # a room or a list of addresses
            scheme, _, address = line.value.strip().partition(":")
            address = address.casefold() if scheme.casefold() == "mailto" else ""
            name = unescaped(line.parameters.get("CN", "")).strip()
            declined = line.parameters.get("PARTSTAT", "").upper() == "DECLINED"
            key = address or name
            if key:
                known = people.get(key)
                is_declined = declined or (known is not None and known.declined)
                people[key] = Person(name or (known.name if known else ""), address, is_declined)
        return tuple(people.values())


def _duration(value: str) -> timedelta:
    found = DURATION.fullmatch(value.strip())
    if found is None or found["sign"] == "-":
        raise _OddError("DURATION is no length of time")
    parts = {name: int(found[name] or 0) for name in ("weeks", "days", "hours", "minutes", "seconds")}
    return timedelta(**parts)


def unescaped(value: str) -> str:
    """Return a text without its escapes (RFC 5545, section 3.3.11)."""
    return ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value)
