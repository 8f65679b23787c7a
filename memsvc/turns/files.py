"""Files as agents read them: content and digest, read again while it changes, and what is known of the document."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from memsvc.turns.history import CausedVersion, Staleness
from memsvc.turns.wording import staleness_told

TRIES = 3
"""How often a file is read that changes while it is read."""
LARGEST_TEXT = 64_000_000
"""Bytes of a file whose text is returned; of a larger one only the digest."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file as it was read."""

    text: str | None
    """None: it is no text in UTF-8, or it is too large."""
    sha256: str
    size: int
    """In bytes."""
    changing: bool
    """It changed during each of the tries, so the text may be half old and half new."""


@dataclass(frozen=True, slots=True)
class DocumentRead:
    """A file as it was read, and what is known about it."""

    text: str | None
    """None: it is no text in UTF-8, or larger than 64 MB."""
    sha256: str
    size: int
    changing: bool
    """It changed while it was read, three times, so the text may be half old and half new."""
    document_id: UUID | None
    """None: nothing is stored now."""
    version: int | None
    """Of what was read."""
    seen: int | None
    """The version that a turn saw or wrote last before; None: nobody had seen it."""
    change: CausedVersion | None
    """What made the last version."""

    @property
    def staleness(self) -> int:
        """Versions since it was seen last."""
        return self.version - self.seen if self.version is not None and self.seen is not None else 0

    @property
    def told(self) -> str:
        """What is known in words: ``changed since: v3 → v5``, ``unchanged since: v5``, ``not seen before``."""
        return "not seen before" if self.seen is None else staleness_told(self.seen, self.version)


def read_file(path: Path) -> FileRead:
    """Read a file; one that changes meanwhile is read again.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    for nth in range(TRIES):
        with path.open("rb") as file:
            before = _state(os.fstat(file.fileno()))
            digest, content, size = hashlib.sha256(), list[bytes](), 0
            while piece := file.read(1_048_576):
                digest.update(piece)
                size += len(piece)
                if size <= LARGEST_TEXT:
                    content.append(piece)
        changing = _state(path.stat()) != before
        if not changing or nth == TRIES - 1:
            break
    text = None
    if size <= LARGEST_TEXT:
        try:
            text = b"".join(content).decode()
        except UnicodeDecodeError:
            text = None
    return FileRead(text, digest.hexdigest(), size, changing)


def read_known(
    read: FileRead, version: int | None, known: Staleness | None, turn_id: UUID | None, seen: int | None
) -> DocumentRead:
    """Return what was read with what is known about it.

    Args:
        read: the file.
        version: of what was read.
        known: how its document fared; None: nothing is stored.
        turn_id: the turn that reads it now.
        seen: the version that this turn saw before.
    """
    others = (one.version for one in known.items if one.turn_id != turn_id) if known is not None else ()
    return DocumentRead(
        text=read.text,
        sha256=read.sha256,
        size=read.size,
        changing=read.changing,
        document_id=known.document_id if known is not None else None,
        version=version,
        seen=seen if seen is not None else next((one for one in others if one is not None), None),
        change=known.last_change if known is not None else None,
    )


def _state(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
