"""Backups: a folder with pg_dump's archive of the schema ``memsvc`` and a manifest that describes it.

The archive and the counts come from one snapshot, so they agree even while others write. The folder is created under a
temporary name and renamed when all of it is on the disk; nothing is ever overwritten. If a process is killed, the next
backup into the same parent folder removes what it left. Roles and passwords belong to the server and secrets to the
service, so a backup holds none of them. It does hold the keys that check tokens, so it is as secret as the database.
Cypher's graph is left out; a restore creates it again. ``memsvc/server/restore.py`` reads backups.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import msgspec
import psycopg
from psycopg import sql
from sqlalchemy import make_url

import memsvc
from memsvc.db.files import head_revision
from memsvc.errors import (
    AlreadyExistsError,
    BackupFailedError,
    BackupLoginError,
    BackupNewerError,
    BackupUnusableError,
    DatabaseTooOldError,
    DatabaseUnavailableError,
    RestoreUnfinishedError,
    StorageFullError,
)
from memsvc.server.exclusive import take_turn
from memsvc.server.programs import find_program, major_version
from memsvc.server.sealed import Lock, sealing
from memsvc.server.upgrade import UNFINISHED
from memsvc.settings import Settings
from memsvc.text.counts import counted

FORMAT, PLAIN_FORMAT = 2, 1
"""Of an encrypted backup, and of others, which older versions read, too."""
MANIFEST = "manifest.json"
ARCHIVE, SEALED = "memsvc.dump", "memsvc.dump.age"
DRAFT = ".memsvc-draft-"
"""The first part of the name of an unfinished backup."""
SHOWN_LINES = 15
"""How many of the last lines of a failed program of PostgreSQL are shown."""
QUOTING = re.compile(r"^\s*(?:CONTEXT|DETAIL):")
"""Lines of an error that may show texts of users."""
DUMPED = re.compile(r'dumping contents of table "memsvc\.(\w+)"')
SEES_ALL = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
TABLES = """
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname
"""
Report = Callable[[str], None]
"""Called with a line for each step."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Describes the contents of a backup, without names or texts of users."""

    format: int
    """Format of the folder; a memsvc that does not know it refuses the backup."""
    memsvc: str
    """Version of memsvc that wrote it."""
    revision: str
    """Revision of the database."""
    postgresql: int
    """Major version of the pg_dump that wrote the archive."""
    created_at: datetime
    """When it was begun; it holds no later data."""
    identity_keys: list[str]
    """Public ids of the identity secrets that the database accepts."""
    rows: dict[str, int]
    """Number of rows of each table."""
    bytes: int
    """Size of the archive."""
    sha256: str
    """Digest of the archive."""
    encrypted: bool = False
    """The archive is encrypted (``memsvc/server/sealed.py``); size and digest are of the encrypted file."""

    @property
    def archive(self) -> str:
        """The name of the archive's file."""
        return SEALED if self.encrypted else ARCHIVE


def backup(
    admin_url: str,
    settings: Settings,
    target: Path,
    report: Report = lambda _line: None,
    *,
    lock: Lock | None = None,
) -> Manifest:
    """Write a backup. The service continues to work; upgrades wait.

    Args:
        admin_url: URL of the database, with a login that sees all rows: a superuser, or a role with BYPASSRLS.
        settings: used to find pg_dump.
        target: the folder to create.
        report: called with a line for each table that is being written.
        lock: encrypts the archive while it is written; None: it is plain.

    Raises:
        AlreadyExistsError: ``target`` exists.
        BackupLoginError: the login does not see all rows.
        DatabaseTooOldError: the database holds no memsvc.
        RestoreUnfinishedError: a restore into the database was not finished.
        ProgramMissingError: there is no suitable pg_dump.
        BackupFailedError, StorageFullError: it could not be written; nothing is left of it.
        DatabaseUnavailableError: the database cannot be reached.
    """
    folder = target.expanduser().absolute()
    if os.path.lexists(folder):
        raise AlreadyExistsError(
            f"There is something at {target}.", hint="A backup never overwrites: name a new folder."
        )
    with _storing(), _reading(admin_url) as connection:
        program = find_program("pg_dump", settings, connection.info.server_version // 10_000)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _draft(folder.parent, report) as draft:
            manifest = _write(connection, admin_url, program, draft, report, lock=lock)
            draft.rename(folder)  # fails if another process has made a folder there that is not empty
            _sync(folder.parent)
    return manifest


@contextmanager
def _draft(parent: Path, report: Report) -> Iterator[Path]:
    """An empty private folder, removed at the end of the block unless it was renamed; removes dead drafts first.

    Its writer holds a lock on it, which ends with the process. A lock on ``parent`` keeps other processes from removing
    a new draft that is not locked yet.
    """
    with _locked(parent, wait=True) as alone, ExitStack() as stack:
        for left in parent.glob(f"{DRAFT}*") if alone else ():
            with _locked(left) as dead:
                if dead:
                    report(f"{left.name}, which a killed backup left, is removed")
                    shutil.rmtree(left, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=parent))  # mode 700
        stack.callback(shutil.rmtree, draft, ignore_errors=True)
        stack.enter_context(_locked(draft))
        mine = stack.pop_all()
    with mine:
        yield draft


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder until the block ends or the process dies; yields False if that is not possible.

    Then another process holds the lock, we may not open the folder, or the file system (some NFS) cannot lock folders.
    """
    with ExitStack() as stack:
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
            return
        yield True


@contextmanager
def _storing() -> Iterator[None]:
    """Turn errors of the file system and of the connection into ours."""
    try:
        yield
    except psycopg.OperationalError as error:
        if error.sqlstate is not None:
            raise
        raise DatabaseUnavailableError(f"The database cannot be reached: {error}".strip()) from error
    except OSError as error:
        raise BackupFailedError(f"The backup cannot be written: {error}", hint="Choose another place.") from error


@contextmanager
def _reading(admin_url: str) -> Iterator[psycopg.Connection]:
    """A connection with one snapshot of a database that may be backed up; upgrades wait until the block ends."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        if not sees_all(connection):
            raise BackupLoginError
        connection.execute("SELECT set_config('statement_timeout', '0', false), "
                           "set_config('idle_in_transaction_session_timeout', '0', false)")  # fmt: skip
        try:
            take_turn(connection, shared=True)
        except psycopg.errors.InsufficientPrivilege as error:  # it has BYPASSRLS, but is no member of memsvc_owner
            raise BackupLoginError from error
        row = connection.execute(f"SELECT to_regclass('memsvc.schema_version'), {UNFINISHED}").fetchone()
        if row is not None and row[1]:
            raise RestoreUnfinishedError
        if row is None or row[0] is None:
            raise DatabaseTooOldError("There is no memsvc in this database.", hint="See MEMSVC_DATABASE_URL.")
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            yield connection


def sees_all(connection: psycopg.Connection) -> bool:
    """Whether the login sees all rows in spite of row security."""
    return connection.execute(SEES_ALL).fetchone() == (True,)


def _write(
    connection: psycopg.Connection, admin_url: str, program: Path, draft: Path, report: Report, *, lock: Lock | None
) -> Manifest:
    """Write the archive and the manifest; both are on the disk when this returns."""
    begun: datetime = connection.execute("SELECT now()").fetchall()[0][0]  # by the clock that erasure receipts use
    snapshot = _one(connection, "SELECT pg_export_snapshot()")
    rows = count_rows(connection)
    keys = connection.execute("SELECT key_id FROM memsvc.identity_keys WHERE retired_at IS NULL ORDER BY key_id")
    identity_keys = [key for (key,) in keys]
    archive = draft / (SEALED if lock is not None else ARCHIVE)

    def said(line: str) -> None:
        if found := DUMPED.search(line):
            report(found[1] if found[1] not in rows else f"{found[1]}: {counted(rows[found[1]], 'row')}")

    command: list[str | Path] = [program, "--format=custom", "--schema=memsvc", f"--snapshot={snapshot}", "--verbose"]
    if lock is None:
        run_program([*command, f"--file={archive}"], admin_url, said)
    else:
        private = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(private, "wb") as sealed, sealing(sealed, lock) as plain:
            run_program(command, admin_url, said, out=plain)
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    manifest = Manifest(
        format=FORMAT if lock is not None else PLAIN_FORMAT,
        memsvc=memsvc.__version__,
        revision=_one(connection, "SELECT version_num FROM memsvc.schema_version"),
        postgresql=major_version(program),
        created_at=begun.astimezone(UTC),
        identity_keys=identity_keys,
        rows=rows,
        bytes=archive.stat().st_size,
        sha256=digest,
        encrypted=lock is not None,
    )
    with os.fdopen(os.open(draft / MANIFEST, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
        written.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
        written.flush()
        os.fsync(written.fileno())
    _sync(draft)
    return manifest


def _one(connection: psycopg.Connection, query: str) -> str:
    row = connection.execute(query.encode()).fetchone()
    return str(row[0]) if row else ""


def tables(connection: psycopg.Connection) -> list[str]:
    """Names of memsvc's tables, without partitions."""
    return [name for (name,) in connection.execute(TABLES)]


def count_rows(connection: psycopg.Connection) -> dict[str, int]:
    """The number of rows of each of memsvc's tables, as the transaction sees them; partitions count for their table."""
    counts = {}
    for table in tables(connection):
        row = connection.execute(sql.SQL("SELECT count(*) FROM memsvc.{}").format(sql.Identifier(table))).fetchone()
        counts[table] = row[0] if row else 0
    return counts


def _sync(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def run_program(
    command: Sequence[str | Path],
    admin_url: str,
    said: Report = lambda _line: None,
    *,
    out: IO[bytes] | None = None,
    given: IO[bytes] | None = None,
) -> None:
    """Run pg_dump or pg_restore on a database; the files that it creates are readable only by their owner.

    Args:
        command: the program and its arguments.
        admin_url: URL of the database; the password is passed in the environment, because others see command lines.
        said: called with each line of standard error.
        out: gets standard output; None: it is discarded.
        given: is standard input; None: there is none. What it raises when it is read is raised, once the program ended.

    Raises:
        StorageFullError: a disk is full.
        BackupFailedError: the program failed otherwise; the message has its last lines.
    """
    where = make_url(admin_url)
    password = where.password or where.query.get("password", "")
    environment: Mapping[str, str] = {**os.environ, "PGPASSWORD": str(password), "LC_ALL": "C"}
    shown = where.set(drivername="postgresql")._replace(password=None)
    named = shown.difference_update_query(["password"]).render_as_string()
    lines: list[str] = []
    with subprocess.Popen(  # noqa: S603 - arguments as a list
        [*command, f"--dbname={named}"], env=environment, umask=0o077, stderr=subprocess.PIPE,
        stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE if out is not None else subprocess.DEVNULL,
    ) as process, pumping(given, process.stdin), pumping(process.stdout, out, keep=True):  # fmt: skip
        try:
            for raw in process.stderr or ():
                line = raw.decode("utf-8", "replace")
                if not QUOTING.search(line):
                    lines = [*lines, line.rstrip()[:500]][-SHOWN_LINES:]
                said(line)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        message = "\n".join([f"{Path(command[0]).name} failed:", *lines])
        full = any("No space left on device" in line or "Disk quota exceeded" in line for line in lines)
        raise StorageFullError(message, hint="Free disk space and try again.") if full else BackupFailedError(message)


@contextmanager
def pumping(source: IO[bytes] | None, target: IO[bytes] | None, *, keep: bool = False) -> Iterator[None]:
    """Copy from a file to another while the block runs, in a thread; ``keep`` leaves the target open.

    A program that ends before it has read all is no error: it says itself what it lacks.
    """
    failed: list[BaseException] = []

    def copy(source: IO[bytes], target: IO[bytes]) -> None:
        try:
            shutil.copyfileobj(source, target, 1 << 16)
        except BrokenPipeError as error:
            if keep:
                failed.append(error)
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
            failed.append(error)
        finally:
            if not keep:
                with suppress(BrokenPipeError):
                    target.close()

    if source is None or target is None:
        yield
        return
    thread = threading.Thread(target=copy, args=(source, target), name="pumping", daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if failed:
        raise failed[0]


def read_manifest(folder: Path) -> Manifest:
    """Read a backup's manifest, and check that the backup is complete and of a version that memsvc can restore.

    Raises:
        BackupUnusableError: something is missing or damaged.
        BackupNewerError: a newer memsvc wrote it.
    """
    try:
        text = (folder / MANIFEST).read_bytes()
        claimed = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        with suppress(KeyError, msgspec.ValidationError):
            if msgspec.json.decode(claimed["format"], type=int) > FORMAT:
                raise BackupNewerError
        manifest = msgspec.json.decode(text, type=Manifest)
        with (folder / manifest.archive).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            whole = size == manifest.bytes and hashlib.file_digest(file, "sha256").hexdigest() == manifest.sha256
    except FileNotFoundError as error:
        raise BackupUnusableError(f"{folder} is no backup: it lacks {Path(error.filename).name}.") from error
    except OSError as error:
        raise BackupUnusableError(f"{folder} cannot be read: {error}.") from error
    except msgspec.DecodeError as error:
        raise BackupUnusableError(f"{folder / MANIFEST} is damaged: {error}.") from error
    if not whole:
        raise BackupUnusableError(f"{folder / manifest.archive} is damaged: it is not what the manifest says.")
    if not re.fullmatch(r"\d{4}", manifest.revision):
        raise BackupUnusableError(f"{folder / MANIFEST} names no revision.")
    if manifest.revision > head_revision():
        raise BackupNewerError(
            f"memsvc {manifest.memsvc} wrote this backup, of revision {manifest.revision}; this memsvc knows revisions "
            f"up to {head_revision()}."
        )
    return manifest
