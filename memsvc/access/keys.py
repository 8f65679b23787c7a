"""Keys and tokens: who asks, what they may do, and for which user.

A key is ``id.secret`` with 128 random bits in the secret; its sha256 is stored and looked up by id. A JWT is a key's
short-lived stand-in for one user, signed with a key derived from the identity secret.

A key that is asked for with an Idempotency-Key is not drawn at random: id and secret are a keyed hash (HMAC-SHA256) of
what was asked for. So the answer can be given twice, and is still kept nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import jwt
import msgspec
import psycopg
from sqlalchemy import exc as sa
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.once import KEPT, Once
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.db.together import Together
from memsvc.errors import (
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

Scope = Literal["read", "write", "forget", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "forget", "admin")
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


@dataclass(frozen=True, slots=True)
class Limits:
    """What a key may use; None: any number."""

    requests_per_minute: int | None = None
    """In a minute of the clock."""
    messages_per_day: int | None = None
    """In a day (UTC)."""


UNLIMITED = Limits()


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an app with scopes, and the user it acts for (None: no user named, or a token of the app itself)."""

    app_id: UUID
    scopes: frozenset[str]
    owner: Owner | None
    bound_user_id: UUID | None = None
    user_ref: str | None = None
    key_id: str | None = None
    """The key, or the one that the token was made from."""
    limits: Limits = UNLIMITED

    def require(self, scope: Scope) -> None:
        """Refuse unless the scope was granted.

        Raises:
            ForbiddenError: it was not.
        """
        if scope not in self.scopes:
            raise ForbiddenError(f"This needs the scope {scope!r}.", scope=scope)

    def require_owner(self, scope: Scope) -> Owner:
        """The user acted for, if the scope was granted.

        Raises:
            ForbiddenError, UserRequiredError, UserUnknownError: in this order of checks.
        """
        self.require(scope)
        if self.owner is not None:
            return self.owner
        if self.user_ref is not None:
            raise UserUnknownError
        raise UserRequiredError


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key as the doors show it; its secret is shown once, when it is made."""

    key_id: str
    user_id: UUID | None
    scopes: list[str]
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    requests_per_minute: int | None
    """None: any number."""
    messages_per_day: int | None
    """None: any number."""
    messages_today: int | None
    """How many of them are used, where there is a limit."""


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
    """Make a key of the app and return it as ``id.secret``; the secret is not kept.

    Args:
        db: the database.
        app: the app whose users it may act for.
        scopes: any of read, write, forget, admin.
        user_id: the only user it may act for; None: every user of the app.
        label: what it is for.
        ttl: how long it works; None: until it is revoked.
        limits: what it may use.
        once: the request that it comes from: where it made a key before, that key is given and nothing is done.

    Raises:
        IdempotencyConflictError: the key of ``once`` came with another request, or so long ago, or what it made does
            not work any more.
        InvalidRequestError: no scope, an unknown one, a life that is over before it began, or a limit that is none.
    """
    chosen = sorted(set(scopes))
    if not chosen or not set(chosen) <= set(SCOPES):
        raise InvalidRequestError("Scopes are read, write, forget and admin; at least one.", field="scopes")
    if ttl is not None and ttl <= timedelta(0):
        raise InvalidRequestError("The key's life must be longer than nothing.", field="ttl")
    _check(limits)
    key_id, secret = _drawn() if once is None else _of_request(db, app, user_id, once)
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
            await connection.execute(CREATE, values)
            if limits != UNLIMITED:
                await connection.execute(LIMIT, _limit_values(app, key_id, limits))
    except sa.IntegrityError as error:
        if once is None or not isinstance(error.orig, psycopg.errors.UniqueViolation):
            raise
        await _check_made_before(db, app, key_id, secret)
    return f"{key_id}.{secret}"


def _drawn() -> tuple[str, str]:
    """Id and secret by chance."""
    return KEY_PREFIX + secrets.token_hex(8), secrets.token_urlsafe(16)


def _of_request(db: Database, app: UUID, user_id: UUID | None, once: Once) -> tuple[str, str]:
    """Id and secret that a request always gives: the id by its key, the secret by its body and its user, too.

    The user counts so that no key of somebody who was erased works for who has that name next.
    """
    derived = db.signer.derived("keys of requests")
    asked = app.bytes + once.key
    name = hmac.digest(derived, b"id" + asked, "sha256")
    secret = hmac.digest(derived, b"secret" + asked + once.digest + (user_id or app).bytes, "sha256")
    return KEY_PREFIX + name[:8].hex(), base64.urlsafe_b64encode(secret[:16]).decode().rstrip("=")


async def _check_made_before(db: Database, app: UUID, key_id: str, secret: str) -> None:
    """Refuse unless the key works, with this secret, and is new.

    Raises:
        IdempotencyConflictError: it is otherwise.
    """
    async with db.transaction() as connection:
        values = {"app": app, "key_id": key_id, "hash": _hash(secret), "kept": KEPT}
        works: bool = (await connection.execute(MADE, values)).scalar_one()
    if not works:
        raise IdempotencyConflictError("This Idempotency-Key made another key, or one that is old or works no longer.")


async def limit_key(db: Database, app: UUID, key_id: str, limits: Limits) -> None:
    """Set what a key may use from now on. Tokens of it that live are counted where it was limited when they were made.

    Raises:
        NotFoundError: the app has no such working key.
        InvalidRequestError: a limit that is none.
    """
    _check(limits)
    check_storable(key_id, "key")
    async with db.transaction() as connection:
        values = _limit_values(app, key_id.split(".", 1)[0], limits)
        done: bool = (await connection.execute(LIMIT, values)).scalar_one()
    if not done:
        raise NotFoundError("This app has no such working key.")


def _check(limits: Limits) -> None:
    for name in ("requests_per_minute", "messages_per_day"):
        value = getattr(limits, name)
        if value is not None and not 1 <= value <= MOST_OF_LIMIT:
            raise InvalidRequestError(f"{name} must lie between 1 and {MOST_OF_LIMIT:,}.", field=name)


def _limit_values(app: UUID, key_id: str, limits: Limits) -> dict[str, Any]:
    return {"app": app, "key_id": key_id, "requests": limits.requests_per_minute, "messages": limits.messages_per_day}


async def spend_messages(db: Database, principal: Principal, messages: int) -> None:
    """Count messages that somebody is about to store, where the key has a limit; for doors, before they store.

    Raises:
        QuotaExceededError: they are too many for today; none is counted. ``details["retry_after"]`` is in seconds.
    """
    if principal.limits.messages_per_day is None:
        return
    async with db.statement() as connection:
        values = {"key_id": principal.key_id, "messages": messages}
        wait_s: int = (await connection.execute(SPEND, values)).scalar_one() or 0
    if wait_s:
        raise QuotaExceededError(limit=principal.limits.messages_per_day, retry_after=wait_s)


def _refuse_if(wait_s: int | None, limits: Limits) -> None:
    """Refuse a request that is one too many.

    Raises:
        RateLimitedError: it is. ``details["retry_after"]`` is in seconds.
    """
    if wait_s:
        raise RateLimitedError(limit=limits.requests_per_minute, retry_after=wait_s)


async def list_keys(db: Database, app: UUID, *, cursor: str | None = None, limit: int = 100) -> Page[Key]:
    """Keys of the app, oldest first, revoked ones too.

    Args:
        db: the database.
        app: whose.
        cursor: ``next_cursor`` of the page before.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the cursor or the limit cannot be used.
    """
    check_page(limit)
    after, after_id = read_cursor(cursor, tuple[Moment, str]) if cursor is not None else (None, None)
    found = await _keys(db, app, after=after, after_id=after_id, limit=limit + 1)
    last = found[limit - 1] if len(found) > limit else None
    following = write_cursor((last.created_at, last.key_id)) if last is not None else None
    return Page(items=found[:limit], next_cursor=following)


async def get_key(db: Database, app: UUID, key_id: str) -> Key:
    """One key of the app, by its id or by all of it.

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
    """End a key; JWTs made from it live on for at most ``jwt_ttl_s``.

    Raises:
        NotFoundError: the app has no such working key.
    """
    async with db.transaction() as connection:
        done: bool = (
            await connection.execute(
                text("SELECT memsvc.revoke_key(:app, :key_id)"), {"app": app, "key_id": key_id.split(".", 1)[0]}
            )
        ).scalar_one()
    if not done:
        raise NotFoundError("This app has no such working key.")


async def authenticate(db: Database, credential: str, user_ref: str | None) -> Principal:
    """Who stands behind a bearer credential (a key or a JWT).

    Args:
        db: the database.
        credential: what followed ``Bearer``.
        user_ref: id or external id of the user to act for, from ``X-Memsvc-User``.

    Raises:
        UnauthenticatedError: the credential does not work, whatever the reason.
        RateLimitedError: the key has a limit of requests, which this one exceeds.
    """
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
    owner = Owner(row.user_id, row.user_name, row.time_zone, row.language) if row.user_id is not None else None
    return Principal(row.app_id, frozenset(row.scopes), owner, row.bound_user_id, user_ref, key_id, limits)


def issue_jwt(db: Database, principal: Principal, owner: Owner, ttl_s: int) -> str:
    """A JWT for ``ttl_s`` seconds, by which a client acts for one user with the principal's scopes, never admin."""
    now = datetime.now(UTC)
    claims = {
        "iss": "memsvc",
        "sub": str(owner.user_id),
        "app": str(principal.app_id),
        "scopes": sorted(principal.scopes - {"admin"}),
        "name": owner.name,
        "zone": owner.time_zone,
        "lang": owner.language,
        "iat": now,
        "exp": now + timedelta(seconds=ttl_s),
        "key": principal.key_id,
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
        owner = Owner(user_id, claims["name"], claims["zone"], claims["lang"])
        app = UUID(claims["app"])
        limits = Limits(*claims.get("limits", ()))
    except (jwt.InvalidTokenError, ValueError, KeyError, TypeError) as error:
        raise UnauthenticatedError from error
    acts_for = owner if user_ref in {None, claims["sub"]} else None
    return Principal(app, frozenset(claims["scopes"]), acts_for, user_id, user_ref, claims.get("key"), limits)
