"""Slack: members, zones, threads, marks of the text, bots, and exports that lack something."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.slack import Slack
from tests.chats import packed, slack, slack_message, tree

FIRST, SECOND = "1769936400.000100", "1769936401.000200"


def read(tmp_path: Path, files: dict[str, object], *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    with opened(tree(tmp_path / "export", files), None) as bundle:  # type: ignore[arg-type]
        found = Slack().detect(bundle)
        assert found.sure > 0.9
        reading = Reading(frozenset(me), odd=Counter() if odd is None else odd)
        return list(Slack().read(bundle.narrowed(found.files), reading))


def test_two_people_are_two_people_at_their_own_times(tmp_path: Path) -> None:
    files = slack(slack_message(FIRST, "U1", "I live in Oslo."), slack_message(SECOND, "U2", "I live in Rome."))
    assert [(one.message.speaker, one.message.role, one.message.said_at) for one in read(tmp_path, files)] == [
        ("Mila", "other", "2026-02-01T10:00:00.000100+01:00"), ("Jo Berg", "other", "2026-02-01T18:00:01.000200+09:00"),
    ]  # fmt: skip


@pytest.mark.parametrize("me", ["mila", "mila horn", "u1"])
def test_the_owner_is_known_by_each_name(tmp_path: Path, me: str) -> None:
    files = slack(slack_message(FIRST, "U1", "a"), slack_message(SECOND, "U2", "b"))
    assert [one.message.role for one in read(tmp_path, files, me)] == ["user", "other"]


def test_the_marks_of_a_text_become_words(tmp_path: Path) -> None:
    text = (
        "<@U2> and <@U9|Ann>: &lt;see&gt; <https://example.org|this> &amp; <https://example.org/b> "
        "in <#C1> <#C7|oak> <!here>"
    )
    [one] = read(tmp_path, slack(slack_message(FIRST, "U1", text)))
    assert one.message.text == (
        "@Jo Berg and @Ann: <see> this (https://example.org) & https://example.org/b in #garden #oak @here"
    )


def test_a_thread_is_a_session_and_days_are_in_order(tmp_path: Path) -> None:
    files = slack(
        slack_message(SECOND, "U2", "the answer", thread_ts=FIRST),
        slack_message(FIRST, "U1", "the question", thread_ts=FIRST, reply_count=1),
        **{"garden/2026-01-31.json": [slack_message("1769850000.000100", "U1", "before")]},
    )
    placed = read(tmp_path, files)
    assert [(one.message.text, one.message.session) for one in placed] == [
        ("before", ""), ("the question", f"thread {FIRST}"), ("the answer", f"thread {FIRST}"),
    ]  # fmt: skip
    assert placed[2].origin == {"id": SECOND, "day": "garden/2026-02-01.json", "reply_to": FIRST}


def test_bots_are_traces_and_joining_is_left_out(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    files = slack(
        slack_message(FIRST, "U2", "<@U2> has joined", subtype="channel_join"),
        {"type": "message", "subtype": "bot_message", "ts": SECOND, "bot_id": "B1", "username": "Deploy", "text": "",
         "attachments": [{"fallback": "Done."}]},
        slack_message("1769936402.000100", "U3", "Built."),
        slack_message("1769936403.000100", "U1", "", files=[{"name": "plan.pdf"}, None]),
        slack_message("1769936404.000100", "U1", "Here.", files=[{"name": "plan.pdf"}]),
    )  # fmt: skip
    placed = read(tmp_path, files, odd=odd)
    assert [(one.message.speaker, one.message.role, one.message.text) for one in placed] == [
        ("Deploy", "tool", "Done."), ("Builder", "tool", "Built."), ("Mila", "other", "Here."),
    ]  # fmt: skip
    assert placed[2].origin["files"] == ["plan.pdf"]
    assert odd == {"service messages": 1, "messages with a file or picture alone": 1}


def test_direct_messages_are_called_after_their_people(tmp_path: Path) -> None:
    files = slack(
        **{
            "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
            "D1/2026-02-01.json": [slack_message(FIRST, "U1", "a")],
            "garden/2026-02-01.json": [slack_message(FIRST, "U1", "b")],
        }
    )
    assert [(one.message.conversation, one.title) for one in read(tmp_path, files)] == [
        ("slack:D1", "Mila, Jo Berg"), ("slack:C1", "#garden"),
    ]  # fmt: skip


def test_an_export_without_channels_json_and_a_member_who_is_not_listed(tmp_path: Path) -> None:
    files = slack(slack_message(FIRST, "U8", "a", user_profile={"real_name": "Ann"}), slack_message(SECOND, "U9", "b"))
    del files["channels.json"]
    assert [(one.message.conversation, one.message.speaker) for one in read(tmp_path, files)] == [
        ("slack:garden", "Ann"), ("slack:garden", "U9"),
    ]  # fmt: skip


def test_an_export_in_a_folder_of_a_zip_file(tmp_path: Path) -> None:
    files = {f"team export/{name}": content for name, content in slack(slack_message(FIRST, "U1", "a")).items()}
    assert [message.text for _, message in read_messages(packed(tmp_path / "export.zip", files))] == ["a"]


def test_an_edited_message_is_another_one(tmp_path: Path) -> None:
    [one] = read(tmp_path, slack(slack_message(FIRST, "U1", "a", edited={"user": "U1", "ts": SECOND})))
    assert one.message.id == f"{FIRST}@{SECOND}"


def test_a_day_alone_does_not_say_who_speaks_and_is_refused(tmp_path: Path) -> None:
    files = slack(slack_message(FIRST, "U1", "I live in Oslo."), slack_message(SECOND, "U2", "I live in Rome."))
    day = tree(tmp_path, files) / "garden" / "2026-02-01.json"
    with pytest.raises(SourceUnknownError, match="a part of an export of Slack") as caught:
        list(read_messages(day))
    assert "users.json" in caught.value.advice


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (slack(slack_message("noon", "U1", "a")), "message 0: 'noon' is not a time"),
        (slack(slack_message("inf", "U1", "a")), "message 0: inf is not a time"),
        (slack(slack_message(FIRST, "U1", "a", thread_ts=7)), "message 0: Expected .*thread_ts"),
        (slack(slack_message(FIRST, "U1", "a"), **{"users.json": {"U1": "Mila"}}), "users.json: Expected `array`"),
        (slack(slack_message(FIRST, "U1", "a"), **{"users.json": [{"name": "Mila"}]}), "users.json: .*`id`"),
        (slack(slack_message(FIRST, "U1", "a"), **{"channels.json": b"[{"}), "channels.json: "),
        (slack(slack_message(FIRST, "U1", "a"), **{"garden/2026-02-02.json": b"\xff"}), "2026-02-02.json: "),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_named(tmp_path: Path, files: dict[str, Any], says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        read(tmp_path, files)
