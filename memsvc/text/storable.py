"""Check that PostgreSQL can store a value: any Unicode but NUL and lone surrogates, any finite number.

Every door checks this first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from memsvc.errors import InvalidRequestError, InvalidTextError

MAX_DEPTH = 100


def check_storable(value: object, field: str, depth: int = MAX_DEPTH) -> None:
    """Refuse what PostgreSQL cannot store, at any depth, and values nested more than ``depth`` levels.

    Raises:
        InvalidTextError: a text contains NUL or a lone surrogate.
        InvalidRequestError: the value is nested too deeply, or a number is infinite or none (NaN).
    """
    if depth < 0:
        raise InvalidRequestError(
            f"{field} is nested too deeply.", hint=f"At most {MAX_DEPTH} levels are allowed.", field=field
        )
    match value:
        case str():
            _check_text(value, field)
        case float() if not math.isfinite(value):
            raise InvalidRequestError(f"{field} contains {value}, which is not a finite number.", field=field)
        case Mapping():
            for key, inner in value.items():
                check_storable(key, field)
                check_storable(inner, field, depth - 1)
        case list() | tuple():
            for inner in value:
                check_storable(inner, field, depth - 1)
        case _:
            pass


def _check_text(text: str, field: str) -> None:
    if "\0" in text:
        raise InvalidTextError(f"{field} contains a NUL character, which PostgreSQL cannot store.", field=field)
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidTextError(f"{field} contains half of a surrogate pair, so it is not valid UTF-8.", field=field)
