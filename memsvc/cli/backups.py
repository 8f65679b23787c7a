"""``memsvc backup``, ``memsvc restore``, and the log of erasures: ``memsvc db erasures`` and ``db erase-again``."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AsJson, EncryptTo, IdentityFile, PassphraseFile, note, on_database, opened, print_json

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.erasing.again import Erased, ErasedAgain
    from memsvc.settings import Settings

Log = typer.Argument(help="A log written by 'memsvc db erasures'; '-' reads standard input.")
Mistakes = typer.Option(
    [],
    "--except",
    metavar="ID",
    help="A subject of the log that was erased by mistake: do not erase it again. Can be given several times.",
)


def backup(
    target: Path = typer.Argument(help="The folder to create; an existing one is never overwritten."),
    encrypt_to: list[str] = EncryptTo,
    passphrase_file: Path | None = PassphraseFile,
    as_json: bool = AsJson,
) -> None:
    """Write a backup of all users' memories while the service runs. Back up passwords and secrets separately."""
    from memsvc.server.backup import backup as write
    from memsvc.server.locate import located
    from memsvc.server.sealed import lock_of
    from memsvc.settings import settings

    chosen = settings()
    lock = lock_of(encrypt_to, passphrase_file)
    with located(chosen) as admin_url:
        manifest = write(admin_url, chosen, target, note, lock=lock)
    if as_json:
        print_json(manifest)
    else:
        rows = manifest.rows
        print(
            f"In {target}: {manifest.bytes / 1e6:,.1f} MB, users {rows['users']:,}, passages {rows['passages']:,}, "
            f"nodes {rows['nodes']:,}. {'It is encrypted.' if lock else 'Keep it as secret as the database.'}"
        )


def restore(
    source: Path = typer.Argument(help="A folder written by 'memsvc backup'."),
    erasures: Path | None = typer.Option(
        None,
        "--erasures",
        help="A log of 'memsvc db erasures': erase these again before anybody can connect.",
    ),
    mistakes: list[str] = Mistakes,
    new_secret: bool = typer.Option(
        False, "--new-secret", help="Use the identity secret configured here instead of the backup's."
    ),
    identity_file: Path | None = IdentityFile,
    passphrase_file: Path | None = PassphraseFile,
    as_json: bool = AsJson,
) -> None:
    """Restore a backup into an empty database and upgrade it to this version. If killed, run it again."""
    from memsvc.server.locate import located
    from memsvc.server.restore import open_backup
    from memsvc.server.restore import restore as bring_in
    from memsvc.server.sealed import key_of
    from memsvc.settings import settings

    if mistakes and erasures is None:
        raise typer.BadParameter("'--except' leaves out lines of a log: add '--erasures'.")
    chosen = settings()
    found = open_backup(chosen, source, new_secret=new_secret, key=key_of(identity_file, passphrase_file))
    log = _read(erasures, mistakes) if erasures is not None else []
    again: list[ErasedAgain] = []

    def repeat(believed: Settings) -> None:
        if erasures is not None:
            note("erasing again what was erased since the backup")
            again.append(_erase_again(admin_url, believed, log))

    with located(chosen) as admin_url:
        done = bring_in(admin_url, chosen, found, repeat=repeat, report=note)
    if as_json:
        print_json({"manifest": found.manifest, "upgrade": done, "erased_again": again[0] if again else None})
        return
    rows = found.manifest.rows
    print(f"Restored as of {found.manifest.created_at:%Y-%m-%d %H:%M:%S} UTC: users {rows['users']:,}, passages "
          f"{rows['passages']:,}, nodes {rows['nodes']:,}; revision {done.to_revision}.")  # fmt: skip
    if again:
        print(f"Erased again: {again[0].erased:,}; {again[0].absent:,} were not in the backup.")
    elif erasures is None:
        print("Memories erased since the backup are back: erase them again with 'memsvc db erase-again'.")


def erasures(
    since: datetime | None = typer.Option(
        None,
        "--since",
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"],
        metavar="TIME",
        help="Only erasures from this time (UTC) on.",
    ),
) -> None:
    """Print erasures and revoked keys as JSON lines: ids only, no text. Keep this log with your backups."""
    from datetime import UTC

    import msgspec

    from memsvc.erasing.again import BEGINNING, log_of_erasures

    moment = since.replace(tzinfo=UTC) if since is not None else BEGINNING

    with opened() as (admin_url, settings):

        async def work(db: Database, _settings: Settings) -> None:
            async for entry in log_of_erasures(admin_url, db, moment):
                print(msgspec.json.encode(entry).decode())

        on_database(admin_url, settings, work)


def erase_again(log: Path = Log, mistakes: list[str] = Mistakes, as_json: bool = AsJson) -> None:
    """Erase again what a log lists, if it is there. Needed after the database was restored to an earlier time."""
    entries = _read(log, mistakes)
    with opened() as (admin_url, settings):
        done = _erase_again(admin_url, settings, entries)
    if as_json:
        print_json(done)
    else:
        print(f"Erased again: {done.erased:,}; {done.absent:,} were not in the database.")


def _read(log: Path, mistakes: list[str]) -> list[Erased]:
    """Read the whole log without the mistakes, so that a bad line or id is found before anything is erased."""
    from memsvc.erasing.again import HINT, read_log, without
    from memsvc.errors import BadFileError

    try:
        content = sys.stdin.buffer.read() if str(log) == "-" else log.read_bytes()
    except OSError as error:
        raise BadFileError(f"{log} cannot be read: {error.strerror}.", hint=HINT) from error
    return without(read_log(content.splitlines()), mistakes)


def _erase_again(admin_url: str, settings: Settings, log: list[Erased]) -> ErasedAgain:
    async def work(db: Database, _settings: Settings) -> ErasedAgain:
        from memsvc.erasing.again import erase_again

        return await erase_again(db, log)

    return on_database(admin_url, settings, work)
