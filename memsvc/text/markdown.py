"""User text as Markdown data, and file names from user text.

Escaped text has no meaning as Markdown: it makes no heading, list, link, picture, HTML, formula, tag or table in
CommonMark, GitHub's dialect or a note-taking program. A file name made from user text cannot leave its folder on any
common system.
"""

from __future__ import annotations

import re
import unicodedata
from uuid import UUID

from memsvc.text.characters import without_hidden

# Special characters anywhere in a line; those that are special when doubled or in a bare link; those at a line's start.
SIGNS = re.compile(r"[\\`*_\[\]<>|~&$^@{}#]")
PAIRS = re.compile(r"%(?=%)|(?<=%)%|=(?==)|(?<==)=|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
AT_BEGIN = re.compile(r"^(?P<space>[ \t]*)(?P<sign>[-+=:]|\d{1,9}(?=[.)]))", re.ASCII)
BLANKS = re.compile(r"^[ \t\u00a0]+")
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
LINE_BREAKS = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")

BREAK = "\\"
MAX_STEM_BYTES = 100
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def _shown_control(found: re.Match[str]) -> str:
    """Return the visible picture of a control character, or the replacement character."""
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"  # noqa: PLR2004 - Unicode has pictures of C0


def _line(text: str) -> str:
    shown = CONTROLS.sub(_shown_control, text)
    shown = PAIRS.sub(r"\\\g<0>", SIGNS.sub(r"\\\g<0>", shown))
    begin = AT_BEGIN.match(shown)
    if begin is not None:
        sign = begin["sign"]
        rest = shown[begin.end() :]
        # A number does not start a list if the following dot is escaped.
        shown = begin["space"] + (f"{sign}\\{rest}" if sign.isdigit() else f"\\{sign}{rest}")
    return BLANKS.sub(lambda blank: "&nbsp;" * len(blank[0].expandtabs(4)), shown)


def inline(text: str) -> str:
    """Escape text for use within a line: on one line, without characters that reverse or hide the text after them."""
    return _line(without_hidden(LINE_BREAKS.sub(" ", text)).strip())


def quote(text: str) -> str:
    """Return text as a Markdown quotation that keeps its lines and ends with a line break."""
    lines = [_line(line).rstrip() for line in LINE_BREAKS.split(text)]
    quoted = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        # A backslash at the end keeps the line break; ">" on empty lines keeps the quotation in one piece.
        quoted += f"> {line}{BREAK if following else ''}\n" if line else ">\n"
    return quoted


def file_stem(text: str, otherwise: str) -> str:
    """Return a file name without its extension: letters, digits, marks and dashes, at most 100 bytes.

    Args:
        text: any text.
        otherwise: the name if nothing of the text is left.
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text))
    kept = "".join(char if unicodedata.category(char)[0] in "LNM" else "-" for char in plain)
    stem = re.sub(r"-{2,}", "-", kept).strip("-")
    stem = stem.encode()[:MAX_STEM_BYTES].decode(errors="ignore").strip("-") or otherwise
    return f"{stem}-" if stem.casefold() in RESERVED else stem


class Names:
    """Gives each file of a folder a unique name, even on systems that ignore case and Unicode normal form."""

    def __init__(self) -> None:
        """Start without names."""
        self._taken: set[str] = set()

    def take(self, stem: str) -> str:
        """Return a unique file name: the stem, with the lowest number that makes it unique if it is taken."""
        number = 1
        name = stem
        while (key := unicodedata.normalize("NFD", name).casefold()) in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(key)
        return f"{name}.md"


def short_id(value: UUID) -> str:
    """Return the last twelve characters of an id; the first ones are a time and differ less."""
    return value.hex[-12:]
