"""OpenDocument text (odt): headings, paragraphs, lists and tables in order; notes and comments are blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsvc.documents.blocks import Reading, linked, one_line
from memsvc.documents.markup import DC, part
from memsvc.documents.packed import Packed
from memsvc.errors import BadFileError, DocumentEncryptedError

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
XLINK = "{http://www.w3.org/1999/xlink}"
CONTENT, STYLES, ABOUT, MANIFEST = "content.xml", "styles.xml", "meta.xml", "META-INF/manifest.xml"
PLAIN = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
CONTAINERS = {
    f"{TEXT}section", f"{TEXT}index-body", f"{TEXT}table-of-content", f"{TEXT}index-title", f"{TABLE}table-header-rows",
    f"{TABLE}table-rows", f"{TABLE}table-row-group", f"{OFFICE}text", f"{TEXT}list-header", f"{TEXT}numbered-paragraph",
}  # fmt: skip
MOST_SPACES = 100
MOST_DEPTH = 100
MOST_REPEATED = 1_000


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a text document. Raises: as ``Packed``."""
    with Packed(path, reading.limits) as packed:
        manifest = packed.find(MANIFEST)
        if manifest is not None and b"encryption-data" in manifest:
            raise DocumentEncryptedError
        _tell(packed, reading)
        root = part(packed, CONTENT)
        if root is None:
            raise BadFileError("The document is damaged: it has no content.")
        styles = part(packed, STYLES)
        body = root.find(f"{OFFICE}body/{OFFICE}text")
        if body is None:
            raise BadFileError("The document is damaged: it has no body of text.")
        walk = _Walk(reading, _hidden_styles(root) | (_hidden_styles(styles) if styles is not None else frozenset()))
        walk.blocks(body, 0)
        if styles is not None:
            _margins(styles, walk, reading)


def _tell(packed: Packed, reading: Reading) -> None:
    root = part(packed, ABOUT)
    if root is None:
        return
    for name, tag in (
        ("title", f"{DC}title"), ("author", f"{META}initial-creator"), ("author", f"{DC}creator"),
        ("subject", f"{DC}subject"), ("language", f"{DC}language"), ("created", f"{META}creation-date"),
        ("modified", f"{DC}date"),
    ):  # fmt: skip
        reading.tell(name, root.findtext(f".//{tag}"))
    reading.tags(",".join(keyword.text or "" for keyword in root.iter(f"{META}keyword")))


def _hidden_styles(root: Any) -> frozenset[str]:
    return frozenset(
        style.get(f"{STYLE}name", "")
        for style in root.iter(f"{STYLE}style")
        if any(properties.get(f"{TEXT}display") == "none" for properties in style.iter(f"{STYLE}text-properties"))
    )


def _margins(styles: Any, walk: _Walk, reading: Reading) -> None:
    seen: set[str] = set()
    for kind in ("header", "footer"):
        for number, holder in enumerate(styles.iter(f"{STYLE}{kind}"), 1):
            text = one_line(" ".join(walk.text(paragraph) for paragraph in holder.iter(f"{TEXT}p")))
            if text in seen or not any(char.isalpha() for char in text):
                continue
            seen.add(text)
            reading.margin(text, {kind: number})


@dataclass(slots=True)
class _Walk:
    """Adds the blocks of a body."""

    reading: Reading
    hidden: frozenset[str]
    paragraphs: int = 0
    notes: int = 0
    after: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def blocks(self, holder: Any, depth: int, lists: int = 0) -> None:
        for element in holder if depth < MOST_DEPTH else ():
            tag = element.tag
            if tag in {f"{TEXT}p", f"{TEXT}h"}:
                self._paragraph(element, lists)
            elif tag == f"{TEXT}list":
                self.blocks(element, depth + 1, lists + 1)
            elif tag == f"{TEXT}list-item":
                self.blocks(element, depth + 1, lists)
            elif tag == f"{TABLE}table":
                self._table(element, depth)
            elif tag == f"{TEXT}tracked-changes":
                self.reading.odd["deleted passages"] += len(list(element.iter(f"{TEXT}deletion")))
            elif tag in CONTAINERS:
                if element.get(f"{TEXT}display") == "none":
                    self.reading.odd["hidden parts"] += 1
                else:
                    self.blocks(element, depth + 1, lists)

    def _paragraph(self, element: Any, lists: int) -> None:
        self.paragraphs += 1
        origin = {"paragraph": self.paragraphs}
        text = self.text(element)
        if element.tag == f"{TEXT}h":
            level = element.get(f"{TEXT}outline-level", "1")
            self.reading.heading(text, int(level) if level.isdigit() else 1, origin)
        elif element.get(f"{TEXT}style-name") == "Title":
            self.reading.tell("title", text)
            self.reading.heading(text, 1, origin)
        elif lists:
            self.reading.item(text, origin, lists - 1)
        else:
            self.reading.paragraph(text, origin)
        self._add_after()

    def _add_after(self) -> None:
        after, self.after = self.after, []
        for text, origin in after:
            self.reading.paragraph(text, origin)

    def _table(self, element: Any, depth: int) -> None:
        number = self.reading.table()
        for row in element.iter(f"{TABLE}table-row"):
            if _table_of(row) is not element:
                continue
            begin = self.paragraphs + 1
            cells: list[str] = []
            nested: list[Any] = []
            for cell in row:
                if cell.tag not in {f"{TABLE}table-cell", f"{TABLE}covered-table-cell"}:
                    continue
                texts: list[str] = []
                for inner in cell.iter(f"{TEXT}p", f"{TEXT}h", f"{TABLE}table"):
                    if _table_of(inner) is not element:
                        continue
                    if inner.tag == f"{TABLE}table":
                        nested.append(inner)
                    else:
                        self.paragraphs += 1
                        texts.append(self.text(inner))
                repeated = cell.get(f"{TABLE}number-columns-repeated", "1")
                times = min(int(repeated), MOST_REPEATED) if repeated.isdigit() else 1
                cells += [" ".join(texts)] * times
            self.reading.row(cells, number, {"table": number, "paragraph": begin})
            for inner in nested if depth < MOST_DEPTH else ():
                self._table(inner, depth + 1)
            self._add_after()

    def text(self, element: Any, depth: int = 0) -> str:
        """Return the text inside an element; notes and comments are kept for after it."""
        texts = [element.text or ""]
        for child in element:
            texts += [self._part(child, depth + 1), child.tail or ""]
        return "".join(texts)

    def _part(self, child: Any, depth: int) -> str:
        tag = child.tag
        if tag in PLAIN:
            return PLAIN[tag]
        if tag == f"{TEXT}s":
            count = child.get(f"{TEXT}c", "1")
            return " " * (min(int(count), MOST_SPACES) if count.isdigit() else 1)
        if tag in {f"{TEXT}note", f"{OFFICE}annotation"}:
            self._note(child)
            return ""
        if depth > MOST_DEPTH or tag in {f"{TEXT}hidden-text", f"{TEXT}hidden-paragraph"}:
            self.reading.odd["hidden parts"] += 1
            return ""
        if child.get(f"{TEXT}style-name") in self.hidden:
            self.reading.odd["hidden parts"] += 1
            return ""
        if tag == f"{DRAW}image":
            self.reading.odd["pictures"] += 1
            return ""
        text = self.text(child, depth)
        return linked(text, child.get(f"{XLINK}href")) if tag == f"{TEXT}a" else text

    def _note(self, note: Any) -> None:
        self.notes += 1
        is_comment = note.tag == f"{OFFICE}annotation"
        text = one_line(" ".join(self.text(paragraph) for paragraph in note.iter(f"{TEXT}p")))
        kind = "comment" if is_comment else note.get(f"{TEXT}note-class", "footnote")
        number = note.findtext(f"{TEXT}note-citation") or str(self.notes)
        author = one_line(note.findtext(f"{DC}creator") or "")
        shown = (f" by {author}" if author else "") if is_comment else f" {number}"
        if text:
            origin = {kind: number, "paragraph": self.paragraphs}
            self.after.append((f"{kind.capitalize()}{shown}: {text}", origin))


def _table_of(element: Any) -> Any:
    above = element.getparent()
    while above is not None and above.tag != f"{TABLE}table":
        above = above.getparent()
    return above
