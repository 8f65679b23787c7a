"""What a driver's error means: only this module turns errors of PostgreSQL's driver into those of ``memsvc.errors``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec
import psycopg
from psycopg import errors as pg
from sqlalchemy import exc as sa

from memsvc.db.clock import midnight
from memsvc.errors import (
    BudgetExceededError,
    ConfigurationError,
    ContendedError,
    DatabaseTooOldError,
    DatabaseUnavailableError,
    MemsvcError,
    OutcomeUnknownError,
    OverloadedError,
    RestoreUnfinishedError,
    StorageFullError,
    UserMovingError,
    UserUnknownError,
)


def _refused() -> MemsvcError:
    return DatabaseUnavailableError(
        "The database refuses memsvc's login.", hint="Run 'memsvc db upgrade', then 'memsvc doctor'."
    )


def unbelieved() -> ConfigurationError:
    """The error for an identity token that the database did not accept."""
    return ConfigurationError(
        "The database does not believe this process's identity tokens.",
        hint="Its clock differs, or MEMSVC_IDENTITY_SECRET is not the database's: see 'memsvc doctor'.",
    )


MEANINGS: tuple[tuple[tuple[type[Exception], ...], Callable[[], MemsvcError]], ...] = (
    ((pg.DiskFull,), StorageFullError),
    (
        (pg.UndefinedTable, pg.UndefinedFunction, pg.UndefinedColumn, pg.InvalidSchemaName),
        DatabaseTooOldError,
    ),
    ((pg.DeadlockDetected, pg.SerializationFailure), ContendedError),
    (
        (pg.QueryCanceled, pg.LockNotAvailable, pg.TooManyConnections),
        lambda: OverloadedError("The database took too long."),
    ),
    ((pg.InvalidPassword, pg.InvalidAuthorizationSpecification, pg.InvalidCatalogName), _refused),
)


BUDGET_EXCEEDED = "MS008"
"""The SQLSTATE that ``memsvc.spend_budget`` raises."""
STATES: Mapping[str | None, Callable[[], MemsvcError]] = {
    "MS003": lambda: UserUnknownError("This user does not exist any more."),
    "MS004": unbelieved,
    "MS006": RestoreUnfinishedError,
    "MS007": lambda: UserMovingError(retry_after=1),
}
"""SQLSTATEs that ``memsvc.act_for`` and ``memsvc.require_restored`` raise."""
THE_SCHEMA = re.compile(r"\bmemsvc\b")
"""Matches the schema's name, to which access is denied until policies are applied. The rest of PostgreSQL's message may
be in any language."""
NOT_READY = "If a restore was interrupted, run 'memsvc restore' again. Otherwise run 'memsvc db upgrade'."


def _erased_meanwhile(error: pg.ForeignKeyViolation) -> MemsvcError:
    if (error.diag.constraint_name or "").endswith("user_id_fkey"):
        return UserUnknownError("This user does not exist any more.")
    return ContendedError("What this belongs to was erased meanwhile.")


def _beyond_budget(error: psycopg.Error) -> MemsvcError:
    """The error for a budget that ``memsvc.spend_budget`` found exceeded."""
    told: dict[str, Any] = msgspec.json.decode(error.diag.message_detail or "{}")
    resets_at = midnight()
    whose = "the app's users" if told.get("whose") == "app" else "this user"
    return BudgetExceededError(
        f"Today's budget of {told.get('limit', 0):,} {told.get('budget', '')} of {whose} does not allow it.",
        retry_after=math.ceil((resets_at - datetime.now(UTC)).total_seconds()),
        resets_at=resets_at.isoformat(),
        **told,
    )


def _of_an_upgrade(error: psycopg.Error) -> MemsvcError | None:
    """The meaning of an error that our own functions raise, or that an upgrade causes."""
    if error.sqlstate == BUDGET_EXCEEDED:
        return _beyond_budget(error)
    if error.sqlstate in STATES:
        return STATES[error.sqlstate]()
    if isinstance(error, pg.FeatureNotSupported) and error.diag.source_function == "RevalidateCachedQuery":
        return ContendedError("The database was upgraded meanwhile.")  # the rollback drops prepared statements
    if isinstance(error, pg.InsufficientPrivilege) and THE_SCHEMA.search(error.diag.message_primary or ""):
        return DatabaseTooOldError("Nobody may use this database yet.", hint=NOT_READY)
    return None


def plain_error(error: Exception) -> MemsvcError | None:
    """What a driver's error means to a user of memsvc; None if it is a defect of memsvc."""
    if isinstance(error, sa.TimeoutError):
        return OverloadedError("All database connections are busy.")
    cause = error.orig if isinstance(error, sa.DBAPIError) else error
    if isinstance(cause, psycopg.Error) and (of_ours := _of_an_upgrade(cause)) is not None:
        return of_ours
    for kinds, meaning in MEANINGS:
        if isinstance(cause, kinds):
            return meaning()
    if isinstance(cause, pg.ForeignKeyViolation):
        return _erased_meanwhile(cause)
    if isinstance(cause, (psycopg.OperationalError, psycopg.InterfaceError)):
        # A refused connection has no SQLSTATE, only the server's message.
        said = str(cause)
        if "No space left on device" in said:
            return StorageFullError()
        if "authentication failed" in said or ("FATAL:  " in said and "does not exist" in said):
            return _refused()
        return DatabaseUnavailableError()
    return None


DRIVERS_ERRORS = (sa.SQLAlchemyError, psycopg.Error, OSError)


@contextmanager
def plainly() -> Iterator[None]:
    """Turn driver errors into those of ``memsvc.errors``; errors that are defects of memsvc stay as they are."""
    try:
        yield
    except DRIVERS_ERRORS as error:
        plain = plain_error(error)
        if plain is None:
            raise
        raise plain from error


@contextmanager
def in_doubt() -> Iterator[None]:
    """Raise OutcomeUnknownError if the connection is lost in the block, which sends a commit and awaits its answer."""
    try:
        yield
    except DRIVERS_ERRORS as error:
        plain = plain_error(error)
        if isinstance(plain, DatabaseUnavailableError):
            raise OutcomeUnknownError from error
        if isinstance(plain, StorageFullError) and _ends_session(error):
            raise StorageFullError(hint=f"{OutcomeUnknownError.hint} Free disk space first.") from error
        raise


def _ends_session(error: Exception) -> bool:
    cause = error.orig if isinstance(error, sa.DBAPIError) else error
    return isinstance(cause, psycopg.Error) and cause.diag.severity_nonlocalized in {"FATAL", "PANIC"}
