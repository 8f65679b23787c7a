"""Filters on what may be recalled, as REST and MCP read them: fields that become ``Filters`` of ``memsvc.recall``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec

from memsvc.errors import InvalidTimeError
from memsvc.recall.options import Filters, GivenFilters, Near
from memsvc.sources.moments import check_known, read_asked_at
from memsvc.sources.times import parse_time

Limit = Annotated[int, msgspec.Meta(ge=1, le=1_000)]


class NearIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A circle around a point."""

    lat: float
    """Degrees north (WGS 84)."""
    lon: float
    """Degrees east (WGS 84)."""
    radius_m: float
    """Radius in metres."""


class FiltersIn(GivenFilters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query, and filters on what may be recalled."""

    query: str
    """A question or words in any language. No part of it is syntax."""
    said_from: str | None = None
    """Said at this time or later (ISO 8601). Without an offset: in the user's time zone."""
    said_to: str | None = None
    """Said before this time."""
    as_of: str | None = None
    """Only what was true then (ISO 8601): messages said by then and facts valid then."""
    asked_at: str | None = None
    """The moment of asking (ISO 8601 with its offset), by which "today" is understood and ages are told. Default: now.
    What was said later does not count, unless as_of is later."""
    known_at: str | None = None
    """As memsvc knew it then (ISO 8601, not in the future). Default: as it knows now."""
    near: NearIn | None = None
    """Only memories that mention something near this point now, or at as_of."""

    def filters(self, zone: ZoneInfo) -> Filters:
        """Return the filters with their times parsed.

        Raises:
            InvalidTimeError: a time cannot be parsed, ``asked_at`` has no offset, or ``known_at`` is in the future.
        """
        known_at = _time(self.known_at, zone, "known_at")
        if known_at is not None:
            check_known(known_at, "known_at")
        return Filters(
            **{name: getattr(self, name) for name in GivenFilters.__struct_fields__},
            said_from=_time(self.said_from, zone, "said_from"),
            said_to=_time(self.said_to, zone, "said_to"),
            as_of=_time(self.as_of, zone, "as_of"),
            asked_at=read_asked_at(self.asked_at),
            known_at=known_at,
            near=Near(latitude=self.near.lat, longitude=self.near.lon, radius_m=self.near.radius_m)
            if self.near is not None
            else None,
        )


def _time(value: str | None, zone: ZoneInfo, field: str) -> datetime | None:
    if value is None:
        return None
    try:
        return parse_time(value, zone).moment
    except InvalidTimeError as error:
        error.details["field"] = field
        raise
