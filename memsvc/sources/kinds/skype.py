"""Skype and the free Teams: ``messages.json``, with all conversations and who the owner is.

A message is a piece of HTML; what it quotes is another one's. The newest message of a conversation stands first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading, compact
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible
from memsvc.text.hypertext import visible_text

SPOKEN = frozenset({"Text", "RichText", "RichText/Html", "RichText/Sms", "RichText/Contacts", "RichText/Location"})
MEDIA = ("RichText/UriObject", "RichText/Media", "PopCard")
QUOTES = (
    (re.compile(r"<quote\b", re.IGNORECASE), "</quote>"),
    (re.compile(r"<blockquote\b[^>]{0,300}schema\.skype\.com/(?:Reply|Forward)", re.IGNORECASE), "</blockquote>"),
)
"""How a message that is answered or passed on begins and ends."""
EDITED = re.compile(r"<e_m\b[^>]{0,300}>", re.IGNORECASE)
"""The mark of an edited message."""
NOTHING = msgspec.Raw(b"null")


class Message(msgspec.Struct):
    """A message; other fields are not read."""

    id: str
    originalarrivaltime: str
    messagetype: str = ""
    content: str | None = None
    sender: str = msgspec.field(default="", name="from")
    display_name: str | None = msgspec.field(default=None, name="displayName")
    properties: dict[str, Any] | None = None


class Conversation(msgspec.Struct):
    """A conversation; other fields are not read."""

    id: str
    messages: list[msgspec.Raw] = msgspec.field(name="MessageList")
    display_name: str | None = msgspec.field(default=None, name="displayName")
    thread: dict[str, Any] | None = msgspec.field(default=None, name="threadProperties")


class Skype:
    """Exports of Skype and Teams."""

    name = "skype"
    title = "an export of Skype or Teams"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for conversations with lists of messages."""
        if (file := bundle.only) is None:
            return NOT_MINE
        if bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"{":
            return NOT_MINE
        fields = bundle.document(file).fields
        is_mine = {"userId", "conversations"} <= fields.keys() and b'"MessageList"' in bytes(
            memoryview(fields["conversations"])[:1_000_000]
        )
        return Detection(0.95, "conversations with MessageList", (file,)) if is_mine else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages conversation by conversation, the oldest first."""
        shown, document, names = bundle.shown(bundle.files[0]), bundle.document(bundle.files[0]), Names()
        document.check()
        own = decoded(document.fields.get("userId", NOTHING), str, f"{shown}, userId")
        raws = decoded(document.fields.get("conversations", NOTHING), list[msgspec.Raw], f"{shown}, conversations")
        for number, raw in enumerate(raws):
            talk: Conversation = decoded(raw, Conversation, f"{shown}, conversation {number}")
            for index in range(len(talk.messages) - 1, -1, -1):
                where = f"{shown}, conversation {number}, message {index}"
                message: Message = decoded(talk.messages[index], Message, where)
                text = _text(message)
                if message.messagetype.startswith(MEDIA) or (message.messagetype in SPOKEN and not is_visible(text)):
                    is_deleted = "deletetime" in (message.properties or {})
                    reading.odd["service messages" if is_deleted else "messages with a file or picture alone"] += 1
                elif message.messagetype not in SPOKEN:
                    reading.odd["service messages"] += 1
                else:
                    yield _placed(talk, message, text, own, names)._replace(where=where)


def _text(message: Message) -> str:
    content = message.content or ""
    if message.messagetype == "Text":
        return content
    content = EDITED.sub("", _without_quotes(content))
    if message.messagetype != "RichText/Html":  # there a line break is one
        content = content.replace("\r\n", "\n").replace("\n", "<br>")
    return visible_text(content)


def _without_quotes(content: str) -> str:
    for begin, end in QUOTES:
        kept, position = [], 0
        while (found := begin.search(content, position)) is not None:
            closed = content.find(end, found.end())
            if closed == -1:
                break
            kept.append(content[position : found.start()])
            position = closed + len(end)
        content = "".join([*kept, content[position:]])
    return content


def _placed(talk: Conversation, message: Message, text: str, own: str, names: Names) -> Placed:
    is_own = message.sender.removeprefix("8:") == own.removeprefix("8:")
    title = talk.display_name or str((talk.thread or {}).get("topic") or "")
    called = message.display_name or (title if message.sender == talk.id else "") or message.sender.removeprefix("8:")
    edited = (message.properties or {}).get("edittime")
    if not message.id or not talk.id:
        raise BadFileError(f"conversation {talk.id!r} has a message without an id.")
    said = MessageIn(
        conversation=f"skype:{talk.id}"[:400],
        text=text,
        speaker="" if is_own else names.of(message.sender, called[:150] or "unknown"),
        role="user" if is_own else "other",
        id=f"{message.id}@{edited}" if edited else message.id,
        said_at=message.originalarrivaltime,
    )
    return Placed("", said, compact(id=message.id), title[:200])
