"""Converts values that Apache AGE prints to JSON.

AGE prints JSON in which some values have their kind as a suffix: ``{…}::vertex``, ``[…]::path``, ``1.5::numeric``.
Without these suffixes the text is JSON, except for numbers that JSON does not have (NaN, Infinity). Parameters go to
AGE as plain JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any

KINDS = re.compile(
    r"""
      ("[^"\\]*+(?:\\.[^"\\]*+)*+")  # a string: a suffix inside it is text, and the regex never backtracks into it
    | ::(?:vertex|edge|path|numeric)\b
    """,
    re.VERBOSE | re.DOTALL,
)
SAFE = 2**53 - 1
"""Larger integers are returned as text, because most JSON readers would round them."""
MOST_DIGITS = 17
IDS = ("id", "start_id", "end_id")
SHAPES = ({"id", "label", "properties"}, {"id", "label", "properties", "start_id", "end_id"})


def as_json(printed: str | None) -> Any:
    """Convert a value that AGE printed to Python's JSON types; AGE's own ids of vertices and edges become text.

    Raises:
        RecursionError: the value is nested too deeply.
        ValueError: the text is not what AGE prints.
    """
    if printed is None:
        return None
    plain = KINDS.sub(lambda found: found[1] or "", printed)
    return json.loads(plain, parse_int=_whole, parse_constant=str, object_hook=_entity)


def _whole(digits: str) -> int | str:
    if len(digits) > MOST_DIGITS:  # Python refuses to convert thousands of digits
        return digits
    number = int(digits)
    return number if abs(number) <= SAFE else digits


def _entity(found: dict[str, Any]) -> dict[str, Any]:
    """Turn the ids of a vertex or an edge into text; return any other map unchanged."""
    if found.keys() in SHAPES:
        return {name: str(value) if name in IDS else value for name, value in found.items()}
    return found
