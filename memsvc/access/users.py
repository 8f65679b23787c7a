"""Users of an app: add them with their own node and names, and find them.

A new user gets a Person node and aliases in the same transaction, so that "I" and every given name refer to that node
from the first message on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

import msgspec
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.once import Once
from memsvc.errors import AlreadyExistsError, InvalidRequestError, InvalidZoneError, NotFoundError, UserUnknownError
from memsvc.text.characters import trimmed
from memsvc.text.policy import OFF, TREATMENTS, Policy, policy_of
from memsvc.text.secrets import KINDS
from memsvc.text.storable import check_storable

DEFAULT_APP = "default"
# Words with which every user refers to themselves.
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
class Place:
    """Where a user's memory is."""

    cell_id: int = 0
    """0: the home, which is the database with the keys."""
    epoch: int = 0
    """How often the user has moved."""


HOME = Place()


@dataclass(frozen=True, slots=True)
class Owner:
    """The user that an operation acts for: what writing and recalling need to know about a user."""

    user_id: UUID
    name: str
    time_zone: str
    language: str
    policy: Policy = OFF
    """What happens to secrets in the user's text: the strictest of the service, the app and the user."""


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A user as doors return it."""

    user_id: UUID
    external_id: str
    name: str
    time_zone: str
    language: str
    created_at: datetime

    @property
    def owner(self) -> Owner:
        """The part that recalling needs. Doors that write take ``owner_of``, which also knows the policy on secrets."""
        return Owner(self.user_id, self.name, self.time_zone, self.language)


def valid_name(value: str, what: str) -> str:
    """Return a name without surrounding space.

    Raises:
        InvalidRequestError: the name is empty, longer than 200 characters, or cannot be stored.
    """
    check_storable(value, what)
    name = trimmed(value)
    if not name or len(name) > MAX_NAME_CHARS:
        raise InvalidRequestError(f"{what} must have 1 to {MAX_NAME_CHARS} characters.", field=what)
    return name


@cache
def valid_zone(name: str) -> ZoneInfo:
    """Return the time zone with this IANA name.

    Raises:
        InvalidZoneError: no zone has this name.
    """
    if name != "UTC" and name not in available_timezones():
        raise InvalidZoneError(f"{name!r} is not a time zone.")
    return ZoneInfo(name)


async def app_id(db: Database, name: str = DEFAULT_APP) -> UUID:
    """Return the id of the app with this name; create the app on first use."""
    valid = valid_name(name, "app")
    async with db.transaction() as connection:
        await sign(connection)
        found: UUID = (await connection.execute(text("SELECT memsvc.ensure_app(:name)"), {"name": valid})).scalar_one()
    return found


async def find_app(db: Database, name: str = DEFAULT_APP) -> UUID:
    """Return the id of the app with this name.

    Raises:
        NotFoundError: no app has this name.
    """
    valid = valid_name(name, "app")
    async with db.transaction() as connection:
        found: UUID | None = (
            await connection.execute(text("SELECT memsvc.find_app(:name)"), {"name": valid})
        ).scalar_one()
    if found is None:
        raise NotFoundError(f"There is no app {valid!r}.", hint="'memsvc user add' creates it with its first user.")
    return found


@dataclass(frozen=True, slots=True)
class NewUser:
    """A user who is to be added; all values are valid."""

    name: str
    external_id: str
    names: Sequence[str]
    """The name, the aliases, and words for oneself."""
    time_zone: str
    language: str


def new_user(
    *,
    name: str,
    external_id: str | None = None,
    aliases: Sequence[str] = (),
    time_zone: str = "UTC",
    language: str = "english",
) -> NewUser:
    """Check what ``add_user`` is given.

    Raises:
        InvalidRequestError, InvalidZoneError: a value is not valid.
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
    return NewUser(valid, external, names, time_zone, language)


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
        name: the user's name, which is the first alias.
        external_id: the app's own id for the user, unique in the app; default: the name.
        aliases: other names ("MW").
        time_zone: IANA zone for times without an offset.
        language: text search configuration that stems the user's messages.
        once: the request with its Idempotency-Key; if it already created this user, that user is returned.

    Raises:
        AlreadyExistsError: the app already has a user with this external id.
        IdempotencyConflictError: the Idempotency-Key created this user with another request.
        InvalidRequestError, InvalidZoneError: a value is not valid.
    """
    asked = new_user(name=name, external_id=external_id, aliases=aliases, time_zone=time_zone, language=language)
    external = asked.external_id
    async with db.transaction() as connection:
        await sign(connection)
        made: UUID | None = (
            await connection.execute(
                text("SELECT memsvc.create_user(:app, :external, :name, :zone, :language)"),
                {
                    "app": app,
                    "external": external,
                    "name": asked.name,
                    "zone": asked.time_zone,
                    "language": asked.language,
                },
            )
        ).scalar_one()
        if made is not None:
            await seed(db, connection, made, asked, once)
    if made is not None:
        return await find_user(db, app, str(made))
    known = await _made_before(db, app, external, once) if once is not None else None
    if known is None:
        raise AlreadyExistsError(f"This app already has a user {external!r}.")
    return known


async def seed(db: Database, connection: AsyncConnection, user_id: UUID, asked: NewUser, once: Once | None) -> None:
    """Give a user who was added in this transaction a node, its names, and the answer to the request."""
    await db.bind(connection, user_id)
    values = {"user_id": user_id, "name": asked.name, "aliases": asked.names}
    await connection.execute(query("seed_self"), values)
    shown = {"user_id": user_id, "kind": "node", "after": None, "limit": 1}
    await connection.execute(query("project_more"), shown)
    if once is not None:
        await once.keep(connection, user_id, msgspec.json.encode({"user_id": user_id}).decode())


async def _made_before(db: Database, app: UUID, external_id: str, once: Once) -> User | None:
    """Return the user with this external id if the same request created it; otherwise None."""
    found = await list_users(db, app, ref=external_id, limit=2)
    for user in found:
        if user.external_id == external_id:
            async with db.transaction(user.user_id) as connection:
                return user if await once.answer(connection, user.user_id) is not None else None
    return None


async def find_user(db: Database, app: UUID, ref: str) -> User:
    """Return a user of the app by id or external id.

    Raises:
        UserUnknownError: the app has no such user.
    """
    found = await list_users(db, app, ref=ref, limit=2)
    exact = [user for user in found if str(user.user_id) == ref] or found
    if not exact:
        raise UserUnknownError(f"This app has no user {ref!r}.")
    return exact[0]


async def owner_of(db: Database, user_id: UUID, *, refuses: bool = True) -> Owner:
    """Return what writing and recalling need to know about a user.

    Args:
        db: the database.
        user_id: the user.
        refuses: False: secrets that the policy refuses are masked. For work on text that is stored already, which has
            nobody to refuse it to.

    Raises:
        UserUnknownError: the user does not exist, or no longer.
    """
    async with db.transaction(user_id) as connection:
        row = (await connection.execute(query("owner_of"), {"user_id": user_id})).one()
    policy = policy_for(db, row.app_policy, row.own_policy)
    return Owner(user_id, row.name, row.time_zone, row.language, policy if refuses else policy.lenient())


def policy_for(db: Database, *policies: Mapping[str, str] | None) -> Policy:
    """Return the strictest of the service's policy and some stored ones; what an older version cannot read is left."""
    strictest = db.policy
    for one in policies:
        known: dict[str, str] = {kind: how for kind, how in (one or {}).items() if kind in KINDS and how in TREATMENTS}
        strictest = strictest.stricter(policy_of(known))
    return strictest


async def list_users(
    db: Database, app: UUID, *, ref: str | None = None, after: UUID | None = None, limit: int = 100
) -> list[User]:
    """Return users of the app in the order in which they were added, after the user ``after``."""
    async with db.transaction() as connection:
        rows = await connection.execute(
            text("SELECT * FROM memsvc.users_of_app(:app, :ref, :after, :limit)"),
            {"app": app, "ref": ref, "after": after, "limit": limit},
        )
        return [User(**row) for row in rows.mappings()]


class SelfNode(msgspec.Struct, frozen=True, kw_only=True):
    """The user's own node and its current names."""

    node_id: UUID
    label: str
    aliases: list[str]


async def own_names(db: Database, owner: Owner) -> SelfNode:
    """Return the node that represents the user.

    Raises:
        NotFoundError: the user has no such node, because another program created the user.
    """
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("own_node"), {"user_id": owner.user_id})).one_or_none()
    if row is None:
        raise NotFoundError("This user has no node of its own.")
    return SelfNode(node_id=row.node_id, label=row.label, aliases=row.aliases)
