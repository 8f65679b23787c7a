"""Memories of Mem0, as its ``get_all`` returns them or OpenMemory exports them: sentences that it noted about a user.

They are an assistant's words, not the user's, and are stored as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Placed, Reading, compact
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

LISTS = ("results", "memories")
FORGOTTEN = frozenset({"deleted", "archived", "paused"})


class Memory(msgspec.Struct):
    """A memory; other fields are not read."""

    id: str
    memory: str | None = None
    content: str | None = None
    created_at: str | int | float | None = None
    updated_at: str | int | float | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    categories: list[str] | None = None
    state: str | None = None


class Mem0:
    """Exports of Mem0."""

    name = "mem0"
    title = "memories of Mem0"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for memories with ids."""
        if (file := bundle.only) is None:
            return NOT_MINE
        if bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] not in {b"[", b"{"}:
            return NOT_MINE
        found = bundle.document(file).outline(3)
        if isinstance(found, dict):
            found = next((found[name] for name in LISTS if isinstance(found.get(name), list)), None)
        if isinstance(found, list) and found and all(_is_memory(one) for one in found):
            return Detection(0.95, "memories with id and memory", (file,))
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the memories as the file has them."""
        shown = bundle.shown(bundle.files[0])
        for index, raw in enumerate(_raws(bundle, shown)):
            where = f"{shown}, memory {index}"
            one: Memory = decoded(raw, Memory, where)
            text = one.memory or one.content or ""
            if not is_visible(text) or one.state in FORGOTTEN:
                reading.odd["memories that are empty or deleted"] += 1
                continue
            changed = one.updated_at or one.created_at
            owner = one.user_id or one.agent_id or one.run_id or "memories"
            message = MessageIn(
                conversation=f"mem0:{owner}"[:400],
                text=text,
                speaker="Mem0",
                role="assistant",
                id=one.id if one.updated_at in {None, one.created_at} else f"{one.id}@{one.updated_at}",
                said_at=_time(changed, bundle, reading, where),
            )
            yield Placed(where, message, compact(id=one.id, tags=one.categories), f"Mem0, {owner}"[:200])


def _is_memory(one: object) -> bool:
    if not isinstance(one, dict) or "id" not in one:
        return False
    return "memory" in one or {"content", "state", "created_at"} <= one.keys()


def _raws(bundle: Bundle, shown: str) -> Sequence[msgspec.Raw]:
    document = bundle.document(bundle.files[0])
    document.check()
    if not document.fields:
        return document.entries
    name = next((name for name in LISTS if name in document.fields), None)
    if name is None:
        raise BadFileError(f"{shown} has no list of memories.")
    found: list[msgspec.Raw] = decoded(document.fields[name], list[msgspec.Raw], f"{shown}, {name}")
    return found


def _time(value: str | float | None, bundle: Bundle, reading: Reading, where: str) -> str:
    """Return when a memory was noted; if it does not say so, when the file was written."""
    if value is None:
        reading.odd["memories without a time: that of the file counts"] += 1
        return bundle.modified(bundle.files[0], reading.zone).isoformat()
    return value if isinstance(value, str) else reading.clock(value, where)
