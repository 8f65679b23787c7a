"""Keys and tokens: who asks, what they may do, and for which user.

A key is ``id.secret`` with 128 random bits in the secret; its sha256 is stored and looked up by id. A JWT is a key's
short-lived stand-in for one user, signed with a key derived from the identity secret.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

import jwt
import msgspec
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
    UserRequiredError,
    UserUnknownError,
)

Scope = Literal["read", "write", "forget", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "forget", "admin")
KEY_PREFIX = "mk_"
JWT_ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an app with scopes, and the user it acts for (None: no user named, or a token of the app itself)."""

    app_id: UUID
    scopes: frozenset[str]
    owner: Owner | None
    bound_user_id: UUID | None = None
    user_ref: str | None = None

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
) -> str:
    """Make a key of the app and return it as ``id.secret``; the secret is not kept.

    Args:
        db: the database.
        app: the app whose users it may act for.
        scopes: any of read, write, forget, admin.
        user_id: the only user it may act for; None: every user of the app.
        label: what it is for.
        ttl: how long it works; None: until it is revoked.

    Raises:
        InvalidRequestError: no scope, an unknown one, or a life that is over before it began.
    """
    chosen = sorted(set(scopes))
    if not chosen or not set(chosen) <= set(SCOPES):
        raise InvalidRequestError("Scopes are read, write, forget and admin; at least one.", field="scopes")
    if ttl is not None and ttl <= timedelta(0):
        raise InvalidRequestError("The key's life must be longer than nothing.", field="ttl")
    key_id, secret = KEY_PREFIX + secrets.token_hex(8), secrets.token_urlsafe(16)
    async with db.transaction() as connection:
        await connection.execute(
            text("SELECT memsvc.create_key(:app, :key_id, :hash, :user_id, CAST(:scopes AS text[]), :label, :expires)"),
            {
                "app": app,
                "key_id": key_id,
                "hash": _hash(secret),
                "user_id": user_id,
                "scopes": chosen,
                "label": label[:200],
                "expires": datetime.now(UTC) + ttl if ttl else None,
            },
        )
    return f"{key_id}.{secret}"


async def list_keys(db: Database, app: UUID) -> list[Key]:
    """Keys of the app, oldest first, revoked ones too."""
    async with db.transaction() as connection:
        rows = await connection.execute(text("SELECT * FROM memsvc.keys_of_app(:app)"), {"app": app})
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
    """
    if not credential.startswith(KEY_PREFIX):
        return _from_jwt(db, credential, user_ref)
    key_id, _, secret = credential.partition(".")
    if "\0" in credential or (user_ref is not None and "\0" in user_ref):
        raise UnauthenticatedError
    async with db.transaction() as connection:
        row = (
            await connection.execute(
                text("SELECT * FROM memsvc.authenticate_key(:key_id, :hash, :ref)"),
                {"key_id": key_id, "hash": _hash(secret), "ref": user_ref},
            )
        ).one_or_none()
    if row is None:
        raise UnauthenticatedError
    owner = Owner(row.user_id, row.user_name, row.time_zone, row.language) if row.user_id is not None else None
    return Principal(row.app_id, frozenset(row.scopes), owner, row.bound_user_id, user_ref)


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
    except (jwt.InvalidTokenError, ValueError, KeyError) as error:
        raise UnauthenticatedError from error
    if user_ref is not None and user_ref != claims["sub"]:
        return Principal(app, frozenset(claims["scopes"]), None, user_id, user_ref)
    return Principal(app, frozenset(claims["scopes"]), owner, user_id, user_ref)
