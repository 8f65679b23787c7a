"""Skype and Teams: kinds of messages, quotes, edits, deletions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.skype import Skype
from tests.chats import skype, skype_message, write

SAID = skype_message


def read(tmp_path: Path, export: object, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    with opened(write(tmp_path / "messages.json", export), None) as bundle:  # type: ignore[arg-type]
        assert Skype().detect(bundle).sure > 0.9
        return list(Skype().read(bundle, Reading(odd=Counter() if odd is None else odd)))


def text(tmp_path: Path, content: str, **more: Any) -> str:
    [one] = read(tmp_path, skype(SAID(1, "mila", content, **more)))
    return one.message.text


def test_a_message_has_its_conversation_sender_and_time(tmp_path: Path) -> None:
    first, second = read(tmp_path, skype(SAID(2, "jo", "Thanks!"), SAID(1, "mila", "The key.")))
    assert [(one.message.speaker, one.message.role, one.message.text) for one in (first, second)] == [
        ("Mila", "other", "The key."), ("", "user", "Thanks!"),
    ]  # fmt: skip
    assert (first.message.conversation, first.title, first.message.id) == ("skype:8:mila", "Mila", "1")
    assert (first.message.said_at, first.origin) == ("2026-02-01T09:00:01.5Z", {"id": "1"})


def test_a_group_has_a_topic_and_people_of_one_name(tmp_path: Path) -> None:
    export = skype(
        SAID(3, "live:ana", "c"), SAID(2, "live:x", "b", displayName="Mila"),
        SAID(1, "live:y", "a", displayName="Mila"),
        id="19:g@thread.skype", displayName=None, threadProperties={"topic": "Garden"},
    )  # fmt: skip
    placed = read(tmp_path, export)
    assert [one.message.speaker for one in placed] == ["Mila", "Mila (8:live:x)", "live:ana"]
    assert {one.title for one in placed} == {"Garden"}


@pytest.mark.parametrize(
    ("content", "kind", "says"),
    [
        ("one\ntwo &amp; <b>three</b> <ss type='smile'>:)</ss>", "RichText", "one\ntwo & three :)"),
        ("a <b>b & c", "Text", "a <b>b & c"),
        ("<p>one</p>\n<p>two</p>", "RichText/Html", "one\n\ntwo"),
        ("New words<e_m ts='1' a='mila' t='61'></e_m>", "RichText", "New words"),
        ("<at id='8:jo'>Jo</at>, שלום", "RichText", "Jo, שלום"),
        ("<quote author='jo'><legacyquote>[1] Jo: </legacyquote>Rome.</quote>Me too.", "RichText", "Me too."),
        (
            '<blockquote itemtype="http://schema.skype.com/Reply"><p>Rome.</p></blockquote><p>No.</p>',
            "RichText/Html", "No.",
        ),
        ("see <a href='https://x.org'>https://x.org</a>", "RichText", "see https://x.org"),
    ],
)  # fmt: skip
def test_the_words_of_a_message(tmp_path: Path, content: str, kind: str, says: str) -> None:
    assert text(tmp_path, content, messagetype=kind) == says


def test_edits_have_another_id(tmp_path: Path) -> None:
    [one] = read(tmp_path, skype(SAID(1, "mila", "New", properties={"edittime": "177"})))
    assert one.message.id == "1@177"


def test_what_nobody_wrote_is_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    export = skype(
        SAID(5, "mila", "<URIObject>x</URIObject>", messagetype="RichText/UriObject"),
        SAID(4, "mila", "x", messagetype="RichText/Media_Video"), SAID(3, "mila", "x", messagetype="Event/Call"),
        SAID(2, "mila", "x", messagetype="ThreadActivity/AddMember"),
        SAID(1, "mila", "", properties={"deletetime": "1"}),
    )  # fmt: skip
    assert read(tmp_path, export, odd) == []
    assert odd == {"messages with a file or picture alone": 2, "service messages": 3}


def test_unknown_fields_and_empty_conversations(tmp_path: Path) -> None:
    assert read(tmp_path, skype(version=1.5, properties={"x": 1})) == []


@pytest.mark.parametrize(
    ("export", "says"),
    [
        (skype(SAID(1, "mila", "x", id=7)), "conversation 0, message 0: Expected `str`"),
        (skype(SAID(1, "mila", "x", id="")), "a message without an id"),
        (skype(displayName=7), "conversation 0: Expected `str"),
        (skype() | {"userId": None}, "userId: Expected `str`"),
        ({"conversations": [{"MessageList": []}]}, "another form than those that are known"),
        ({"userId": "8:jo", "conversations": []}, "no messages"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, export: object, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "messages.json", export)))
