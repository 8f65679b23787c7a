"""What a kind of source is: the interface of built-in kinds and of the entry points ``memsvc.sources``.

A kind recognises its files by their content and yields their messages in order. Everything else is done once for all
kinds in ``memsvc.sources.ingesting``: previews, the owner, limits, batches, resuming and storing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple, Protocol
from zoneinfo import ZoneInfo

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.messages import MessageIn


class Detection(NamedTuple):
    """How sure a kind is that files are its own."""

    sure: float = 0.0
    """0 (not mine) to 1. Below 0.5 nothing is read."""
    why: str = ""
    """What it was recognised by, for people: "the field mapping"."""
    files: tuple[str, ...] = ()
    """The files of the bundle that the kind takes for itself."""


NOT_MINE = Detection()


class Placed(NamedTuple):
    """A message with the position it was read from."""

    where: str
    """For people: "chat.jsonl, line 3"."""
    message: MessageIn
    origin: Mapping[str, Any] = {}
    """The locator: line, id, page, second or url. It is kept in the message's metadata as ``origin``."""
    title: str = ""
    """The conversation's name for people, if its identifier is another one."""
    is_trace: bool = False
    """Whether it is kept and recalled only on request, whatever its role: it was not shown any more."""
    may_grow: bool = False
    """Whether a later export may have more words at its end. They are then stored as a message of their own."""


@dataclass(slots=True)
class Reading:
    """What a kind needs to know to read, and where it reports what it left out."""

    me: Collection[str] = frozenset()
    """Names and ids of the owner of the memory, casefolded."""
    zone: tzinfo = UTC
    """The owner's time zone, for times that come without any."""
    odd: Counter[str] = field(default_factory=Counter)
    """What was left out or looked strange, each with how often: "service messages"."""

    def is_me(self, *names: str | None) -> bool:
        """Return whether one of a speaker's names or ids is the owner's."""
        return any(name is not None and name.casefold() in self.me for name in names)

    def clock(self, seconds: float, where: str, zone: tzinfo | None = None) -> str:
        """Return a Unix time as ISO 8601 with the offset of a zone, by default the owner's.

        Raises:
            BadFileError: no calendar has this moment.
        """
        try:
            return datetime.fromtimestamp(seconds, zone or self.zone).isoformat()
        except (ValueError, OverflowError, OSError) as error:
            raise BadFileError(f"{where}: {seconds!r} is not a time.") from error


class Kind(Protocol):
    """One kind of source. An entry point of ``memsvc.sources`` names a class that is made without arguments."""

    name: str
    """For ``--as``: "telegram"."""
    title: str
    """For people: "an export of Telegram"."""
    has_people: bool
    """Whether people speak, so that it must be known which of them is the owner. False: roles say it."""
    is_export: bool
    """Whether a program wrote the files, with ids of its own. A message that is stored with other words or another
    speaker stays as it is then; of a file that a person wrote, it is an error."""

    def detect(self, bundle: Bundle) -> Detection:
        """Say whether a bundle is of this kind, by its content. Must be quick and must not raise for foreign files."""

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages in order, one by one, the same ones with the same ids at each call.

        Raises:
            BadFileError: the file is damaged, or not of this kind; names the position.
        """


class Names:
    """Speakers' names. Of two people with one name, the second gets the id after it."""

    def __init__(self) -> None:
        """Know nobody."""
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, identity: str, name: str) -> str:
        """Return the name of a person, the same at each call."""
        known = self._names.get(identity)
        if known is None:
            known = name if name not in self._taken else f"{name} ({identity})"
            self._taken.add(known)
            self._names[identity] = known
        return known


class Digests:
    """Ids for the messages of a program that gives none: made of what a later export has, too."""

    def __init__(self) -> None:
        """Start a file."""
        self._seen: Counter[str] = Counter()

    def of(self, *parts: str) -> str:
        """Return an id of some texts; the same texts again get another one, because people repeat themselves."""
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
        self._seen[digest] += 1
        return f"{digest}:{self._seen[digest]}"


def zone_called(name: str | None) -> tzinfo | None:
    """Return a time zone; None if there is none of this name."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, KeyError):  # an unknown key is a KeyError, a folder's name an OSError
        return None


def compact(**values: Any) -> dict[str, Any]:
    """Return the values that are there, as JSON would give them back."""
    found: dict[str, Any] = msgspec.to_builtins({name: value for name, value in values.items() if value})
    return found
