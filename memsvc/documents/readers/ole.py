"""Office's older container: a document with a password, or one of a format before 2007, which is not read."""

from __future__ import annotations

from pathlib import Path

from memsvc.documents.blocks import Reading
from memsvc.documents.formats import HEAD_BYTES, is_encrypted_office
from memsvc.errors import BadFileError, DocumentEncryptedError


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Say why the file is not read.

    Raises:
        DocumentEncryptedError: it has a password.
        BadFileError: it is of an old format.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if is_encrypted_office(head, path):
        raise DocumentEncryptedError
    raise BadFileError(
        "The file has Office's format from before 2007 (doc, xls or ppt).",
        hint="Nothing of it was stored. Open it in its own program and save it as docx, xlsx or pptx.",
    )
