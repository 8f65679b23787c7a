"""Errors about the caller: keys, scopes, users, limits and connections."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class UnauthenticatedError(MemsvcError):
    """The key or token is missing, wrong, expired or revoked."""

    code, status, exit_code = "unauthenticated", 401, 4
    hint = "Send 'Authorization: Bearer <key>'; 'memsvc key create' makes one."


class ForbiddenError(MemsvcError):
    """The key's scopes do not allow this."""

    code, status, exit_code = "forbidden", 403, 4
    hint = "Use a key with the needed scope (read, write, forget, enroll or admin)."


class HostRefusedError(ForbiddenError):
    """This service does not accept the host name in the request's Host header."""

    code = "host_refused"
    hint = "Call it as localhost or at MEMSVC_PUBLIC_URL, or add the name to MEMSVC_ALLOWED_HOSTS."


class OriginRefusedError(ForbiddenError):
    """Web pages of other sites may not call this address."""

    code = "origin_refused"
    hint = "Call it from a program, or add the page's host to MEMSVC_ALLOWED_HOSTS."


class UserUnknownError(MemsvcError):
    """The key's app has no user with this name or id."""

    code, status, exit_code = "user_unknown", 404, 4
    hint = "Name the user in the X-Memsvc-User header; 'memsvc user add' creates one."


class UserErasedError(UserUnknownError):
    """The user was erased."""

    code = "user_erased"
    hint = "No more events will come. Do not connect again."


class UserRequiredError(MemsvcError):
    """This key may act for several users, and the request names none."""

    code, status, exit_code = "user_required", 400, 4
    hint = "Send the header X-Memsvc-User with a user's id or external id."


class TicketInvalidError(UnauthenticatedError):
    """The ticket is malformed, expired or already used."""

    code = "ticket_invalid"
    hint = "POST /v1/live/ticket returns a new one. It works once, within 30 seconds."


class LinkInvalidError(UnauthenticatedError):
    """The link to the web page is malformed, expired or already used."""

    code = "link_invalid"
    hint = "'memsvc web' prints a new one. It works once, within ten minutes."


class TooManyConnectionsError(MemsvcError):
    """Too many live connections are open."""

    code, status, exit_code, passing = "too_many_connections", 429, 4, True
    hint = "Close one first; MEMSVC_LIVE_PER_USER and MEMSVC_LIVE_CONNECTIONS set the limits of a process."


class SlowReaderError(MemsvcError):
    """The client did not read what the service sent in time."""

    code, status, exit_code, passing = "slow_reader", 408, 4, True
    hint = "Connect again with the last cursor. Nothing is lost."


class RateLimitedError(MemsvcError):
    """This key has sent too many requests in this minute."""

    code, status, exit_code, passing = "rate_limited", 429, 4, True
    hint = "Wait as many seconds as Retry-After says. 'memsvc key limit' sets the limits of a key."


class BudgetExceededError(MemsvcError):
    """The budget of this user, or of the app, is used up for today."""

    code, status, exit_code, passing = "budget_exceeded", 429, 4, True
    hint = "Wait until tomorrow (UTC), or send less at a time. 'memsvc budget set' sets what may be used in a day."


class QuotaExceededError(MemsvcError):
    """This key has used up its message quota for today."""

    code, status, exit_code, passing = "quota_exceeded", 429, 4, True
    hint = "Wait until tomorrow (UTC), or send fewer messages at a time. 'memsvc key limit' sets the limits of a key."
