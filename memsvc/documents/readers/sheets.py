"""Excel (xlsx, xlsm): each visible sheet is a table; values as they were last calculated, never formulas or macros."""

from __future__ import annotations

import datetime as dt
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException

from memsvc.documents.blocks import Reading
from memsvc.documents.markup import tell_core
from memsvc.documents.packed import Packed
from memsvc.errors import BadFileError

# A formula without a value, as a program writes it that does not calculate.
NO_VALUE = re.compile(
    rb"<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
SHEET_PART = re.compile(r"xl/worksheets/[^/]+\.xml")
MOST_COLUMNS = 1_000
DIGITS = 15


def read(path: Path, name: str, reading: Reading) -> None:
    """Read a workbook.

    Raises:
        BadFileError: it is damaged.
    """
    with Packed(path, reading.limits) as packed:
        tell_core(packed, reading)
        for member in packed.names():
            if SHEET_PART.fullmatch(member) and (missing := len(NO_VALUE.findall(packed.read(member)))):
                reading.odd["formulas without a value"] += missing
    warnings.simplefilter("ignore")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except (
        InvalidFileException,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        SyntaxError,
        zipfile.BadZipFile,
    ) as error:
        raise BadFileError("The workbook is damaged: its parts do not fit together.") from error
    try:
        for number, sheet in enumerate(book.worksheets, 1):
            reading.page(number, "sheets")
            if sheet.sheet_state != "visible":
                reading.odd["hidden sheets"] += 1
                continue
            _sheet(sheet, number, reading)
        reading.pages = len(book.worksheets)
        reading.tell("title", PurePosixPath(name).stem)  # a sheet's name, such as "Sheet1", is none of the document
        if book.chartsheets:
            reading.odd["charts"] += len(book.chartsheets)
    finally:
        book.close()


def _sheet(sheet: Any, number: int, reading: Reading) -> None:
    reading.heading(str(sheet.title), 1, {"sheet": number})
    sheet.reset_dimensions()  # what a file says of its size may be wrong, and each row would be filled up to it
    table = reading.table()
    try:
        for row in sheet.iter_rows(max_col=None):
            filled = [cell for cell in row if cell.value is not None]
            if not filled:
                continue
            if len(row) > MOST_COLUMNS:
                reading.odd["columns left out"] += len(row) - MOST_COLUMNS
            first = filled[0]
            reading.row([shown(cell) for cell in row[:MOST_COLUMNS]], table, _place(first, number))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, SyntaxError) as error:
        raise BadFileError(f"The workbook is damaged: its sheet {number} cannot be read.") from error


def _place(cell: Any, sheet: int) -> Mapping[str, Any]:
    return {"sheet": sheet, "cell": f"{get_column_letter(cell.column)}{cell.row}"}


def shown(cell: Any) -> str:
    """Return a cell's value as a person sees it: dates in ISO 8601, shares in percent if the cell shows them so."""
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            if "%" in (cell.number_format or ""):
                return f"{_number(value * 100)}%"
            return _number(value)
        case dt.datetime():
            midnight = value.time() == dt.time()
            return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
        case dt.date() | dt.time():
            return value.isoformat()
        case _:
            return str(value)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}"
