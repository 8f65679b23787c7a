"""Calendars: events become nodes and facts, and follow what the calendar says later."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.feeds.feeds import Feed, add, look, run, runs
from memsvc.feeds.wanted import Door, FeedIn
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources.ingests import look as look_at
from tests.sql.world import value

pytestmark = pytest.mark.slow
OPERATOR = Door(by_operator=True)
BERLIN = ZoneInfo("Europe/Berlin")
EVENTS = """
SELECT v.label, v.data ->> 'starts_at', v.data ->> 'state' FROM memsvc.node_versions AS v
WHERE v.user_id = %s AND v.type = 'Event' AND v.recorded_to = 'infinity' ORDER BY 1
"""
FACTS = """
SELECT v.fact, v.valid_from, v.valid_to FROM memsvc.edge_versions AS v
WHERE v.user_id = %s AND v.recorded_to = 'infinity' AND v.asserted_by LIKE 'calendar:%%' ORDER BY 1
"""
CHANGES = "SELECT count(*) FROM memsvc.changes WHERE user_id = %s AND asserted_by LIKE 'calendar:%%'"


def rows(connection: psycopg.Connection, statement: str, user_id: UUID) -> list[Any]:
    """The rows of a user that a statement yields."""
    return connection.execute(statement.encode(), [user_id]).fetchall()


def day(ahead: int, hour: int = 15) -> datetime:
    """A time of a coming day in Berlin."""
    today = datetime.now(BERLIN).replace(hour=hour, minute=0, second=0, microsecond=0, tzinfo=None)
    return today + timedelta(days=ahead)


def event(uid: str, starts: datetime, *lines: str) -> str:
    """An event of an hour in Berlin."""
    ends = starts + timedelta(hours=1)
    return "\r\n".join(
        (
            "BEGIN:VEVENT", f"UID:{uid}", f"DTSTART;TZID=Europe/Berlin:{starts:%Y%m%dT%H%M%S}",
            f"DTEND;TZID=Europe/Berlin:{ends:%Y%m%dT%H%M%S}", *lines, "END:VEVENT",
        )
    )  # fmt: skip


def calendar(*events: str) -> str:
    """A calendar's file."""
    return "\r\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:tests", *events, "END:VCALENDAR", ""))


class Stage:
    """A calendar's file that a feed reads."""

    def __init__(self, db: Database, owner: Owner, settings: Settings, path: Path) -> None:
        self.db, self.owner, self.settings, self.path = db, owner, settings, path
        self.feed: Feed | None = None

    async def read(self, *events: str, **asked: Any) -> dict[str, int]:
        """Let the file have these events and be read; return what was counted."""
        self.path.write_text(calendar(*events), newline="")
        if self.feed is None:
            wanted = FeedIn(kind="ics", path=str(self.path), **asked)
            self.feed = await add(self.db, self.owner, wanted, self.settings, OPERATOR)
        else:
            await run(self.db, self.owner, self.feed.feed_id, self.settings, OPERATOR)
        await run_due(self.db, all_steps(self.settings, None))
        shown = await look(self.db, self.owner, self.feed.feed_id)
        assert shown.last_error is None
        latest = (await runs(self.db, self.owner, self.feed.feed_id)).items[0]
        [item] = (await look_at(self.db, self.owner, latest.ingest_id)).items
        assert item.outcome == "stored", item
        return item.counts


@pytest.fixture
def stage(db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, tmp_path: Path) -> Stage:
    """A calendar of somebody in Berlin."""
    admin.execute("UPDATE memsvc.users SET time_zone = 'Europe/Berlin' WHERE user_id = %s", [owner.user_id])
    return Stage(db, owner, settings, tmp_path / "home.ics")


async def test_events_are_written_moved_and_cancelled(stage: Stage, admin: psycopg.Connection) -> None:
    user: list[object] = [stage.owner.user_id]
    starts = day(3)
    more = (
        "SUMMARY:Kitchen\\, first talk", "LOCATION:Lindenhof", "GEO:52.5;13.4",
        'ATTENDEE;CN="Ines, Ríos":mailto:ines@example.org', "ATTENDEE;PARTSTAT=DECLINED;CN=Rui:mailto:rui@example.org",
        "ATTENDEE;CN=M:mailto:me@example.org",
    )  # fmt: skip
    assert await stage.read(event("a", starts, *more), me=["ME@example.org"]) == {"new_events": 1}
    label = f"Kitchen, first talk ({starts.date()})"
    moment = starts.replace(tzinfo=BERLIN)
    assert rows(admin, EVENTS, stage.owner.user_id) == [(label, moment.isoformat(), "planned")]
    on = "“Kitchen, first talk” on"
    facts = rows(admin, FACTS, stage.owner.user_id)
    assert {fact.partition(on)[0] for fact, _, _ in facts} == {"", "Ines, Ríos takes part in ", "M takes part in "}
    assert {(begins, ends) for _, begins, ends in facts} == {(moment, moment + timedelta(hours=1))}
    before = value(admin, CHANGES, user)
    assert await stage.read(event("a", starts, *more)) == {"unchanged_events": 1}
    assert value(admin, CHANGES, user) == before
    later = day(10, 9)
    assert await stage.read(event("a", later, *more, "SEQUENCE:1")) == {"changed_events": 1}
    moved = later.replace(tzinfo=BERLIN)
    assert rows(admin, EVENTS, stage.owner.user_id) == [
        (f"Kitchen, first talk ({later.date()})", moved.isoformat(), "planned")
    ]
    facts = rows(admin, FACTS, stage.owner.user_id)
    assert len(facts) == 3
    assert {(begins, ends) for _, begins, ends in facts} == {(moved, moved + timedelta(hours=1))}
    assert await stage.read(event("a", later, *more, "STATUS:CANCELLED", "SEQUENCE:2")) == {"cancelled_events": 1}
    assert rows(admin, EVENTS, stage.owner.user_id) == [(f"Kitchen, first talk ({later.date()})", None, "cancelled")]
    assert rows(admin, FACTS, stage.owner.user_id) == []


async def test_what_is_no_longer_in_the_calendar_is_taken_back_if_it_was_to_come(
    stage: Stage, admin: psycopg.Connection
) -> None:
    past, coming = event("a", day(-9), "SUMMARY:Past"), event("b", day(9), "SUMMARY:Coming", "LOCATION:Here")
    await stage.read(past, coming)
    broken = "BEGIN:VEVENT\r\nUID:c\r\nDTSTART;TZID=Mars/Olympus:20260101T100000\r\nEND:VEVENT"
    await stage.read(broken)
    assert len(rows(admin, EVENTS, stage.owner.user_id)) == 2, "it may be the one that cannot be read"
    assert await stage.read() == {"cancelled_events": 1}
    assert [label.partition(" (")[0] for label, _, _ in rows(admin, EVENTS, stage.owner.user_id)] == ["Past"]
    assert rows(admin, FACTS, stage.owner.user_id) == []
    stage.path.write_text("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n")
    assert stage.feed is not None
    await run(stage.db, stage.owner, stage.feed.feed_id, stage.settings, OPERATOR)
    await run_due(stage.db, all_steps(stage.settings, None))
    assert (await look(stage.db, stage.owner, stage.feed.feed_id)).last_error == "calendar_invalid"
    assert len(rows(admin, EVENTS, stage.owner.user_id)) == 1


async def test_recurring_events_are_written_for_ninety_days_and_one_of_them_may_move(
    stage: Stage, admin: psycopg.Connection
) -> None:
    starts = day(1, 18)
    whole = event(
        "c", starts, "SUMMARY:Choir", "RRULE:FREQ=WEEKLY", f"EXDATE;TZID=Europe/Berlin:{day(8, 18):%Y%m%dT%H%M%S}"
    )
    third = day(15, 18)
    other = event("c", day(16, 20), "SUMMARY:Choir", f"RECURRENCE-ID;TZID=Europe/Berlin:{third:%Y%m%dT%H%M%S}")
    expected = [day(ahead, 18) for ahead in range(1, 91, 7)]
    counts = await stage.read(whole)
    assert counts == {"new_events": len(expected) - 1}
    assert await stage.read(whole, other) == {"changed_events": 1, "unchanged_events": len(expected) - 2}
    found = {datetime.fromisoformat(at) for _, at, _ in rows(admin, EVENTS, stage.owner.user_id)}
    wanted = {one.replace(tzinfo=BERLIN) for one in (*expected, day(16, 20)) if one not in {day(8, 18), third}}
    assert {one.astimezone(UTC) for one in found} == {one.astimezone(UTC) for one in wanted}
    assert {f"{one.astimezone(BERLIN):%H:%M}" for one in found} == {"18:00", "20:00"}  # also after clocks were changed


async def test_an_erased_event_does_not_come_back(stage: Stage, admin: psycopg.Connection, owner: Owner) -> None:
    await stage.read(event("a", day(3), "SUMMARY:Secret"))
    found = "SELECT node_id FROM memsvc.node_versions WHERE user_id = %s AND type = 'Event'"
    node = value(admin, found, [owner.user_id])
    await erase(stage.db, owner, "node", node, requested_by="user")
    await run_due(stage.db, all_steps(stage.settings, None))
    assert rows(admin, EVENTS, owner.user_id) == []
    assert await stage.read(event("a", day(4), "SUMMARY:Secret")) == {"erased_events": 1}
    assert rows(admin, EVENTS, owner.user_id) == []
