"""User text as Markdown data, and names of users' things as file names.

Text that is shown means nothing to a reader of Markdown: no heading, list, link, picture, HTML, formula, tag or table
comes of it, in CommonMark, GitHub's dialect or a note-taking program. A file name made of it stays in its folder on
every common system.
"""

from __future__ import annotations

import re
import unicodedata
from uuid import UUID

from memsvc.text.characters import without_hidden

# What means something anywhere in a line; then what does at its beginning, doubled, or as a bare link.
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
    """A control character as its picture, or as the sign for what cannot be shown."""
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"  # noqa: PLR2004 - the pictures of C0 stand there in order


def _line(text: str) -> str:
    shown = CONTROLS.sub(_shown_control, text)
    shown = PAIRS.sub(r"\\\g<0>", SIGNS.sub(r"\\\g<0>", shown))
    begin = AT_BEGIN.match(shown)
    if begin is not None:
        sign = begin["sign"]
        rest = shown[begin.end() :]
        # A number is no list when the dot behind it is escaped.
        shown = begin["space"] + (f"{sign}\\{rest}" if sign.isdigit() else f"\\{sign}{rest}")
    return BLANKS.sub(lambda blank: "&nbsp;" * len(blank[0].expandtabs(4)), shown)


def inline(text: str) -> str:
    """Text within a line, all of it on one line, without signs that turn or hide the text behind them."""
    return _line(without_hidden(LINE_BREAKS.sub(" ", text)).strip())


def quote(text: str) -> str:
    """Text of any length as a quotation that ends with a line break; its lines stay lines."""
    lines = [_line(line).rstrip() for line in LINE_BREAKS.split(text)]
    quoted = ""
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        # A backslash at a line's end keeps the break; the mark on empty lines keeps the quotation whole.
        quoted += f"> {line}{BREAK if behind else ''}\n" if line else ">\n"
    return quoted


def file_stem(text: str, otherwise: str) -> str:
    """A name for a file, without its ending: letters, digits, dots inside and dashes, 100 bytes at most.

    Args:
        text: any text.
        otherwise: taken where nothing of the text is left.
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text))
    kept = "".join(sign if unicodedata.category(sign)[0] in "LNM" else "-" for sign in plain)
    stem = re.sub(r"-{2,}", "-", kept).strip("-")
    stem = stem.encode()[:MAX_STEM_BYTES].decode(errors="ignore").strip("-") or otherwise
    return f"{stem}-" if stem.casefold() in RESERVED else stem


class Names:
    """Gives each file of a folder a name of its own, also where case and normal form do not count."""

    def __init__(self) -> None:
        """Begin with none."""
        self._taken: set[str] = set()

    def take(self, stem: str) -> str:
        """The stem, or the stem with the first number that makes it new; the file's name."""
        number = 1
        name = stem
        while (key := unicodedata.normalize("NFD", name).casefold()) in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(key)
        return f"{name}.md"


def short_id(value: UUID) -> str:
    """Twelve signs of an id that tell it from others: its end, for its beginning is a time."""
    return value.hex[-12:]
