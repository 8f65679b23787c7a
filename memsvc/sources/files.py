"""Reads files of messages: chat JSONL, and role/content exports.

Chat JSONL holds one turn a line: ``text`` (or ``content``) and any of ``conversation_id``, ``session_id``,
``session_time``, ``turn_id``, ``speaker``, ``role``, ``image_caption``, ``said_at``; what else a line holds becomes
metadata. A role/content export is one JSON object with ``messages`` (``role``, ``content``, ``created_at``) and perhaps
``title`` or ``id``, or a list of such objects or messages. Both may be gzipped. Lines of JSONL are read one by one, so
a file may be larger than memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast, get_args

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.messages import MessageIn, Role

ROLES: Mapping[str, Role] = {
    **{role: role for role in get_args(Role)},
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "reasoning": "thinking",
}
KNOWN = frozenset(
    {
        "conversation_id",
        "conversation",
        "session_id",
        "session",
        "session_time",
        "said_at",
        "created_at",
        "timestamp",
        "turn_id",
        "id",
        "speaker",
        "name",
        "role",
        "text",
        "content",
        "image_caption",
        "caption",
    }
)
SNIFF_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _first(row: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if row.get(name) is not None:
            return row[name]
    return None


def _text(value: Any) -> str:
    """Text of a content field: a string, or the list of parts that some exports write."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_text(part.get("text") if isinstance(part, dict) else part) for part in value)
    if isinstance(value, dict):
        return _text(value.get("parts") or value.get("text"))
    return str(value)


def _time(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return str(value)
    return None if value is None else str(value)


def _message(row: Mapping[str, Any], conversation: str, ordinal: int | None, own_names: Collection[str]) -> MessageIn:
    speaker = str(_first(row, "speaker", "name") or "")
    given = row.get("role")
    if isinstance(given, str) and given.lower() in ROLES:
        role = ROLES[given.lower()]
    elif speaker.lower() in ROLES:
        role = ROLES[speaker.lower()]
    else:
        role = "user" if speaker.casefold() in own_names or not speaker else "other"
    identity = _first(row, "turn_id", "id")
    return MessageIn(
        conversation=str(_first(row, "conversation_id", "conversation") or conversation),
        text=_text(_first(row, "text", "content")),
        caption=_first(row, "image_caption", "caption"),
        speaker=speaker,
        role=role,
        session=str(_first(row, "session_id", "session") or ""),
        ordinal=ordinal if identity is None else None,
        id=None if identity is None else str(identity),
        said_at=_time(_first(row, "said_at", "created_at", "timestamp", "session_time")),
        metadata={key: value for key, value in row.items() if key not in KNOWN},
    )


def _rows_of_json(document: Any, path: Path) -> Iterator[tuple[str, int, Any]]:
    """(conversation, place, row) of a role/content export."""
    name = path.name.removesuffix(".gz").removesuffix(".json")
    if isinstance(document, list) and document and all(isinstance(d, dict) and "messages" in d for d in document):
        talks = [
            (str(_first(inner, "id", "title") or f"{name}-{place}"), inner["messages"])
            for place, inner in enumerate(document)
        ]
    elif isinstance(document, dict):
        talks = [(str(_first(document, "id", "title") or name), document.get("messages"))]
    else:
        talks = [(name, document)]
    if not all(isinstance(rows, list) for _, rows in talks) or not any(rows for _, rows in talks):
        raise BadFileError(f"{path.name} is JSON, but holds no messages.")
    for title, rows in talks:
        for index, row in enumerate(rows):
            yield title, index, row


def _jsonl(path: Path, own_names: Collection[str]) -> Iterator[tuple[str, MessageIn]]:
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    with _open(path) as file:
        ordinal = 0
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            where = f"{path.name}, line {number}"
            try:
                row = _decode(line)
            except msgspec.DecodeError as error:
                raise BadFileError(f"{where}: {error}", row=number) from error
            if not isinstance(row, dict):
                raise BadFileError(f"{where} is no JSON object.", row=number)
            yield where, _checked(row, name, ordinal, own_names, where)
            ordinal += 1


def _decode(text: bytes) -> Any:
    """Decode JSON.

    Raises:
        msgspec.DecodeError: it is none, is not UTF-8, or is nested too deeply.
    """
    try:
        return msgspec.json.decode(text.removeprefix(BYTE_ORDER_MARK))
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError("It is not UTF-8.") from error
    except RecursionError as error:
        raise msgspec.DecodeError("It is nested too deeply.") from error


def _checked(
    row: Mapping[str, Any], conversation: str, ordinal: int, own_names: Collection[str], where: str
) -> MessageIn:
    try:
        return msgspec.convert(msgspec.to_builtins(_message(row, conversation, ordinal, own_names)), MessageIn)
    except (msgspec.ValidationError, AttributeError, TypeError) as error:
        raise BadFileError(f"{where}: {error}") from error


def _is_jsonl(path: Path, head: bytes) -> bool:
    """By its name; where that says nothing, by whether the first line is an object of its own."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".jsonl", ".json")):
        return name.endswith(".jsonl")
    try:
        first = _decode(head.split(b"\n", 1)[0])
    except msgspec.DecodeError:
        return False
    return isinstance(first, dict) and "messages" not in first


def read_messages(path: Path, own_names: Collection[str] = ()) -> Iterator[tuple[str, MessageIn]]:
    """Messages of a file, in its order, each with its place for people ("chat.jsonl, line 3").

    Args:
        path: chat JSONL or a role/content export, perhaps gzipped.
        own_names: names of the user; who speaks under one of them gets the role ``user``, other speakers ``other``.

    Raises:
        BadFileError: the file is missing, no text, or of another form; names the line.
    """
    folded = {name.casefold() for name in own_names}
    try:
        with _open(path) as file:
            head = file.read(SNIFF_BYTES)
        if not head.strip():
            raise BadFileError(f"{path.name} is empty.")
        if _is_jsonl(path, head):
            yield from _jsonl(path, folded)
            return
        with _open(path) as file:
            document = _decode(file.read())
    except msgspec.DecodeError as error:
        raise BadFileError(f"{path.name}: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadFileError(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    for conversation, index, row in _rows_of_json(document, path):
        where = f"{path.name}, message {index}"
        if not isinstance(row, dict):
            raise BadFileError(f"{where} is no JSON object.", row=index)
        yield where, _checked(row, conversation, index, folded, where)
