"""Errors of writing into a folder of notes."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class NoteChangedError(MemsvcError):
    """The note is not as it was when it was read."""

    code, status, exit_code, passing = "note_changed", 409, 3, True
    hint = "Nothing was written. Read the folder again; the next run writes to the note as it is then."


class NoteConflictError(MemsvcError):
    """The section of memsvc in this note is not as memsvc wrote it."""

    code, status, exit_code = "note_conflict", 409, 3
    hint = "Nothing was written. Move what you want to keep out of the section, or accept the section as it is."


class NoteReadOnlyError(MemsvcError):
    """The note cannot be written to."""

    code, status, exit_code = "note_read_only", 409, 3
    hint = "Nothing was written. Only UTF-8 notes within the folder that are not write-protected are written to."
