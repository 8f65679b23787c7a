"""What an extractor gives back, the same for all of them; ``validation`` trusts nothing in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable
from uuid import UUID

import msgspec

from memsvc.db.engine import Database
from memsvc.extract.window import Window

Change = Literal["holds", "ended", "corrects"]
"""holds: it is so (from ``since`` on, if told); ended: it is not so any more, since ``until`` or the time said;
corrects: it is so, and what was said of the same relation before was wrong ("no, Porto")."""


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody or something that the turns speak of."""

    key: int
    """Names it within this extraction."""
    name: str
    """As people would call it: a proper name, or a short noun phrase ("blue van", "sister")."""
    type: str
    """A node type."""
    known: int | None = None
    """The candidate that it is, where that is certain."""
    named: bool = True
    """It has a proper name; otherwise the name only describes it."""
    aliases: tuple[str, ...] = ()
    """Other proper names of it that the turns give."""
    of: int | None = None
    """For a description that counts from somebody ("my sister", "her dog"): that entity's key."""
    relation: str = ""
    """What it is to ``of``: sister, boss, dog."""
    turn: int = 0
    """Where it is first spoken of: index in ``Window.turns``."""
    quote: str = ""
    """The words there; verbatim."""


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Two entities are so related."""

    subject: int
    """An entity's key."""
    type: str
    """An edge type."""
    object: int
    """An entity's key."""
    sentence: str
    """The fact as a sentence of its own, with names instead of "I" and "she"."""
    turn: int
    """Index in ``Window.turns``."""
    quote: str
    """Words of that turn that say so; verbatim."""
    since: datetime | None = None
    """Aware; from when it is so. None: the text does not say."""
    until: datetime | None = None
    """Aware; the first moment at which it was not so any more."""
    change: Change = "holds"
    earlier: bool = False
    """It began some time before it was said; nobody knows when. Only where ``since`` is None."""
    lasts: bool = False
    """With ``earlier``: it is said to go on still ("we've lived in Leeds for years")."""
    moved: bool = False
    """It is said to be the new home: what was the home before is over."""
    never: bool = False
    """With "ended": it was planned, and will not be. Where it had not begun by then it never was; of a plan that nobody
    knew of, nothing is written."""
    accepted: int | None = None
    """Of a fact in an assistant's turn: the turn in which a person accepted or confirmed it."""
    confidence: float = 1.0
    """Above 0, at most 1; below ``validation.DOUBTFUL`` a person is asked."""
    data: dict[str, Any] = {}
    """Further properties, as ``relation`` of FAMILY_OF and KNOWS: what the object is to the subject; ``beside``, true:
    it holds beside another value of a type that has one value at a time ("I also work at Lidl")."""


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn sounds, and how much it matters."""

    turn: int
    sentiment: float | None = None
    """-1 (bad) to 1 (good)."""
    importance: int | None = None
    """1 (trivial) to 10 (life-changing)."""


class ProposedType(msgspec.Struct, frozen=True, kw_only=True):
    """A type that the ontology lacks; a person decides."""

    kind: Literal["node", "edge"]
    name: str
    description: str
    turn: int


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """What some turns say."""

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    signs: tuple[Signs, ...] = ()
    proposed: tuple[ProposedType, ...] = ()


class Extractor(Protocol):
    """Reads windows. Made once a process, used by several threads' event loops; keeps nothing between calls."""

    @property
    def name(self) -> str:
        """Who asserts what it finds, with a version that changes whenever it would find something else.

        For example ``offline/2``, ``llm:gpt-5-mini/1``.
        """

    async def extract(self, window: Window) -> Extraction:
        """Read the turns of a window.

        Raises:
            ExtractorError, LlmError: it could not read them; the turns stay unread and the job tells why.
        """


@runtime_checkable
class Bound(Protocol):
    """An extractor whose work costs somebody something: whoever reads for a user asks for that user's own first."""

    def bound(self, db: Database, user_id: UUID) -> Extractor:
        """The same extractor for a user: it keeps account of what it spends, and keeps to the user's budget."""


def for_user(extractor: Extractor, db: Database, user_id: UUID) -> Extractor:
    """The extractor by which a user's turns are read."""
    return extractor.bound(db, user_id) if isinstance(extractor, Bound) else extractor
