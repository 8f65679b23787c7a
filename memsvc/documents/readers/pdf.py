"""PDF: pages become lines with their place and size on the page, and ``pdf_layout`` makes blocks of them.

Text that pdfium gives is in the order in which the page draws it, which is the reading order of nearly all documents.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from memsvc.documents.blocks import Reading, one_line
from memsvc.documents.readers.pdf_layout import Layout, Line, Measure
from memsvc.errors import BadFileError, DocumentEncryptedError, DocumentWithoutTextError

PDF_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?(?:(Z)|([+-]\d\d)'?(\d\d)?)?")
# Titles that programs make of file names.
MADE_TITLE = re.compile(
    r"(?:Microsoft (?:Word|PowerPoint|Excel) - .*|untitled.*|.*\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|qxd|rtf))",
    re.IGNORECASE,
)
SMALLEST_POINTS = 1.5
"""Smaller print is not meant to be read."""
LARGEST_POINTS = 1_000.0
BOLD = 600
NAME_BYTES = 128
MOST_BOOKMARKS = 5_000
JOINED_WORD = "\ufffe"
"""pdfium puts it where a word was divided at a line's end, and joins the lines."""


def read(path: Path, name: str, reading: Reading) -> None:  # noqa: ARG001 - all readers are called alike
    """Read a PDF file.

    Raises:
        BadFileError: it is damaged.
        DocumentEncryptedError: it needs a password.
        DocumentTooLargeError: it has too many pages.
        DocumentWithoutTextError: no page has text.
    """
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise DocumentEncryptedError from error
        raise BadFileError("The PDF file is damaged: no page of it can be opened.") from error
    try:
        _read(document, reading)
    finally:
        document.close()


def _read(document: Any, reading: Reading) -> None:
    count = len(document)
    reading.page(count)
    reading.pages = count
    _tell(document, reading)
    layout = Layout(reading, _bookmarks(document))
    for number in range(count):
        try:
            page = document[number]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            reading.odd["unreadable pages"] += 1
            continue
        lines = list(_lines(text_page, number + 1, page.get_height(), reading))
        if not lines:
            reading.odd["pages without text"] += 1
        layout.add(lines)
        text_page.close()
        page.close()
    if not layout.lines:
        pages = "page" if count == 1 else f"{count:,} pages"
        raise DocumentWithoutTextError(f"The PDF file has no text on its {pages}; it may be a scan.")
    layout.finish()


def _tell(document: Any, reading: Reading) -> None:
    about = document.get_metadata_dict()
    if not MADE_TITLE.fullmatch(about.get("Title", "")):
        reading.tell("title", about.get("Title"))
    reading.tell("author", about.get("Author"))
    reading.tags(about.get("Keywords"))
    for name, key in (("created", "CreationDate"), ("modified", "ModDate")):
        if found := PDF_DATE.match(about.get(key, "")):
            year, month, day, hour, minute, second, utc, hours, minutes = found.groups()
            time = f"T{hour}:{minute}:{second}" if hour else ""
            zone = "" if not time else "Z" if utc else f"{hours}:{minutes or '00'}" if hours else ""
            reading.tell(name, f"{year}-{month}-{day}{time}{zone}")


def _bookmarks(document: Any) -> dict[str, int]:
    """Return the level, from 1, of each title of the file's table of contents."""
    found: dict[str, int] = {}
    try:
        for number, bookmark in enumerate(document.get_toc(max_depth=9)):
            if number >= MOST_BOOKMARKS:
                break
            found.setdefault(one_line(bookmark.get_title()).casefold(), bookmark.level + 1)
    except pypdfium2.PdfiumError:
        return {}
    found.pop("", None)
    return found


def _lines(text_page: Any, page: int, height: float, reading: Reading) -> Iterator[Line]:
    """Yield the lines of a page that a reader can see."""
    text = text_page.get_text_range()
    begin = 0
    for raw in text.split("\n"):
        line = raw.rstrip("\r")
        first, stop = begin, begin + len(line)
        begin += len(raw) + 1
        stripped = line.strip()
        if not stripped or not stripped.strip("\x00\x01\x02\x03\x04\x05\x06\x07\x08"):
            continue
        first += len(line) - len(line.lstrip())
        stop -= len(line) - len(line.rstrip())
        measured = _measured(text_page, text, first, stop)
        if measured is None:
            continue
        if measured.size < SMALLEST_POINTS:
            reading.odd["hidden parts"] += 1
            continue
        yield Line(stripped, page, height=measured.bottom / height if height else 0, measure=measured)


def _measured(text_page: Any, text: str, first: int, stop: int) -> Measure | None:
    """Return a line's box, its size in points, and whether its first and middle letters are bold."""
    letters = [at for at in range(first, stop) if text[at].isalnum()] or [first]
    wanted = (letters[0], letters[len(letters) // 2], letters[-1])
    indices = [pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, at) for at in wanted]
    if min(indices) < 0:
        return None
    begin, middle, end = (_box(text_page, index) for index in indices)
    # A word divided at a line's end makes two lines one: what it looks like at its end is the second one's.
    return Measure(
        left=begin.left,
        right=max(begin.right, end.right),
        end_right=end.right,
        bottom=begin.bottom,
        end_bottom=end.bottom if JOINED_WORD in text[first:stop] else middle.bottom,
        top=begin.top,
        size=min(_size(text_page, indices[1]), LARGEST_POINTS),
        is_bold=_is_bold(text_page, indices[0]) and _is_bold(text_page, indices[1]),
    )


def _box(text_page: Any, index: int) -> Any:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(text_page, index, box)
    return box


def _size(text_page: Any, index: int) -> float:
    size = float(pdfium.FPDFText_GetFontSize(text_page, index))
    matrix = pdfium.FS_MATRIX()
    if pdfium.FPDFText_GetMatrix(text_page, index, matrix):
        size *= math.hypot(matrix.c, matrix.d) or 1.0
    return round(size * 2) / 2


def _is_bold(text_page: Any, index: int) -> bool:
    name = ctypes.create_string_buffer(NAME_BYTES)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text_page, index, name, NAME_BYTES, flags)
    shown = name.value.lower()
    return b"bold" in shown or b"black" in shown or pdfium.FPDFText_GetFontWeight(text_page, index) >= BOLD
