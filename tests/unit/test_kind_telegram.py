"""Telegram: chats of two and of many, forwarded messages, links, times, and what is left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.telegram import Telegram
from tests.chats import telegram_chat, telegram_message, write


def read(tmp_path: Path, export: object, *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    reading = Reading(frozenset(me), ZoneInfo("Europe/Berlin"), Counter() if odd is None else odd)
    with opened(write(tmp_path / "result.json", export), None) as bundle:  # type: ignore[arg-type]
        assert Telegram().detect(bundle).sure > 0.9
        return list(Telegram().read(bundle, reading))


def speakers(placed: list[Placed]) -> list[tuple[str, str]]:
    return [(one.message.speaker, one.message.role) for one in placed]


def test_in_a_chat_of_two_the_other_one_is_the_owner(tmp_path: Path) -> None:
    messages = [telegram_message(1, "Mila/user7", "a"), telegram_message(2, "Jo/user9", "b")]
    assert speakers(read(tmp_path, telegram_chat(*messages))) == [("Mila", "other"), ("Jo", "user")]
    assert speakers(read(tmp_path, telegram_chat(*messages), "mila")) == [("Mila", "user"), ("Jo", "other")]


def test_in_a_group_nobody_is_guessed(tmp_path: Path) -> None:
    group = telegram_chat(
        telegram_message(1, "Mila/user7", "a"), telegram_message(2, "Jo/user9", "b"), type="private_group", id=77
    )
    assert speakers(read(tmp_path, group)) == [("Mila", "other"), ("Jo", "other")]
    assert speakers(read(tmp_path, group, "jo")) == [("Mila", "other"), ("Jo", "user")]
    assert speakers(read(tmp_path, group, "user7")) == [("Mila", "user"), ("Jo", "other")]


def test_an_export_of_all_chats_says_who_the_owner_is(tmp_path: Path) -> None:
    export = {
        "about": "x",
        "personal_information": {"user_id": 9, "first_name": "Jo"},
        "chats": {
            "about": "y",
            "list": [
                telegram_chat(telegram_message(1, "Mila/user7", "a"), telegram_message(2, "Jo/user9", "b")),
                {"type": "saved_messages", "id": 9, "messages": [telegram_message(1, "Jo/user9", "c")]},
            ],
        },
        "left_chats": {"list": [telegram_chat(telegram_message(1, "Ann/user5", "d"), id=5, name="Old")]},
    }
    placed = read(tmp_path, export)
    assert speakers(placed) == [("Mila", "other"), ("Jo", "user"), ("Jo", "user"), ("Ann", "other")]
    assert [(one.message.conversation, one.title) for one in placed[1:]] == [
        ("telegram:7", "Mila"), ("telegram:9", "Saved messages"), ("telegram:5", "Old"),
    ]  # fmt: skip


def test_a_text_of_pieces_is_joined_and_links_are_kept(tmp_path: Path) -> None:
    text = [
        "See ",
        {"type": "text_link", "text": "this", "href": "https://example.org/a"},
        {"type": "bold", "text": "!"},
    ]
    [one] = read(tmp_path, telegram_chat(telegram_message(1, "Mila/user7", text)))
    assert one.message.text == "See this (https://example.org/a)!"


def test_who_wrote_a_forwarded_message_is_its_speaker(tmp_path: Path) -> None:
    forwarded = [
        telegram_message(1, "Mila/user7", "I moved to Rome.", forwarded_from="Greta"),
        telegram_message(2, "Jo/user9", "I moved to Oslo.", forwarded_from=None),
        telegram_message(3, "Jo/user9", "I said so.", forwarded_from="Jo"),
    ]
    placed = read(tmp_path, telegram_chat(*forwarded))
    assert speakers(placed) == [("Greta", "other"), ("somebody, forwarded by Jo", "other"), ("Jo", "user")]
    assert placed[0].origin == {"id": 1, "forwarded_by": "Mila"}


def test_the_offset_is_that_of_the_clock_in_the_file(tmp_path: Path) -> None:
    messages = [
        telegram_message(1, "Mila/user7", "a"),
        telegram_message(2, "Mila/user7", "b", date="2026-07-01T10:00:00", date_unixtime="1782912600"),
        telegram_message(3, "Mila/user7", "c", date="2020-07-01T10:00:00", date_unixtime=None),
    ]
    assert [one.message.said_at for one in read(tmp_path, telegram_chat(*messages))] == [
        "2026-02-01T10:00:01+01:00", "2026-07-01T10:00:00-03:30", "2020-07-01T10:00:00",
    ]  # fmt: skip


def test_what_has_no_words_is_left_out_and_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    service: dict[str, Any] = {"id": 9, "type": "service", "date": "2026-02-01T10:00:00", "action": "phone_call"}
    messages = [
        service,
        telegram_message(1, "Mila/user7", "", photo="photos/1.jpg"),
        telegram_message(2, "Mila/user7", [], media_type="sticker", sticker_emoji="x"),
        telegram_message(
            3, "Mila/user7", "", poll={"question": "When?", "answers": [{"text": "Now"}, {"text": "Never"}]}
        ),
        telegram_message(4, "Mila/user7", "", location_information={"latitude": 52.5, "longitude": 13.4}),
    ]
    placed = read(tmp_path, telegram_chat(*messages), odd=odd)
    assert [one.message.text for one in placed] == ["When?\n- Now\n- Never", "52.5, 13.4"]
    assert odd == {"service messages": 1, "messages with a file or picture alone": 2}


def test_an_edited_message_is_another_one_and_replies_are_located(tmp_path: Path) -> None:
    group = telegram_chat(
        telegram_message(1, "Mila/user7", "a", edited_unixtime="1769936500"),
        telegram_message(2, "Jo/user9", "b", reply_to_message_id=1),
        type="private_supergroup", id=77,
    )  # fmt: skip
    placed = read(tmp_path, group)
    assert [one.message.id for one in placed] == ["1@1769936500", "2"]
    assert placed[1].origin == {"id": 2, "reply_to": 1, "url": "https://t.me/c/77/2"}


def test_deleted_accounts_and_people_called_alike_stay_apart(tmp_path: Path) -> None:
    gone: dict[str, Any] = {"from": None}
    group = telegram_chat(
        telegram_message(1, "Mila/user7", "a"), telegram_message(2, "Mila/user8", "b"),
        telegram_message(3, "/user5", "c", **gone), telegram_message(4, "/user6", "d", **gone),
        type="private_group", id=77,
    )  # fmt: skip
    assert [name for name, _ in speakers(read(tmp_path, group))] == [
        "Mila", "Mila (user8)", "Deleted account", "Deleted account (user6)",
    ]  # fmt: skip


def test_an_old_export_has_numbers_for_people(tmp_path: Path) -> None:
    old = [telegram_message(1, "Mila/", "a", from_id=7), telegram_message(2, "Jo/", "b", from_id=9)]
    assert speakers(read(tmp_path, telegram_chat(*old))) == [("Mila", "other"), ("Jo", "user")]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"date": "yesterday"}, "message id 1: 'yesterday' is not a time"),
        ({"date_unixtime": "soon"}, "message id 1: 'soon' is not a time"),
        ({"text": 7}, r"message 0: Expected .*text"),
        ({"text": [7]}, r"message 0: Expected .*text"),
        ({"id": None}, r"message 0: Expected .*id"),
        ({"from": ["Mila"]}, r"message 0: Expected .*from"),
        ({"poll": "which?"}, r"message 0: Expected .*poll"),
    ],
)
def test_a_message_of_another_form_is_named(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(BadFileError, match=f"^result.json, chat 7, {says}"):
        read(tmp_path, telegram_chat(telegram_message(1, "Mila/user7", "a") | wrong))


def test_a_chat_without_messages_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="chats 0, messages"):
        read(tmp_path, {"chats": {"list": [{"name": "x", "id": 1}]}})
