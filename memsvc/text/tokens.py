"""Count tokens: an estimate that needs no model, and tokenizers from entry points.

The estimate is higher than WordPiece's count of English prose, so that a passage of 200 fits a window of 256.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import entry_points
from string import ascii_letters
from typing import Protocol

from memsvc.errors import TokenizerError, TokenizerUnknownError

LETTERS = frozenset(ascii_letters.encode())
BLANKS = frozenset(number for number in range(128) if chr(number).isspace())
KINDS = bytes(ord("a" if code in LETTERS else " " if code in BLANKS else ".") for code in range(256))
"""Maps each ASCII character to its kind: a letter, a blank or anything else."""
FULL = b"a" * 6
"""The most letters of a run that count as one token."""
OTHER_BLANK = re.compile(r"[^\S\x00-\x7f]")
ESTIMATE = "estimate"
ENTRY_POINTS = "memsvc.tokenizers"


class Tokenizer(Protocol):
    """Counts the tokens of a text as a certain model does."""

    def count(self, text: str) -> int:
        """Return the number of tokens of the text."""


def estimate_tokens(text: str) -> int:
    r"""Estimate how many WordPiece tokens a text has; each digit and each character outside ASCII counts as one.

    The result equals the matches of ``[a-zA-Z]{1,6}|\S``, but counting bytes takes a third of the time. Speed matters,
    because a context counts its pieces and then the whole.
    """
    kinds = text.encode("ascii", "replace").translate(KINDS)
    rests = b" " + kinds.replace(FULL, b"")  # what is left of runs of letters: fewer than six
    tokens = kinds.count(b".") + kinds.count(FULL) + rests.count(b" a") + rests.count(b".a")
    return tokens if text.isascii() else tokens - len(OTHER_BLANK.findall(text))  # they were counted as characters


class Estimate:
    """The default: ``estimate_tokens``."""

    def count(self, text: str) -> int:
        """Estimate the number of tokens of the text."""
        return estimate_tokens(text)


class Checked:
    """Wraps a third-party tokenizer and turns its failures into TokenizerError."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        """Wrap a tokenizer under its name."""
        self._name, self._tokenizer = name, tokenizer

    def count(self, text: str) -> int:
        """Return the number of tokens of the text.

        Raises:
            TokenizerError: the tokenizer fails, or does not return a number.
        """
        try:
            number: object = self._tokenizer.count(text)
        except Exception as error:
            raise TokenizerError(f"The tokenizer {self._name!r} failed with {type(error).__name__}.") from error
        if not isinstance(number, int) or number < 0:
            raise TokenizerError(
                f"The tokenizer {self._name!r} returned {type(number).__name__} instead of a number of tokens."
            )
        return number


def tokenizer_names() -> list[str]:
    """Return the names that ``tokenizer`` accepts."""
    return sorted({ESTIMATE, *(found.name for found in entry_points(group=ENTRY_POINTS))})


@lru_cache(maxsize=32)
def tokenizer(name: str = ESTIMATE) -> Tokenizer:
    """Return a tokenizer by name: ``estimate``, or an entry point of ``memsvc.tokenizers`` called without arguments.

    Raises:
        TokenizerUnknownError: no tokenizer has this name.
        TokenizerError: the tokenizer cannot be loaded.
    """
    if name == ESTIMATE:
        return Estimate()
    for found in entry_points(group=ENTRY_POINTS, name=name):
        try:
            made: Tokenizer = found.load()()
        except Exception as error:
            raise TokenizerError(f"The tokenizer {name!r} cannot be loaded: {type(error).__name__}.") from error
        return Checked(name, made)
    raise TokenizerUnknownError(
        f"There is no tokenizer {name[:60]!r}.", hint=f"Use one of: {', '.join(tokenizer_names())}.", field="tokenizer"
    )
