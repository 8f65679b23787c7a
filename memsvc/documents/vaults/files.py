"""Writes one file of a folder of notes: whole or not at all, and only if it still is as it was read."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath

from memsvc.documents.vaults.folder import read_once
from memsvc.errors import NoteChangedError, NoteReadOnlyError


def place_of(folder: Path, path: str) -> Path:
    """Return where a note is.

    Raises:
        NoteReadOnlyError: it would be outside the folder, or behind a symbolic link.
    """
    parts = PurePosixPath(path)
    top = folder.resolve()
    place = top / parts
    if parts.is_absolute() or ".." in parts.parts or place.resolve() != place or place == top:
        raise NoteReadOnlyError("The note's path leads out of the folder or through a symbolic link.")
    return place


def state_of(place: Path) -> bytes | None:
    """Return a file's bytes; None if there is no file.

    Raises:
        NoteReadOnlyError: there is one that cannot be read.
    """
    data = read_once(place, Counter())
    if data is None and os.path.lexists(place):
        raise NoteReadOnlyError("The note cannot be read, or is larger than 5 MB.")
    return data


def write(place: Path, data: bytes | None, *, expected: bytes | None) -> None:
    """Replace a file with the same permissions, create it, or delete it.

    Args:
        place: the file.
        data: its bytes; None deletes it.
        expected: its bytes until now; None: there is no file.

    Raises:
        NoteChangedError: the file is another one by now.
        NoteReadOnlyError: it is write-protected, or its folder is.
    """
    _check(place, expected)
    if data is None:
        place.unlink(missing_ok=True)
        return
    status = place.stat() if expected is not None else None
    if status is not None and not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise NoteReadOnlyError("The note is write-protected.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=".memsvc-", suffix=".tmp", dir=place.parent)
    except OSError as error:
        raise NoteReadOnlyError("The note's folder cannot be written to.") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _take_permissions(descriptor, status)
            os.fsync(descriptor)
        _check(place, expected)
        if status is None:
            # Unlike a rename, a link fails if somebody made the file meanwhile.
            try:
                os.link(name, place)
            except FileExistsError as error:
                raise NoteChangedError("There is a file of this name by now.") from error
        else:
            Path(name).replace(place)
        _keep(place.parent)
    finally:
        Path(name).unlink(missing_ok=True)


def _check(place: Path, expected: bytes | None) -> None:
    if state_of(place) != expected:
        raise NoteChangedError


def _take_permissions(descriptor: int, status: os.stat_result | None) -> None:
    if status is None:
        os.fchmod(descriptor, 0o666 & ~_mask())
        return
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _keep(folder: Path) -> None:
    """Make sure that a name survives a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
