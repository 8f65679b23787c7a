"""Read a source for one owner, and say what it has before anything is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from memsvc.access.users import Owner, valid_zone
from memsvc.errors import InvalidRequestError, InvalidTimeError
from memsvc.sources.finding import Forced, Source
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.table import Table
from memsvc.sources.messages import MessageIn, refused_of
from memsvc.sources.origins import ORIGIN
from memsvc.sources.times import SaidAt, parse_time

NAMED = 5
"""Messages that are left out for their length and named by their position; more are only counted."""


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """A speaker of a source."""

    speaker: str
    """Empty: the source names none."""
    role: str
    messages: int


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a source has, as it would be stored."""

    messages: int
    conversations: int
    speakers: list[Speaker]
    """Those with most messages first."""
    first_said_at: datetime | None
    last_said_at: datetime | None
    owner: list[str]
    """The names of the speakers who are the owner of the memory; empty: none is."""
    must_ask: bool
    """Whether several people speak and it is not known which of them is the owner. Where roles say it, only if the
    caller named the owner, and nobody has that name."""
    odd: dict[str, int]
    """What is left out or looks strange, each with how often."""


@dataclass(slots=True, kw_only=True)
class Choices:
    """What the caller wants."""

    kind: str | None = None
    """Read everything as this kind; None: recognise it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Read everything as a chat in CSV: the column of each field; empty: it is none."""
    me: Sequence[str] = ()
    """Names or ids of the speaker who is the owner."""
    is_nobody: bool = False
    """The owner is none of the speakers."""
    since: datetime | None = None
    """Leave out what was said before."""
    title: str = ""
    """The name for people of what is read, if it is one conversation or document; empty: its own."""
    url: str | None = None
    """Where it was fetched; None: it was not."""

    @property
    def forced(self) -> Forced:
        """The kind that everything is read as.

        Raises:
            InvalidRequestError: another kind is named beside the columns.
        """
        if not self.columns:
            return self.kind
        if self.kind not in {None, Table.name}:
            raise InvalidRequestError(f"{self.kind} has no columns to name.", hint="Leave out the kind.", field="map")
        return Table(self.columns)


@dataclass(slots=True)
class Reader:
    """Reads sources for one owner."""

    owner: Owner
    names: Sequence[str]
    """The owner's names."""
    choices: Choices = field(default_factory=Choices)
    max_text_chars: int | None = None
    """A longer message of an export is left out; None: none is."""

    def read(self, source: Source, odd: Counter[str] | None = None) -> Iterator[Placed]:
        """Yield a source's messages as they are stored: with their origin, since the chosen time."""
        zone = valid_zone(self.owner.time_zone)
        me = frozenset(name.casefold() for name in (*self.names, *self.choices.me))
        reading = Reading(me, zone, Counter() if odd is None else odd)
        name, kind = source.bundle.name, source.kind.name
        for placed in source.kind.read(source.bundle, reading):
            message = placed.message
            since = self.choices.since
            if since is not None and message.said_at is not None and _said(placed, self.owner) < since:
                reading.odd[f"messages before {since.astimezone(zone).date()}"] += 1
                continue
            if source.kind.is_export and self._is_too_long(message):
                reading.odd[self._too_long(placed, reading.odd)] += 1
                continue
            origin = {"kind": kind, "file": name, **placed.origin}
            if self.choices.url is not None:
                origin.setdefault("url", self.choices.url)
            message.metadata = {ORIGIN: origin, **message.metadata}
            refused = refused_of(message, self.owner) if source.kind.is_export else None
            if refused is not None:
                reading.odd[f"messages with a {refused[1]}, which are refused"] += 1
                continue
            yield placed._replace(title=self.choices.title) if self.choices.title else placed

    def _is_too_long(self, message: MessageIn) -> bool:
        return self.max_text_chars is not None and len(message.text) > self.max_text_chars

    def _too_long(self, placed: Placed, odd: Counter[str]) -> str:
        """Return how a message that is too long is counted: the first ones by their position."""
        what = f"messages of more than {self.max_text_chars:,} characters"
        named = sum(name.startswith(f"{what} (") for name in odd)
        return f"{what} ({placed.where})" if named < NAMED else what

    def preview(self, source: Source, check: Callable[[MessageIn], SaidAt | None] = lambda _: None) -> Preview:
        """Read a source completely.

        Args:
            source: the source.
            check: called with each message; returns when it was said, if it has read that. What it raises gets the
                position.

        Raises:
            BadFileError, InvalidRequestError: a message is bad; names the position.
        """
        speakers: Counter[tuple[str, str]] = Counter()
        conversations: set[str] = set()
        odd: Counter[str] = Counter()
        first: datetime | None = None
        last: datetime | None = None
        for placed in self.read(source, odd):
            message = placed.message
            try:
                checked = check(message)
            except InvalidRequestError as error:
                raise type(error)(f"{placed.where}: {error.message}", hint=error.advice) from error
            speakers[message.speaker, message.role] += 1
            conversations.add(message.conversation)
            if message.said_at is not None:
                moment = checked.moment if checked is not None else _said(placed, self.owner)
                first = moment if first is None else min(first, moment)
                last = moment if last is None else max(last, moment)
        owners = [speaker for (speaker, role), _ in speakers.most_common() if role == "user"]
        people = {speaker for speaker, role in speakers if role in {"user", "other"}}
        asks = (source.kind.has_people or bool(self.choices.me)) and not self.choices.is_nobody
        return Preview(
            messages=speakers.total(),
            conversations=len(conversations),
            speakers=[
                Speaker(speaker=speaker, role=role, messages=count) for (speaker, role), count in speakers.most_common()
            ],
            first_said_at=first,
            last_said_at=last,
            owner=owners,
            must_ask=asks and not owners and len(people) > 1,
            odd={what: count for what, count in odd.most_common() if count},
        )


def _said(placed: Placed, owner: Owner) -> datetime:
    try:
        return parse_time(placed.message.said_at or "", valid_zone(owner.time_zone)).moment
    except InvalidTimeError as error:
        raise InvalidTimeError(f"{placed.where}: {error.message}", hint=error.advice) from error
