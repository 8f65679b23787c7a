"""What memsvc writes into notes: what is known about the things that they are about, and which notes belong together.

A note is about the one thing of the world that has its title, its name or an alias. Files are written by
``memsvc.documents.vaults.writing``; its history is ``.memsvc/history.jsonl`` in the folder, so it goes along with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.documents.vaults.files import place_of, state_of
from memsvc.documents.vaults.form import Note, Vault
from memsvc.documents.vaults.history import History
from memsvc.documents.vaults.notes import name_of
from memsvc.documents.vaults.sections import BEGIN, Content, LinkTo
from memsvc.documents.vaults.writing import Plan, Writer, sidecar_of
from memsvc.errors import InvalidRequestError, MemsvcError, NoteChangedError, NoteConflictError, NoteReadOnlyError
from memsvc.graph import read
from memsvc.sources.vaults.reads import StoredVault, identity_of
from memsvc.sources.vaults.wanted import LINKS_TO
from memsvc.text.characters import flat

HISTORY = Path(".memsvc", "history.jsonl")
ABOUT_TEXTS = frozenset((LINKS_TO, "MENTIONS", "DERIVED_FROM", "SUPERSEDES", "VERSION_OF", "TOOL_CALL"))
"""Types of facts that only say which text names, follows or uses another one."""
MOST_FACTS = 20
"""In one note; the newest. The same for links."""
REFUSED = (NoteChangedError, NoteConflictError, NoteReadOnlyError)


@dataclass(kw_only=True, slots=True)
class WrittenBack:
    """What was done, or would be, note by note."""

    plans: list[Plan] = field(default_factory=list)
    """Changes that were written, or would be."""
    conflicts: list[Plan] = field(default_factory=list)
    """Sections that the owner edited or removed: nothing was written there."""
    errors: dict[str, MemsvcError] = field(default_factory=dict)
    """Notes that could not be written, by path."""


async def contents(db: Database, owner: Owner, folder: Path, vault: Vault) -> dict[str, Content]:
    """Return what memsvc has to say about each note of a vault, by path; notes without anything are left out."""
    names = {note.path: _names(note, vault) for note in vault.notes}
    subjects = await _subjects(db, owner, folder, names)
    nodes = sorted({node for found in subjects.values() for node in found})
    if not nodes:
        return {}
    facts = await _facts(db, owner, nodes)
    also = await read.names(db, owner, nodes)
    about: dict[UUID, list[read.Fact]] = defaultdict(list)
    for fact in facts:
        for end in dict.fromkeys((fact.from_node, fact.to_node)):
            about[end].append(fact)
    paths: dict[UUID, list[str]] = defaultdict(list)
    for path, found in subjects.items():
        for node in found:
            paths[node].append(path)
    called: dict[UUID, list[str]] = defaultdict(list)
    for name in also:
        called[name.canonical_id].append(name.alias)
    written = {}
    for note in vault.notes:
        mine = subjects.get(note.path, [])
        content = _content(note, names[note.path], mine, _Known(about, paths, called))
        if content != Content():
            written[note.path] = content
    return written


async def _facts(db: Database, owner: Owner, nodes: Sequence[UUID]) -> list[read.Fact]:
    """Return what is known about nodes, without what only says that something stands in a note or in a group.

    Links of notes are in the notes already. Groups, summaries and reflections are made by sleep, from what is known.
    """
    found = [fact for fact in await read.facts(db, owner, nodes) if fact.type not in ABOUT_TEXTS]
    ends = sorted({end for fact in found for end in (fact.from_node, fact.to_node)})
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "nodes": ends}
        derived = set((await connection.execute(query("derived_nodes"), asked)).scalars())
    return [fact for fact in found if derived.isdisjoint((fact.from_node, fact.to_node))]


@dataclass(frozen=True, slots=True)
class _Known:
    about: Mapping[UUID, Sequence[read.Fact]]
    paths: Mapping[UUID, Sequence[str]]
    called: Mapping[UUID, Sequence[str]]


def _content(note: Note, names: Sequence[str], mine: Sequence[UUID], known: _Known) -> Content:
    linked = {note.path, *(path for link in note.links for path in link.resolves_to)}
    facts: dict[str, None] = {}
    links: dict[str, str] = {}
    forms = {name.casefold() for name in names}
    also = sorted({name for node in mine for name in known.called.get(node, ()) if name.casefold() not in forms})
    if also:
        facts[f"Also called {', '.join(also)}."] = None
    for fact in (fact for node in mine for fact in known.about.get(node, ())):
        facts.setdefault(fact.fact)
        for end in (fact.from_node, fact.to_node):
            if end not in mine:
                for path in known.paths.get(end, ()):
                    if path not in linked:
                        links.setdefault(path, fact.fact)
    return Content(
        facts=tuple(list(facts)[:MOST_FACTS]),
        links=tuple(LinkTo(path=path, text=text) for path, text in list(links.items())[:MOST_FACTS]),
    )


def _names(note: Note, vault: Vault) -> list[str]:
    names = (note.title, name_of(note.path, vault.flavours), *note.aliases)
    return list(dict.fromkeys(filter(None, map(flat, names))))


async def _subjects(
    db: Database, owner: Owner, folder: Path, names: Mapping[str, Sequence[str]]
) -> dict[str, list[UUID]]:
    """Return the nodes that notes are about, by path: their own, and the one thing that has one of their names."""
    every = sorted({name for found in names.values() for name in found})
    prefix = f"{identity_of(folder).rstrip('/')}/"
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "folder": prefix}
        stored = (await connection.execute(query("vault_notes"), asked)).all()
        rows = (await connection.execute(query("things_called"), {"user_id": owner.user_id, "names": every})).all()
    things: dict[str, set[UUID]] = defaultdict(set)
    for row in rows:
        things[row.name].add(row.node_id)
    current = [row for row in stored if row.sha256 is not None and row.is_node]
    own = {row.identifier.removeprefix(prefix): row.source_id for row in current}
    canonical = await read.resolve(db, owner, sorted(own.values())) if own else {}
    found: dict[str, list[UUID]] = {}
    for path, called in names.items():
        if path in own:
            single = {node for name in called if len(things[name]) == 1 for node in things[name]}
            found[path] = [canonical[own[path]], *sorted(single)]
    return found


def writer_of(folder: Path, vault: Vault) -> Writer:
    """Return the writer of a folder."""
    return Writer(folder, folder / HISTORY, vault.flavours)


def check_place(vault: StoredVault, *, beside: bool) -> None:
    """Refuse to write inside notes what is written beside them until now, or the other way round.

    Raises:
        InvalidRequestError: it is.
    """
    if vault.write_back not in {"off", "beside" if beside else "inside"}:
        was = "beside the notes" if vault.write_back == "beside" else "inside the notes"
        raise InvalidRequestError(
            f"The sections of this vault are written {was}.", hint="Take them back first: memsvc vault undo FOLDER"
        )


def write_back(
    folder: Path,
    vault: Vault,
    said: Mapping[str, Content],
    *,
    beside: bool = False,
    dry_run: bool = False,
    accept: bool = False,
) -> WrittenBack:
    """Write what memsvc has to say into the notes of a folder, or say what would be written.

    Args:
        folder: the vault's.
        vault: as it was read just now.
        said: by path, what to say; what a note has no more to say is removed.
        beside: into notes beside.
        dry_run: write nothing.
        accept: replace sections that the owner edited or removed as well.
    """
    writer, done = writer_of(folder, vault), WrittenBack()
    for note in vault.notes:
        content = said.get(note.path, Content())
        try:
            if content == Content() and not _has_section(folder, note.path, beside=beside):
                continue
            plan = writer.plan(note, content, beside=beside)
            if plan.conflict and accept and not dry_run and writer.accept(plan.path):
                plan = writer.plan(note, content, beside=beside)
            if plan.conflict:
                done.conflicts.append(plan)
            elif plan.is_change:
                if not dry_run:
                    writer.apply(plan)
                done.plans.append(plan)
        except REFUSED as error:
            done.errors[note.path] = error
    return done


def _has_section(folder: Path, path: str, *, beside: bool) -> bool:
    data = state_of(place_of(folder, sidecar_of(path) if beside else path))
    return data is not None and BEGIN.encode() in data


def undo(folder: Path, vault: Vault, paths: Sequence[str] = ()) -> WrittenBack:
    """Take back the last step in each file, or in those of these notes; ``plans`` stays empty, ``errors`` has the rest.

    Returns:
        ``plans`` has one entry for each file that was changed, without a difference to show.
    """
    writer, done = writer_of(folder, vault), WrittenBack()
    files = dict.fromkeys(entry.path for entry in History(folder / HISTORY).entries() if entry.path)
    chosen = {*paths, *map(sidecar_of, paths)}
    for path in files:
        if paths and path not in chosen:
            continue
        try:
            if writer.undo(path):
                done.plans.append(Plan(path, None, None, ""))
        except REFUSED as error:
            done.errors[path] = error
    return done


def is_written(folder: Path) -> bool:
    """Whether some file still has a section that memsvc wrote, by the history."""
    history = History(folder / HISTORY)
    last = {entry.path: entry.after for entry in history.entries() if entry.path}
    return any(after is not None for after in last.values())


async def set_write_back(db: Database, owner: Owner, vault: StoredVault, where: str) -> None:
    """Note where sections are written: off, inside or beside."""
    async with db.transaction(owner.user_id) as connection:
        asked = {"user_id": owner.user_id, "vault_id": vault.vault_id, "write_back": where}
        await connection.execute(query("set_write_back"), asked)
