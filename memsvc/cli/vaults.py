"""``memsvc vault``: folders of notes, kept in the memory with their links, and written back to on request."""

from __future__ import annotations

import asyncio
import signal
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    clock,
    embedders,
    for_owner,
    for_owner_shown,
    for_owner_with,
    note,
    plain,
    print_json,
    print_table,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.errors import MemsvcError
    from memsvc.settings import Settings
    from memsvc.sources.runs import Report
    from memsvc.sources.vaults.reads import StoredLink, StoredVault
    from memsvc.sources.vaults.storing import Brought
    from memsvc.sources.vaults.writing_back import WrittenBack

vaults = typer.Typer(
    help="Keep folders of notes in the memory with their links, and write back to them on request.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Folder = typer.Argument(help="The folder of notes.", metavar="FOLDER", exists=True, file_okay=False)
Named = typer.Argument(help="The folder of notes, also of one that is not there any more.", metavar="FOLDER")


@vaults.command("add")
def add(folder: Path = Folder, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Store a folder of notes with its links, as 'memsvc ingest' does with a folder that it recognises as one.

    Other files in it are stored as documents. Run it again to store what has changed.
    """
    from memsvc.cli.ingest import end_with, ingest_files, show_totals

    async def act(db: Database, owner: Owner, settings: Settings) -> Report:
        return await ingest_files(db, settings, owner, [folder], as_vaults=True)

    report = for_owner_with(user, app, act)
    if as_json:
        print_json({**report.totals, "documents": report.documents, "vaults": report.vaults, "files": report.files})
    else:
        show_totals(report)
    end_with(report)


@vaults.command("list")
def list_(user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """List vaults in the order in which they were added."""

    async def act(db: Database, owner: Owner) -> list[StoredVault]:
        from memsvc.sources.vaults.reads import list_vaults

        return await list_vaults(db, owner)

    found, owner = for_owner_shown(user, app, act)
    if as_json:
        print_json(found)
        return
    print_table(
        ["program", "notes", "links", "broken", "tasks", "read", "folder"],
        [
            [
                ", ".join(one.flavours), one.notes, one.links, one.broken, one.tasks,
                clock(one.read_at, owner) or "never", one.folder,
            ]
            for one in found
        ],
    )  # fmt: skip


@vaults.command("status")
def status(folder: Path = Named, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show what is stored of a vault, and what was left out of it."""

    async def act(db: Database, owner: Owner) -> StoredVault:
        from memsvc.sources.vaults.reads import get_vault

        return await get_vault(db, owner, folder)

    found, owner = for_owner_shown(user, app, act)
    if as_json:
        print_json(found)
        return
    print(plain(f"{found.folder}  ({', '.join(found.flavours)})"))
    print(
        f"{counted(found.notes, 'note')}, {counted(found.links, 'link')}, {found.broken:,} broken, "
        f"{counted(found.tasks, 'open dated task')}"
    )
    print(f"read {clock(found.read_at, owner)}" if found.read_at else "never read to its end")
    print(f"sections: {found.write_back}")
    if found.odd:
        print(f"left out: {', '.join(f'{count:,} {what}' for what, count in found.odd.items())}")


@vaults.command("links")
def links(
    folder: Path = Named,
    broken: bool = typer.Option(False, "--broken", help="Only links that lead nowhere."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List the links of a vault's notes by note and line."""

    async def act(db: Database, owner: Owner) -> list[StoredLink]:
        from memsvc.sources.vaults.reads import vault_links

        return await vault_links(db, owner, folder, broken=broken)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    print_table(
        ["note", "line", "link", "leads to"],
        [
            [
                one.source, one.line, f"{one.target}{f'#{one.section}' if one.section else ''}",
                "nothing" if one.broken else one.resolves_to or one.file or "a note that is not stored",
            ]
            for one in found
        ],
    )  # fmt: skip


@vaults.command("remove")
def remove(folder: Path = Named, user: str | None = UserRef, app: str = AppName) -> None:
    """Forget that a folder is a vault. Its notes stay in the memory; 'memsvc forget --source' erases one."""

    async def act(db: Database, owner: Owner) -> None:
        from memsvc.sources.vaults.reads import remove_vault

        await remove_vault(db, owner, folder)

    for_owner(user, app, act)
    print("It is no vault any more.")


@vaults.command("watch")
def watch(folder: Path = Folder, user: str | None = UserRef, app: str = AppName) -> None:
    """Store a folder of notes, and each change of it within seconds, until Ctrl-C.

    Prints a line for each change. Words of a changed note are recalled at once, its meaning as soon as its vectors are
    made.
    """

    async def act(db: Database, owner: Owner, settings: Settings) -> None:
        from memsvc.documents.vaults.reading import VaultReader
        from memsvc.sources.vaults.storing import Keeper
        from memsvc.sources.vaults.watching import Watch

        stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        keeper = Keeper(db, owner, settings, folder)
        background = _Background(db, settings)

        async def told(brought: Brought) -> None:
            _show_change(brought)
            background.ask()

        def trouble(error: MemsvcError) -> None:
            note(f"{datetime.now():%H:%M:%S}  {error.message} {error.advice or ''}".rstrip())  # noqa: DTZ005 - for people

        note(f"Watching {keeper.folder}. Ctrl-C ends it.")
        try:
            await Watch(keeper, VaultReader(keeper.folder), stopping).run(told, trouble)
        finally:
            await background.end()

    for_owner_with(user, app, act)


class _Background:
    """Makes the vectors of what was stored, without keeping the watch waiting."""

    def __init__(self, db: Database, settings: Settings) -> None:
        self._db, self._settings = db, settings
        self._asked = asyncio.Event()
        self._task = asyncio.create_task(self._work())

    def ask(self) -> None:
        """There is work."""
        self._asked.set()

    async def end(self) -> None:
        """Stop; jobs that are not done stay for a worker, or the next command."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        from jobs.steps import all_steps
        from memsvc.errors import MemsvcError
        from memsvc.queue.execution import run_due

        with embedders(self._settings) as models:
            while True:
                await self._asked.wait()
                self._asked.clear()
                try:
                    await run_due(self._db, all_steps(self._settings, models))
                except MemsvcError as error:
                    note(f"Vectors are made later: {error.message}")


def _show_change(brought: Brought) -> None:
    """Print what was done."""
    from memsvc.cli.ingest import WORDS

    said = []
    for file in brought.files:
        outcome = WORDS[file.document.outcome] if file.document is not None else f"refused: {file.message}"
        said.append(f"{file.file} {outcome}")
    said += [f"{brought.gone:,} gone"] if brought.gone else []
    said += [f"{brought.relinked:,} with other links"] if brought.relinked else []
    moment = f"{datetime.now():%H:%M:%S}"  # noqa: DTZ005 - for people
    for line in said or [f"{counted(brought.notes, 'note')}, nothing has changed"]:
        print(plain(f"{moment}  {line}"), flush=True)


@vaults.command("write")
def write(
    folder: Path = Folder,
    beside: bool = typer.Option(
        False, "--beside", help="Write into NAME.memsvc.md next to a note instead of the note."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the differences, and write nothing."),
    accept: bool = typer.Option(False, "--accept", help="Replace sections that you edited or removed, too."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Write what is known about the things that notes are about into a marked section of each note.

    Nothing outside the sections is touched. Sections that you edited are shown and left alone (exit code 3). Store the
    folder first.
    """

    async def act(db: Database, owner: Owner, _settings: Settings) -> WrittenBack:
        from memsvc.documents.vaults.reading import read_vault
        from memsvc.sources.vaults.reads import get_vault, identity_of
        from memsvc.sources.vaults.writing_back import check_place, contents, set_write_back, write_back

        stored = await get_vault(db, owner, folder)
        check_place(stored, beside=beside)
        top = Path(identity_of(folder))
        vault = await asyncio.to_thread(read_vault, top)
        said = await contents(db, owner, top, vault)
        if not dry_run:
            await set_write_back(db, owner, stored, "beside" if beside else "inside")
        return await asyncio.to_thread(write_back, top, vault, said, beside=beside, dry_run=dry_run, accept=accept)

    done = for_owner_with(user, app, act)
    for plan in done.plans:
        print(plain(plan.diff))
    print(f"{counted(len(done.plans), 'note')} {'would be changed' if dry_run else 'changed'}.")
    _end(done)


@vaults.command("undo")
def undo(
    folder: Path = Folder,
    notes: list[str] = typer.Argument(None, help="Paths of notes in the folder; without any, all.", metavar="[NOTE…]"),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Take back what was written last into each note of a folder, or into some of them."""

    async def act(db: Database, owner: Owner, _settings: Settings) -> WrittenBack:
        from memsvc.documents.vaults.reading import read_vault
        from memsvc.sources.vaults.reads import get_vault, identity_of
        from memsvc.sources.vaults.writing_back import is_written, set_write_back, undo

        stored = await get_vault(db, owner, folder)
        top = Path(identity_of(folder))
        taken = await asyncio.to_thread(undo, top, read_vault(top), notes or ())
        if not is_written(top):
            await set_write_back(db, owner, stored, "off")
        return taken

    done = for_owner_with(user, app, act)
    print(f"{counted(len(done.plans), 'note is as it was', 'notes are as they were')} before the last writing.")
    _end(done)


def _end(done: WrittenBack) -> None:
    """Show what was not written, and end with its exit code."""
    from memsvc.errors import NoteConflictError

    for plan in done.conflicts:
        note(plain(f"{plan.path}: {plan.conflict}\n{plan.diff}"))
    for path, error in done.errors.items():
        note(plain(f"{path}: {error.message}"))
    if done.conflicts:
        note(NoteConflictError.hint.replace("accept the section as it is", "add --accept to replace it"))
        raise typer.Exit(NoteConflictError.exit_code)
    if done.errors:
        raise typer.Exit(next(iter(done.errors.values())).exit_code)
