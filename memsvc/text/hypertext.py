"""The text that a reader of HTML sees: without scripts, styles, comments and hidden elements.

What is hidden could carry instructions that a model obeys and no person sees. Quotations get "> " before each line, as
in plain mails, so that whoever reads the text can tell them apart.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

UNSEEN = frozenset({"head", "script", "style", "template", "noscript", "title", "object", "svg", "select", "textarea"})
APART = frozenset({"p", "blockquote", "pre", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Blocks with an empty line before and after them."""
BLOCKS = APART | {
    "div", "br", "hr", "li", "dl", "dt", "dd", "tr", "section", "article", "header", "footer", "address", "figure",
    "figcaption", "main", "nav", "aside", "form", "body",
}  # fmt: skip
"""Elements that begin a line."""
VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"})
HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|opacity\s*:\s*0*\.?0+\s*(?:;|$|!)"
    r"|(?:font-size|max-height|max-width)\s*:\s*0+(?:\.0+)?\s*(?:px|pt|em|rem|%)?\s*(?:;|$|!)",
    re.IGNORECASE,
)
BLANKS = re.compile(r"[ \t\r\n\f]+")
ONE_AT_A_TIME = frozenset({"p", "li", "dt", "dd", "td", "th", "tr", "option"})
"""Elements that end where another of their kind begins."""
SECTION = re.compile(r"<!\[[^>]{0,200}>|<!\[")
"""Outlook's conditions, such as <![if !supportLists]>."""
DEEPEST = 500
"""Elements within each other that are followed; deeper ones count as text of the last one."""


class _Reader(HTMLParser):
    """Collects the visible text, line by line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self._open: list[tuple[str, bool]] = []
        self._names: Counter[str] = Counter()
        self._hidden = 0
        self._quoted = 0
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ONE_AT_A_TIME and self._open and self._open[-1][0] == tag:
            self.handle_endtag(tag)
        self._break(tag)
        if tag == "li":
            self._write("- ")
        if tag in VOID or len(self._open) >= DEEPEST:
            return
        is_hidden = tag in UNSEEN or _is_hiding(dict(attrs))
        self._open.append((tag, is_hidden))
        self._names[tag] += 1
        self._hidden += is_hidden
        self._quoted += tag == "blockquote"
        self._kept += tag == "pre"
        if tag == "blockquote":
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self._names[tag]:
            return
        while self._open:  # what was not closed ends with the element around it
            name, was_hidden = self._open.pop()
            self._names[name] -= 1
            self._break(name)
            self._hidden -= was_hidden
            self._quoted -= name == "blockquote"
            self._kept -= name == "pre"
            if name == tag:
                break
        if tag in {"td", "th"}:
            self._write(" ")
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._kept:
            first, *others = data.split("\n")
            self._write(first)
            for line in others:
                self._end_line()
                self._write(line)
        else:
            self._write(BLANKS.sub(" ", data))

    def _write(self, text: str) -> None:
        if not self._hidden and text:
            line = self.lines[-1]
            if not line and self._quoted:
                line = "> " * self._quoted
            self.lines[-1] = line + (text if self._kept or not line.endswith(" ") else text.lstrip(" "))

    def _break(self, tag: str) -> None:
        if tag not in BLOCKS or self._hidden:
            return
        if self.lines[-1] or tag == "br":
            self._end_line()
        if tag in APART and len(self.lines) > 1 and self.lines[-2]:
            self._end_line()

    def _end_line(self) -> None:
        if not self._hidden:
            self.lines.append("")


def _is_hiding(attributes: dict[str, str | None]) -> bool:
    return "hidden" in attributes or HIDING.search(attributes.get("style") or "") is not None


def visible_text(html: str) -> str:
    """Return the text of HTML, with a line for each block; "" if nothing of it is visible."""
    reader = _Reader()
    reader.feed(SECTION.sub("", html))
    reader.close()
    text = "\n".join(line.replace("\u00a0", " ").rstrip() for line in reader.lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")
