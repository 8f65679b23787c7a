"""ChatGPT: the path that is shown, forms of content, roles, pictures, times."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.chatgpt import ChatGpt
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import chatgpt_node, chatgpt_talk, write

NODE, TALK = chatgpt_node, chatgpt_talk


def read(tmp_path: Path, export: object, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    reading = Reading(zone=ZoneInfo("Europe/Berlin"), odd=Counter() if odd is None else odd)
    with opened(write(tmp_path / "conversations.json", export), None) as bundle:  # type: ignore[arg-type]
        assert ChatGpt().detect(bundle).sure > 0.9
        return list(ChatGpt().read(bundle, reading))


def said(placed: list[Placed]) -> list[tuple[str, str]]:
    return [(one.message.role, one.message.text) for one in placed]


def test_the_shown_path_is_read_and_other_branches_are_kept_as_traces(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    talk = TALK(
        NODE("u1", "root", "user", "Hi"),
        NODE("a1", "u1", "assistant", "the first answer"),
        NODE("a2", "u1", "assistant", "the second answer"),
        NODE("u2", "a1", "user", "Thanks"),
    )
    placed = read(tmp_path, [talk], odd)
    assert said(placed) == [
        ("user", "Hi"), ("assistant", "the first answer"), ("user", "Thanks"), ("assistant", "the second answer"),
    ]  # fmt: skip
    assert [one.is_trace for one in placed] == [False, False, False, True]
    assert (placed[3].message.conversation, placed[3].title) == ("chatgpt:t1:branches", "Otters (other branches)")
    assert odd == {"messages on branches that are not shown: kept as traces": 1}
    later = read(tmp_path, [talk | {"current_node": "a2"}])
    assert [one.message.text for one in later if not one.is_trace] == ["Hi", "the second answer"]


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_current_node_the_newest_end_counts(tmp_path: Path, current: str | None) -> None:
    talk = TALK(
        NODE("u1", "root", "user", "Hi", 1.0), NODE("a2", "u1", "assistant", "new", 9.0),
        NODE("a1", "u1", "assistant", "old", 2.0), current_node=current,
    )  # fmt: skip
    assert said(read(tmp_path, [talk]))[:2] == [("user", "Hi"), ("assistant", "new")]


def test_forms_of_content_and_their_roles(tmp_path: Path) -> None:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Think", "content": "of otters"}]}
    nodes = [
        NODE("n1", "root", "system", ""),
        NODE(
            "n2",
            "n1",
            "user",
            {"content_type": "user_editable_context", "user_profile": "I am Jo.", "user_instructions": "Be brief."},
        ),
        NODE("n3", "n2", "user", "Draw."),
        NODE("n4", "n3", "assistant", thoughts),
        NODE(
            "n5",
            "n4",
            "assistant",
            {"content_type": "code", "language": "python", "text": "print(1)"},
            recipient="python",
        ),
        NODE("n6", "n5", "tool", {"content_type": "execution_output", "text": "1"}),
        NODE("n7", "n6", "assistant", {"content_type": "code", "language": "c", "text": "int x;"}),
        NODE("n8", "n7", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 5 s"}),
        NODE(
            "n9",
            "n8",
            "tool",
            {"content_type": "tether_quote", "title": "Otters", "text": "They swim.", "url": "https://example.org"},
        ),
        NODE("n10", "n9", "user", "secret", metadata={"is_visually_hidden_from_conversation": True}),
        NODE(
            "n11",
            "n10",
            "assistant",
            {
                "content_type": "text",
                "parts": ["Done.", None, {"content_type": "audio_transcription", "text": "Spoken."}],
            },
        ),
    ]
    assert said(read(tmp_path, [TALK(*nodes)])) == [
        ("system", "I am Jo.\nBe brief."), ("user", "Draw."), ("thinking", "Think\nof otters"), ("tool", "print(1)"),
        ("tool", "1"), ("assistant", "int x;"), ("thinking", "Thought for 5 s"),
        ("tool", "Otters\nThey swim.\nhttps://example.org"), ("system", "secret"), ("assistant", "Done.\nSpoken."),
        ("user", "Be brief."), ("user", "I am Jo."),
    ]  # fmt: skip


def test_pictures_are_kept_by_reference_and_drawn_ones_by_their_prompt(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()

    def picture(prompt: str | None) -> dict[str, Any]:
        drawn = None if prompt is None else {"dalle": {"prompt": prompt}}
        return {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-7", "metadata": drawn}

    nodes = [
        NODE("n1", "root", "user", {"content_type": "multimodal_text", "parts": [picture(None), "What is it?"]},
             metadata={"attachments": [{"id": "file-7", "name": "otter.png"}]}),
        NODE("n2", "n1", "tool", {"content_type": "multimodal_text", "parts": [picture("an otter in a hat")]}),
        NODE("n3", "n2", "user", {"content_type": "multimodal_text", "parts": [picture(None)]}),
    ]  # fmt: skip
    first, second = read(tmp_path, [TALK(*nodes)], odd)
    assert (first.message.text, first.origin["pictures"]) == ("What is it?", ["file-service://file-7"])
    assert first.origin["files"] == ["otter.png"]
    assert first.origin["url"] == "https://chatgpt.com/c/t1"
    assert (second.message.caption, second.message.role) == ("an otter in a hat", "tool")
    assert odd == {"messages without words": 1}


def test_times_are_on_the_owners_clock_and_a_missing_one_is_that_before(tmp_path: Path) -> None:
    nodes = [
        NODE("n1", "root", "user", "a", 1_782_900_000.25), NODE("n2", "n1", "assistant", "b"),
        NODE("n3", "n2", "user", "c", 1_769_936_400.0),
    ]  # fmt: skip
    assert [one.message.said_at for one in read(tmp_path, [TALK(*nodes)])] == [
        "2026-07-01T12:00:00.250000+02:00", "2026-07-01T12:00:00.250000+02:00", "2026-02-01T10:00:00+01:00",
    ]  # fmt: skip


def test_one_talk_alone_and_talks_without_messages(tmp_path: Path) -> None:
    talk = TALK(NODE("n1", "root", "user", "a"))
    assert said(read(tmp_path, talk)) == [("user", "a")]
    assert said(read(tmp_path, [TALK(), {**talk, "mapping": {}}, talk])) == [("user", "a")]


def test_a_long_talk_is_read_whole(tmp_path: Path) -> None:
    nodes = [NODE(f"n{i}", f"n{i - 1}" if i else "root", "user", str(i)) for i in range(5_000)]
    assert [text for _, text in said(read(tmp_path, [TALK(*nodes)]))] == [str(i) for i in range(5_000)]


CIRCLE = TALK(NODE("a", "b", "user", "x"), NODE("b", "a", "user", "y"))


@pytest.mark.parametrize(
    ("talk", "says"),
    [
        (CIRCLE, "the messages go round in a circle"),
        (TALK(NODE("n1", "root", "captain", "x")), "the role 'captain' is not one of"),
        (TALK(NODE("n1", "root", "user", "x", 1e18)), "message n1: 1e.18 is not a time"),
        (TALK(NODE("n1", "root", "user", "x"), create_time=None), "message n1 has no time"),
        (TALK(NODE("n1", "root", "user", "x"), id=None, conversation_id=None), "has no id"),
        (TALK(NODE("n1", "root", "user", 7)), "Expected `object`, got `int`.*content"),
        (TALK(NODE("n1", "root", "user", "x"), title=["x"]), "Expected `str .*title"),
        ({"mapping": {"n": []}}, "Expected `object`, got `array`"),
    ],
)
def test_a_talk_of_another_form_is_named(tmp_path: Path, talk: dict[str, Any], says: str) -> None:
    with pytest.raises(BadFileError, match=rf"^conversations\.json, conversation 0.*{says}"):
        read(tmp_path, [talk])


def test_a_conversation_of_a_project_says_so(tmp_path: Path) -> None:
    node = NODE("u1", "root", "user", "Hi", 1.0)
    assert read(tmp_path, [TALK(node, gizmo_id="g-p-pond")])[0].origin["project"] == "g-p-pond"
    assert "project" not in read(tmp_path, [TALK(node, gizmo_id="g-otter")])[0].origin


def context(text: str) -> dict[str, str]:
    return {"content_type": "model_editable_context", "model_set_context": text}


def test_the_newest_saved_memories_are_chatgpts_words_with_their_days(tmp_path: Path) -> None:
    old = TALK(NODE("m1", "root", "assistant", context("1. [2024-05-01]. Lives in Lisbon."), 9.0), id="t2")
    memories = "1. [2024-05-01]. Likes:\n1. oak\n2. ash\n2. [2024-06-02]. Has a dog."
    new = TALK(
        NODE("m2", "root", "assistant", context(memories), 99.0),
        NODE("b", "m2", "assistant", "Jo sails.", 100.0, recipient="bio"),
    )  # fmt: skip
    placed = [one for one in read(tmp_path, [new, old]) if one.message.role != "system"]
    assert [(one.message.conversation, one.message.text, one.message.said_at) for one in placed] == [
        ("chatgpt:t1", "Jo sails.", "1970-01-01T01:01:40+01:00"),
        ("chatgpt:memories", "Likes:\n1. oak\n2. ash", "2024-05-01"),
        ("chatgpt:memories", "Has a dog.", "2024-06-02"),
    ]
    assert {(one.message.role, one.message.speaker, one.origin["memory"]) for one in placed} == {
        ("assistant", "ChatGPT", "saved")
    }
    again = read(tmp_path, [TALK(NODE("m3", "root", "assistant", context("1. Has a dog."), 999.0))])
    assert again[-1].message.id == placed[-1].message.id


def test_custom_instructions_are_the_users_words_once(tmp_path: Path) -> None:
    told = {"user_context_message_data": {"about_user_message": "I am Jo.", "about_model_message": ""}}
    fenced = {"content_type": "user_editable_context", "user_profile": "The user says:\n```I am Jo.```"}
    talks = [
        TALK(NODE("n1", "root", "user", fenced, 20.0)),
        TALK(NODE("n2", "root", "user", {"content_type": "user_editable_context"}, 10.0, metadata=told), id="t2"),
    ]
    placed = [one for one in read(tmp_path, talks) if one.message.role == "user"]
    assert [(one.message.text, one.message.said_at, one.title) for one in placed] == [
        ("I am Jo.", "1970-01-01T01:00:10+01:00", "Custom instructions")
    ]


def test_a_list_of_memories_is_read(tmp_path: Path) -> None:
    listed = [
        {"id": "m1", "content": "Has a dog.", "created_timestamp": 1_769_936_400, "updated_at": "2026-02-03T00:00:00Z"},
        {"id": "m2", "content": "Sails.", "updated_at": "2026-02-03T00:00:00Z"}, {"id": "m3", "content": " "},
    ]  # fmt: skip
    placed = read(tmp_path, {"memories": listed, "memory_num_tokens": 12})
    assert [(one.message.text, one.message.said_at) for one in placed] == [
        ("Has a dog.", "2026-02-01T10:00:00+01:00"), ("Sails.", "2026-02-03T00:00:00Z"),
    ]  # fmt: skip
