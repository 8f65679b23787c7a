"""What text PostgreSQL can hold: any Unicode but NUL and lone surrogates. Every door asks here first."""

from __future__ import annotations

from collections.abc import Mapping

from memsvc.errors import InvalidRequestError, InvalidTextError

MAX_DEPTH = 100


def check_storable(value: object, field: str, depth: int = MAX_DEPTH) -> None:
    """Refuse text that PostgreSQL cannot hold, at any depth, and what is nested more than ``depth`` deep.

    Raises:
        InvalidTextError: NUL or a lone surrogate.
        InvalidRequestError: nested too deeply.
    """
    if depth < 0:
        raise InvalidRequestError(
            f"{field} is nested too deeply.", hint=f"At most {MAX_DEPTH} levels fit.", field=field
        )
    match value:
        case str():
            if "\0" in value:
                raise InvalidTextError(f"{field} holds a NUL character, which PostgreSQL cannot store.", field=field)
            if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
                raise InvalidTextError(f"{field} holds half of a surrogate pair; it is not valid UTF-8.", field=field)
        case Mapping():
            for key, inner in value.items():
                check_storable(key, field)
                check_storable(inner, field, depth - 1)
        case list() | tuple():
            for inner in value:
                check_storable(inner, field, depth - 1)
        case _:
            pass
