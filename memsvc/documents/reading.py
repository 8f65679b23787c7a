"""Read a document in this very process. ``parsing.parse`` calls it in a limited one; nothing else should."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from memsvc.documents.blocks import Reading
from memsvc.documents.catalogue import Format, catalogue
from memsvc.documents.chunking import chunks_of
from memsvc.documents.form import ParsedDocument
from memsvc.documents.formats import HEAD_BYTES, recognise
from memsvc.documents.limits import Limits
from memsvc.errors import (
    BadFileError,
    ConfigurationError,
    DocumentTooLargeError,
    DocumentWithoutTextError,
    MemsvcError,
    SourceUnknownError,
)

LIBRARIES = {"lxml", "pypdfium2", "openpyxl", "striprtf", "markdown_it", "mdurl", "et_xmlfile"}
MOST_NAME_CHARS = 200


def document(path: Path, name: str, limits: Limits) -> ParsedDocument:
    """Read a document. Arguments and errors: as ``parsing.parse``, except those of a process, and MemoryError."""
    size = path.stat().st_size
    if size > limits.file_bytes:
        raise DocumentTooLargeError(f"The file is larger than {limits.file_bytes:,} bytes.", limit=limits.file_bytes)
    if not size:
        raise DocumentWithoutTextError("The file is empty.", hint="Nothing was stored. Send a file that has content.")
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    format_ = recognise(head, name, path)
    if format_ is None:
        raise _unrecognised(name)
    reading = Reading(limits)
    _read(format_, path, name, reading)
    reading.finish()
    if not reading.blocks:
        raise DocumentWithoutTextError
    title = reading.title or _first_heading(reading) or PurePosixPath(name).stem or name
    return ParsedDocument(
        format=format_.name,
        title=title[:MOST_NAME_CHARS],
        chunks=chunks_of(reading.blocks, limits.window_tokens, title),
        pages=reading.pages,
        metadata=reading.metadata,
        odd={what: count for what, count in reading.odd.items() if count},
    )


def _read(format_: Format, path: Path, name: str, reading: Reading) -> None:
    read = _reader(format_)
    try:
        read(path, name, reading)
    except (MemsvcError, MemoryError):
        raise
    except RecursionError as error:
        raise BadFileError("The document is nested too deeply to be read.") from error
    except Exception as error:  # libraries raise anything for what a damaged file holds
        raise BadFileError(
            f"The file cannot be read as {format_.shown} ({type(error).__name__}). It may be damaged.",
            hint="Nothing of it was stored. Open it in its own program and save it again.",
        ) from error


def _reader(format_: Format) -> Callable[[Path, str, Reading], None]:
    """Return the function that reads a format.

    Raises:
        ConfigurationError: a library is missing, or the package that adds the format is broken.
    """
    try:
        read: Callable[[Path, str, Reading], None] = importlib.import_module(format_.reader).read
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in LIBRARIES:
            raise ConfigurationError(
                f"The library {error.name} is missing, so {format_.shown} files cannot be read.",
                hint='Install it: pip install "memsvc[documents]".',
            ) from error
        if format_.is_built_in:
            raise
        raise ConfigurationError(
            f"{format_.shown} files cannot be read: loading {format_.reader}.read raises {type(error).__name__}.",
            hint="Correct or remove the package that adds this format.",
        ) from error
    return read


def too_much_memory(limits: Limits) -> DocumentTooLargeError:
    """Return the error of a document that takes too much memory."""
    return DocumentTooLargeError(
        f"Reading the document takes more than {limits.memory_bytes >> 20:,} MiB of memory.", limit=limits.memory_bytes
    )


def _unrecognised(name: str) -> BadFileError:
    named = catalogue().extensions.get(PurePosixPath(name).suffix[1:].lower())
    if named is None or named.is_text:
        return SourceUnknownError(
            "The file is no document that memsvc can read.",
            hint="Nothing was stored. docs/documents.md lists the formats. Convert it to one of them.",
        )
    return BadFileError(
        f"The file is named as {named.shown}, but its content is something else, or damaged.",
        hint="Nothing of it was stored. Open it in its own program and save it again.",
    )


def _first_heading(reading: Reading) -> str:
    """Return the first heading, if nothing of a higher level follows."""
    levels = [(block.level, block.text) for block in reading.blocks if block.kind == "heading"]
    return levels[0][1] if levels and levels[0][0] <= min(level for level, _ in levels) else ""
