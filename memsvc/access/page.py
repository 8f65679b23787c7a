"""Signing in to the web page by a link.

Whoever may read this machine's secrets gets a link from ``memsvc up`` or ``memsvc web``. It holds a ticket, in the part
after ``#`` that browsers send to nobody. The page exchanges it once for a key of this user that expires by itself.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from memsvc.access.keys import Scope, create_key
from memsvc.access.tickets import PAGE, issue_ticket, use_ticket
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import LinkInvalidError, TicketInvalidError
from memsvc.settings import Settings

SESSION = timedelta(hours=12)
LABEL = "web page"
SCOPES: tuple[Scope, ...] = ("read", "write", "forget")
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104 - names of addresses to open


def page_address(settings: Settings) -> str:
    """Return the address of the web page, for a browser on this machine or, if it is set, the public one."""
    if settings.public_url:
        return settings.public_url.rstrip("/") + "/"
    host = EVERYWHERE.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{settings.port}/"


def page_link(db: Database, settings: Settings, owner: Owner) -> str:
    """Return an address that signs this user in to the web page: once, within ten minutes."""
    return f"{page_address(settings)}#token={issue_ticket(db, owner, purpose=PAGE).ticket}"


async def key_for_link(db: Database, ticket: str) -> str:
    """Exchange the ticket of a link for a new key of its user, as ``id.secret``; it works for ``SESSION``.

    Raises:
        LinkInvalidError: the ticket is forged, expired or already used.
    """
    try:
        owner = await use_ticket(db, ticket, purpose=PAGE)
    except TicketInvalidError as error:
        raise LinkInvalidError from error
    async with db.transaction(owner.user_id) as connection:
        app: UUID = (await connection.execute(query("app_of"), {"user_id": owner.user_id})).scalar_one()
    return await create_key(db, app, scopes=SCOPES, user_id=owner.user_id, label=LABEL, ttl=SESSION)
