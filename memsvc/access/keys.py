"""Keys and tokens: who makes a request, what they may do, and for which user.

A key is ``id.secret`` with 128 random bits in the secret; its sha256 is stored and looked up by id. A JWT is a
short-lived replacement of a key for one user, signed with a key derived from the identity secret.

A key that is requested with an Idempotency-Key is not random: id and secret are a keyed hash (HMAC-SHA256) of the
request. So the same key can be returned twice, although it is not stored.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import jwt
import msgspec
import psycopg
from sqlalchemy import exc as sa
from sqlalchemy import text

from memsvc.access.users import HOME, Owner, Place, add_user, policy_for
from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.once import KEPT, Once
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.db.together import Together
from memsvc.errors import (
    AlreadyExistsError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidRequestError,
    NotFoundError,
    QuotaExceededError,
    RateLimitedError,
    UnauthenticatedError,
    UserRequiredError,
    UserUnknownError,
)
from memsvc.text.storable import check_storable

Scope = Literal["read", "write", "forget", "enroll", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "forget", "enroll", "admin")
NOT_OF_TOKENS = frozenset({"admin", "enroll"})
"""What a token, which acts for one user, cannot do."""
KEY_PREFIX = "mk_"
JWT_ALGORITHM = "HS256"
MOST_OF_LIMIT = 1_000_000_000
AUTHENTICATE = query("authenticate_key")
CREATE = text("SELECT memsvc.create_key(:app, :key_id, :hash, :user_id, CAST(:scopes AS text[]), :label, :expires)")
MADE = query("key_was_made")
KEYS = text("SELECT * FROM memsvc.keys_of_app(:app, :key_id, :after, :after_id, :limit)")
COUNT = text("SELECT memsvc.count_request(:key_id)")
SPEND = text("SELECT memsvc.count_messages(:key_id, :messages)")
LIMIT = text("SELECT memsvc.limit_key(:app, :key_id, :requests, :messages)")
RESCOPE = text("SELECT memsvc.rescope_key(:app, :key_id, CAST(:scopes AS text[]))")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a key; None: no limit."""

    requests_per_minute: int | None = None
    """Requests in one minute of the clock."""
    messages_per_day: int | None = None
    """Messages in one day (UTC)."""


UNLIMITED = Limits()


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a request: an app with scopes, and the user that it acts for (None: no user is named or known)."""

    app_id: UUID
    scopes: frozenset[str]
    owner: Owner | None
    bound_user_id: UUID | None = None
    user_ref: str | None = None
    key_id: str | None = None
    """The key, or the key from which the token was made."""
    limits: Limits = UNLIMITED
    place: Place = HOME
    """Where the user's memory is; of a token: where it was when the token was made."""
    moving: bool = False
    """The user is on the way to another place."""
    by_token: bool = False
    """A token was given, and no key."""

    def require(self, scope: Scope) -> None:
        """Check that the scope was granted.

        Raises:
            ForbiddenError: the scope was not granted.
        """
        if scope not in self.scopes:
            raise ForbiddenError(f"This needs the scope {scope!r}.", scope=scope)

    def require_owner(self, scope: Scope) -> Owner:
        """Check that the scope was granted, and return the user that the principal acts for.

        Raises:
            ForbiddenError: the scope was not granted; checked first.
            UserUnknownError: the named user does not exist.
            UserRequiredError: no user was named.
        """
        self.require(scope)
        if self.owner is not None:
            return self.owner
        if self.user_ref is not None:
            raise UserUnknownError
        raise UserRequiredError


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key as doors return it, without its secret, which is shown only when the key is created."""

    key_id: str
    user_id: UUID | None
    scopes: list[str]
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    requests_per_minute: int | None
    """None: no limit."""
    messages_per_day: int | None
    """None: no limit."""
    messages_today: int | None
    """How many were stored today; None: no limit."""


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


async def create_key(
    db: Database,
    app: UUID,
    *,
    scopes: Sequence[str] = ("read", "write"),
    user_id: UUID | None = None,
    label: str = "",
    ttl: timedelta | None = None,
    limits: Limits = UNLIMITED,
    once: Once | None = None,
) -> str:
    """Create a key of the app and return it as ``id.secret``; the secret is not stored.

    Args:
        db: the database.
        app: the app for whose users the key may act.
        scopes: any of read, write, forget, enroll, admin.
        user_id: the only user that the key may act for; None: every user of the app.
        label: what the key is for.
        ttl: how long the key works; None: until it is revoked.
        limits: the limits of the key.
        once: the request with its Idempotency-Key; if it already created a key, that key is returned.

    Raises:
        IdempotencyConflictError: the Idempotency-Key was used for another request or too long ago, or the key that it
            created no longer works.
        InvalidRequestError: there is no scope or an unknown one, ``ttl`` is not positive, or a limit is out of range.
    """
    chosen = _valid(scopes)
    if ttl is not None and ttl <= timedelta(0):
        raise InvalidRequestError("The key's ttl must be positive.", field="ttl")
    _check(limits)
    key_id, secret = _random_key() if once is None else _key_of_request(db, app, user_id, once)
    values = {
        "app": app,
        "key_id": key_id,
        "hash": _hash(secret),
        "user_id": user_id,
        "scopes": chosen,
        "label": label[:200],
        "expires": datetime.now(UTC) + ttl if ttl else None,
    }
    try:
        async with db.transaction() as connection:
            await sign(connection)
            await connection.execute(CREATE, values)
            if limits != UNLIMITED:
                await connection.execute(LIMIT, _limit_values(app, key_id, limits))
    except sa.IntegrityError as error:
        if once is None or not isinstance(error.orig, psycopg.errors.UniqueViolation):
            raise
        await _check_made_before(db, app, key_id, secret)
    return f"{key_id}.{secret}"


def _valid(scopes: Sequence[str]) -> list[str]:
    chosen = sorted(set(scopes))
    if not chosen or not set(chosen) <= set(SCOPES):
        raise InvalidRequestError("Scopes are read, write, forget, enroll and admin; at least one.", field="scopes")
    return chosen


def _random_key() -> tuple[str, str]:
    """Return a random id and secret."""
    return KEY_PREFIX + secrets.token_hex(8), secrets.token_urlsafe(16)


def _key_of_request(db: Database, app: UUID, user_id: UUID | None, once: Once) -> tuple[str, str]:
    """Return the id and secret of a request: the id depends on its Idempotency-Key, the secret also on body and user.

    The secret depends on the user so that a key of an erased user does not work for a later user with the same name.
    """
    derived = db.signer.derived("keys of requests")
    request = app.bytes + once.key
    name = hmac.digest(derived, b"id" + request, "sha256")
    secret = hmac.digest(derived, b"secret" + request + once.digest + (user_id or app).bytes, "sha256")
    return KEY_PREFIX + name[:8].hex(), base64.urlsafe_b64encode(secret[:16]).decode().rstrip("=")


async def _check_made_before(db: Database, app: UUID, key_id: str, secret: str) -> None:
    """Check that the key works with this secret and was created recently.

    Raises:
        IdempotencyConflictError: it does not work or is too old.
    """
    async with db.transaction() as connection:
        values = {"app": app, "key_id": key_id, "hash": _hash(secret), "kept": KEPT}
        works: bool = (await connection.execute(MADE, values)).scalar_one()
    if not works:
        raise IdempotencyConflictError(
            "This Idempotency-Key created another key, or one that is too old or no longer works."
        )


async def limit_key(db: Database, app: UUID, key_id: str, limits: Limits) -> None:
    """Set the limits of a key. Existing tokens are counted only if the key had a limit when they were made.

    Raises:
        NotFoundError: the app has no such working key.
        InvalidRequestError: a limit is out of range.
    """
    _check(limits)
    check_storable(key_id, "key")
    async with db.transaction() as connection:
        await sign(connection)
        values = _limit_values(app, key_id.split(".", 1)[0], limits)
        done: bool = (await connection.execute(LIMIT, values)).scalar_one()
    if not done:
        raise NotFoundError("This app has no such working key.")


async def rescope_key(db: Database, app: UUID, key_id: str, scopes: Sequence[str]) -> None:
    """Set what a key may do, with immediate effect; tokens made from it keep their scopes for at most ``jwt_ttl_s``.

    Raises:
        NotFoundError: the app has no such working key.
        InvalidRequestError: there is no scope or an unknown one.
    """
    chosen = _valid(scopes)
    check_storable(key_id, "key")
    async with db.transaction() as connection:
        await sign(connection)
        values = {"app": app, "key_id": key_id.split(".", 1)[0], "scopes": chosen}
        done: bool = (await connection.execute(RESCOPE, values)).scalar_one()
    if not done:
        raise NotFoundError("This app has no such working key.")


def _check(limits: Limits) -> None:
    for name in ("requests_per_minute", "messages_per_day"):
        value = getattr(limits, name)
        if value is not None and not 1 <= value <= MOST_OF_LIMIT:
            raise InvalidRequestError(f"{name} must be between 1 and {MOST_OF_LIMIT:,}.", field=name)


def _limit_values(app: UUID, key_id: str, limits: Limits) -> dict[str, Any]:
    return {"app": app, "key_id": key_id, "requests": limits.requests_per_minute, "messages": limits.messages_per_day}


async def spend_messages(db: Database, principal: Principal, messages: int) -> None:
    """Count messages against the key's daily limit, if it has one; doors call this before they store.

    Raises:
        QuotaExceededError: they exceed today's limit; none is counted. ``details["retry_after"]`` is in seconds.
    """
    limit = principal.limits.messages_per_day
    if limit is not None and principal.key_id is not None:
        try:
            await spend_messages_of(db, principal.key_id, messages)
        except QuotaExceededError as error:
            error.details["limit"] = limit
            raise


async def spend_messages_of(db: Database, key_id: str, messages: int) -> None:
    """Count messages against a key's daily limit, if it has one, where the keys are. Raises: as ``spend_messages``.

    Args:
        db: the database with the user's memory.
        key_id: the key.
        messages: how many are about to be stored.
    """
    async with db.accounts.statement() as connection:
        values = {"key_id": key_id, "messages": messages}
        wait_s: int = (await connection.execute(SPEND, values)).scalar_one() or 0
    if wait_s:
        raise QuotaExceededError(retry_after=wait_s)


def _refuse_if(wait_s: int | None, limits: Limits) -> None:
    """Refuse a request that exceeds the key's limit.

    Raises:
        RateLimitedError: ``wait_s`` is positive. ``details["retry_after"]`` is in seconds.
    """
    if wait_s:
        raise RateLimitedError(limit=limits.requests_per_minute, retry_after=wait_s)


async def list_keys(db: Database, app: UUID, *, cursor: str | None = None, limit: int = 100) -> Page[Key]:
    """Return keys of the app, oldest first, including revoked ones.

    Args:
        db: the database.
        app: the app.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    after, after_id = read_cursor(cursor, tuple[Moment, str]) if cursor is not None else (None, None)
    found = await _keys(db, app, after=after, after_id=after_id, limit=limit + 1)
    last = found[limit - 1] if len(found) > limit else None
    following = write_cursor((last.created_at, last.key_id)) if last is not None else None
    return Page(items=found[:limit], next_cursor=following)


async def get_key(db: Database, app: UUID, key_id: str) -> Key:
    """Return one key of the app, by its id or by the full key.

    Raises:
        NotFoundError: the app has no such key.
    """
    check_storable(key_id, "key")
    found = await _keys(db, app, key_id=key_id.split(".", 1)[0])
    if not found:
        raise NotFoundError("This app has no such key.")
    return found[0]


async def _keys(
    db: Database,
    app: UUID,
    *,
    key_id: str | None = None,
    after: datetime | None = None,
    after_id: str | None = None,
    limit: int = 1,
) -> list[Key]:
    values = {"app": app, "key_id": key_id, "after": after, "after_id": after_id, "limit": limit}
    async with db.transaction() as connection:
        rows = await connection.execute(KEYS, values)
        return [Key(**row) for row in rows.mappings()]


async def revoke_key(db: Database, app: UUID, key_id: str) -> None:
    """Revoke a key; JWTs made from it stay valid for at most ``jwt_ttl_s``.

    Raises:
        NotFoundError: the app has no such working key.
    """
    async with db.transaction() as connection:
        await sign(connection)
        done: bool = (
            await connection.execute(
                text("SELECT memsvc.revoke_key(:app, :key_id)"), {"app": app, "key_id": key_id.split(".", 1)[0]}
            )
        ).scalar_one()
    if not done:
        raise NotFoundError("This app has no such working key.")


Enrol = Callable[[UUID, str], Awaitable[object]]
"""Adds a user to an app, by its id and the user's name."""


async def authenticate(db: Database, credential: str, user_ref: str | None, *, enrol: Enrol | None = None) -> Principal:
    """Return the principal of a bearer credential (a key or a JWT).

    A key of the whole app with the scope enroll adds the named user if the app has none: the external id is the name.

    Args:
        db: the database.
        credential: the text after ``Bearer``.
        user_ref: id or external id of the user to act for, from ``X-Memsvc-User``.
        enrol: adds a user; None: to this database.

    Raises:
        UnauthenticatedError: the credential is not valid, for whatever reason.
        RateLimitedError: the request exceeds the key's limit.
        InvalidRequestError: the user to add has no valid name.
    """
    principal = await _found(db, credential, user_ref)
    enrolls = "enroll" in principal.scopes and principal.bound_user_id is None
    if user_ref is None or principal.owner is not None or not enrolls:
        return principal
    with suppress(AlreadyExistsError):  # added a moment ago, or being erased
        if enrol is not None:
            await enrol(principal.app_id, user_ref)
        else:
            await add_user(db, principal.app_id, name=user_ref)
    return await _found(db, credential, user_ref)


async def _found(db: Database, credential: str, user_ref: str | None) -> Principal:
    if not credential.startswith(KEY_PREFIX):
        principal = _from_jwt(db, credential, user_ref)
        if principal.limits.requests_per_minute is not None:
            async with db.statement() as connection:
                wait_s = (await connection.execute(COUNT, {"key_id": principal.key_id})).scalar_one()
            _refuse_if(wait_s, principal.limits)
        return principal
    key_id, _, secret = credential.partition(".")
    if "\0" in credential or (user_ref is not None and "\0" in user_ref):
        raise UnauthenticatedError
    trip = Together(db, None, stores=False)
    rows = trip.ask(AUTHENTICATE, {"key_id": key_id, "hash": _hash(secret), "ref": user_ref})
    await trip.send()
    if not rows:
        raise UnauthenticatedError
    [row] = rows
    limits = Limits(row.requests_per_minute, row.messages_per_day)
    _refuse_if(row.wait_s, limits)
    owner = None
    if row.user_id is not None:
        policy = policy_for(db, row.app_policy, row.own_policy)
        owner = Owner(row.user_id, row.user_name, row.time_zone, row.language, policy)
    return Principal(
        row.app_id,
        frozenset(row.scopes),
        owner,
        row.bound_user_id,
        user_ref,
        key_id,
        limits,
        HOME if owner is None else Place(row.cell_id, row.epoch),
        owner is not None and row.moving,
    )


def issue_jwt(db: Database, principal: Principal, owner: Owner, ttl_s: int) -> str:
    """Return a JWT for ``ttl_s`` seconds that acts for one user, with the principal's scopes that concern it."""
    now = datetime.now(UTC)
    claims = {
        "iss": "memsvc",
        "sub": str(owner.user_id),
        "app": str(principal.app_id),
        "scopes": sorted(principal.scopes - NOT_OF_TOKENS),
        "name": owner.name,
        "zone": owner.time_zone,
        "lang": owner.language,
        "policy": owner.policy.told(),
        "iat": now,
        "exp": now + timedelta(seconds=ttl_s),
        "key": principal.key_id,
        "place": [principal.place.cell_id, principal.place.epoch],
        "limits": [principal.limits.requests_per_minute, principal.limits.messages_per_day],
    }
    return jwt.encode(claims, db.signer.derived("jwt"), JWT_ALGORITHM)


def _from_jwt(db: Database, token: str, user_ref: str | None) -> Principal:
    try:
        claims = jwt.decode(
            token,
            db.signer.derived("jwt"),
            algorithms=[JWT_ALGORITHM],
            issuer="memsvc",
            options={"require": ["exp", "sub", "iss", "app", "scopes"]},
        )
        user_id = UUID(claims["sub"])
        policy = policy_for(db, claims.get("policy"))
        owner = Owner(user_id, claims["name"], claims["zone"], claims["lang"], policy)
        app = UUID(claims["app"])
        limits = Limits(*claims.get("limits", ()))
        place = Place(*claims.get("place", ()))
    except (jwt.InvalidTokenError, ValueError, KeyError, TypeError) as error:
        raise UnauthenticatedError from error
    acts_for = owner if user_ref in {None, claims["sub"]} else None
    scopes = frozenset(claims["scopes"])
    return Principal(app, scopes, acts_for, user_id, user_ref, claims.get("key"), limits, place, by_token=True)
