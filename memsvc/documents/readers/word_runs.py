"""The text of a Word paragraph: runs, links, fields, tabs and breaks, without what is deleted or hidden."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memsvc.documents.blocks import linked
from memsvc.documents.markup import Relation

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
VALUE = f"{W}val"
OFF = {"0", "false", "off"}
HYPERLINK = re.compile(r'\s*HYPERLINK\s+"([^"]*)"', re.IGNORECASE)
PLAIN = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": "\t"}
LEFT_OUT = {f"{W}del": "deleted passages", f"{W}moveFrom": "deleted passages"}
NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote", f"{W}commentReference": "comment"}
PASSED_OVER = {
    f"{W}{tag}" for tag in ("pPr", "rPr", "instrText", "delText", "object", "proofErr", "bookmarkStart", "sdtPr")
}
MOST_DEPTH = 200


def is_on(properties: Any, tag: str) -> bool:
    """Whether a property that is on or off is on."""
    found = properties.find(f"{W}{tag}")
    return found is not None and found.get(VALUE, "1").lower() not in OFF


def choices(alternate: Any) -> Iterator[Any]:
    """Yield the first of alternative contents, which holds the same as the others."""
    for tag in ("Choice", "Fallback"):
        found = alternate.find(f"{MC}{tag}")
        if found is not None and len(found):
            yield found
            return


@dataclass(slots=True)
class _Field:
    """A field whose parts are runs: its instruction, then its result."""

    instruction: list[str] = field(default_factory=list)
    begin: int | None = None
    """Where the result's text begins."""


@dataclass(slots=True)
class Runs:
    """Gathers a paragraph's text, and what hangs on it."""

    links: Mapping[str, Relation]
    odd: Counter[str]
    hidden_styles: frozenset[str] = frozenset()
    boxes: list[Any] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    fields: list[_Field] = field(default_factory=list)

    def text(self, paragraph: Any) -> str:
        """Return the text."""
        self.texts.clear()
        self._inside(paragraph, 0)
        return "".join(self.texts)

    def _inside(self, holder: Any, depth: int) -> None:
        if depth > MOST_DEPTH:
            self.odd["too deeply nested parts"] += 1
            return
        for element in holder:
            self._element(element, depth + 1)

    def _element(self, element: Any, depth: int) -> None:
        tag = element.tag
        if tag == f"{W}r":
            self._run(element, depth)
        elif tag in {f"{W}t", MATH_TEXT}:
            self.texts.append(element.text or "")
        elif tag == f"{W}hyperlink":
            self._link(element, depth, self._target(element))
        elif tag == f"{W}fldSimple":
            self._link(element, depth, _address(element.get(f"{W}instr", "")))
        elif tag in LEFT_OUT:
            self.odd[LEFT_OUT[tag]] += 1
        elif tag == f"{MC}AlternateContent":
            for choice in choices(element):
                self._inside(choice, depth)
        elif tag not in PASSED_OVER:
            self._inside(element, depth)

    def _run(self, run: Any, depth: int) -> None:
        properties = run.find(f"{W}rPr")
        if properties is not None and self._is_hidden(properties):
            self.odd["hidden parts"] += 1
            return
        for element in run:
            tag = element.tag
            if tag in PLAIN:
                self.texts.append(PLAIN[tag])
            elif tag == f"{W}sym":
                self.texts.append(_symbol(element))
            elif tag == f"{W}fldChar":
                self._field(element.get(f"{W}fldCharType"))
            elif tag == f"{W}instrText" and self.fields:
                self.fields[-1].instruction.append(element.text or "")
            elif tag in NOTES:
                self.notes.append((NOTES[tag], element.get(f"{W}id", "")))
            elif tag in {f"{W}drawing", f"{W}pict"} or tag == f"{MC}AlternateContent":
                self._drawing(element)
            else:
                self._element(element, depth)

    def _is_hidden(self, properties: Any) -> bool:
        style = properties.find(f"{W}rStyle")
        return is_on(properties, "vanish") or (style is not None and style.get(VALUE) in self.hidden_styles)

    def _drawing(self, element: Any) -> None:
        """Keep the text boxes of a drawing for later; count one without text as a picture."""
        parts = list(choices(element)) if element.tag == f"{MC}AlternateContent" else [element]
        found = [box for one in parts for box in one.iter(f"{W}txbxContent") if not _is_within_box(box, one)]
        self.boxes += found
        if not found:
            self.odd["pictures"] += 1

    def _link(self, element: Any, depth: int, target: str | None) -> None:
        begin = len(self.texts)
        self._inside(element, depth)
        self.texts[begin:] = [linked("".join(self.texts[begin:]), target)]

    def _target(self, element: Any) -> str | None:
        relation = self.links.get(element.get(f"{R}id", ""))
        if relation is None or not relation.outside:
            return None
        anchor = element.get(f"{W}anchor")
        return f"{relation.target}#{anchor}" if anchor and "#" not in relation.target else relation.target

    def _field(self, kind: str | None) -> None:
        if kind == "begin":
            self.fields.append(_Field())
        elif kind == "separate" and self.fields:
            self.fields[-1].begin = len(self.texts)
        elif kind == "end" and self.fields:
            ended = self.fields.pop()
            target = _address("".join(ended.instruction))
            if target is not None and ended.begin is not None and ended.begin <= len(self.texts):
                self.texts[ended.begin :] = [linked("".join(self.texts[ended.begin :]), target)]


def _address(instruction: str) -> str | None:
    found = HYPERLINK.match(instruction)
    return None if found is None else found[1]


def _symbol(element: Any) -> str:
    """Return a symbol; those of Wingdings and its like lie in the private area and say nothing."""
    try:
        code = int(element.get(f"{W}char", ""), 16)
    except ValueError:
        return ""
    return "" if 0xE000 <= code <= 0xF8FF or code > 0x10FFFF else chr(code)  # noqa: PLR2004 - Unicode's private area


def _is_within_box(box: Any, top: Any) -> bool:
    above = box.getparent()
    while above is not None and above is not top:
        if above.tag == f"{W}txbxContent":
            return True
        above = above.getparent()
    return False
