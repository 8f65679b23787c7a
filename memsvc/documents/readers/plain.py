"""Plain text: paragraphs stand between empty lines and keep their lines."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from memsvc.documents.blocks import Reading
from memsvc.documents.readers.text_files import text_of


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a text file."""
    line = 1
    for is_empty, group in groupby(text_of(path, reading).split("\n"), key=_is_empty):
        lines = list(group)
        if not is_empty:
            reading.lines("\n".join(lines), {"line": line})
        line += len(lines)


def _is_empty(line: str) -> bool:
    return not line or line.isspace()
