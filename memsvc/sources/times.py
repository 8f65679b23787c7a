"""Parse the times that clients send: ISO 8601, with an offset or in the user's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from memsvc.errors import InvalidTimeError

EARLIEST, LATEST = 1000, 9000


@dataclass(frozen=True, slots=True)
class SaidAt:
    """A moment and the speaker's offset from UTC at that moment."""

    moment: datetime
    """With its offset."""
    offset_minutes: int
    """Minutes east of UTC."""
    assumed: bool
    """True: the time had no offset, so the user's zone was used."""


def parse_time(value: str, zone: ZoneInfo) -> SaidAt:
    """Parse a time.

    Args:
        value: ISO 8601; a date alone means its midnight.
        zone: the zone of a time without an offset.

    Raises:
        InvalidTimeError: the value is not such a time, or is outside the years 1000 to 9000.
    """
    try:
        parsed = datetime.fromisoformat(value.strip())
        if "\0" in value:  # Python 3.11 ignores what follows a NUL
            raise ValueError  # noqa: TRY301 - the same error as for every other wrong character
    except ValueError as error:
        raise InvalidTimeError(f"{value[:60]!r} is not a time.") from error
    if not EARLIEST <= parsed.year < LATEST:
        raise InvalidTimeError(f"{value[:60]!r} is outside the years {EARLIEST} to {LATEST}.")
    assumed = parsed.tzinfo is None
    moment = parsed.replace(tzinfo=zone) if assumed else parsed
    offset = moment.utcoffset()
    return SaidAt(moment, round(offset.total_seconds() / 60) if offset else 0, assumed)


def now_in(zone: ZoneInfo) -> SaidAt:
    """Return the current time in the user's time zone."""
    moment = datetime.now(UTC).astimezone(zone)
    offset = moment.utcoffset()
    return SaidAt(moment, round(offset.total_seconds() / 60) if offset else 0, assumed=False)
