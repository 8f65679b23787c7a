"""Plain text: paragraphs stand between empty lines and keep their lines."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from memsvc.documents.blocks import Reading
from memsvc.documents.readers.text_files import text_of


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a text file."""
    add(text_of(path, reading), reading, {})


def add(text: str, reading: Reading, origin: Mapping[str, Any], skipped: int = 0) -> None:
    """Add the paragraphs of a text. Arguments: as ``markdown.add``."""
    line = 1 + skipped
    for is_empty, group in groupby(text.split("\n"), key=_is_empty):
        lines = list(group)
        if not is_empty:
            reading.lines("\n".join(lines), origin or {"line": line})
        line += len(lines)


def _is_empty(line: str) -> bool:
    return not line or line.isspace()
