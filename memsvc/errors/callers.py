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


class UserUnknownError(MemsvcError):
    """The key's app has no such user."""

    code, status, exit_code = "user_unknown", 404, 4
    hint = "Name the user in the X-Memsvc-User header; 'memsvc user add' creates one."


class UserRequiredError(MemsvcError):
    """This key may act for several users, and the request names none."""

    code, status, exit_code = "user_required", 400, 4
    hint = "Send the header X-Memsvc-User with a user's id or external id."
