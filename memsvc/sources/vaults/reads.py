"""Read what is stored of vaults: the list of them, and the links of one."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NotFoundError
from memsvc.sources.vaults.linking import as_linked
from memsvc.sources.vaults.wanted import LINKS, is_broken


class StoredVault(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of notes in a memory."""

    vault_id: UUID
    folder: str
    """Its absolute path, where it was read."""
    flavours: list[str]
    """The programs that it belongs to, the surest first."""
    write_back: str
    """off; inside: sections are written into notes; beside: into notes beside them."""
    created_at: datetime
    read_at: datetime | None
    """When it was read to its end; null: never."""
    odd: dict[str, int]
    """What was left out then or looked strange, each with how often."""
    notes: int
    links: int
    """From note to note; several in one note to the same other note count once."""
    broken: int
    """Links that lead nowhere."""
    tasks: int
    """That are open and have a date."""


class StoredLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link as it stands in a note."""

    source: str
    """Path of the note in its folder."""
    line: int
    kind: str
    target: str
    """As written, at most 300 characters."""
    section: str | None = None
    alias: str | None = None
    ambiguous: bool = False
    """Several notes have this name; there is a link to each."""
    resolves_to: str | None = None
    """Path of the note that it leads to."""
    file: str | None = None
    """Path of the file that it names, if that is no note."""
    broken: bool = False
    """Nothing in the folder has this name."""


def identity_of(folder: Path) -> str:
    """Return by what a folder is known: its absolute path without symbolic links."""
    return folder.resolve().as_posix()


async def list_vaults(db: Database, owner: Owner, folder: Path | None = None) -> list[StoredVault]:
    """Return a user's vaults in the order in which they were added, or the one of a folder."""
    named = identity_of(folder) if folder is not None else None
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("list_vaults"), {"user_id": owner.user_id, "folder": named})).mappings()
        return [msgspec.convert(dict(row), StoredVault) for row in rows]


async def get_vault(db: Database, owner: Owner, folder: Path) -> StoredVault:
    """Return the vault of a folder.

    Raises:
        NotFoundError: it was never stored.
    """
    found = await list_vaults(db, owner, folder)
    if not found:
        raise NotFoundError(f"No vault is stored of {folder.name}.", hint="memsvc vault add FOLDER")
    return found[0]


async def remove_vault(db: Database, owner: Owner, folder: Path) -> None:
    """Forget that a folder is a vault; its documents stay.

    Raises:
        NotFoundError: it was never stored.
    """
    asked = {"user_id": owner.user_id, "folder": identity_of(folder)}
    async with db.transaction(owner.user_id) as connection:
        if (await connection.execute(query("remove_vault"), asked)).scalar_one_or_none() is None:
            raise NotFoundError(f"No vault is stored of {folder.name}.")


async def vault_links(db: Database, owner: Owner, folder: Path, *, broken: bool = False) -> list[StoredLink]:
    """Return the links of a vault's notes by path and line.

    Args:
        db: the database.
        owner: the owner.
        folder: the vault's.
        broken: only those that lead nowhere.

    Raises:
        NotFoundError: it was never stored.
    """
    vault = await get_vault(db, owner, folder)
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "folder": f"{vault.folder.rstrip('/')}/"}
        known = (await connection.execute(query("vault_notes"), asked)).all()
        notes = await as_linked(connection, owner, [row.source_id for row in known if row.sha256 is not None])
    paths = {note.source_id: note.data["path"] for note in notes.values() if note.data is not None}
    found: list[StoredLink] = []
    for note in notes.values():
        source = paths.get(note.source_id)
        if source is None or note.data is None:
            continue
        for edge in note.edges:
            found += [_link(source, place, paths.get(edge.to_node)) for place in edge.data.get(LINKS, ())]
        found += [_link(source, place, source if "within" in place else None) for place in note.data.get(LINKS, ())]
    return sorted(
        (link for link in found if link.broken or not broken), key=lambda link: (link.source, link.line, link.target)
    )


def _link(source: str, place: dict[str, Any], end: str | None) -> StoredLink:
    return StoredLink(
        source=source,
        line=place["line"],
        kind=place["kind"],
        target=place["target"],
        section=place.get("section"),
        alias=place.get("alias"),
        ambiguous=place.get("ambiguous", False),
        resolves_to=end,
        file=place.get("file"),
        broken=end is None and is_broken(place),
    )
