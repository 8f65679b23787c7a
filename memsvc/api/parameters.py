"""Parameters that several routes share, and the guard against unknown ones.

The guard applies to all routes that need a key, except those with ``LENIENT``, whose callers add their own parameters.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter, QueryParameter

from memsvc.access.users import Owner
from memsvc.db.paging import read_id, read_time
from memsvc.errors import InvalidRequestError
from memsvc.sources.moments import read_moment

AsOfParameter = Annotated[
    str | None,
    QueryParameter(
        description="Read what was true at this moment (ISO 8601; without an offset in the user's time zone), or "
        "'always' for every time. Default: now."
    ),
]
AskedAtParameter = Annotated[
    str | None,
    QueryParameter(
        description='The moment of asking (ISO 8601 with its offset), by which "today" is understood and ages are '
        "told. Default: now. What was said later does not count."
    ),
]
KnownAtParameter = Annotated[
    str | None,
    QueryParameter(description="Read what memsvc knew at this moment (ISO 8601, not in the future). Default: now."),
]
CursorParameter = Annotated[str | None, QueryParameter(description="next_cursor of the last page.")]
BeforeParameter = Annotated[
    str | None, QueryParameter(description="Only what was recorded before this time (ISO 8601).")
]
AfterParameter = Annotated[
    str | None, QueryParameter(description="The old name of cursor.", schema_extra={"deprecated": True})
]
OnceParameter = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="Your own key for this request. Repeated within 24 hours, the request is done only once and "
        "returns the same answer. With a different body it is refused (idempotency_conflict).",
    ),
]
PageSize = Annotated[int, QueryParameter(ge=1, le=1_000, description="The most items on this page.")]
LENIENT = {"any_parameters": True}
"""``opt`` of a controller or route that ignores unknown parameters."""


def begin_of(cursor: str | None, after: str | None) -> UUID | None:
    """Return the id after which a page begins, from either name of the parameter.

    Raises:
        BadCursorError: it is not an id.
        InvalidRequestError: both names are given with different values.
    """
    if cursor is not None and after is not None and cursor != after:
        raise InvalidRequestError(
            "cursor and after are the same parameter, but their values differ.",
            hint="Send next_cursor as cursor, and leave out after.",
            field="cursor",
        )
    return read_id(after, "after") if cursor is None else read_id(cursor)


def read_before(before: str | None, cursor: str | None, owner: Owner) -> datetime | None:
    """Return the time before which a page of a history begins: ``before`` or the cursor, whichever is earlier.

    Raises:
        InvalidTimeError: ``before`` is not a time.
        BadCursorError: memsvc did not issue the cursor.
    """
    moments = (read_moment(before, owner, "before"), read_time(cursor))
    return min((moment for moment in moments if moment is not None), default=None)


async def known_parameters(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """A guard that refuses parameters that the route does not have, because they are mistakes.

    It awaits nothing. A plain function would run in a thread, and each request would wait for one.

    Raises:
        InvalidRequestError: it names the unknown parameter and the known ones.
    """
    if not connection.query_params or "any_parameters" in handler.opt:
        return
    known = [
        field.kwarg_definition.name or name
        for name, field in handler.parsed_fn_signature.parameters.items()
        if isinstance(field.kwarg_definition, QueryParameter)
    ]
    for given in connection.query_params:
        if given not in known:
            hint = f"Parameters: {', '.join(sorted(known))}." if known else "This address takes no parameters."
            raise InvalidRequestError(f"{given[:60]!r} is not a parameter here.", hint=hint, field=given[:60])
