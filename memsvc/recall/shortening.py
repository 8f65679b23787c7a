"""A message in few words: of a long one the sentences that say what was asked for. For contexts of the mode eager."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from memsvc.text.sentences import sentences
from memsvc.text.split import PIECE

LEAST, ENDING = 3, 3
"""A word counts by its beginning, without so many letters of its ending: the query may have another form of it."""
LEFT_OUT = "…"


def shortened(text: str, words: Sequence[str], chars: int) -> str:
    """A stretch of a text: whole sentences, from one that says a word on, and most of the words.

    Args:
        text: any text.
        words: what to look for; none: its beginning.
        chars: longest stretch in characters, at least 1; the signs of what was left out come on top of it.

    Returns:
        The text itself where it is no longer; of a sentence that is longer, whole words.
    """
    if len(text) <= chars:
        return text
    pieces = list(_pieces(text, chars))
    begins = [0, *accumulate(map(len, pieces))]
    stems = {word.casefold()[: max(LEAST, len(word) - ENDING)] for word in words}
    said = [{stem for stem in stems if _says(piece.casefold(), stem)} for piece in pieces]
    first, last = 0, _end(begins, 0, chars)
    most = 0
    for begin in (place for place, found in enumerate(said) if found):
        end = _end(begins, begin, chars)
        if (different := len(set().union(*said[begin:end]))) > most:
            first, last, most = begin, end, different
    while first and begins[last] - begins[first - 1] <= chars:  # the end of the text left room
        first -= 1
    kept = "".join(pieces[first:last]).strip()
    before, behind = (f"{LEFT_OUT} " if first else ""), (f" {LEFT_OUT}" if last < len(pieces) else "")
    return f"{before}{kept}{behind}"


def _says(text: str, stem: str) -> bool:
    """Whether a word of a text begins so. Words of scripts without capitals may stand in a row without a gap."""
    at = text.find(stem)
    while at > 0 and text[at - 1].lower() != text[at - 1].upper():
        at = text.find(stem, at + 1)
    return at >= 0


def _end(begins: Sequence[int], begin: int, chars: int) -> int:
    """Behind the last piece of a stretch that begins with a piece."""
    end = begin + 1
    while end + 1 < len(begins) and begins[end + 1] - begins[begin] <= chars:
        end += 1
    return end


def _pieces(text: str, chars: int) -> Iterator[str]:
    """Sentences; a longer one falls into words, a longer word into equal stretches."""
    for sentence in sentences(text):
        if len(sentence) <= chars:
            yield sentence
            continue
        for word in PIECE.findall(sentence):
            yield from (word[at : at + chars] for at in range(0, len(word), chars))
