"""Parameters that several routes share, and a guard against unknown ones."""

from __future__ import annotations

from typing import Annotated, Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter, QueryParameter

from memsvc.errors import InvalidRequestError

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
