"""The two times of a question about the graph, as people write them at any door: ``as_of`` and ``known_at``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from memsvc.access.users import Owner
from memsvc.errors import InvalidTimeError
from memsvc.graph.read import ALWAYS, AsOf
from memsvc.sources.times import parse_time

SKEW = timedelta(minutes=1)
"""So far may a client's clock go ahead of ours."""
LOST_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")


def read_moment(value: str | None, owner: Owner, field: str) -> datetime | None:
    """A moment, without an offset on the user's clock. A plus sign that a URL made a space is one again.

    Raises:
        InvalidTimeError: it is none, or lies outside the years 1000 to 9000.
    """
    if value is None:
        return None
    try:
        given = parse_time(value, ZoneInfo(owner.time_zone)).moment
        return given.astimezone(UTC)
    except InvalidTimeError as error:
        error.details["field"] = field
        mended = LOST_PLUS.sub("+", value)
        if mended != value:
            return read_moment(mended, owner, field)
        raise


def read_as_of(value: str | None, owner: Owner) -> AsOf:
    """When something was true: a moment, always, or None for now. Raises: as ``read_moment``."""
    return ALWAYS if value == ALWAYS else read_moment(value, owner, "as_of")


def check_known(moment: datetime, field: str) -> None:
    """Refuse a moment at which nobody knows anything yet.

    Raises:
        InvalidTimeError: it lies in the future.
    """
    if moment > datetime.now(UTC) + SKEW:
        raise InvalidTimeError(
            f"{field} lies in the future.", hint="Nobody knows yet what will be known then; leave it out.", field=field
        )


def read_known_at(value: str | None, owner: Owner, field: str = "known_at") -> datetime | None:
    """When something was known.

    Raises:
        InvalidTimeError: it lies in the future, or is no time.
    """
    moment = read_moment(value, owner, field)
    if moment is not None:
        check_known(moment, field)
    return moment
