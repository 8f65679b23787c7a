"""The marks of note-taking programs in Markdown: wiki links, tags, block ids and properties, with their lines.

Markdown itself is read by markdown-it, which gets two rules more; so what stands in code, in an address or after a
backslash is no mark. Comments are taken out first, because programs end them elsewhere than CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.image import image as image_rule
from markdown_it.rules_inline.link import link as link_rule
from markdown_it.token import Token

from memsvc.documents.vaults.form import Heading, Link, LinkKind

MOST_NESTING = 200
"""An outline of bullets takes two levels for each of its own."""
MOST_INLINE_CHARS = 50_000
"""A longer paragraph is data; its marks are left out and counted."""
FOUND = "memsvc"

WIKI = re.compile(r"\[\[([^\[\]\n]+?)\]\]")
MACRO = re.compile(r"\{\{embed\s+$")
TAG = re.compile(r"#(?:\[\[([^\[\]\n]+)\]\]|([\w/\-\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff]+))")
ONLY_DIGITS = re.compile(r"[\d/_-]*")
BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$")
BLOCK_LINK = re.compile(r"\(\(([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\)\)")
PROPERTY = re.compile(r"\s*([A-Za-z][\w ./-]{0,60}?):: ?(.*)")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
# What begins code in a line, a comment of HTML and one of Obsidian.
OPENING = re.compile(r"`+|<!--|%%")
CLOSINGS = {"<!--": "-->", "%%": "%%"}
EMPTY_LINE = re.compile(r"\n[ \t]*\n")
NOT_BREAKS = re.compile(r"[^\n]")
PLAIN = re.compile(r"[^\[\]#(`\\*_~<!&:^]*")
"""Text without any mark, which need not be parsed."""


Rule = Callable[[StateInline, bool], bool]


class Line(NamedTuple):
    """A line of a paragraph or list item, without code."""

    number: int
    text: str


class Paragraph(NamedTuple):
    """The lines of a paragraph, or of the first one of a list item."""

    lines: tuple[Line, ...]
    is_item: bool
    """Whether it begins an item of a list."""
    is_heading: bool


@dataclass(slots=True)
class Marks:
    """What was found in a text."""

    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    paragraphs: list[Paragraph] = field(default_factory=list)
    properties: list[tuple[int, str, str]] = field(default_factory=list)
    """Line, key in lower case, and value of each ``key:: value``."""
    is_page: frozenset[int] = frozenset()
    """Lines of the properties in the first paragraph, which are the page's."""
    too_long: int = 0
    source: str = ""
    """The inline text that is being read; rules report nothing of texts within it."""
    line: int = 0

    def place(self, position: int) -> int:
        """Return the line of a position in the inline text."""
        return self.line + self.source.count("\n", 0, position)


def _of(state: StateInline) -> Marks | None:
    found = state.env.get(FOUND)
    return found if isinstance(found, Marks) and found.source is state.src else None


def _wiki(state: StateInline, silent: bool) -> bool:
    begin = state.pos
    embeds = state.src.startswith("![[", begin)
    match = WIKI.match(state.src, begin + embeds, state.posMax)
    if match is None:
        return False
    if not silent and (found := _of(state)) is not None:
        embeds = embeds or MACRO.search(state.src, 0, begin) is not None
        link = wiki_link(match[1], found.place(begin), "embed" if embeds else "wiki")
        found.links.append(link)
        state.pending += link.alias or link.target or link.section or ""
    state.pos = match.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    begin = state.pos
    if begin and not state.src[begin - 1].isspace():
        return False
    match = TAG.match(state.src, begin, state.posMax)
    if match is None:
        return False
    name = match[1] or match[2].strip("/")
    if ONLY_DIGITS.fullmatch(name):
        return False
    if not silent and (found := _of(state)) is not None:
        found.tags.append(name.strip())
        state.pending += match[0]
    state.pos = match.end()
    return True


def _with_paths(rule: Rule, kind: LinkKind, opens: str, attribute: str) -> Rule:
    """Return a rule of CommonMark that also reports links to files."""

    def reporting(state: StateInline, silent: bool) -> bool:
        begin, before = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        if not silent and (found := _of(state)) is not None:
            token = next(one for one in state.tokens[before:] if one.type == opens)
            shown = token.content or "".join(one.content for one in state.tokens[before:] if one.type == "text")
            _report(found, kind, str(token.attrs.get(attribute, "")), shown, found.place(begin))
        return True

    return reporting


def _report(found: Marks, kind: LinkKind, address: str, shown: str, line: int) -> None:
    target = unquote(address)
    if target.startswith("[[") and (wiki := WIKI.fullmatch(target)) is not None:
        found.links.append(wiki_link(f"{wiki[1]}|{shown}", line, "wiki"))
        return
    if not target or target.startswith(("#", "/", "((")) or SCHEME.match(target):
        return
    path, _, section = target.partition("#")
    found.links.append(
        Link(line=line, kind=kind, target=path.partition("?")[0], section=section or None, alias=shown or None)
    )


def wiki_link(inside: str, line: int, kind: LinkKind) -> Link:
    """Return the link that the inside of [[…]] means."""
    name, _, alias = inside.replace("\\|", "|").partition("|")
    target, _, section = name.partition("#")
    return Link(
        line=line, kind=kind, target=target.strip(), section=section.strip() or None, alias=alias.strip() or None
    )


def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"maxNesting": MOST_NESTING}).enable(["table", "strikethrough"])
    rules = made.inline.ruler
    rules.before("link", "wiki", _wiki)
    rules.before("wiki", "tag", _tag)
    rules.at("link", _with_paths(link_rule, "markdown", "link_open", "href"))
    rules.at("image", _with_paths(image_rule, "image", "image", "src"))
    return made


PARSER = _parser()
BLOCK_PARSER = MarkdownIt("commonmark", {"maxNesting": MOST_NESTING}).enable(["table"]).disable("inline")


def code_lines(text: str) -> set[int]:
    """Return the lines, from 0, that are in fences or indented as code."""
    return {
        line
        for token in BLOCK_PARSER.parse(text)
        if token.type in {"fence", "code_block"} and token.map
        for line in range(*token.map)
    }


def without_comments(text: str) -> str:
    """Return a text without comments; its lines keep their numbers."""
    if "<!--" not in text and "%%" not in text:
        return text
    code = code_lines(text)
    lines = text.split("\n")
    # What is code, is put back afterwards; a comment that begins before it takes it along.
    hidden = "\n".join("" if number in code else line for number, line in enumerate(lines))
    spans = [(begin, end) for begin, end, is_code in _spans(hidden) if not is_code]
    commented = {
        line for begin, end in spans for line in range(hidden.count("\n", 0, begin) + 1, hidden.count("\n", 0, end))
    }
    for begin, end in reversed(spans):
        hidden = hidden[:begin] + "\n" * hidden.count("\n", begin, end) + hidden[end:]
    return "\n".join(
        lines[number] if number in code and number not in commented else line
        for number, line in enumerate(hidden.split("\n"))
    )


def _spans(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where comments and code in lines are, and whether it is code; of two that overlap, the first one counts."""
    unclosed: set[str] = set()
    position = 0
    while (opening := OPENING.search(text, position)) is not None:
        position = opening.end()
        sign = opening[0]
        if sign in unclosed:
            continue
        end = _end(text, sign, position)
        if end < 0:
            unclosed.add(sign)
        elif sign in CLOSINGS or EMPTY_LINE.search(text, position, end) is None:
            yield opening.start(), end, sign not in CLOSINGS
            position = end


def _end(text: str, sign: str, position: int) -> int:
    """Return where what a sign opens ends; -1: nowhere."""
    if (closing := CLOSINGS.get(sign)) is not None:
        found = text.find(closing, position)
        return found + len(closing) if found >= 0 else -1
    closed = re.compile(f"(?<!`){sign}(?!`)").search(text, position)
    return closed.end() if closed is not None else -1


def _without_code(text: str) -> str:
    """Return inline text with blanks for code."""
    if "`" not in text:
        return text
    for begin, end, is_code in _spans(text):
        if is_code:
            text = text[:begin] + NOT_BREAKS.sub(" ", text[begin:end]) + text[end:]
    return text


def marks(text: str, skipped: int = 0) -> Marks:
    """Find the marks of a text.

    Args:
        text: Markdown without frontmatter, lines ended by LF.
        skipped: lines that stand before the text in its file.
    """
    found = Marks()
    env: dict[str, object] = {}
    level, row, item = 0, 0, False
    for token in BLOCK_PARSER.parse(without_comments(text), env):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "list_item_open":
            item = True
        elif token.type == "tr_open" and token.map:
            row = token.map[0]
        elif token.type in {"fence", "code_block", "html_block"}:
            item = False
        elif token.type == "inline":
            found.line = (token.map[0] if token.map else row) + 1 + skipped
            _inline(found, token, env, level, item)
            level, item = 0, False
    return found


def _inline(found: Marks, token: Token, env: dict[str, object], level: int, item: bool) -> None:
    text = token.content
    if len(text) > MOST_INLINE_CHARS:
        found.too_long += 1
        return
    children: list[Token] = []
    if PLAIN.fullmatch(text) is None:
        found.source = text
        children = PARSER.inline.parse(text, PARSER, {**env, FOUND: found}, [])
    lines = tuple(Line(found.line + number, line) for number, line in enumerate(_without_code(text).split("\n")))
    found.paragraphs.append(Paragraph(lines, item, level > 0))
    _lines(found, lines)
    if level:
        shown = "".join(_shown(children)) if children else text
        title = BLOCK_ID.sub("", shown).strip()
        found.headings.append(Heading(line=found.line, level=level, text=title))


def _shown(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type in {"text", "code_inline", "image"}:
            yield token.content


def _lines(found: Marks, lines: Sequence[Line]) -> None:
    properties = []
    for number, text in lines:
        for block in BLOCK_LINK.finditer(text):
            kind: LinkKind = "embed" if MACRO.search(text, 0, block.start()) else "block"
            found.links.append(Link(line=number, kind=kind, target="", section=f"^{block[1]}"))
        if "::" in text and (written := PROPERTY.fullmatch(text)) is not None:
            key, value = written[1].lower(), written[2].strip()
            properties.append(number)
            found.properties.append((number, key, value))
            if key == "id" and value:
                found.blocks.setdefault(value, lines[0].number)
    last = BLOCK_ID.search(lines[-1].text)
    if last is not None:
        found.blocks.setdefault(last[1], lines[0].number)
    if len(found.paragraphs) == 1 and len(properties) == len(lines):
        found.is_page = frozenset(properties)
