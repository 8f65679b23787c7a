"""Telegram Desktop's JSON: ``result.json`` of one chat, or of all chats.

A message's time stands there on the exporter's clock and in Unix time, so its offset is known. In a chat of two the
speaker who is not the chat's partner is the owner; an export of all chats says who the owner is. Service messages ("X
joined") are left out. Who wrote a forwarded message is its speaker.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import Document, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading, compact
from memsvc.sources.messages import MessageIn

LOOKED_AT = 50
MARKS = ("from_id", "date_unixtime", "text_entities", "actor_id")
OF_TWO = frozenset({"personal_chat", "bot_chat"})
FURTHEST = timedelta(hours=15)
"""No clock is further from UTC."""
UNNAMED = "Deleted account"


class Entity(msgspec.Struct):
    """A piece of a text with a meaning: a link, a name."""

    type: str = ""
    text: str = ""
    href: str | None = None


class Answer(msgspec.Struct):
    """An answer of a poll."""

    text: str = ""


class Poll(msgspec.Struct):
    """A poll."""

    question: str = ""
    answers: list[Answer] = []


class Spot(msgspec.Struct):
    """A shared place on the map."""

    latitude: float
    longitude: float


class Message(msgspec.Struct, rename={"sender": "from", "sender_id": "from_id"}):
    """A message as Telegram writes it; other fields are not read."""

    id: int
    type: str
    date: str = ""
    date_unixtime: str | int | None = None
    edited_unixtime: str | int | None = None
    sender: str | None = None
    sender_id: str | int | None = None
    text: str | list[str | Entity] = ""
    forwarded_from: str | msgspec.UnsetType | None = msgspec.UNSET
    reply_to_message_id: int | None = None
    file_name: str | None = None
    poll: Poll | None = None
    location_information: Spot | None = None
    place_name: str | None = None


class Chat(NamedTuple):
    """A chat with its messages."""

    key: str
    name: str
    type: str
    messages: list[msgspec.Raw]


class Telegram:
    """Exports of Telegram Desktop."""

    name = "telegram"
    title = "an export of Telegram"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for fields that only Telegram writes."""
        if (file := bundle.only) is None or not bundle.head(file).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
            return NOT_MINE
        found = bundle.document(file).outline(LOOKED_AT)
        if not isinstance(found, dict):
            return NOT_MINE
        messages = found.get("messages")
        first = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
        for mark in MARKS:
            if any(mark in one for one in first):
                return Detection(0.95, f"the field {mark}", (file,))
        chats = found.get("chats")
        if isinstance(chats, dict) and "list" in chats:
            return Detection(0.95, "the list of chats", (file,))
        return NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages chat by chat."""
        shown = bundle.shown(bundle.files[0])
        document = bundle.document(bundle.files[0])
        document.check()
        account = decoded(document.fields.get("personal_information", NOTHING), Any, shown)
        own = f"user{account['user_id']}" if isinstance(account, dict) and "user_id" in account else None
        names = Names()
        for chat in _chats(document, shown):
            yield from _Chat(chat, own, names, reading, shown).read()


NOTHING = msgspec.Raw(b"null")


def _chats(document: Document, shown: str) -> Iterator[Chat]:
    """Yield the document's chats."""
    if "messages" in document.fields:
        yield _chat(document.fields, shown)
        return
    for group in ("chats", "left_chats"):
        listed = decoded(document.fields.get(group, NOTHING), dict[str, msgspec.Raw] | None, f"{shown}, {group}")
        if listed is not None:
            for number, raw in enumerate(decoded(listed.get("list", NOTHING), list[msgspec.Raw] | None, shown) or []):
                where = f"{shown}, {group} {number}"
                yield _chat(decoded(raw, dict[str, msgspec.Raw], where), where)


def _chat(fields: dict[str, msgspec.Raw], where: str) -> Chat:
    key = decoded(fields.get("id", NOTHING), int | str | None, f"{where}, id")
    name = decoded(fields.get("name", NOTHING), str | None, f"{where}, name")
    type_ = decoded(fields.get("type", NOTHING), str | None, f"{where}, type") or ""
    messages = decoded(fields.get("messages", NOTHING), list[msgspec.Raw], f"{where}, messages")
    if key is None and not name:
        raise BadFileError(f"{where} is a chat without id and name.")
    name = name or ("Saved messages" if "saved" in type_ else "")
    return Chat(str(key if key is not None else name), name, type_, messages)


class _Chat:
    """Reads one chat."""

    def __init__(self, chat: Chat, own: str | None, names: Names, reading: Reading, shown: str) -> None:
        self._chat = chat
        self._own = own
        self._names = names
        self._reading = reading
        self._shown = shown
        partner = f"user{chat.key}"
        self._partner = partner if chat.type in OF_TWO and not reading.is_me(partner, chat.name) else None

    def read(self) -> Iterator[Placed]:
        """Yield the messages."""
        odd = self._reading.odd
        for index, raw in enumerate(self._chat.messages):
            where = f"{self._shown}, chat {self._chat.key}, message {index}"
            message: Message = decoded(raw, Message, where)
            where = f"{self._shown}, chat {self._chat.key}, message id {message.id}"
            if message.type != "message":
                odd["service messages"] += 1
                continue
            text = _text(message)
            if not text.strip():
                odd["messages with a file or picture alone"] += 1
                continue
            yield self._placed(message, text, where)

    def _placed(self, message: Message, text: str, where: str) -> Placed:
        sender_id = str(message.sender_id or "")
        sender_id = f"user{sender_id}" if sender_id.isdigit() else sender_id  # as exports had it before 2021
        sender = self._names.of(sender_id or message.sender or "", message.sender or UNNAMED)
        origin = compact(
            id=message.id, reply_to=message.reply_to_message_id, name=message.file_name, url=self._link(message.id)
        )
        is_own = self._is_own(sender_id, sender, message.sender)
        speaker = sender
        if message.forwarded_from is not msgspec.UNSET:
            origin["forwarded_by"] = sender
            speaker = message.forwarded_from or f"somebody, forwarded by {sender}"
            is_own = is_own and message.forwarded_from == message.sender
            is_own = is_own or self._reading.is_me(message.forwarded_from)
        identity = str(message.id) if message.edited_unixtime is None else f"{message.id}@{message.edited_unixtime}"
        said = MessageIn(
            conversation=f"telegram:{self._chat.key}",
            text=text,
            speaker=speaker,
            role="user" if is_own else "other",
            id=identity,
            said_at=_time(message, where),
        )
        return Placed(where, said, origin, self._chat.name)

    def _is_own(self, sender_id: str, *names: str | None) -> bool:
        if self._own is not None:
            return sender_id == self._own
        if self._partner is not None and sender_id:
            return sender_id != self._partner
        return self._reading.is_me(sender_id, *names)

    def _link(self, identity: int) -> str | None:
        return f"https://t.me/c/{self._chat.key}/{identity}" if "supergroup" in self._chat.type else None


def _text(message: Message) -> str:
    """Return the words of a message; a link with other words shows its address, too."""
    if isinstance(message.text, str):
        text = message.text
    else:
        text = "".join(
            one if isinstance(one, str) else f"{one.text} ({one.href})" if one.href else one.text
            for one in message.text
        )
    if not text and message.poll is not None:
        text = "\n".join([message.poll.question, *(f"- {answer.text}" for answer in message.poll.answers)])
    spot = message.location_information
    if not text and spot is not None:
        place = f"{message.place_name}: " if message.place_name else ""
        text = f"{place}{spot.latitude}, {spot.longitude}"
    return text


def _time(message: Message, where: str) -> str:
    """Return when a message was said, with its offset if the file has the Unix time."""
    try:
        clock = datetime.fromisoformat(message.date)
    except ValueError as error:
        raise BadFileError(f"{where}: {message.date[:60]!r} is not a time.") from error
    if message.date_unixtime is None or clock.tzinfo is not None:
        return clock.isoformat()
    try:
        moment = datetime.fromtimestamp(int(message.date_unixtime), UTC)
        offset = clock.replace(tzinfo=UTC) - moment
    except (ValueError, OverflowError, OSError) as error:
        raise BadFileError(f"{where}: {str(message.date_unixtime)[:60]!r} is not a time.") from error
    minutes = timedelta(minutes=round(offset.total_seconds() / 60))
    return moment.astimezone(timezone(minutes if abs(minutes) < FURTHEST else timedelta())).isoformat()
