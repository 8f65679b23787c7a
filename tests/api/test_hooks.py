"""Hooks for chat apps: a block before the model, the answer behind it, and forgetting in the end."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import httpx
import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner, add_user
from memsvc.chat.afterwards import Afterwards
from memsvc.chat.forgetting import forgetting_steps
from memsvc.chat.storing import store_noted
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase
from memsvc.errors import OverloadedError
from memsvc.observe import REGISTRY
from memsvc.recall.signals import Note, new_recall_id, note_of
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, prepare
from tests.api.conftest import Connect

NOTED = "SELECT recall_id::text FROM memsvc.recall_events WHERE user_id = %s AND door = 'hook'"
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
SAID = {"conversation": "petals", "text": "My sister Ines lives in Porto.", "message_id": "1"}


async def test_a_message_is_enriched_and_stored_once(ada: httpx.AsyncClient) -> None:
    first = (await ada.post("/v1/hooks/message", json=SAID)).json()
    assert first["stored"]["outcome"] == "created"
    assert "Porto" not in first["text"], "nobody is reminded of what he just says"
    again = (await ada.post("/v1/hooks/message", json=SAID)).json()
    assert again["stored"]["outcome"] == "existing"
    asked = {"conversation": "other", "text": "Where does Ines live?", "store": False}
    told = (await ada.post("/v1/hooks/message", json=asked)).json()
    assert "My sister Ines lives in Porto." in told["text"]
    assert (told["stored"], told["degraded"], told["relevant"]) == (None, [], True)
    [opened] = [await ada.get(f"/v1/memories/{name}") for name in told["ids"][:1]]
    assert opened.json()["text"] == SAID["text"]
    assert [one["identifier"] for one in (await ada.get("/v1/conversations")).json()["items"]] == ["petals"]


async def test_only_the_message_itself_is_left_out(ada: httpx.AsyncClient) -> None:
    picture = {"conversation": "petals", "text": "", "caption": "An old tabby cat on a wall", "id": "1"}
    words = {"conversation": "petals", "text": "tabby", "speaker": "Ada", "id": "2"}
    assert (await ada.post("/v1/messages", json={"messages": [picture, words]})).status_code < 300
    await ada.post("/v1/hooks/message", json={"conversation": "petals", "text": "Yes.", "message_id": "3"})
    asked = {"conversation": "petals", "text": "How old is the tabby cat?", "message_id": "4", "format": "messages"}
    await ada.post("/v1/hooks/message", json=asked)
    again = (await ada.post("/v1/hooks/message", json=asked)).json()
    [block] = again["messages"]
    assert again["stored"]["outcome"] == "existing"
    assert "tabby cat on a wall" in block["content"]
    assert "Ada: “tabby”" in block["content"]
    assert asked["text"] not in block["content"]
    yes = asked | {"text": "Yes.", "message_id": "5", "recent_turns": 9}
    for _ in range(2):
        told = (await ada.post("/v1/hooks/message", json=yes)).json()
        assert [turn["content"] for turn in told["messages"][1:]][-2:] == ["Yes.", asked["text"]]


async def test_an_answer_is_taken_in(ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/hooks/message", json=SAID)
    answered = {"conversation": "petals", "text": "Porto is lovely.", "message_id": "2", "speaker": "Petal"}
    taken = await ada.post("/v1/hooks/response", json=answered)
    assert (taken.status_code, taken.json()["outcome"]) == (202, "created")
    assert taken.json()["job_id"]
    told = await ada.post(
        "/v1/hooks/message", json=SAID | {"text": "And?", "message_id": "3", "format": "messages", "recent_turns": 5}
    )
    assert [(one["role"], one["content"]) for one in told.json()["messages"][1:]] == [
        ("user", SAID["text"]),
        ("assistant", "Porto is lovely."),
    ]


async def test_a_message_is_stored_though_recall_fails(ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("memsvc.chat.reminding.build_context", fails)
    told = (await ada.post("/v1/hooks/message", json=SAID)).json()
    assert (told["text"], told["degraded"], told["stored"]["outcome"]) == ("", ["internal"], "created")


async def test_what_was_recalled_is_noted_with_the_message(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    await ada.post("/v1/hooks/message", json=SAID)
    asked = {"conversation": "other", "text": "Where does Ines live?", "message_id": "1"}
    told = (await ada.post("/v1/hooks/message", json=asked)).json()
    assert admin.execute(NOTED, [owner.user_id]).fetchall() == [(told["recall_id"],)], "noted when the answer is here"
    refused = await ada.post("/v1/hooks/message", json=asked | {"text": "Where in Porto does Ines live?"})
    assert (refused.status_code, refused.json()["code"]) == (409, "message_conflict")
    assert admin.execute(NOTED, [owner.user_id]).fetchall() == [(told["recall_id"],)], "nobody got the other one"


async def test_a_message_is_stored_though_its_recall_cannot_be_noted(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ada.post("/v1/hooks/message", json=SAID)
    monkeypatch.setattr(
        "memsvc.chat.enriching.note_of", lambda recalled, **_: note_of(recalled, door="NO DOOR", mode="balanced")
    )
    asked = {"conversation": "other", "text": "Where does Ines live?"}
    told = await ada.post("/v1/hooks/message", json=asked)
    assert (told.status_code, told.json()["stored"]["outcome"]) == (200, "created")
    for table, rows in (("passages", 2), ("recall_events", 0)):
        count = f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s"
        assert admin.execute(count.encode(), [owner.user_id]).fetchone() == (rows,)


async def test_a_message_never_waits_for_an_erasure_because_of_its_note(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    await ada.post("/v1/hooks/message", json=SAID)
    asked = {"conversation": "other", "text": "Where does Ines live?"}
    with admin.transaction():  # as memsvc.lock_memories
        admin.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('memsvc memories of ' || %s::text, 0))", [owner.user_id]
        )
        async with asyncio.timeout(5):
            told = (await ada.post("/v1/hooks/message", json=asked)).json()
        assert told["stored"]["outcome"] == "created"
        assert admin.execute(NOTED, [owner.user_id]).fetchall() == []
    async with asyncio.timeout(5):
        while admin.execute(NOTED, [owner.user_id]).fetchall() != [(told["recall_id"],)]:  # noqa: ASYNC110 - SQL polls
            await asyncio.sleep(0.02)


async def test_a_message_that_cannot_be_stored_is_no_failure_of_its_note(
    owner: Owner, db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed() -> float | None:
        return REGISTRY.get_sample_value("memsvc_recalls_recorded_total", {"outcome": "failed"})

    before = failed()
    monkeypatch.setattr("memsvc.sources.messages._values", lambda *_: {"user_id": owner.user_id, "rows": "no JSON"})
    [prepared] = prepare([MessageIn(conversation="petals", text="Oak.")], owner, settings)
    note = Note(new_recall_id(), "hook", "balanced", [])
    with pytest.raises(psycopg.DataError):
        await store_noted(db, owner, prepared, note, Afterwards())
    assert failed() == before


async def test_what_cannot_be_stored_is_refused(ada: httpx.AsyncClient) -> None:
    for body, code in (
        (SAID | {"text": " "}, "empty_text"),
        (SAID | {"text": "\0"}, "invalid_text"),
        (SAID | {"said_at": "soon"}, "invalid_time"),
        (SAID | {"budget_tokens": 1}, "invalid_request"),
        (SAID | {"unknown": 1}, "invalid_request"),
        (SAID | {"forget": "session"}, "invalid_request"),
    ):
        answer = await ada.post("/v1/hooks/message", json=body)
        assert (answer.status_code, answer.json()["code"]) == (400, code)
    await ada.post("/v1/hooks/response", json=SAID)
    other = await ada.post("/v1/hooks/response", json=SAID | {"text": "Something else."})
    assert (other.status_code, other.json()["code"]) == (409, "message_conflict")


async def test_two_users_at_once_share_nothing(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    asked = {"conversation": "petals", "text": "Where does sister Ines live?", "recent_turns": 5}
    await asyncio.gather(ada.post("/v1/hooks/message", json=SAID), bob.post("/v1/hooks/message", json=asked))
    his, hers = await asyncio.gather(*(one.post("/v1/hooks/message", json=asked) for one in (bob, ada)))
    assert "Porto" in hers.json()["text"]
    assert "Porto" not in his.text


async def test_a_session_is_forgotten_when_it_ends(connect: Connect, owner: Owner, other: Owner) -> None:
    ada, bob = [await connect("read", "write", "forget", user=user) for user in (owner, other)]
    await ada.post("/v1/hooks/message", json=SAID)
    end = {"conversation": "petals"}
    stays = await ada.post("/v1/hooks/session-end", json=end)
    assert (stays.status_code, stays.json()) == (200, {"forgotten": None})
    foreign = await bob.post("/v1/hooks/session-end", json=end | {"forget": "conversation"})
    assert (foreign.status_code, foreign.json()["code"]) == (404, "conversation_unknown")
    gone = (await ada.post("/v1/hooks/session-end", json=end | {"forget": "conversation"})).json()["forgotten"]
    assert (gone["state"], gone["verified"]) == ("done", True)
    assert (await ada.post("/v1/recall", json={"query": "Ines Porto"})).json()["memories"] == []
    assert (await ada.get("/v1/conversations")).json()["items"] == []


async def test_a_conversation_whose_end_is_told_twice_at_once_is_unknown_then(
    connect: Connect, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def after_another(*args: Any, **options: Any) -> Any:
        await erase(*args, **options)
        return await erase(*args, **options)

    ada = await connect("read", "write", "forget", user=owner)
    monkeypatch.setattr("memsvc.chat.forgetting.erase", after_another)
    for said, end in (({"forget": "conversation"}, {}), ({}, {"forget": "conversation"})):
        await ada.post("/v1/hooks/response", json=SAID | said | {"message_id": f"of {end}"})
        late = await ada.post("/v1/hooks/session-end", json={"conversation": "petals"} | end)
        assert (late.status_code, late.json()["code"]) == (404, "conversation_unknown")


async def test_instructions_count_where_their_condition_holds(ada: httpx.AsyncClient) -> None:
    for label, when in (
        ("Name the grade of oak", {"keywords": ["oak"]}),
        ("Ask how the night was", {"event": "begin"}),
        ("Be kind", None),
    ):
        data = {"when": when, "pinned": True} if when is not None else {}
        node = {"type": "Instruction", "label": label, "data": data}
        assert (await ada.post("/v1/nodes", json=node)).status_code == 201
    first = (await ada.post("/v1/hooks/message", json=SAID | {"text": "Which oak?"})).json()["text"]
    assert "Name the grade of oak" in first
    assert "why" not in first, "a model reads it"
    assert "Ask how the night was" in first
    second = (await ada.post("/v1/hooks/message", json=SAID | {"text": "Which elm?", "message_id": "2"})).json()["text"]
    for label, expected in (("grade", False), ("night", False), ("Be kind", True)):
        assert (label in second) is expected, label


@pytest.mark.parametrize(
    "when", [{"keyword": "misspelt"}, {"between": ["8", "25:00"]}, {"weekdays": ["So"]}, "oak", None]
)
async def test_a_condition_that_nobody_can_read_is_refused(ada: httpx.AsyncClient, when: object) -> None:
    node = {"type": "Instruction", "label": "Never shown", "data": {"when": when}}
    for path, body in (("/v1/nodes", node), ("/v1/changes", {"operations": [{"op": "node", **node}]})):
        problem = (await ada.post(path, json=body)).json()
        assert (problem.get("status"), problem.get("code"), problem.get("field")) == (400, "invalid_request", "data")
        assert "weekdays" in problem["hint"]
    assert (await ada.post("/v1/nodes", json=node | {"type": "Project"})).status_code == 201  # it means nothing there


async def test_timed_instructions_go_by_the_users_clock(connect: Connect, db: Database, app: UUID) -> None:
    now = datetime.now(ZoneInfo("Asia/Tokyo"))
    around = [f"{now + timedelta(hours=hours):%H:%M}" for hours in (-2, 2)]
    instructions = {"Say the hour": around, "Say good night": around[::-1]}
    for zone, expected in (("Asia/Tokyo", "Say the hour"), ("America/Bogota", "Say good night")):
        ida = await connect(
            "read", "write", user=(await add_user(db, app, name=f"Ida in {zone}", time_zone=zone)).owner
        )
        for label, between in instructions.items():
            node = {"type": "Instruction", "label": label, "data": {"when": {"between": between}}}
            assert (await ida.post("/v1/nodes", json=node)).status_code == 201
        told = (await ida.post("/v1/hooks/message", json=SAID)).json()["text"]
        assert [label for label in instructions if label in told] == [expected]


async def test_a_marked_conversation_goes_with_its_session_or_in_silence(
    connect: Connect, owner: Owner, other: Owner, db: Database, admin: psycopg.Connection
) -> None:
    ada, bob = [await connect("read", "write", "forget", user=user) for user in (owner, other)]
    meek = await connect("read", "write", user=owner)
    marked = SAID | {"forget": "conversation", "idle_hours": 5}
    refused = await meek.post("/v1/hooks/message", json=marked)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    for client in (ada, bob):
        for name in ("ended", "left", "fresh"):
            assert (await client.post("/v1/hooks/response", json=marked | {"conversation": name})).status_code == 202
    gone = (await ada.post("/v1/hooks/session-end", json={"conversation": "ended"})).json()["forgotten"]
    assert (gone["state"], gone["verified"]) == ("done", True)
    admin.execute(
        "UPDATE memsvc.passages AS p SET recorded_at = p.recorded_at - interval '6 hours' FROM memsvc.sources AS s "
        "WHERE s.user_id = p.user_id AND s.source_id = p.source_id AND s.identifier = 'left'"
    )
    [step] = forgetting_steps()["tidy"]
    assert step in all_steps(Settings(), None)["tidy"]
    assert not await step(db, owner.user_id, owner.user_id)

    async def kept(client: httpx.AsyncClient) -> set[str]:
        return {one["identifier"] for one in (await client.get("/v1/conversations")).json()["items"]}

    assert await kept(ada) == {"fresh"}
    assert await kept(bob) == {"ended", "left", "fresh"}


async def test_a_conversation_goes_with_all_its_sessions_unless_a_later_message_keeps_it(
    connect: Connect, owner: Owner
) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    meek = await connect("read", "write", user=owner)

    async def say(session: str, **more: str) -> None:
        said = {"conversation": "petals", "text": f"About {session}.", "session": session} | more
        assert (await ada.post("/v1/hooks/message", json=said)).json()["stored"]["outcome"] == "created"

    async def ended(**more: str) -> object:
        answer = await ada.post("/v1/hooks/session-end", json={"conversation": "petals"} | more)
        assert answer.status_code == 200
        return answer.json()["forgotten"]

    await say("oak", forget="conversation")
    await say("elm")
    refused = await meek.post("/v1/hooks/message", json=SAID | {"forget": "keep"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    await say("ash", forget="keep")
    assert await ended() is None
    await say("yew", forget="conversation")
    assert await ended(forget="keep") is None
    assert await ended() is None
    await say("fir", forget="conversation")
    gone = await ended()
    assert isinstance(gone, dict)
    assert gone["counts"]["passages"] == 5, "whatever their session"


async def test_a_message_that_is_not_stored_cannot_say_what_is_forgotten(connect: Connect, owner: Owner) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    for forget in ("conversation", "keep"):
        answer = await ada.post("/v1/hooks/message", json=SAID | {"store": False, "forget": forget})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
        assert answer.json()["field"] == "forget"


async def test_a_message_that_comes_again_says_nothing_more_of_its_conversation(connect: Connect, owner: Owner) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    for door in ("message", "response"):
        first = {"conversation": door, "text": "Oak.", "message_id": "1", "forget": "conversation"}
        for said in (first, first | {"text": "Elm.", "message_id": "2", "forget": "keep"}, first):
            assert (await ada.post(f"/v1/hooks/{door}", json=said)).status_code in {200, 202}
        ended = await ada.post("/v1/hooks/session-end", json={"conversation": door})
        assert ended.json() == {"forgotten": None}


async def test_a_message_is_stored_with_its_mark_or_not_at_all(
    connect: Connect, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise OverloadedError

    ada = await connect("read", "write", "forget", user=owner)
    for door in ("message", "response"):
        said = SAID | {"conversation": door, "forget": "conversation"}
        with monkeypatch.context() as patch:
            patch.setattr("memsvc.chat.forgetting._mark", fails)
            refused = await ada.post(f"/v1/hooks/{door}", json=said)
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert (await ada.get("/v1/conversations")).json()["items"] == []
        assert (await ada.post(f"/v1/hooks/{door}", json=said)).status_code in {200, 202}
        assert (await ada.post("/v1/hooks/session-end", json={"conversation": door})).json()["forgotten"]


@pytest.mark.parametrize(("by", "meanwhile"), [("end", "keep"), ("silence", "keep"), ("silence", "message")])
async def test_what_is_said_while_the_erasing_begins_counts(
    connect: Connect, owner: Owner, db: Database, admin: psycopg.Connection, *, by: str, meanwhile: str
) -> None:
    ada = await connect("read", "write", "forget", user=owner)
    await ada.post("/v1/hooks/response", json=SAID | {"forget": "conversation", "idle_hours": 5})
    whose = [owner.user_id]
    admin.execute("UPDATE memsvc.passages SET recorded_at = now() - interval '6 hours' WHERE user_id = %s", whose)
    [step] = forgetting_steps()["tidy"]
    with admin.transaction():
        admin.execute("SELECT FROM memsvc.sources WHERE user_id = %s FOR NO KEY UPDATE", whose)  # as writers do
        if meanwhile == "keep":
            admin.execute("UPDATE memsvc.sources SET forget_after = NULL WHERE user_id = %s", whose)
        else:
            admin.execute("UPDATE memsvc.passages SET recorded_at = now() WHERE user_id = %s", whose)
        work = (
            ada.post("/v1/hooks/session-end", json={"conversation": "petals"})
            if by == "end"
            else step(db, owner.user_id, owner.user_id)
        )
        task = asyncio.ensure_future(work)
        async with asyncio.timeout(20):
            while admin.execute(WAITING).fetchone() == (0,):  # noqa: ASYNC110 - SQL polls
                await asyncio.sleep(0.02)
    done = await task
    assert not isinstance(done, httpx.Response) or done.json() == {"forgotten": None}
    assert [one["identifier"] for one in (await ada.get("/v1/conversations")).json()["items"]] == ["petals"]
