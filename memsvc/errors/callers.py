"""Errors of who asks."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class UnauthenticatedError(MemsvcError):
    """The key or token is missing, wrong, expired or revoked."""

    code, status, exit_code = "unauthenticated", 401, 4
    hint = "Send 'Authorization: Bearer <key>'; 'memsvc key create' makes one."


class ForbiddenError(MemsvcError):
    """The key's scopes do not allow that."""

    code, status, exit_code = "forbidden", 403, 4
    hint = "Use a key with the needed scope (read, write, forget or admin)."


class HostRefusedError(ForbiddenError):
    """This service does not answer to the name of the request's Host."""

    code = "host_refused"
    hint = "Call it as localhost or by MEMSVC_PUBLIC_URL, or add the name to MEMSVC_ALLOWED_HOSTS."


class OriginRefusedError(ForbiddenError):
    """A web page of another site may not use this address."""

    code = "origin_refused"
    hint = "Call it from a program, or add the page's host to MEMSVC_ALLOWED_HOSTS."


class UserUnknownError(MemsvcError):
    """The key's app has no such user."""

    code, status, exit_code = "user_unknown", 404, 4
    hint = "Name the user in the X-Memsvc-User header; 'memsvc user add' creates one."


class UserErasedError(UserUnknownError):
    """The user was erased."""

    code = "user_erased"
    hint = "Nothing more will come; do not connect again."


class UserRequiredError(MemsvcError):
    """This key may act for several users, and the request names none."""

    code, status, exit_code = "user_required", 400, 4
    hint = "Send the header X-Memsvc-User with a user's id or external id."


class TicketInvalidError(UnauthenticatedError):
    """The ticket is no ticket, is too old, or was used before."""

    code = "ticket_invalid"
    hint = "POST /v1/live/ticket gives another one; it works once, for half a minute."


class TooManyConnectionsError(MemsvcError):
    """Too many live connections are open."""

    code, status, exit_code, passing = "too_many_connections", 429, 4, True
    hint = "Close one first; MEMSVC_LIVE_PER_USER and MEMSVC_LIVE_CONNECTIONS are the limits of a process."


class SlowReaderError(MemsvcError):
    """The client did not take what it was sent."""

    code, status, exit_code, passing = "slow_reader", 408, 4, True
    hint = "Connect again with the last cursor: nothing is lost."


class RateLimitedError(MemsvcError):
    """This key has sent too many requests in this minute."""

    code, status, exit_code, passing = "rate_limited", 429, 4, True
    hint = "Wait for the seconds of Retry-After; 'memsvc key limit' sets the limits of a key."


class QuotaExceededError(MemsvcError):
    """This key has stored its messages of today."""

    code, status, exit_code, passing = "quota_exceeded", 429, 4, True
    hint = "It goes on tomorrow (UTC), or send fewer at once; 'memsvc key limit' sets the limits of a key."
