"""Claude: texts and blocks, thoughts and tools, attachments, branches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.claude import Claude
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import claude_message, claude_talk, write

SAID, TALK = claude_message, claude_talk


def read(tmp_path: Path, export: object, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    with opened(write(tmp_path / "conversations.json", export), None) as bundle:  # type: ignore[arg-type]
        assert Claude().detect(bundle).sure > 0.9
        return list(Claude().read(bundle, Reading(odd=Counter() if odd is None else odd)))


def said(placed: list[Placed]) -> list[tuple[str, str]]:
    return [(one.message.role, one.message.text) for one in placed]


def test_a_talk_has_its_roles_times_and_address(tmp_path: Path) -> None:
    first, second = read(tmp_path, [TALK(SAID("m1", "human", "Hi"), SAID("m2", "assistant", "Hello"))])
    assert said([first, second]) == [("user", "Hi"), ("assistant", "Hello")]
    assert (first.message.said_at, first.message.id) == ("2026-02-01T10:00:01.000000Z", "m1")
    assert (second.message.speaker, second.message.conversation, second.title) == ("Claude", "claude:t1", "Otters")
    assert second.origin == {"id": "m2", "url": "https://claude.ai/chat/t1"}


def test_blocks_count_more_than_the_text_and_become_traces(tmp_path: Path) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "They ask of otters."},
        {"type": "tool_use", "name": "search", "input": {"q": "otter"}},
        {
            "type": "tool_result",
            "name": "search",
            "content": [{"type": "text", "text": "They swim."}, {"type": "image"}],
        },
        {"type": "text", "text": "They swim,"},
        {"type": "token_budget"},
        {"type": "text", "text": "and sleep."},
    ]
    placed = read(tmp_path, [TALK(SAID("m1", "assistant", "This block is not supported.", content=blocks))])
    assert said(placed) == [
        ("thinking", "They ask of otters."), ("tool", 'search: {"q":"otter"}\nThey swim.'),
        ("assistant", "They swim,\n\nand sleep."),
    ]  # fmt: skip
    assert [one.message.id for one in placed] == ["m1:thinking", "m1:tools", "m1"]


@pytest.mark.parametrize("content", [None, [], [{"type": "tool_use", "name": "x", "input": None}]])
def test_without_blocks_of_text_the_text_counts(tmp_path: Path, content: object) -> None:
    assert said(read(tmp_path, [TALK(SAID("m1", "human", "Hi", content=content))]))[-1] == ("user", "Hi")


def test_the_text_of_an_attachment_is_not_the_owners(tmp_path: Path) -> None:
    message = SAID(
        "m1", "human", "Look at it.",
        attachments=[{"file_name": "report.txt", "extracted_content": "I live in Rome."}, {"file_name": "empty.txt"}],
        files=[{"file_name": "otter.png"}],
    )  # fmt: skip
    first, second = read(tmp_path, [TALK(message)])
    assert (second.message.speaker, second.message.role, second.message.text) == (
        "report.txt",
        "other",
        "I live in Rome.",
    )
    assert second.message.id == "m1:attachment:0"
    assert first.origin["files"] == ["otter.png", "report.txt", "empty.txt"]


def test_of_branches_the_path_to_the_last_message_is_read(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    talk = TALK(
        SAID("m1", "human", "Hi", parent_message_uuid="00000000-0000-4000-8000-000000000000"),
        SAID("m2", "assistant", "the first", parent_message_uuid="m1"),
        SAID("m3", "assistant", "the second", parent_message_uuid="m1"),
        SAID("m4", "human", "Thanks", parent_message_uuid="m3"),
    )
    assert said(read(tmp_path, [talk], odd)) == [("user", "Hi"), ("assistant", "the second"), ("user", "Thanks")]
    assert odd == {"messages on branches that are not shown": 1}
    assert said(read(tmp_path, [talk | {"current_leaf_message_uuid": "m2"}]))[-1] == ("assistant", "the first")


def test_talks_without_words_and_one_talk_alone(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    assert read(tmp_path, [TALK(), TALK(SAID("m1", "human", " "))], odd) == []
    assert odd == {"messages without words": 1}
    assert said(read(tmp_path, TALK(SAID("m1", "human", "Hi")))) == [("user", "Hi")]


CIRCLE = TALK(
    SAID("m1", "human", "a", parent_message_uuid="m2"), SAID("m2", "human", "b", parent_message_uuid="m1"),
    SAID("m3", "human", "c", parent_message_uuid="m1"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("talk", "says"),
    [
        (CIRCLE, "the messages go round in a circle"),
        (TALK(SAID("m1", "captain", "x")), "message m1: the sender 'captain' is not one of"),
        (TALK(SAID("m1", "human", "x") | {"uuid": 7}), "Expected `str`, got `int`"),
        (TALK({"sender": "human", "text": "x"}), "missing required field `uuid`"),
        (TALK(SAID("m1", "human", "x", content="y")), "Expected `array .*content"),
        (TALK(SAID("m1", "human", "x", attachments=[7])), "Expected `object`, got `int`"),
        ({"uuid": "t", "chat_messages": {}}, "Expected `array`, got `object`"),
        ({"chat_messages": []}, "missing required field `uuid`"),
    ],
)
def test_a_talk_of_another_form_is_named(tmp_path: Path, talk: dict[str, Any], says: str) -> None:
    with pytest.raises(BadFileError, match=rf"^conversations\.json, conversation 0.*{says}"):
        read(tmp_path, [talk])


def test_what_claude_remembers_is_its_own_words(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    export = [
        {"conversations_memory": "**Work**\n\nJo likes otters.", "project_memories": {"p1": "A pond.", "p2": " "},
         "account_uuid": "x"},
    ]  # fmt: skip
    first, second = read(tmp_path, export, odd)
    assert said([first, second]) == [("assistant", "**Work**\n\nJo likes otters."), ("assistant", "A pond.")]
    assert [one.message.conversation for one in (first, second)] == ["claude:memory", "claude:project:p1"]
    assert second.origin == {"memory": "p1", "url": "https://claude.ai/project/p1"}
    assert odd == {"memories without a time: that of the file counts": 2}
    assert said(read(tmp_path, {"conversations_memory": "Later.", "memory_files": []})) == [("assistant", "Later.")]


def test_of_projects_instructions_are_traces_and_documents_are_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    project = {
        "uuid": "p1", "name": "Pond", "description": "A pond for otters.", "prompt_template": "Be brief.",
        "created_at": "2026-02-01T10:00:00Z", "docs": [{"uuid": "d", "filename": "a.md", "content": "I live in Rome."}],
    }  # fmt: skip
    empty = {"uuid": "p2", "prompt_template": "", "docs": []}
    for export in ([project, empty], project):
        placed = read(tmp_path, export, odd)
        assert said(placed) == [("user", "A pond for otters."), ("system", "Be brief.")]
        assert (placed[0].message.said_at, placed[0].title) == ("2026-02-01T10:00:00Z", "Pond")
    assert odd == {"documents of projects": 2}
