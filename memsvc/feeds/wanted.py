"""What a feed reads: how a door asks for it, how it is stored, and what each door may ask for.

A client of the API must never read the server's own files or its network. So paths over the API lie in folders that the
operator named (``MEMSVC_FEED_ROOTS``), and mailboxes, whose passwords the server keeps, are for the command line alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from memsvc.access.users import Owner
from memsvc.errors import FeedRefusedError, FolderMissingError, InvalidRequestError
from memsvc.settings import Settings
from memsvc.sources.fetching import check_url
from memsvc.sources.ingests import Chosen, chosen
from memsvc.text.characters import flat
from memsvc.text.storable import check_storable
from memsvc.times.rules import read_rule

Kind = Literal["folder", "url", "ics", "imap", "push"]
Takes = Literal["documents", "memory"]
Security = Literal["tls", "starttls", "none"]
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS = {"tls": 993, "starttls": 143, "none": 143}
MOST_NAME_CHARS, MOST_PATH_CHARS, MOST_PORT = 200, 4_000, 65_535
SECRET_PLACES = ("env", "file")


class Mailbox(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mailbox of an IMAP server."""

    host: str
    username: str
    port: int = 993
    mailbox: str = "INBOX"
    security: Security = "tls"
    """none: only for a server on the same machine."""


class Reads(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a feed reads and how, as it is stored."""

    path: str | None = None
    """Of a folder or a calendar's file: its absolute path."""
    url: str | None = None
    """Of an address or a calendar: where it is fetched."""
    imap: Mailbox | None = None
    takes: Takes = "documents"
    """Of a push: what its bodies are, those of POST /v1/documents or of POST /memory."""
    choices: Chosen = msgspec.field(default_factory=Chosen)


class FeedIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A feed to be added."""

    kind: Kind
    """folder: the files in it; url: an address; ics: a calendar; push: what another program sends. imap: a mailbox,
    which only the command line adds."""
    rule: str | None = None
    """When it is read, in the user's time zone: "every 2 hours", RRULE:FREQ=DAILY;BYHOUR=7 or five fields of cron.
    Every hour if left out. Not for a push."""
    name: str = ""
    """For people. Left out: the last part of its path or address. Of a push, required."""
    path: str | None = None
    """Of a folder or a calendar's file, in a folder that the operator allows (MEMSVC_FEED_ROOTS)."""
    url: str | None = None
    """Of an address or a calendar; fetched only if the operator allows it (MEMSVC_INGEST_URLS)."""
    takes: Takes = "documents"
    """Of a push: documents: bodies are those of POST /v1/documents as JSON; memory: those of POST /memory."""
    as_: str | None = msgspec.field(default=None, name="as")
    """Read everything as this kind. Left out: it is recognised."""
    me: list[str] = []
    """Names, addresses or ids of the speaker or attendee who is the user."""
    not_me: bool = False
    """The user is none of the speakers."""
    since: str | None = None
    """Leave out what was said before (ISO 8601)."""
    title: str = ""
    """The name for people of what is read. Left out: its own."""


@dataclass(frozen=True, slots=True)
class Door:
    """Who adds or changes a feed."""

    by_operator: bool = False
    """Somebody at the command line, who may read the server's files anyway."""
    key_id: str | None = None
    """The key whose limit of messages the feed counts against."""
    mailbox: Mailbox | None = None
    secret: str | None = None
    """Where the mailbox's password is: ``env:NAME`` or ``file:PATH``."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A feed that was checked."""

    identifier: str
    name: str
    rule: str | None
    reads: Reads

    def values(self) -> dict[str, Any]:
        """Return the values of its row."""
        return {
            "identifier": self.identifier, "name": self.name, "rule": self.rule,
            "settings": msgspec.json.encode(self.reads).decode(),
        }  # fmt: skip


DEFAULT_RULE = "every 1 hour"


def checked(asked: FeedIn, owner: Owner, settings: Settings, door: Door) -> Wanted:
    """Check a feed that a door asks for.

    Raises:
        InvalidRequestError: a value is missing, not of this kind of feed, or invalid.
        FeedRefusedError, UrlRefusedError, FolderMissingError: it may not be read, or is not there.
    """
    wanted = chosen(
        owner, kind=asked.as_, me=asked.me, not_me=asked.not_me, since=asked.since, title=asked.title
    )  # fmt: skip
    if asked.kind == "push":
        if asked.rule is not None:
            raise InvalidRequestError("A push has no rule: it is read when it comes.", field="rule")
    else:
        read_rule(asked.rule or DEFAULT_RULE)
    reads = _reads(asked, wanted, settings, door)
    check_storable(asked.name, "name")
    name = flat(asked.name) or _named(reads)
    if not 0 < len(name) <= MOST_NAME_CHARS:
        raise InvalidRequestError(f"name has 1 to {MOST_NAME_CHARS} characters.", field="name")
    rule = None if asked.kind == "push" else (asked.rule or DEFAULT_RULE).strip()
    return Wanted(_identifier(reads) or name, name, rule, reads)


def _reads(asked: FeedIn, wanted: Chosen, settings: Settings, door: Door) -> Reads:
    """Return what is to be read, if the door may ask for it."""
    given = {name for name in ("path", "url") if getattr(asked, name) is not None}
    allowed = {"folder": {"path"}, "url": {"url"}, "ics": {"path", "url"}}.get(asked.kind, set())
    if given - allowed or (allowed and len(given) != 1):
        needs = " or ".join(sorted(allowed)) or "neither path nor url"
        raise InvalidRequestError(
            f"A feed of the kind {asked.kind} needs {needs}.", field=(*sorted(given - allowed), needs)[0]
        )
    if asked.kind == "imap":
        return _mailbox_reads(wanted, door)
    reads = Reads(path=asked.path, url=asked.url, takes=asked.takes, choices=wanted)
    if asked.url is not None:
        check_storable(asked.url, "url")
        check_url(asked.url, settings)
    if asked.path is not None:
        path = readable_path(asked.path, settings, by_operator=door.by_operator)
        if path.is_dir() != (asked.kind == "folder"):
            raise FolderMissingError(f"{'A folder' if asked.kind == 'folder' else 'A file'} is needed.", field="path")
        reads = msgspec.structs.replace(reads, path=path.as_posix())
    return reads


def _mailbox_reads(wanted: Chosen, door: Door) -> Reads:
    """Return the mailbox that the command line names."""
    box = door.mailbox
    if not door.by_operator or box is None:
        raise FeedRefusedError("Only the operator adds mailboxes, because the server keeps their passwords.")
    for field, value in (("host", box.host), ("username", box.username), ("mailbox", box.mailbox)):
        check_storable(value, field)
        if not 0 < len(value) <= MOST_NAME_CHARS or not value.isprintable():
            raise InvalidRequestError(f"{field} has 1 to {MOST_NAME_CHARS} characters on one line.", field=field)
    if not 0 < box.port <= MOST_PORT:
        raise InvalidRequestError(f"A port is 1 to {MOST_PORT:,}.", field="port")
    if box.security == "none" and box.host not in LOOPBACK:
        raise InvalidRequestError("Without TLS only a server on this machine is read.", field="security")
    if (door.secret or "").partition(":")[0] not in SECRET_PLACES:
        raise InvalidRequestError("The password is named by a variable or a file.", field="secret")
    if not wanted.me and "@" in box.username:
        wanted = msgspec.structs.replace(wanted, me=[box.username])
    if not wanted.me:
        raise InvalidRequestError("Which address of the mailbox is yours?", hint="Add --me ADDRESS.", field="me")
    # Whoever writes is not asked for: it is somebody else, if it is none of these addresses.
    return Reads(imap=box, choices=msgspec.structs.replace(wanted, not_me=True, kind="mail"))


def readable_path(path: str, settings: Settings, *, by_operator: bool) -> Path:
    """Return the absolute path, if a feed may read it. Links are followed first, so none leads out of a root.

    Raises:
        InvalidRequestError: it is no absolute path.
        FeedRefusedError: the operator does not allow it. Says nothing of whether it is there.
        FolderMissingError: it is not there.
    """
    check_storable(path, "path")
    if not Path(path).is_absolute() or len(path) > MOST_PATH_CHARS:
        raise InvalidRequestError(f"An absolute path of at most {MOST_PATH_CHARS:,} characters.", field="path")
    try:
        found = Path(path).resolve()
        if not by_operator and not any(found.is_relative_to(root.resolve()) for root in settings.feed_roots_list):
            raise FeedRefusedError("The operator does not allow feeds of this path.")
        if not found.exists():
            raise FolderMissingError("Nothing is there, or the service may not read it.")
    except (OSError, RuntimeError) as error:  # RuntimeError: links go round
        raise FolderMissingError("Nothing is there, or the service may not read it.") from error
    return found


def reads_of(settings: dict[str, Any]) -> Reads:
    """Return what a stored feed reads; nothing, if that cannot be read: an import may have brought anything."""
    try:
        return msgspec.convert(settings, Reads)
    except msgspec.ValidationError:
        return Reads()


def check_allowed(reads: Reads, settings: Settings, *, by_operator: bool) -> None:
    """Check that a stored feed may still be read: settings change, and so do links.

    Raises:
        FeedRefusedError, FolderMissingError, UrlRefusedError: it may not, or is not there.
    """
    if reads.path is not None:
        readable_path(reads.path, settings, by_operator=by_operator)
    if reads.url is not None:
        check_url(reads.url, settings)
    if reads.imap is not None and not by_operator:
        raise FeedRefusedError("Only the operator adds mailboxes, because the server keeps their passwords.")


def _identifier(reads: Reads) -> str | None:
    if reads.imap is not None:
        return f"{reads.imap.username}@{reads.imap.host}:{reads.imap.port}/{reads.imap.mailbox}"
    return reads.path or reads.url


def _named(reads: Reads) -> str:
    if reads.imap is not None:
        return f"{reads.imap.username} {reads.imap.mailbox}"[:MOST_NAME_CHARS]
    return flat((reads.path or reads.url or "").rstrip("/").rsplit("/", 1)[-1])[:MOST_NAME_CHARS] or flat(
        (reads.path or reads.url or "")[:MOST_NAME_CHARS]
    )
