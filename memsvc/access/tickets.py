"""Tickets: a browser uses one once, where a key does not belong.

A ticket is a prefix and, in base64, user, id, expiry and an HMAC-SHA256 with a key derived from the identity secret,
so it is made without the database. It is valid for a short time and only once: its id is stored in ``used_tickets`` on
use. What it is good for, a live connection or signing in to the web page, decides its prefix and its key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import struct
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import TicketInvalidError, UserUnknownError

MAC_BYTES = 16
CLAIM = struct.Struct(">16s16sI")


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a ticket is good for."""

    prefix: str
    secret: str
    """The name of the derived key that signs it."""
    life_s: int


LIVE = Purpose("mt_", "ticket", 30)
"""One live connection."""
PAGE = Purpose("ml_", "page link", 600)
"""Signing in to the web page."""
ADMIN_PAGE = Purpose("ma_", "page link of an administrator", 600)
"""Signing in to the web page, as the administrator of the app, too."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that opens one live connection."""

    ticket: str
    expires_in: int
    """Seconds."""
    expires_at: datetime


def _mac(db: Database, purpose: Purpose, claim: bytes) -> bytes:
    return hmac.new(db.signer.derived(purpose.secret), claim, hashlib.sha256).digest()[:MAC_BYTES]


def issue_ticket(db: Database, owner: Owner, *, purpose: Purpose = LIVE, life_s: int | None = None) -> Ticket:
    """Return a ticket of this user. Default of ``life_s``: that of the purpose, in seconds."""
    life = purpose.life_s if life_s is None else life_s
    expiry = int(time.time()) + life
    claim = CLAIM.pack(owner.user_id.bytes, secrets.token_bytes(16), expiry)
    text = base64.urlsafe_b64encode(claim + _mac(db, purpose, claim)).decode().rstrip("=")
    return Ticket(ticket=purpose.prefix + text, expires_in=life, expires_at=datetime.fromtimestamp(expiry, UTC))


def user_of_ticket(db: Database, ticket: str, *, purpose: Purpose = LIVE) -> UUID:
    """Return the id of a ticket's user; the ticket may have been used already.

    Raises:
        TicketInvalidError: the ticket is forged, expired, or for another purpose.
    """
    return _read(db, ticket, purpose)[0]


def _read(db: Database, ticket: str, purpose: Purpose) -> tuple[UUID, UUID, int]:
    """Return the user, the id and the expiry of a ticket.

    Raises:
        TicketInvalidError: as ``user_of_ticket``.
    """
    text = ticket.removeprefix(purpose.prefix)
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise TicketInvalidError from error
    claim, mac = whole[: CLAIM.size], whole[CLAIM.size :]
    if not ticket.startswith(purpose.prefix) or not hmac.compare_digest(mac, _mac(db, purpose, claim)):
        raise TicketInvalidError
    user, ticket_id, expiry = CLAIM.unpack(claim)
    if expiry <= time.time():
        raise TicketInvalidError
    return UUID(bytes=user), UUID(bytes=ticket_id), expiry


async def use_ticket(db: Database, ticket: str, *, purpose: Purpose = LIVE) -> Owner:
    """Return the user of a ticket, and mark the ticket as used.

    Raises:
        TicketInvalidError: the ticket is forged, expired, already used, or for another purpose.
    """
    user_id, ticket_id, expiry = _read(db, ticket, purpose)
    values = {"user_id": user_id, "ticket_id": ticket_id, "expires_at": datetime.fromtimestamp(expiry, UTC)}
    try:
        async with db.transaction(user_id) as connection:
            fresh = (await connection.execute(query("use_ticket"), values)).one_or_none()
    except UserUnknownError as error:
        raise TicketInvalidError from error
    if fresh is None:
        raise TicketInvalidError
    return await owner_of(db, user_id)
