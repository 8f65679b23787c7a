"""Check that PostgreSQL can store a value: any Unicode but NUL and lone surrogates, any finite number.

Every door checks this first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from memsvc.errors import InvalidRequestError, InvalidTextError

MAX_DEPTH = 100
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


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
    if isinstance(value, str):
        if (found := UNSTORABLE.search(value)) is not None:
            raise InvalidTextError(f"{field} contains {_named(found[0])}.", field=field)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidRequestError(f"{field} contains {value}, which is not a finite number.", field=field)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            check_storable(key, field)
            check_storable(inner, field, depth - 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            check_storable(inner, field, depth - 1)


def _named(character: str) -> str:
    if character == "\0":
        return "a NUL character, which PostgreSQL cannot store"
    return "half of a surrogate pair, so it is not valid UTF-8"
