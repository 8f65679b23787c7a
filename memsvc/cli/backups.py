"""``memsvc backup``, ``memsvc restore``, and what was erased since: ``memsvc db erasures`` and ``db erase-again``."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AsJson, note, on_database, opened, print_json

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.erasing.again import Erased, ErasedAgain
    from memsvc.settings import Settings

Log = typer.Argument(help="A log that 'memsvc db erasures' wrote; '-' reads it from standard input.")


def backup(
    target: Path = typer.Argument(help="A folder to be made; one that is there is never overwritten."),
    as_json: bool = AsJson,
) -> None:
    """Write a backup of all users' memories, while people work. It lacks passwords and secrets: keep them, too."""
    from memsvc.server.backup import backup as write
    from memsvc.server.locate import located
    from memsvc.settings import settings

    chosen = settings()
    with located(chosen) as admin_url:
        manifest = write(admin_url, chosen, target, note)
    if as_json:
        print_json(manifest)
    else:
        rows = manifest.rows
        print(
            f"In {target}: {manifest.bytes / 1e6:,.1f} MB, users {rows['users']:,}, passages {rows['passages']:,}, "
            f"nodes {rows['nodes']:,}. It is as secret as the database."
        )


def restore(
    source: Path = typer.Argument(help="A folder that 'memsvc backup' wrote."),
    erasures: Path | None = typer.Option(
        None,
        "--erasures",
        help="A log of 'memsvc db erasures': what it names is erased again before anybody is let in.",
    ),
    new_secret: bool = typer.Option(
        False, "--new-secret", help="Let this place's identity secret count, instead of the backup's."
    ),
    as_json: bool = AsJson,
) -> None:
    """Bring a backup into an empty database, and up to this version. Killed, it is said again and begins anew."""
    from memsvc.server.locate import located
    from memsvc.server.restore import open_backup
    from memsvc.server.restore import restore as bring_in
    from memsvc.settings import settings

    chosen = settings()
    found = open_backup(chosen, source, new_secret=new_secret)
    log = _read(erasures) if erasures is not None else []
    again: list[ErasedAgain] = []

    def repeat(believed: Settings) -> None:
        if erasures is not None:
            note("what was erased since")
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
        print(f"Erased again: {again[0].erased:,}; {again[0].absent:,} were not in it.")
    elif erasures is None:
        print("What was erased since the backup is back: 'memsvc db erase-again' erases it again.")


def erasures(
    since: datetime | None = typer.Option(
        None,
        "--since",
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"],
        metavar="TIME",
        help="Only from this moment (UTC) on.",
    ),
) -> None:
    """Print what was erased, and which keys were revoked: ids, no text, a JSON line each. Keep it beside backups."""
    from datetime import UTC

    import msgspec

    from memsvc.erasing.again import BEGINNING, log_of_erasures

    moment = since.replace(tzinfo=UTC) if since is not None else BEGINNING

    with opened() as (admin_url, settings):

        async def work(db: Database, _settings: Settings) -> None:
            async for entry in log_of_erasures(admin_url, db, moment):
                print(msgspec.json.encode(entry).decode())

        on_database(admin_url, settings, work)


def erase_again(log: Path = Log, as_json: bool = AsJson) -> None:
    """Erase again what a log names, as far as it is there: after the database was brought back to an earlier moment."""
    entries = _read(log)
    with opened() as (admin_url, settings):
        done = _erase_again(admin_url, settings, entries)
    if as_json:
        print_json(done)
    else:
        print(f"Erased again: {done.erased:,}; {done.absent:,} were not there.")


def _read(log: Path) -> list[Erased]:
    """All of a log, so that a bad line is known before anything is done."""
    from memsvc.erasing.again import HINT, read_log
    from memsvc.errors import BadFileError

    try:
        content = sys.stdin.buffer.read() if str(log) == "-" else log.read_bytes()
    except OSError as error:
        raise BadFileError(f"{log} cannot be read: {error.strerror}.", hint=HINT) from error
    return list(read_log(content.splitlines()))


def _erase_again(admin_url: str, settings: Settings, log: list[Erased]) -> ErasedAgain:
    async def work(db: Database, _settings: Settings) -> ErasedAgain:
        from memsvc.erasing.again import erase_again

        return await erase_again(db, log)

    return on_database(admin_url, settings, work)
