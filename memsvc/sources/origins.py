"""Where a message came from: the locator that ingesting keeps in its metadata, and how people are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ORIGIN = "origin"
"""The key of a message's metadata."""
SHOWN = ("line", "page", "second", "day", "id")
"""The parts of a locator that are told with their names."""


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
