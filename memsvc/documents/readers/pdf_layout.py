"""Lines of PDF pages become headings, paragraphs and items, without running headers, footers and page numbers.

Headings are what the file's table of contents names, else lines in larger or bold print, numbered or in capitals.
Lines become a paragraph by their distance, indentation, size, and by how the one before ends.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from memsvc.documents.blocks import Reading, one_line

MARGIN = 0.09
"""The share of a page's height, at its top and bottom, in which headers and footers stand."""
MOST_MARGIN_LINES = 3
SHARE_OF_PAGES, ENOUGH_PAGES = 0.3, 4
"""A line in the margin that as many pages have (digits aside) is a header or footer; at least two."""
LARGER = 1.12
SAME_SIZE = 0.12
WIDE_GAP = 1.35
INDENT = 0.8
SHORT_LINE = 0.85
MOST_HEADING_CHARS = 160
MOST_HEADING_LINES = 4
MOST_SIZES = 4
ENOUGH_BOOKMARKS = 3
"""If the table of contents names as many lines, it names all headings."""
FEWEST_CAPITALS = 6
SAME_LINE = 0.4
USUAL_LEADING, MOST_HEADING_LEADING, MOST_LEADING = 1.25, 1.9, 3
"""Distances between lines, in sizes of their print."""
COLUMN_POINTS = 20
DIGITS = re.compile(r"\d+")
NUMBERED = re.compile(
    r"(?:(?:chapter|section|part|appendix)\s+)?(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])",
    re.IGNORECASE,
)
BULLET = re.compile(r"[•◦▪‣●○■□–—➢✓\uf0b7\uf0a7·-]\s+")
LISTED = re.compile(r"(?:\(?[0-9]{1,3}[.)]|\(?[a-z][.)]|\[\d{1,3}\])\s+")
ENDED = re.compile(r"[.!?:;。！？：；][\"'”’)\]]*(?:\d{1,3}(?:[,–-]\d{1,3})*)?$")
DIVIDED = re.compile(r"(\w+)(?:\ufffe|\x02)(?:\r?\n)?(\w*)")
AT_END = re.compile(r"(\w+)[-\u2010\u00ad]$")
OPEN_END = re.compile(r"\w[–/]$|://$")
HYPHENATED = re.compile(r"\b\w+(?:-\w+)+\b")


class Measure(NamedTuple):
    """How a line looks; lengths in points, from the page's lower left corner."""

    left: float
    right: float
    end_right: float
    """The right edge of its last letter."""
    bottom: float
    end_bottom: float
    """Of its last letter: lower than the others if two lines were joined."""
    top: float
    size: float
    is_bold: bool


class Line(NamedTuple):
    """A line of a page."""

    text: str
    page: int
    height: float
    """Of the line's bottom above the page's, as a share of the page's height."""
    measure: Measure


@dataclass(slots=True)
class _Paragraph:
    lines: list[Line]
    level: int = 0
    """Of a heading, from 1; 0: it is none."""


@dataclass(slots=True)
class Layout:
    """Gathers lines, and makes blocks of them when all pages are there."""

    reading: Reading
    bookmarks: dict[str, int]
    lines: list[Line] = field(default_factory=list)
    compounds: set[str] = field(default_factory=set)
    """Words that the document writes with a hyphen within a line."""

    def add(self, lines: Sequence[Line]) -> None:
        """Add a page's lines."""
        self.lines += lines

    def finish(self) -> None:
        """Add all blocks to the reading."""
        lines = _without_margins(self.lines, self.reading)
        if not lines:
            return
        for line in lines:
            self.compounds.update(word.casefold() for word in HYPHENATED.findall(line.text))
        levels = _Levels(lines, self.bookmarks)
        geometry = _Geometry(lines)
        current: _Paragraph | None = None
        for line in lines:
            level = levels.of(line)
            if current is not None and geometry.joins(current, line, level):
                current.lines.append(line)
                continue
            self._emit(current)
            current = _Paragraph([line], level)
        self._emit(current)

    def _emit(self, paragraph: _Paragraph | None) -> None:
        if paragraph is None:
            return
        text = self._joined(paragraph.lines)
        origin = {"page": paragraph.lines[0].page}
        if paragraph.level and len(paragraph.lines) <= MOST_HEADING_LINES:
            if paragraph.level == 1 and origin["page"] == 1:
                self.reading.tell("title", text)
            self.reading.heading(text, paragraph.level, origin)
        elif bullet := BULLET.match(text):
            self.reading.item(text[bullet.end() :], origin)
        else:
            self.reading.paragraph(text, origin)

    def _joined(self, lines: Sequence[Line]) -> str:
        """Join lines; a word divided at a line's end becomes whole."""
        text = ""
        for line in lines:
            part = DIVIDED.sub(lambda found: self._word(found[1], found[2]), line.text)
            ended = AT_END.search(text)
            if ended is not None and part[:1].isalnum():
                rest = re.match(r"\w+", part)
                word = rest[0] if rest else ""
                text = text[: ended.start()] + self._word(ended[1], word) + part[len(word) :]
            elif OPEN_END.search(text):
                text += part
            else:
                text = f"{text} {part}" if text else part
        return one_line(text)

    def _word(self, first: str, second: str) -> str:
        """Return a divided word: with its hyphen if the document writes it so elsewhere, or a name goes on."""
        compound = f"{first}-{second}"
        keeps = compound.casefold() in self.compounds or not second[:1].islower() or first[-1:].isdigit()
        return compound if keeps else first + second


def _without_margins(lines: Sequence[Line], reading: Reading) -> list[Line]:
    """Leave out headers, footers and page numbers, and count them."""
    pages = len({line.page for line in lines})
    needed = min(max(2, round(pages * SHARE_OF_PAGES)), ENOUGH_PAGES)
    by_page: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if line.height < MARGIN or line.height > 1 - MARGIN:
            by_page[line.page].append(line)
    outer: dict[int, str] = {}
    on_pages: Counter[str] = Counter()
    for found in by_page.values():
        ordered = sorted(found, key=lambda line: line.height)
        low = [line for line in ordered if line.height < MARGIN][:MOST_MARGIN_LINES]
        high = [line for line in ordered if line.height > 1 - MARGIN][-MOST_MARGIN_LINES:]
        keys = {id(line): DIGITS.sub("#", line.text.casefold()) for line in (*low, *high)}
        outer.update(keys)
        on_pages.update(set(keys.values()))
    kept = [line for line in lines if on_pages[outer.get(id(line), "")] < needed]
    if len(kept) < len(lines):
        reading.odd["repeated headers and footers"] += len(lines) - len(kept)
    return kept


class _Levels:
    """Which lines are headings, and of which level."""

    def __init__(self, lines: Sequence[Line], bookmarks: dict[str, int]) -> None:
        sizes: Counter[float] = Counter()
        bold = 0
        for line in lines:
            sizes[line.measure.size] += len(line.text)
            bold += len(line.text) if line.measure.is_bold else 0
        self._body = sizes.most_common(1)[0][0]
        self._is_bold_body = bold * 3 > sizes.total()
        larger = sorted((size for size in sizes if size >= self._body * LARGER), reverse=True)
        self._sizes = larger[: MOST_SIZES - 1]
        self._below = 1 + len(self._sizes)
        found = sum(_told(line.text, bookmarks) is not None for line in lines)
        self._bookmarks = bookmarks if found >= ENOUGH_BOOKMARKS else {}

    def of(self, line: Line) -> int:
        """Return a heading's level, from 1; 0: it is none."""
        text, size = line.text, line.measure.size
        if len(text) > MOST_HEADING_CHARS or not any(char.isalpha() for char in text):
            return 0
        if self._bookmarks:
            told = _told(text, self._bookmarks)
            return told if told is not None and size >= self._body * (1 - SAME_SIZE) else 0
        numbered = NUMBERED.match(text)
        depth = numbered["number"].count(".") if numbered else 0
        if size >= self._body * LARGER:
            rank = next((rank for rank, known in enumerate(self._sizes, 1) if size >= known), MOST_SIZES)
            return rank + (depth if rank == len(self._sizes) else 0)
        if size < self._body * (1 - SAME_SIZE) or not (text[0].isupper() or text[0].isdigit()):
            return 0
        if line.measure.is_bold and not self._is_bold_body and (numbered or not ENDED.search(text)):
            return self._below + depth
        return self._below + depth if _is_in_capitals(text) else 0


def _told(text: str, bookmarks: dict[str, int]) -> int | None:
    """Return the level of a line that the table of contents names, with or without its number."""
    whole = one_line(text).casefold()
    if whole in bookmarks:
        return bookmarks[whole]
    numbered = NUMBERED.match(text)
    return bookmarks.get(one_line(text[numbered.end() :]).casefold()) if numbered else None


def _is_in_capitals(text: str) -> bool:
    """Whether a line is in capitals; a short one is an acronym or a code."""
    letters = sum(char.isalpha() for char in text)
    return text.isupper() and letters >= FEWEST_CAPITALS and letters * 2 > len(text) and not ENDED.search(text)


class _Geometry:
    """Which lines belong to one paragraph."""

    def __init__(self, lines: Sequence[Line]) -> None:
        gaps: dict[float, list[float]] = defaultdict(list)
        self._rights: dict[tuple[int, int], float] = {}
        for before, line in pairwise(lines):
            gap, size = before.measure.end_bottom - line.measure.bottom, line.measure.size
            if line.page == before.page and size == before.measure.size and 0 < gap < size * MOST_LEADING:
                gaps[size].append(gap)
        for line in lines:
            column = _column(line)
            self._rights[column] = max(self._rights.get(column, 0), line.measure.right)
        self._gaps = {size: median(found) for size, found in gaps.items()}

    def joins(self, paragraph: _Paragraph, line: Line, level: int) -> bool:
        """Whether a line continues a paragraph."""
        before, old, new = paragraph.lines[-1], paragraph.lines[-1].measure, line.measure
        same_page = line.page == before.page
        if same_page and abs(new.bottom - old.end_bottom) < old.size * SAME_LINE:
            return new.left >= old.left and bool(level) == bool(paragraph.level)
        if paragraph.level or level:
            below = 0 < old.end_bottom - new.bottom < new.size * MOST_HEADING_LEADING
            return level == paragraph.level and same_page and below and new.size == old.size and not _begins(line)
        in_list = BULLET.match(paragraph.lines[0].text) or LISTED.match(paragraph.lines[0].text)
        if BULLET.match(line.text) or (LISTED.match(line.text) and (in_list or ENDED.search(before.text))):
            return False
        return self._continues(before, line)

    def _continues(self, before: Line, line: Line) -> bool:
        """Whether a line of text continues the one before by its place and by how that ends."""
        old, new = before.measure, line.measure
        same_page = line.page == before.page
        overlaps = same_page and new.bottom < old.top and new.top > old.end_bottom  # as a superscript does
        if abs(new.size - old.size) > old.size * SAME_SIZE and not overlaps:
            return False
        ended = ENDED.search(before.text) is not None
        if not same_page or new.bottom > old.end_bottom + old.size:
            return not ended and (line.text[0].islower() or self._is_full(before))
        if old.end_bottom - new.bottom > self._gaps.get(new.size, new.size * USUAL_LEADING) * WIDE_GAP:
            return False
        return not ended or (self._is_full(before) and new.left < old.left + new.size * INDENT)

    def _is_full(self, line: Line) -> bool:
        """Whether a line reaches near to the right edge of its column."""
        left = line.measure.left
        return line.measure.end_right - left >= (self._rights[_column(line)] - left) * SHORT_LINE


def _begins(line: Line) -> bool:
    return NUMBERED.match(line.text) is not None


def _column(line: Line) -> tuple[int, int]:
    return line.page, round(line.measure.left / COLUMN_POINTS)
