"""Parameters that several routes share, and the guard against unknown ones.

The guard stands before all routes that need a key. One whose callers add parameters of their own says so: ``LENIENT``.
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
        description="When it was true: ISO 8601, without an offset on the user's clock; 'always' for every time. "
        "Now, where it is not given."
    ),
]
KnownAtParameter = Annotated[
    str | None,
    QueryParameter(description="As memsvc knew it then (ISO 8601, not in the future); else as it knows now."),
]
CursorParameter = Annotated[str | None, QueryParameter(description="next_cursor of the page before.")]
BeforeParameter = Annotated[str | None, QueryParameter(description="Recorded before this time (ISO 8601).")]
AfterParameter = Annotated[
    str | None, QueryParameter(description="The older name of cursor.", schema_extra={"deprecated": True})
]
OnceParameter = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="A key of your own for this request: sent again within 24 hours, it is done once and gets the same "
        "answer. With another body it is refused (idempotency_conflict).",
    ),
]
PageSize = Annotated[int, QueryParameter(ge=1, le=1_000, description="Most items of this page.")]
LENIENT = {"any_parameters": True}
"""``opt`` of a controller or route that passes over parameters that it does not have."""


def begin_of(cursor: str | None, after: str | None) -> UUID | None:
    """The id after which a page begins, by whichever name of the parameter it is given.

    Raises:
        BadCursorError: it is no id.
        InvalidRequestError: it is given by both, and they differ.
    """
    if cursor is not None and after is not None and cursor != after:
        raise InvalidRequestError(
            "cursor and after are two names of one parameter; here they differ.",
            hint="Send next_cursor as cursor, and leave out after.",
            field="cursor",
        )
    return read_id(after, "after") if cursor is None else read_id(cursor)


def read_before(before: str | None, cursor: str | None, owner: Owner) -> datetime | None:
    """Before when a page of a history begins: a time that was asked for, or the page before it, whichever is earlier.

    Raises:
        InvalidTimeError: ``before`` is no time.
        BadCursorError: the cursor is none of ours.
    """
    moments = (read_moment(before, owner, "before"), read_time(cursor))
    return min((moment for moment in moments if moment is not None), default=None)


async def known_parameters(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """A guard: a parameter that the route does not have is a mistake, not a wish to be ignored.

    It awaits nothing; a plain function would be called in a thread, and each request would wait for one.

    Raises:
        InvalidRequestError: it names the parameter and those that there are.
    """
    if not connection.query_params or "any_parameters" in handler.opt:
        return
    there = [
        field.kwarg_definition.name or name
        for name, field in handler.parsed_fn_signature.parameters.items()
        if isinstance(field.kwarg_definition, QueryParameter)
    ]
    for given in connection.query_params:
        if given not in there:
            hint = f"There are: {', '.join(sorted(there))}." if there else "This address takes none."
            raise InvalidRequestError(f"There is no parameter {given[:60]!r} here.", hint=hint, field=given[:60])
