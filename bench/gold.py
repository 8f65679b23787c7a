"""Reads ``bench/gold``: conversations with labels of what they say. ``bench/gold/README.md`` has the format.

``kept`` is opened only when it is asked for by name, so that nobody looks at it by accident.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Literal, TypeVar

import msgspec

from memsvc.errors import ConfigurationError
from memsvc.sources.messages import MessageIn

T = TypeVar("T")

FOLDER = Path(__file__).resolve().parent / "gold"
SETS = ("open", "practice", "kept")
LIFE = ("life/open", "life/kept")
"""Sets whose labels ``bench.life`` reads."""
LABELS = ".gold.jsonl"
"""How the files with labels end."""
SYMMETRIC = frozenset({"KNOWS", "FAMILY_OF"})
"""Edge types that say the same in both directions."""
PAST = "past"
"""An end that is over, unknown since when."""


class Said(msgspec.Struct, frozen=True):
    """A turn."""

    conversation_id: str
    session_id: str
    session_time: datetime
    turn_id: str
    speaker: str
    role: Literal["user", "assistant"]
    text: str

    def message(self) -> MessageIn:
        """The turn as a client would send it."""
        return MessageIn(
            conversation=self.conversation_id, session=self.session_id, id=self.turn_id, speaker=self.speaker,
            role=self.role, text=self.text, said_at=self.session_time.isoformat(),
        )  # fmt: skip


class GoldEntity(msgspec.Struct, frozen=True, eq=False, tag_field="record", tag="entity"):
    """Somebody or something that is spoken of."""

    id: str
    type: str
    names: tuple[str, ...]
    turns: tuple[str, ...]
    required: bool


class GoldFact(msgspec.Struct, frozen=True, eq=False, tag_field="record", tag="fact"):
    """Two entities are so related."""

    id: str
    start: str = msgspec.field(name="from")
    type: str
    end: str = msgspec.field(name="to")
    turn: str
    quote: str
    since: str | None
    """An ISO date, month or year."""
    until: str | None
    """The same, or ``PAST``."""
    required: bool
    also: tuple[str, ...]
    """Other types that would be fair."""
    replaces: str | None


class NotFact(msgspec.Struct, frozen=True, eq=False, tag_field="record", tag="not_fact"):
    """What would be wrong to say, though the words tempt to it."""

    start: str = msgspec.field(name="from")
    type: str
    end: str = msgspec.field(name="to")
    turn: str
    why: str


class Labels(msgspec.Struct, frozen=True):
    """The records of ``NAME.gold.jsonl``, by their kind."""

    entities: list[GoldEntity]
    facts: list[GoldFact]
    not_facts: list[NotFact]


@dataclass(frozen=True)
class Conversation:
    """A conversation with its labels."""

    name: str
    turns: Sequence[Said]
    labels: Labels

    @cached_property
    def owner(self) -> str:
        """Whose memory it becomes: the first who speaks as a user."""
        return next(turn.speaker for turn in self.turns if turn.role == "user")

    @property
    def zone(self) -> str:
        """An IANA zone on whose clock the first turn was said."""
        offset = self.turns[0].session_time.utcoffset() or timedelta()
        hours, rest = divmod(int(offset.total_seconds()), 3_600)
        return "UTC" if rest or not hours else f"Etc/GMT{-hours:+d}"

    @property
    def ended(self) -> datetime:
        """A moment a day behind the last turn: what is over by then is over."""
        return max(turn.session_time for turn in self.turns) + timedelta(days=1)

    @cached_property
    def clocks(self) -> Mapping[str, tzinfo]:
        """Turn -> the offset of the place where it was said."""
        return {
            turn.turn_id: timezone(turn.session_time.utcoffset() or timedelta()) for turn in self.turns
        }  # fmt: skip


def load(name: str) -> list[Conversation]:
    """The conversations of one of ``SETS``, or of ``LIFE`` without labels, by name.

    Raises:
        ConfigurationError: there is no such set.
    """
    if name not in (*SETS, *LIFE):
        raise ConfigurationError(f"There is no gold {name!r}.", hint=f"One of: {', '.join((*SETS, *LIFE))}.")
    return [
        Conversation(
            path.stem,
            [*_records(path, Said)],
            Labels([], [], []) if name in LIFE else read_labels(path.with_suffix(LABELS)),
        )
        for path in sorted((FOLDER / name).glob("*.jsonl"))
        if not path.name.endswith(LABELS)
    ]


def read_labels(path: Path) -> Labels:
    """The labels of one file ``NAME.gold.jsonl``."""
    labels = Labels([], [], [])
    for record in _records(path, GoldEntity | GoldFact | NotFact):
        match record:
            case GoldEntity():
                labels.entities.append(record)
            case GoldFact():
                labels.facts.append(record)
            case NotFact():
                labels.not_facts.append(record)
    return labels


def _records(path: Path, kind: type[T] | UnionType) -> Iterator[T]:
    """What the lines of a file hold, one record a line."""
    for line in path.read_bytes().splitlines():
        if line.strip():
            yield msgspec.json.decode(line, type=kind)
