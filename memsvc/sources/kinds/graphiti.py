"""Episodes of Graphiti and Zep: the texts of which they made their graphs, as lists of JSON.

An episode of Graphiti with the source "message" has lines "name: words"; one of Zep names its role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Placed, Reading, compact
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

LIST = "episodes"
MARKS = frozenset({"group_id", "source_description", "valid_at", "role_type", "thread_id"})
"""Fields that only an episode has."""
ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
LINE = re.compile(r"(?P<name>[^:\n()]{1,100}?)(?: \((?P<role>\w+)\))?: (?P<text>.*)", re.DOTALL)
NEXT = re.compile(r"\n(?=[^:\n()]{1,100}(?: \(\w+\))?: )")


class Episode(msgspec.Struct):
    """An episode; other fields are not read."""

    uuid: str
    content: str
    created_at: str
    valid_at: str | None = None
    group_id: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    name: str | None = None
    source: str | None = None
    role: str | None = None
    role_type: str | None = None


class Graphiti:
    """Exports of Graphiti and Zep."""

    name = "graphiti"
    title = "episodes of Graphiti or Zep"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for episodes."""
        if (file := bundle.only) is None:
            return NOT_MINE
        if bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] not in {b"[", b"{"}:
            return NOT_MINE
        found = bundle.document(file).outline(3)
        found = found.get(LIST) if isinstance(found, dict) else found
        if isinstance(found, list) and found and all(_is_episode(one) for one in found):
            return Detection(0.95, "episodes with uuid, content and created_at", (file,))
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages of the episodes as the file has them."""
        shown = bundle.shown(bundle.files[0])
        for index, raw in enumerate(_raws(bundle, shown)):
            where = f"{shown}, episode {index}"
            one: Episode = decoded(raw, Episode, where)
            said = [piece for piece in _said(one, reading) if is_visible(piece[2])]
            if not said:
                reading.odd["episodes without words"] += 1
            group = one.thread_id or one.session_id or one.group_id or "episodes"
            for number, (speaker, role, text) in enumerate(said):
                message = MessageIn(
                    conversation=f"graphiti:{group}"[:400],
                    text=text,
                    speaker=speaker[:200],
                    role=role,
                    id=one.uuid if len(said) == 1 else f"{one.uuid}:{number}",
                    said_at=one.valid_at or one.created_at,
                )
                yield Placed(where, message, compact(id=one.uuid, name=one.name), group[:200])


def _is_episode(one: object) -> bool:
    return isinstance(one, dict) and {"uuid", "content", "created_at"} <= one.keys() and not MARKS.isdisjoint(one)


def _raws(bundle: Bundle, shown: str) -> Sequence[msgspec.Raw]:
    document = bundle.document(bundle.files[0])
    document.check()
    if not document.fields:
        return document.entries
    if LIST not in document.fields:
        raise BadFileError(f"{shown} has no list of episodes.")
    found: list[msgspec.Raw] = decoded(document.fields[LIST], list[msgspec.Raw], f"{shown}, {LIST}")
    return found


def _said(one: Episode, reading: Reading) -> Iterator[tuple[str, Role, str]]:
    """Yield who says what in an episode."""
    if one.role_type is not None:
        role = ROLES.get(one.role_type.lower(), "other")
        named = one.role if one.role and one.role.lower() not in ROLES else ""
        yield named or "", role, one.content
        return
    if one.source != "message":
        yield "", "tool" if one.source == "json" else "other", one.content
        return
    for piece in NEXT.split(one.content):
        found = LINE.fullmatch(piece)
        if found is None:
            yield "", "other", piece
            continue
        name = found["name"].strip()
        as_role = ROLES.get((found["role"] or name).lower())
        is_own = reading.is_me(name) or as_role == "user"
        yield "" if name.lower() in ROLES else name, "user" if is_own else as_role or "other", found["text"]
