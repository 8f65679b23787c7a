"""Parameters that several routes share: times as people write them, and a guard against unknown ones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from memsvc.access.users import Owner
from memsvc.errors import InvalidRequestError, InvalidTimeError
from memsvc.graph.read import ALWAYS, AsOf
from memsvc.sources.times import parse_time

SKEW = timedelta(minutes=1)
"""So far may a client's clock go ahead of ours."""
LOST_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")
AsOfParameter = Annotated[
    str | None,
    QueryParameter(
        description="When it was true: ISO 8601, without an offset on the user's clock; 'always' for every time. "
        "Now, where it is not given."
    ),
]
KnownAtParameter = Annotated[
    str | None,
    QueryParameter(description="As memsvc knew it then (ISO 8601, not in the future); else as it knows now."),
]
CursorParameter = Annotated[str | None, QueryParameter(description="next_cursor of the page before.")]
PageSize = Annotated[int, QueryParameter(ge=1, le=1_000, description="Most items of this page.")]


def known_parameters(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """A guard: a parameter that the route does not have is a mistake, not a wish to be ignored.

    Raises:
        InvalidRequestError: it names the parameter and those that there are.
    """
    there = [
        field.kwarg_definition.name or name
        for name, field in handler.parsed_fn_signature.parameters.items()
        if isinstance(field.kwarg_definition, QueryParameter)
    ]
    for given in connection.query_params:
        if given not in there:
            hint = f"There are: {', '.join(sorted(there))}." if there else "This address takes none."
            raise InvalidRequestError(f"There is no parameter {given[:60]!r} here.", hint=hint, field=given[:60])


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


def read_known_at(value: str | None, owner: Owner, field: str = "known_at") -> datetime | None:
    """When something was known.

    Raises:
        InvalidTimeError: it lies in the future, or is no time.
    """
    moment = read_moment(value, owner, field)
    if moment is not None and moment > datetime.now(UTC) + SKEW:
        raise InvalidTimeError(
            f"{field} lies in the future.", hint="Nobody knows yet what will be known then; leave it out.", field=field
        )
    return moment
