"""WhatsApp: orders of dates, twelve and twenty-four hours, lines of the program, long messages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.whatsapp import WhatsApp
from tests.chats import packed, write


def read(tmp_path: Path, chat: str, *me: str, odd: Counter[str] | None = None, name: str = "chat.txt") -> list[Placed]:
    """The messages of a chat."""
    reading = Reading(frozenset(me), odd=Counter() if odd is None else odd)
    with opened(write(tmp_path / name, chat), None) as bundle:  # type: ignore[arg-type]
        assert WhatsApp().detect(bundle).sure > 0.8
        return list(WhatsApp().read(bundle, reading))


@pytest.mark.parametrize(
    ("chat", "said_at"),
    [
        ("12/05/2025, 18:31 - Mila: a\n14/05/2025, 18:31 - Jo: b\n", "2025-05-12T18:31:00"),
        ("5/12/25, 6:31\u202fPM - Mila: a\n5/14/25, 12:31\u202fAM - Jo: b\n", "2025-05-12T18:31:00"),
        ("[12.05.25, 18:31:07] Mila: a\n[12.05.25, 18:32:00] Jo: b\n", "2025-05-12T18:31:07"),
        ("\u200e[2025-05-12, 6:31:07 p.m.] Mila: a\n", "2025-05-12T18:31:07"),
        ("2025/05/12, 18:31 - Mila: a\n", "2025-05-12T18:31:00"),
        ("12-05-25 18:31 - Mila: a\n13-05-25 18:31 - Mila: b\n", "2025-05-12T18:31:00"),
        ("1/2/25, 10:00 - Mila: a\n1/3/25, 10:00 - Mila: b\n2/1/25, 10:00 - Mila: c\n", "2025-01-02T10:00:00"),
        ("12.5.2025, 18.31 - Mila: a\n30.5.2025, 8.02 - Jo: b\n", "2025-05-12T18:31:00"),
        ("5/6/25, 6:31 PM - Mila: a\n", "2025-05-06T18:31:00"),
        ("05/06/2025, 18:31 - Mila: a\n", "2025-06-05T18:31:00"),
    ],
)
def test_times_in_the_formats_of_phones(tmp_path: Path, chat: str, said_at: str) -> None:
    assert read(tmp_path, chat)[0].message.said_at == said_at


def test_an_order_that_cannot_be_told_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="whether the day or the month comes first"):
        read(tmp_path, "5/6/2025, 18:31 - Mila: a\n")


def test_a_message_of_several_lines_and_with_colons(tmp_path: Path) -> None:
    chat = "13/05/2025, 18:31 - Mila: To buy:\n\n- milk: 1 l\n  12:30 o'clock\n13/05/2025, 18:32 - Jo: ok\n"
    first, second = read(tmp_path, chat)
    assert first.message.text == "To buy:\n\n- milk: 1 l\n  12:30 o'clock"
    assert (first.origin, second.origin) == ({"line": 1}, {"line": 5})


def test_the_programs_own_lines_and_media_are_left_out(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    chat = (
        "13/05/2025, 18:30 - Messages and calls are end-to-end encrypted.\n"
        "13/05/2025, 18:31 - Mila created group Garden\n"
        "13/05/2025, 18:32 - Mila: <Media omitted>\n"
        "13/05/2025, 18:33 - Mila: <Medien ausgeschlossen>\n"
        "13/05/2025, 18:34 - Jo: \u200eimage omitted\n"
        "13/05/2025, 18:35 - Jo: IMG-7.jpg (file attached)\n"
        "13/05/2025, 18:36 - Jo: I <3 otters\n"
        "13/05/2025, 18:37 - Jo:\n"
    )
    assert [one.message.text for one in read(tmp_path, chat, odd=odd)] == ["I <3 otters"]
    assert odd == {"messages with a file or picture alone": 5, "service messages": 2}


def test_who_speaks_and_the_owner(tmp_path: Path) -> None:
    chat = (
        "13/05/2025, 18:31 - ~\u202fMila Horn: a\n13/05/2025, 18:32 - +49 170 1234567: b\n13/05/2025, 18:33 - Jo: c\n"
    )
    assert [(one.message.speaker, one.message.role) for one in read(tmp_path, chat, "jo")] == [
        ("Mila Horn", "other"), ("+49 170 1234567", "other"), ("Jo", "user"),
    ]  # fmt: skip


def test_the_same_words_in_a_minute_are_two_messages_and_a_longer_export_keeps_the_ids(tmp_path: Path) -> None:
    chat = "13/05/2025, 18:31 - Mila: ok\n13/05/2025, 18:31 - Mila: ok\n"
    ids = [one.message.id for one in read(tmp_path, chat)]
    assert len(set(ids)) == 2
    later = read(tmp_path, f"{chat}14/05/2025, 18:31 - Mila: ok\n")
    assert [one.message.id for one in later][:2] == ids


@pytest.mark.parametrize("name", ["WhatsApp Chat with Mila.txt", "WhatsApp Chat - Mila.txt", "Mila.txt"])
def test_a_chat_is_called_after_its_file(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, "13/05/2025, 18:31 - Mila: a\n", name=name)[0].message.conversation == "whatsapp:Mila"


def test_the_iphones_chat_is_called_after_its_zip_file(tmp_path: Path) -> None:
    files = {"_chat.txt": "[13.05.25, 18:31:07] Mila: a\r\n[13.05.25, 18:31:09] Jo: b\r\n"}
    path = packed(tmp_path / "WhatsApp Chat - Mila.zip", files)
    assert [(message.conversation, message.text) for _, message in read_messages(path)] == [
        ("whatsapp:Mila", "a"), ("whatsapp:Mila", "b"),
    ]  # fmt: skip
    unpacked = [write(tmp_path / str(day) / "_chat.txt", f"[{day}.05.25, 18:31:07] Mila: a\n") for day in (13, 14)]
    assert len({message.conversation for path in unpacked for _, message in read_messages(path)}) == 2


@pytest.mark.parametrize(
    ("chat", "says"),
    [
        ("13/05/2025, 18:31 - Mila: a\n32/05/2025, 18:31 - Jo: b\n", "no order that is known"),
        ("13/05/2025, 18:31 - Mila: a\n14/05/2025, 25:99 - Jo: b\n", "no order that is known"),
        ("13/05/2025, 18:31 - Mila: a\n14/13/2025, 18:31 - Jo: b\n", "no order that is known"),
    ],
)
def test_times_that_are_none_are_refused(tmp_path: Path, chat: str, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        read(tmp_path, chat)


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.txt", b"13/05/2025, 18:31 - Mila: a\n13/05/2025, 18:32 - Mila: caf\xe9\n")
    with pytest.raises(BadFileError, match="line 2: It is not UTF-8"):
        list(read_messages(path))


def test_a_diary_with_dates_is_no_chat(tmp_path: Path) -> None:
    with pytest.raises(SourceUnknownError):
        list(read_messages(write(tmp_path / "diary.txt", "13/05/2025, 18:31 - it rained\n")))
