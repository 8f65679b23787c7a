"""Documents among files: what is left once no kind of chat takes a file, and is no chat that is only unknown.

An export that memsvc cannot read must not become a text about nobody, so a file that looks like one is refused by its
name (``memsvc.sources.foreign``), whatever its ending says.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import tzinfo
from pathlib import Path

from memsvc.documents.catalogue import Format
from memsvc.documents.form import ParsedDocument
from memsvc.documents.formats import recognise
from memsvc.documents.limits import Limits
from memsvc.documents.parsing import parse
from memsvc.documents.vaults.folder import NOTE_ENDINGS, read_once
from memsvc.documents.vaults.sections import owners_bytes
from memsvc.errors import MemsvcError
from memsvc.settings import Settings
from memsvc.sources.documents import DocumentIn
from memsvc.sources.foreign import foreign_text
from memsvc.sources.kinds.bundles import PIECE_BYTES, ZIP, Bundle
from memsvc.sources.kinds.temporary import temporary_folder

LOOKS = frozenset(
    {
        "a PDF", "a document in rich text", "a document of Microsoft Office", "a zip file", "a web page", "Markdown",
        "plain text", "a table in plain text", "text in UTF-16, not UTF-8",
    }
)  # fmt: skip
"""What a file may look like that is a document."""


def format_of(bundle: Bundle) -> Format | None:
    """Return the format of the one file of a bundle; None: it is no document, or may be something else.

    Raises:
        BadFileError: it cannot be read.
        ConfigurationError: a format of another package cannot be used.
    """
    file = bundle.files[0]
    head = bundle.head(file)
    found = recognise(head, _name(file), bundle.path(file) if head.startswith(ZIP) else None)
    if found is None or not head.strip():
        return None
    if head.startswith(found.starts):
        return found
    looks = foreign_text(head)
    if looks is None:  # JSON
        return found if found.name == "ipynb" else None
    is_document = looks in LOOKS or (looks == "XML" and not found.is_text) or found.name == "code"
    return found if is_document else None


def limits_of(settings: Settings) -> Limits:
    """Return what reading one document may take, as the settings say."""
    return Limits(
        window_tokens=settings.chunk_tokens,
        seconds=settings.document_timeout_s,
        memory_bytes=settings.max_document_memory_bytes,
        file_bytes=settings.max_document_bytes,
        pages=settings.max_document_pages,
    )


def document_in(bundle: Bundle, settings: Settings, zone: tzinfo) -> DocumentIn:
    """Return the one file of a bundle as a document.

    Raises:
        BadFileError: it cannot be read.
    """
    file = bundle.files[0]
    name, path = _name(file), bundle.path(file)
    digest, size = _digest(path)
    owners = _without_section(name, path)
    if owners is not None:
        digest, size = hashlib.sha256(owners).hexdigest(), len(owners)
    shown = bundle.name
    limits = limits_of(settings)

    def read() -> ParsedDocument:
        called = name.rsplit("/", 1)[-1]
        try:
            if owners is None:
                return parse(bundle.path(file), called, limits=limits)
            with temporary_folder() as folder:
                copy = folder / "note.md"
                copy.write_bytes(owners)
                return parse(copy, called, limits=limits)
        except MemsvcError as error:
            raise type(error)(f"{shown}: {error.message}", hint=error.advice) from error

    identity = bundle.identity(file)
    return DocumentIn(
        identifier=f"stdin {digest}" if identity is None else identity,
        path=shown,
        sha256=digest,
        size=size,
        parse=read,
        modified=bundle.modified(file, zone),
        is_there=file_is_there if identity is not None and Path(identity).is_absolute() else None,
    )


def file_is_there(identifier: str) -> bool:
    """Whether the file of an identifier is still there. One that is no path counts as there, as nobody can say."""
    path = Path(identifier)
    if not path.is_absolute():
        return True
    try:
        return path.exists() or any(parent.is_file() for parent in path.parents)  # in a zip file
    except OSError:
        return True


def _without_section(name: str, path: Path) -> bytes | None:
    """Return a note without what memsvc wrote into it, which is not the owner's word; None: there is nothing of it."""
    if not name.lower().endswith(NOTE_ENDINGS):
        return None
    data = read_once(path, Counter())
    owners, sections = owners_bytes(data) if data is not None else (b"", 0)
    return owners if sections else None


def _name(file: str) -> str:
    return file.removesuffix(".gz")


def _digest(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size
