"""Values of Apache AGE as JSON.

AGE prints a value as JSON in which some values are followed by their kind: ``{…}::vertex``, ``[…]::path``,
``1.5::numeric``. Without these it is JSON but for the numbers that JSON does not know. Parameters go the other way as
plain JSON, which AGE reads.
"""

from __future__ import annotations

import json
import re
from typing import Any

KINDS = re.compile(
    r"""
      ("[^"\\]*+(?:\\.[^"\\]*+)*+")  # a string: nothing in it is a kind, and nothing in it is read twice
    | ::(?:vertex|edge|path|numeric)\b
    """,
    re.VERBOSE | re.DOTALL,
)
SAFE = 2**53 - 1
"""Greater integers are given as text: most readers of JSON would round them."""
MOST_DIGITS = 17
IDS = ("id", "start_id", "end_id")
SHAPES = ({"id", "label", "properties"}, {"id", "label", "properties", "start_id", "end_id"})


def as_json(printed: str | None) -> Any:
    """A value as AGE prints it, as Python has JSON; AGE's own ids of vertices and edges are texts.

    Raises:
        RecursionError: it is too deep.
        ValueError: AGE did not print it.
    """
    if printed is None:
        return None
    plain = KINDS.sub(lambda found: found[1] or "", printed)
    return json.loads(plain, parse_int=_whole, parse_constant=str, object_hook=_entity)


def _whole(digits: str) -> int | str:
    if len(digits) > MOST_DIGITS:  # Python refuses thousands of them
        return digits
    number = int(digits)
    return number if abs(number) <= SAFE else digits


def _entity(found: dict[str, Any]) -> dict[str, Any]:
    """A vertex or an edge with its ids as texts; another map as it is."""
    if found.keys() in SHAPES:
        return {name: str(value) if name in IDS else value for name, value in found.items()}
    return found
