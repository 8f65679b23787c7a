"""Users of an app: adding them with their own node and names, finding them.

A new user gets a Person node and aliases in the same transaction, so that "I" and every given name have a home from the
first message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

import msgspec
from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.once import Once
from memsvc.errors import AlreadyExistsError, InvalidRequestError, InvalidZoneError, NotFoundError, UserUnknownError
from memsvc.text.characters import trimmed
from memsvc.text.storable import check_storable

DEFAULT_APP = "default"
# Names under which everybody speaks of themselves.
FIRST_PERSON = ("I", "me", "my", "myself")
LANGUAGES = frozenset(
    [
        "arabic",
        "armenian",
        "basque",
        "catalan",
        "danish",
        "dutch",
        "english",
        "estonian",
        "finnish",
        "french",
        "german",
        "greek",
        "hindi",
        "hungarian",
        "indonesian",
        "irish",
        "italian",
        "lithuanian",
        "nepali",
        "norwegian",
        "portuguese",
        "romanian",
        "russian",
        "serbian",
        "simple",
        "spanish",
        "swedish",
        "tamil",
        "turkish",
        "yiddish",
    ]
)
MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Owner:
    """For whom something is done: what writing and recalling need to know about a user."""

    user_id: UUID
    name: str
    time_zone: str
    language: str


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A user as the doors show it."""

    user_id: UUID
    external_id: str
    name: str
    time_zone: str
    language: str
    created_at: datetime

    @property
    def owner(self) -> Owner:
        """The part of it that writing and recalling need."""
        return Owner(self.user_id, self.name, self.time_zone, self.language)


def valid_name(value: str, what: str) -> str:
    """A name without surrounding space.

    Raises:
        InvalidRequestError: empty, longer than 200 characters, or not storable.
    """
    check_storable(value, what)
    name = trimmed(value)
    if not name or len(name) > MAX_NAME_CHARS:
        raise InvalidRequestError(f"{what} must have 1 to {MAX_NAME_CHARS} characters.", field=what)
    return name


@cache
def valid_zone(name: str) -> ZoneInfo:
    """The zone with this IANA name.

    Raises:
        InvalidZoneError: there is none.
    """
    if name != "UTC" and name not in available_timezones():
        raise InvalidZoneError(f"{name!r} is not a time zone.")
    return ZoneInfo(name)


async def app_id(db: Database, name: str = DEFAULT_APP) -> UUID:
    """The app with this name, made on first use."""
    valid = valid_name(name, "app")
    async with db.transaction() as connection:
        found: UUID = (await connection.execute(text("SELECT memsvc.ensure_app(:name)"), {"name": valid})).scalar_one()
    return found


async def find_app(db: Database, name: str = DEFAULT_APP) -> UUID:
    """The app with this name, if there is one.

    Raises:
        NotFoundError: there is none.
    """
    valid = valid_name(name, "app")
    async with db.transaction() as connection:
        found: UUID | None = (
            await connection.execute(text("SELECT memsvc.find_app(:name)"), {"name": valid})
        ).scalar_one()
    if found is None:
        raise NotFoundError(f"There is no app {valid!r}.", hint="'memsvc user add' makes it with its first user.")
    return found


async def add_user(
    db: Database,
    app: UUID,
    *,
    name: str,
    external_id: str | None = None,
    aliases: Sequence[str] = (),
    time_zone: str = "UTC",
    language: str = "english",
    once: Once | None = None,
) -> User:
    """Add a user together with the user's own node and aliases.

    Args:
        db: the database.
        app: the app that the user belongs to.
        name: what people call the user; the first alias.
        external_id: what the app calls the user, unique in it; the name when not given.
        aliases: further names ("MW").
        time_zone: IANA zone in which times without an offset are read.
        language: text search configuration that stems the user's words.
        once: the request that it comes from: where it made this user before, that user is given and nothing is done.

    Raises:
        AlreadyExistsError: the app has a user with this external id.
        IdempotencyConflictError: the key of ``once`` made this user by another request.
        InvalidRequestError, InvalidZoneError: a value cannot be used.
    """
    valid = valid_name(name, "name")
    external = valid_name(external_id, "external_id") if external_id is not None else valid
    names = list(dict.fromkeys([valid, *(valid_name(alias, "alias") for alias in aliases), *FIRST_PERSON]))
    valid_zone(time_zone)
    if language not in LANGUAGES:
        raise InvalidRequestError(
            f"{language!r} is not a language of PostgreSQL's full text search.",
            hint=f"One of: {', '.join(sorted(LANGUAGES))}.",
            field="language",
        )
    async with db.transaction() as connection:
        made: UUID | None = (
            await connection.execute(
                text("SELECT memsvc.create_user(:app, :external, :name, :zone, :language)"),
                {"app": app, "external": external, "name": valid, "zone": time_zone, "language": language},
            )
        ).scalar_one()
        if made is not None:
            await db.bind(connection, made)
            await connection.execute(query("seed_self"), {"user_id": made, "name": valid, "aliases": names})
            shown = {"user_id": made, "kind": "node", "after": None, "limit": 1}
            await connection.execute(query("project_more"), shown)
            if once is not None:
                await once.keep(connection, made, msgspec.json.encode({"user_id": made}).decode())
    if made is not None:
        return await find_user(db, app, str(made))
    known = await _made_before(db, app, external, once) if once is not None else None
    if known is None:
        raise AlreadyExistsError(f"This app has a user {external!r} already.")
    return known


async def _made_before(db: Database, app: UUID, external_id: str, once: Once) -> User | None:
    """The user of this external id, where this very request made it."""
    found = await list_users(db, app, ref=external_id, limit=2)
    for user in found:
        if user.external_id == external_id:
            async with db.transaction(user.user_id) as connection:
                return user if await once.answer(connection, user.user_id) is not None else None
    return None


async def find_user(db: Database, app: UUID, ref: str) -> User:
    """A user of the app by id or external id.

    Raises:
        UserUnknownError: the app has no such user.
    """
    found = await list_users(db, app, ref=ref, limit=2)
    exact = [user for user in found if str(user.user_id) == ref] or found
    if not exact:
        raise UserUnknownError(f"This app has no user {ref!r}.")
    return exact[0]


async def owner_of(db: Database, user_id: UUID) -> Owner:
    """What writing and recalling need to know about a user, for background work.

    Raises:
        UserUnknownError: there is no such user, or not any more.
    """
    async with db.transaction(user_id) as connection:
        row = (await connection.execute(query("owner_of"), {"user_id": user_id})).one()
    return Owner(user_id, row.name, row.time_zone, row.language)


async def list_users(
    db: Database, app: UUID, *, ref: str | None = None, after: UUID | None = None, limit: int = 100
) -> list[User]:
    """Users of the app in the order in which they were added, after the user ``after``."""
    async with db.transaction() as connection:
        rows = await connection.execute(
            text("SELECT * FROM memsvc.users_of_app(:app, :ref, :after, :limit)"),
            {"app": app, "ref": ref, "after": after, "limit": limit},
        )
        return [User(**row) for row in rows.mappings()]


class SelfNode(msgspec.Struct, frozen=True, kw_only=True):
    """The user's own node and what it is called now."""

    node_id: UUID
    label: str
    aliases: list[str]


async def own_names(db: Database, owner: Owner) -> SelfNode:
    """The node that stands for the user.

    Raises:
        NotFoundError: the user has none (it was made by another program).
    """
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("own_node"), {"user_id": owner.user_id})).one_or_none()
    if row is None:
        raise NotFoundError("This user has no node of its own.")
    return SelfNode(node_id=row.node_id, label=row.label, aliases=row.aliases)
