"""iMessage: the text of imessage-exporter, with replies, reactions, edits and notes of the program."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.imessage import IMessage
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import write


def read(tmp_path: Path, chat: str, *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a chat."""
    with opened(write(tmp_path / "+49170.txt", chat), None) as bundle:  # type: ignore[arg-type]
        assert IMessage().detect(bundle).sure > 0.9
        return list(IMessage().read(bundle, Reading(frozenset(me), odd=Counter() if odd is None else odd)))


def said(placed: list[Placed]) -> list[tuple[str, str]]:
    return [(one.message.speaker, one.message.text) for one in placed]


def sent(second: int, who: str, text: str, note: str = "") -> str:
    return f"Feb 01, 2026  9:00:{second:02} PM{note}\n{who}\n{text}\n\n"


def test_a_message_has_its_chat_sender_and_time(tmp_path: Path) -> None:
    first, second = read(
        tmp_path, sent(1, "Mila", "The key.") + sent(2, "Me", "Thanks!", " (Read by them after 1 hour)")
    )
    assert said([first, second]) == [("Mila", "The key."), ("Me", "Thanks!")]
    assert [first.message.role, second.message.role] == ["other", "user"]
    assert (first.message.conversation, first.message.said_at) == ("imessage:+49170", "2026-02-01T21:00:01")
    assert second.origin == {"line": 5}


def test_several_lines_and_blank_ones(tmp_path: Path) -> None:
    chat = sent(1, "Mila", "To buy:\n\n- milk\n    indented") + sent(2, "+49171", "שלום")
    assert said(read(tmp_path, chat)) == [("Mila", "To buy:\n\n- milk\n    indented"), ("+49171", "שלום")]


def test_replies_are_read_in_their_own_place_once(tmp_path: Path) -> None:
    chat = (
        "Feb 01, 2026  9:00:01 PM\nMila\nWhere?\n    Feb 01, 2026  9:05:00 PM\n    Me\n    There.\n\n\n"
        + sent(2, "Mila", "Hello?")
        + "Feb 01, 2026  9:05:00 PM\nMe\nThere.\nThis message responded to an earlier message.\n\n"
    )
    assert said(read(tmp_path, chat)) == [("Mila", "Where?"), ("Mila", "Hello?"), ("Me", "There.")]


def test_reactions_effects_and_notes_are_no_words(tmp_path: Path) -> None:
    chat = (
        sent(1, "Mila", "The key.\nTapbacks:\nLoved by Me\n😂 by Jo Berg")
        + sent(2, "Mila", "Party!\nSent with Confetti")
        + sent(3, "Mila", "Gone.\nThis message was deleted from the conversation!")
    )
    assert said(read(tmp_path, chat)) == [("Mila", "The key."), ("Mila", "Party!"), ("Mila", "Gone.")]


def test_files_are_named_and_alone_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    chat = sent(1, "Mila", "Look\nattachments/4/IMG_7.heic") + sent(
        2, "Mila", "~/Library/Messages/Attachments/a b/c.png"
    )
    [one] = read(tmp_path, chat, odd=odd)
    assert (one.message.text, one.origin["files"]) == ("Look", ["IMG_7.heic"])
    assert odd == {"messages with a file or picture alone": 1}


def test_of_an_edited_message_the_last_words_count(tmp_path: Path) -> None:
    chat = sent(
        1,
        "Mila",
        "Feb 01, 2026  9:00:01 PM The kye.\nEdited 5 seconds later: The kex.\nEdited 1 minute later: The key.",
    )
    assert said(read(tmp_path, chat)) == [("Mila", "The key.")]


def test_lines_of_the_program_are_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    chat = (
        "Feb 01, 2026  8:00:00 PM You renamed the conversation to Garden\n\n" + sent(1, "Mila", "Hi")
        + "Feb 01, 2026  9:01:00 PM Mila added Jo to the conversation.\n\n" + sent(2, "Mila", "They unsent a message.")
    )  # fmt: skip
    assert said(read(tmp_path, chat, odd=odd)) == [("Mila", "Hi")]
    assert odd == {"service messages": 2, "messages with a file or picture alone": 1}


def test_the_owner_may_have_another_name_than_me(tmp_path: Path) -> None:
    assert [one.message.role for one in read(tmp_path, sent(1, "Jo", "a") + sent(2, "Mila", "b"), "jo")] == [
        "user",
        "other",
    ]


def test_the_same_words_in_a_second_are_two_messages_and_a_longer_export_keeps_the_ids(tmp_path: Path) -> None:
    chat = sent(1, "Mila", "ok") * 2
    ids = [one.message.id for one in read(tmp_path, chat)]
    assert len(set(ids)) == 2
    assert [one.message.id for one in read(tmp_path, chat + sent(2, "Mila", "ok"))][:2] == ids


def test_a_broken_end(tmp_path: Path) -> None:
    assert said(read(tmp_path, sent(1, "Mila", "Hi") + "Feb 01, 2026  9:00:02 PM\n")) == [("Mila", "Hi")]


@pytest.mark.parametrize(
    ("chat", "says"),
    [
        (
            sent(1, "Mila", "a") + sent(2, "Mila", "b").replace("Feb 01", "Feb 31"),
            "line 5: 'Feb 31, 2026  9:00:02 PM' is not",
        ),
        (sent(1, "Mila", "a").encode() + b"caf\xe9\n", "line 5: It is not UTF-8"),
        ("Feb 01, 2026  9:00:01 PM it rained\n", "another form than those that are known"),
        ("Dear diary,\nFeb 01, 2026  9:00:01 PM\nMila\nHi\n", "plain text"),
    ],
)
def test_other_texts_are_refused(tmp_path: Path, chat: str | bytes, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "chat.txt", chat)))
