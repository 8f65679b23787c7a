"""Estimates how many tokens a text has, for paths on which no model may run.

The estimate lies above what WordPiece makes of English prose, so that a passage of 200 fits a window of 256.
"""

from __future__ import annotations

import re

# Runs of ASCII letters; everything else counts sign by sign.
WORD = re.compile(r"[a-zA-Z]+|\S")
LETTERS_A_TOKEN = 6


def estimate_tokens(text: str) -> int:
    """About how many WordPiece tokens a text has; each digit and each sign outside ASCII counts as one."""
    return sum(1 + (len(word) - 1) // LETTERS_A_TOKEN for word in WORD.findall(text))
