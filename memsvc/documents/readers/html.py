"""HTML: the text that a reader of the page sees, in blocks.

Scripts, styles, comments and whatever a page hides (attributes, inline styles, simple rules of its own style sheet) are
never taken: hidden text could carry instructions that no person sees. They are counted.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from memsvc.documents.blocks import Reading, linked
from memsvc.documents.readers.text_files import MARKS, text_of

CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
CHARSET_WITHIN = 2048
NEVER = frozenset({"script", "style", "template", "noscript"})
NOT_TEXT = frozenset({"title", "svg", "math", "iframe", "object", "canvas", "audio", "video", "select", "textarea"})
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset(
    "html body p div section article header footer main aside nav ul ol dl dt dd li blockquote figure figcaption form "  # noqa: SIM905
    "fieldset legend address hr details summary caption center table thead tbody tfoot tr td th pre h1 h2 h3 h4 h5 h6 "
    "hgroup search menu dialog".split()
)
HIDING = re.compile(
    r"(?:^|[;\s{])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(?:%|;|!|$)"
    r"|font-size\s*:\s*0*\.?0*(?:px|pt|em|rem|%)?\s*(?:;|!|$)|mso-hide\s*:\s*all|content-visibility\s*:\s*hidden)",
    re.IGNORECASE,
)
RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
SIMPLE_SELECTOR = re.compile(r"(?:[a-z][a-z0-9]*)?([.#][\w-]+)", re.IGNORECASE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

Places = Callable[[], Mapping[str, Any]]
"""Returns the origin of the next block."""


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a page."""
    add(_decoded(path, reading), reading, None)


def add(text: str, reading: Reading, origin: Mapping[str, Any] | None) -> None:
    """Add the visible blocks of HTML.

    Args:
        text: a page, or a part of one.
        reading: where blocks go.
        origin: of all blocks; None: paragraphs are numbered. With ``{"chapter": 3}`` they are numbered, too.
    """
    root = _tree(text)
    if root is None:
        return
    _tell(root, reading)
    walk = _Walk(
        reading, dict(origin or {}), numbered=origin is None or "chapter" in origin, hidden=_hidden_names(root)
    )
    walk.walk(root)


def inline_text(text: str, reading: Reading) -> str:
    """Return the visible text of a part of HTML, as one line."""
    inner = Reading(reading.limits)
    add(text, inner, {})
    reading.odd.update(inner.odd)
    return " ".join(block.text for block in inner.blocks)


def _decoded(path: Path, reading: Reading) -> str:
    with path.open("rb") as file:
        head = file.read(CHARSET_WITHIN)
    found = CHARSET.search(head)
    if found is not None and not any(head.startswith(mark) for mark, _ in MARKS):
        try:
            encoding = codecs.lookup(found[1].decode()).name
            if encoding not in {"utf-8", "utf-16", "utf-32"}:
                return path.read_bytes().decode("cp1252" if encoding == "iso8859-1" else encoding, "replace")
        except (LookupError, UnicodeError):
            reading.odd["unknown encodings"] += 1
    return text_of(path, reading)


def _tree(text: str) -> Any:
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_pis=True, huge_tree=False)
    data = text.encode("utf-8", "replace")
    try:
        return etree.fromstring(data, parser) if data.strip() else None
    except etree.ParserError:  # nothing but comments
        return None
    except etree.XMLSyntaxError:
        return None


def _tell(root: Any, reading: Reading) -> None:
    reading.tell("title", root.findtext(".//title"))
    reading.tell("language", root.get("lang"))
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        content = meta.get("content")
        if name in {"author", "dc.creator", "article:author"}:
            reading.tell("author", content)
        elif name in {"keywords", "news_keywords"}:
            reading.tags(content)
        elif name in {"date", "dc.date", "article:published_time", "dcterms.created"}:
            reading.tell("created", content)
        elif name in {"article:modified_time", "last-modified", "dcterms.modified"}:
            reading.tell("modified", content)


def _hidden_names(root: Any) -> frozenset[str]:
    """Return the classes and ids (".name", "#name") that the page's style sheets hide by a simple rule."""
    found: set[str] = set()
    for style in root.iter("style"):
        for selectors, body in RULE.findall(COMMENT.sub("", style.text or "")):
            if HIDING.search(body.strip()):
                parts = (SIMPLE_SELECTOR.fullmatch(selector.strip()) for selector in selectors.split(","))
                found.update(part[1] for part in parts if part is not None)
    return frozenset(found)


@dataclass(slots=True)
class _Table:
    number: int
    cells: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    """Goes through a page's elements; text gathers until a block begins or ends."""

    reading: Reading
    origin: dict[str, Any]
    numbered: bool
    hidden: frozenset[str]
    texts: list[str] = field(default_factory=list)
    paragraphs: int = 0
    lists: int = 0
    in_item: bool = False
    pre: int = 0
    heading: int = 0
    tables: list[_Table | None] = field(default_factory=list)
    """Tables around the current element; None is the mark of a cell in the one before."""
    links: list[int] = field(default_factory=list)

    def walk(self, root: Any) -> None:
        walker = etree.iterwalk(root, events=("start", "end", "comment"))
        for event, element in walker:
            if event == "comment":
                self.reading.odd["comments"] += 1
                self._text(element.tail)
            elif event == "start":
                if self._is_skipped(element):
                    walker.skip_subtree()
                else:
                    self._begin(element)
                    self._text(element.text)
            else:
                if not self._is_skipped(element, count=False):
                    self._end(element)
                self._text(element.tail)
        self._flush()

    def _is_skipped(self, element: Any, *, count: bool = True) -> bool:
        if element.tag in NEVER:
            self.reading.odd["scripts and styles"] += count
            return True
        if element.tag in NOT_TEXT:
            return True
        attributes = element.attrib
        if not attributes or not self._hides(attributes):
            return False
        self.reading.odd["hidden parts"] += count
        return True

    def _hides(self, attributes: Mapping[str, str]) -> bool:
        if "hidden" in attributes or attributes.get("aria-hidden", "").strip().lower() == "true":
            return True
        if (style := attributes.get("style")) and HIDING.search(style.strip()):
            return True
        if not self.hidden:
            return False
        names = [f".{name}" for name in attributes.get("class", "").split()]
        return f"#{attributes.get('id')}" in self.hidden or any(name in self.hidden for name in names)

    def _text(self, text: str | None) -> None:
        if text:
            self.texts.append(text)

    def _begin(self, element: Any) -> None:
        tag = element.tag
        if tag in BLOCKS:
            self._flush()
            self._begin_block(tag)
        elif tag == "br":
            self.texts.append("\n")
        elif tag == "a":
            self.links.append(len(self.texts))
        elif tag == "img":
            self.reading.odd["pictures"] += 1

    def _begin_block(self, tag: str) -> None:
        if tag in HEADINGS:
            self.heading = HEADINGS[tag]
        elif tag in {"ul", "ol", "menu"}:
            self.lists += 1
        elif tag == "li":
            self.in_item = True
        elif tag == "pre":
            self.pre += 1
        elif tag == "table":
            self.tables.append(_Table(self.reading.table()))
        elif tag in {"td", "th"} and self.tables and self.tables[-1] is not None:
            self.tables[-1].cells.append("")
            self.tables.append(None)

    def _end(self, element: Any) -> None:
        tag = element.tag
        if tag == "a":
            self._end_link(element.get("href"))
        elif tag in BLOCKS:
            self._flush()
            self._end_block(tag)

    def _end_link(self, target: str | None) -> None:
        begin = self.links.pop() if self.links else len(self.texts)
        if begin < len(self.texts):
            self.texts[begin:] = [linked("".join(self.texts[begin:]), target)]

    def _end_block(self, tag: str) -> None:
        if tag in HEADINGS:
            self.heading = 0
        elif tag in {"ul", "ol", "menu"}:
            self.lists = max(self.lists - 1, 0)
        elif tag == "li":
            self.in_item = False
        elif tag == "pre":
            self.pre = max(self.pre - 1, 0)
        elif tag in {"td", "th"} and self.tables and self.tables[-1] is None:
            self.tables.pop()
        elif tag == "tr" and self.tables and self.tables[-1] is not None:
            table = self.tables[-1]
            self.reading.row(table.cells, table.number, self._place())
            table.cells = []
        elif tag == "table":
            while self.tables and self.tables.pop() is None:
                pass

    def _flush(self) -> None:
        text = "".join(self.texts)
        self.texts.clear()
        self.links = [0 for _ in self.links]
        if not text or text.isspace():
            return
        if self.tables and self.tables[-1] is None:  # in a cell, blocks are words among others
            table = self.tables[-2] if len(self.tables) > 1 else None
            if table is not None:
                table.cells[-1] = f"{table.cells[-1]} {text}"
        elif self.pre:
            self.reading.code(text, self._place())
        elif self.heading:
            self.reading.heading(text, self.heading, self._place())
        elif self.in_item:
            self.reading.item(text, self._place(), max(self.lists - 1, 0))
            self.in_item = False
        else:
            self.reading.paragraph(text, self._place())

    def _place(self) -> Mapping[str, Any]:
        if not self.numbered:
            return self.origin
        self.paragraphs += 1
        return {**self.origin, "paragraph": self.paragraphs}
