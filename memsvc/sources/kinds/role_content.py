"""Role/content exports: messages with the fields of ``rows.py`` in one JSON document.

The document is an object with ``messages`` and optionally ``id`` or ``title``, or a list of such objects, or a list of
messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.foreign import foreign_document, foreign_text
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import Document, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Placed, Reading
from memsvc.sources.kinds.rows import checked, first, is_named_jsonl, is_row

LOOKED_AT = 50
EMPTY = "is JSON, but has no messages."


class RoleContent:
    """Messages in one JSON document."""

    name = "role-content"
    title = "a role/content export"
    has_people = False
    is_export = False

    def detect(self, bundle: Bundle) -> Detection:
        """Look at the document, or at its first entries."""
        if (file := bundle.only) is None or is_named_jsonl(file):
            return NOT_MINE
        head = bundle.head(file)
        if foreign_text(head) is not None:
            return NOT_MINE
        document = bundle.document(file)
        if not document.is_container:  # damaged, unless it is no JSON at all: reading says where
            return Detection(0.5, "it begins as JSON", (file,)) if document.begins else NOT_MINE
        outline = document.outline(LOOKED_AT)
        if foreign_document(outline) is not None:
            return NOT_MINE
        entries = outline if isinstance(outline, list) else []
        if "messages" in document.fields or any(
            isinstance(entry, dict) and ("messages" in entry or is_row(entry)) for entry in entries
        ):
            return Detection(0.9, "messages with role, text or content", (file,))
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages of all conversations."""
        file = bundle.files[0]
        shown = bundle.shown(file)
        document = bundle.document(file)
        document.check()
        is_empty = True
        for title, index, row in _rows(document, bundle.stem, shown):
            is_empty = False
            where = f"{shown}, message {index}"
            if not isinstance(row, dict):
                raise BadFileError(f"{where} is not a JSON object.", row=index)
            yield Placed(where, checked(row, title, index, reading.me, where), {"message": index})
        if is_empty:
            raise BadFileError(f"{shown} {EMPTY}")


def _rows(document: Document, name: str, shown: str) -> Iterator[tuple[str, int, Any]]:
    """Yield (conversation, index, row)."""
    if document.fields:
        yield from _rows_of(document.fields, name, shown)
        return
    for number, raw in enumerate(document.entries):
        entry = decoded(raw, Any, shown)
        if isinstance(entry, dict) and "messages" in entry:
            fields = decoded(raw, dict[str, msgspec.Raw], shown)
            yield from _rows_of(fields, f"{name}-{number}", shown)
        else:
            yield name, number, entry


def _rows_of(fields: dict[str, msgspec.Raw], name: str, shown: str) -> Iterator[tuple[str, int, Any]]:
    """Yield the rows of one conversation."""
    messages = fields.get("messages", msgspec.Raw(b"null"))
    if bytes(memoryview(messages)[:1]) != b"[":
        raise BadFileError(f"{shown} {EMPTY}")
    called: dict[str, Any] = {key: decoded(fields[key], Any, shown) for key in ("id", "title") if key in fields}
    for index, raw in enumerate(decoded(messages, list[msgspec.Raw], shown)):
        yield str(first(called, "id", "title") or name), index, decoded(raw, Any, shown)
