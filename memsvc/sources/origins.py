"""Where a message came from: the locator that ingesting keeps in its metadata, and how people are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ORIGIN = "origin"
"""The key of a message's metadata."""
SHOWN = ("line", "page", "second", "day", "id")
"""The parts of a message's locator that are told with their names."""
PLACES = ("page", "slide", "sheet", "cell", "line")
"""The parts of a chunk's locator that are told with their names."""


def origin_in_words(metadata: Mapping[str, Any]) -> str:
    """Return the origin of a message: "chat.jsonl, line 3"; "" if it has none.

    Args:
        metadata: of the message. Clients write it, too, so it may have any form.
    """
    origin = metadata.get(ORIGIN)
    if not isinstance(origin, dict) or not isinstance(origin.get("file"), str):
        return ""
    parts = [f"{name} {origin[name]}" for name in SHOWN if isinstance(origin.get(name), str | int)]
    links = [origin["url"]] if isinstance(origin.get("url"), str) else []
    return ", ".join([origin["file"], *parts, *links])


def place_in_words(title: str, headings: Sequence[str], origin: Mapping[str, Any]) -> str:
    """Return where a chunk of a document is: "Coffee study, Results, page 4".

    Args:
        title: of the document; "" leaves it out.
        headings: above the chunk, the outermost first.
        origin: its locator.
    """
    parts = [f"{name} {origin[name]}" for name in PLACES if isinstance(origin.get(name), str | int)]
    return ", ".join(part for part in (title, *headings, *parts) if part)
