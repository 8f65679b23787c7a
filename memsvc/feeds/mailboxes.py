"""Read new mails of an IMAP mailbox (RFC 9051 and 3501), and change nothing there.

The mailbox is opened with EXAMINE and mails are fetched with BODY.PEEK, so the server marks none as read. How far it
was read is the last UID together with UIDVALIDITY: if that changes, UIDs mean other mails, and all are looked at again;
those that are stored are known by their Message-ID.
"""

from __future__ import annotations

import base64
import imaplib
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

from memsvc.errors import MailboxFailedError, MailboxRefusedError
from memsvc.feeds.wanted import Mailbox

SILENCE_S = 30.0
"""The longest wait for the server."""
MOST_MAILS = 500
"""Mails that one run fetches; if there are more, the next run begins at once."""
MOST_MAIL_BYTES = 8 << 20
"""Of a longer mail only the beginning is fetched: attachments, which are not read, come last."""
AT_ONCE = 20
"""Mails that are fetched with one command."""
UID = re.compile(rb"UID (?P<uid>[0-9]{1,10})")
SEARCHED = re.compile(rb"[0-9]{1,10}")
NOT_ASCII = re.compile(r"[^\x20-\x7e]+")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Mail(NamedTuple):
    """A mail as the server has it."""

    uid: int
    content: bytes


class Fetched(NamedTuple):
    """What is new in a mailbox."""

    mails: list[Mail]
    cursor: dict[str, Any]
    """How far it was read: ``validity``, ``uid``, and ``more`` if there is more."""


def fetch_new(
    box: Mailbox, password: str, cursor: Mapping[str, Any], *, most_bytes: int, since: datetime | None = None
) -> Fetched:
    """Fetch mails that came after those of the last run, the oldest first.

    Args:
        box: the mailbox.
        password: of its user.
        cursor: that of the last run; empty: it was never read.
        most_bytes: fetch about so many in all, at least one mail.
        since: leave out mails that came before this day.

    Raises:
        MailboxFailedError: the server cannot be reached, or breaks off.
        MailboxRefusedError: it refuses the login or the mailbox.
    """
    with _opened(box, password) as (server, validity):
        last = int(cursor.get("uid", 0)) if cursor.get("validity") == validity else 0
        asked = ["UID", f"{last + 1}:*"]
        if since is not None:
            asked += ["SINCE", f"{since.day}-{MONTHS[since.month - 1]}-{since.year}"]
        # A range that ends with * always has the last mail, even if it is older.
        found = sorted(uid for uid in map(int, SEARCHED.findall(_done(server.uid("SEARCH", *asked)))) if uid > last)
        mails: list[Mail] = []
        size = 0
        wanted = found[:MOST_MAILS]
        while wanted and size < most_bytes:
            some, wanted = wanted[:AT_ONCE], wanted[AT_ONCE:]
            for mail in _fetched(server, some):
                if mails and size + len(mail.content) > most_bytes:
                    wanted = [mail.uid]
                    break
                mails.append(mail)
                size += len(mail.content)
            else:
                last = some[-1]
                continue
            last = mails[-1].uid
            break
        more = bool(wanted) or len(found) > MOST_MAILS
        return Fetched(mails, {"validity": validity, "uid": last, **({"more": True} if more else {})})


def _fetched(server: imaplib.IMAP4, uids: Sequence[int]) -> Iterator[Mail]:
    """Yield mails, by UID. One that was deleted meanwhile is left out."""
    kind, answer = server.uid("FETCH", ",".join(map(str, uids)), f"(UID BODY.PEEK[]<0.{MOST_MAIL_BYTES}>)")
    if kind != "OK":
        raise MailboxFailedError("The server does not hand out the mails.")
    found = {}
    for place, part in enumerate(answer):
        if not isinstance(part, tuple):
            continue
        after = answer[place + 1] if place + 1 < len(answer) else b""
        uid = UID.search(part[0]) or UID.search(after if isinstance(after, bytes) else b"")
        if uid is not None:
            found[int(uid["uid"])] = part[1]
    for one in sorted(found.keys() & set(uids)):
        yield Mail(one, found[one])


@contextmanager
def _opened(box: Mailbox, password: str) -> Iterator[tuple[imaplib.IMAP4, int]]:
    """Yield a connection on which the mailbox is open for reading alone, and its UIDVALIDITY.

    No error has the server's words: they may repeat what was sent to it.
    """
    server: imaplib.IMAP4 | None = None
    try:
        server = _connected(box)
        try:
            server.login(box.username, password)
        except imaplib.IMAP4.abort:
            raise
        except (imaplib.IMAP4.error, UnicodeError) as error:
            raise MailboxRefusedError("The server refuses the login.") from error
        yield server, _examined(server, box.mailbox)
    except (MailboxRefusedError, MailboxFailedError):
        raise
    except (OSError, imaplib.IMAP4.error, ssl.SSLError, EOFError) as error:
        raise MailboxFailedError(f"The mail server failed: {type(error).__name__}.") from error
    finally:
        if server is not None:
            with suppress(OSError, imaplib.IMAP4.error):
                server.logout()
            with suppress(OSError):  # what the server broke off is not closed by a logout
                server.shutdown()


def _examined(server: imaplib.IMAP4, mailbox: str) -> int:
    """Open a mailbox for reading alone; return its UIDVALIDITY."""
    kind, _ = server.select(_quoted(mailbox), readonly=True)
    validity = server.response("UIDVALIDITY")[1]
    if kind != "OK" or not validity or not isinstance(validity[0], bytes) or not validity[0].isdigit():
        raise MailboxRefusedError("The server does not open the mailbox.")
    return int(validity[0])


def _connected(box: Mailbox) -> imaplib.IMAP4:
    if box.security == "tls":
        return imaplib.IMAP4_SSL(box.host, box.port, ssl_context=ssl.create_default_context(), timeout=SILENCE_S)
    server = imaplib.IMAP4(box.host, box.port, timeout=SILENCE_S)
    if box.security == "starttls":
        server.starttls(ssl.create_default_context())
    return server


def _done(answer: tuple[str, list[Any]]) -> bytes:
    kind, parts = answer
    if kind != "OK":
        raise MailboxFailedError("The server does not search the mailbox.")
    return b" ".join(part for part in parts if isinstance(part, bytes))


def _quoted(name: str) -> str:
    """Return a mailbox's name as IMAP writes it: in modified UTF-7 (RFC 3501, section 5.1.3), in quotes."""

    def encoded(found: re.Match[str]) -> str:
        words = base64.b64encode(found[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
        return f"&{words}-"

    plain = NOT_ASCII.sub(encoded, name.replace("&", "&-"))
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
