"""Writes what memsvc knows about a note into its one section, or into a note beside it, and takes it back.

A plan comes first: it shows the difference and conflicts, and writes nothing. The owner's bytes are never touched.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memsvc.documents.vaults.files import place_of, state_of, write
from memsvc.documents.vaults.form import Flavour, Note
from memsvc.documents.vaults.history import Entry, History, Removed, State
from memsvc.documents.vaults.sections import (
    LINE_BREAK,
    SIDECAR,
    Content,
    as_bytes,
    as_text,
    lines_of,
    owners_bytes,
    put,
    same,
    sections,
)
from memsvc.errors import NoteChangedError, NoteConflictError, NoteReadOnlyError


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written to one file."""

    path: str
    before: bytes | None
    """The file now; None: there is none."""
    after: bytes | None
    """The file afterwards; the same as before: there is nothing to do."""
    diff: str
    """Unified, for people; of a conflict, from what memsvc wrote to what stands there."""
    conflict: str = ""
    """Why nothing can be written, for people; "" if it can."""

    @property
    def is_change(self) -> bool:
        """Whether there is something to write."""
        return not self.conflict and self.before != self.after


class Writer:
    """Writes to the notes of one folder."""

    def __init__(self, folder: Path, history: Path, flavours: Sequence[Flavour]) -> None:
        """Use a folder, the file of its history, and the programs that it belongs to."""
        self._folder = folder
        self._history = History(history)
        self._flavours = flavours

    def plan(self, note: Note, content: Content, *, beside: bool = False) -> Plan:
        """Say what would be written about a note.

        Args:
            note: as it was read.
            content: what its section shall say; nothing removes it.
            beside: into ``NAME.memsvc.md`` next to the note instead of the note itself.

        Raises:
            NoteChangedError: the owner changed the note since.
            NoteReadOnlyError: the note is not UTF-8, or outside the folder.
        """
        data = state_of(place_of(self._folder, note.path))
        if data is None or hashlib.sha256(owners_bytes(data)[0]).hexdigest() != note.hash:
            raise NoteChangedError
        path = sidecar_of(note.path) if beside else note.path
        if beside:
            data = state_of(place_of(self._folder, path))
        text = _text(data)
        section, why = self._conflict(path, text)
        if why:
            return Plan(path, data, data, _diff(self._history.state(path, section).section, section, path), why)
        lines = lines_of(content, path, self._flavours)
        after = put(text, lines)
        if same(section, _section(after)):
            return Plan(path, data, data, "")
        gone = not after and beside and data is not None
        return Plan(path, data, None if gone else as_bytes(after), _diff(text, after, path))

    def apply(self, plan: Plan) -> bool:
        """Write what was planned; returns whether there was something to write.

        Raises:
            NoteConflictError: the plan has a conflict.
            NoteChangedError: the file changed since the plan was made.
            NoteReadOnlyError: the file is write-protected.
        """
        if plan.conflict:
            raise NoteConflictError(plan.conflict)
        if not plan.is_change:
            return False
        with self._history.locked():
            place = place_of(self._folder, plan.path)
            if state_of(place) != plan.before:
                raise NoteChangedError
            before, after = _text(plan.before), _text(plan.after)
            step = Entry(
                id=0, path=plan.path, before=_section(before), after=_section(after), created=plan.before is None,
                removed=_removed(before, after),
            )  # fmt: skip
            number = self._history.begin(step)
            write(place, plan.after, expected=plan.before)
            self._history.done(number)
        return True

    def undo(self, path: str) -> bool:
        """Take back the last step in a file that was not taken back; returns False if there is none.

        Raises:
            NoteConflictError: the section is not as memsvc left it.
            NoteChangedError: somebody is writing to the file right now.
            NoteReadOnlyError: the file is write-protected.
        """
        with self._history.locked():
            place = place_of(self._folder, path)
            data = state_of(place)
            text = _text(data)
            section, why = self._conflict(path, text)
            state = self._history.state(path, section)
            if not state.undoable:
                return False
            if why:
                raise NoteConflictError(why)
            last = state.undoable[-1]
            restored = _with_section(text, last.before, last.removed)
            number = self._history.begin(Entry(id=0, action="undo", path=path, before=section, after=last.before))
            gone = last.created and not restored
            write(place, None if gone else as_bytes(restored), expected=data)
            self._history.done(number)
        return True

    def accept(self, path: str) -> bool:
        """Take the section as the owner left it for known, so that the next plan may replace it.

        Returns:
            False: there was no conflict.

        Raises:
            NoteConflictError: there are several sections, or a marker stands alone; only the owner can mend that.
        """
        with self._history.locked():
            text = _text(state_of(place_of(self._folder, path)))
            if why := _broken(text):
                raise NoteConflictError(why)
            section, why = self._conflict(path, text)
            if why:
                known = self._history.state(path, section).section
                step = Entry(id=0, action="accept", path=path, before=known, after=section)
                self._history.done(self._history.begin(step))
        return bool(why)

    def _conflict(self, path: str, text: str) -> tuple[str | None, str]:
        """Return the section of a file, and what speaks against replacing it."""
        if why := _broken(text):
            return _section(text), why
        section = _section(text)
        state: State = self._history.state(path, section)
        if same(section, state.section):
            return section, ""
        if state.section is None:
            return section, "The note has a section of memsvc that this history does not know."
        if section is None:
            return section, "The section that memsvc wrote was removed."
        return section, "The section that memsvc wrote was edited."


def sidecar_of(path: str) -> str:
    """Return the path of the note that memsvc writes beside another one."""
    stem, _, ending = path.rpartition(".")
    return f"{stem if stem and '/' not in ending else path}{SIDECAR}"


def _text(data: bytes | None) -> str:
    if data is None:
        return ""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise NoteReadOnlyError("The note is not UTF-8.") from error
    return as_text(data)


def _broken(text: str) -> str:
    found = sections(text)
    if found.strays or len(found.spans) > 1:
        return "The note has several sections of memsvc, or a marker without its other half."
    return ""


def _section(text: str) -> str | None:
    spans = sections(text).spans
    return text[slice(*spans[0])] if spans else None


def _removed(before: str, after: str) -> Removed | None:
    spans = sections(before).spans
    if not spans or sections(after).spans:
        return None
    start, stop = spans[0]
    return Removed(offset=start, gap=len(after) - len(before) + stop - start, owners=_hash(after))


def _with_section(text: str, section: str | None, removed: Removed | None) -> str:
    """Return a text with a section exactly as it once stood there; at the end, if it is not known where that was."""
    if section is None:
        return put(text, ())
    spans = sections(text).spans
    start, stop = spans[0] if spans else (len(text), len(text))
    if removed is not None and removed.owners == _hash(text):
        start, stop = removed.offset, removed.offset + removed.gap
    return text[:start] + section + text[stop:]


def _hash(text: str) -> str:
    return hashlib.sha256(as_bytes(text)).hexdigest()


def _diff(one: str | None, other: str | None, path: str) -> str:
    before, after = (LINE_BREAK.split((text or "").strip("\r\n")) for text in (one, other))
    return "\n".join(difflib.unified_diff(before, after, path, path, lineterm=""))
