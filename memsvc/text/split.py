"""Splits long messages at sentence ends into passages that fit an embedder's window.

The parts joined together are the message to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memsvc.text.tokens import estimate_tokens

# Where a sentence ends, with the white space behind it: at closing signs or a line's end, and never inside a number.
# Each run of signs is tried once, from its beginning and as a whole: 200,000 dots take no longer than letters.
SENTENCE_END = re.compile(
    r"""
      (?<![.!?…]) [.!?…]++ ["'”’)\]]*+ (?: \s++ | \Z )   # Latin sentence end
    | [。！？]++ [」』”）]*+ \s*+                         # Chinese and Japanese sentence end
    | (?<!\s) [^\S\n]*+ \n \s*+                         # or the line's end
    """,
    re.VERBOSE,
)
PIECE = re.compile(r"\s*\S+\s*|\s+")


def sentences(text: str) -> Iterator[str]:
    """A text's sentences and lines, each with the white space behind it; joined they are the text."""
    begin = 0
    for found in SENTENCE_END.finditer(text):
        yield text[begin : found.end()]
        begin = found.end()
    if begin < len(text):
        yield text[begin:]


def _pieces(text: str, window: int) -> Iterator[str]:
    """Sentences; a sentence beyond the window falls into words, a word beyond it into equal stretches."""
    for sentence in sentences(text):
        if estimate_tokens(sentence) <= window:
            yield sentence
            continue
        for word in PIECE.findall(sentence):
            if estimate_tokens(word) <= window:
                yield word
                continue
            yield from (word[i : i + window] for i in range(0, len(word), window))


def split_text(text: str, window: int) -> list[str]:
    """Parts of a text, each estimated at no more than ``window`` tokens.

    Args:
        text: any text.
        window: tokens, at least 1.

    Returns:
        At least one part; ``"".join(parts) == text``.
    """
    if len(text) <= window or estimate_tokens(text) <= window:
        return [text]
    parts: list[str] = []
    current: list[str] = []
    filled = 0
    for piece in _pieces(text, window):
        size = estimate_tokens(piece)
        if current and filled + size > window:
            parts.append("".join(current))
            current, filled = [], 0
        current.append(piece)
        filled += size
    if current:
        parts.append("".join(current))
    return parts
