"""Restores a backup of ``memsvc/server/backup.py`` into an empty database, and refuses all access until it is done.

pg_restore brings the tables in one transaction, between the roles and the migrations of an upgrade. Until the end, the
database accepts only one secret, which this process generates. So memories that were erased after the backup can be
erased again before anybody reads them. The table ``unfinished_restore`` marks the database during that time; a restore
that was killed starts again from the beginning. The last transaction inserts the keys of the backup's secrets, or of a
new one, and removes the mark.
"""

from __future__ import annotations

import re
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql
from pydantic import SecretStr

from memsvc.db.identity import Signer
from memsvc.errors import (
    BackupFailedError,
    BackupUnusableError,
    ConfigurationError,
    DatabaseUnavailableError,
    RestoreTargetUsedError,
)
from memsvc.server import projection
from memsvc.server.backup import Manifest, Report, count_rows, pumping, read_manifest, run_program, sees_all, tables
from memsvc.server.exclusive import ONE_AT_A_TIME
from memsvc.server.programs import find_program
from memsvc.server.sealed import Key, check_sealed, unsealed
from memsvc.server.upgrade import MINIMUM_VERSION, UNFINISHED, Upgrade, upgrade
from memsvc.settings import Settings

# Entries of the archive's table of contents that are not restored: the schema, which exists already; keys, which are
# inserted last; objects of the other server's extensions, which the upgrade creates with this server's own.
LEFT_OUT = re.compile(
    r"""
      ;\ \d+\ \d+\ (?:COMMENT\ -\ )?SCHEMA\ (?:-\ )?memsvc\b
    | \ TABLE\ DATA\ memsvc\ identity_keys\b
    | \ (?:INDEX\ memsvc|COMMENT\ memsvc\ INDEX)\ locations_(?:geography|cube)\b
    | \ TRIGGER\ memsvc\ \w+\ (?:project|project_passages|forget_projected)\b
    """,
    re.VERBOSE,
)
KEYS = re.compile(
    r"^COPY memsvc\.identity_keys \((?P<columns>[\w, ]+)\) FROM stdin;\n(?P<rows>.*?)^\\\.$", re.MULTILINE | re.DOTALL
)
RESTORED = re.compile(r'processing data for table "memsvc\.(\w+)"|creating (INDEX|CONSTRAINT) "memsvc\.(\w+)')
RESTORING = ONE_AT_A_TIME + 1
"""A restore holds this advisory lock to its end; it ends with the process."""
USED = """
SELECT EXISTS (
  SELECT FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'memsvc'
)
"""
ROLES = sql.SQL("GRANT memsvc_recall, memsvc_eraser TO {} WITH INHERIT {}")
Repeat = Callable[[Settings], None]
"""Repeats erasures since the backup; called with settings whose secret the database accepts during the restore."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was checked and can be restored here."""

    folder: Path
    manifest: Manifest
    new_secret: bool
    """Accept the identity secret of this installation from now on, and none of the backup's."""
    key: Key | None = None
    """Opens the archive; None: it is not encrypted."""

    @property
    def archive(self) -> Path:
        """The file that pg_restore reads."""
        return self.folder / self.manifest.archive

    @contextmanager
    def reading(self) -> Iterator[tuple[Sequence[Path], IO[bytes] | None]]:
        """Yield pg_restore's last argument, or none and its standard input: what is decrypted goes to no disk."""
        if self.key is None:
            yield [self.archive], None
        else:
            with unsealed(self.archive, self.key) as plain:
                yield [], plain


def open_backup(settings: Settings, folder: Path, *, new_secret: bool = False, key: Key | None = None) -> Backup:
    """Check a backup, and whether it can be restored with these settings and this key; writes nothing.

    Raises:
        KeyRequiredError, NotEncryptedError: it is encrypted and there is no key, or the reverse.
        KeyWrongError, ArchiveDamagedError: the key does not open it; it was altered.
        BackupUnusableError, BackupNewerError: the backup cannot be used.
        ConfigurationError: the identity secret of ``settings`` is none of the backup's, and ``new_secret`` is false.
    """
    manifest = read_manifest(folder)
    if not new_secret:
        _check_secret(settings, manifest)
    check_sealed(folder / manifest.archive, key)
    return Backup(folder, manifest, new_secret, key)


def restore(
    admin_url: str,
    settings: Settings,
    backup: Backup,
    *,
    repeat: Repeat = lambda _settings: None,
    report: Report = lambda _line: None,
) -> Upgrade:
    """Restore a backup into an empty database, and upgrade it to this version.

    Args:
        admin_url: URL of the database; its login may create roles and extensions.
        settings: used for secrets and programs. The server's logins get their passwords from it.
        backup: from ``open_backup``.
        repeat: called before anybody can access the database.
        report: called with a line for each step.

    Raises:
        RestoreTargetUsedError: the database is not empty, or another restore into it is running.
        ConfigurationError: the server is too old.
        ProgramMissingError: there is no suitable pg_restore.
        BackupUnusableError: pg_restore cannot read the archive.
        BackupFailedError, StorageFullError: the restore failed; a new call starts from the beginning.
        DatabaseUnavailableError: the database cannot be reached.
    """
    ours = settings.model_copy(update={"identity_secret": SecretStr(secrets.token_urlsafe(48))})
    with _administrator(admin_url) as connection:
        program = _check_server(connection, settings, backup.manifest)
        contents, keys = _contents(program, backup), _keys(program, backup)
        _clear_unfinished(connection)

        def fill() -> None:
            with _owning_all(connection):
                _bring_tables(program, backup, contents, admin_url, report)
                _check_rows(connection, backup.manifest)

        done = upgrade(admin_url, ours, fill=fill, report=report)
        repeat(ours)
        report("statistics of the planner")
        for table in tables(connection):
            connection.execute(sql.SQL("ANALYZE memsvc.{}").format(sql.Identifier(table)))
        if backup.new_secret:
            keys = [_key(Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s))]
        _let_in(connection, keys)
    return done


@contextmanager
def _administrator(admin_url: str) -> Iterator[psycopg.Connection]:
    """A session without time limits, in autocommit, that keeps other restores out.

    Raises:
        RestoreTargetUsedError: another restore is running.
    """
    try:
        connection = psycopg.connect(admin_url, autocommit=True)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(f"The database cannot be reached: {error}".strip()) from error
    with connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        if connection.execute("SELECT pg_try_advisory_lock(%s)", [RESTORING]).fetchone() != (True,):
            raise RestoreTargetUsedError("Another restore into this database is going on.")
        yield connection


def _check_secret(settings: Settings, manifest: Manifest) -> None:
    hint = (
        "Give this installation the old secrets first: secrets.json in MEMSVC_DATA_DIR, or MEMSVC_IDENTITY_SECRET; or "
        "use --new-secret, so that this installation's own secret counts from now on."
    )
    if not settings.has_secret("identity_secret"):
        raise ConfigurationError("The identity secret of this backup is not here.", hint=hint)
    signer = Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s)
    if signer.key_id not in manifest.identity_keys:
        known = ", ".join(manifest.identity_keys) or "no key"
        raise ConfigurationError(
            f"This backup belongs to another identity secret: it believes {known}, and this one is {signer.key_id}.",
            hint=hint,
        )


def _check_server(connection: psycopg.Connection, settings: Settings, manifest: Manifest) -> Path:
    """Check that the server suits the backup and the database is empty; returns the pg_restore for them."""
    major = connection.info.server_version // 10_000
    if connection.info.server_version < MINIMUM_VERSION:
        raise ConfigurationError(f"memsvc needs PostgreSQL 18, this server is {major}.", hint="Name a newer server.")
    if connection.execute(USED).fetchone() == (True,) and not _unfinished(connection):
        raise RestoreTargetUsedError
    return find_program("pg_restore", settings, max(major, manifest.postgresql))


def _unfinished(connection: psycopg.Connection) -> bool:
    return connection.execute(f"SELECT {UNFINISHED}").fetchone() == (True,)


def _clear_unfinished(connection: psycopg.Connection) -> None:
    """Drop what a killed restore has left."""
    if not _unfinished(connection):
        return
    graph = projection.state(connection)
    if graph.there:
        projection.remove(connection, drop=not graph.lacks)
    with connection.transaction():
        connection.execute("SET LOCAL ROLE memsvc_owner")
        connection.execute("DROP SCHEMA memsvc CASCADE")


def _contents(program: Path, backup: Backup) -> str:
    """The archive's table of contents, without the entries that are not restored, in pg_restore's form."""
    listed = _output(program, backup, "--list")
    return "\n".join(line for line in listed.splitlines() if not LEFT_OUT.search(line))


def _output(program: Path, backup: Backup, *arguments: str) -> str:
    """The standard output of pg_restore."""
    with backup.reading() as (named, given), tempfile.TemporaryFile(prefix="memsvc-restore-") as said:
        with subprocess.Popen(  # noqa: S603 - arguments as a list
            [program, *arguments, *named], stdout=subprocess.PIPE, stderr=said,
            stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
        ) as process, pumping(given, process.stdin):  # fmt: skip
            output = process.stdout.read() if process.stdout is not None else b""
        if process.returncode:
            said.seek(0)
            complaint = said.read().decode("utf-8", "replace").strip()
            raise BackupUnusableError(f"The archive cannot be read: {complaint[-500:]}")
    return output.decode()


@contextmanager
def _owning_all(connection: psycopg.Connection) -> Iterator[None]:
    """Mark the database as unfinished; in the block, the administrator inherits the roles that own functions."""
    with connection.transaction():
        connection.execute("SET LOCAL ROLE memsvc_owner")
        connection.execute("CREATE TABLE memsvc.unfinished_restore ()")
    administrator = sql.Identifier(connection.info.user)
    connection.execute(ROLES.format(administrator, sql.SQL("TRUE")))
    try:
        yield
    finally:
        connection.execute(ROLES.format(administrator, sql.SQL("FALSE")))


def _bring_tables(program: Path, backup: Backup, contents: str, admin_url: str, report: Report) -> None:
    """Restore the entries of the table of contents, in one transaction."""

    def said(line: str) -> None:
        if found := RESTORED.search(line):
            report(found[1] or f"{found[2].lower()} {found[3]}")

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="memsvc-restore-") as chosen:
        chosen.write(contents)
        chosen.flush()
        options = ["--single-transaction", "--exit-on-error", "--verbose", f"--use-list={chosen.name}"]
        with backup.reading() as (named, given):
            run_program([program, *options, *named], admin_url, said, given=given)


def _check_rows(connection: psycopg.Connection, manifest: Manifest) -> None:
    """Compare the tables with the manifest, if the login sees all rows in spite of row security.

    Raises:
        BackupFailedError: they differ.
    """
    if not sees_all(connection):
        return
    found = {name: rows for name, rows in count_rows(connection).items() if name in manifest.rows}
    wanted = {**manifest.rows, "identity_keys": 0}
    if wrong := sorted(name for name in wanted if found.get(name) != wanted[name]):
        differences = ", ".join(f"{name} {found.get(name)} instead of {wanted[name]}" for name in wrong)
        raise BackupFailedError(
            f"Rows differ from the manifest: {differences}.",
            hint="The database is still closed. Run 'memsvc restore' again: it starts from the beginning.",
        )


def _keys(program: Path, backup: Backup) -> list[dict[str, str | None]]:
    """The rows of identity_keys in the archive."""
    script = _output(program, backup, "--data-only", "--schema=memsvc", "--table=identity_keys", "--file=-")
    found = KEYS.search(script)
    if found is None:
        raise BackupUnusableError("The archive holds no identity keys.")
    columns = found["columns"].split(", ")
    # Ids, hexadecimal numbers and times: the backslash is the only character in them that COPY escapes.
    rows = [line.split("\t") for line in found["rows"].splitlines()]
    return [
        {
            name: None if value == r"\N" else value.replace("\\\\", "\\")
            for name, value in zip(columns, row, strict=True)
        }
        for row in rows
    ]


def _key(signer: Signer) -> dict[str, str | None]:
    """The row of identity_keys for a secret."""
    inner, outer = (r"\x" + pad.hex() for pad in signer.pads())
    return {"key_id": signer.key_id, "inner_pad": inner, "outer_pad": outer}


def _let_in(connection: psycopg.Connection, keys: list[dict[str, str | None]]) -> None:
    """Accept tokens of these keys and of no others, and remove the mark."""
    with connection.transaction():
        connection.execute("SET LOCAL ROLE memsvc_owner")
        connection.execute("DELETE FROM memsvc.identity_keys")
        for key in keys:
            columns = sql.SQL(", ").join(map(sql.Identifier, key))
            values = sql.SQL(", ").join(sql.Placeholder() * len(key))  # parameters: a statement's text may be logged
            insert = sql.SQL("INSERT INTO memsvc.identity_keys ({}) VALUES ({})").format(columns, values)
            connection.execute(insert, list(key.values()))
        connection.execute("SELECT memsvc.audit('database.restore', NULL, NULL, '')")
        connection.execute("DROP TABLE memsvc.unfinished_restore")
