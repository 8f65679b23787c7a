"""The files of a folder of notes: which are notes, and their bytes, each read once.

Symbolic links are never followed, so neither loops nor links out of the folder matter: what a link inside the folder
points to is read under its own name.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memsvc.errors import BadFileError

NOTE_ENDINGS = (".md", ".markdown")
DRAWINGS = (".canvas", ".excalidraw", ".excalidraw.md")
LEFT_OUT = {"logseq/bak", "logseq/version-files"}
"""Programs' copies of notes; hidden folders are left out as well."""
LEFT_OUT_ANYWHERE = {"node_modules"}
MOST_FILES = 500_000
MOST_NOTE_BYTES = 5_000_000


@dataclass(slots=True)
class Listing:
    """The files of a folder, by path."""

    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """Other files."""
    odd: Counter[str] = field(default_factory=Counter)


def listing(root: Path) -> Listing:
    """List a folder.

    Raises:
        BadFileError: it is no folder, cannot be read, or has more than 500,000 files.
    """
    if not root.is_dir():
        raise BadFileError("There is no folder at this path.")
    found = Listing()
    for count, path in enumerate(_walk(root, found.odd), 1):
        if count > MOST_FILES:
            raise BadFileError(f"The folder has more than {MOST_FILES:,} files.")
        lower = path.lower()
        if lower.endswith(DRAWINGS):
            found.odd["drawings"] += 1
            found.files.append(path)
        elif lower.endswith(NOTE_ENDINGS):
            found.notes.append(path)
        else:
            if lower.endswith(".org"):
                found.odd["notes in Org mode, which are not read"] += 1
            found.files.append(path)
    found.notes.sort()
    found.files.sort()
    return found


def _walk(root: Path, odd: Counter[str]) -> Iterator[str]:
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in _entries(root, folder, odd):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not _is_storable(entry.name):
                odd["names that are not UTF-8"] += 1
            elif entry.is_symlink():
                odd["symbolic links"] += 1
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in LEFT_OUT_ANYWHERE and path not in LEFT_OUT:
                    folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path


def _entries(root: Path, folder: str, odd: Counter[str]) -> list[os.DirEntry[str]]:
    """Return what a folder has, without what is hidden."""
    try:
        with os.scandir(root / folder) as listed:
            return [entry for entry in listed if not entry.name.startswith(".")]
    except OSError as error:
        if not folder:
            raise BadFileError("The folder cannot be read.") from error
        odd["folders that cannot be read"] += 1
        return []


def _is_storable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_once(path: Path, odd: Counter[str]) -> bytes | None:
    """Return a file's bytes, read in one go, so that hash and text are of the same state.

    Returns:
        None: it is gone, cannot be read, is no regular file or is larger than 5 MB; that is counted.
    """
    try:
        # O_NONBLOCK: a pipe that took the file's place must not keep the reader waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        odd["files that vanished"] += 1
        return None
    except OSError:
        odd["files that cannot be read"] += 1
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            odd["files that cannot be read"] += 1
            return None
        try:
            data = file.read(MOST_NOTE_BYTES + 1)
        except OSError:
            odd["files that cannot be read"] += 1
            return None
    if len(data) > MOST_NOTE_BYTES:
        odd["notes over 5 MB"] += 1
        return None
    return data
