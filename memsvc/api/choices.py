"""What a field that takes one of some words takes, told by the type of the body or parameter and the field's path.

msgspec says only that a value is none of them ("Invalid enum value 'boss'"), so errors look the words up here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import inspect

REFUSED = ("Invalid enum value", "Invalid value")
"""How msgspec's messages about a word, and about the tag of a struct, begin."""
STEP = re.compile(r"\.?([^.\[\]]+)|\[(?:\d+|\.\.\.)\]")
MOST_WORDS = 60


def allowed(message: str, into: Any, path: str = "") -> str:
    """Return a sentence with the words that may stand where msgspec refuses one; "" for another error.

    Args:
        message: without the path.
        into: the type that was read.
        path: where the value stands in it, as msgspec says it, without ``$.``; "": it is all of it.
    """
    if not message.startswith(REFUSED):
        return ""
    try:
        known = words(into, path)
    except (TypeError, NameError):  # no type that msgspec describes
        return ""
    return f" Allowed: {', '.join(known)}." if 0 < len(known) <= MOST_WORDS else ""


def words(into: Any, path: str = "") -> list[str]:
    """Return the words that a type takes at a path, in their order; [] if it takes other values."""
    places: list[inspect.Type] = list(_flat(inspect.type_info(into)))
    tags: list[Any] = []
    for step in STEP.finditer(path):
        tags = [one.tag for one in places if isinstance(one, inspect.StructType) and one.tag_field == step[1]]
        places = [found for one in places for inner in _within(one, step[1]) for found in _flat(inner)]
    if not places or any(isinstance(one, inspect.StructType) for one in places):
        return [str(tag) for tag in tags]
    while not any(map(_values, places)) and (inner := [i for one in places for i in _within(one, None)]):
        places = [found for one in inner for found in _flat(one)]  # a parameter that is a list of words
    return list(dict.fromkeys(str(value) for one in places for value in _values(one)))


def _values(one: inspect.Type) -> Iterable[Any]:
    if isinstance(one, inspect.LiteralType):
        return one.values
    if isinstance(one, inspect.EnumType):
        return [member.value for member in one.cls]
    return ()


def _flat(one: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the alternatives of a type, without metadata."""
    if isinstance(one, inspect.UnionType):
        for other in one.types:
            yield from _flat(other)
    elif isinstance(one, inspect.Metadata):
        yield from _flat(one.type)
    else:
        yield one


def _within(one: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    """Yield the types of a field, or of the values of a list or a mapping (None)."""
    if name is not None and isinstance(one, inspect.StructType | inspect.TypedDictType | inspect.DataclassType):
        yield from (field.type for field in one.fields if field.encode_name == name)
    elif isinstance(one, inspect.DictType):
        yield one.value_type
    elif name is None and isinstance(one, inspect.CollectionType | inspect.ListType):
        yield one.item_type
