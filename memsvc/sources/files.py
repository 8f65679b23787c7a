"""Read files of messages: chat JSONL, and role/content exports.

Chat JSONL holds one turn a line: ``text`` (or ``content``) and any of ``conversation_id``, ``session_id``,
``session_time``, ``turn_id``, ``speaker``, ``role``, ``image_caption``, ``said_at``, ``metadata``. A role/content
export is one JSON object with ``messages`` (``role``, ``content``, ``created_at``) and optionally ``title`` or ``id``,
or a list of such objects or messages. Both may be gzipped. Lines of JSONL are read one by one, so a file may be larger
than RAM.

Nothing is guessed: as in the API, an unknown field, role or type is refused by name. Exports of other programs are also
refused by name (``foreign.py``).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast, get_args

import msgspec

from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.foreign import OURS, foreign_document, foreign_text
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
CONVERSATION = ("conversation_id", "conversation")
SESSION = ("session_id", "session")
IDENTITY = ("turn_id", "id")
SAID_AT = ("said_at", "created_at", "timestamp", "session_time")
SPEAKER = ("speaker", "name")
TEXT = ("text", "content")
CAPTION = ("image_caption", "caption")
KNOWN = frozenset({*CONVERSATION, *SESSION, *IDENTITY, *SAID_AT, *SPEAKER, "role", *TEXT, *CAPTION, "metadata"})
HINT = "Put other data of a message into its metadata; see docs/ingest.md for the fields."
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
    """Return the text of a content field: a string, or the list of parts that some exports write."""
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


def _label(row: Mapping[str, Any], *names: str) -> str:
    """Return a name or an id; "" if there is none.

    Raises:
        TypeError: the value is neither a text nor a number.
    """
    value = _first(row, *names)
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        message = f"{next(name for name in names if row.get(name) is not None)} is neither a text nor a number."
        raise TypeError(message)
    return str(value)


def _role(given: Any, speaker: str, own_names: Collection[str]) -> Role:
    """Return the row's role; if it has none, derive it from the speaker's name.

    Raises:
        TypeError: the row's role is unknown.
    """
    if given is None:
        is_user = speaker.casefold() in own_names or not speaker
        return ROLES.get(speaker.lower(), "user" if is_user else "other")
    if not isinstance(given, str) or given.lower() not in ROLES:
        message = f"the role {str(given)[:60]!r} is not one of {', '.join(ROLES)}."
        raise TypeError(message)
    return ROLES[given.lower()]


def _message(row: Mapping[str, Any], conversation: str, ordinal: int | None, own_names: Collection[str]) -> MessageIn:
    speaker = _label(row, *SPEAKER)
    identity = None if _first(row, *IDENTITY) is None else _label(row, *IDENTITY)
    return MessageIn(
        conversation=_label(row, *CONVERSATION) or conversation,
        text=_text(_first(row, *TEXT)),
        caption=_first(row, *CAPTION),
        speaker=speaker,
        role=_role(row.get("role"), speaker, own_names),
        session=_label(row, *SESSION),
        ordinal=ordinal if identity is None else None,
        id=identity,
        said_at=_time(_first(row, *SAID_AT)),
        metadata={} if row.get("metadata") is None else row["metadata"],
    )


def _rows_of_json(document: Any, path: Path) -> Iterator[tuple[str, int, Any]]:
    """Yield (conversation, index, row) of a role/content export."""
    name = path.name.removesuffix(".gz").removesuffix(".json")
    if isinstance(document, list) and document and all(isinstance(d, dict) and "messages" in d for d in document):
        talks = [
            (str(_first(inner, "id", "title") or f"{name}-{number}"), inner["messages"])
            for number, inner in enumerate(document)
        ]
    elif isinstance(document, dict):
        talks = [(str(_first(document, "id", "title") or name), document.get("messages"))]
    else:
        talks = [(name, document)]
    if not all(isinstance(rows, list) for _, rows in talks) or not any(rows for _, rows in talks):
        raise BadFileError(f"{path.name} is JSON, but has no messages.")
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
            if ordinal == 0:
                _refuse_foreign(foreign_document(row), path)
            if not isinstance(row, dict):
                raise BadFileError(f"{where} is not a JSON object.", row=number)
            yield where, _checked(row, name, ordinal, own_names, where)
            ordinal += 1


def _decode(text: bytes) -> Any:
    """Decode JSON.

    Raises:
        msgspec.DecodeError: the text is not JSON, is not UTF-8, or is nested too deeply.
    """
    try:
        return msgspec.json.decode(text.removeprefix(BYTE_ORDER_MARK))
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError("It is not UTF-8.") from error
    except RecursionError as error:
        raise msgspec.DecodeError("It is nested too deeply.") from error


def _refuse_foreign(found: str | None, path: Path) -> None:
    if found == OURS:
        raise BadFileError(f"{path.name} is {found}.", hint="Import its folder or zip file with 'memsvc import'.")
    if found is not None:
        raise SourceUnknownError(f"{path.name} looks like {found}, which memsvc ingest cannot read yet.")


def _checked(
    row: Mapping[str, Any], conversation: str, ordinal: int, own_names: Collection[str], where: str
) -> MessageIn:
    if unknown := [name for name in row if name not in KNOWN]:
        named = ", ".join(repr(name[:60]) for name in unknown[:5])
        raise BadFileError(f"{where} has unknown fields: {named}.", hint=HINT)
    if row.keys().isdisjoint((*TEXT, *CAPTION)):
        raise BadFileError(f"{where} has neither text nor content, so it is not a message.")
    try:
        return msgspec.convert(msgspec.to_builtins(_message(row, conversation, ordinal, own_names)), MessageIn)
    except (msgspec.ValidationError, AttributeError, TypeError) as error:
        raise BadFileError(f"{where}: {error}") from error


def _is_jsonl(path: Path, head: bytes) -> bool:
    """Decide by the file's name; if that does not say, by whether the first line is a complete object."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".jsonl", ".json")):
        return name.endswith(".jsonl")
    try:
        first = _decode(head.split(b"\n", 1)[0])
    except msgspec.DecodeError:
        return False
    return isinstance(first, dict) and "messages" not in first


def read_messages(path: Path, own_names: Collection[str] = ()) -> Iterator[tuple[str, MessageIn]]:
    """Yield the messages of a file in order, each with its position for people ("chat.jsonl, line 3").

    Args:
        path: chat JSONL or a role/content export, optionally gzipped.
        own_names: names of the user; speakers with one of them get the role ``user``, others ``other``.

    Raises:
        BadFileError: the file is missing, not text, or in another format; names the line.
    """
    folded = {name.casefold() for name in own_names}
    try:
        with _open(path) as file:
            head = file.read(SNIFF_BYTES)
        if not head.strip():
            raise BadFileError(f"{path.name} is empty.")
        _refuse_foreign(foreign_text(head), path)
        if _is_jsonl(path, head):
            yield from _jsonl(path, folded)
            return
        with _open(path) as file:
            document = _decode(file.read())
    except msgspec.DecodeError as error:
        raise BadFileError(f"{path.name}: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadFileError(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    _refuse_foreign(foreign_document(document), path)
    for conversation, index, row in _rows_of_json(document, path):
        where = f"{path.name}, message {index}"
        if not isinstance(row, dict):
            raise BadFileError(f"{where} is not a JSON object.", row=index)
        yield where, _checked(row, conversation, index, folded, where)
