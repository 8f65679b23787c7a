"""Word (docx, docm): paragraphs, lists and tables in the body's order; headings by style; notes and comments.

Read from the parts themselves (ECMA-376), because python-docx passes over content controls, text boxes and notes.
Deleted and hidden text is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsvc.documents.blocks import Reading, one_line
from memsvc.documents.markup import Relation, part, relations, tell_core
from memsvc.documents.packed import Packed
from memsvc.documents.readers.word_runs import MC, VALUE, Runs, W, choices
from memsvc.documents.readers.word_styles import Styles

BODY = "word/document.xml"
NOTES = {"footnote": "word/footnotes.xml", "endnote": "word/endnotes.xml", "comment": "word/comments.xml"}
SHOWN = {"footnote": "Footnote", "endnote": "Endnote", "comment": "Comment"}
TITLE_LEVEL = 1
MOST_NESTED = 30


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a Word document. Raises: as ``Packed``."""
    with Packed(path, reading.limits) as packed:
        main = _main_part(packed)
        tell_core(packed, reading)
        links = relations(packed, main)
        body = _Body(reading, Styles(packed), links, _notes(packed))
        root = part(packed, main)
        if root is None:
            packed.read(main)
            return
        for element in root:
            if element.tag == f"{W}body":
                body.blocks(element)
        _margins(packed, links, reading, body.styles)


def _main_part(packed: Packed) -> str:
    for relation in relations(packed, "").values():
        if relation.kind == "officeDocument" and relation.target in packed:
            return relation.target
    return BODY


def _notes(packed: Packed) -> dict[tuple[str, str], Any]:
    """Return footnotes, endnotes and comments by kind and id."""
    found: dict[tuple[str, str], Any] = {}
    for kind, name in NOTES.items():
        root = part(packed, name)
        for note in () if root is None else root.iter(f"{W}{kind}"):
            if note.get(f"{W}type") in {None, "normal"}:
                found[kind, note.get(f"{W}id", "")] = note
    return found


def _margins(packed: Packed, links: Mapping[str, Relation], reading: Reading, styles: Styles) -> None:
    """Add each header and footer once, without repetitions and page numbers."""
    seen: set[str] = set()
    for kind in ("header", "footer"):
        for number, relation in enumerate((link for link in links.values() if link.kind == kind), 1):
            root = part(packed, relation.target) if not relation.outside else None
            if root is None:
                continue
            inner = Reading(reading.limits)
            _Body(inner, styles, relations(packed, relation.target), {}).blocks(root)
            for block in inner.blocks:
                if block.text in seen or not any(char.isalpha() for char in block.text):
                    reading.odd["repeated headers and footers"] += 1
                    continue
                seen.add(block.text)
                reading.margin(block.text, {kind: number})


@dataclass(slots=True)
class _Body:
    """Adds the blocks of a body, a header, a note or a cell."""

    reading: Reading
    styles: Styles
    links: Mapping[str, Relation]
    notes: Mapping[tuple[str, str], Any]
    paragraphs: int = 0
    depth: int = 0
    told: set[tuple[str, str]] = field(default_factory=set)

    def blocks(self, holder: Any) -> None:
        """Add all blocks of an element."""
        for element in _content(holder):
            if element.tag == f"{W}p":
                self._paragraph(element)
            else:
                self._table(element)

    def _paragraph(self, element: Any) -> None:
        self.paragraphs += 1
        origin = {"paragraph": self.paragraphs}
        runs = self._runs()
        text = runs.text(element)
        level, depth, is_title = self.styles.of(element)
        if is_title:
            self.reading.tell("title", text)
            self.reading.heading(text, TITLE_LEVEL, origin)
        elif level is not None:
            self.reading.heading(text, level, origin)
        elif depth is not None:
            self.reading.item(text, origin, depth)
        else:
            self.reading.paragraph(text, origin)
        self._after(runs)

    def _runs(self) -> Runs:
        return Runs(self.links, self.reading.odd, self.styles.hidden)

    def _after(self, runs: Runs) -> None:
        """Add what hangs on a paragraph: its text boxes and notes, each as blocks of their own."""
        self.depth += 1
        if self.depth < MOST_NESTED:
            for box in runs.boxes:
                self.blocks(box)
            for key in runs.notes:
                self._note(key)
        self.depth -= 1

    def _note(self, key: tuple[str, str]) -> None:
        kind, number = key
        note = self.notes.get(key)
        if note is None or key in self.told:
            return
        self.told.add(key)
        runs = self._runs()
        text = one_line(" ".join(runs.text(paragraph) for paragraph in note.iter(f"{W}p")))
        if text:
            author = one_line(note.get(f"{W}author") or "")
            by = f" by {author}" if author else ""
            shown = f" {number}" if kind != "comment" else by
            self.reading.paragraph(f"{SHOWN[kind]}{shown}: {text}", {kind: number, "paragraph": self.paragraphs})

    def _table(self, element: Any) -> None:
        table = self.reading.table()
        for row in _rows(element):
            cells: list[str] = []
            after: list[Runs] = []
            nested: list[Any] = []
            begin = self.paragraphs + 1
            for cell in _cells(row):
                texts: list[str] = []
                for inner in _content(cell):
                    if inner.tag == f"{W}p":
                        self.paragraphs += 1
                        runs = self._runs()
                        texts.append(runs.text(inner))
                        after.append(runs)
                    else:
                        nested.append(inner)
                cells.append(" ".join(texts))
            self.reading.row(cells, table, {"table": table, "paragraph": begin})
            self.depth += 1
            for inner in nested if self.depth < MOST_NESTED else ():
                self._table(inner)
            self.depth -= 1
            for runs in after:
                self._after(runs)


def _content(holder: Any) -> Iterator[Any]:
    """Yield paragraphs and tables, also those in content controls and insertions."""
    for element in holder:
        if element.tag in {f"{W}p", f"{W}tbl"}:
            yield element
        elif element.tag == f"{W}sdt":
            content = element.find(f"{W}sdtContent")
            if content is not None:
                yield from _content(content)
        elif element.tag in {f"{W}ins", f"{W}moveTo", f"{W}customXml", f"{W}smartTag"}:
            yield from _content(element)
        elif element.tag == f"{MC}AlternateContent":
            for choice in choices(element):
                yield from _content(choice)


def _rows(table: Any) -> Iterator[Any]:
    for element in table:
        if element.tag == f"{W}tr":
            deleted = element.find(f"{W}trPr/{W}del")
            if deleted is None:
                yield element
        elif element.tag in {f"{W}sdt", f"{W}customXml"}:
            yield from _rows(element if element.tag != f"{W}sdt" else _sdt(element))


def _cells(row: Any) -> Iterator[Any]:
    for element in row:
        if element.tag == f"{W}tc":
            merged = element.find(f"{W}tcPr/{W}vMerge")
            if merged is not None and merged.get(VALUE) != "restart":
                continue_ = element.makeelement(f"{W}tc")  # a cell that goes on from the row above has no text
                yield continue_
            else:
                yield element
        elif element.tag in {f"{W}sdt", f"{W}customXml"}:
            yield from _cells(element if element.tag != f"{W}sdt" else _sdt(element))


def _sdt(element: Any) -> Any:
    content = element.find(f"{W}sdtContent")
    return () if content is None else content
