"""Lists of conversations in JSON, as assistants export them, and the path through one that branches.

A conversation branches where a message was edited or an answer was made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded

T = TypeVar("T")
LOOKED_AT = 3
"""Conversations by which a kind is recognised."""


def first_conversations(bundle: Bundle) -> list[dict[str, Any]]:
    """Return the first conversations of a bundle's only file in outline; none if it is no such file."""
    file = bundle.only
    if file is None or bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] not in {b"[", b"{"}:
        return []
    found = bundle.document(file).outline(LOOKED_AT)
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]


def conversations(bundle: Bundle, form: type[T]) -> Iterator[tuple[T, str]]:
    """Yield the conversations of a bundle's only file, each with its position for people.

    Raises:
        BadFileError: the file is not JSON, or a conversation has another form.
    """
    shown, document = bundle.shown(bundle.files[0]), bundle.document(bundle.files[0])
    document.check()
    for number, raw in enumerate(document.values):
        where = f"{shown}, conversation {number}"
        yield decoded(raw, form, where), where


def path_to(leaf: str, parents: Mapping[str, str | None], where: str) -> list[str]:
    """Return the path from the root to a leaf.

    Args:
        leaf: the last message that is shown.
        parents: the parent of each message; None or an unknown one: it is a root.
        where: the position, for errors.

    Raises:
        BadFileError: the messages go round in a circle.
    """
    path: list[str] = []
    seen: set[str] = set()
    current: str | None = leaf
    while current is not None and current in parents:
        if current in seen:
            raise BadFileError(f"{where}: the messages go round in a circle.")
        seen.add(current)
        path.append(current)
        current = parents[current]
    path.reverse()
    return path


def leaves(parents: Mapping[str, str | None]) -> list[str]:
    """Return the messages that nothing follows, in order."""
    inner = set(parents.values())
    return [node for node in parents if node not in inner]
