"""Keeps a folder of notes in the memory as it is: each note with its links in one transaction, whatever stops it.

First notes that are new or have changed are stored, each with its node and its links to the notes that are stored.
Then notes that are gone end. Last come links that mean something else by now, although their own notes stayed: a note
that they name came, went or was renamed. A run that was interrupted is finished by the next one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.documents.limits import Limits
from memsvc.documents.parsing import parse
from memsvc.documents.vaults.flavours import SURE, detect
from memsvc.documents.vaults.folder import NOTE_ENDINGS
from memsvc.documents.vaults.form import Note, Vault
from memsvc.errors import BadFileError, ConfigurationError, DocumentWithoutTextError, InvalidRequestError, MemsvcError
from memsvc.settings import Settings
from memsvc.sources.documents import DocumentIn, mark_gone_in, store_document
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.document_files import file_is_there
from memsvc.sources.kinds.registry import DOCUMENT, recognised
from memsvc.sources.kinds.temporary import temporary_folder
from memsvc.sources.runs import FileOutcome, KeptVault
from memsvc.sources.vaults.linking import as_linked, bring, end
from memsvc.sources.vaults.wanted import title_of, wanted_of

LOOKED_AT = 500
"""Notes whose links are compared with one query."""
FORMAT = "md"


@dataclass(kw_only=True, slots=True)
class Brought:
    """What was done about a vault."""

    vault_id: UUID
    files: list[FileOutcome] = field(default_factory=list)
    """Of notes that were stored, moved or refused; of the others nothing was to be done."""
    notes: int = 0
    """That the folder has."""
    relinked: int = 0
    """Notes whose text stayed, but whose links or names changed."""
    gone: int = 0
    paused: bool = False
    """The user's memory is paused, so nothing was stored."""
    errors: list[MemsvcError] = field(default_factory=list)
    """Why notes were refused."""
    odd: dict[str, int] = field(default_factory=dict)

    @property
    def is_change(self) -> bool:
        """Whether anything was done."""
        return bool(self.files or self.relinked or self.gone)

    def kept(self, folder: Path, flavours: Iterable[str]) -> KeptVault:
        """Return the numbers of it."""
        outcomes = Counter(file.document.outcome if file.document is not None else "refused" for file in self.files)
        return KeptVault(
            folder=folder.name, flavours=list(flavours), notes=self.notes, stored=dict(outcomes),
            relinked=self.relinked, gone=self.gone, odd=self.odd,
        )  # fmt: skip


def is_vault(folder: Path) -> bool:
    """Whether a folder is one of notes: by what programs leave in it, or by its links. Exports of chats are none.

    Raises:
        BadFileError: it cannot be read.
    """
    if detect(folder)[0].sure < SURE:
        return False
    with opened(folder, BytesIO()) as bundle:
        return recognised(bundle) is None


class Keeper:
    """Keeps one folder in the memory of one user."""

    def __init__(self, db: Database, owner: Owner, settings: Settings, folder: Path) -> None:
        """Use a folder; its absolute path, without symbolic links, is its identity."""
        self.folder = folder.resolve()
        self._db, self._owner, self._settings = db, owner, settings
        self._before: Vault | None = None

    async def bring(self, vault: Vault, told: Callable[[FileOutcome], None] = lambda _: None) -> Brought:
        """Bring the memory to what the folder has.

        Args:
            vault: as it was read. After the first call, only what differs from the vault before is compared.
            told: is called for each note that was stored, moved or refused.

        Raises:
            BadFileError: the folder has no notes any more: it may just not be there at the moment.
            MemsvcError: the database cannot be used; what was stored is kept.
        """
        brought = Brought(vault_id=await self._keep(vault), notes=len(vault.notes), odd=vault.odd)
        known = await self._known()
        if not vault.notes and any(known.values()):
            raise BadFileError(
                f"{self.folder.name} has no notes any more.",
                hint="Nothing was marked as gone, because the folder may just not be there. Forget them if they are.",
            )
        with ExitStack() as stack:
            at = _Round(vault=vault, known=known, brought=brought, reading=_Texts(self._settings, stack))
            for note in vault.notes:
                source_id, digest = known.get(self._identifier(note.path), (None, None))
                if source_id is not None and digest is not None:
                    at.ids[note.path] = source_id
            await self._store(at, told)
            if brought.paused:
                return brought
            await self._end_gone(at)
            await self._settle(at)
        self._before = vault
        if brought.is_change:
            self._db.notify(EVENTS)
        async with self._db.transaction(self._owner.user_id) as connection:
            asked = {**self._asked, "vault_id": brought.vault_id, "odd": msgspec.json.encode(vault.odd).decode()}
            await connection.execute(query("vault_read"), asked)
        return brought

    @property
    def _asked(self) -> dict[str, object]:
        return {"user_id": self._owner.user_id}

    def _identifier(self, path: str) -> str:
        return f"{self.folder.as_posix().rstrip('/')}/{path}"

    async def _keep(self, vault: Vault) -> UUID:
        async with self._db.transaction(self._owner.user_id) as connection:
            asked = {**self._asked, "folder": self.folder.as_posix(), "flavours": list(vault.flavours)}
            kept: UUID = (await connection.execute(query("keep_vault"), asked)).scalar_one()
        return kept

    async def _known(self) -> dict[str, tuple[UUID, str | None]]:
        """Return documents below the folder by identifier: id, and digest; None: it is gone."""
        async with self._db.transaction(self._owner.user_id) as connection:
            asked = {**self._asked, "folder": self._identifier("")}
            rows = (await connection.execute(query("vault_notes"), asked)).all()
        return {row.identifier: (row.source_id, row.sha256) for row in rows}

    async def _store(self, at: _Round, told: Callable[[FileOutcome], None]) -> None:
        """Store notes that are new or have changed."""
        for note in at.vault.notes:
            stored = at.known.get(self._identifier(note.path))
            if stored is not None and stored[1] == note.hash:
                continue
            file = await self._store_note(note, at)
            done = file.document
            if done is not None and done.document_id is not None and at.ids.get(note.path) != done.document_id:
                at.ids[note.path] = done.document_id
                at.touched.add(note.path)
            at.brought.paused |= done is not None and done.outcome == "paused"
            at.brought.files.append(file)
            told(file)

    async def _store_note(self, note: Note, at: _Round) -> FileOutcome:
        file = FileOutcome(file=f"{self.folder.name}/{note.path}", outcome="stored", kind=DOCUMENT)
        try:
            document = DocumentIn(
                identifier=self._identifier(note.path), path=file.file, sha256=note.hash, size=len(note.text.encode()),
                parse=lambda: at.reading.of(note), modified=_modified(self.folder / note.path), day=note.date,
                is_there=file_is_there,
            )  # fmt: skip
            file.document = await store_document(
                self._db, self._owner, document, self._settings,
                lambda connection, source_id, parsed: self._link(connection, (note, source_id), at, parsed),
            )  # fmt: skip
        except (InvalidRequestError, ConfigurationError) as error:
            at.brought.errors.append(error)
            return replace(file, outcome="refused", code=error.code, message=f"{file.file}: {error.message}",
                           hint=error.advice)  # fmt: skip
        return file

    async def _link(
        self, connection: AsyncConnection, note: tuple[Note, UUID], at: _Round, parsed: ParsedDocument
    ) -> None:
        await bring(connection, self._owner, note, at.ids, (parsed, self._settings))

    async def _end_gone(self, at: _Round) -> None:
        """End notes whose files are gone."""
        there = {self._identifier(note.path) for note in at.vault.notes}
        stay = set(at.ids.values())
        for identifier, (source_id, digest) in at.known.items():
            if identifier in there or digest is None or source_id in stay:
                continue
            if is_note(identifier) and not file_is_there(identifier):
                at.brought.gone += await self._db.attempt(
                    self._owner.user_id, partial(self._end_note, identifier=identifier, source_id=source_id)
                )
                at.touched.add(identifier.removeprefix(self._identifier("")))

    async def _end_note(self, connection: AsyncConnection, identifier: str, source_id: UUID) -> int:
        gone = await mark_gone_in(connection, self._owner, [identifier])
        if gone:
            await end(connection, self._owner, [source_id])
        return gone

    async def _settle(self, at: _Round) -> None:
        """Bring links and names of notes that stayed to what they mean by now."""
        before = {note.path: note for note in self._before.notes} if self._before is not None else {}
        looked = [
            note for note in at.vault.notes
            if note.path in at.ids and (before.get(note.path) != note or not at.touched.isdisjoint(_ends_of(note)))
        ]  # fmt: skip
        for start in range(0, len(looked), LOOKED_AT):
            some = looked[start : start + LOOKED_AT]
            async with self._db.transaction(self._owner.user_id) as connection:
                stored = await as_linked(connection, self._owner, [at.ids[note.path] for note in some])
            for note in some:
                source_id = at.ids[note.path]
                if not stored[source_id].is_as(wanted_of(note, source_id, at.ids)):
                    at.brought.relinked += await self._settle_note((note, source_id), at)

    async def _settle_note(self, note: tuple[Note, UUID], at: _Round) -> bool:
        parsed = await asyncio.to_thread(at.reading.of, note[0])
        return await self._db.attempt(
            self._owner.user_id,
            lambda connection: bring(connection, self._owner, note, at.ids, (parsed, self._settings)),
        )


class _Texts:
    """Reads the text of notes as documents, in a process of its own, from private copies."""

    def __init__(self, settings: Settings, stack: ExitStack) -> None:
        self._limits = Limits(window_tokens=settings.chunk_tokens)
        self._folder = stack.enter_context(temporary_folder())

    def of(self, note: Note) -> ParsedDocument:
        """Return a note as a document; of one without a text, its title is the text."""
        copy = self._folder / "note.md"
        copy.write_bytes(note.text.encode())
        try:
            parsed = parse(copy, "note.md", limits=self._limits)
        except DocumentWithoutTextError:
            parsed = ParsedDocument(format=FORMAT, title="", chunks=[Chunk(text=title_of(note), origin={"line": 1})])
        metadata = parsed.metadata | ({"tags": list(note.tags)} if note.tags else {})
        return msgspec.structs.replace(parsed, title=title_of(note), metadata=metadata)


@dataclass(kw_only=True, slots=True)
class _Round:
    """What one reading of the folder works with."""

    vault: Vault
    known: dict[str, tuple[UUID, str | None]]
    """Documents below the folder when it began, by identifier: id, and digest; None: it is gone."""
    brought: Brought
    reading: _Texts
    ids: dict[str, UUID] = field(default_factory=dict)
    """Documents of notes that are stored by now, by path."""
    touched: set[str] = field(default_factory=set)
    """Paths of notes that came or went, so that links to them mean something else."""


def _ends_of(note: Note) -> Iterable[str]:
    """Return the paths of the notes that a note and its links are about."""
    return (note.path, *(path for link in note.links for path in link.resolves_to))


def is_note(path: str) -> bool:
    """Whether a file is a note by its name."""
    return path.lower().endswith(NOTE_ENDINGS)


def _modified(place: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(place.stat().st_mtime, UTC).replace(microsecond=0)
    except OSError:
        return None
