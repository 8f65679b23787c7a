"""Repeat erasures in a database that was restored to an earlier time.

A backup, or a write-ahead log replayed to an earlier time, lacks the erasures that happened later. The log written here
is kept outside the database: one line for each erasure, each erased user and each revoked key, with ids and no text.
What the restored database still has is erased again with the same functions as the first time. What it does not have,
because it was written and erased later, gets no tombstone there: a client that sends it again has it stored.
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

HINT = "Give a log that 'memsvc db erasures' wrote."
NOT_FOUND = 404
# Accounts, read as memsvc_owner: existing users, erased users, and revoked keys.
USERS = "SELECT user_id FROM memsvc.users WHERE erasing_since IS NULL ORDER BY user_id"
ACCOUNTS = """
SELECT recorded_at, action, app_id, coalesce(user_id::text, subject) FROM memsvc.audit_log
WHERE action IN ('user.erase', 'key.revoke') AND recorded_at >= %s ORDER BY recorded_at
"""
RECEIPTS = query("erasures_since")
IS_HERE = text("SELECT memsvc.user_is_here(:user_id)")
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
BEFORE = timedelta(minutes=15)
"""A log starts this much earlier than requested, because an erasure's time is before its commit."""


class Erased(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log. It has ids and no text."""

    at: datetime
    kind: Kind | Literal["user", "key"]
    """The kind of the subject; user: a whole user was erased; key: a key was revoked."""
    subject: str
    """The subject's id."""
    user_id: UUID | None = None
    """The owner of the subject; None for users and keys."""
    app_id: UUID | None = None
    """The app of the user or key; None for everything else."""


class ErasedAgain(msgspec.Struct, frozen=True, kw_only=True):
    """The result of erasing again."""

    erased: int
    """Lines whose subject existed and was erased."""
    absent: int
    """Lines whose subject did not exist."""


async def log_of_erasures(admin_url: str, db: Database, since: datetime = BEGINNING) -> AsyncIterator[Erased]:
    """Yield all erasures and revocations since a moment: accounts first, then memories user by user.

    Args:
        admin_url: of the database; its login must be able to act as memsvc_owner.
        db: the same database, as the application: each user's receipts are read as that user.
        since: the start; erasures up to 15 minutes earlier are included.
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
        except UserUnknownError:  # erased since the list was read; the next log has it
            continue
        for row in receipts:
            yield Erased(at=row.created_at, kind=row.kind, subject=str(row.subject_id), user_id=user_id)


def read_log(lines: Iterable[bytes]) -> Iterator[Erased]:
    """Read the lines of a log.

    Raises:
        BadFileError: a line is not an erasure; names the line.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line, type=Erased)
            except msgspec.DecodeError as error:
                raise BadFileError(f"Line {number} is not an erasure: {error}.", hint=HINT, row=number) from error


def without(log: Iterable[Erased], mistakes: Iterable[str]) -> list[Erased]:
    """Leave out erasures that were mistakes, named by the ids of their subjects.

    Only lines that name a subject itself are left out: what a user had erased before the user was erased by mistake is
    erased again.

    Raises:
        BadFileError: no line names a subject. A wrong id must not pass unnoticed, as the mistake would be repeated.
    """
    lines, names = list(log), {name.strip().lower() for name in mistakes}
    if unknown := names - {line.subject for line in lines}:
        raise BadFileError(
            f"No line of the log erases {', '.join(sorted(unknown))}. Nothing was erased.",
            hint="Name the subject of a line; 'memsvc user list' shows the ids of users.",
        )
    return [line for line in lines if line.subject not in names]


async def erase_again(db: Database, log: Iterable[Erased]) -> ErasedAgain:
    """Erase again what a log lists, if it exists. Safe to repeat, also after a kill.

    Raises:
        MemsvcError: something could not be erased; the lines after it were not tried.
    """
    erased = absent = 0
    for entry in sorted(
        log, key=lambda entry: entry.kind != "key"
    ):  # keys first: a stolen key must not work any longer
        try:
            await _again(db, entry)
            erased += 1
        except MemsvcError as error:
            if error.status != NOT_FOUND:
                raise
            absent += 1
    return ErasedAgain(erased=erased, absent=absent)


async def _again(db: Database, entry: Erased) -> None:
    owner_id = entry.app_id if entry.kind in {"user", "key"} else entry.user_id
    if owner_id is None:
        raise BadFileError(f"A line of the log does not name the owner of the {entry.kind}.", hint=HINT)
    if entry.kind == "user":
        await _check_user_exists(db, entry.subject)
        await erase_user(db, owner_id, entry.subject, requested_by="restore")
    elif entry.kind == "key":
        await revoke_key(db, owner_id, entry.subject)
    else:  # erasing needs only the owner's id
        await erase(db, Owner(owner_id, "", "UTC", "english"), entry.kind, UUID(entry.subject), requested_by="restore")


async def _check_user_exists(db: Database, user_id: str) -> None:
    """Check that a user has this id: erase_user also accepts external ids, and one may equal an erased user's id.

    Raises:
        UserUnknownError: no user has this id, or the user's erasure is already in progress.
    """
    async with db.statement() as connection:
        if not (await connection.execute(IS_HERE, {"user_id": UUID(user_id)})).scalar_one():
            raise UserUnknownError
