"""Counts tokens: estimates them for paths on which no model may run, and finds the tokenizers of others.

The estimate lies above what WordPiece makes of English prose, so that a passage of 200 fits a window of 256.
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
KINDS = bytes(ord("a" if sign in LETTERS else " " if sign in BLANKS else ".") for sign in range(256))
"""What each ASCII sign is: a letter, a blank or anything else."""
FULL = b"a" * 6
"""So many letters of a run are a token, at most."""
OTHER_BLANK = re.compile(r"[^\S\x00-\x7f]")
ESTIMATE = "estimate"
ENTRY_POINTS = "memsvc.tokenizers"


class Tokenizer(Protocol):
    """Counts the tokens of a text as some model does."""

    def count(self, text: str) -> int:
        """How many tokens the text has."""


def estimate_tokens(text: str) -> int:
    r"""About how many WordPiece tokens a text has; each digit and each sign outside ASCII counts as one.

    As many as ``[a-zA-Z]{1,6}|\S`` finds, by counting alone, which takes a third of the time: a context counts its
    pieces and then the whole.
    """
    kinds = text.encode("ascii", "replace").translate(KINDS)
    rests = b" " + kinds.replace(FULL, b"")  # of runs of letters, fewer than six
    tokens = kinds.count(b".") + kinds.count(FULL) + rests.count(b" a") + rests.count(b".a")
    return tokens if text.isascii() else tokens - len(OTHER_BLANK.findall(text))  # they were counted as signs


class Estimate:
    """The default: ``estimate_tokens``."""

    def count(self, text: str) -> int:
        """About how many tokens the text has."""
        return estimate_tokens(text)


class Checked:
    """A tokenizer of somebody else, whose failures are told as ours."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        """Keep it with its name."""
        self._name, self._tokenizer = name, tokenizer

    def count(self, text: str) -> int:
        """How many tokens the text has.

        Raises:
            TokenizerError: it fails, or gives no number.
        """
        try:
            number: object = self._tokenizer.count(text)
        except Exception as error:
            raise TokenizerError(f"The tokenizer {self._name!r} fails with {type(error).__name__}.") from error
        if not isinstance(number, int) or number < 0:
            raise TokenizerError(f"The tokenizer {self._name!r} gave {type(number).__name__} for a number of tokens.")
        return number


def tokenizer_names() -> list[str]:
    """Names that ``tokenizer`` knows."""
    return sorted({ESTIMATE, *(found.name for found in entry_points(group=ENTRY_POINTS))})


@lru_cache(maxsize=32)
def tokenizer(name: str = ESTIMATE) -> Tokenizer:
    """A tokenizer by name: ``estimate``, or an entry point of ``memsvc.tokenizers`` that is called without arguments.

    Raises:
        TokenizerUnknownError: there is none of that name.
        TokenizerError: it cannot be loaded.
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
        f"There is no tokenizer {name[:60]!r}.", hint=f"There are: {', '.join(tokenizer_names())}.", field="tokenizer"
    )
