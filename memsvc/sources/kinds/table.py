"""A chat in a CSV file whose columns the caller names: "text=body,said_at=date,speaker=from".

It is no kind among the others, because no table is taken for a chat unasked: without the columns, a CSV file is a
document. The fields and what they may contain are those of chat JSONL (``rows.py``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

from memsvc.documents.readers.delimited import MOST_FIELD_CHARS, delimiter_of
from memsvc.errors import BadFileError, InvalidRequestError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading
from memsvc.sources.kinds.rows import checked
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

FIELDS = ("text", "said_at", "speaker", "role", "conversation", "session", "id", "caption")
MOST_COLUMN_CHARS = 200


def columns_of(given: str | Sequence[str]) -> dict[str, str]:
    """Return the column of each field from "text=body,said_at=date", or from several such texts.

    Raises:
        InvalidRequestError: a field is unknown or named twice, or the text has no column.
    """
    found: dict[str, str] = {}
    for part in ",".join([given] if isinstance(given, str) else given).split(","):
        name, equals, column = (word.strip() for word in part.partition("="))
        if name not in FIELDS or not equals or not 0 < len(column) <= MOST_COLUMN_CHARS:
            raise InvalidRequestError(
                f"{part[:60]!r} is no field with a column.",
                hint=f"Write field=column, separated by commas. Fields: {', '.join(FIELDS)}.",
                field="map",
            )
        if name in found:
            raise InvalidRequestError(f"{name} has two columns.", hint="Name each field once.", field="map")
        check_storable(column, "map")
        found[name] = column
    if "text" not in found:
        raise InvalidRequestError("No column is named for text.", hint="Add text=COLUMN.", field="map")
    return found


class Table:
    """CSV files with these columns."""

    name = "csv"
    title = "a table with the columns that you named"
    has_people = True
    is_export = True

    def __init__(self, columns: Mapping[str, str]) -> None:
        """Take the column of each field, as ``columns_of`` returns them."""
        self._columns = columns

    def detect(self, bundle: Bundle) -> Detection:
        """Look for the columns in the first row."""
        if (file := bundle.only) is None:
            return NOT_MINE
        text = bundle.head(file).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
        header = next(csv.reader([text.partition("\n")[0]], delimiter=delimiter_of(text)), [])
        is_mine = set(self._columns.values()) <= {name.strip() for name in header}
        return Detection(0.95, "the columns that you named", (file,)) if is_mine else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield a message a row, in the order of the file."""
        file, ids = bundle.files[0], Digests()
        shown = bundle.shown(file)
        written = bundle.modified(file, reading.zone).isoformat()
        for line, row in self._rows(bundle, file, shown):
            where = f"{shown}, line {line}"
            if not is_visible(row.get("text", "")) and not is_visible(row.get("caption", "")):
                reading.odd["rows without words"] += 1
                continue
            if "said_at" not in row:
                reading.odd["rows without a time: that of the file counts"] += 1
                row["said_at"] = written
            message = checked({**row, "said_at": _time(row["said_at"])}, bundle.stem, 0, reading.me, where)
            if message.id is None:
                parts = (message.conversation, message.session, row["said_at"], message.speaker, message.text)
                message.id, message.ordinal = ids.of(*parts), None
            yield Placed(where, message, {"line": line})

    def _rows(self, bundle: Bundle, file: str, shown: str) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the fields of each row that are not empty, with the line on which it begins."""
        head = bundle.head(file).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
        before, line = csv.field_size_limit(MOST_FIELD_CHARS), 1
        try:
            with bundle.path(file).open(encoding="utf-8-sig", newline="") as lines:
                rows = csv.reader(lines, delimiter=delimiter_of(head))
                header = [name.strip() for name in next(rows, [])]
                if missing := [column for column in self._columns.values() if column not in header]:
                    raise BadFileError(
                        f"{shown} has no column {missing[0]!r}.",
                        hint=f"Nothing was stored. Its columns: {', '.join(header)[:300]}.",
                    )
                at = {field: header.index(column) for field, column in self._columns.items()}
                line = rows.line_num + 1
                for row in rows:
                    if len(row) > len(header):
                        raise BadFileError(f"{shown}, line {line} has more columns than the first row.", row=line)
                    if row:
                        yield line, {field: row[i] for field, i in at.items() if i < len(row) and row[i]}
                    line = rows.line_num + 1
        except UnicodeDecodeError as error:
            raise BadFileError(f"{shown} is not UTF-8.") from error
        except csv.Error as error:
            raise BadFileError(f"{shown}, line {line}: {error}", row=line) from error
        finally:
            csv.field_size_limit(before)


def _time(value: str) -> str | float:
    """Return a time as it is written, or as the Unix time that it is."""
    return float(value) if value.replace(".", "", 1).isdecimal() and value.isascii() else value
