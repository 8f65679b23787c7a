"""Sessions of the web page: a credential in two halves, which is worth nothing until they meet here.

Signing in gives the browser two texts of the same length whose exclusive or is the key or token. One is a cookie that
no script can read (HttpOnly, SameSite=Strict). The other is kept by the page's script and sent as a header. So a script
that is smuggled into the page cannot carry the key away; another program on this machine, to whose port browsers send
the cookie too, gets half of it; and another site's page, which cannot send the header, acts for nobody (docs/adr/0061).
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from datetime import UTC, datetime
from typing import Any

import msgspec
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie

from memsvc.access.page import SESSION

HEADER = "X-Memsvc-Page"
SENT = re.compile(r"(?P<id>[0-9a-f]{16})\.(?P<half>[A-Za-z0-9_-]{1,8000})", re.ASCII)
COOKIE = "memsvc_page_"
LINKED = "l."
"""Begins the cookie of a session whose key was made for it, by a link. The key ends with the session."""
GIVEN = "k."


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """What the page keeps of its session."""

    page: str
    """Sent in the header X-Memsvc-Page with each request."""
    expires_at: datetime
    user: str | None
    """For which user the page acts, in X-Memsvc-User; null: the key has only one."""


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def begin(credential: str, *, linked: bool, secure: bool, user: str | None = None) -> tuple[Session, Cookie]:
    """Return the two halves of a new session.

    Args:
        credential: the key or token.
        linked: the key was made for this session.
        secure: the page came by HTTPS, so the cookie never travels without it.
        user: for which user the page acts.
    """
    session_id, whole = secrets.token_hex(8), credential.encode()
    mask = secrets.token_bytes(len(whole))
    half = bytes(a ^ b for a, b in zip(whole, mask, strict=True))
    cookie = Cookie(
        key=COOKIE + session_id,
        value=(LINKED if linked else GIVEN) + _text(mask),
        max_age=int(SESSION.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    return Session(page=f"{session_id}.{_text(half)}", expires_at=datetime.now(UTC) + SESSION, user=user), cookie


def credential_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return the key or token of the page's session; empty if either half is missing or wrong."""
    found = SENT.fullmatch(connection.headers.get(HEADER, ""))
    mask = connection.cookies.get(cookie_of(connection), "")[len(GIVEN) :]
    if found is None or not mask:
        return ""
    try:
        return bytes(a ^ b for a, b in zip(_bytes(found["half"]), _bytes(mask), strict=True)).decode()
    except (ValueError, binascii.Error):  # also of other lengths, or no text
        return ""


def cookie_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return the name of the cookie that belongs to the header of this request."""
    found = SENT.fullmatch(connection.headers.get(HEADER, ""))
    return COOKIE + (found["id"] if found else "")


def is_linked(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Whether the session's key was made for it."""
    return connection.cookies.get(cookie_of(connection), "").startswith(LINKED)
