"""PowerPoint (pptx, pptm): slides in their order, each with its title, text, tables, diagrams and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsvc.documents.blocks import Reading, linked, one_line
from memsvc.documents.markup import Relation, part, relations, tell_core
from memsvc.documents.packed import Packed
from memsvc.errors import BadFileError

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MAIN = "ppt/presentation.xml"
TITLES = {"title", "ctrTitle"}
LISTS = {None, "body", "obj"}
"""Placeholders whose paragraphs are items of a list (None: without a type)."""
REPEATED = {"dt", "ftr", "sldNum", "hdr"}
MOST_DEPTH = 50


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a presentation. Raises: as ``Packed``."""
    with Packed(path, reading.limits) as packed:
        main = next((r.target for r in relations(packed, "").values() if r.kind == "officeDocument"), MAIN)
        root = part(packed, main)
        if root is None:
            raise BadFileError("The presentation is damaged: it has no list of slides.")
        tell_core(packed, reading)
        named = relations(packed, main)
        number = 0
        for entry in root.iter(f"{P}sldId"):
            relation = named.get(entry.get(f"{R}id", ""))
            slide = None if relation is None else part(packed, relation.target)
            number += 1
            reading.page(number, "slides")
            if relation is None or slide is None:
                reading.odd["missing slides"] += 1
            elif slide.get("show") in {"0", "false"}:
                reading.odd["hidden slides"] += 1
            else:
                _slide(packed, slide, relation.target, number, reading)
        reading.pages = number


def _slide(packed: Packed, slide: Any, name: str, number: int, reading: Reading) -> None:
    links = relations(packed, name)
    origin = {"slide": number}
    shapes = _Shapes(reading, links, origin)
    found = list(_shapes(slide, 0))
    for shape in found:
        if _placeholder(shape) in TITLES:
            reading.heading(" ".join(shapes.paragraphs(shape)), 1, origin)
    for shape in found:
        if _placeholder(shape) not in TITLES:
            shapes.add(shape)
    _attached(packed, shapes)


def _attached(packed: Packed, shapes: _Shapes) -> None:
    """Add what lies in parts of its own: diagrams and notes; count charts."""
    reading, origin, links = shapes.reading, shapes.origin, shapes.links
    for relation in links.values():
        root = part(packed, relation.target) if relation.kind in {"diagramData", "notesSlide"} else None
        if root is None:
            continue
        if relation.kind == "diagramData":
            for paragraph in root.iter(f"{A}p"):
                reading.item(shapes.text(paragraph), origin)
        else:
            notes = (shape for shape in root.iter(f"{P}sp") if _placeholder(shape) == "body")
            text = one_line(" ".join(" ".join(shapes.paragraphs(shape)) for shape in notes))
            if text:
                reading.paragraph(f"Notes: {text}", {**origin, "notes": True})
    if charts := sum(link.kind == "chart" for link in links.values()):
        reading.odd["charts"] += charts


@dataclass(slots=True)
class _Shapes:
    """Adds the blocks of a slide's shapes."""

    reading: Reading
    links: Mapping[str, Relation]
    origin: dict[str, Any]

    def add(self, shape: Any) -> None:
        if shape.tag == f"{P}pic":
            self.reading.odd["pictures"] += 1
            return
        if shape.tag == f"{P}graphicFrame":
            for table in shape.iter(f"{A}tbl"):
                number = self.reading.table()
                for row in table.iter(f"{A}tr"):
                    cells = [" ".join(self.text(p) for p in cell.iter(f"{A}p")) for cell in row.iter(f"{A}tc")]
                    self.reading.row(cells, number, self.origin)
            return
        kind = _placeholder(shape)
        if kind in REPEATED:
            self.reading.odd["repeated headers and footers"] += 1
            return
        in_list = shape.find(f".//{P}nvPr/{P}ph") is not None and kind in LISTS
        for paragraph in shape.iter(f"{A}p"):
            text = self.text(paragraph)
            properties = paragraph.find(f"{A}pPr")
            level = "0" if properties is None else properties.get("lvl", "0")
            bulleted = properties is not None and any(
                properties.find(f"{A}{t}") is not None for t in ("buChar", "buAutoNum")
            )
            plain = properties is not None and properties.find(f"{A}buNone") is not None
            if bulleted or (in_list and not plain):
                self.reading.item(text, self.origin, int(level) if level.isdigit() else 0)
            else:
                self.reading.paragraph(text, self.origin)

    def paragraphs(self, shape: Any) -> list[str]:
        return [self.text(paragraph) for paragraph in shape.iter(f"{A}p")]

    def text(self, paragraph: Any) -> str:
        texts: list[str] = []
        for element in paragraph:
            if element.tag == f"{A}br":
                texts.append("\n")
            elif element.tag in {f"{A}r", f"{A}fld"}:
                text = element.findtext(f"{A}t") or ""
                click = element.find(f"{A}rPr/{A}hlinkClick")
                relation = None if click is None else self.links.get(click.get(f"{R}id", ""))
                outside = relation is not None and relation.outside
                texts.append(linked(text, relation.target) if relation is not None and outside else text)
        return "".join(texts)


def _shapes(holder: Any, depth: int) -> Iterator[Any]:
    """Yield shapes in their order, those of groups in their group's place."""
    for element in holder:
        if element.tag in {f"{P}sp", f"{P}graphicFrame", f"{P}pic", f"{P}cxnSp"}:
            properties = element.find(f".//{P}cNvPr")
            if properties is None or properties.get("hidden") not in {"1", "true"}:
                yield element
        elif depth < MOST_DEPTH and element.tag in {f"{P}cSld", f"{P}spTree", f"{P}grpSp"}:
            yield from _shapes(element, depth + 1)
        elif depth < MOST_DEPTH and element.tag.endswith("}AlternateContent"):
            for choice in element:
                if len(choice):
                    yield from _shapes(choice, depth + 1)
                    break


def _placeholder(shape: Any) -> str | None:
    found = shape.find(f".//{P}nvPr/{P}ph")
    return None if found is None else found.get("type")
