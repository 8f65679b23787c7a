"""The one section of a note that is memsvc's, between two marker lines; all other bytes are the owner's.

A section begins with the line break before its first marker, so that an owner's text without a final line break gets
it back exactly. Markers in a closed fence of code are an owner's example.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from memsvc.documents.vaults.form import Flavour
from memsvc.documents.vaults.marks import BLOCK_PARSER
from memsvc.text.markdown import inline

BEGIN, END = "<!-- memsvc:begin -->", "<!-- memsvc:end -->"
SIDECAR = ".memsvc.md"
"""How the name of a note ends that memsvc writes beside another one."""
MARKER = re.compile(r"(?<![^\r\n\ufeff])<!-- memsvc:(begin|end) -->[ \t]*(?=[\r\n]|\Z)")
LINE_BREAK = re.compile(r"\r\n|\r|\n")
CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
NOT_IN_LINKS = re.compile(r"[\[\]|#^<>\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
WITH_WIKI_LINKS = {"obsidian", "logseq", "foam"}
TITLE = "### memsvc"


class LinkTo(msgspec.Struct, frozen=True, kw_only=True):
    """A note to link to."""

    path: str
    """In the folder, with "/" between names."""
    text: str = ""
    """Why, in a few words."""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What memsvc has to say about a note; nothing at all removes the section."""

    summary: str = ""
    facts: tuple[str, ...] = ()
    links: tuple[LinkTo, ...] = ()


@dataclass(frozen=True, slots=True)
class Sections:
    """Where the sections of a text are."""

    spans: tuple[tuple[int, int], ...]
    """From the line break before a section to the one after it, both within."""
    strays: int
    """Markers without their other half."""


def as_text(data: bytes) -> str:
    """Return bytes as text from which ``as_bytes`` makes the same bytes again, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Return the bytes that ``as_text`` made a text of."""
    return text.encode("utf-8", "surrogateescape")


def sections(text: str) -> Sections:
    """Find the sections of a text."""
    found = list(MARKER.finditer(text))
    if found:
        fenced = _closed_fences(text)
        found = [marker for marker in found if _line(text, marker.start()) not in fenced]
    spans: list[tuple[int, int]] = []
    begun: re.Match[str] | None = None
    strays = 0
    for marker in found:
        if marker[1] == "begin":
            strays += begun is not None
            begun = marker
        elif begun is None:
            strays += 1
        else:
            spans.append(_span(text, begun, marker))
            begun = None
    return Sections(tuple(spans), strays + (begun is not None))


def _span(text: str, begin: re.Match[str], end: re.Match[str]) -> tuple[int, int]:
    after_begin = LINE_BREAK.match(text, begin.end())
    line_break = after_begin[0] if after_begin is not None else ""
    start, stop = begin.start(), end.end()
    if text.endswith(line_break, 0, start):
        start -= len(line_break)
    if text.startswith(line_break, stop):
        stop += len(line_break)
    return start, stop


def _line(text: str, position: int) -> int:
    return sum(1 for _ in LINE_BREAK.finditer(text, 0, position))


def _closed_fences(text: str) -> set[int]:
    """Return the lines, from 0, in fences that are closed; what follows an open one is no example."""
    if "```" not in text and "~~~" not in text:
        return set()
    lines = LINE_BREAK.split(text)
    return {
        line
        for token in BLOCK_PARSER.parse(text)
        if token.type == "fence" and token.map and _is_closed(lines, *token.map, markup=token.markup)
        for line in range(*token.map)
    }


def _is_closed(lines: Sequence[str], first: int, after: int, *, markup: str) -> bool:
    if after - first < 2:  # noqa: PLR2004 - its first line and its last one
        return False
    last = CLOSING.fullmatch(lines[after - 1].lstrip("> \t"))
    return last is not None and last[1].startswith(markup)


def owners_bytes(data: bytes) -> tuple[bytes, int]:
    """Return a file without memsvc's sections, and how many there were."""
    if b"<!-- memsvc:" not in data:
        return data, 0
    text = as_text(data)
    spans = sections(text).spans
    for start, stop in reversed(spans):
        text = _cut(text, start, stop)
    return as_bytes(text), len(spans)


def _cut(text: str, start: int, stop: int) -> str:
    """Return a text without a section; an owner who wrote on below the section began a line there."""
    before, after = text[:start], text[stop:]
    if not before.strip("\ufeff") or not after or before.endswith(("\r", "\n")):
        return before + after
    begun = LINE_BREAK.match(text, start)
    return f"{before}{begun[0] if begun is not None else ''}{after}"


def put(text: str, lines: Sequence[str]) -> str:
    """Return a text with a section of these lines: in the place of its section, else at its end; no lines remove it.

    The text has at most one section and no stray marker.
    """
    spans = sections(text).spans
    start, stop = spans[0] if spans else (len(text), len(text))
    if not lines:
        return _cut(text, start, stop)
    # A section keeps its kind of line break, also in a text that mixes several.
    found = LINE_BREAK.search(text, start, stop) if spans else LINE_BREAK.search(text)
    line_break = found[0] if found is not None else "\n"
    return f"{text[:start]}{line_break}{line_break.join([BEGIN, *lines, END])}{line_break}{text[stop:]}"


def same(one: str | None, other: str | None) -> bool:
    """Return whether two sections say the same; programs may change line breaks and blanks at ends of lines."""
    return _plain(one) == _plain(other)


def _plain(section: str | None) -> list[str] | None:
    return None if section is None else [line.rstrip(" \t") for line in LINE_BREAK.split(section.strip("\r\n"))]


def lines_of(content: Content, path: str, flavours: Sequence[Flavour]) -> list[str]:
    """Return what stands between the markers, line by line; no text of it has a meaning as Markdown.

    Args:
        content: what to say.
        path: of the file that it is written to.
        flavours: of the folder; programs that know wiki links get these.
    """
    said = [f"- {text}" for fact in content.facts if (text := inline(fact))]
    linked = list(_links(content.links, path, wiki=not WITH_WIKI_LINKS.isdisjoint(flavours)))
    summary = inline(content.summary)
    if not said and not linked and not summary:
        return []
    lines = [TITLE]
    for part in ([summary] if summary else [], said, linked):
        if part:
            lines += ["", *part]
    return lines


def _links(links: Sequence[LinkTo], path: str, *, wiki: bool) -> Iterator[str]:
    for link in links:
        stem = posixpath.splitext(link.path)[0]
        name = posixpath.basename(stem)
        if wiki and NOT_IN_LINKS.search(link.path) is None:
            shown = f"[[{stem}|{name}]]"
        elif wiki:
            shown = inline(name)
        else:
            shown = f"[{inline(name)}]({quote(posixpath.relpath(link.path, posixpath.dirname(path) or '.'))})"
        text = inline(link.text)
        yield f"- {shown}: {text}" if text else f"- {shown}"
