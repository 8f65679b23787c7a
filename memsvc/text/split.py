"""Split long messages at sentence ends into passages that fit an embedder's window.

The joined parts are exactly the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memsvc.text.tokens import estimate_tokens

# The end of a sentence and the white space after it: closing punctuation or a line's end, never inside a number.
# Each run of punctuation is tried once, from its start and as a whole: 200,000 dots take no longer than letters.
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
    """Yield a text's sentences and lines, each with the white space after it; joined, they are the text."""
    begin = 0
    for found in SENTENCE_END.finditer(text):
        yield text[begin : found.end()]
        begin = found.end()
    if begin < len(text):
        yield text[begin:]


def _pieces(text: str, window: int) -> Iterator[str]:
    """Yield sentences; split those longer than the window into words, and longer words into equal pieces."""
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
    """Split a text into parts, each estimated at no more than ``window`` tokens.

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
