"""Signal: its own plaintext export, and what sigtop, signal-export and signal-cli write.

- Signal's ``main.jsonl`` has a line for each person, chat and message; ids in it are the file's own, so people and
  groups are known by theirs. A message is known by who sent it and when, as Signal knows it.
- sigtop writes a list of Signal Desktop's messages for each chat; its name is the chat's.
- signal-export writes ``data.json`` in a folder that is called like the chat, a line for each message.
- signal-cli prints a line for each event that it receives.

All say which messages the owner sent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decode, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Names, Placed, Reading, compact
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

FRAMES = frozenset({"account", "recipient", "chat", "chatItem", "stickerPack", "adHocCall", "notificationProfile"})
LINE = frozenset({"date", "sender", "body", "quote", "reactions", "attachments"})
"""The fields of a line of signal-export."""
OUTGOING = ("outgoing", "incoming")
ME = "Me"
CALLED = re.compile(r"\.json$", re.IGNORECASE)
NUMBER = re.compile(r" \((?:\+?[\d ]+|[0-9a-f-]{8,})\)$")
"""What sigtop puts after the name of a chat."""
Line = tuple[dict[str, Any], str, int]
"""A decoded line, its position for people, and its number."""


class Signal:
    """Exports of Signal."""

    name = "signal"
    title = "an export of Signal"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look at the first line, or at the first messages of a list."""
        if (file := bundle.only) is None:
            return NOT_MINE
        form = _form(bundle, file)
        return NOT_MINE if form is None else Detection(0.95, form, (file,))

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages as the file has them."""
        form = _form(bundle, bundle.files[0])
        if form is None:
            raise BadFileError(f"{bundle.name} is no export of Signal.")
        yield from READERS[form](bundle, reading)


def _form(bundle: Bundle, file: str) -> str | None:
    """Return by what a file is recognised; None if it is none of Signal's."""
    head = bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()
    if head[:1] == b"[":
        found = bundle.document(file).outline(1)
        first = found[0] if isinstance(found, list) and found else None
        return DESKTOP if isinstance(first, dict) and {"conversationId", "sent_at"} <= first.keys() else None
    try:
        row = decode(head.split(b"\n", 1)[0])
    except msgspec.DecodeError:
        return None
    if not isinstance(row, dict):
        return None
    if "backupTimeMs" in row or (len(row) == 1 and row.keys() <= FRAMES and isinstance(next(iter(row.values())), dict)):
        return FRAME
    if row.keys() >= LINE:
        return CHAT
    envelope = row.get("envelope")
    return EVENT if isinstance(envelope, dict) and "timestamp" in envelope else None


def _lines(bundle: Bundle) -> Iterator[Line]:
    """Yield the lines of a file."""
    file = bundle.files[0]
    shown = bundle.shown(file)
    with bundle.path(file).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = line.removeprefix(BYTE_ORDER_MARK)
            if text.strip():
                where = f"{shown}, line {number}"
                yield decoded(text, dict[str, Any], where), where, number


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _clock(reading: Reading, value: object, where: str) -> str:
    """Return a time in milliseconds, as a number or its digits, on the owner's clock."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:  # noqa: PLR2004 - more are no time
        value = int(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadFileError(f"{where}: {str(value)[:60]!r} is not a time.")
    return reading.clock(value / 1000, where)


def _is_spoken(text: str, reading: Reading, *, is_message: bool) -> bool:
    """Return whether a message has words; counts those without."""
    if not is_message:
        reading.odd["service messages"] += 1
    elif not is_visible(text):
        reading.odd["messages with a file or picture alone"] += 1
    return is_message and is_visible(text)


# Signal's own export


def _frames(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    people: dict[str, tuple[str, str]] = {}
    chats: dict[str, str] = {}
    names = Names()
    for row, where, number in _lines(bundle):
        if person := _dict(row.get("recipient")):
            people[str(person.get("id"))] = _recipient(person)
        elif chat := _dict(row.get("chat")):
            chats[str(chat.get("id"))] = str(chat.get("recipientId"))
        elif item := _dict(row.get("chatItem")):
            text, is_message = _item_text(item)
            if not _is_spoken(text, reading, is_message=is_message):
                continue
            key, title = people.get(chats.get(str(item.get("chatId")), ""), ("", ""))
            author, name = people.get(str(item.get("authorId")), ("", ""))
            if not key or not author:
                raise BadFileError(f"{where}: its chat or its author has no line before it.")
            is_own = "outgoing" in item or author == ME
            sent = item.get("dateSent")
            quote = _dict(_dict(item.get("standardMessage")).get("quote"))
            message = MessageIn(
                conversation=f"signal:{key}",
                text=text,
                speaker="" if is_own else names.of(author, name or author)[:200],
                role="user" if is_own else "other",
                id=f"{sent}:{ME if is_own else author}"[:400],
                said_at=_clock(reading, sent, where),
            )
            origin = compact(line=number, reply_to=_string(quote.get("targetSentTimestamp")), files=_item_files(item))
            yield Placed(where, message, origin, title[:200])


def _recipient(person: Mapping[str, Any]) -> tuple[str, str]:
    """Return the key and the name of a person or group."""
    if "self" in person:
        return ME, "Note to self"
    if group := _dict(person.get("group")):
        title = _string(_dict(_dict(_dict(group.get("snapshot")).get("title"))).get("title"))
        secret = _string(group.get("masterKey"))  # whoever has it can read the group, so it is not stored
        return f"group:{hashlib.sha256(secret.encode()).hexdigest()[:24]}", title
    contact = _dict(person.get("contact"))
    nickname = _dict(contact.get("nickname"))
    names = (
        (nickname.get("given"), nickname.get("family")),
        (contact.get("systemGivenName"), contact.get("systemFamilyName")),
        (contact.get("profileGivenName"), contact.get("profileFamilyName")),
    )
    name = next((full for pair in names if (full := " ".join(_string(part) for part in pair).strip())), "")
    number = str(contact.get("e164") or "")
    number = f"+{number}" if number.isdecimal() else number
    return _uuid(_string(contact.get("aci"))) or number or f"recipient:{person.get('id')}", name or number


def _uuid(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).hex()
    except (binascii.Error, ValueError):
        return ""


def _item_text(item: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the words of an item, and whether it is a message that somebody wrote."""
    standard = _dict(item.get("standardMessage"))
    poll = _dict(item.get("poll"))
    if poll:
        options = [_string(_dict(one).get("option")) for one in _list(poll.get("options"))]
        return "\n".join([_string(poll.get("question")), *(f"- {one}" for one in options if one)]), True
    text = _string(_dict(standard.get("text")).get("body"))
    return text, bool(standard) or any(name in item for name in ("stickerMessage", "contactMessage", "giftBadge"))


def _item_files(item: Mapping[str, Any]) -> list[str]:
    attached = _list(_dict(item.get("standardMessage")).get("attachments"))
    return [name for one in attached if (name := _string(_dict(_dict(one).get("pointer")).get("fileName")))][:20]


# sigtop


def _desktop(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    file = bundle.files[0]
    shown, document = bundle.shown(file), bundle.document(file)
    document.check()
    rows = [f"{shown}, message {index}" for index in range(len(document.entries))]
    senders = set()
    for where, raw in zip(rows, document.entries, strict=True):
        row = decoded(raw, dict[str, Any], where)
        if row.get("type") == "incoming":
            senders.add(_source(row))
    title = NUMBER.sub("", CALLED.sub("", PurePosixPath(file).name))
    for where, raw in zip(rows, document.entries, strict=True):
        row = decoded(raw, dict[str, Any], where)
        text, key = _string(row.get("body")), _string(row.get("conversationId"))
        is_deleted = bool(row.get("deletedForEveryone") or row.get("isErased"))
        if not _is_spoken(text, reading, is_message=row.get("type") in OUTGOING and not is_deleted):
            continue
        if not key or not _string(row.get("id")):
            raise BadFileError(f"{where} has no id, or its conversation has none.")
        is_own = row.get("type") == "outgoing"
        source = title if len(senders) == 1 else _source(row)
        edited = row.get("editMessageTimestamp")
        message = MessageIn(
            conversation=f"signal:{key}",
            text=text,
            speaker="" if is_own else source[:200],
            role="user" if is_own else "other",
            id=f"{row['id']}@{edited}" if edited else row["id"],
            said_at=_clock(reading, row.get("sent_at"), where),
        )
        names = [_string(_dict(one).get("fileName")) for one in _list(row.get("attachments"))]
        yield Placed(where, message, compact(id=row["id"], files=[name for name in names if name][:20]), title[:200])


def _source(row: Mapping[str, Any]) -> str:
    return next(
        (found for name in ("source", "sourceServiceId", "sourceUuid") if (found := _string(row.get(name)))), ""
    )


# signal-export


def _chat(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    ids, called = Digests(), ""
    for row, where, number in _lines(bundle):
        text, sender, date = _string(row.get("body")), _string(row.get("sender")), _string(row.get("date"))
        called = called or _called(bundle, f"{date}\0{sender}\0{text}")
        is_message = not (row.get("deleted") or row.get("call"))
        if not _is_spoken(text, reading, is_message=is_message):
            continue
        is_own = sender == ME or reading.is_me(sender)
        message = MessageIn(
            conversation=f"signal:{called}"[:400],
            text=text.strip(),
            speaker="" if sender == ME else sender[:200],
            role="user" if is_own else "other",
            id=ids.of(date, sender, text),
            said_at=date,
        )
        names = [_string(_dict(one).get("name")) for one in _list(row.get("attachments"))]
        yield Placed(where, message, compact(line=number, files=[name for name in names if name][:20]), called[:200])


def _called(bundle: Bundle, first: str) -> str:
    """Return the name of a chat: that of its folder; without a folder, one made of its first message."""
    folders = (PurePosixPath(bundle.files[0]).parent.name, PurePosixPath(bundle.name).parent.name)
    return next((name for name in folders if name), "") or hashlib.sha256(first.encode()).hexdigest()[:12]


# signal-cli


def _events(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    names = Names()
    for row, where, number in _lines(bundle):
        envelope = _dict(row.get("envelope"))
        sent = _dict(_dict(envelope.get("syncMessage")).get("sentMessage"))
        data = sent or _dict(envelope.get("dataMessage"))
        edit = _dict(data.get("editMessage")) or _dict(envelope.get("editMessage"))
        data = _dict(edit.get("dataMessage")) or data
        text = _string(data.get("message"))
        is_message = bool(text) or any(data.get(name) for name in ("attachments", "sticker"))
        if not _is_spoken(text, reading, is_message=is_message):
            continue
        author = _person(envelope, "source")
        group = _string(_dict(data.get("groupInfo")).get("groupId"))
        other = _person(sent, "destination") if sent else author
        time = data.get("timestamp") or envelope.get("timestamp")
        if not (group or other):
            raise BadFileError(f"{where} does not say to whom it was sent.")
        message = MessageIn(
            conversation=f"signal:{f'group:{group}' if group else other}"[:400],
            text=text,
            speaker="" if sent else names.of(author, _string(envelope.get("sourceName")) or author)[:200],
            role="user" if sent else "other",
            id=f"{time}:{ME if sent else author}"[:400],
            said_at=_clock(reading, time, where),
        )
        files = [_string(_dict(one).get("filename")) for one in _list(data.get("attachments"))]
        quote = _dict(data.get("quote")).get("id")
        yield Placed(where, message, compact(line=number, reply_to=quote, files=[name for name in files if name][:20]))


def _person(event: Mapping[str, Any], role: str) -> str:
    """Return who sent an event, or to whom: the number, else the id."""
    return next((found for name in ("Number", "Uuid", "") if (found := _string(event.get(f"{role}{name}")))), "")


FRAME, DESKTOP = "the lines of Signal's own export", "the messages of Signal Desktop"
CHAT, EVENT = "the lines of signal-export", "the events of signal-cli"
READERS: Mapping[str, Callable[[Bundle, Reading], Iterator[Placed]]] = {
    FRAME: _frames,
    DESKTOP: _desktop,
    CHAT: _chat,
    EVENT: _events,
}
