"""What the offline extractor knows about a turn before it looks for facts: its grammar, and whom and what it names.

``turns`` and its neighbours fill it; the pattern modules only ask it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from memsvc.extract.extraction import Entity
    from memsvc.extract.offline.names import Name
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


@dataclass(frozen=True, slots=True)
class Bond:
    """A relative or acquaintance that a phrase names: "my sister", "Tova's boss"; a fact of FAMILY_OF or KNOWS."""

    token: Token
    """The relation's noun."""
    whose: int
    """Key of the person from whom it counts."""
    who: int
    """Key of the relative."""
    relation: str
    """Lemma of the noun: sister, boss, friend."""
    family: bool
    """Relatives and partners; otherwise friends, neighbours, people of work and school."""
    over: bool = False
    """ "ex", "former", "late", "old" (of a boss): it is not so any more."""


class Reading(Protocol):
    """A turn, parsed; keys are those of ``Extraction.entities``.

    The text that was parsed is not quite the turn's: spellings of chats are written out ("u", "im", "gonna"), what is
    no speech (code, quotations, tables) is left out, and an "I" stands before a sentence that starts with a verb
    without subject ("Got a new bike!"). So signs of ``doc`` are no signs of ``turn.text``: quote by ``words``.
    """

    turn: Turn
    index: int
    """Of the turn, in ``Window.turns``; negative for turns of ``Window.before``, which are context only."""
    doc: Doc
    now: datetime
    """When it was said, on the owner's clock."""
    speaker: int | None
    """Key of who says it: "I"."""
    partner: int | None
    """Key of whom it is said to, in a chat of two people: "you"."""

    heard: bool
    """An assistant's, or a system's: context only."""
    silent_of: frozenset[int]
    """Of whom it tells nothing, as keys: the author and the owner, where the words are another's in the message."""

    @property
    def earlier(self) -> Sequence[Reading]:
        """The turns before, the last one first, with those that are only heard."""

    @property
    def names(self) -> Sequence[Name]:
        """Its proper names, in order; ``entity`` tells what each means."""

    @property
    def bonds(self) -> Sequence[Bond]:
        """All relatives and acquaintances that the turn names."""

    def status(self, verb: Token) -> Status:
        """Whether what this verb, or predicate, says is so.

        "would like/love/prefer to" and "can't wait" are wishes that are so; what is wished (the verb behind "want to",
        "hope to", "would love to") is OPEN. "will" and "going to" are SO without "maybe".
        """

    def person(self, token: Token) -> int | None:
        """The person that a token means, by name, pronoun ("I", "we", "she", "my") or description ("my sister").

        None: nobody who can be told apart.
        """

    def entity(self, token: Token, *types: str) -> int | None:
        """Whom or what the noun phrase around a token means; one is made where it is new and worth a node.

        Args:
            token: the head of the phrase.
            types: what it must be, the likeliest first, which an unnamed thing becomes; none: anything.

        None: a pronoun without antecedent, something that says nothing ("thing", "lot", "something"), another type.
        """

    def made(self, name: str, kind: str, token: Token) -> int:
        """An entity that no noun phrase names: a task ("learn to weld"), an emotion ("lonely")."""

    def whose(self, key: int) -> Entity:
        """An entity as known so far, with what it is to whom (``of``, ``relation``)."""

    def shares_name(self, key: int) -> bool:
        """Whether somebody else of the window has the same name."""

    def words(self, first: Token, last: Token) -> str:
        """The turn's own words from one token to another; verbatim, at most 200 characters."""
