"""Reading calendars: the part of RFC 5545 that is read, and that nothing else is guessed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import CalendarError
from memsvc.feeds.icalendar import Event, Person, read_calendar

BERLIN = ZoneInfo("Europe/Berlin")
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
UNTIL = SINCE + timedelta(days=365)
ZONE = "BEGIN:VTIMEZONE\nTZID:Mine\nX-LIC-LOCATION:Asia/Tokyo\nBEGIN:STANDARD\nEND:STANDARD\nEND:VTIMEZONE"


def read(*events: str, before: str = "") -> tuple[list[Event], dict[str, int]]:
    """The events of a calendar, and what was left out."""
    inner = "\n".join(f"BEGIN:VEVENT\n{one}\nEND:VEVENT" for one in events)
    found = read_calendar(f"BEGIN:VCALENDAR\n{before}\n{inner}\nEND:VCALENDAR".encode(), BERLIN)
    return list(found.events(SINCE, UNTIL)), dict(found.odd)


def times(*lines: str, **more: Any) -> list[tuple[str, str]]:
    """When the one event begins and ends, in Berlin."""
    events, odd = read("\n".join(("UID:a", *lines)), **more)
    assert not odd
    return [tuple(f"{at.astimezone(BERLIN):%m-%d %H:%M}" for at in (one.starts, one.ends)) for one in events]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["DTSTART:20260301T090000Z", "DURATION:PT1H30M"], [("03-01 10:00", "03-01 11:30")]),
        (["DTSTART;TZID=America/New_York:20260301T090000"], [("03-01 15:00", "03-01 15:00")]),
        (["DTSTART;TZID=Mine:20260301T090000", "DTEND;TZID=Mine:20260301T100000"], [("03-01 01:00", "03-01 02:00")]),
        (['DTSTART;TZID="/freeassociation/Europe/Berlin":20260301T090000'], [("03-01 09:00", "03-01 09:00")]),
        (["DTSTART:20260301T090000"], [("03-01 09:00", "03-01 09:00")]),
        (["DTSTART;VALUE=DATE:20260329"], [("03-29 00:00", "03-30 00:00")]),  # a day of 23 hours
        (["DTSTART;VALUE=DATE:20260328", "DTEND;VALUE=DATE:20260331"], [("03-28 00:00", "03-31 00:00")]),
        (["DTSTART;VALUE=DATE:20260328", "DURATION:P2D"], [("03-28 00:00", "03-30 00:00")]),
        (
            ["DTSTART;VALUE=DATE:20260327", "DTEND;VALUE=DATE:20260328", "RRULE:FREQ=DAILY;COUNT=3"],
            [("03-27 00:00", "03-28 00:00"), ("03-28 00:00", "03-29 00:00"), ("03-29 00:00", "03-30 00:00")],
        ),
        (
            ["DTSTART;TZID=Europe/Berlin:20260322T180000", "RRULE:FREQ=WEEKLY;UNTIL=20260405T160000Z",
             "EXDATE;TZID=Europe/Berlin:20260329T180000", "RDATE;TZID=Europe/Berlin:20260401T070000"],
            [("03-22 18:00", "03-22 18:00"), ("04-01 07:00", "04-01 07:00"), ("04-05 18:00", "04-05 18:00")],
        ),
        (["DTSTART:20200229T090000Z", "RRULE:FREQ=YEARLY"], []),
        (
            ["DTSTART:20200131T090000Z", "RRULE:FREQ=MONTHLY;UNTIL=20260331T090000Z"],
            [("01-31 10:00",) * 2, ("03-31 11:00",) * 2],
        ),
    ],
)  # fmt: skip
def test_times(lines: list[str], expected: list[tuple[str, str]]) -> None:
    assert times(*lines, before=ZONE) == expected


def test_a_time_that_differs_stands_for_its_own_and_the_latest_version_counts() -> None:
    whole = "UID:a\nDTSTART:20260301T090000Z\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:old"
    newer = "UID:a\nDTSTART:20260301T100000Z\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:new\nSEQUENCE:2"
    moved = "UID:a\nRECURRENCE-ID:20260302T100000Z\nDTSTART:20260310T120000Z\nSUMMARY:moved\nSEQUENCE:2"
    off = "UID:a\nRECURRENCE-ID:20260303T100000Z\nDTSTART:20260303T100000Z\nSTATUS:CANCELLED\nSEQUENCE:3"
    events, odd = read(newer, whole, moved, off)
    assert not odd
    assert sorted((f"{one.starts:%d %H}", one.summary, one.cancelled) for one in events) == [
        ("01 10", "new", False), ("03 10", "", True), ("10 12", "moved", False),
    ]  # fmt: skip
    assert len({one.recurrence for one in events}) == 3


def test_texts_people_and_places() -> None:
    [event], _ = read(
        "UID:a\nDTSTART:20260301T090000Z\nSUMMARY;LANGUAGE=de:Eins\\, zwei\\; drei\\nvier\\\\\nGEO:52.5;13.4\n"
        'ATTENDEE;CN="Ríos, Ines";PARTSTAT=ACCEPTED:MAILTO:Ines@Example.org\nORGANIZER;CN=Rui:mailto:rui@example.org\n'
        "ATTENDEE;PARTSTAT=DECLINED:mailto:rui@example.org\nATTENDEE;CUTYPE=ROOM;CN=R1:mailto:r1@example.org\n"
        "BEGIN:VALARM\nSUMMARY:not this\nEND:VALARM"
    )
    assert (event.summary, event.place) == ("Eins, zwei; drei\nvier\\", (52.5, 13.4))
    assert event.people == (Person("Ríos, Ines", "ines@example.org"), Person("Rui", "rui@example.org", declined=True))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60), st.integers(1, 20))
def test_a_text_comes_back_wherever_its_line_is_folded(words: str, width: int) -> None:
    escaped = words.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    line = f"SUMMARY:{escaped}".encode()
    folded = b"\r\n ".join(line[at : at + width] for at in range(0, len(line), width))
    head, tail = (
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20260301T090000Z\r\n",
        b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    )
    [event] = read_calendar(head + folded + tail, BERLIN).events(SINCE, UNTIL)
    assert event.summary == words.strip()


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("DTSTART:20260301T090000Z", "UID"),
        ("UID:a", "DTSTART"),
        ("UID:a\nDTSTART;TZID=Mars/Olympus:20260301T090000", "TZID"),
        ("UID:a\nDTSTART:20261301T090000Z", "DTSTART"),
        ("UID:a\nDTSTART:20260301T090000Z\nDTEND:20260301T080000Z", "end"),
        ("UID:a\nDTSTART:20260301T090000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=3", "BYWEEKNO"),
        ("UID:a\nDTSTART:20260301T090000Z\nRRULE:FREQ=DAILY\nEXRULE:FREQ=WEEKLY", "EXRULE"),
        ("UID:a\nDTSTART:20260301T090000Z\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260301T090000Z", "RANGE"),
        ("UID:a\nDTSTART:00010101T000000Z", "year"),
    ],
)
def test_an_event_that_cannot_be_read_is_left_out_by_name(lines: str, why: str) -> None:
    events, odd = read(lines, "UID:b\nDTSTART:20260301T090000Z")
    assert [one.uid for one in events] == ["b"]
    [(told, count)] = odd.items()
    assert (why in told, count) == (True, 1)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"hello", b"BEGIN:VCARD\nEND:VCARD", b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\n",
        b"BEGIN:VCALENDAR\nEND:VEVENT\n", b"BEGIN:VCALENDAR\nSUMMARY:\xff\nEND:VCALENDAR",
        b"BEGIN:VCALENDAR\nno property\nEND:VCALENDAR", b"<html></html>",
        b'BEGIN:VCALENDAR\nA;B="x:y\nEND:VCALENDAR', b"END:VCALENDAR",
    ],
)  # fmt: skip
def test_what_is_no_calendar_is_refused(content: bytes) -> None:
    with pytest.raises(CalendarError):
        read_calendar(content, BERLIN)
