"""Reads the times that clients send: ISO 8601, with an offset or on the user's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from memsvc.errors import InvalidTimeError

EARLIEST, LATEST = 1000, 9000


@dataclass(frozen=True, slots=True)
class SaidAt:
    """A moment and the speaker's clock at it."""

    moment: datetime
    """With its offset."""
    offset_minutes: int
    """East of UTC."""
    assumed: bool
    """True: the time had no offset, the user's zone was taken."""


def parse_time(value: str, zone: ZoneInfo) -> SaidAt:
    """Read a time.

    Args:
        value: ISO 8601; a date alone means its midnight.
        zone: where a time without an offset is read.

    Raises:
        InvalidTimeError: it is no such time, or not between the years 1000 and 9000.
    """
    try:
        parsed = datetime.fromisoformat(value.strip())
        if "\0" in value:  # Python 3.11 reads up to it
            raise ValueError  # noqa: TRY301 - the same answer as for every other wrong sign
    except ValueError as error:
        raise InvalidTimeError(f"{value[:60]!r} is not a time.") from error
    if not EARLIEST <= parsed.year < LATEST:
        raise InvalidTimeError(f"{value[:60]!r} lies outside the years {EARLIEST} to {LATEST}.")
    assumed = parsed.tzinfo is None
    moment = parsed.replace(tzinfo=zone) if assumed else parsed
    offset = moment.utcoffset()
    return SaidAt(moment, round(offset.total_seconds() / 60) if offset else 0, assumed)


def now_in(zone: ZoneInfo) -> SaidAt:
    """This moment on the user's clock."""
    moment = datetime.now(UTC).astimezone(zone)
    offset = moment.utcoffset()
    return SaidAt(moment, round(offset.total_seconds() / 60) if offset else 0, assumed=False)
