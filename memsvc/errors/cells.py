"""Errors of moving users between cells."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class MoveRefusedError(MemsvcError):
    """This user cannot be moved like this."""

    code, status, exit_code = "move_refused", 409, 3
    hint = "Nothing was changed. docs/cells.md says what a move needs."


class MoveBusyError(MemsvcError):
    """Another process is moving this user now."""

    code, status, exit_code = "move_busy", 409, 3
    hint = "Wait until it has ended. If it was killed, its database session ends within moments; then try again."


class MoveBlockedError(MemsvcError):
    """Work that began before the user was frozen does not end."""

    code, status, exit_code, passing = "move_blocked", 503, 69, True
    hint = "The user goes on in the old cell, and what was copied stays. Run the command again when the work has ended."


class MoveDiffersError(MemsvcError):
    """The copy of this user is not equal to the original."""

    code, status, exit_code = "move_differs", 500, 1
    hint = "The user goes on in the old cell. Run the command again; if this repeats, give --abort and report it."


class MoveLoginError(MemsvcError):
    """This login may not move users."""

    code, exit_code = "move_login", 78
    hint = (
        "Use a superuser, or a member of memsvc_owner and pg_monitor with BYPASSRLS that may set the parameter "
        "session_replication_role."
    )
