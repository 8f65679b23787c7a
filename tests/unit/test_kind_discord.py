"""Discord: what DiscordChatExporter writes, and the data package."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.discord import Discord
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import discord_channel, discord_message, tree, write

SAID, CHANNEL = discord_message, discord_channel


def read(path: Path, *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a path."""
    with opened(path, None) as bundle:  # type: ignore[arg-type]
        found = Discord().detect(bundle)
        assert found.sure > 0.9
        reading = Reading(frozenset(me), odd=Counter() if odd is None else odd)
        return list(Discord().read(bundle.narrowed(found.files), reading))


def channel(tmp_path: Path, *messages: dict[str, Any], me: str = "", odd: Counter[str] | None = None) -> list[Placed]:
    return read(write(tmp_path / "channel.json", CHANNEL(*messages)), me, odd=odd)


def test_a_message_has_its_channel_address_and_time(tmp_path: Path) -> None:
    reply = SAID("2", "Jo/72", "Thanks!", type="Reply", reference={"messageId": "1", "channelId": "70"})
    _, one = channel(tmp_path, SAID("1", "mila/71", "The key."), reply)
    assert (one.message.conversation, one.title, one.message.id) == ("discord:70", "Pond #keys", "2")
    assert one.message.said_at == "2026-02-01T10:00:02+01:00"
    assert one.origin == {"id": "2", "reply_to": "1", "url": "https://discord.com/channels/7/70/2"}


def test_who_is_the_owner_is_known_by_id_name_nickname_or_tag(tmp_path: Path) -> None:
    author = {"id": "71", "name": "mila", "nickname": "Mila H.", "discriminator": "4711", "isBot": False}
    for me in ("71", "mila", "mila h.", "mila#4711"):
        [one] = channel(tmp_path, SAID("1", "x/x", "Hi", author=author), me=me)
        assert (one.message.speaker, one.message.role) == ("Mila H.", "user")


def test_two_people_of_one_name_and_bots(tmp_path: Path) -> None:
    bot = {"id": "9", "name": "Builder", "isBot": True}
    placed = channel(tmp_path, SAID("1", "mila/71", "a"), SAID("2", "mila/99", "b"), SAID("3", "x/x", "c", author=bot))
    assert [(one.message.speaker, one.message.role) for one in placed] == [
        ("mila", "other"), ("mila (99)", "other"), ("Builder", "tool"),
    ]  # fmt: skip


def test_edits_have_another_id_and_service_messages_are_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    placed = channel(
        tmp_path,
        SAID("1", "mila/71", "The key!\nHere.", timestampEdited="2026-02-01T10:05:00+01:00"),
        SAID("2", "mila/71", "Joined the server.", type="GuildMemberJoin"),
        SAID("3", "mila/71", "", type="ChannelPinnedMessage"),
        odd=odd,
    )
    assert [(one.message.id, one.message.text) for one in placed] == [
        ("1@2026-02-01T10:05:00+01:00", "The key!\nHere.")
    ]
    assert odd == {"service messages": 2}


def test_files_alone_are_counted_and_cards_are_read(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    placed = channel(
        tmp_path,
        SAID("1", "mila/71", "", attachments=[{"fileName": "otter.png", "url": "x"}]),
        SAID("2", "mila/71", "Look", attachments=[{"fileName": "otter.png"}]),
        SAID("3", "mila/71", "", embeds=[{"title": "News", "description": "It rains.", "color": None}]),
        odd=odd,
    )
    assert [one.message.text for one in placed] == ["Look", "News\nIt rains."]
    assert placed[0].origin["files"] == ["otter.png"]
    assert odd == {"messages with a file or picture alone": 1}


def test_direct_messages_other_scripts_and_unknown_fields(tmp_path: Path) -> None:
    message = SAID("1", "יעל/71", "שלום", reactions=[{"emoji": {}}], future={"x": [1]})
    export = CHANNEL(message, guild={"id": "0", "name": "Direct Messages"}, exportedAt="2026", messageCount=1)
    [one] = read(write(tmp_path / "dm.json", export))
    assert (one.title, one.message.speaker, one.message.text) == ("keys", "יעל", "שלום")
    assert str(one.origin["url"]).startswith("https://discord.com/channels/@me/70/")


def test_a_channel_without_messages(tmp_path: Path) -> None:
    assert channel(tmp_path) == []


def own(identity: Any, contents: str, time: str = "2026-02-01 09:00:00", **more: Any) -> dict[str, Any]:
    return {"ID": identity, "Timestamp": time, "Contents": contents, "Attachments": "", **more}


PACKAGE: dict[str, object] = {
    "package/Messages/index.json": {"70": "keys in Pond", "80": "Direct Message with jo"},
    "package/Messages/c70/channel.json": {
        "id": "70", "type": "GUILD_TEXT", "name": "keys", "guild": {"id": "7", "name": "Pond"},
    },
    "package/Messages/c70/messages.json": [
        own(12, "Later.", Attachments="https://cdn.example.org/a/otter.png?ex=1"), own("11", "First."), own(13, ""),
    ],
    "package/Messages/c80/channel.json": {"id": "80", "type": "DM", "recipients": ["71", "72"]},
    "package/Messages/c80/messages.csv": (
        'ID,Timestamp,Contents,Attachments\n21,2020-04-16 15:37:55.440000+00:00,"Two\nlines, ""quoted""",\n'
    ),
    "package/Activity/reporting/events-2026.json": '{"event_type": "x"}\n{"event_type": "y"}\n',
    "package/Account/user.json": {"id": "71", "username": "mila"},
    "package/README.txt": "Welcome",
}  # fmt: skip


def test_of_the_package_all_is_the_owners_in_the_order_of_time(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    placed = read(tree(tmp_path, PACKAGE), odd=odd)
    assert [(one.message.conversation, one.message.id, one.message.text, one.title) for one in placed] == [
        ("discord:70", "11", "First.", "Pond #keys"), ("discord:70", "12", "Later.", "Pond #keys"),
        ("discord:80", "21", 'Two\nlines, "quoted"', ""),
    ]  # fmt: skip
    assert {one.message.role for one in placed} == {"user"}
    assert [one.message.said_at for one in placed][1:] == [
        "2026-02-01T09:00:00+00:00",
        "2020-04-16T15:37:55.440000+00:00",
    ]
    assert placed[1].origin["files"] == ["otter.png"]
    assert odd == {"messages with a file or picture alone": 1}


def test_the_package_takes_its_other_files_along(tmp_path: Path) -> None:
    with opened(tree(tmp_path, PACKAGE | {"notes.jsonl": '{"text": "x"}\n'}), None) as bundle:  # type: ignore[arg-type]
        assert set(Discord().detect(bundle).files) == set(PACKAGE)


@pytest.mark.parametrize(
    ("export", "says"),
    [
        (CHANNEL(SAID("1", "a/1", "x", timestamp="soon")), "message id 1: 'soon' is not a time"),
        (CHANNEL(SAID("1", "a/1", "x") | {"author": None}), "message 0: Expected `object`"),
        (CHANNEL(channel={"name": "keys"}), "its channel has no id"),
        (CHANNEL() | {"messages": 7}, "messages: Expected `array`"),
        ({"guild": {}, "messages": []}, "export of Discord"),
        ([own(1, "x")], "Discord's data package"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, export: object, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "file.json", export)))


@pytest.mark.parametrize(
    "messages", [[own("x", "a")], [own(1, "a", time="soon")], [{"ID": 1}], "ID,Timestamp,Contents"]
)
def test_a_damaged_package_is_refused(tmp_path: Path, messages: object) -> None:
    files: dict[str, object] = {
        "m/c1/channel.json": {"id": "1"}, "m/c1/messages.json": messages,
        "m/c2/channel.json": {"id": "2"}, "m/c2/messages.json": [own(1, "fine")],
    }  # fmt: skip
    with pytest.raises(BadFileError):
        read(tree(tmp_path, files))
