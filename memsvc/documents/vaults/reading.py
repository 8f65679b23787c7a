"""A folder of notes becomes a ``Vault``, and again after each change, for which only what changed is read."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from memsvc.documents.blocks import Reading
from memsvc.documents.limits import Limits
from memsvc.documents.readers.text_files import decoded
from memsvc.documents.vaults.days import Days
from memsvc.documents.vaults.flavours import detected, flavours_of
from memsvc.documents.vaults.folder import Listing, listing, read_once
from memsvc.documents.vaults.form import Flavour, Note, Vault
from memsvc.documents.vaults.notes import note_of
from memsvc.documents.vaults.resolving import Index
from memsvc.documents.vaults.sections import SIDECAR, owners_bytes

RESTLESS_NS = 2_000_000_000
"""A file that changed so recently may change again without another time, where clocks of files are coarse."""


class Stamp(NamedTuple):
    """By what it is known that a file has not changed since."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class _Kept(NamedTuple):
    stamp: Stamp | None
    """None: it is to be read again."""
    note: Note | None
    odd: Counter[str]


def read_vault(folder: Path, flavours: tuple[Flavour, ...] | None = None) -> Vault:
    """Read all notes of a folder.

    Embeds are links and are never put in, so notes that embed each other are no problem.

    Args:
        folder: the vault's top folder.
        flavours: the programs that it belongs to; None: as ``detect`` says.

    Raises:
        BadFileError: there is no such folder, it cannot be read, or it has more than 500,000 files.
    """
    return VaultReader(folder, flavours).read()


class VaultReader:
    """Reads a folder of notes as often as wanted; what has not changed is read once."""

    def __init__(self, folder: Path, flavours: tuple[Flavour, ...] | None = None) -> None:
        """Use a folder. Arguments: as ``read_vault``."""
        self._folder = folder
        self._flavours = flavours
        self._days: Days | None = None
        self._kept: dict[str, _Kept] = {}
        self._listed: tuple[list[str], list[str]] = ([], [])
        self._vault: Vault | None = None

    def stamps(self) -> dict[str, Stamp | None]:
        """Return what tells the state of each note without reading it; None: it has just vanished.

        Raises:
            BadFileError: as ``read_vault``.
        """
        return {path: _stamp(f"{self._folder}/{path}") for path in listing(self._folder).notes}

    def read(self) -> Vault:
        """Read what is new or has changed; the same vault again if nothing has.

        Raises:
            BadFileError: as ``read_vault``.
        """
        found = listing(self._folder)
        if self._flavours is None or self._days is None:
            self._flavours = self._flavours or flavours_of(detected(self._folder, found))
            self._days = Days(self._folder, self._flavours)
        is_same = self._listed == (found.notes, found.files)
        for path in self._kept.keys() - set(found.notes):
            del self._kept[path]
        for path in found.notes:
            is_same = self._look(path, self._flavours, self._days) and is_same
        if not is_same or self._vault is None:
            self._listed = (found.notes, found.files)
            self._vault = self._resolved(found, self._flavours, self._days)
        return self._vault

    def _look(self, path: str, flavours: tuple[Flavour, ...], days: Days) -> bool:
        """Read a note if it is not as it was; returns whether it is."""
        place, kept, odd = self._folder / path, self._kept.get(path), Counter[str]()
        stamp = _stamp(place)  # before its text, so that a change meanwhile shows
        if kept is not None and kept.stamp is not None and kept.stamp == stamp:
            return True
        data = read_once(place, odd)
        note = read_note(path, data, flavours, days, odd) if data is not None else None
        is_settled = stamp is not None and time.time_ns() - stamp.modified_ns > RESTLESS_NS
        self._kept[path] = _Kept(stamp if is_settled else None, note, odd)
        return kept is not None and (kept.note, kept.odd) == (note, odd)

    def _resolved(self, found: Listing, flavours: tuple[Flavour, ...], days: Days) -> Vault:
        kept = [self._kept[path] for path in found.notes]
        notes = [one.note for one in kept if one.note is not None]
        odd = sum((one.odd for one in kept), found.odd)
        index = Index(notes, found.files, flavours, days)
        return Vault(
            flavours=flavours, notes=tuple(index.resolved(note) for note in notes), files=tuple(found.files),
            odd=dict(odd),
        )  # fmt: skip


def _stamp(place: Path | str) -> Stamp | None:
    try:
        status = os.lstat(place)
    except OSError:
        return None
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


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
