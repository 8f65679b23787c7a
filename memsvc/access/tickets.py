"""Tickets: a browser puts one into the URL of a live connection, instead of a key.

A ticket is ``mt_`` and, in base64, user, id, expiry and an HMAC-SHA256 with a key derived from the identity secret, so
it is made without the database. It is valid for seconds and only once: its id is stored in ``used_tickets`` on use.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import struct
import time
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from memsvc.access.users import Owner, owner_of
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import TicketInvalidError, UserUnknownError

PREFIX = "mt_"
LIFE_S = 30
MAC_BYTES = 16
CLAIM = struct.Struct(">16s16sI")


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that opens one live connection."""

    ticket: str
    expires_in: int
    """Seconds."""
    expires_at: datetime


def _mac(db: Database, claim: bytes) -> bytes:
    return hmac.new(db.signer.derived("ticket"), claim, hashlib.sha256).digest()[:MAC_BYTES]


def issue_ticket(db: Database, owner: Owner, *, life_s: int = LIFE_S) -> Ticket:
    """Return a ticket that opens one live connection of this user within ``life_s`` seconds."""
    expiry = int(time.time()) + life_s
    claim = CLAIM.pack(owner.user_id.bytes, secrets.token_bytes(16), expiry)
    text = base64.urlsafe_b64encode(claim + _mac(db, claim)).decode().rstrip("=")
    return Ticket(ticket=PREFIX + text, expires_in=life_s, expires_at=datetime.fromtimestamp(expiry, UTC))


async def use_ticket(db: Database, ticket: str) -> Owner:
    """Return the user of a ticket, and mark the ticket as used.

    Raises:
        TicketInvalidError: the ticket is forged, expired or already used.
    """
    text = ticket.removeprefix(PREFIX)
    try:
        whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise TicketInvalidError from error
    claim, mac = whole[: CLAIM.size], whole[CLAIM.size :]
    if not ticket.startswith(PREFIX) or not hmac.compare_digest(mac, _mac(db, claim)):
        raise TicketInvalidError
    user, ticket_id, expiry = CLAIM.unpack(claim)
    if expiry <= time.time():
        raise TicketInvalidError
    user_id = UUID(bytes=user)
    values = {"user_id": user_id, "ticket_id": UUID(bytes=ticket_id), "expires_at": datetime.fromtimestamp(expiry, UTC)}
    try:
        async with db.transaction(user_id) as connection:
            fresh = (await connection.execute(query("use_ticket"), values)).one_or_none()
    except UserUnknownError as error:
        raise TicketInvalidError from error
    if fresh is None:
        raise TicketInvalidError
    return await owner_of(db, user_id)
