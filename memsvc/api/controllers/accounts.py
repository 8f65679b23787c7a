"""Accounts: tokens, the user's own node, and the users and keys of an app."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from litestar import Controller, delete, get, post, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath

from memsvc.access.keys import (
    MOST_OF_LIMIT,
    NOT_OF_TOKENS,
    Key,
    Limits,
    Scope,
    create_key,
    get_key,
    issue_jwt,
    limit_key,
    list_keys,
    revoke_key,
)
from memsvc.access.pausing import Pause, find_pause, pause, resume
from memsvc.access.users import User, find_user, list_users, own_names
from memsvc.api.callers import ADMINISTRATOR, KEYHOLDER, READER, WRITER, Administrator, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, OnceParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.cells.people import add_user_somewhere
from memsvc.db.once import Once
from memsvc.db.paging import Page
from memsvc.sources.moments import read_moment
from memsvc.text.storable import check_storable

TEN_YEARS_S = 10 * 366 * 86_400
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_OF_LIMIT)] | None


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A short-lived replacement for a key, for one user."""

    token: str
    token_type: Literal["Bearer"]
    expires_in: int
    """Lifetime in seconds."""
    expires_at: datetime
    user_id: UUID
    scopes: list[str]


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The user for whom the caller acts, with the user's own node and names."""

    user: User
    node_id: UUID
    label: str
    aliases: list[str]
    scopes: list[str]
    """What the key or token may do."""
    administers: bool
    """It may manage the users and keys of the app: it has the scope admin, and is not bound to one user."""


class UserIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A user to add."""

    name: str
    """What people call the user. It becomes the first alias."""
    external_id: str | None = None
    """The app's own id for the user, unique within the app. Default: the name."""
    aliases: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    """Further names."""
    time_zone: str = "UTC"
    """IANA time zone. Times without an offset are read in it."""
    language: str = "english"
    """The language whose stemming rules apply to the user's texts."""


class KeyIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A key to make."""

    scopes: Annotated[tuple[Scope, ...], msgspec.Meta(min_length=1, max_length=5)] = ("read", "write")
    """Any of read, write, forget, enroll and admin. A key with enroll, of the whole app, adds a user whom it names in
    X-Memsvc-User for the first time."""
    user: str | None = None
    """Id or external id of the only user for whom it may act. Default: any user of the app."""
    label: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """What it is for."""
    expires_in: Annotated[int, msgspec.Meta(ge=1, le=TEN_YEARS_S)] | None = None
    """Lifetime in seconds. Default: until it is revoked."""
    requests_per_minute: Limit = None
    """The most requests per clock minute, counted over the key and all its tokens. Default: no limit."""
    messages_per_day: Limit = None
    """The most messages to store per day (UTC). Repeated messages count again. Default: no limit."""


class LimitsIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The limits of a key."""

    requests_per_minute: Limit = None
    """The most requests per clock minute; null or left out: no limit."""
    messages_per_day: Limit = None
    """The most messages per day (UTC); null or left out: no limit."""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A new key. Its secret is shown only this once."""

    secret: str
    """The full key, to be sent after 'Bearer'."""
    key: Key


class PauseIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """How long not to remember."""

    until: str | None = None
    """The end (ISO 8601; without an offset in the user's time zone). Default: until resumeMemory."""


class AccountController(Controller):
    """The caller's own account."""

    tags = ("account",)

    @post(
        "/token",
        status_code=200,
        operation_id="makeToken",
        summary="Make a token",
        description="Exchanges a key for a short-lived JWT that acts for one user. It has all scopes of the key except "
        "admin and enroll. Use it in browsers and other clients that should not hold the key. A token cannot make "
        "tokens.",
        response_description="The token.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=KEYHOLDER,
    )
    async def token(self, keyholder: NamedDependency[Caller]) -> Token:
        """Make it."""
        life = keyholder.settings.jwt_ttl_s
        return Token(
            token=issue_jwt(keyholder.db, keyholder.principal, keyholder.owner, life),
            token_type="Bearer",  # noqa: S106 - the scheme's name
            expires_in=life,
            expires_at=datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=life),
            user_id=keyholder.owner.user_id,
            scopes=sorted(keyholder.principal.scopes - NOT_OF_TOKENS),
        )

    @get(
        "/me",
        operation_id="getMe",
        summary="Get the current user",
        description="Returns the user for whom the caller acts, the user's own node and its aliases.",
        response_description="The user.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def me(self, reader: NamedDependency[Caller]) -> Me:
        """Look."""
        user = await find_user(reader.db, reader.principal.app_id, str(reader.owner.user_id))
        own = await own_names(reader.db, reader.owner)
        return Me(
            user=user,
            node_id=own.node_id,
            label=own.label,
            aliases=list(own.aliases),
            scopes=sorted(reader.principal.scopes),
            administers="admin" in reader.principal.scopes and reader.principal.bound_user_id is None,
        )


class PauseController(Controller):
    """The switch "do not remember"."""

    path = "/me/pause"
    tags = ("account",)

    @get(
        operation_id="getPause",
        summary="Get whether memory is paused",
        description="Returns whether the user's messages are stored at present.",
        response_description="The pause; paused is false if there is none.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def find(self, reader: NamedDependency[Caller]) -> Pause:
        """Look."""
        return await find_pause(reader.db, reader.owner)

    @put(
        operation_id="pauseMemory",
        summary="Do not remember",
        description="From now on no message of the user is stored, whichever door it comes through: messages, hooks, "
        "drop-in chats and MCP. Receipts have the outcome paused; chats go on. Recall goes on, too. Facts, notes, "
        "instructions and blocks of the profile can still be added. A pause that is running gets the new end. Needs "
        "the scope write.",
        response_description="The pause.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def pause(
        self,
        data: Annotated[PauseIn, BodyKwarg(examples=[Example(value={"until": "2099-12-01T08:00:00+01:00"})])],
        writer: NamedDependency[Caller],
    ) -> Pause:
        """Pause."""
        return await pause(writer.db, writer.owner, read_moment(data.until, writer.owner, "until"))

    @delete(
        status_code=200,
        operation_id="resumeMemory",
        summary="Remember again",
        description="Ends the pause: messages are stored again. What was said meanwhile stays unknown. Needs the scope "
        "write.",
        response_description="No pause.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def resume(self, writer: NamedDependency[Caller]) -> Pause:
        """Resume."""
        return await resume(writer.db, writer.owner)


class UsersController(Controller):
    """Users of the key's app."""

    path = "/users"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @post(
        operation_id="addUser",
        summary="Add a user",
        description="Adds a user to the key's app, with the user's own node and aliases. A request with an "
        "Idempotency-Key can be repeated: it returns the user that it created. Needs the scope admin.",
        response_description="The user.",
        responses=documented(400, 401, 403, 409, 413, 415, 503),
    )
    async def add(
        self,
        data: Annotated[
            UserIn,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "name": "Marcel",
                            "external_id": "marcel@example.org",
                            "aliases": ["MW"],
                            "time_zone": "Europe/Berlin",
                            "language": "english",
                        }
                    )
                ]
            ),
        ],
        administrator: NamedDependency[Administrator],
        idempotency_key: OnceParameter = None,
    ) -> User:
        """Add the user."""
        return await add_user_somewhere(
            administrator.cells,
            administrator.app_id,
            name=data.name,
            external_id=data.external_id,
            aliases=data.aliases,
            time_zone=data.time_zone,
            language=data.language,
            once=Once.of("addUser", idempotency_key, data),
        )

    @get(
        operation_id="listUsers",
        summary="List users",
        description="Lists the users of the key's app in the order in which they were added. Needs the scope admin.",
        response_description="One page of users.",
        responses=documented(400, 401, 403, 503),
    )
    async def list(
        self,
        administrator: NamedDependency[Administrator],
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: PageSize = 100,
    ) -> Page[User]:
        """Return one page."""
        position = begin_of(cursor, after)
        users = await list_users(administrator.db, administrator.app_id, after=position, limit=limit)
        return Page(items=users, next_cursor=str(users[-1].user_id) if len(users) == limit else None)


class KeysController(Controller):
    """Keys of the key's app."""

    path = "/keys"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @post(
        operation_id="makeKey",
        summary="Make a key",
        description="Makes a key of the app, for one user or for all users. Its secret is shown only once. To be safe "
        "against a lost answer, send a random Idempotency-Key: for 24 hours, while the key works, repeating the "
        "request returns the same key and secret. Needs the scope admin.",
        response_description="The key and its secret.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
    )
    async def make(
        self,
        data: Annotated[
            KeyIn,
            BodyKwarg(
                examples=[Example(value={"scopes": ["read", "write"], "label": "phone", "expires_in": 7_776_000})]
            ),
        ],
        administrator: NamedDependency[Administrator],
        idempotency_key: OnceParameter = None,
    ) -> NewKey:
        """Make it."""
        check_storable(data.label, "label")
        check_storable(data.user, "user")
        db, app_id = administrator.db, administrator.app_id
        user_id = (await find_user(db, app_id, data.user)).user_id if data.user is not None else None
        secret = await create_key(
            db,
            app_id,
            scopes=data.scopes,
            user_id=user_id,
            label=data.label,
            ttl=timedelta(seconds=data.expires_in) if data.expires_in is not None else None,
            limits=Limits(data.requests_per_minute, data.messages_per_day),
            once=Once.of("makeKey", idempotency_key, data),
        )
        return NewKey(secret=secret, key=await get_key(db, app_id, secret))

    @get(
        operation_id="listKeys",
        summary="List keys",
        description="Lists the app's keys, revoked ones included, oldest first, without their secrets. Needs the scope "
        "admin.",
        response_description="One page of keys.",
        responses=documented(400, 401, 403, 503),
    )
    async def list(
        self, administrator: NamedDependency[Administrator], cursor: CursorParameter = None, limit: PageSize = 100
    ) -> Page[Key]:
        """Return one page."""
        return await list_keys(administrator.db, administrator.app_id, cursor=cursor, limit=limit)

    @put(
        "/{key_id:str}/limits",
        operation_id="limitKey",
        summary="Limit a key",
        description="Sets the limits of a key: requests per clock minute (above it: 429 rate_limited) and messages per "
        "day (above it: 429 quota_exceeded). Both errors have a Retry-After header. Tokens keep the limits that the "
        "key had when they were made. Needs the scope admin.",
        response_description="The key.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def limit(
        self,
        data: Annotated[
            LimitsIn, BodyKwarg(examples=[Example(value={"requests_per_minute": 120, "messages_per_day": 5_000})])
        ],
        administrator: NamedDependency[Administrator],
        key_id: FromPath[str],
    ) -> Key:
        """Limit it."""
        limits = Limits(data.requests_per_minute, data.messages_per_day)
        await limit_key(administrator.db, administrator.app_id, key_id, limits)
        return await get_key(administrator.db, administrator.app_id, key_id)

    @delete(
        "/{key_id:str}",
        operation_id="revokeKey",
        summary="Revoke a key",
        description="Revokes a key of the app immediately. Tokens made from it stay valid for some minutes. Needs the "
        "scope admin.",
        response_description="The key no longer works.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def revoke(self, administrator: NamedDependency[Administrator], key_id: FromPath[str]) -> None:
        """Revoke it."""
        check_storable(key_id, "key_id")
        await revoke_key(administrator.db, administrator.app_id, key_id)
