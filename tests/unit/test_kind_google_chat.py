"""Google Chat: people, bots, deletions, edits, times."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.google_chat import GoogleChat
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import google_message, write

SAID = google_message


def read(tmp_path: Path, *messages: dict[str, Any], me: str = "", odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a chat."""
    with opened(write(tmp_path / "messages.json", {"messages": messages}), None) as bundle:  # type: ignore[arg-type]
        assert GoogleChat().detect(bundle).sure > 0.9
        reading = Reading(frozenset({me}), odd=Counter() if odd is None else odd)
        return list(GoogleChat().read(bundle, reading))


def test_a_message_has_its_chat_sender_and_time(tmp_path: Path) -> None:
    first, second = read(tmp_path, SAID("1/1", "mila@x.org", "The key.\nHere."), SAID("1/2", "jo@x.org", "Thanks!"))
    assert (first.message.conversation, first.message.id) == ("google-chat:room", "room/1/1")
    assert (first.message.speaker, first.message.text) == ("Mila", "The key.\nHere.")
    assert first.message.said_at == "2026-02-01T09:00:01+00:00"
    assert second.origin == {"id": "room/1/2", "reply_to": "room/1/1"}


@pytest.mark.parametrize("me", ["mila", "mila@x.org"])
def test_the_owner_is_known_by_name_or_address(tmp_path: Path, me: str) -> None:
    assert read(tmp_path, SAID("1/1", "mila@x.org", "Hi"), me=me)[0].message.role == "user"


def test_two_people_of_one_name_bots_and_people_who_are_gone(tmp_path: Path) -> None:
    placed = read(
        tmp_path, SAID("1/1", "mila@x.org", "a"), SAID("2/2", "mila@y.org", "b"),
        SAID("3/3", "x@x.org", "c", creator={"name": "Builder", "user_type": "Bot"}),
        SAID("4/4", "x@x.org", "d", creator=None), SAID("5/5", "x@x.org", "e", creator={"email": "שי@x.org"}),
    )  # fmt: skip
    assert [(one.message.speaker, one.message.role) for one in placed] == [
        ("Mila", "other"), ("Mila (mila@y.org)", "other"), ("Builder", "tool"), ("unknown", "other"),
        ("שי@x.org", "other"),
    ]  # fmt: skip


def test_deletions_files_and_edits(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    files = [{"original_name": "otter.png", "export_name": "File-otter.png"}]
    placed = read(
        tmp_path, SAID("1/1", "m@x.org", "", attached_files=files),
        SAID("2/2", "m@x.org", "Look", attached_files=files),
        SAID("3/3", "m@x.org", "", message_state="DELETED"), SAID("4/4", "m@x.org", "x", deletion_metadata={"t": 1}),
        SAID("5/5", "m@x.org", "New", updated_date="later"), odd=odd,
    )  # fmt: skip
    assert [(one.message.text, one.message.id) for one in placed] == [("Look", "room/2/2"), ("New", "room/5/5@later")]
    assert placed[0].origin["files"] == ["otter.png"]
    assert odd == {"messages with a file or picture alone": 1, "service messages": 2}


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (SAID("1/1", "m@x.org", "x", created_date="dimanche 1 février 2026 à 09:00:01 UTC"), "not a time in English"),
        (SAID("1/1", "m@x.org", "x", message_id="room"), "'room' is not an id of a chat, a topic and a message"),
        (SAID("1/1", "m@x.org", "x", creator=7), "message 0: Expected `object"),
        ({"text": "x", "topic_id": "1"}, "another form than those that are known"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, message: dict[str, Any], says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "messages.json", {"messages": [message]})))
