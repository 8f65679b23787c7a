"""Mail: a mailbox in mbox form, or one message as ``.eml``.

A thread is a conversation, by the first message that "References" names. What is quoted or forwarded is not the
sender's and left out, and so are HTML that no reader sees, encrypted, deleted and unsent mails. A mail that begins a
thread keeps its subject as its first line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email import policy
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from functools import lru_cache
from typing import Any, cast

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading, compact
from memsvc.sources.kinds.quotes import own_words
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible
from memsvc.text.hypertext import visible_text

ENVELOPE = re.compile(rb"From (?:\S+ .*)?(?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d .*\d{4})\s*$")
"""The line before each mail of a mailbox, with the time at which it was stored."""
ZONE = re.compile(r"(?<=:\d\d) .*(?= \d{4}$)")
ESCAPED = re.compile(rb">+From ")
HEADER = re.compile(rb"(?P<name>[!-9;-~]+):.*\n?(?:[ \t]+.*\n?)*")
LEAST_NAMES = 3
SENT = frozenset({b"date", b"received", b"message-id"})
"""Headers that say when a mail was sent, or are its id; a text with "From:" alone is no mail."""
MOST_BYTES = 1 << 26
"""Of a longer mail the rest is left out: attachments, which are not read."""
REPLY = re.compile(
    r"\s*(?:(?:re|aw|antw|wg|fwd?|fw|tr|rv|enc|i|sv|vs|vb|odp|pd|回复|转发|답장|отв)(?:\[\d+\])?\s*[::]\s*)+",
    re.IGNORECASE,
)
MESSAGE_ID = re.compile(r"<[^<>\s]+>")
ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
SIGNED = re.compile(
    r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:Hash:[^\n]*\n)*\n?(?P<text>.*?)(?:-----BEGIN PGP SIGNATURE-----.*)?",
    re.DOTALL,
)
UNSENT = frozenset({"spam", "trash", "drafts"})
"""Gmail's labels of mails that were not sent or not wanted."""
DELETED = 0x0008
"""The flag of X-Mozilla-Status for a mail that is deleted and still in the file."""
LONGEST_ID = 300
FIRST_YEAR = 1970
BROKEN = (ValueError, LookupError, TypeError, AttributeError, MessageError, RecursionError, AssertionError)
"""What the parser of the standard library raises for headers and parts of no valid form."""


@lru_cache(maxsize=1024)
def _parsed(name: str, value: str) -> Any:
    return policy.default.header_fetch_parse(name, value)


class _Policy(policy.EmailPolicy):
    """The standard policy, which would parse a header each time that somebody asks for it."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return _parsed(name, value)


class Mail:
    """Mailboxes and single mails."""

    name = "mail"
    title = "an e-mail or a mailbox"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for the line that begins a mailbox, or for a mail's headers."""
        if (file := bundle.only) is None:
            return NOT_MINE
        head = bundle.head(file).removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n")
        is_box = ENVELOPE.match(head.split(b"\n", 1)[0]) is not None
        names = _names(head.split(b"\n", 1)[-1] if is_box else head)
        if b"from" in names and names & SENT and len(names) >= LEAST_NAMES:
            return Detection(0.95, "the headers of a mail", (file,))
        return Detection(0.9, "the line that begins a mailbox", (file,)) if is_box and names else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the mails as the file has them."""
        file = bundle.files[0]
        shown, people = bundle.shown(file), Names()
        parser = BytesParser(policy=_Policy())
        for number, (stored, content) in enumerate(_mails(bundle, file), 1):
            where = shown if stored is None else f"{shown}, mail {number}"
            try:
                mail = cast("EmailMessage", parser.parsebytes(content))
                placed = _placed(_Mail(mail, content, stored), people, reading, where)
            except BROKEN as error:
                if stored is None:
                    raise BadFileError(f"{where} is no mail that can be read: {type(error).__name__}.") from error
                reading.odd["mails that cannot be read"] += 1
                continue
            if placed is not None:
                yield placed


def _names(head: bytes) -> set[bytes]:
    """Return the names of the headers at the start of a text, in small letters."""
    names: set[bytes] = set()
    position = 0
    while (found := HEADER.match(head, position)) is not None and found.end() > position:
        names.add(found["name"].lower())
        position = found.end()
    return names


def _mails(bundle: Bundle, file: str) -> Iterator[tuple[bytes | None, bytes]]:
    """Yield each mail with the time of its envelope; None: the file is one mail."""
    stored: bytes | None = None
    lines: list[bytes] = []
    size = 0
    is_blank = True
    with bundle.path(file).open("rb") as content:
        for number, line in enumerate(content):
            text = line.removeprefix(BYTE_ORDER_MARK) if number == 0 else line
            envelope = ENVELOPE.match(text) if is_blank and text.startswith(b"From ") else None
            if envelope is not None and (number == 0 or stored is not None):
                if number:
                    yield stored, b"".join(lines)
                stored, lines, size = envelope["date"], [], 0
                continue
            is_blank = not text.strip()
            size += len(text)
            if size <= MOST_BYTES:
                lines.append(text[1:] if stored is not None and ESCAPED.match(text) else text)
    if lines or stored is not None:
        yield stored, b"".join(lines)


class _Mail:
    """A mail's headers, read so that a broken one counts as missing."""

    def __init__(self, mail: EmailMessage, content: bytes, stored: bytes | None) -> None:
        self.mail, self.content, self._stored = mail, content, stored

    def text(self, name: str) -> str:
        """Return a header as one line; "" if it is missing or broken."""
        with suppress(*BROKEN):
            return " ".join(str(self.mail.get(name, "")).split())
        return ""

    def people(self, *names: str) -> list[tuple[str, str]]:
        """Return the names and addresses of headers."""
        values = [value for name in names if (value := self.text(name))]
        return [(name.strip(" \"'"), address) for name, address in getaddresses(values) if address]

    def ids(self, name: str) -> list[str]:
        """Return the ids of other mails that a header names."""
        return [_short(one[1:-1]) for one in MESSAGE_ID.findall(self.text(name))]

    @property
    def id(self) -> str:
        """The mail's id; without one, an id made of its content."""
        return next(iter(self.ids("Message-ID")), "") or hashlib.sha256(self.content.strip()).hexdigest()[:24]

    @property
    def said_at(self) -> datetime | None:
        """When it was sent: its date, else when it was received, else when it was stored."""
        received = self.text("Received").rpartition(";")[2]
        stored = ZONE.sub("", (self._stored or b"").decode("ascii", "replace"))
        for value in (self.text("Date"), received, stored):
            with suppress(*BROKEN, OverflowError):
                found = parsedate_to_datetime(value)
                if found.year >= FIRST_YEAR:
                    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return None


def _short(identity: str) -> str:
    return identity if len(identity) <= LONGEST_ID else hashlib.sha256(identity.encode()).hexdigest()


def _placed(one: _Mail, people: Names, reading: Reading, where: str) -> Placed | None:
    """Return a mail with its own words; None if it is left out, which is counted."""
    said_at, subject = one.said_at, one.text("Subject")
    reason = _left_out(one) or ("mails without a date" if said_at is None else None)
    if reason is not None or said_at is None:
        reading.odd[reason or ""] += 1
        return None
    body = _Body(one.mail)
    references = one.ids("References") or one.ids("In-Reply-To")
    own = own_words(body.text)
    words = own.text
    if not references and REPLY.match(subject) is None and is_visible(subject):
        words = f"{subject}\n\n{words}" if is_visible(words) else subject
    if own.quoted_lines:
        reading.odd["mails with quoted or forwarded parts"] += 1
    if body.files:
        reading.odd["attachments"] += len(body.files)
    if not is_visible(words):
        reading.odd["mails without words of their sender"] += 1
        return None
    name, address = next(iter(one.people("From", "Sender")), ("", ""))
    is_own = reading.is_me(address, name)
    automatic = one.text("Auto-Submitted").lower()
    role: Role = "user" if is_own else "tool" if automatic not in {"", "no"} else "other"
    message = MessageIn(
        conversation=f"mail:{(references or [one.id])[0]}",
        text=words,
        speaker=people.of(address.casefold(), (name or address)[:200]) if address else "",
        role=role,
        id=one.id,
        said_at=said_at.isoformat(),
    )
    origin = compact(
        id=one.id, subject=subject[:200], to=[to for _, to in one.people("To", "Cc")][:20], files=body.files[:20],
        reply_to=next(iter(one.ids("In-Reply-To")), None), quoted_lines=own.quoted_lines,
    )  # fmt: skip
    return Placed(where, message, origin, REPLY.sub("", subject)[:200])


def _left_out(one: _Mail) -> str | None:
    """Return why a mail is not read; None if it is."""
    if one.mail.get_content_type() in ENCRYPTED and one.mail.get_param("smime-type") != "signed-data":
        return "encrypted mails"
    labels = {label.strip(' "').casefold() for label in one.text("X-Gmail-Labels").split(",")}
    status = one.text("X-Mozilla-Status")
    is_deleted = re.fullmatch("[0-9a-fA-F]{4}", status) is not None and int(status, 16) & DELETED
    return "mails that are deleted, unwanted or not sent" if is_deleted or labels & UNSENT else None


class _Body:
    """The text that a reader of a mail sees, and the names of its attachments."""

    def __init__(self, mail: EmailMessage) -> None:
        self.files: list[str] = []
        self.text = self._seen(mail).strip("\r\n")
        if (signed := SIGNED.fullmatch(self.text)) is not None:
            self.text = signed["text"].strip("\n")
        if self.text.startswith("-----BEGIN PGP MESSAGE-----"):
            self.text = ""

    def _seen(self, part: EmailMessage) -> str:
        kind = part.get_content_type()
        if kind in SIGNATURES or kind in ENCRYPTED:
            return ""
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            inner = [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
            if kind == "multipart/alternative":
                return self._best(inner)
            texts = [self._seen(one) for one in inner]
            return "\n\n".join(text for text in texts if text.strip())
        name = _filename(part)
        if kind not in {"text/plain", "text/html"} or part.get_content_disposition() == "attachment":
            self.files.append(name or ("a mail" if kind == "message/rfc822" else kind))
            return ""
        if name and part.get_content_disposition() is not None and kind == "text/html":
            self.files.append(name)
            return ""
        text = _decoded(part)
        return visible_text(text) if kind == "text/html" else text

    def _best(self, parts: list[EmailMessage]) -> str:
        """Return the plain text of alternatives; without one, the text of another."""
        plain = [one for one in parts if one.get_content_type() == "text/plain"]
        others = [one for one in reversed(parts) if one not in plain]
        for one in (*plain, *others):
            if is_visible(text := self._seen(one)):
                return text
        return ""


def _filename(part: EmailMessage) -> str:
    with suppress(*BROKEN):
        return " ".join((part.get_filename() or "").split())[:200]
    return ""


def _decoded(part: EmailMessage) -> str:
    """Return a part's text. What has no known encoding, or another one than it says, is read as Windows wrote it."""
    content = part.get_payload(decode=True)
    raw = content if isinstance(content, bytes) else b""
    for charset in (part.get_content_charset() or "utf-8", "utf-8", "cp1252"):
        with suppress(LookupError, ValueError):
            return raw.decode(charset).replace("\r\n", "\n").replace("\0", "")
    return raw.decode("latin-1").replace("\r\n", "\n").replace("\0", "")
