"""What a format's reader makes of a file: blocks in reading order, which ``chunking`` joins into chunks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memsvc.documents.limits import Limits
from memsvc.errors import DocumentTooLargeError
from memsvc.text.characters import is_visible, without_hidden

Kind = Literal["heading", "paragraph", "item", "row", "code", "margin"]
Origin = Mapping[str, Any]

MAX_LEVEL = 9
MOST_HEADING_CHARS = 300
"""A longer "heading" is a paragraph in large print."""
BETWEEN_CELLS = " | "
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
BLANKS = re.compile(r"\s+")
ORDINARY_BLANKS = re.compile(r"\S++(?: \S++)*+")
DATE = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?")
MOST_METADATA_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, an item of a list, a row of a table, lines of code, or a header or footer."""

    kind: Kind
    text: str
    origin: Origin
    level: int = 0
    """Of a heading, 1 to 9."""
    table: int = 0
    """Rows with the same number are of one table, whose first row is its header."""


@dataclass(slots=True)
class Reading:
    """What was read so far; readers add blocks to it."""

    limits: Limits
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    pages: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)
    chars: int = 0
    tables: int = 0
    margins: list[Block] = field(default_factory=list)
    """Headers and footers."""

    def heading(self, text: str, level: int, origin: Origin) -> None:
        """Add a heading; one without visible text is none."""
        text = one_line(text)
        if len(text) > MOST_HEADING_CHARS:
            self._add(Block("paragraph", text, origin))
        else:
            self._add(Block("heading", text, origin, level=min(max(level, 1), MAX_LEVEL)))

    def paragraph(self, text: str, origin: Origin) -> None:
        """Add a paragraph, its white space made one space each."""
        self._add(Block("paragraph", one_line(text), origin))

    def lines(self, text: str, origin: Origin) -> None:
        """Add a paragraph that keeps its lines."""
        self._add(Block("paragraph", text.strip("\n"), origin))

    def item(self, text: str, origin: Origin, depth: int = 0) -> None:
        """Add an item of a list, indented by its depth from 0."""
        text = one_line(text)
        if text:
            self._add(Block("item", f"{'  ' * min(depth, MAX_LEVEL)}- {text}", origin))

    def table(self) -> int:
        """Begin a table; returns its number for ``row``."""
        self.tables += 1
        return self.tables

    def row(self, cells: Sequence[str], table: int, origin: Origin) -> None:
        """Add a row of a table; cells at its end that are empty are left out, and so is a row without text."""
        texts = [one_line(cell) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            self._add(Block("row", BETWEEN_CELLS.join(texts), origin, table=table))

    def code(self, text: str, origin: Origin) -> None:
        """Add lines that keep their white space."""
        self._add(Block("code", text.strip("\r\n").rstrip(), origin))

    def margin(self, text: str, origin: Origin) -> None:
        """Keep a header or footer for the document's end, where it interrupts nothing."""
        self.margins.append(Block("margin", one_line(text), origin))

    def finish(self) -> None:
        """Add what was kept for the end; it stands under no heading."""
        for block in self.margins:
            self._add(block)

    def tell(self, name: str, value: str | None) -> None:
        """Keep what the document says about itself, if it says something."""
        text = one_line(clean(value or ""))[:MOST_METADATA_CHARS]
        if not text:
            return
        if name == "title":
            self.title = self.title or text
        elif name in {"created", "modified"}:
            if (date := DATE.match(text)) is not None:
                self.metadata.setdefault(name, date[0].replace(" ", "T"))
        else:
            self.metadata.setdefault(name, text)

    def tags(self, value: str | None) -> None:
        """Keep keywords that stand between commas or semicolons."""
        if found := [tag for part in re.split(r"[,;]", clean(value or "")) if (tag := one_line(part))]:
            self.metadata.setdefault("tags", found[:100])

    def page(self, number: int, word: str = "pages") -> None:
        """Count a page, slide, sheet or chapter.

        Raises:
            DocumentTooLargeError: there are more than the limit.
        """
        if number > self.limits.pages:
            raise DocumentTooLargeError(
                f"The document has more than {self.limits.pages:,} {word}.", limit=self.limits.pages
            )

    def _add(self, block: Block) -> None:
        text = clean(block.text)
        if text != block.text:
            self.odd["invisible characters"] += len(block.text) - len(text)
            block = Block(block.kind, text, block.origin, block.level, block.table)
        if not is_visible(block.text):
            return
        self.chars += len(text)
        if self.chars > self.limits.chars:
            raise DocumentTooLargeError(
                f"The document has more than {self.limits.chars:,} characters of text.", limit=self.limits.chars
            )
        self.blocks.append(block)


def clean(text: str) -> str:
    """Remove what PostgreSQL cannot store and what no reader sees."""
    return without_hidden(text if text.isascii() and "\0" not in text else UNSTORABLE.sub("", text))


def one_line(text: str) -> str:
    """Return a text with single spaces as its only white space."""
    return text if ORDINARY_BLANKS.fullmatch(text) else BLANKS.sub(" ", text).strip()


def linked(text: str, target: str | None) -> str:
    """Return a link's text with its target, "text (URL)"; a target within the document adds nothing."""
    target = one_line(target or "")
    if not target or target.startswith("#") or not text.strip() or target[:11].lower() == "javascript:":
        return text
    if target[:5].lower() == "data:":
        return text
    shown = text.strip()
    if shown in {target, target.removeprefix("mailto:")} or target.rstrip("/").endswith(f"://{shown.rstrip('/')}"):
        return text
    return f"{text.rstrip()} ({target}){text[len(text.rstrip()) :]}"
