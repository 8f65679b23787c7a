"""Split long messages at sentence ends into passages that fit an embedder's window.

The joined parts are exactly the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memsvc.text.sentences import sentences
from memsvc.text.tokens import estimate_tokens

PIECE = re.compile(r"\s*\S+\s*|\s+")


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
