"""``memsvc export`` and ``memsvc import``: write a user's memory to a folder or zip file, and read it back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    EncryptTo,
    IdentityFile,
    PassphraseFile,
    UserRef,
    print_json,
    user_at_home,
    with_database,
)

if TYPE_CHECKING:
    from memsvc.db.engine import Database
    from memsvc.settings import Settings
    from memsvc.transfer.format import Manifest
    from memsvc.transfer.load import Loaded


@contextmanager
def _progress(totals: dict[str, int] | None) -> Iterator[Callable[[str, int], None]]:
    """Show a progress bar for each file on a terminal; ``totals`` has the rows of each file, if they are known."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(path: str, rows: int) -> None:
            if path not in tasks:
                tasks[path] = bars.add_task(path, total=totals.get(path) if totals is not None else None)
            bars.advance(tasks[path], rows)

        yield advance


def export(
    target: Path = typer.Argument(help="The folder to create, or a zip file if the name ends in .zip."),
    user: str | None = UserRef,
    no_markdown: bool = typer.Option(False, "--no-markdown", help="Leave out the Markdown pages."),
    force: bool = typer.Option(False, "--force", help="Replace an existing export, but nothing else."),
    encrypt_to: list[str] = EncryptTo,
    passphrase_file: Path | None = PassphraseFile,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Export all data of a user: JSON lines for 'memsvc import', and Markdown for people. Encrypted, it is one file."""

    async def work(db: Database, _settings: Settings) -> Manifest:
        from memsvc.server.sealed import lock_of
        from memsvc.transfer.export import export
        from memsvc.transfer.sinks import open_sink

        lock = lock_of(encrypt_to, passphrase_file)
        db, owner = await user_at_home(db, user, app)
        with _progress(None) as advance:
            sink = open_sink(target, force=force, lock=lock)
            return await export(db, owner.user_id, sink, markdown=not no_markdown, progress=advance)

    manifest = with_database(work)
    if as_json:
        print_json(manifest)
    else:
        rows = {file.path: file.rows for file in manifest.files}
        print(
            f"In {target}: conversations {rows['sources.jsonl']:,}, passages {rows['passages.jsonl']:,}, nodes "
            f"{rows['nodes.jsonl']:,}, versions of facts {rows['edge_versions.jsonl']:,}."
        )


def import_(
    source: Path = typer.Argument(help="A folder, zip file or encrypted file written by 'memsvc export'."),
    user: str | None = typer.Option(
        None, "--user", "-u", envvar="MEMSVC_USER", help="External id of the user to add, or of a user without data."
    ),
    identity_file: Path | None = IdentityFile,
    passphrase_file: Path | None = PassphraseFile,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Import an export for a new user, with all ids and times: completely or not at all."""

    async def work(db: Database, settings: Settings) -> Loaded:
        from memsvc.access.users import app_id
        from memsvc.errors import UserRequiredError
        from memsvc.server.sealed import key_of
        from memsvc.transfer.archive import open_archive
        from memsvc.transfer.load import load

        if user is None:
            raise UserRequiredError(
                "The import needs a user.", hint="Give the external id of the user to add with --user."
            )
        with open_archive(source, key_of(identity_file, passphrase_file)) as archive:
            totals = {file.path: file.rows for file in archive.manifest.files}
            with _progress(totals) as advance:
                return await load(db, await app_id(db, app), user, archive, settings, progress=advance)

    loaded = with_database(work)
    if as_json:
        print_json(loaded)
    else:
        rows = loaded.rows
        print(
            f"{loaded.user.name} ({loaded.user.user_id}) has: conversations {rows['sources']:,}, passages "
            f"{rows['passages']:,}, nodes {rows['nodes']:,}, versions of facts {rows['edge_versions']:,}."
        )
        print("Recall finds the messages by words now; 'memsvc worker' or 'memsvc jobs run' adds their vectors.")
