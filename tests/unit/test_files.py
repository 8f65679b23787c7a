"""Files of messages: chat JSONL and role/content exports, as people have them and as they come broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from memsvc.db.files import folder
from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.files import read_messages
from memsvc.sources.messages import MessageIn


def read(path: Path, content: object, *own_names: str) -> list[MessageIn]:
    """Messages of a file with this content: bytes, rows of JSONL, or (for .json) one document."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif path.suffix == ".jsonl":
        assert isinstance(content, list)
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        path.write_text(json.dumps(content))
    return [message for _, message in read_messages(path, own_names)]


def one(path: Path, row: dict[str, Any], *own_names: str) -> MessageIn:
    [message] = read(path / "talk.jsonl", [row], *own_names)
    return message


def test_a_full_line_of_chat_jsonl(tmp_path: Path) -> None:
    row = {
        "conversation_id": "c", "session_id": "S1", "session_time": "2026-01-02T10:00:00+01:00", "turn_id": "S1:1",
        "speaker": "Ada", "text": "Hello.", "image_caption": "a heron", "metadata": {"mood": {"happy": True}, "n": 3},
    }  # fmt: skip
    assert one(tmp_path, row, "ada") == MessageIn(
        conversation="c", session="S1", said_at="2026-01-02T10:00:00+01:00", id="S1:1", speaker="Ada", role="user",
        text="Hello.", caption="a heron", metadata={"mood": {"happy": True}, "n": 3},
    )  # fmt: skip


def test_a_bare_line_gets_its_conversation_from_the_file_and_its_place_as_identity(tmp_path: Path) -> None:
    messages = read(tmp_path / "talk.jsonl", b'{"text": "a"}\n\n  \n{"text": "b"}\r\n{"content": "c"}')
    assert [(m.conversation, m.ordinal, m.id, m.text) for m in messages] == [
        ("talk", 0, None, "a"), ("talk", 1, None, "b"), ("talk", 2, None, "c"),
    ]  # fmt: skip


def test_places_name_the_line_not_the_message(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text('{"text": "a"}\n\n{"text": "b"}\n')
    assert [place for place, _ in read_messages(path)] == ["talk.jsonl, line 1", "talk.jsonl, line 3"]


@pytest.mark.parametrize(
    ("speaker", "role", "expected"),
    [
        ("Ada", None, "user"), ("ADA", None, "user"), ("AL", None, "user"), ("Bob", None, "other"), ("", None, "user"),
        ("Assistant", None, "assistant"), ("Human", None, "user"), ("Bob", "assistant", "assistant"),
        ("Ada", "other", "other"), ("", "AI", "assistant"), ("", "model", "assistant"), ("", "developer", "system"),
        ("", "function", "tool"), ("", "reasoning", "thinking"),
    ],
)  # fmt: skip
def test_roles(tmp_path: Path, speaker: str, role: object, expected: str) -> None:
    row: dict[str, Any] = {"text": "x", "speaker": speaker}
    assert one(tmp_path, row | ({} if role is None else {"role": role}), "Ada", "AL").role == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("plain", "plain"),
        (["a", {"type": "text", "text": "b"}, {"type": "image_url", "image_url": {"url": "x"}}], "a\nb\n"),
        ({"content_type": "text", "parts": ["a", "b"]}, "a\nb"),
        ({"text": "a"}, "a"),
        (None, ""), (12, "12"),
    ],
)  # fmt: skip
def test_content_in_parts(tmp_path: Path, content: object, expected: str) -> None:
    assert one(tmp_path, {"role": "user", "content": content}).text == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"created_at": 1_767_348_000}, "2026-01-02T10:00:00+00:00"),
        ({"timestamp": 1_767_348_000.5}, "2026-01-02T10:00:00.500000+00:00"),
        ({"said_at": "2026-01-02"}, "2026-01-02"), ({"said_at": None, "session_time": "x"}, "x"), ({}, None),
        ({"timestamp": 1e30}, "1e+30"), ({"said_at": True}, "True"),
    ],
)  # fmt: skip
def test_times_are_passed_on(tmp_path: Path, given: dict[str, Any], expected: str | None) -> None:
    assert one(tmp_path, {"text": "x", **given}).said_at == expected


def test_an_export_with_a_title(tmp_path: Path) -> None:
    document = {
        "title": "Tour",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi", "created_at": "2026-05-09T19:02:40+01:00", "metadata": {"model": "m"}},
        ],
    }
    first, second = read(tmp_path / "export.json", document)
    assert (first.conversation, first.role, first.ordinal, first.text) == ("Tour", "system", 0, "Be brief.")
    assert (second.ordinal, second.said_at, second.metadata) == (1, "2026-05-09T19:02:40+01:00", {"model": "m"})


@pytest.mark.parametrize(
    ("document", "conversations"),
    [
        ({"messages": [{"content": "a"}]}, ["export"]),
        ({"id": 7, "title": "t", "messages": [{"content": "a"}]}, ["7"]),
        ([{"content": "a"}, {"content": "b"}], ["export", "export"]),
        ([{"id": "x", "messages": [{"content": "a"}]}, {"messages": [{"content": "b"}]}], ["x", "export-1"]),
        ([{"messages": []}, {"messages": [{"content": "b"}]}], ["export-1"]),
    ],
)
def test_the_forms_of_an_export(tmp_path: Path, document: object, conversations: list[str]) -> None:
    assert [m.conversation for m in read(tmp_path / "export.json", document)] == conversations


def test_a_file_without_a_telling_name_is_read_by_its_content(tmp_path: Path) -> None:
    assert [m.text for m in read(tmp_path / "a", b'{"text": "a"}\n{"text": "b"}\n')] == ["a", "b"]
    assert [m.text for m in read(tmp_path / "b", b'{"messages": [{"content": "a"}]}')] == ["a"]
    assert [m.text for m in read(tmp_path / "c", b'{\n "messages": [\n  {"content": "a"}\n ]\n}')] == ["a"]
    assert [m.text for m in read(tmp_path / "d", b'[{"content": "a"}]')] == ["a"]


def test_packed_files_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"text": "caf\xc3\xa9"}\n', mtime=0)
    assert [(m.conversation, m.text) for m in read(tmp_path / "talk.jsonl.gz", packed)] == [("talk", "café")]
    packed = gzip.compress(b'{"messages": [{"content": "a"}]}', mtime=0)
    assert [m.conversation for m in read(tmp_path / "talk.json.gz", packed)] == ["talk"]
    assert [m.text for m in read(tmp_path / "bom.jsonl", b'\xef\xbb\xbf{"text": "a"}\n')] == ["a"]


def test_the_sample_is_read(tmp_path: Path) -> None:
    messages = [m for _, m in read_messages(folder("examples") / "conversation.jsonl", ["Marcel", "MW"])]
    assert len(messages) == len({(m.conversation, m.id) for m in messages}) == 208
    assert {(m.speaker, m.role) for m in messages} == {("Marcel", "user"), ("Ines", "other")}
    assert sum(m.caption is not None for m in messages) == 11
    export = [m for _, m in read_messages(folder("examples") / "export-openai.json")]
    assert {m.role for m in export} == {"system", "user", "assistant", "tool"}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b"", "a.jsonl is empty"),
        ("a.jsonl", b"\n \n", "a.jsonl is empty"),
        ("a.jsonl", b'{"text": "x"}\n\n{"text": \n', "a.jsonl, line 3: .*truncated"),
        ("a.jsonl", b'{"text": "x"}\n[1]\n', "a.jsonl, line 2 is not a JSON object"),
        ("a.jsonl", b'{"text": "x"}\n{"text": "y", "image_caption": 3}\n', "a.jsonl, line 2: .*caption"),
        ("a.jsonl", b'{"text": "x"}\n{"text": "caf\xe9"}\n', "a.jsonl, line 2: .*UTF-8"),
        ("a.jsonl", b'{"text": "\\ud800"}\n', "a.jsonl, line 1: "),
        ("a.jsonl", b"[" * 100_000 + b"\n", "a.jsonl, line 1: .*(deep|malformed|truncated)"),
        ("a.jsonl", b"\x7fELF\x02\x01\x00\xff", "a.jsonl looks like a program"),
        ("a", b"\x00\x01\x02\xff", "a looks like a file of bytes, not of text"),
        ("a", b"\xff\xfe{\x00}\x00", "a looks like text in UTF-16, not UTF-8"),
        ("a.json", b'{"messages": [{"content": "caf\xe9"}]}', "a.json: .*UTF-8"),
        ("a.json", b"[" * 200_000 + b"]" * 200_000, "a.json: .*deep"),
        ("a.json", b'{"talk": []}', "a.json is JSON, but has no messages"),
        ("a.json", b'{"messages": {}}', "a.json is JSON, but has no messages"),
        ("a.json", b"[]", "a.json is JSON, but has no messages"),
        ("a.json", b'"text"', "a.json is JSON, but has no messages"),
        ("a.json", b'[{"messages": null}]', "a.json is JSON, but has no messages"),
        ("a.json", b'[{"messages": [{"content": "x"}]}, {"messages": 3}]', "a.json is JSON, but has no messages"),
        ("a.json", b'[{"content": "x"}, 3]', "a.json, message 1 is not a JSON object"),
        ("a.json", b'{"messages": [{"content": "x"}, "y"]}', "a.json, message 1 is not a JSON object"),
        ("a.jsonl", b'{"text": "x"}\n{"text": "y", "txet": "z"}\n', "a.jsonl, line 2 has unknown fields: 'txet'"),
        ("a.json", b'[{"content": "x", "model": "m", "usage": {}}]', "message 0 has unknown fields: 'model', 'usage'"),
        ("a.json", b'[{"id": "U1", "name": "ada"}]', "a.json, message 0 has neither text nor content"),
        ("a.jsonl", b'{"text": "x", "role": "captain"}', "a.jsonl, line 1: the role 'captain' is not one of user, "),
        ("a.jsonl", b'{"text": "x", "role": 7}', "a.jsonl, line 1: the role '7' is not one of user, "),
        ("a.jsonl", b'{"text": "x", "speaker": {"name": "Ada"}}', "line 1: speaker is neither a text nor a number"),
        ("a.jsonl", b'{"text": "x", "conversation": ["c"]}', "line 1: conversation is neither a text nor a number"),
        ("a.jsonl", b'{"text": "x", "metadata": []}', "a.jsonl, line 1: .*metadata"),
        ("a.zip", b"PK\x03\x04\x14\x00\x08\x00", "a.zip cannot be read: File is not a zip file"),
        ("a.jsonl.gz", b'{"text": "x"}', "a.jsonl.gz cannot be read: .*gzip"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "x"}\n' * 99, mtime=0)[:-12], "a.jsonl.gz cannot be read"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "x"}\n', mtime=0)[:12] + b"\xff" * 20, "a.jsonl.gz cannot be read"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        read(tmp_path / name, content)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"gone.jsonl cannot be read: No such file"):
        list(read_messages(tmp_path / "gone.jsonl"))
    with pytest.raises(BadFileError, match=r" has no files\."):
        list(read_messages(tmp_path))


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text('{"text": "a"}\noops\n')
    messages = read_messages(path)
    assert next(messages)[1].text == "a"
    with pytest.raises(BadFileError, match="line 2"):
        next(messages)


# The exports of other programs; each in the form that its program writes, with words of our own.


def sent(**fields: Any) -> list[dict[str, Any]]:
    """Two messages of one form."""
    return [fields, fields]


TREE: dict[str, Any] = {
    "n": {"id": "n", "parent": None, "children": [], "message": {"author": {"role": "user"}, "content": {}}}
}
MESSENGER = sent(sender_name="Mila", timestamp_ms=1_767_348_000_000, content="The key.")
SLACK = {"type": "message", "user": "U7", "ts": "1767348000.000100", "text": "The key is with Jo."}
JOINED = {"type": "message", "subtype": "channel_join", "user": "U7", "ts": "1767348000.000100", "text": "joined"}
MAIL = b"From: Mila <mila@example.org>\r\nTo: jo@example.org\r\nSubject: Keys\r\n\r\nThe key is with Jo.\r\n"
FOREIGN: dict[str, tuple[str, object, str]] = {
    "ChatGPT, a line a talk": (
        "talks.jsonl", [{"title": "Keys", "mapping": TREE}] * 2, "an export of ChatGPT",
    ),
    "Slack": ("2026-01-02.json", [SLACK], "an export of Slack"),
    "Slack, somebody joins first": ("2026-01-02.json", [JOINED, SLACK], "an export of Slack"),
    "Slack, a bot": ("2026-01-02.json", [{"bot_id": "B7", "ts": "1.0", "text": "Done."}], "an export of Slack"),
    "Slack, a line a message": ("slack.jsonl", [SLACK, SLACK], "an export of Slack"),
    "Slack's users": ("users.json", [{"id": "U7", "team_id": "T1", "name": "mila"}], "an export of Slack"),
    "Discord": (
        "channel.json",
        {"guild": {"name": "Pond"}, "messages": sent(id="7", content="The key.")},
        "an export of Discord",
    ),
    "Discord's own": (
        "messages.json", sent(ID=7, Timestamp="2026-01-02 10:00:00", Contents="The key.", Attachments=""),
        "Discord's data package",
    ),
    "Messenger": (
        "message_1.json", {"participants": [{"name": "Mila"}], "messages": MESSENGER, "title": "Mila"},
        "an export of Messenger or Instagram",
    ),
    "Google Chat": (
        "messages.json", {"messages": sent(creator={"name": "Mila"}, text="The key.", topic_id="t")},
        "an export of Google Chat",
    ),
    "Gemini": ("MyActivity.json", [{"header": "Gemini Apps", "title": "Prompted x"}], "an export of Gemini"),
    "Skype": ("messages.json", {"conversations": [{"MessageList": []}]}, "an export of Skype or Teams"),
    "Gemini in HTML": (
        "MyActivity.html", b"<html><head><title>My Activity History</title>x</html>", "Google's My Activity in HTML",
    ),
    "an e-mail without a date": ("keys.eml", MAIL, "an e-mail or a mailbox"),
    "an e-mail with its way": ("keys.eml", b"Return-Path: <x>\nDKIM: a;\n\tb=c\n" + MAIL, "an e-mail or a mailbox"),
    "a mailbox": ("all.mbox", b"From m@x.org Fri Jan  2 10:00:00 2026\n\nThe key.\n", "an e-mail or a mailbox"),
    "a web page": ("chat.html", b"<!DOCTYPE html>\n<html><body>x</body></html>", "a web page"),
    "a PDF": ("chat.jsonl", b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
    "a picture": ("chat.json", b"\x89PNG\r\n\x1a\n\0", "a picture"),
    "a film": ("a.mp4", b"\0\0\0 ftypisom", "a film or a picture"),
    "Markdown": ("note.md", b"# Keys\n\nThe key is with Jo.\n", "Markdown"),
    "Markdown with properties": ("note.md", b"---\ntags: [keys]\n---\nThe key.\n", "Markdown"),
    "Markdown, a title later": ("note", b"The key.\n\n## Keys\n", "Markdown"),
    "subtitles without times": ("talk.vtt", b"WEBVTTX\n\nThe key.\n", "plain text"),
    "a calendar": ("my.ics", b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "a calendar"),
    "XML": ("calls.xml", b"<?xml version='1.0'?>\n<calls count='1'/>", "XML"),
    "a table": ("chat.csv", b"who,when,what\nMila,2026-01-02,The key\n", "a table in plain text"),
    "prose": ("note.txt", b"Hello, Jo, where is the key?\nUnder the mat, I think.\n", "plain text"),
    "a word": ("late.jsonl", b"oops", "plain text"),
}  # fmt: skip


@pytest.mark.parametrize("case", FOREIGN)
def test_the_exports_of_other_programs_are_refused_by_name(tmp_path: Path, case: str) -> None:
    name, content, says = FOREIGN[case]
    with pytest.raises(SourceUnknownError, match=f"^{name} looks like (a part of )?{says}[,.]") as caught:
        read(tmp_path / name, content)
    assert "Nothing was stored" in caught.value.advice


def test_an_export_of_ours_is_for_another_command(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"manifest.json looks like a part of an export of memsvc\.") as caught:
        read(tmp_path / "manifest.json", {"format": "memsvc-export", "version": 1, "files": []})
    assert "memsvc import" in caught.value.advice


@pytest.mark.parametrize(
    "document",
    [
        {"title": "02/01/2026, 10:00 - Mila: x", "messages": [{"role": "user", "content": "From: Mila\nSubject: x"}]},
        [{"role": "user", "content": "ts, user, type, mapping, chat_messages, from_id", "timestamp": 1_767_348_000}],
        [{"name": "guild", "content": '{"mapping": {}}', "metadata": {"ts": "1.0", "user": "U7", "mapping": {}}}],
    ],
)
def test_what_only_speaks_of_other_programs_is_read(tmp_path: Path, document: object) -> None:
    assert len(read(tmp_path / "talk.json", document)) == 1
