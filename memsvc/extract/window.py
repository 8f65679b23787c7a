"""What an extractor is given: some turns of one conversation, and what is known that they may speak of.

Nothing in it is an id of the database but the passages' own: nodes are small numbers (``Candidate.number``), so that a
model can name them and can name no others.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import msgspec

OWNER = 0
"""The number of the candidate that stands for the memory's owner; it is always there."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A passage: a message, or a part of a long one."""

    passage_id: UUID
    speaker: str
    """As stored; may be empty."""
    role: str
    """user, assistant, system or tool."""
    other: bool = False
    """Its role was other: whoever sent it says that it is not the owner who speaks."""
    text: str
    """Quotes are verbatim pieces of it."""
    opening: str = ""
    """How the message begins of which this is a later part; empty: this begins one."""
    caption: str = ""
    """What a shared picture shows; context, never quoted."""
    said_at: datetime
    """Aware, with the offset of the place where it was said."""
    language: str = "english"


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A node that the turns may speak of."""

    number: int
    """From 0, in the order of the window's list."""
    node_id: UUID
    label: str
    type: str
    aliases: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    """What it is to the owner, as words of the data of edges: sister, boss, dog. For "my sister"."""
    roles: tuple[tuple[int, str], ...] = ()
    """The same to the owner and to those who speak: their numbers, and words."""


class EdgeType(msgspec.Struct, frozen=True, kw_only=True):
    """An edge type that may be used."""

    name: str
    from_types: frozenset[str] = frozenset()
    """Empty: any."""
    to_types: frozenset[str] = frozenset()
    functional: bool = False
    description: str = ""


class Ontology(msgspec.Struct, frozen=True, kw_only=True):
    """Types that may be used: the core, and those of the user that were approved."""

    node_types: frozenset[str]
    edge_types: dict[str, EdgeType]


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Turns of one conversation, to be read together."""

    turns: tuple[Turn, ...]
    """To be read, in the order in which they were said; facts come from these only."""
    before: tuple[Turn, ...] = ()
    """Said just before them, read already: context for "she", "there", "no, Porto"."""
    candidates: tuple[Candidate, ...]
    """The owner first, then the conversation's people, then the others."""
    speakers: dict[str, int | None]
    """Each speaker's candidate; None: somebody who is not known yet. "I" of a turn is its speaker."""
    zone: str = "UTC"
    """The owner's, IANA name."""
    ontology: Ontology
