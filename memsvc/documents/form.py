"""What a document is once it is read: a title and chunks of text, each with its headings and its place."""

from __future__ import annotations

from typing import Any

import msgspec


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a document that is searched and shown as one."""

    text: str
    """What it says, without the headings above it."""
    headings: tuple[str, ...] = ()
    """The headings above it, the outermost first; without the document's title."""
    origin: dict[str, Any] = {}
    """Where it is: page, line, sheet, slide, cell or block, numbered from 1."""


class ParsedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document as it was read."""

    format: str
    """By its short name: "pdf", "docx", "md"."""
    title: str
    """Its own title; its file's name where it has none."""
    chunks: list[Chunk]
    pages: int | None = None
    """Pages, slides or sheets; None: it has none."""
    metadata: dict[str, Any] = {}
    """What else it says about itself: author, created (ISO 8601), tags."""
    odd: dict[str, int] = {}
    """What was left out or looked strange, each with how often: "pages without text"."""
