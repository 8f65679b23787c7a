"""RTF: paragraphs and rows of tables; the format's destinations (headers, notes, pictures) are left out."""

from __future__ import annotations

import re
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from memsvc.documents.blocks import Reading
from memsvc.errors import BadFileError

HEAD_CHARS = 1 << 16
INFO = re.compile(r"\{\\(title|author|keywords|subject)\s+([^{}\\]{1,500})\}")
# A group that begins as hidden text; what it holds may have groups of one depth.
HIDDEN = re.compile(r"\{(?:\\[a-uw-z]\w{0,20} ?){0,20}\\v(?![a-z0-9])(?:[^{}]|\{[^{}]*\})*\}")
PICTURE = re.compile(r"\\pict\b")
LEFT_OUT = re.compile(r"\{\\(?:header|footer)[lrf]?\b")
NOTE = re.compile(r"\\footnote\b")
CELL = "|"


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a rich text file.

    Raises:
        BadFileError: it is damaged.
    """
    data = path.read_bytes().decode("latin-1")  # the format is ASCII with escapes
    for found in INFO.finditer(data[:HEAD_CHARS]):
        if found[1] == "keywords":
            reading.tags(found[2])
        else:
            reading.tell(found[1], found[2])
    for word, pattern in (("pictures", PICTURE), ("headers and footers", LEFT_OUT), ("notes", NOTE)):
        if number := len(pattern.findall(data)):
            reading.odd[word] += number
    data, hidden = HIDDEN.subn("", data)
    if hidden:
        reading.odd["hidden parts"] += hidden
    try:
        text = str(rtf_to_text(data, errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, IndexError, TypeError, OverflowError, LookupError) as error:
        raise BadFileError("The RTF file is damaged.") from error
    table = 0
    for number, line in enumerate(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split("\n"), 1):
        if line.endswith(CELL):
            table = table or reading.table()
            reading.row(line[:-1].split(CELL), table, {"paragraph": number})
        else:
            table = 0 if line.strip() else table
            reading.paragraph(line, {"paragraph": number})
