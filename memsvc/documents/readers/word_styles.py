"""Which paragraphs of a Word document are headings, titles or items of a list, by their properties or style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from memsvc.documents.markup import part
from memsvc.documents.packed import Packed
from memsvc.documents.readers.word_runs import VALUE, W, is_on

STYLES = "word/styles.xml"
HEADING_NAME = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|标题|見出し)\s*(\d)", re.IGNORECASE)
LIST_NAME = re.compile(r"list (?:bullet|number)(?: (\d))?")
BODY_TEXT = 9
"""The outline level of what is no heading."""
MOST_BASED_ON = 20


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    base: str
    level: int | None
    depth: int | None
    is_hidden: bool


class Styles:
    """The styles of a document."""

    def __init__(self, packed: Packed) -> None:
        """Read them."""
        root = part(packed, STYLES)
        self._styles = {} if root is None else dict(_styles(root))
        self.hidden = frozenset(name for name, style in self._styles.items() if style.is_hidden)

    def of(self, paragraph: Any) -> tuple[int | None, int | None, bool]:
        """Return a paragraph's heading level from 1, its depth in a list from 0, and whether it is the title."""
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return None, None, False
        level, depth = _level(properties), _depth(properties)
        style = self._styles.get(_value(properties, "pStyle") or "")
        for _ in range(MOST_BASED_ON):
            if style is None:
                break
            if style.name == "title":
                return None, None, True
            level = style.level if level is None else level
            depth = style.depth if depth is None else depth
            style = self._styles.get(style.base)
        if level is not None and level > BODY_TEXT:
            level = None
        return level, None if depth is not None and depth < 0 else depth, False


def _styles(root: Any) -> Any:
    for style in root.iter(f"{W}style"):
        name = (_value(style, "name") or "").strip().lower()
        properties = style.find(f"{W}pPr")
        level = None if properties is None else _level(properties)
        if (named := HEADING_NAME.fullmatch(name)) is not None:
            level = int(named[1])
        depth = None if properties is None else _depth(properties)
        if (listed := LIST_NAME.fullmatch(name)) is not None:
            depth = int(listed[1] or 1) - 1
        run = style.find(f"{W}rPr")
        hidden = run is not None and is_on(run, "vanish")
        yield style.get(f"{W}styleId", ""), _Style(name, _value(style, "basedOn") or "", level, depth, hidden)


def _level(properties: Any) -> int | None:
    """Return the heading level that an outline level says; 10 if it says that there is none."""
    value = _value(properties, "outlineLvl")
    return int(value) + 1 if value is not None and value.isdigit() else None


def _depth(properties: Any) -> int | None:
    """Return the depth in a list; -1 if numbering is switched off."""
    numbering = properties.find(f"{W}numPr")
    if numbering is None:
        return None
    if _value(numbering, "numId") == "0":
        return -1
    value = _value(numbering, "ilvl") or "0"
    return int(value) if value.isdigit() else 0


def _value(holder: Any, tag: str) -> str | None:
    found = holder.find(f"{W}{tag}")
    return None if found is None else found.get(VALUE)
