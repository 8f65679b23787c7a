"""Whether a quote stands in a text, and where: exactly, else with other spaces, quotation marks, dashes or capitals."""

from __future__ import annotations

import unicodedata

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


def find_quote(text: str, quote: str, near: int = 0) -> Span | None:
    """Where a quote stands in a text; None: nowhere, or it is nothing but signs.

    Args:
        text: what was said.
        quote: what is said to be a piece of it.
        near: of several places the first one from here on counts, else the first.
    """
    wanted = quote.strip()
    if len(wanted) > LONGEST or not any(letter.isalnum() for letter in wanted):
        return None
    found = text.find(wanted, near)
    found = text.find(wanted) if found < 0 else found
    if found >= 0:
        return found, found + len(wanted)
    compared, places = _plain(text)
    looked_for = _plain(wanted)[0].strip()
    begin = compared.find(looked_for)
    if begin < 0 or not looked_for:
        return None
    return places[begin], places[begin + len(looked_for) - 1] + 1


def find_name(text: str, name: str) -> Span | None:
    """Where a name stands in a text as words of its own; None: nowhere."""
    begin = 0
    while True:
        found = find_quote(text[begin:], name)
        if found is None:
            return None
        span = (found[0] + begin, found[1] + begin)
        inside = (span[0] and text[span[0] - 1].isalnum()) or (span[1] < len(text) and text[span[1]].isalnum())
        if not inside or not text[span[0]].isascii():
            return span
        begin = span[1]
