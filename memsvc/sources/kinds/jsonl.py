"""Chat JSONL: one message a line, with the fields of ``rows.py``. Lines are read one by one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.foreign import foreign_document, foreign_text
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decode
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Placed, Reading
from memsvc.sources.kinds.rows import checked, is_named_jsonl


class ChatJsonl:
    """One JSON object a line."""

    name = "jsonl"
    title = "chat JSONL"
    has_people = False
    is_export = False

    def detect(self, bundle: Bundle) -> Detection:
        """Look at the first line."""
        if (file := bundle.only) is None:
            return NOT_MINE
        head = bundle.head(file).removeprefix(BYTE_ORDER_MARK)
        is_named = is_named_jsonl(file)
        if not head.strip() or foreign_text(head) is not None:
            return NOT_MINE
        first = head.lstrip().split(b"\n", 1)[0]
        try:
            row = decode(first)
        except msgspec.DecodeError:
            return Detection(0.5, "its name", (file,)) if is_named else NOT_MINE
        if foreign_document(row) is not None or not isinstance(row, dict):
            return Detection(0.5, "its name", (file,)) if is_named and not isinstance(row, dict | list) else NOT_MINE
        if is_named:
            return Detection(0.95, "a JSON object a line", (file,))
        is_alone = "messages" in row or file.removesuffix(".gz").endswith(".json")
        return NOT_MINE if is_alone else Detection(0.9, "its first line is a JSON object", (file,))

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield a message a line."""
        file = bundle.files[0]
        with bundle.path(file).open("rb") as lines:
            ordinal = 0
            for number, line in enumerate(lines, 1):
                text = line.removeprefix(BYTE_ORDER_MARK)
                if not text.strip():
                    continue
                where = f"{bundle.shown(file)}, line {number}"
                try:
                    row = decode(text)
                except msgspec.DecodeError as error:
                    raise BadFileError(f"{where}: {error}", row=number) from error
                if not isinstance(row, dict):
                    raise BadFileError(f"{where} is not a JSON object.", row=number)
                message = checked(row, bundle.stem, ordinal, reading.me, where)
                yield Placed(where, message, {"line": number})
                ordinal += 1
