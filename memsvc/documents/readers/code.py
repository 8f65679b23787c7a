"""Source code: pieces of lines, cut at the outermost level where an empty line stands."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from memsvc.documents.blocks import Reading
from memsvc.documents.readers.text_files import text_of


def read(path: Path, name: str, reading: Reading) -> None:
    """Read a file of source code."""
    reading.metadata["language"] = PurePosixPath(name).suffix[1:].lower() or PurePosixPath(name).name.lower()
    piece: list[str] = []
    begin, was_empty = 1, False
    for number, line in enumerate(text_of(path, reading).split("\n"), 1):
        if was_empty and line[:1].strip() and line[0] not in ")}]":
            reading.code("\n".join(piece), {"line": begin})
            piece, begin = [], number
        piece.append(line)
        was_empty = not line.strip()
    reading.code("\n".join(piece), {"line": begin})
