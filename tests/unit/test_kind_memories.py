"""Memories of other systems: Mem0, Letta, Graphiti and Zep."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.registry import kind_called
from tests.chats import letta_agent, letta_message, write


def read(tmp_path: Path, kind: str, export: object, *me: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    with opened(write(tmp_path / "export.json", export), None) as bundle:  # type: ignore[arg-type]
        one = kind_called(kind)
        assert one.detect(bundle).sure > 0.9
        return list(one.read(bundle, Reading(frozenset(me), odd=Counter() if odd is None else odd)))


def said(placed: list[Placed]) -> list[tuple[str, str, str]]:
    return [(one.message.speaker, one.message.role, one.message.text) for one in placed]


# Mem0


def memory(identity: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": identity, "memory": text, "created_at": "2026-02-01T10:00:00-08:00", "user_id": "jo", **more}


@pytest.mark.parametrize("form", ["results", "memories", ""])
def test_a_memory_is_a_note_of_an_assistant(tmp_path: Path, form: str) -> None:
    rows = [memory("1", "Likes otters", hash="x", metadata=None, score=0.3, categories=["animals"])]
    [one] = read(tmp_path, "mem0", {form: rows} if form else rows)
    assert said([one]) == [("Mem0", "assistant", "Likes otters")]
    assert (one.message.conversation, one.message.id, one.title) == ("mem0:jo", "1", "Mem0, jo")
    assert (one.message.said_at, one.origin) == ("2026-02-01T10:00:00-08:00", {"id": "1", "tags": ["animals"]})


def test_changed_memories_have_another_id_and_times_may_be_numbers_or_missing(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    rows = [
        memory("1", "a", updated_at="2026-03-01"), memory("2", "b", updated_at="2026-02-01T10:00:00-08:00"),
        memory("3", "c", created_at=1_769_936_400, user_id=None, agent_id="sam"), memory("4", "חתול", created_at=None),
        memory("5", " "), memory("6", "gone", state="deleted"),
    ]  # fmt: skip
    placed = read(tmp_path, "mem0", rows, odd=odd)
    assert [one.message.id for one in placed] == ["1@2026-03-01", "2", "3", "4"]
    assert [one.message.said_at for one in placed][:3] == [
        "2026-03-01", "2026-02-01T10:00:00-08:00", "2026-02-01T09:00:00+00:00",
    ]  # fmt: skip
    assert placed[2].message.conversation == "mem0:sam"
    assert odd == {"memories that are empty or deleted": 2, "memories without a time: that of the file counts": 1}


def test_memories_of_openmemory(tmp_path: Path) -> None:
    row = {"id": "1", "content": "Likes otters", "state": "active", "created_at": 1_769_936_400, "app": "claude"}
    assert said(read(tmp_path, "mem0", {"user": {"id": "u"}, "memories": [row]})) == [
        ("Mem0", "assistant", "Likes otters")
    ]


# Letta


def test_an_agent_has_its_messages_and_its_memory(tmp_path: Path) -> None:
    export = letta_agent(
        letta_message(0, "system", "You are Sam."), letta_message(1, "user", "Hi"),
        letta_message(2, "assistant", "Hello"), letta_message(3, "tool", "found it"), value="\nLikes otters.\n",
    )  # fmt: skip
    placed = read(tmp_path, "letta", export)
    assert said(placed) == [
        ("", "system", "You are Sam."), ("", "user", "Hi"), ("Sam", "assistant", "Hello"), ("Sam", "tool", "found it"),
        ("Sam", "assistant", "Likes otters."),
    ]  # fmt: skip
    assert [one.message.conversation for one in placed][-2:] == ["letta:Sam", "letta:Sam (memory)"]
    assert (placed[-1].origin, placed[-1].message.said_at) == ({"block": "human"}, "2026-02-01T10:00:03+00:00")


def test_older_agents_speak_by_a_tool_and_hear_in_json(tmp_path: Path) -> None:
    send = {"function": {"name": "send_message", "arguments": '{"message": "Hello\\nJo"}'}}
    search = {"function": {"name": "search", "arguments": '{"q": "otter"}'}}
    export = letta_agent(
        letta_message(1, "user", '{"type": "user_message", "message": "Hi", "time": "now"}'),
        letta_message(2, "user", '{"type": "heartbeat", "reason": "x"}'),
        letta_message(3, "assistant", "They greet me.", tool_calls=[search, send]),
        letta_message(4, "user", '{"a": 1}'),
        letta_message(5, "assistant", "", tool_calls=[{"function": {"name": "send_message", "arguments": "{broken"}}]),
    )  # fmt: skip
    assert said(read(tmp_path, "letta", export)) == [
        ("", "user", "Hi"), ("", "system", '{"type": "heartbeat", "reason": "x"}'),
        ("Sam", "thinking", "They greet me."),
        ("Sam", "tool", 'search: {"q": "otter"}'), ("Sam", "assistant", "Hello\nJo"), ("", "user", '{"a": 1}'),
        ("Sam", "assistant", "{broken"),
    ]  # fmt: skip


def test_the_older_form_of_agent_files(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    export = {
        "agent_type": "memgpt_agent", "name": "Sam", "version": "0.6", "tools": [],
        "messages": [
            {"role": "user", "text": "Hi", "created_at": "2026-02-01T10:00:00"}, {"role": "user", "content": []},
        ],
        "core_memory": [{"label": "human", "value": "Jo", "updated_at": "2026-02-02"}, {"label": "x", "value": ""}],
    }  # fmt: skip
    assert said(read(tmp_path, "letta", export, odd=odd)) == [("", "user", "Hi"), ("Sam", "assistant", "Jo")]
    assert odd == {"messages without words": 1, "empty memory blocks": 1}


def test_a_later_export_of_an_agent_keeps_the_ids(tmp_path: Path) -> None:
    first = [letta_message(1, "user", "Hi", id="message-0"), letta_message(1, "user", "Hi", id="message-1")]
    ids = [one.message.id for one in read(tmp_path, "letta", letta_agent(*first))]
    assert len(set(ids)) == 2
    later = [one | {"id": "message-7"} for one in first]
    assert [one.message.id for one in read(tmp_path, "letta", letta_agent(*later, letta_message(2, "user", "x")))][
        :2
    ] == ids


# Graphiti and Zep


def episode(identity: str, content: str, **more: Any) -> dict[str, Any]:
    return {"uuid": identity, "content": content, "created_at": "2026-02-02T10:00:00Z", "group_id": "g", **more}


def test_an_episode_of_messages_has_its_speakers(tmp_path: Path) -> None:
    content = "Mila: The key:\nunder the mat.\nJo (user): Thanks!\nassistant: Noted.\nסיון: שלום"
    rows = [episode("e1", content, source="message", valid_at="2026-02-01T10:00:00Z")]
    placed = read(tmp_path, "graphiti", {"episodes": rows}, "mila")
    assert said(placed) == [
        ("Mila", "user", "The key:\nunder the mat."), ("Jo", "user", "Thanks!"), ("", "assistant", "Noted."),
        ("סיון", "other", "שלום"),
    ]  # fmt: skip
    assert [one.message.id for one in placed] == ["e1:0", "e1:1", "e1:2", "e1:3"]
    assert (placed[0].message.conversation, placed[0].message.said_at) == ("graphiti:g", "2026-02-01T10:00:00Z")


def test_texts_data_and_messages_of_zep(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    rows = [
        episode("1", "It rained.", source="text", name="diary"), episode("2", '{"a": 1}', source="json"),
        episode("3", "Hi", role="Jo", role_type="user", thread_id="t1"), episode("4", "Ho", role_type="norole"),
        episode("5", " ", source="text"),
    ]  # fmt: skip
    placed = read(tmp_path, "graphiti", rows, odd=odd)
    assert said(placed) == [
        ("", "other", "It rained."),
        ("", "tool", '{"a": 1}'),
        ("Jo", "user", "Hi"),
        ("", "other", "Ho"),
    ]
    assert [one.message.conversation for one in placed] == ["graphiti:g", "graphiti:g", "graphiti:t1", "graphiti:g"]
    assert placed[0].origin == {"id": "1", "name": "diary"}
    assert odd == {"episodes without words": 1}


@pytest.mark.parametrize(
    ("export", "says"),
    [
        ([memory("1", "a"), memory("2", "b", id=7)], "memory 1: Expected `str`"),
        ([memory("1", "a", created_at=1e99)], "memory 0: 1e.99 is not a time"),
        ({"results": [{"memory": "a"}]}, "another form than those that are known"),
        (letta_agent({"content": "x"}), "message 0: Object missing required field `role`"),
        (letta_agent(value=7), "blocks: Expected `str`"),
        ({"agents": [], "blocks": []}, "another form than those that are known"),
        ([episode("1", "a"), {"uuid": 1}], "episode 1: |another form"),
        ({"episodes": [{"uuid": "1"}]}, "another form than those that are known"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, export: object, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "export.json", export)))
