"""The fields of chat JSONL and role/content exports: how a row becomes a message.

Nothing is guessed: as in the API, an unknown field, role or type is refused by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

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
CONVERSATION = ("conversation_id", "conversation")
SESSION = ("session_id", "session")
IDENTITY = ("turn_id", "id")
SAID_AT = ("said_at", "created_at", "timestamp", "session_time")
SPEAKER = ("speaker", "name")
TEXT = ("text", "content")
CAPTION = ("image_caption", "caption")
KNOWN = frozenset({*CONVERSATION, *SESSION, *IDENTITY, *SAID_AT, *SPEAKER, "role", *TEXT, *CAPTION, "metadata"})
HINT = "Put other data of a message into its metadata; see docs/ingest.md for the fields."


def first(row: Mapping[str, Any], *names: str) -> Any:
    """Return the first of some fields that has a value."""
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
    value = first(row, *names)
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
    identity = None if first(row, *IDENTITY) is None else _label(row, *IDENTITY)
    return MessageIn(
        conversation=_label(row, *CONVERSATION) or conversation,
        text=_text(first(row, *TEXT)),
        caption=first(row, *CAPTION),
        speaker=speaker,
        role=_role(row.get("role"), speaker, own_names),
        session=_label(row, *SESSION),
        ordinal=ordinal if identity is None else None,
        id=identity,
        said_at=_time(first(row, *SAID_AT)),
        metadata={} if row.get("metadata") is None else row["metadata"],
    )


def checked(
    row: Mapping[str, Any], conversation: str, ordinal: int, own_names: Collection[str], where: str
) -> MessageIn:
    """Return the message of a row.

    Args:
        row: the fields.
        conversation: for rows that name none.
        ordinal: the row's index, its identity if it has no id.
        own_names: the owner's names, casefolded.
        where: the position, for errors.

    Raises:
        BadFileError: a field is unknown, has another type, or the text is missing.
    """
    if unknown := [name for name in row if name not in KNOWN]:
        named = ", ".join(repr(name[:60]) for name in unknown[:5])
        raise BadFileError(f"{where} has unknown fields: {named}.", hint=HINT)
    if row.keys().isdisjoint((*TEXT, *CAPTION)):
        raise BadFileError(f"{where} has neither text nor content, so it is not a message.")
    try:
        return msgspec.convert(msgspec.to_builtins(_message(row, conversation, ordinal, own_names)), MessageIn)
    except (msgspec.ValidationError, AttributeError, TypeError) as error:
        raise BadFileError(f"{where}: {error}") from error


def is_row(value: object) -> bool:
    """Return whether a value can be meant as a message: it says something, or has no other fields than ours."""
    return isinstance(value, dict) and (
        not value.keys().isdisjoint((*TEXT, *CAPTION)) or (bool(value) and value.keys() <= KNOWN)
    )


def is_named_jsonl(file: str) -> bool:
    """Return whether a file's name says that it has a JSON value a line."""
    return file.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
