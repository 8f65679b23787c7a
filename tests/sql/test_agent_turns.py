"""Turns of agents: stored once and whole, with the documents that they touched; past work; what erasing leaves."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from itertools import count
from math import log
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsvc.access.pausing import pause
from memsvc.access.users import add_user
from memsvc.documents.form import Chunk, ParsedDocument
from memsvc.erasing.memories import erase
from memsvc.errors import InvalidRequestError, MemsvcError, TurnConflictError
from memsvc.sources.documents import DocumentIn, store_document
from memsvc.turns.calls import CallIn
from memsvc.turns.past import PastWorkIn, past_work
from memsvc.turns.recording import record_hook
from tests.sql.desk import SHOP, Desk, read, write


async def test_a_turn_is_stored_once_and_other_words_under_its_id_are_refused(desk: Desk) -> None:
    turn: dict[str, Any] = {
        "id": "t1", "request": "Fix the login.", "answer": "Pinned bcrypt.", "agent": "claude", "commit": "abc1",
        "calls": [
            read("src/auth.py", "def login"),
            CallIn(
                tool="Bash", arguments={"command": "pytest --token ghp_" + "a1" * 18}, ok=False, exit_code=1, ms=12,
                result="E AttributeError: no __about__\n1 failed",
            ),
        ],
    }  # fmt: skip
    first = await desk.record(**turn)
    assert (first.outcome, first.calls, first.versions, first.done) == ("created", 2, 1, True)
    again = await desk.record(**turn)
    assert (again.outcome, again.turn_id, again.calls, again.job_id) == ("existing", first.turn_id, 0, None)
    assert desk.texts() == [
        ("t1", 0, "Fix the login."),
        ("t1", 1, "READ src/auth.py\nBASH pytest --token [secret:github] — failed: 1 failed"),
        ("t1", 2, "Pinned bcrypt."),
    ]
    assert desk.rows("SELECT tool, document, version, staleness, wrote, ok, exit_code, ms FROM memsvc.procedures "
                     "WHERE user_id = USER ORDER BY number") == [
        ("READ", "shop//src/auth.py", 1, 0, False, True, None, None), ("BASH", None, None, None, False, False, 1, 12),
    ]  # fmt: skip
    for other in ({"request": "Else."}, {"answer": "Else."}, {"calls": [*turn["calls"][:1], write("a", "b")]}):
        with pytest.raises(TurnConflictError):
            await desk.record(**{**turn, **other})
    with pytest.raises(TurnConflictError):
        await desk.record(**{**turn, "calls": [*turn["calls"], write("a.py", "b")]})
    assert desk.rows("SELECT count(*) FROM memsvc.tool_calls WHERE user_id = USER") == [(2,)]
    assert desk.rows("SELECT count(*) FROM memsvc.model_calls WHERE user_id = USER") == [(0,)]


async def test_an_open_turn_gets_its_parts_in_any_order_and_is_never_lost(desk: Desk) -> None:
    begun = await desk.record(id="t1", request="Add a chart.", done=False)
    assert (begun.outcome, begun.done) == ("created", False)
    late = CallIn(tool="Bash", arguments={"command": "make"}, number=2)
    assert (await desk.record(id="t1", calls=[late], done=False)).outcome == "changed"
    assert [one.done for one in (await desk.past("chart", conversation="tuesday")).turns] == [False]
    early = [CallIn(tool="Grep", arguments={"pattern": "axis"}, number=0), late]
    assert (await desk.record(id="t1", calls=early, done=False)).calls == 1
    assert (await desk.record(id="t1", calls=[late], done=False)).outcome == "existing"
    ended = await desk.record(id="t1", answer="Done.", ok=True)
    assert (ended.outcome, ended.turn_id) == ("changed", begun.turn_id)
    assert [text for _, _, text in desk.texts()] == ["Add a chart.", "GREP axis\nBASH make", "Done."]


async def test_two_agents_at_once_make_each_turn_and_each_version_once(desk: Desk) -> None:
    paths = ["a.py", "b.py", "c.py"]
    turns = [
        {
            "id": f"t{number}", "request": f"Ask {number}.", "conversation": f"c{number % 3}",
            "calls": [read(one, "same") for one in (paths if number % 2 else reversed(paths))],
        }
        for number in range(6)
    ]  # fmt: skip
    told = await asyncio.gather(*(desk.record(**turn) for turn in turns * 2))
    assert sorted(one.outcome for one in told) == ["created"] * 6 + ["existing"] * 6
    assert [row[:2] for row in desk.versions()] == [(f"shop//{path}", 1) for path in paths]
    assert desk.rows("SELECT count(*) FROM memsvc.tool_calls WHERE user_id = USER") == [(18,)]


async def test_a_document_is_one_wherever_the_project_lies_and_however_it_came(desk: Desk) -> None:
    await desk.record(request="one", calls=[read("src/a.py", "1")])
    await desk.record(request="moved", root="/new/place", calls=[read("/new/place/src/../src/a.py", "1")])
    await desk.record(request="from outside", calls=[read("src/a.py", "2")])
    await desk.record(request="by us", calls=[write("src/a.py", "3"), read("src/a.py", "3")])
    await desk.record(request="other", project="other", root="/else", calls=[read("src/a.py", "1")])
    await desk.record(request="taken", project="third", calls=[read("src/a.py", "1")])
    assert desk.versions() == [
        ("other//src/a.py", 1, False, False),
        ("shop//src/a.py", 1, False, False), ("shop//src/a.py", 2, False, False), ("shop//src/a.py", 3, True, False),
        ("third//src/a.py", 1, False, False),
    ]  # fmt: skip


async def test_an_ingested_file_is_the_same_document_and_an_ingest_fills_what_an_agent_made(desk: Desk) -> None:
    async def ingest(content: str, *texts: str) -> tuple[str, int | None]:
        document = DocumentIn(
            identifier=f"{SHOP}/notes.md", path="notes.md", sha256=hashlib.sha256(content.encode()).hexdigest(),
            size=len(content),
            parse=lambda: ParsedDocument(format="md", title="Notes", chunks=[Chunk(text=one) for one in texts]),
        )  # fmt: skip
        stored = await store_document(desk.db, desk.owner, document, desk.limits)
        return stored.outcome, stored.version

    def open_chunks() -> list[str]:
        return [row[0] for row in desk.rows(
            "SELECT text FROM memsvc.passages WHERE user_id = USER AND kind = 'chunk' AND recorded_to = 'infinity' "
            "ORDER BY ordinal"
        )]  # fmt: skip

    assert await ingest("1", "one", "two") == ("created", 1)
    assert (await desk.record(request="look", calls=[read("notes.md", "1")])).versions == 0
    assert (await desk.record(request="change", calls=[write("notes.md", "2")])).versions == 1
    assert desk.versions() == [("shop//notes.md", 1, False, True), ("shop//notes.md", 2, True, False)]
    assert open_chunks() == ["one", "two"]
    assert await ingest("2", "zero", "two") == ("changed", 2)
    assert desk.versions()[-1] == ("shop//notes.md", 2, True, True)
    assert (open_chunks(), await ingest("2", "zero", "two")) == (["zero", "two"], ("existing", 2))
    assert await ingest("3", "three") == ("changed", 3)
    assert await ingest("1", "one", "two") == ("changed", 4)


async def test_what_cannot_be_stored_is_refused_and_the_rest_is_kept_whole(desk: Desk) -> None:
    for wrong in (
        {"request": None}, {"request": " "}, {"request": "a\0b"}, {"conversation": " "}, {"id": ""}, {"done": False},
        {"root": "shop"}, {"calls": [CallIn(tool="READ", document="../x")], "root": None},
        {"calls": [CallIn(tool="X", number=1), CallIn(tool="X", number=1)]}, {"at": "yesterday"},
    ):  # fmt: skip
        with pytest.raises(MemsvcError):
            await desk.record(**{"request": "x", **wrong})
    with pytest.raises(InvalidRequestError) as met:
        await desk.record(request="x", calls=[CallIn(tool="A"), CallIn(tool="READ", document="x" * 600)])
    assert met.value.details["call"] == 1
    odd = CallIn(tool="Bash\0", arguments={"command": "a\0b", "deep": _nested(200)}, result="\0\x01\x02" * 9)
    huge = CallIn(tool="Bash", arguments={"command": "x" * 200_000}, result="y" * 3_000_000)
    await desk.record(id="t", request="Odd.", calls=[odd, huge, CallIn(tool="READ", arguments={"path": "../../../x"})])
    assert desk.rows(
        "SELECT length(arguments::text) < 70000, result_bytes, length(result_head || result_tail) "
        "FROM memsvc.tool_calls WHERE user_id = USER ORDER BY number"
    ) == [(True, 27, 8), (True, 3_000_000, 2_000), (True, None, 0)]
    await pause(desk.db, desk.owner)
    assert (await desk.record(request="Not now.")).outcome == "paused"


def _nested(depth: int) -> Any:
    return {"x": _nested(depth - 1)} if depth else 1


async def test_past_work_finds_similar_requests_and_shared_files_and_nothing_of_this_conversation(desk: Desk) -> None:
    failed = CallIn(tool="Bash", arguments={"command": "pip install psycopg2"}, ok=False, result="pg_config missing")
    await desk.record(id="1", request="Install the database driver.", answer="Use psycopg[binary].", calls=[failed])
    await desk.record(id="2", request="Make the header blue.", answer="Done.", calls=[read("auth.py", "1")])
    await desk.record(id="3", request="Rename a variable.", conversation="tuesday", calls=[write("auth.py", "2")])
    await desk.record(id="4", request="Water the plants.", project="home", root="/home/kim/home", calls=[failed])
    found = await desk.past("the database driver", conversation="tuesday")
    assert [one.id for one in found.turns] == ["1"]
    assert "BASH pip install psycopg2 — failed: pg_config missing" in found.text
    assert "Use psycopg[binary]." in found.text
    shared = await desk.past("Why can nobody sign in?", files=["auth.py"])
    assert [one.id for one in shared.turns] == ["3", "2"]
    assert "shop//auth.py: changed since: v1 → v2" in shared.text
    assert {one.id for one in (await desk.past(files=["auth.py"], conversation="monday")).turns} == {"3"}
    assert [one.id for one in (await past_work(
        desk.db, desk.owner, PastWorkIn(query="", files=["auth.py"]), desk.limits
    )).turns] == ["3", "2"]  # fmt: skip
    assert [one.id for one in (await desk.past("plants driver", within_project=True)).turns] == ["1"]
    assert [one.id for one in (await desk.past("header driver", tool="read")).turns] == ["2"]
    assert [one.id for one in (await desk.past("header driver", ok=False)).turns] == ["1"]
    assert [one.id for one in (await desk.past("header driver", ok=True)).turns] == ["2"]
    assert (await desk.past("the database driver", budget=50)).text == ""
    brief = (await desk.past("the database driver", budget=110)).text
    assert "failed" in brief or not brief


async def test_erasing_a_turn_takes_all_of_it_and_it_does_not_come_back(desk: Desk) -> None:
    turn: dict[str, Any] = {
        "id": "t1", "request": "Zanzibar ask.", "answer": "Zanzibar answer.", "agent": "a", "commit": "c",
        "calls": [read("zanzibar.py", "1"), read("shared.py", "1")],
    }  # fmt: skip
    await desk.record(**turn)
    await desk.record(id="t2", request="Other.", calls=[read("shared.py", "1")])
    [(passage,)] = desk.rows(
        "SELECT passage_id FROM memsvc.passages WHERE user_id = USER AND session = 't1' AND ordinal = 2"
    )
    receipt = await erase(desk.db, desk.owner, "message", passage, requested_by="tests")
    assert (receipt.state, receipt.verified, receipt.leftovers) == ("done", True, {})
    gone = {"passages": 3, "turns": 1, "tool_calls": 2, "document_versions": 1, "sources": 1}
    assert {name: receipt.counts[name] for name in gone} == gone
    assert (await desk.record(**turn)).outcome == "erased"
    assert desk.rows("SELECT count(*) FROM memsvc.terms WHERE user_id = USER AND term LIKE 'zanzibar%%'") == [(0,)]
    [(document,)] = desk.rows("SELECT source_id FROM memsvc.sources WHERE user_id = USER AND kind = 'document'")
    receipt = await erase(desk.db, desk.owner, "source", document, requested_by="tests")
    assert (receipt.state, receipt.leftovers) == ("done", {})
    assert desk.rows("SELECT document, told FROM memsvc.procedures WHERE user_id = USER") == [(None, "READ shared.py")]
    assert (await desk.record(id="t3", request="Again.", calls=[read("shared.py", "1")])).versions == 0
    [(conversation,)] = desk.rows("SELECT source_id FROM memsvc.sources WHERE user_id = USER AND kind = 'turn'")
    receipt = await erase(desk.db, desk.owner, "source", conversation, requested_by="tests")
    assert (receipt.state, receipt.leftovers) == ("done", {})
    for table in ("turns", "tool_calls", "passages", "document_versions"):
        assert desk.rows(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = USER") == [(0,)]
    assert (await desk.record(id="t2", request="Other.")).outcome == "erased"


HOOKS: dict[str, list[dict[str, Any]]] = {
    "claude": [
        {"hook_event_name": "UserPromptSubmit", "session_id": "h", "prompt": "Fix it."},
        {
            "hook_event_name": "PostToolUse", "session_id": "h", "tool_name": "Read",
            "tool_input": {"file_path": "FOLDER/a.py"}, "tool_response": {"file": {"content": "     1 x"}},
        },
        {
            "hook_event_name": "PostToolUse", "session_id": "h", "tool_name": "Bash",
            "tool_input": {"command": "make"}, "tool_response": {"stdout": "", "stderr": "Error: 2", "exit_code": 2},
        },
        {"hook_event_name": "Stop", "session_id": "h", "transcript_path": "FOLDER/log.jsonl"},
    ],
    "cursor": [
        {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "h", "generation_id": "g", "prompt": "Fix it."},
        {
            "hook_event_name": "afterFileEdit", "conversation_id": "h", "generation_id": "g",
            "file_path": "FOLDER/a.py", "edits": [],
        },
        {
            "hook_event_name": "afterShellExecution", "conversation_id": "h", "generation_id": "g", "command": "make",
            "output": "fine", "duration": 12.4,
        },
        {"hook_event_name": "stop", "conversation_id": "h", "generation_id": "g", "status": "completed"},
    ],
    "codex": [
        {
            "type": "agent-turn-complete", "thread-id": "h", "turn-id": "t", "cwd": "FOLDER",
            "input-messages": ["Fix it."], "last-assistant-message": "Fixed.",
        },
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("agent", "calls", "answer"),
    [
        ("claude", [("READ a.py", True), ("BASH make — failed: Error: 2", False)], "Fixed."),
        ("cursor", [("EDIT a.py", True), ("BASH make", True)], None),
        ("codex", [], "Fixed."),
    ],
)
async def test_hooks_of_agents_make_whole_turns(
    desk: Desk, tmp_path: Path, agent: str, calls: list[tuple[str, bool]], answer: str | None
) -> None:
    (tmp_path / ".memsvc-project").write_text("shop")
    (tmp_path / "a.py").write_text("x")
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Fixed."}]}}
    (tmp_path / "log.jsonl").write_text('{"type": "user"}\nbroken\n' + json.dumps(said) + "\n")
    for event in HOOKS[agent]:
        told = json.dumps({"cwd": "FOLDER", **event}).replace("FOLDER", str(tmp_path))
        assert await record_hook(desk.db, desk.owner, told.encode(), desk.limits, agent=agent) is not None
    [turn] = (await desk.past("fix", project="shop")).turns
    assert (turn.request, turn.answer, turn.done, turn.agent, turn.project) == ("Fix it.", answer, True, agent, "shop")
    assert [(call.told, call.ok) for call in turn.calls] == calls
    assert [row[:2] for row in desk.versions()] == ([("shop//a.py", 1)] if calls else [])
    for nonsense in (b"{", b"[]", b"{}", b'{"request": 1}'):
        with pytest.raises(InvalidRequestError):
            await record_hook(desk.db, desk.owner, nonsense, desk.limits)


TURN = st.tuples(
    st.integers(0, 2), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), min_size=1, max_size=3)
)
"""A conversation, and calls: a file, a content, whether it is written."""


@pytest.fixture
def numbers() -> Callable[[], int]:
    return count().__next__


@given(history=st.lists(TURN, min_size=1, max_size=6), asked=st.sets(st.integers(0, 3), min_size=1, max_size=3))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
async def test_signals_and_past_work_equal_a_plain_model(
    desk: Desk,
    app: UUID,
    numbers: Callable[[], int],
    history: list[tuple[int, list[tuple[int, int, bool]]]],
    asked: set[int],
) -> None:
    owner = (await add_user(desk.db, app, name="Model", external_id=f"model-{numbers()}")).owner
    desk = Desk(desk.db, desk.limits, owner, desk.admin)
    contents: dict[int, list[int]] = {}
    seen: list[dict[int, int]] = []
    for number, (conversation, calls) in enumerate(history):
        await desk.record(
            id=str(number), request="x", conversation=str(conversation),
            calls=[(write if wrote else read)(f"f{file}.py", f"{content}") for file, content, wrote in calls],
        )  # fmt: skip
        seen.append({})
        for file, content, _ in calls:
            known = contents.setdefault(file, [])
            if not known or known[-1] != content:
                known.append(content)
            seen[-1][file] = len(known)
    familiar = {
        file: len({conversation for (conversation, _), one in zip(history, seen, strict=True) if file in one})
        for file in contents
    }
    assert dict(desk.rows("SELECT document, version FROM memsvc.document_signals WHERE user_id = USER")) == {
        f"shop//f{file}.py": len(known) for file, known in contents.items()
    }
    for document, versions, volatility, familiarity in desk.rows(
        "SELECT document, versions, volatility, familiarity FROM memsvc.document_signals WHERE user_id = USER"
    ):
        assert volatility == pytest.approx(0 if versions < 2 else versions)  # all of them within a day
        assert familiarity == familiar[int(document[-4])]
    scores: dict[str, float] = {}
    for number, touched in enumerate(seen):
        shared = [1 / (1 + log(sum(file in one for one in seen))) for file in asked if file in touched]
        if not shared:
            continue
        stale = sum(len(contents[file]) - version for file, version in touched.items()) / len(touched)
        known_best = max(familiar[file] for file in touched)
        scores[str(number)] = 3 * min(1, sum(shared)) + 0.5 - 0.3 * stale / (1 + stale) + 0.1 * log(known_best)
    found = await desk.past(files=[f"f{file}.py" for file in asked], limit=50)
    assert {one.id: one.score for one in found.turns} == pytest.approx(scores)
    assert [one.score for one in found.turns] == sorted((one.score for one in found.turns), reverse=True)
    for turn in found.turns:
        assert turn.score == pytest.approx(sum(turn.factors.values()))
        assert {one.document: one.staleness for one in turn.documents} == {
            f"shop//f{file}.py": len(contents[file]) - version for file, version in seen[int(turn.id)].items()
        }
