"""A note's text becomes a ``Note``; its links are resolved later, when all notes are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from memsvc.documents.readers import frontmatter
from memsvc.documents.vaults.days import Days
from memsvc.documents.vaults.flavours import NOTION_ID
from memsvc.documents.vaults.form import Flavour, Note
from memsvc.documents.vaults.marks import Marks, marks
from memsvc.documents.vaults.tasks import tasks

ALIASES = ("aliases", "alias")
TAGS = ("tags", "tag")
BETWEEN = re.compile(r"[,;]")
BETWEEN_TAGS = re.compile(r"[,;\s]+")
BRACKETS = re.compile(r"\[\[([^\[\]\n]+)\]\]")
MOST_NAMES = 1_000

Value = str | list[str]


def note_of(
    path: str, text: str, *, owners_hash: str, flavours: tuple[Flavour, ...], days: Days, odd: Counter[str]
) -> Note:
    """Read a note.

    Args:
        path: in its folder.
        text: the owner's, lines ended by LF.
        owners_hash: of the bytes that the text was read from.
        flavours: of the folder.
        days: knows daily notes.
        odd: gets what could not be understood.
    """
    front = frontmatter.split(text)
    if front.not_understood:
        odd["frontmatter lines not understood"] += front.not_understood
    elif not front.lines and text.startswith(f"{frontmatter.FENCE}\n") and f"\n{frontmatter.FENCE}\n" in text:
        odd["frontmatter not understood, kept as text"] += 1
    found = marks(front.body, front.lines)
    if found.too_long:
        odd["paragraphs too long for marks"] += found.too_long
    page: dict[str, Value] = {key: value for line, key, value in found.properties if line in found.is_page}
    said = {**page, **front.values}
    taken = {*ALIASES, *TAGS, "title", "id"}
    metadata: dict[str, Any] = {key: value for key, value in said.items() if key not in taken}
    if "id" in front.values:
        metadata["id"] = front.values["id"]
    day = days.of(path)
    return Note(
        path=path,
        title=_title(path, said, found, flavours, days.page_title(day) if day else None),
        hash=owners_hash,
        text=text,
        aliases=_unique(name for source in (front.values, page) for key in ALIASES for name in _names(source.get(key))),
        tags=_unique(
            [
                *(
                    tag
                    for source in (front.values, page)
                    for key in TAGS
                    for tag in _tags(source.get(key), page=source is page)
                ),
                *found.tags,
            ]
        ),
        metadata=metadata,
        headings=tuple(found.headings),
        blocks=found.blocks,
        links=tuple(sorted(found.links, key=lambda link: link.line)),
        tasks=tuple(tasks(found.paragraphs, words="logseq" in flavours)),
        date=day,
    )


def name_of(path: str, flavours: tuple[Flavour, ...]) -> str:
    """Return a note's name by its file: Logseq writes "/" of a name otherwise, Notion adds an id."""
    stem = PurePosixPath(path).stem
    if "logseq" in flavours:
        return unquote(stem.replace("___", "/"))
    if "notion" in flavours:
        return NOTION_ID.sub("", stem) or stem
    return stem


def _title(path: str, said: dict[str, Value], found: Marks, flavours: tuple[Flavour, ...], journal: str | None) -> str:
    written = said.get("title")
    if isinstance(written, str) and written.strip():
        return written.strip()
    first = next((heading.text for heading in found.headings if heading.level == 1 and heading.text), None)
    return first or journal or name_of(path, flavours)


def _names(value: Value | None) -> Iterable[str]:
    parts = value if isinstance(value, list) else BETWEEN.split(value or "")
    return (BRACKETS.sub(r"\1", part).strip().strip("\"'") for part in parts)


def _tags(value: Value | None, *, page: bool) -> Iterable[str]:
    """Yield tags of frontmatter, which blanks separate as well, or of a page's properties, where names have blanks."""
    if isinstance(value, list):
        return (tag.strip().removeprefix("#").strip("/") for tag in value)
    if page:
        return (tag.removeprefix("#").removeprefix("[[").removesuffix("]]").strip("/") for tag in _names(value))
    return (tag.removeprefix("#").strip("/") for tag in BETWEEN_TAGS.split(value or ""))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in order, each once; case does not count."""
    first: dict[str, str] = {}
    for name in names:
        if name:
            first.setdefault(name.casefold(), name)
    return tuple(list(first.values())[:MOST_NAMES])
