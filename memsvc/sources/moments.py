"""Parse the two times of a query about the graph, as clients of any door write them: ``as_of`` and ``known_at``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from memsvc.access.users import Owner
from memsvc.errors import InvalidTimeError
from memsvc.graph.read import ALWAYS, AsOf
from memsvc.sources.times import parse_time

SKEW = timedelta(minutes=1)
"""How far a client's clock may be ahead of ours."""
LOST_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")


def read_moment(value: str | None, owner: Owner, field: str) -> datetime | None:
    """Parse a moment, if there is one. Raises: as ``need_moment``."""
    return need_moment(value, owner, field) if value is not None else None


def need_moment(value: str, owner: Owner, field: str) -> datetime:
    """Parse a moment, by default in the user's time zone. A plus sign that a URL turned into a space is restored.

    Raises:
        InvalidTimeError: the value is not a time, or is outside the years 1000 to 9000.
    """
    try:
        given = parse_time(value, ZoneInfo(owner.time_zone)).moment
        return given.astimezone(UTC)
    except InvalidTimeError as error:
        error.details["field"] = field
        repaired = LOST_PLUS.sub("+", value)
        if repaired != value:
            return need_moment(repaired, owner, field)
        raise


def read_asked_at(value: str | None, field: str = "asked_at") -> datetime | None:
    """Parse the moment of asking, which needs an offset: a client's clock and the user's may show different days.

    Raises:
        InvalidTimeError: the value is not a time, or has no offset.
    """
    if value is None:
        return None
    try:
        given = parse_time(LOST_PLUS.sub("+", value), ZoneInfo("UTC"))
    except InvalidTimeError as error:
        error.details["field"] = field
        raise
    if given.assumed:
        raise InvalidTimeError(
            f"{field} has no time zone.",
            hint="Add its offset, for example 2026-03-14T09:30:00+01:00 or …Z.",
            field=field,
        )
    return given.moment.astimezone(UTC)


def read_as_of(value: str | None, owner: Owner) -> AsOf:
    """Parse ``as_of``: a moment, "always", or None for now. Raises: as ``read_moment``."""
    return ALWAYS if value == ALWAYS else read_moment(value, owner, "as_of")


def check_known(moment: datetime, field: str) -> None:
    """Check that a moment is not in the future.

    Raises:
        InvalidTimeError: the moment is in the future.
    """
    if moment > datetime.now(UTC) + SKEW:
        raise InvalidTimeError(
            f"{field} is in the future.", hint="Give a time in the past, or leave it out.", field=field
        )


def read_known_at(value: str | None, owner: Owner, field: str = "known_at") -> datetime | None:
    """Parse ``known_at``.

    Raises:
        InvalidTimeError: the value is in the future, or is not a time.
    """
    moment = read_moment(value, owner, field)
    if moment is not None:
        check_known(moment, field)
    return moment
