"""Sources in: each kind once, with its people; bad files among others; what is not recognised changes nothing."""

from __future__ import annotations

import asyncio
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memsvc.access.pausing import pause
from memsvc.access.users import Owner
from memsvc.cli.ingest import ingest_files
from memsvc.db.engine import Database
from memsvc.errors import (
    BadFileError,
    InvalidRequestError,
    MessageConflictError,
    OwnerRequiredError,
    SourceUnknownError,
    TextTooLongError,
)
from memsvc.settings import Settings
from memsvc.sources.document_reads import list_documents
from memsvc.sources.opening import open_memory
from memsvc.sources.origins import origin_in_words
from memsvc.sources.previewing import Choices
from memsvc.sources.read import list_conversations
from memsvc.sources.runs import Report
from tests.chats import (
    EXPORTS,
    SLACK_USERS,
    chatgpt_node,
    chatgpt_talk,
    packed,
    slack,
    slack_message,
    telegram_chat,
    telegram_message,
    tree,
    write,
)

SAID = "SELECT speaker, role, text FROM memsvc.passages WHERE user_id = %s ORDER BY said_at, ordinal"
MILA, JO = telegram_message(1, "Mila/user7", "The key is under the mat."), telegram_message(2, "Jo/user9", "Thanks!")
GROUP = telegram_chat(MILA, JO, type="private_group", id=77, name="Garden")


class Desk:
    """Ingests for one user."""

    def __init__(self, db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection) -> None:
        self.db, self.owner, self._admin = db, owner, admin
        self.settings = settings.model_copy(update={"embedding_model": "", "max_text_chars": 20_000})

    async def ingest(self, *paths: Path, dry_run: bool = False, **choices: Any) -> Report:
        return await ingest_files(self.db, self.settings, self.owner, paths, Choices(**choices), dry_run=dry_run)

    def stored(self) -> list[tuple[Any, ...]]:
        return self._admin.execute(SAID, [self.owner.user_id]).fetchall()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    buffer = io.BytesIO()

    def isatty(self) -> bool:
        return True


@pytest.fixture
def desk(db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection) -> Desk:
    return Desk(db, settings, owner, admin)


@pytest.mark.parametrize("kind", EXPORTS)
async def test_twice_is_once_from_a_folder_and_from_a_zip_file(desk: Desk, tmp_path: Path, kind: str) -> None:
    folder = tree(tmp_path / "export", EXPORTS[kind])
    first = await desk.ingest(folder, me=["Jo"])
    stored = desk.stored()
    assert first.totals == {"created": 2, "existing": 0, "erased": 0, "paused": 0}
    assert [(file.kind, file.outcome) for file in first.files] == [(kind, "stored")]
    again = await desk.ingest(folder, packed(tmp_path / "export.zip", EXPORTS[kind]), me=["Jo"])
    assert again.totals == {"created": 0, "existing": 4, "erased": 0, "paused": 0}
    assert desk.stored() == stored


async def test_a_message_can_be_opened_where_it_came_from(
    desk: Desk, tmp_path: Path, admin: psycopg.Connection
) -> None:
    await desk.ingest(write(tmp_path / "result.json", GROUP), me=["Jo"])
    [(passage,)] = admin.execute(
        "SELECT passage_id FROM memsvc.passages WHERE user_id = %s AND speaker = 'Mila'", [desk.owner.user_id]
    ).fetchall()
    opened = await open_memory(desk.db, desk.owner, str(passage))
    assert opened.message is not None
    assert opened.message.metadata == {"origin": {"kind": "telegram", "file": "result.json", "id": 1}}
    assert origin_in_words(opened.message.metadata) == "result.json, id 1"
    [talk] = (await list_conversations(desk.db, desk.owner)).items
    assert (talk.identifier, talk.title) == ("telegram:77", "Garden")


async def test_a_branch_that_is_not_shown_is_kept_and_not_recalled(
    desk: Desk, tmp_path: Path, admin: psycopg.Connection
) -> None:
    talk = chatgpt_talk(
        chatgpt_node("u1", "root", "user", "Where do otters sleep?", 1.0),
        chatgpt_node("a1", "u1", "assistant", "In trees, of course.", 2.0),
        chatgpt_node("a2", "u1", "assistant", "In holts.", 3.0),
    )
    kinds = "SELECT text, kind FROM memsvc.passages WHERE user_id = %s ORDER BY text, kind"
    for shown, found in (
        ("a2", [("In holts.", "message"), ("In trees, of course.", "trace")]),
        ("a1", [("In holts.", "message"), ("In holts.", "trace"), ("In trees, of course.", "message"),
                ("In trees, of course.", "trace")]),
    ):  # fmt: skip
        for _ in range(2):
            await desk.ingest(write(tmp_path / "conversations.json", [talk | {"current_node": shown}]))
            stored = admin.execute(kinds, [desk.owner.user_id]).fetchall()
            assert stored == [*found, ("Where do otters sleep?", "message")]


async def test_a_table_is_a_chat_only_with_its_columns(desk: Desk, tmp_path: Path) -> None:
    tree(tmp_path / "in", {"chat.csv": "date,from,body\n2026-02-01,Mila,The key.\n2026-02-02,Jo,Thanks!\n"})
    columns = {"text": "body", "said_at": "date", "speaker": "from"}
    for counts in ({"created": 2, "existing": 0}, {"created": 0, "existing": 2}):
        report = await desk.ingest(tmp_path / "in", columns=columns, me=["Jo"])
        assert report.totals == {**counts, "erased": 0, "paused": 0}
    assert desk.stored() == [("Mila", "other", "The key."), ("Jo", "user", "Thanks!")]
    report = await desk.ingest(tmp_path / "in")
    assert [file.kind for file in report.files] == ["document"]


async def test_a_transcript_that_grows_stores_its_words_once(desk: Desk, tmp_path: Path) -> None:
    words = ("The otters sleep", "in holts", "by the river,", "and fish at night.")
    for count in (1, 2, 2, 4):
        cues = [f"00:00:0{i}.000 --> 00:00:0{i + 1}.000\n<v Mila>{word}\n" for i, word in enumerate(words[:count])]
        await desk.ingest(write(tmp_path / "2026-02-01 10.00.vtt", "WEBVTT\n\n" + "\n".join(cues)), is_nobody=True)
        assert " ".join(text for _, _, text in desk.stored()) == " ".join(words[:count])
    changed = "WEBVTT\n\n" + "\n".join(cues).replace("holts", "trees")
    report = await desk.ingest(write(tmp_path / "2026-02-01 10.00.vtt", changed), is_nobody=True)
    assert [file.differs for file in report.files] == [1]


async def test_a_message_that_is_too_long_keeps_no_other_out_of_an_export(desk: Desk, tmp_path: Path) -> None:
    longest = desk.settings.max_text_chars
    texts = ["The key.", *("x" * (longest + 1) for _ in range(7)), "x" * longest]
    chat = telegram_chat(*(telegram_message(number, "Mila/user7", text) for number, text in enumerate(texts, 1)))
    for created in (2, 0):
        report = await desk.ingest(write(tmp_path / "result.json", chat), is_nobody=True)
        assert report.totals["created"] == created
    odd = report.files[0].preview.odd
    named = f"messages of more than {longest:,} characters"
    assert odd == {f"{named} (result.json, chat 7, message id {n})": 1 for n in range(2, 7)} | {named: 2}
    assert sum(len(row[2]) for row in desk.stored()) == len("The key.") + longest
    written = "".join(f'{{"text": "{text}"}}\n' for text in texts[:2])
    with pytest.raises(TextTooLongError, match=r"a\.jsonl, line 2"):
        await desk.ingest(write(tmp_path / "a.jsonl", written))


async def test_while_memory_is_paused_not_even_a_title_is_taken_in(desk: Desk, tmp_path: Path) -> None:
    await desk.ingest(write(tmp_path / "result.json", GROUP), me=["Jo"])
    await pause(desk.db, desk.owner)
    later = telegram_message(3, "Mila/user7", "Nobody may keep this.")
    renamed = telegram_chat(MILA, JO, later, type="private_group", id=77, name="Nor this")
    again = await desk.ingest(write(tmp_path / "later.json", renamed), me=["Jo"])
    assert again.totals["paused"]
    [talk] = (await list_conversations(desk.db, desk.owner)).items
    assert talk.title == "Garden"


async def test_metadata_of_ones_own_named_origin_is_kept(desk: Desk, tmp_path: Path, admin: psycopg.Connection) -> None:
    await desk.ingest(write(tmp_path / "a.jsonl", '{"text": "x", "metadata": {"origin": "mine"}}\n{"text": "y"}\n'))
    found = admin.execute("SELECT metadata FROM memsvc.passages WHERE user_id = %s ORDER BY text", [desk.owner.user_id])
    assert [row[0]["origin"] for row in found] == ["mine", {"kind": "jsonl", "file": "a.jsonl", "line": 2}]


async def test_who_is_the_owner_is_asked_never_guessed(desk: Desk, tmp_path: Path) -> None:
    path = write(tmp_path / "result.json", GROUP)
    with pytest.raises(
        OwnerRequiredError, match=r"result.json: several people speak, .*: Mila \(1\), Jo \(1\)\."
    ) as caught:
        await desk.ingest(path)
    assert '--me "Mila"' in caught.value.advice
    with pytest.raises(OwnerRequiredError):
        await desk.ingest(path, me=["Somebody"])
    assert desk.stored() == []
    await desk.ingest(path, me=["jo"])
    assert [row[:2] for row in desk.stored()] == [("Mila", "other"), ("Jo", "user")]


async def test_the_owner_may_be_none_of_them_or_be_known_by_an_alias(desk: Desk, tmp_path: Path) -> None:
    await desk.ingest(write(tmp_path / "result.json", GROUP), is_nobody=True)
    other = telegram_chat(telegram_message(1, "AL/user3", "Here I am."), JO, type="private_group", id=78)
    await desk.ingest(write(tmp_path / "other.json", other))
    assert [row[:2] for row in desk.stored()] == [("Mila", "other"), ("AL", "user"), ("Jo", "other"), ("Jo", "other")]


@pytest.mark.parametrize(("answers", "roles"), [(("7", "2"), ["other", "user"]), (("0",), ["other", "other"])])
async def test_on_a_terminal_the_owner_is_asked_for(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...], roles: list[str]
) -> None:
    given = iter(answers)
    monkeypatch.setattr("sys.stdin", Terminal())
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: int(next(given)))
    await desk.ingest(write(tmp_path / "result.json", GROUP))
    assert [row[1] for row in desk.stored()] == roles
    assert "2  Jo (1 message)" in shown.getvalue()


async def test_of_a_later_export_what_differs_stays_and_what_is_new_is_added(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sources.ingesting.BATCH", 4)
    old = [telegram_message(i, "Mila/user7" if i % 2 else "Jo/user9", f"word {i}") for i in range(9)]
    await desk.ingest(write(tmp_path / "result.json", telegram_chat(*old)))
    stored = desk.stored()
    renamed = [one | {"from": "Mila Horn" if one["from"] == "Mila" else "Jo"} for one in old]
    new = telegram_message(9, "Mila Horn/user7", "word 9")
    [file] = (await desk.ingest(write(tmp_path / "result.json", telegram_chat(*renamed, new)))).files
    assert (file.outcome, file.created, file.existing, file.differs) == ("stored", 1, 5, 4)
    assert desk.stored() == [*stored, ("Mila Horn", "other", "word 9")]


async def test_with_another_owner_what_is_stored_stays(desk: Desk, tmp_path: Path) -> None:
    path = write(tmp_path / "result.json", GROUP)
    await desk.ingest(path, me=["Mila"])
    stored = desk.stored()
    [file] = (await desk.ingest(path, me=["Jo"])).files
    assert (file.created, file.differs) == (0, 2)
    assert desk.stored() == stored


async def test_a_file_that_a_person_wrote_is_refused_where_it_differs(desk: Desk, tmp_path: Path) -> None:
    await desk.ingest(write(tmp_path / "talk.jsonl", '{"id": "1", "text": "a"}\n'))
    with pytest.raises(MessageConflictError, match=r"talk\.jsonl, line 2: 1 in conversation 'talk'"):
        await desk.ingest(write(tmp_path / "talk.jsonl", '{"id": "2", "text": "b"}\n{"id": "1", "text": "c"}\n'))
    assert [row[2] for row in desk.stored()] == ["a"]


UNKNOWN: dict[str, object] = {
    "letter.eml": "From: Mila <mila@example.org>\nSubject: Keys\n\nI live in Oslo.\n",
    "paper.pdf": b"%PDF-1.7\nI live in Oslo.",
    "users.json": SLACK_USERS,
    "day.json": [slack_message("1769936400.000100", "U1", "I live in Oslo.")],
    "memo.eml": "From: Mila\nTo: Jo\nSubject: Keys\n\nI live in Oslo.\n",
    "all.mbox": "From here 10:00:00 on Sunday 2026\n\nI live in Oslo.\n",
    "talk.srt": "1\n00:00:01 -> 00:00:02\nI live in Oslo.\n",
    "talk.vtt": "WEBVTTX\n\n00:01.000 --> 00:02.000\nI live in Oslo.\n",
    "whisper.json": {"segments": [{"from": 1, "to": 2, "text": "I live in Oslo."}]},
    "package.json": [{"ID": 7, "Timestamp": "2026-02-01 10:00:00", "Contents": "I live in Oslo."}],
    "signal.jsonl": '{"envelope": {"message": "I live in Oslo."}}\n',
    "sigtop.json": [{"conversationId": "c", "body": "I live in Oslo."}],
    "calls.xml": "<?xml version='1.0'?>\n<calls><call number='1' name='I live in Oslo'/></calls>",
    "MyActivity.json": [{"header": "YouTube", "title": "Watched I live in Oslo", "time": "2026-02-01T10:00:00Z"}],
    "MyActivity.html": "<html><head><title>My Activity History</title></head>I live in Oslo.</html>",
    "google.json": {"messages": [{"topic_id": "1", "text": "I live in Oslo."}]},
    "skype.json": {"conversations": [{"MessageList": [{"content": "I live in Oslo."}]}]},
    "copilot.csv": "Conversation,Time,Author,Words\nx,2026-02-01,Human,I live in Oslo.\n",
    "imessage.txt": "Feb 01, 2026  9:00:01 PM I live in Oslo.\n",
    "mem0.json": {"results": [{"memory": "I live in Oslo."}]},
    "sam.af": {"agents": [{"messages": [{"role": "user", "content": "I live in Oslo."}]}], "blocks": []},
    "episodes.json": {"episodes": [{"uuid": "1", "content": "I live in Oslo."}]},
    "discord.json": {"guild": {}, "messages": [{"id": "7", "content": "I live in Oslo."}]},
    "discord.csv": "ID,Timestamp,Contents\n7,2026-02-01,I live in Oslo.\n",
    "talk.txt": "2026/02/01 10:00 Mila says: I live in Oslo.\n",
    "log.txt": "[10:02] Mila: I live in Oslo.\n[10:03] Jo: so do I.\n[10:04] Mila: ah!\n",
    "settings.json": {"name": "x", "version": 7, "words": ["I live in Oslo."]},
    "next-year.json": {"format": "chats/9", "conversations": [{"messages_v9": [{"said": "I live in Oslo."}]}]},
    "lines.jsonl": '{"said": "I live in Oslo."}\n',
    "letter.txt": "From: Mila <mila@example.org>\nSubject: Keys\n\nI live in Oslo.\n",
    "empty.json": "",
}


@pytest.mark.parametrize("name", UNKNOWN)
async def test_a_file_that_is_not_recognised_changes_nothing(
    desk: Desk, tmp_path: Path, name: str, admin: psycopg.Connection
) -> None:
    path = write(tmp_path / name, UNKNOWN[name])
    with pytest.raises(BadFileError, match=name) as caught:
        await desk.ingest(path)
    assert caught.value.code in {"source_unknown", "bad_file"}
    assert desk.stored() == []
    assert admin.execute("SELECT count(*) FROM memsvc.sources WHERE user_id = %s", [desk.owner.user_id]).fetchone() == (
        0,
    )


async def test_a_bad_file_of_several_does_not_stop_the_others(desk: Desk, tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.jsonl", '{"text": "half"}\noops\n')
    good = write(tmp_path / "good.jsonl", '{"text": "whole"}\n')
    report = await desk.ingest(bad, tmp_path / "gone.jsonl", write(tmp_path / "a.ics", "BEGIN:VCALENDAR\n"), good)
    assert [(file.file, file.outcome, file.code) for file in report.files] == [
        ("bad.jsonl", "refused", "bad_file"), ("gone.jsonl", "refused", "bad_file"),
        ("a.ics", "refused", "source_unknown"), ("good.jsonl", "stored", None),
    ]  # fmt: skip
    assert [row[2] for row in desk.stored()] == ["whole"]
    assert [error.exit_code for error in report.errors] == [2, 2, 2]


async def test_a_folder_is_read_with_its_folders_and_zip_files(desk: Desk, tmp_path: Path) -> None:
    root = tree(
        tmp_path / "Downloads",
        {
            "a.jsonl": '{"text": "a"}\n', "deep/er/b.json": {"messages": [{"role": "user", "content": "b"}]},
            "photo.png": b"\x89PNG\r\n", ".hidden.jsonl": '{"text": "hidden"}\n', "bad.json": b'{"messages": [',
        },
    )  # fmt: skip
    packed(root / "team.zip", slack(slack_message("1769936400.000100", "U1", "c"), **{"notes.txt": "x y\n"}))
    (root / "loop").symlink_to(root)
    report = await desk.ingest(root, is_nobody=True)
    assert [(file.file, file.kind, file.outcome) for file in report.files] == [
        ("Downloads/a.jsonl", "jsonl", "stored"),
        ("Downloads/bad.json", "role-content", "refused"),
        ("Downloads/deep/er/b.json", "role-content", "stored"),
        ("Downloads/photo.png", None, "passed_over"),
        ("Downloads/team.zip", "slack", "stored"),
        ("Downloads/team.zip/notes.txt", "document", "stored"),
    ]
    assert sorted(row[2] for row in desk.stored()) == ["a", "b", "c", "x y"]


async def test_a_folder_with_nothing_to_read_is_refused(desk: Desk, tmp_path: Path) -> None:
    root = tree(tmp_path / "photos", {"a.png": b"\x89PNG\r\n", "b.png": b"\x89PNG\r\n"})
    with pytest.raises(SourceUnknownError, match=r"photos has nothing to read: photos/a\.png looks like a picture"):
        await desk.ingest(root)


async def test_a_dry_run_shows_what_would_happen_and_stores_nothing(desk: Desk, tmp_path: Path) -> None:
    group = telegram_chat(MILA, JO, {"id": 3, "type": "service"}, type="private_group", id=77)
    report = await desk.ingest(write(tmp_path / "result.json", group), dry_run=True)
    [file] = report.files
    found = file.preview
    assert (file.kind, file.outcome, found.messages, found.conversations) == ("telegram", "previewed", 2, 1)
    assert [(one.speaker, one.role, one.messages) for one in found.speakers] == [
        ("Mila", "other", 1),
        ("Jo", "other", 1),
    ]
    assert (found.owner, found.must_ask, found.odd) == ([], True, {"service messages": 1})
    assert found.first_said_at == datetime(2026, 2, 1, 9, 0, 1, tzinfo=UTC)
    assert found.last_said_at == datetime(2026, 2, 1, 9, 0, 2, tzinfo=UTC)
    assert desk.stored() == []


async def test_since_leaves_out_what_was_said_before_and_keeps_identities(desk: Desk, tmp_path: Path) -> None:
    lines = '{"text": "old", "said_at": "2020-01-01"}\n{"text": "new", "said_at": "2026-01-01"}\n'
    path = write(tmp_path / "talk.jsonl", lines)
    await desk.ingest(path, since=datetime(2025, 1, 1, tzinfo=UTC))
    assert [row[2] for row in desk.stored()] == ["new"]
    assert (await desk.ingest(path)).totals["existing"] == 1
    assert [row[2] for row in desk.stored()] == ["old", "new"]


async def test_a_kind_may_be_named_but_not_forced_upon_what_it_cannot_read(desk: Desk, tmp_path: Path) -> None:
    path = write(tmp_path / "talk", '{"messages": [{"role": "user", "content": "a"}]}')
    with pytest.raises(BadFileError, match="unknown fields: 'messages'"):
        await desk.ingest(path, kind="jsonl")
    with pytest.raises(BadFileError):
        await desk.ingest(path, kind="slack")
    with pytest.raises(InvalidRequestError, match="no kind of source 'fax'"):
        await desk.ingest(path, kind="fax")
    assert desk.stored() == []
    await desk.ingest(path, kind="role-content")
    assert [row[2] for row in desk.stored()] == ["a"]


async def test_standard_input_is_read(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = packed(tmp_path / "x.zip", EXPORTS["telegram"]).read_bytes()
    for given, kind in ((b'{"text": "a"}\n', "jsonl"), (content, "telegram")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        [file] = (await desk.ingest(Path("-"))).files
        assert (file.kind, file.outcome) == (kind, "stored")


async def test_an_ingest_that_was_interrupted_goes_on(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sources.ingesting.BATCH", 2)
    messages = [telegram_message(i, "Mila/user7", f"word {i}") for i in range(9)]
    path = write(tmp_path / "result.json", telegram_chat(*messages))
    batches = iter([None, asyncio.CancelledError])

    def advance(*_: object) -> None:
        if (stop := next(batches)) is not None:
            raise stop

    monkeypatch.setattr("rich.progress.Progress.advance", advance)
    with pytest.raises(asyncio.CancelledError):
        await desk.ingest(path)
    monkeypatch.undo()
    stored = len(desk.stored())
    assert 0 < stored < 9
    assert (await desk.ingest(path)).totals == {"created": 9 - stored, "existing": stored, "erased": 0, "paused": 0}
    assert [row[2] for row in desk.stored()] == [f"word {i}" for i in range(9)]


# Documents


NOTE = "# Coffee study\n\n## Results\n\nRoasting takes eleven minutes.\n"


async def test_a_folder_of_documents_is_stored_file_by_file_and_read_again(desk: Desk, tmp_path: Path) -> None:
    root = tree(tmp_path / "notes", {"a.md": NOTE, "deep/b.txt": "Water matters.\n", "broken.pdf": b"%PDF-1.7\nno"})
    first = await desk.ingest(root)
    assert [(file.file, file.kind, file.outcome, file.code) for file in first.files] == [
        ("notes/a.md", "document", "stored", None),
        ("notes/broken.pdf", "document", "refused", "bad_file"),
        ("notes/deep/b.txt", "document", "stored", None),
    ]
    assert first.documents == {"created": 2}
    assert (await desk.ingest(root)).documents == {"existing": 2}
    (root / "a.md").write_text(NOTE.replace("eleven", "nine"))
    (root / "deep" / "b.txt").rename(root / "c.txt")
    assert (await desk.ingest(root)).documents == {"changed": 1, "moved": 1}
    (root / "c.txt").unlink()
    assert (await desk.ingest(root)).documents == {"existing": 1, "gone": 1}
    listed = (await list_documents(desk.db, desk.owner)).items
    assert [(one.path, one.title, one.version, one.gone) for one in listed] == [
        ("notes/c.txt", "b", 1, True), ("notes/a.md", "Coffee study", 2, False),
    ]  # fmt: skip


async def test_one_file_of_a_folder_is_the_same_document_as_in_the_folder(desk: Desk, tmp_path: Path) -> None:
    root = tree(tmp_path / "notes", {"a.md": NOTE, "b.md": NOTE.replace("eleven", "two")})
    await desk.ingest(root)
    assert (await desk.ingest(root / "a.md")).documents == {"existing": 1}
    assert len((await list_documents(desk.db, desk.owner)).items) == 2


async def test_documents_come_in_zip_files_and_by_standard_input(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = packed(tmp_path / "notes.zip", {"a.md": NOTE, "b.md": "# Water\n\nIt matters.\n"})
    assert (await desk.ingest(archive)).documents == {"created": 2}
    assert (await desk.ingest(archive)).documents == {"existing": 2}
    for outcome in ("created", "existing"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"<!doctype html><p>Grinding is loud.</p>")))
        assert (await desk.ingest(Path("-"), kind="document")).documents == {outcome: 1}


async def test_a_document_is_shown_before_it_is_stored(desk: Desk, tmp_path: Path) -> None:
    [file] = (await desk.ingest(write(tmp_path / "a.md", NOTE), dry_run=True)).files
    found = file.preview
    assert (file.kind, file.outcome, found.title, found.format, found.chunks) == (
        "document", "previewed", "Coffee study", "md", 1,
    )  # fmt: skip
    assert (await list_documents(desk.db, desk.owner)).items == []


@pytest.mark.parametrize("kind", [kind for kind in EXPORTS if len(EXPORTS[kind]) == 1])
async def test_a_chat_with_the_name_of_a_document_stays_a_chat(desk: Desk, tmp_path: Path, kind: str) -> None:
    [content] = EXPORTS[kind].values()
    [file] = (await desk.ingest(write(tmp_path / "paper.md", content), me=["Jo"])).files
    assert (file.kind, file.document) == (kind, None)
