"""Turns of agents in every form that they are told: late results, other agents, bad input, chats and hooks; filters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memsvc.errors import InvalidRequestError, TurnConflictError
from memsvc.turns.calls import CallIn
from memsvc.turns.documents import on_disk
from memsvc.turns.draft import TurnDraft
from memsvc.turns.recording import CHATS, check_source, record_chat, record_hook
from memsvc.turns.storing import record_turn
from tests.sql.desk import Desk, read, write


async def test_agents_share_what_they_did_and_each_filter_holds_also_for_old_turns(desk: Desk) -> None:
    for number in range(45):
        await desk.record(id=f"x{number}", request="Mend the login.", agent="robot", conversation=f"c{number}")
    await desk.record(id="b", request="Mend the login page.", agent="kim", calls=[read("auth.py", "1")])
    await desk.record(id="c", request="Other.", agent="kim", calls=[write("auth.py", "2")], answer="Done.")
    late = CallIn(tool="Bash", arguments={"command": "make"}, ok=False, result="no")
    await desk.record(id="d", request="Else.", agent="robot", project="other", root="/o", calls=[late])
    everybody = await desk.past("Mend the login page.", limit=50)
    assert {one.agent for one in everybody.turns} == {"robot", "kim"}
    narrowed: list[tuple[dict[str, Any], list[str]]] = [
        ({"query": "Mend the login.", "agent": "kim"}, ["b"]),
        ({"query": "Mend the login.", "tool": "read"}, ["b"]),
        ({"query": "Mend the login.", "files": ["auth.py"], "within_files": True}, ["c", "b"]),
        ({"agent": "kim"}, ["c", "b"]), ({"ok": False}, ["d"]), ({"tool": "bash", "agent": "kim"}, []),
        ({"agent": "robot", "within_project": True, "project": "other", "root": "/o"}, ["d"]),
    ]  # fmt: skip
    for asked, found in narrowed:
        assert [one.id for one in (await desk.past(**asked)).turns] == found, asked
    for wrong in ({"within_files": True}, {"within_project": True, "project": None, "root": None}):
        with pytest.raises(InvalidRequestError):
            await desk.past("x", **wrong)


async def test_a_result_may_come_after_its_call_and_a_call_has_one_place_by_its_id(desk: Desk) -> None:
    called = CallIn(tool="Read", arguments={"file_path": "a.py"}, id="c1")
    other = CallIn(tool="Bash", arguments={"command": "make"}, id="c2")
    begun = await desk.record(id="t", request="Look.", calls=[called], done=False)
    assert [(one.version, one.fresh) for one in begun.documents] == [(None, False)]
    answered = read("a.py", "one", id="c1")
    ended = await desk.record(id="t", calls=[other, answered], answer="Seen.")
    assert [(one.number, one.version, one.fresh) for one in ended.documents] == [(0, 1, True)]
    assert (await desk.record(id="t", calls=[answered, other], answer="Seen.")).outcome == "existing"
    assert desk.rows("SELECT number, tool, version, result_head FROM memsvc.procedures WHERE user_id = USER "
                     "ORDER BY number") == [(0, "READ", 1, "one"), (1, "BASH", None, "")]  # fmt: skip
    with pytest.raises(TurnConflictError):
        await desk.record(id="t", calls=[read("b.py", "one", id="c1")])


async def test_contents_of_documents_are_not_kept_if_a_setting_says_so(desk: Desk) -> None:
    desk.limits = desk.limits.model_copy(update={"turn_contents": False})
    await desk.record(request="Look.", calls=[read("a.py", "quark one"), write("a.py", "quark two")])
    assert desk.versions() == [("shop//a.py", 1, False, False), ("shop//a.py", 2, True, False)]
    [kept] = desk.rows(
        "SELECT string_agg(arguments || result_head, ''), sum(result_bytes) FROM memsvc.tool_calls WHERE user_id = USER"
    )
    assert "quark" not in kept[0]
    assert "[9 bytes]" in kept[0]
    assert kept[1] == 16


DOMAINS: dict[str, list[tuple[str, str, list[CallIn], str]]] = {
    "auth.py": [
        ("code", "Why does the login fail?", [read("src/auth.py", "import bcrypt")], "bcrypt was too new."),
        ("code", "Format all files.", [CallIn(tool="Bash", arguments={"command": "ruff format"})], "Done."),
    ],
    "TSLA": [
        ("trading", "Close the losing position.", [CallIn(tool="Order", arguments={"symbol": "TSLA"})], "Sold."),
        ("trading", "How did the market do?", [CallIn(tool="Quote", arguments={"symbol": "SPX"})], "It fell."),
    ],
    "iron condor": [
        ("talk", "My brother sells an iron condor each month. What is that?", [], "Two spreads, sold at once."),
        ("talk", "Which bird is on the fence?", [], "A heron, as it seems."),
    ],
}  # fmt: skip


async def test_one_configuration_finds_rare_words_of_code_trading_and_talk_first(desk: Desk, tmp_path: Path) -> None:
    for nth, (_, turns) in enumerate(DOMAINS.items()):
        for at, (project, request, calls, answer) in enumerate(turns):
            where = {"conversation": project, "project": project, "root": f"/{project}"}
            await desk.record(id=f"{nth}.{at}", request=request, calls=calls, answer=answer, **where)
    for nth, rare in enumerate(DOMAINS):
        found = await desk.past(f"What about {rare}?", project=None, root=None)
        assert found.turns[0].id == f"{nth}.0", rare
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "notes.txt").write_text("one")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for folder in ("real", "link"):
        draft = TurnDraft(f"by {folder}", {})
        draft.user("Look.")
        draft.read(str(tmp_path / folder / "notes.txt"))
        await record_turn(desk.db, desk.owner, draft.part(done=True), desk.limits)
    real = on_disk(str(tmp_path / "link" / "notes.txt"))
    assert [row for row in desk.versions() if row[0].endswith("notes.txt")] == [(real, 1, False, False)]
    assert desk.rows("SELECT count(*) FROM memsvc.model_calls WHERE user_id = USER") == [(0,)]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (CallIn(tool="READ", arguments={"path": "../../../../etc/passwd"}, result="x"), ("/etc/passwd", 1)),
        (CallIn(tool="READ", arguments={"path": "C:\\Users\\Kim\\a.py"}, result="x"), ("c:/users/kim/a.py", 1)),
        (CallIn(tool="READ", arguments={"path": "gone.py"}, result="No such file", ok=False), ("shop//gone.py", None)),
        (CallIn(tool="READ", arguments={"path": "a.bin"}, result="\0\1\2" * 9, sha256="a" * 64), ("shop//a.bin", 1)),
        (CallIn(tool="READ", arguments={"path": "big.txt"}, result="y" * 50_000_000), ("shop//big.txt", 1)),
        (CallIn(tool="BASH", arguments={"command": "x", "password": "hunter2hunter2"}, result="y"), (None, None)),
    ],
)  # fmt: skip
async def test_bad_input_gives_the_right_row(desk: Desk, call: CallIn, told: tuple[str | None, int | None]) -> None:
    turn: dict[str, Any] = {"id": "t", "request": "Look.", "answer": "Seen.", "calls": [call]}
    told_twice = [await desk.record(**turn), await desk.record(**turn)]
    assert [one.outcome for one in told_twice] == ["created", "existing"]
    assert desk.rows("SELECT document, version FROM memsvc.procedures WHERE user_id = USER") == [told]
    assert [text for _, ordinal, text in desk.texts() if ordinal != 1] == ["Look.", "Seen."]
    assert "hunter2" not in str(desk.rows("SELECT arguments, result_head FROM memsvc.tool_calls WHERE user_id = USER"))
    assert desk.rows(
        "SELECT length(result_head || result_tail) <= 2000 FROM memsvc.tool_calls WHERE user_id = USER"
    ) == [(True,)]


async def test_names_without_case_are_one_document_and_many_versions_are_counted(desk: Desk) -> None:
    for path in ("Src/A.py", "src/a.PY"):
        await desk.record(request="Look.", ignores_case=True, calls=[read(path, "one")])
    assert [row[:2] for row in desk.versions()] == [("shop//src/a.py", 1)]
    for number in range(3):
        calls = [read("hot.py", f"{number}.{nth}") for nth in range(200)]
        assert (await desk.record(id=f"h{number}", request="Watch.", calls=calls)).versions == 200
    [turn, *_] = (await desk.past(files=["hot.py"], limit=50)).turns
    assert [(one.version, one.staleness) for one in turn.documents] == [(600, 0)]


async def test_chats_and_hooks_are_taken_by_name_and_unknown_ones_refused(desk: Desk) -> None:
    asked = {"role": "user", "content": "Fix it."}
    chat = {"messages": [asked, {"role": "assistant", "content": "Fixed."}, {"role": "user", "content": "And this?"}]}
    for source in CHATS:
        for outcomes in (["created", "created"], ["existing", "existing"]):
            told = json.dumps(chat if source != "openai-responses" else chat["messages"]).encode()
            stored = await record_chat(desk.db, desk.owner, told, desk.limits, source=source, conversation=source)
            assert [one.outcome for one in stored] == outcomes, source
            assert [one.done for one in stored] == [True, False]
    seen = {
        "hook_event_name": "beforeReadFile", "conversation_id": "h", "generation_id": "g", "file_path": "/x/a.py",
        "content": "one",
    }  # fmt: skip
    await record_hook(desk.db, desk.owner, json.dumps(seen).encode(), desk.limits, source="cursor")
    assert desk.rows("SELECT agent, told FROM memsvc.procedures WHERE user_id = USER") == [("cursor", "READ /x/a.py")]
    with pytest.raises(InvalidRequestError, match="claude-code"):
        await record_hook(desk.db, desk.owner, json.dumps(seen).encode(), desk.limits, source="claude-code")
    with pytest.raises(InvalidRequestError, match="'aider' is unknown"):
        check_source("aider")
    with pytest.raises(InvalidRequestError):
        await record_chat(desk.db, desk.owner, b"{}", desk.limits, source="openai-chat", conversation="x")
