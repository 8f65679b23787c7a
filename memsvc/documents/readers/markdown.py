"""Markdown (CommonMark with tables): its blocks, without its marks; frontmatter becomes metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memsvc.documents.blocks import Reading, linked
from memsvc.documents.readers import frontmatter, html, plain
from memsvc.documents.readers.text_files import text_of

MARKED = re.compile(r"[\\`*_\[\]<>&!~]|  \n")
"""Text without any of these is text alone."""
HIDES = re.compile(
    r"hidden|display|visibility|opacity|font-size|<template|<noscript|mso-hide|class=|id=", re.IGNORECASE
)
"""What HTML between paragraphs may hide them by."""
MOST_NESTING = 40


PARSER = MarkdownIt("commonmark", {"maxNesting": MOST_NESTING}).enable(["table", "strikethrough"])
# Most inline text is text alone, so it is parsed where it is not.
BLOCK_PARSER = MarkdownIt("commonmark", {"maxNesting": MOST_NESTING}).enable(["table"]).disable("inline")


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a Markdown file."""
    text = text_of(path, reading)
    body, skipped = frontmatter.take(text, reading)
    add(body, reading, {}, skipped)


def add(text: str, reading: Reading, origin: Mapping[str, Any], skipped: int = 0) -> None:
    """Add the blocks of a Markdown text.

    Args:
        text: Markdown.
        reading: where blocks go.
        origin: of all blocks; their line is added if it is empty.
        skipped: lines that stand before the text in its file.
    """
    links: dict[str, Any] = {}
    tokens = BLOCK_PARSER.parse(text, links)
    if any(token.level >= MOST_NESTING - 1 for token in tokens):
        reading.odd["too deeply nested parts"] += 1  # their text is in no token
        plain.add(text, reading, origin, skipped)
    elif any(token.type == "html_block" and HIDES.search(token.content) for token in tokens):
        # Tags around paragraphs may hide them, which only the whole page shows.
        html.add(PARSER.render(text), reading, origin or None)
    else:
        _Walk(reading, origin, skipped, links).walk(tokens)


class _Walk:
    """Goes through the tokens of a text."""

    def __init__(self, reading: Reading, origin: Mapping[str, Any], skipped: int, links: dict[str, Any]) -> None:
        self._reading, self._origin, self._skipped = reading, origin, skipped
        self._links = links
        self._lists = 0
        self._heading = 0
        self._first_in_item = False
        self._table = 0
        self._cells: list[str] | None = None
        self._line = 1

    def walk(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            match token.type:
                case "inline":
                    self._inline(token)
                case "heading_open":
                    self._heading = int(token.tag[1:])
                case "list_item_open":
                    self._first_in_item = True
                case "fence" | "code_block":
                    self._reading.code(token.content, self._place(token))
                case "html_block":
                    html.add(token.content, self._reading, self._place(token))
                case _ if token.tag in {"ul", "ol"}:
                    self._lists += token.nesting
                case _ if token.tag in {"table", "tr"}:
                    self._in_table(token)

    def _in_table(self, token: Token) -> None:
        if token.type == "table_open":
            self._table = self._reading.table()
        elif token.type == "tr_open":
            self._cells = []
            self._place(token)
        elif token.type == "tr_close":
            self._reading.row(self._cells or [], self._table, self._place(token))
            self._cells = None

    def _inline(self, token: Token) -> None:
        text = self._plain(token.content)
        if self._cells is not None:
            self._cells.append(text)
        elif self._heading:
            self._reading.heading(text, self._heading, self._place(token))
            self._heading = 0
        elif self._first_in_item and self._lists:
            self._reading.item(text, self._place(token), self._lists - 1)
        else:
            self._reading.paragraph(text, self._place(token))
        self._first_in_item = False

    def _place(self, token: Token) -> Mapping[str, Any]:
        if self._origin:
            return self._origin
        if token.map:
            self._line = token.map[0] + 1 + self._skipped
        return {"line": self._line}

    def _plain(self, text: str) -> str:
        if MARKED.search(text) is None:
            return text
        children = PARSER.parseInline(text, self._links)[0].children or []
        if any(child.type == "html_inline" for child in children):
            return html.inline_text(PARSER.renderer.render([_holding(children)], PARSER.options, {}), self._reading)
        return "".join(self._texts(children))

    def _texts(self, tokens: Sequence[Token]) -> Iterator[str]:
        """Yield the text of inline tokens, that of a link with its target."""
        within: list[str] = []
        target: str | None = None
        for token in tokens:
            if token.type == "link_open":
                target, within = str(token.attrs.get("href", "")), []
                continue
            if token.type == "link_close":
                shown, target = linked("".join(within), target), None
                yield shown
                continue
            if token.type == "image":
                self._reading.odd["pictures"] += 1
                continue
            text = " " if token.type in {"softbreak", "hardbreak"} else token.content
            if target is None:
                yield text
            else:
                within.append(text)


def _holding(children: list[Token]) -> Token:
    return Token("inline", "", 0, children=children)
