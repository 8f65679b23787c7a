"""Slack's export: a folder or zip file with ``users.json``, lists of channels, and for each channel a file a day.

Speakers get their names from ``users.json``, and their messages the offset of their time zone. A thread is a session of
its channel. What bots say is kept as traces; "X has joined" is left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Names, Placed, Reading, compact, zone_called
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

USERS = ("users.json", "org_users.json")
CHANNELS = ("channels.json", "groups.json", "mpims.json", "dms.json")
OTHERS = ("integration_logs.json", "canvases.json", "content_flags.json", "file_conversations.json", "lists.json")
DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")
SPOKEN = frozenset(
    {None, "thread_broadcast", "me_message", "bot_message", "file_share", "file_comment", "reply_broadcast"}
)
"""The subtypes of messages that somebody wrote."""
MENTION = re.compile(r"<(?P<sign>[@#!]?)(?P<what>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")


class Profile(msgspec.Struct):
    """A member's profile."""

    real_name: str | None = None
    display_name: str | None = None
    email: str | None = None


class User(msgspec.Struct):
    """A member; other fields are not read."""

    id: str
    name: str | None = None
    real_name: str | None = None
    tz: str | None = None
    is_bot: bool | None = None
    profile: Profile | None = None


class Channel(msgspec.Struct):
    """A channel, or a direct conversation."""

    id: str
    name: str | None = None
    members: list[str] | None = None


class File(msgspec.Struct):
    """A shared file."""

    name: str | None = None
    title: str | None = None


class Edited(msgspec.Struct):
    """When a message was edited."""

    ts: str


class Attachment(msgspec.Struct):
    """What a bot attaches."""

    text: str | None = None
    fallback: str | None = None


class Message(msgspec.Struct):
    """A message; other fields are not read."""

    ts: str
    type: str = "message"
    subtype: str | None = None
    user: str | None = None
    username: str | None = None
    bot_id: str | None = None
    text: str | None = None
    thread_ts: str | None = None
    edited: Edited | None = None
    user_profile: Profile | None = None
    files: list[File | None] | None = None
    attachments: list[Attachment] | None = None


@dataclass(slots=True)
class Team:
    """Who and what the export is about."""

    users: Mapping[str, User] = field(default_factory=dict)
    channels: Mapping[str, Channel] = field(default_factory=dict)
    """By the name of the folder."""
    names: Names = field(default_factory=Names)
    zones: dict[str, tzinfo | None] = field(default_factory=dict)

    def name(self, identity: str, profile: Profile | None = None) -> str:
        """Return a member's name as Slack shows it."""
        user = self.users.get(identity)
        if user is not None:  # the list, if he is on it: a message's own profile is older
            profile = user.profile
        profile = profile or Profile()
        called = profile.display_name or profile.real_name
        if user is not None:
            called = called or user.real_name or user.name
        return self.names.of(identity, called or identity)

    def zone(self, identity: str) -> tzinfo | None:
        """Return a member's time zone."""
        if identity not in self.zones:
            user = self.users.get(identity)
            self.zones[identity] = zone_called(user.tz if user is not None else None)
        return self.zones[identity]

    def all_names(self, identity: str) -> list[str | None]:
        """Return everything that a member may be called."""
        user = self.users.get(identity)
        profile = (user.profile if user is not None else None) or Profile()
        names = [profile.display_name, profile.real_name, profile.email, identity]
        return names if user is None else [*names, user.name, user.real_name]

    def text(self, text: str) -> str:
        """Return a text without Slack's marks: "<@U07>" becomes "@Mila"."""
        return html.unescape(MENTION.sub(self._unmarked, text))

    def _unmarked(self, found: re.Match[str]) -> str:
        sign, what, label = found["sign"], found["what"], found["label"]
        if sign == "@":
            return f"@{self.name(what)}" if what in self.users or not label else f"@{label.lstrip('@')}"
        if sign == "#":
            return f"#{label or next((one.name for one in self.channels.values() if one.id == what), None) or what}"
        if sign == "!":
            return label or f"@{what.split('^')[0]}"
        return f"{label} ({what})" if label and label != what else what


class Slack:
    """Exports of Slack."""

    name = "slack"
    title = "an export of Slack"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for the list of members and a channel's day."""
        root = _root(bundle)
        if root is None:
            return NOT_MINE
        days = _days(bundle, root)
        entries = bundle.document(days[0]).outline(5)
        if not isinstance(entries, list) or not all(isinstance(one, dict) and "ts" in one for one in entries):
            return NOT_MINE
        known = {f"{root}{name}" for name in (*USERS, *CHANNELS, *OTHERS)}
        files = (*(name for name in bundle.files if name in known), *days)
        return Detection(0.95, "its list of members and a file a day", files)

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages channel by channel, each in the order of time."""
        root = _root(bundle)
        if root is None:
            raise BadFileError(f"{bundle.name} has no users.json with channels beside it.")
        team = _team(bundle, root)
        for day in _days(bundle, root):
            where = f"{bundle.name}/{day}"
            raws = decoded(bundle.path(day).read_bytes(), list[msgspec.Raw], where)
            messages = [
                (decoded(raw, Message, f"{where}, message {index}"), f"{where}, message {index}")
                for index, raw in enumerate(raws)
            ]
            for message, place in sorted(messages, key=lambda one: _seconds(*one)):
                if message.type != "message" or message.subtype not in SPOKEN:
                    reading.odd["service messages"] += 1
                elif is_visible(text := _text(message, team)):
                    yield _placed(message, text, (team, reading), day, place)
                else:
                    reading.odd["messages with a file or picture alone"] += 1


def _root(bundle: Bundle) -> str | None:
    """Return the folder that has the list of members, "" or with a slash at its end; None if there is none."""
    for file in bundle.files:
        path = PurePosixPath(file)
        if path.name in USERS:
            root = "" if len(path.parts) == 1 else f"{path.parent.as_posix()}/"
            if _days(bundle, root):
                return root
    return None


def _days(bundle: Bundle, root: str) -> list[str]:
    """Return the files of the channels' days, in order."""
    found = []
    for file in bundle.files:
        if file.startswith(root):
            parts = PurePosixPath(file.removeprefix(root)).parts
            if len(parts) == 2 and DAY.fullmatch(parts[1]):  # noqa: PLR2004 - a folder and a file
                found.append(file)
    return sorted(found)


def _team(bundle: Bundle, root: str) -> Team:
    def listed(name: str, form: Any) -> list[Any]:
        file = f"{root}{name}"
        if file not in bundle.files:
            return []
        found: list[Any] = decoded(bundle.path(file).read_bytes(), list[form], f"{bundle.name}/{file}")
        return found

    users = {user.id: user for name in USERS for user in listed(name, User)}
    channels = {one.name or one.id: one for name in CHANNELS for one in listed(name, Channel)}
    return Team(users, {**channels, **{one.id: one for one in channels.values()}})


def _seconds(message: Message, where: str) -> float:
    try:
        return float(message.ts)
    except ValueError as error:
        raise BadFileError(f"{where}: {message.ts[:60]!r} is not a time.") from error


def _text(message: Message, team: Team) -> str:
    text = team.text(message.text or "")
    if is_visible(text):
        return text
    return "\n".join(team.text(one.text or one.fallback or "") for one in message.attachments or [])


def _placed(message: Message, text: str, known: tuple[Team, Reading], day: str, where: str) -> Placed:
    team, reading = known
    folder = PurePosixPath(day).parent.name
    channel = team.channels.get(folder)
    user = message.user or message.bot_id or message.username or ""
    member = team.users.get(user)
    is_bot = message.subtype == "bot_message" or message.user in {None, "", "USLACKBOT"}
    is_bot = is_bot or (member is not None and member.is_bot is True)
    role: Role = "tool" if is_bot else "user" if reading.is_me(*team.all_names(user)) else "other"
    speaker = message.username if is_bot and message.username else team.name(user, message.user_profile)
    origin = compact(
        id=message.ts,
        day=day,
        reply_to=message.thread_ts if message.thread_ts != message.ts else None,
        files=[one.name or one.title for one in message.files or [] if one is not None and (one.name or one.title)],
    )
    said = MessageIn(
        conversation=f"slack:{channel.id if channel is not None else folder}",
        session=f"thread {message.thread_ts}" if message.thread_ts is not None else "",
        text=text,
        speaker=speaker,
        role=role,
        id=message.ts if message.edited is None else f"{message.ts}@{message.edited.ts}",
        said_at=reading.clock(_seconds(message, where), where, team.zone(user)),
    )
    return Placed(where, said, origin, _title(folder, channel, team))


def _title(folder: str, channel: Channel | None, team: Team) -> str:
    if channel is None or channel.name:
        return f"#{folder}"
    return ", ".join(team.name(member) for member in channel.members or []) or folder
