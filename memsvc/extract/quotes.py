"""Whether a quote stands in a text, and where: exactly, else with other spaces, quotation marks, dashes or capitals."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import chain

Span = tuple[int, int]
"""Characters of a text, from 0, the end not included."""
SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ´`", "'"),
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        "…": "...",
    }
)
LONGEST = 2_000
"""Characters of a quote; a longer one is none."""


def _plain(text: str) -> tuple[str, list[int]]:
    """A text in the form that is compared, and for each of its characters the place that it comes from."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        for plain in unicodedata.normalize("NFKC", letter.translate(SAME)).casefold():
            if not plain.isspace():
                letters.append(plain)
            elif letters and letters[-1] != " ":
                letters.append(" ")
            else:
                continue
            places.append(place)
    return "".join(letters), places


def _usable(wanted: str) -> bool:
    return len(wanted) <= LONGEST and any(letter.isalnum() for letter in wanted)


def _spans(text: str, wanted: str) -> Iterator[Span]:
    """Where a piece stands in a text, from left to right."""
    begin = text.find(wanted)
    while begin >= 0 and wanted:
        yield begin, begin + len(wanted)
        begin = text.find(wanted, begin + len(wanted))


def _loose_spans(text: str, wanted: str) -> Iterator[Span]:
    """The same, but for spaces, quotation marks, dashes and capitals."""
    compared, places = _plain(text)
    for begin, end in _spans(compared, _plain(wanted)[0].strip()):
        yield places[begin], places[end - 1] + 1


def find_quote(text: str, quote: str, near: int = 0) -> Span | None:
    """Where a quote stands in a text; None: nowhere, or it is nothing but signs.

    Args:
        text: what was said.
        quote: what is said to be a piece of it.
        near: of several places the first one from here on counts, else the first.
    """
    wanted = quote.strip()
    if not _usable(wanted):
        return None
    found = text.find(wanted, near)
    found = text.find(wanted) if found < 0 else found
    if found >= 0:
        return found, found + len(wanted)
    return next(_loose_spans(text, wanted), None)


def find_name(text: str, name: str) -> Span | None:
    """Where a name stands in a text as words of its own; None: nowhere."""
    wanted = name.strip()
    if not _usable(wanted):
        return None
    for span in chain(_spans(text, wanted), _loose_spans(text, wanted)):
        inside = (span[0] and text[span[0] - 1].isalnum()) or (span[1] < len(text) and text[span[1]].isalnum())
        if not inside or not text[span[0]].isascii():
            return span
    return None
