"""A folder of notes becomes a ``Vault``."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from memsvc.documents.blocks import Reading
from memsvc.documents.limits import Limits
from memsvc.documents.readers.text_files import decoded
from memsvc.documents.vaults.days import Days
from memsvc.documents.vaults.flavours import detected, flavours_of
from memsvc.documents.vaults.folder import listing, read_once
from memsvc.documents.vaults.form import Flavour, Note, Vault
from memsvc.documents.vaults.notes import note_of
from memsvc.documents.vaults.resolving import Index
from memsvc.documents.vaults.sections import SIDECAR, owners_bytes


def read_vault(folder: Path, flavours: tuple[Flavour, ...] | None = None) -> Vault:
    """Read all notes of a folder.

    Embeds are links and are never put in, so notes that embed each other are no problem.

    Args:
        folder: the vault's top folder.
        flavours: the programs that it belongs to; None: as ``detect`` says.

    Raises:
        BadFileError: there is no such folder, it cannot be read, or it has more than 500,000 files.
    """
    found = listing(folder)
    chosen = flavours_of(detected(folder, found)) if flavours is None else flavours
    days = Days(folder, chosen)
    odd = found.odd
    notes: list[Note] = []
    for path in found.notes:
        data = read_once(folder / path, odd)
        if data is None:
            continue
        note = read_note(path, data, chosen, days, odd)
        if note is not None:
            notes.append(note)
    index = Index(notes, found.files, chosen, days)
    return Vault(
        flavours=chosen, notes=tuple(index.resolved(note) for note in notes), files=tuple(found.files), odd=dict(odd)
    )


def read_note(path: str, data: bytes, flavours: tuple[Flavour, ...], days: Days, odd: Counter[str]) -> Note | None:
    """Read one note from its bytes; None: it holds nothing but what memsvc wrote beside a note."""
    owners, sections = owners_bytes(data)
    if sections and path.endswith(SIDECAR) and not owners.strip():
        odd["notes that memsvc wrote"] += 1
        return None
    if sections > 1:
        odd["notes with several sections of memsvc"] += 1
    reading = Reading(Limits())
    text = decoded(owners, reading)
    odd.update(reading.odd)
    return note_of(path, text, owners_hash=hashlib.sha256(owners).hexdigest(), flavours=flavours, days=days, odd=odd)
