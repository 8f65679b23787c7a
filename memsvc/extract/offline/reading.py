"""What the offline extractor knows about a turn before it looks for facts: its grammar, and whom and what it names.

``names`` and its neighbours fill it; the pattern modules only ask it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from memsvc.extract.window import Turn


class Status(Enum):
    """Whether what a verb says is so."""

    SO = "so"
    """It is said to be so, now or at the time told."""
    WAS = "was"
    """It was so and is over: "used to", "back when I", "not any more"."""
    NOT = "not"
    """It is denied."""
    OPEN = "open"
    """A question, a condition, a wish, a guess, irony, or somebody else's words: no fact."""


class Reading(Protocol):
    """A turn, parsed; keys are those of ``Extraction.entities``."""

    turn: Turn
    index: int
    """Of the turn, in the window."""
    doc: Doc

    def status(self, verb: Token) -> Status:
        """Whether what this verb, or predicate, says is so."""

    def person(self, token: Token) -> int | None:
        """The person that a token means, by name, pronoun ("I", "we", "she") or description ("my sister").

        None: nobody who can be told apart.
        """

    def entity(self, token: Token, *types: str) -> int | None:
        """Whom or what the noun phrase around a token means; one is made where it is new and worth a node.

        Args:
            token: the head of the phrase.
            types: what it must be, the likeliest first; none: anything.

        None: a pronoun without antecedent, something that says nothing ("thing", "lot", "something").
        """

    def made(self, name: str, kind: str, token: Token) -> int:
        """An entity that no noun phrase names: a task ("learn to weld"), an emotion ("lonely")."""
