"""Discord: the JSON of DiscordChatExporter, and the data package that Discord itself sends.

The package has only what its owner wrote: ``messages/index.json``, and for each channel a folder with ``channel.json``
and ``messages.json`` (until 2024 ``messages.csv``). Both name channels and messages by Discord's ids, so what both have
is stored once.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading, compact
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

URL = "https://discord.com/channels"
SPOKEN = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23"})
"""The types of messages that somebody wrote; newer ones stand there as numbers."""
CHANNEL = "channel.json"
MESSAGES = ("messages.json", "messages.csv")
REST = frozenset(
    {
        "account", "activities", "activities_e", "activities_w", "activity", "ads", "programs", "servers",
        "support_tickets", "user_surveys",
    }
)  # fmt: skip
"""The other folders of a package, which have no messages."""


class Author(msgspec.Struct):
    """Who wrote a message."""

    id: str
    name: str = ""
    nickname: str | None = None
    discriminator: str | None = None
    is_bot: bool = msgspec.field(default=False, name="isBot")


class File(msgspec.Struct):
    """An attached file."""

    name: str = msgspec.field(default="", name="fileName")


class Embed(msgspec.Struct):
    """A card in a message, mostly of a bot."""

    title: str | None = None
    description: str | None = None


class Reference(msgspec.Struct):
    """The message that is answered."""

    id: str | None = msgspec.field(default=None, name="messageId")


class Message(msgspec.Struct):
    """A message as DiscordChatExporter writes it; other fields are not read."""

    id: str
    timestamp: str
    author: Author
    type: str = "Default"
    content: str = ""
    edited: str | None = msgspec.field(default=None, name="timestampEdited")
    attachments: list[File] = []
    embeds: list[Embed] = []
    reference: Reference | None = None


class Place(msgspec.Struct):
    """A channel or a server."""

    id: str | None = None
    name: str | None = None


class OwnMessage(msgspec.Struct, rename="pascal"):
    """A message of the package."""

    timestamp: str
    id: int | str = msgspec.field(name="ID")
    contents: str | None = ""
    attachments: str | None = ""


class Channel(msgspec.Struct):
    """A channel of the package."""

    id: str
    name: str | None = None
    guild: Place | None = None


class Discord:
    """Exports of Discord."""

    name = "discord"
    title = "an export of Discord"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for a server and a channel beside the messages, or for the folders of the package."""
        if (file := bundle.only) is not None:
            if not bundle.head(file).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
                return NOT_MINE
            document = bundle.document(file)
            is_mine = {"guild", "channel", "messages"} <= document.fields.keys()
            return Detection(0.95, "the fields guild and channel", (file,)) if is_mine else NOT_MINE
        found = _channels(bundle)
        if not found or not any(_has_contents(bundle, messages) for messages in found.values()):
            return NOT_MINE
        root = PurePosixPath(next(iter(found))).parent.parent
        mine = {file for pair in found.items() for file in pair} | set(_rest(bundle, root))
        return Detection(0.95, "channel.json and messages in folders", tuple(sorted(mine)))

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages channel by channel, each in the order of time."""
        if bundle.only is None:
            for channel, messages in _channels(bundle).items():
                yield from _own_messages(bundle, channel, messages, reading)
            return
        shown, document = bundle.shown(bundle.files[0]), bundle.document(bundle.files[0])
        document.check()
        server = decoded(document.fields.get("guild", NOTHING), Place, f"{shown}, guild")
        channel_ = decoded(document.fields.get("channel", NOTHING), Place, f"{shown}, channel")
        if not channel_.id:
            raise BadFileError(f"{shown}: its channel has no id.")
        names = Names()
        raws = decoded(document.fields.get("messages", NOTHING), list[msgspec.Raw], f"{shown}, messages")
        for index, raw in enumerate(raws):
            message: Message = decoded(raw, Message, f"{shown}, message {index}")
            placed = _placed(message, names, reading, f"{shown}, message id {message.id}")
            if placed is not None:
                placed.message.conversation = f"discord:{channel_.id}"
                origin = {**placed.origin, "url": f"{URL}/{_server(server)}/{channel_.id}/{message.id}"}
                yield placed._replace(origin=origin, title=_title(server.name, channel_.name))


NOTHING = msgspec.Raw(b"null")


def _server(server: Place | None) -> str:
    return server.id if server is not None and server.id and server.id != "0" else "@me"


def _title(server: str | None, channel: str | None) -> str:
    return f"{server} #{channel}" if server and server != "Direct Messages" else channel or ""


def _placed(message: Message, names: Names, reading: Reading, where: str) -> Placed | None:
    """Return a message of DiscordChatExporter without its conversation; None if it is left out, which is counted."""
    if message.type not in SPOKEN:
        reading.odd["service messages"] += 1
        return None
    cards = [text for card in message.embeds for text in (card.title, card.description) if text]
    text = message.content if is_visible(message.content) else "\n".join(cards)
    if not is_visible(text):
        reading.odd["messages with a file or picture alone"] += 1
        return None
    author = message.author
    full = f"{author.name}#{author.discriminator}"
    is_own = reading.is_me(author.id, author.name, author.nickname, full)
    role: Role = "user" if is_own else "tool" if author.is_bot else "other"
    said = MessageIn(
        conversation="",
        text=text,
        speaker=names.of(author.id, (author.nickname or author.name or "Deleted User")[:150]),
        role=role,
        id=message.id if message.edited is None else f"{message.id}@{message.edited}",
        said_at=_time(message.timestamp, where),
    )
    origin = compact(
        id=message.id, reply_to=message.reference.id if message.reference else None,
        files=[one.name for one in message.attachments if one.name][:20],
    )  # fmt: skip
    return Placed(where, said, origin)


def _time(value: str, where: str) -> str:
    """Return a time of Discord's, which is UTC where it names no offset."""
    try:
        found = datetime.fromisoformat(value)
    except ValueError as error:
        raise BadFileError(f"{where}: {value[:60]!r} is not a time.") from error
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).isoformat()


# The data package


def _channels(bundle: Bundle) -> dict[str, str]:
    """Return the messages' file of each channel, by the path of its ``channel.json``."""
    files = set(bundle.files)
    found = {}
    for file in bundle.files:
        if PurePosixPath(file).name == CHANNEL:
            folder = file.removesuffix(CHANNEL)
            messages = next((f"{folder}{name}" for name in MESSAGES if f"{folder}{name}" in files), None)
            if messages is not None:
                found[file] = messages
    return found


def _rest(bundle: Bundle, root: PurePosixPath) -> Iterator[str]:
    """Yield the files of a package that have no messages: beside its folder of messages, and the index in it."""
    package = root.parent
    for file in bundle.files:
        path = PurePosixPath(file)
        is_inside = package in path.parents and path.relative_to(package).parts[0].lower() in REST
        if is_inside or path in {root / "index.json", package / "README.txt"}:
            yield file


def _has_contents(bundle: Bundle, file: str) -> bool:
    head = bundle.head(file)
    return b"Timestamp" in head and b"Contents" in head


def _own_messages(bundle: Bundle, channel_file: str, file: str, reading: Reading) -> Iterator[Placed]:
    shown = f"{bundle.name}/{file}"
    channel = decoded(bundle.path(channel_file).read_bytes(), Channel, f"{bundle.name}/{channel_file}")
    messages = [(one, _identity(one, shown)) for one in _rows(bundle, file, shown)]
    for message, identity in sorted(messages, key=lambda one: one[1]):
        where = f"{shown}, message id {identity}"
        if not is_visible(message.contents or ""):
            reading.odd["messages with a file or picture alone"] += 1
            continue
        said = MessageIn(
            conversation=f"discord:{channel.id}",
            text=message.contents or "",
            id=str(identity),
            said_at=_time(message.timestamp, where),
        )
        url = f"{URL}/{_server(channel.guild)}/{channel.id}/{identity}"
        files = [PurePosixPath(one.partition("?")[0]).name for one in (message.attachments or "").split()]
        server = channel.guild.name if channel.guild is not None else None
        yield Placed(where, said, compact(id=str(identity), url=url, files=files[:20]), _title(server, channel.name))


def _rows(bundle: Bundle, file: str, shown: str) -> Iterator[OwnMessage]:
    if not file.endswith(".csv"):
        for index, raw in enumerate(decoded(bundle.path(file).read_bytes(), list[msgspec.Raw], shown)):
            yield decoded(raw, OwnMessage, f"{shown}, message {index}")
        return
    with bundle.path(file).open(encoding="utf-8-sig", errors="strict", newline="") as lines:
        try:
            for row in csv.DictReader(lines):
                yield msgspec.convert(row, OwnMessage)
        except (UnicodeDecodeError, csv.Error, msgspec.ValidationError) as error:
            raise BadFileError(f"{shown}: {error}") from error


def _identity(message: OwnMessage, where: str) -> int:
    try:
        return int(message.id)
    except ValueError as error:
        raise BadFileError(f"{where}: {str(message.id)[:60]!r} is not an id of Discord's.") from error
