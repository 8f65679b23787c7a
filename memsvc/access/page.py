"""Signing in to the web page by a link.

Whoever may read this machine's secrets gets a link from ``memsvc up`` or ``memsvc web``. It holds a ticket, in the part
after ``#`` that browsers send to nobody. The page exchanges it once for a key of this user that expires by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

from memsvc.access.keys import Scope, create_key
from memsvc.access.tickets import ADMIN_PAGE, PAGE, issue_ticket, use_ticket, user_of_ticket
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import LinkInvalidError, TicketInvalidError
from memsvc.settings import Settings

SESSION = timedelta(hours=12)
LABEL = "web page"
ADMIN_LABEL = "web page (administrator)"
SCOPES: tuple[Scope, ...] = ("read", "write", "forget")
ADMIN_SCOPES: tuple[Scope, ...] = (*SCOPES, "admin")
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104 - names of addresses to open


def page_address(settings: Settings) -> str:
    """Return the address of the web page, for a browser on this machine or, if it is set, the public one."""
    if settings.public_url:
        return settings.public_url.rstrip("/") + "/"
    host = EVERYWHERE.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{settings.port}/"


def page_link(db: Database, settings: Settings, owner: Owner, *, admin: bool = False) -> str:
    """Return an address that signs this user in to the web page: once, within ten minutes.

    Args:
        db: the database.
        settings: the address.
        owner: the user.
        admin: the session may also administer the user's app.
    """
    ticket = issue_ticket(db, owner, purpose=ADMIN_PAGE if admin else PAGE).ticket
    return f"{page_address(settings)}#token={ticket}"


async def key_for_link(
    db: Database, ticket: str, find: Callable[[UUID], Awaitable[Database]] | None = None
) -> tuple[str, UUID]:
    """Exchange the ticket of a link for a new key, as ``id.secret``, which works for ``SESSION``; and its user.

    ``db`` gets the key; ``find`` returns the database with the user's memory, None: the same.

    The key may act for this user alone. An administrator's is one of the whole app, as all keys with the scope admin.

    Raises:
        LinkInvalidError: the ticket is forged, expired or already used.
    """
    admin = ticket.startswith(ADMIN_PAGE.prefix)
    try:
        purpose = ADMIN_PAGE if admin else PAGE
        there = await find(user_of_ticket(db, ticket, purpose=purpose)) if find is not None else db
        owner = await use_ticket(there, ticket, purpose=purpose)
    except TicketInvalidError as error:
        raise LinkInvalidError from error
    async with there.transaction(owner.user_id) as connection:
        app: UUID = (await connection.execute(query("app_of"), {"user_id": owner.user_id})).scalar_one()
    if admin:
        made = await create_key(db, app, scopes=ADMIN_SCOPES, label=ADMIN_LABEL, ttl=SESSION)
    else:
        made = await create_key(db, app, scopes=SCOPES, user_id=owner.user_id, label=LABEL, ttl=SESSION)
    return made, owner.user_id
