"""The history of what was written into notes: a file of JSON lines that only ever grows.

A line is written before its note, and a second one after it. So a crash between the two leaves a note either as it was
or as the line says, and both are known.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from memsvc.documents.vaults.sections import same
from memsvc.errors import BadFileError

Action = Literal["write", "undo", "accept"]


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """Where a section stood in its note."""

    offset: int
    """Characters before it."""
    gap: int
    """Characters that took its place: a line break, or nothing."""
    owners: str
    """SHA-256 of the note without it; of another note, the place is not known."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step: a section that becomes another one."""

    id: int
    """From 1; 0: the history has not given it one yet."""
    done: bool = False
    """True: the step of this id, which an earlier line tells, has been done."""
    at: str = ""
    action: Action = "write"
    path: str = ""
    before: str | None = None
    after: str | None = None
    """The sections with the line breaks around them; None: there is none."""
    created: bool = False
    """Whether the step made the file."""
    removed: Removed | None = None
    """Where a section stood that the step removed."""


@dataclass(slots=True)
class State:
    """What is known of one file."""

    section: str | None = None
    """As it was left."""
    undoable: list[Entry] = field(default_factory=list)
    pending: Entry | None = None
    """A step that may or may not have reached the file."""


class History:
    """A history file; it and its folder are made at the first step, for the owner's eyes only."""

    def __init__(self, path: Path) -> None:
        """Use this file."""
        self._path = path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Let nobody else write by this history meanwhile."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def entries(self) -> list[Entry]:
        """Return all lines; one that a crash cut off at the end is left out.

        Raises:
            BadFileError: another line is damaged.
        """
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        found = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found.append(msgspec.json.decode(line, type=Entry))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                # A line that a crash cut off is no JSON any more. It stays, and the next one begins after it.
                if not line.startswith(b"{") or isinstance(error, msgspec.ValidationError):
                    raise BadFileError(f"Line {number} of the history of notes is damaged.") from error
        return found

    def state(self, path: str, section: str | None) -> State:
        """Return what is known of a file, whose section now is this one."""
        state = State()
        for entry in self.entries():
            if entry.done:
                if state.pending is not None and state.pending.id == entry.id:
                    _take(state, state.pending)
            elif entry.path == path:
                # A step that was followed by another one without being done never reached the file, or else the
                # next one began where it ended.
                _settle(state, entry.before)
                state.pending = entry
        _settle(state, section)
        return state

    def begin(self, entry: Entry) -> int:
        """Add a step that is about to be done, with its id and time, which it lacks; returns its id."""
        number = 1 + max((one.id for one in self.entries()), default=0)
        self._add(msgspec.structs.replace(entry, id=number, at=datetime.now(UTC).isoformat(timespec="seconds")))
        return number

    def done(self, number: int) -> None:
        """Add that a step has been done."""
        self._add(Entry(id=number, done=True))

    def _add(self, entry: Entry) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            whole = size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
            file.write((b"" if whole else b"\n") + msgspec.json.encode(entry) + b"\n")
            os.fsync(descriptor)


def _settle(state: State, section: str | None) -> None:
    """Decide by what stands in the file now whether a pending step was done."""
    pending, state.pending = state.pending, None
    if pending is not None and same(section, pending.after) and not same(section, pending.before):
        _take(state, pending)


def _take(state: State, entry: Entry) -> None:
    state.pending = None
    state.section = entry.after
    if entry.action == "write":
        state.undoable.append(entry)
    elif entry.action == "undo" and state.undoable:
        state.undoable.pop()
