"""Times as the database keeps them: a moment, and the minutes by which the speaker's clock was ahead of UTC then."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import cache


def on_clock(moment: datetime, offset_minutes: int) -> datetime:
    """A stored moment on the clock that the speaker had."""
    return moment.astimezone(_zone(offset_minutes))


@cache
def _zone(offset_minutes: int) -> timezone:
    return timezone(timedelta(minutes=offset_minutes))
