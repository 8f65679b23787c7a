"""CSV and TSV: one table, whose first row is its header."""

from __future__ import annotations

import csv
import io
from pathlib import Path, PurePosixPath

from memsvc.documents.blocks import Reading
from memsvc.documents.readers.text_files import text_of
from memsvc.errors import BadFileError

SAMPLE_LINES = 20
DELIMITERS = (",", ";", "\t", "|")
MOST_FIELD_CHARS = 1 << 20


def read(path: Path, name: str, reading: Reading) -> None:
    """Read a file of values."""
    text = text_of(path, reading)
    if text[:4].lower() == "sep=":  # Excel's own first line
        text = text.partition("\n")[2]
    csv.field_size_limit(MOST_FIELD_CHARS)
    delimiter = "\t" if PurePosixPath(name).suffix.lower() in {".tsv", ".tab"} else delimiter_of(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    table = reading.table()
    before = 0
    try:
        for row in rows:
            reading.row(row, table, {"line": before + 1})
            before = rows.line_num
    except csv.Error as error:
        raise BadFileError(f"Line {before + 1} of the table cannot be read: {error}.") from error


def delimiter_of(text: str) -> str:
    """Return the delimiter that the first lines have most evenly; a comma if there is none."""
    lines = [line for line in text[: 1 << 16].split("\n", SAMPLE_LINES)[:SAMPLE_LINES] if line.strip()]
    counts = {delimiter: [line.count(delimiter) for line in lines] for delimiter in DELIMITERS}
    return max(DELIMITERS, key=lambda delimiter: (min(counts[delimiter], default=0), sum(counts[delimiter])))
