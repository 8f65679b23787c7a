"""Conversations that branch where a message was edited or an answer was made again: the path that is shown."""

from __future__ import annotations

from collections.abc import Mapping

from memsvc.errors import BadFileError


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
