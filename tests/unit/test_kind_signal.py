"""Signal: four forms of exports, people, groups, deletions and edits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.signal import Signal
from tests.chats import SIGNAL_PEOPLE, lines, signal_item, tree, write


def read(path: Path, *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a path."""
    with opened(path, None) as bundle:  # type: ignore[arg-type]
        assert Signal().detect(bundle).sure > 0.9
        return list(Signal().read(bundle, Reading(frozenset(me), odd=Counter() if odd is None else odd)))


def said(placed: list[Placed]) -> list[tuple[str, str, str]]:
    return [(one.message.speaker, one.message.role, one.message.text) for one in placed]


# Signal's own export

GROUP = {"recipient": {"id": "5", "group": {"masterKey": "c2VjcmV0", "snapshot": {"title": {"title": "Garden"}}}}}


def export(tmp_path: Path, *rows: dict[str, Any], odd: Counter[str] | None = None) -> list[Placed]:
    return read(write(tmp_path / "main.jsonl", lines(*SIGNAL_PEOPLE, *rows)), odd=odd)


def test_a_message_has_its_chat_author_and_time(tmp_path: Path) -> None:
    quote = {
        "text": {"body": "Thanks!"},
        "quote": {"targetSentTimestamp": "1769936401000", "text": {"body": "The key."}},
    }
    first, second = export(tmp_path, signal_item(1, "2", "The key."), signal_item(2, "1", "", standardMessage=quote))
    assert said([first, second]) == [("Mila", "other", "The key."), ("", "user", "Thanks!")]
    assert (first.message.conversation, first.title) == ("signal:+491701234567", "Mila")
    assert (first.message.id, first.message.said_at) == ("1769936401000:+491701234567", "2026-02-01T09:00:01+00:00")
    assert second.origin == {"line": 7, "reply_to": "1769936401000"}


def test_what_is_no_message_is_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    placed = export(
        tmp_path,
        {"chatItem": {"chatId": "10", "authorId": "2", "dateSent": "1", "updateMessage": {"simpleUpdate": {}}}},
        {"chatItem": {"chatId": "10", "authorId": "2", "dateSent": "2", "remoteDeletedMessage": {}}},
        {"chatItem": {"chatId": "10", "authorId": "2", "dateSent": "3", "stickerMessage": {}}},
        signal_item(4, "2", "", standardMessage={"attachments": [{"pointer": {"fileName": "otter.png"}}]}),
        {"stickerPack": {"packId": "x"}},
        {"future": {"x": 1}},
        odd=odd,
    )
    assert placed == []
    assert odd == {"service messages": 2, "messages with a file or picture alone": 2}


def test_a_group_is_known_without_its_secret(tmp_path: Path) -> None:
    chat = {"chat": {"id": "11", "recipientId": "5"}}
    [one] = export(tmp_path, GROUP, chat, signal_item(1, "2", "Hi\nall", chatId="11"))
    assert one.title == "Garden"
    assert one.message.conversation.startswith("signal:group:")
    assert "c2VjcmV0" not in str(one)


def test_two_people_of_one_name_and_people_without_one(tmp_path: Path) -> None:
    people = [
        {"recipient": {"id": "3", "contact": {"aci": "EREREREREREREREREREREQ==", "systemGivenName": "Mila"}}},
        {"recipient": {"id": "4", "contact": {}}},
        {"recipient": {"id": "6", "contact": {"nickname": {"given": "יעל"}, "profileGivenName": "Y"}}},
    ]
    placed = export(tmp_path, *people, *(signal_item(n, who, "Hi") for n, who in enumerate("2346")))
    assert [one.message.speaker for one in placed] == [
        "Mila", "Mila (11111111111111111111111111111111)", "recipient:4", "יעל",
    ]  # fmt: skip


def test_notes_to_oneself_and_polls(tmp_path: Path) -> None:
    poll = {"question": "When?", "options": [{"option": "Now"}, {"option": "Later"}]}
    chat = {"chat": {"id": "11", "recipientId": "1"}}
    placed = export(tmp_path, chat, signal_item(1, "1", "Buy milk.", chatId="11"), signal_item(2, "2", "", poll=poll))
    assert said(placed) == [("", "user", "Buy milk."), ("Mila", "other", "When?\n- Now\n- Later")]


# sigtop


def desktop(second: int, way: str, body: str, **more: Any) -> dict[str, Any]:
    sent = 1_769_936_400_000 + second * 1000
    base = {"id": f"m{second}", "conversationId": "c1", "type": way, "body": body, "sent_at": sent}
    return base | ({"source": "+49170"} if way == "incoming" else {}) | more


def test_a_chat_of_sigtop_is_called_after_its_file(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    rows = [
        desktop(1, "incoming", "The key."), desktop(2, "outgoing", "Thanks!", editMessageTimestamp=7),
        desktop(3, "group-v2-change", ""), desktop(4, "incoming", "gone", deletedForEveryone=True),
        desktop(5, "incoming", "", attachments=[{"fileName": "a.png"}]), desktop(6, "call-history", ""),
    ]  # fmt: skip
    placed = read(write(tmp_path / "Mila Horn (+49 170 1234567).json", rows), odd=odd)
    assert said(placed) == [("Mila Horn", "other", "The key."), ("", "user", "Thanks!")]
    assert [(one.message.id, one.title) for one in placed] == [("m1", "Mila Horn"), ("m2@7", "Mila Horn")]
    assert odd == {"service messages": 3, "messages with a file or picture alone": 1}


def test_a_group_of_sigtop_has_numbers_for_names(tmp_path: Path) -> None:
    rows = [desktop(1, "incoming", "a"), desktop(2, "incoming", "b", source=None, sourceServiceId="u2")]
    placed = read(write(tmp_path / "Garden.json", rows))
    assert [one.message.speaker for one in placed] == ["+49170", "u2"]


# signal-export


def line(second: int, sender: str, body: str, **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"date": f"2026-02-01T10:00:0{second}", "sender": sender, "body": body, "quote": ""}
    return base | {"sticker": None, "reactions": [], "attachments": [], "deleted": False} | more


def test_a_chat_of_signal_export_is_called_after_its_folder(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    rows = [
        line(1, "Mila", "The key."), line(1, "Mila", "The key."), line(2, "Me", "Thanks!\nBye."),
        line(3, "Mila", "", attachments=[{"name": "a.png", "path": "x"}]), line(4, "Mila", "x", deleted=True),
    ]  # fmt: skip
    root = tree(tmp_path, {"chats/Mila/data.json": lines(*rows)})
    path = root / "chats"
    placed = [message for _, message in read_messages(path)]
    assert [(one.conversation, one.speaker, one.role) for one in placed] == [
        ("signal:Mila", "Mila", "other"), ("signal:Mila", "Mila", "other"), ("signal:Mila", "", "user"),
    ]  # fmt: skip
    assert len({one.id for one in placed}) == 3
    assert len(read(path / "Mila" / "data.json", odd=odd)) == 3
    assert odd == {"messages with a file or picture alone": 1, "service messages": 1}


# signal-cli


def event(second: int, **envelope: Any) -> dict[str, Any]:
    sent = 1_769_936_400_000 + second * 1000
    who = {"sourceNumber": "+49170", "sourceName": "Mila", "sourceDevice": 1, "timestamp": sent}
    return {"envelope": who | envelope, "account": "+49171"}


def test_events_of_signal_cli(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    own = {"destinationNumber": "+49170", "timestamp": 1_769_936_402_000, "message": "Thanks!"}
    rows = [
        event(1, dataMessage={"timestamp": 1_769_936_401_000, "message": "The key.", "quote": {"id": 7}}),
        event(2, sourceNumber="+49171", syncMessage={"sentMessage": own}), event(3, receiptMessage={"isRead": True}),
        event(4, typingMessage={"action": "STARTED"}), event(5, dataMessage={"message": None, "attachments": [{}]}),
        event(6, dataMessage={"message": "Hi", "groupInfo": {"groupId": "g=="}}),
        event(7, editMessage={"dataMessage": {"timestamp": 1_769_936_407_000, "message": "E"}}),
    ]  # fmt: skip
    placed = read(write(tmp_path / "log", lines(*rows)), odd=odd)
    assert said(placed) == [
        ("Mila", "other", "The key."), ("", "user", "Thanks!"), ("Mila", "other", "Hi"), ("Mila", "other", "E"),
    ]  # fmt: skip
    assert [one.message.conversation for one in placed] == ["signal:+49170"] * 2 + ["signal:group:g==", "signal:+49170"]
    assert odd == {"service messages": 2, "messages with a file or picture alone": 1}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines(*SIGNAL_PEOPLE, signal_item(1, "99", "x")), "its author has no line before it"),
        (lines(*SIGNAL_PEOPLE, signal_item(1, "2", "x", dateSent="soon")), "line 6: 'soon' is not a time"),
        (lines(*SIGNAL_PEOPLE) + '{"chatItem": {"chat', "line 6: Input data was truncated"),
        (lines(*SIGNAL_PEOPLE) + "[1]\n", "line 6: Expected `object`"),
        ([desktop(1, "incoming", "x", id=None)], "message 0 has no id"),
        ([desktop(1, "incoming", "x", sent_at=None)], "message 0: 'None' is not a time"),
        ([desktop(1, "incoming", "x"), 7], "message 1: Expected `object`"),
        ([{"conversationId": "c"}, {"text": "x"}], "unknown fields"),
        (lines({"envelope": {"x": 1}}, {"text": "x"}), "unknown fields"),
    ],
)
def test_damaged_and_other_files_are_refused(tmp_path: Path, content: object, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(
            read_messages(write(tmp_path / "file.jsonl" if isinstance(content, str) else tmp_path / "f.json", content))
        )
