"""Jupyter notebooks: cells of Markdown and code, with what they printed; pictures are left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from memsvc.documents.blocks import Reading
from memsvc.documents.readers import markdown
from memsvc.errors import BadFileError

MOST_OUTPUT_CHARS = 2_000
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a notebook of format 3 or 4.

    Raises:
        BadFileError: it is not JSON, or has no cells.
    """
    try:
        book = msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFileError("The notebook is damaged: it is not JSON.") from error
    if not isinstance(book, dict):
        raise BadFileError("The notebook is damaged: it has no cells.")
    cells = book.get("cells")
    if cells is None:  # format 3
        sheets = book.get("worksheets")
        cells = [cell for sheet in _dicts(sheets) for cell in _dicts(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise BadFileError("The notebook is damaged: it has no cells.")
    _tell(book.get("metadata"), reading)
    for number, cell in enumerate(_dicts(cells), 1):
        _cell(cell, number, reading)


def _tell(metadata: Any, reading: Reading) -> None:
    if not isinstance(metadata, dict):
        return
    reading.tell("title", _text(metadata.get("title")))
    reading.tell("author", ", ".join(_text(author.get("name")) for author in _dicts(metadata.get("authors"))))
    for holder in ("language_info", "kernelspec"):
        if isinstance(about := metadata.get(holder), dict):
            reading.tell("language", _text(about.get("name") if holder == "language_info" else about.get("language")))


def _cell(cell: dict[str, Any], number: int, reading: Reading) -> None:
    source = _text(cell.get("source") if "source" in cell else cell.get("input"))
    match cell.get("cell_type"):
        case "markdown":
            markdown.add(source, reading, {"cell": number})
        case "heading":  # format 3
            level = cell.get("level")
            reading.heading(source, level if isinstance(level, int) else 1, {"cell": number})
        case "code":
            reading.code(source, {"cell": number})
            for output in _dicts(cell.get("outputs")):
                _output(output, number, reading)
        case _:
            reading.lines(source, {"cell": number})


def _output(output: dict[str, Any], number: int, reading: Reading) -> None:
    """Add what a cell printed or returned as text; its errors as name and message."""
    data = output.get("data") if isinstance(output.get("data"), dict) else output
    text = _text(output.get("text")) or _text(data.get("text/plain") if isinstance(data, dict) else None)
    if output.get("output_type") in {"error", "pyerr"}:
        text = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    if isinstance(data, dict) and any(kind.startswith("image/") or kind in {"png", "jpeg", "svg"} for kind in data):
        reading.odd["pictures"] += 1
        return
    text = ANSI.sub("", text)
    if len(text) > MOST_OUTPUT_CHARS:
        reading.odd["outputs cut"] += 1
        text = f"{text[:MOST_OUTPUT_CHARS]} …"
    reading.code(text, {"cell": number, "output": True})


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """Return text that is a string or a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""
