"""Times as the database stores them: a moment, and the speaker's offset from UTC in minutes at that moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from functools import cache


def on_clock(moment: datetime, offset_minutes: int) -> datetime:
    """A stored moment in the speaker's local time."""
    return moment.astimezone(_zone(offset_minutes))


@cache
def _zone(offset_minutes: int) -> timezone:
    return timezone(timedelta(minutes=offset_minutes))


def midnight() -> datetime:
    """When the day (UTC) ends, and daily budgets begin anew."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
