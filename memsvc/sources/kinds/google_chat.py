"""Google Chat in Google Takeout: a ``messages.json`` for each chat.

A message's id has that of its chat before it. Times are written out in English, in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading, compact
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

FORMAT = "%A, %B %d, %Y at %I:%M:%S %p %Z"
PARTS = 3
"""Chat, topic and message, of which an id is made."""


class Creator(msgspec.Struct):
    """Who wrote a message."""

    name: str = ""
    email: str = ""
    user_type: str = ""


class File(msgspec.Struct):
    """An attached file."""

    original_name: str | None = None
    export_name: str | None = None


class Message(msgspec.Struct):
    """A message; other fields are not read."""

    message_id: str
    created_date: str = ""
    updated_date: str | None = None
    creator: Creator | None = None
    text: str = ""
    attached_files: list[File] = []
    message_state: str | None = None
    deletion_metadata: Any = None


class GoogleChat:
    """Exports of Google Chat."""

    name = "google-chat"
    title = "an export of Google Chat"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for topics and ids of messages."""
        if (file := bundle.only) is None:
            return NOT_MINE
        if bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"{":
            return NOT_MINE
        found = bundle.document(file).outline(3)
        messages = found.get("messages") if isinstance(found, dict) else None
        first = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
        if first and all({"message_id", "topic_id"} <= one.keys() for one in first):
            return Detection(0.95, "the fields message_id and topic_id", (file,))
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages as the file has them."""
        shown, document, names = bundle.shown(bundle.files[0]), bundle.document(bundle.files[0]), Names()
        document.check()
        raws = decoded(document.fields.get("messages", msgspec.Raw(b"null")), list[msgspec.Raw], f"{shown}, messages")
        for index, raw in enumerate(raws):
            message: Message = decoded(raw, Message, f"{shown}, message {index}")
            where = f"{shown}, message {index}"
            if message.message_state == "DELETED" or message.deletion_metadata is not None:
                reading.odd["service messages"] += 1
            elif not is_visible(message.text):
                reading.odd["messages with a file or picture alone"] += 1
            else:
                yield _placed(message, names, reading, where)


def _placed(message: Message, names: Names, reading: Reading, where: str) -> Placed:
    chat, *rest = message.message_id.split("/")
    if len(rest) != PARTS - 1 or not chat:
        raise BadFileError(f"{where}: {message.message_id[:60]!r} is not an id of a chat, a topic and a message.")
    topic, identity = rest
    who = message.creator or Creator()
    is_own = reading.is_me(who.email or None, who.name or None)
    role: Role = "user" if is_own else "tool" if who.user_type == "Bot" else "other"
    said = MessageIn(
        conversation=f"google-chat:{chat}"[:400],
        text=message.text,
        speaker=names.of(who.email.casefold() or who.name, (who.name or who.email or "unknown")[:150]),
        role=role,
        id=message.message_id if message.updated_date is None else f"{message.message_id}@{message.updated_date}"[:400],
        said_at=reading.clock(_moment(message.created_date, where).timestamp(), where),
    )
    named = [one.original_name or one.export_name for one in message.attached_files]
    reply_to = f"{chat}/{topic}/{topic}" if topic != identity else None
    files = [name for name in named if name][:20]
    return Placed(where, said, compact(id=message.message_id, reply_to=reply_to, files=files))


def _moment(written: str, where: str) -> datetime:
    """Return a time such as "Friday, August 6, 2021 at 5:39:33 PM UTC"."""
    try:
        return datetime.strptime(" ".join(written.split()), FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise BadFileError(
            f"{where}: {written[:60]!r} is not a time in English.",
            hint="Nothing was stored. Export again with English as the language of the Google account.",
        ) from error
