"""Times as the database stores them: a moment, and the speaker's offset from UTC in minutes at that moment."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import cache


def on_clock(moment: datetime, offset_minutes: int) -> datetime:
    """A stored moment in the speaker's local time."""
    return moment.astimezone(_zone(offset_minutes))


@cache
def _zone(offset_minutes: int) -> timezone:
    return timezone(timedelta(minutes=offset_minutes))
