"""What was erased after a backup is erased again in the database that comes from it.

A backup, and an archived write-ahead log replayed to a moment, know nothing of what was erased since. The log written
here is kept elsewhere: one line for each erasure, each erased user and each revoked key, with ids and no text. What the
older database has of it goes again by the same functions as the first time. What it does not have,
because it was written and erased since, leaves no tombstone there: who sends it again has it stored.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import text

from memsvc.access.keys import revoke_key
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.erasing.memories import Kind, erase
from memsvc.erasing.users import erase_user
from memsvc.errors import BadFileError, MemsvcError, UserUnknownError

HINT = "'memsvc db erasures' writes such a log."
NOT_FOUND = 404
# Accounts, as memsvc_owner keeps them: users that there are, users that were erased, keys that were revoked.
USERS = "SELECT user_id FROM memsvc.users WHERE erasing_since IS NULL ORDER BY user_id"
ACCOUNTS = """
SELECT recorded_at, action, app_id, coalesce(user_id::text, subject) FROM memsvc.audit_log
WHERE action IN ('user.erase', 'key.revoke') AND recorded_at >= %s ORDER BY recorded_at
"""
RECEIPTS = query("erasures_since")
IS_HERE = text("SELECT memsvc.user_is_here(:user_id)")
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
BEFORE = timedelta(minutes=15)
"""A log begins so much earlier than asked: what was erased is told by a time before it was committed."""


class Erased(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log. Holds ids and no text."""

    at: datetime
    kind: Kind | Literal["user", "key"]
    """What was erased; user: a whole one; key: it was revoked."""
    subject: str
    """Its id."""
    user_id: UUID | None = None
    """Whose it was; None for users and keys."""
    app_id: UUID | None = None
    """Whose user or key it was; None for everything else."""


class ErasedAgain(msgspec.Struct, frozen=True, kw_only=True):
    """What erasing again has done."""

    erased: int
    """Lines whose subject was there, and is gone."""
    absent: int
    """Lines of which nothing was there."""


async def log_of_erasures(admin_url: str, db: Database, since: datetime = BEGINNING) -> AsyncIterator[Erased]:
    """What was erased or revoked from a moment on, of all users: accounts first, then memories user by user.

    Args:
        admin_url: of the database; the login may act as memsvc_owner.
        db: the same database, as the application: each user's receipts are read as that user.
        since: what was done with more than a quarter of an hour before is left out.
    """
    since -= BEFORE if since > BEGINNING else timedelta()
    async with await psycopg.AsyncConnection.connect(admin_url) as connection:
        await connection.execute("SET LOCAL ROLE memsvc_owner")
        accounts = await (await connection.execute(ACCOUNTS, [since])).fetchall()
        users = await (await connection.execute(USERS)).fetchall()
    for at, action, app_id, subject in accounts:
        yield Erased(at=at, kind="user" if action == "user.erase" else "key", subject=subject, app_id=app_id)
    for (user_id,) in users:
        try:
            async with db.transaction(user_id) as bound:
                receipts = (await bound.execute(RECEIPTS, {"user_id": user_id, "since": since})).all()
        except UserUnknownError:  # erased since the list was read; the next log says so
            continue
        for row in receipts:
            yield Erased(at=row.created_at, kind=row.kind, subject=str(row.subject_id), user_id=user_id)


def read_log(lines: Iterable[bytes]) -> Iterator[Erased]:
    """The lines of a log.

    Raises:
        BadFileError: a line is none; says which.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line, type=Erased)
            except msgspec.DecodeError as error:
                raise BadFileError(f"Line {number} is no erasure: {error}.", hint=HINT, row=number) from error


async def erase_again(db: Database, log: Iterable[Erased]) -> ErasedAgain:
    """Erase what a log names, as far as it is there. Safe to say again, and after it was killed.

    Raises:
        MemsvcError: something could not be erased; what comes behind it in the log was not tried.
    """
    erased = absent = 0
    for entry in sorted(log, key=lambda entry: entry.kind != "key"):  # keys first: whoever stole one may be waiting
        try:
            await _again(db, entry)
            erased += 1
        except MemsvcError as error:
            if error.status != NOT_FOUND:
                raise
            absent += 1
    return ErasedAgain(erased=erased, absent=absent)


async def _again(db: Database, entry: Erased) -> None:
    whose = entry.app_id if entry.kind in {"user", "key"} else entry.user_id
    if whose is None:
        raise BadFileError(f"A line of the log does not say whose {entry.kind} it was.", hint=HINT)
    if entry.kind == "user":
        await _check_is_here(db, entry.subject)
        await erase_user(db, whose, entry.subject, requested_by="restore")
    elif entry.kind == "key":
        await revoke_key(db, whose, entry.subject)
    else:  # whose it is, is all that erasing asks for
        await erase(db, Owner(whose, "", "UTC", "english"), entry.kind, UUID(entry.subject), requested_by="restore")


async def _check_is_here(db: Database, user_id: str) -> None:
    """Erasing takes an external id, too, and an app may have given the id of one who is gone to somebody else.

    Raises:
        UserUnknownError: there is no user of this id, or the erasing goes on by itself.
    """
    async with db.statement() as connection:
        if not (await connection.execute(IS_HERE, {"user_id": UUID(user_id)})).scalar_one():
            raise UserUnknownError
