"""The agenda: reminders, appointments, facts, tasks and birthdays in a span, on the user's clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import add_user, app_id
from memsvc.db.engine import Database
from memsvc.recall.agenda import ask
from memsvc.recall.due import NOT_ALL
from tests.api.conftest import Connect
from tests.api.graphs import batch, good, refused
from tests.api.mcp_clients import mcp_client, use

NOVEMBER = {"from": "2026-11-01", "to": "2026-12-01", "asked_at": "2026-11-20T08:00:00Z"}

LATER = {"from": "2096-11-01", "to": "2096-12-01", "asked_at": "2096-11-20T08:00:00Z"}


async def tell(client: httpx.AsyncClient, text: str, said_at: str, **more: Any) -> None:
    """Store a message."""
    message = {"conversation": "talk", "text": text, "said_at": said_at, **more}
    assert (await client.post("/v1/messages", json=message)).status_code == 202


async def items(client: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    """The agenda of a span."""
    found: list[dict[str, Any]] = good(await client.get("/v1/agenda", params=asked))["items"]
    return found


@pytest.mark.parametrize(
    ("zone", "said_at", "shown"),
    [
        # The clocks go back in Berlin on 25 October 2026, and forward in New York on 14 March 2027.
        ("Europe/Berlin", "2026-10-24T23:30:00+02:00", "2026-10-25T09:00:00+01:00"),
        ("America/New_York", "2027-03-13T22:00:00-05:00", "2027-03-14T09:00:00-04:00"),
    ],
)
async def test_a_reminder_for_tomorrow_is_on_the_agenda_of_the_next_day(
    db: Database, connect: Connect, zone: str, said_at: str, shown: str
) -> None:
    app, day = await app_id(db, f"in {zone}"), shown[:10]
    zoe = await connect(user=(await add_user(db, app, name="Zoe", time_zone=zone)).owner, app_name=f"in {zone}")
    await tell(zoe, "Remind me to buy milk tomorrow.", said_at)
    await tell(zoe, "Dentist tomorrow at 9.", said_at, id="d")
    asked_at = f"{day}T08:00:00{shown[-6:]}"
    following = f"{day[:-2]}{int(day[-2:]) + 1}"
    today = await items(zoe, **{"from": day, "to": following, "asked_at": asked_at})
    assert [(one["what"], one["timed"], one["past"]) for one in today] == [
        ("Remind me to buy milk tomorrow.", False, False),
        ("Dentist tomorrow at 9.", True, False),
    ]
    assert today[1]["begins"] == shown
    assert today[0]["begins"].startswith(f"{day}T00:00:00")
    assert today[0]["ends"].startswith(f"{following}T00:00:00"), "whatever hours the day has"
    evening = await items(zoe, **{"from": day, "to": following, "asked_at": f"{day}T20:00:00{shown[-6:]}"})
    assert [one["past"] for one in evening] == [False, True], "the hour is over, the day is not"
    before = await items(zoe, **{"from": day, "to": following, "asked_at": "2026-10-01T00:00:00Z"})
    assert before == [], "nobody had said it yet"
    asked = {"query": "What was I supposed to do today?", "asked_at": asked_at}
    block = good(await zoe.post("/v1/context", json=asked))
    assert block["sections"][0]["name"] == "agenda"
    assert "buy milk" in block["text"]
    assert "Dentist" in block["text"]
    assert "Nothing that was recalled" not in block["text"]
    assert block["relevant"]
    answer = good(await zoe.post("/v1/answer", json=asked | {"model": False}))
    assert answer["found"]
    assert ["milk" in claim["text"] or "Dentist" in claim["text"] for claim in answer["claims"][:2]] == [True, True]


async def test_questions_and_what_is_past_are_no_plans(ada: httpx.AsyncClient) -> None:
    for number, text in enumerate(
        ("What do I have to do tomorrow?", "See you tomorrow!", "We met yesterday.", "I saw her on Monday.", "ok")
    ):
        await tell(ada, text, "2026-11-10T10:00:00Z", id=str(number))
    await tell(ada, "I will remind you tomorrow.", "2026-11-10T10:01:00Z", role="assistant")
    assert await items(ada, **NOVEMBER) == []


async def test_facts_tasks_events_and_birthdays(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    await batch(
        ada,
        {"op": "node", "type": "Person", "label": "Ines Albrecht", "data": {"birthday": "1990-11-12"}},
        {"op": "node", "type": "Place", "label": "Porto"},
        {"op": "node", "type": "Task", "label": "Oil the worktop", "data": {"due": "2096-11-15", "state": "open"}},
        {"op": "node", "type": "Event", "label": "The fair", "valid_from": "2096-11-17", "valid_to": "2096-11-19"},
        {"op": "node", "type": "Event", "label": "Some day"},
        {"op": "edge", "type": "LIVES_IN", "from_node": 0, "to_node": 1, "fact": "Ines lives in Porto.",
         "valid_from": "2020-01-01", "valid_to": "2096-11-20"},
        {"op": "edge", "type": "LIKES", "from_node": 0, "to_node": 1, "fact": "Ines likes Porto."},
    )  # fmt: skip
    found = await items(ada, **LATER)
    assert [(one["kind"], one["what"], one["begins"][:10], one["past"]) for one in found] == [
        ("yearly", "Ines Albrecht", "2096-11-12", True),
        ("task", "Oil the worktop", "2096-11-15", True),
        ("event", "The fair", "2096-11-17", True),
        ("fact", "Ines lives in Porto.", "2096-11-20", False),
    ]
    assert (found[1]["state"], found[3]["says"]) == ("open", "ends")
    midst = await items(ada, **{"from": "2096-11-18T10:00", "to": "2096-11-18T11:00"})
    assert [one["what"] for one in midst] == ["The fair"], "what holds as a dated event"
    birthdays = await items(ada, **{"from": "2100-01-01", "to": "2102-01-01"})
    assert [one["begins"][:10] for one in birthdays] == ["2100-11-12", "2101-11-12"]
    for one in found:
        assert (await ada.get(f"/v1/memories/{one['id']}")).status_code == 200
    assert await items(bob, **LATER) == []


async def test_what_was_learnt_after_the_moment_of_asking_does_not_count(ada: httpx.AsyncClient) -> None:
    def moment() -> str:
        return datetime.now(UTC).isoformat()

    before = moment()
    written = await batch(
        ada,
        {"op": "node", "type": "Person", "label": "Ines Albrecht", "data": {"birthday": "1990-11-12"}},
        {"op": "node", "type": "Place", "label": "Porto"},
        {"op": "node", "type": "Task", "label": "Oil the worktop", "data": {"due": "2096-11-15"}},
        {"op": "edge", "type": "LIVES_IN", "from_node": 0, "to_node": 1, "fact": "Ines lives in Porto.",
         "valid_to": "2096-11-20"},
    )  # fmt: skip
    task, edge = written["results"][2]["node_id"], written["results"][3]["edge_id"]
    between = moment()
    good(await ada.patch(f"/v1/nodes/{task}", json={"data": {"due": "2096-11-16"}}))
    good(await ada.patch(f"/v1/facts/{edge}", json={"fact": "Ines lives in Porto, by the sea."}))
    known = ["Ines Albrecht", "Oil the worktop", "Ines lives in Porto."]
    for asked_at, what, days in (
        (before, [], []),
        (between, known, ["12", "15", "20"]),
        (moment(), [*known[:2], "Ines lives in Porto, by the sea."], ["12", "16", "20"]),
    ):
        found = await items(ada, **{**LATER, "asked_at": asked_at})
        assert [one["what"] for one in found] == what
        assert [one["begins"][8:10] for one in found] == days


async def test_a_context_without_facts_has_none_on_its_agenda(ada: httpx.AsyncClient) -> None:
    before = datetime.now(UTC).isoformat()
    await tell(ada, "Remind me to buy milk tomorrow.", "2096-11-19T10:00:00Z")
    await batch(
        ada,
        {"op": "node", "type": "Task", "label": "Oil the worktop", "data": {"due": "2096-11-20"}},
        {"op": "node", "type": "Person", "label": "Ines Albrecht", "data": {"birthday": "1990-11-20"}},
        {"op": "node", "type": "Place", "label": "Porto"},
        {"op": "edge", "type": "LIVES_IN", "from_node": 1, "to_node": 2, "fact": "Ines lives in Porto.",
         "valid_to": "2096-11-20T10:00:00Z"},
    )  # fmt: skip
    asked = {"query": "What am I supposed to do today?", "asked_at": "2096-11-20T08:00:00Z"}

    async def kinds(**filters: Any) -> list[str]:
        block = good(await ada.post("/v1/context", json=asked | filters))
        return [item["kind"] for part in block["sections"] if part["name"] == "agenda" for item in part["items"]]

    assert sorted(await kinds()) == ["fact", "message", "node", "node"]
    assert await kinds(facts=False) == ["message"]
    assert await kinds(as_of=before) == [], "recorded and said later"


async def test_old_reminders_are_found_behind_much_else_and_where_not_it_says_so(
    api: Litestar, ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = ask.__kwdefaults__ or {}
    monkeypatch.setattr(ask, "__kwdefaults__", defaults | {"said": (2, 40)})
    monkeypatch.setattr("memsvc.recall.due.MOST_FOR_A_CONTEXT", 2)
    monkeypatch.setattr("memsvc.recall.due.LOOK_FOR_A_CONTEXT", 40)
    span = {"from": "2026-11-25", "to": "2026-11-26", "asked_at": "2026-11-25T08:00:00Z"}

    async def chat(number: int, text: str) -> None:
        said = [
            {"conversation": "talk", "id": f"{number} {n}", "text": f"{text} {n}", "said_at": "2026-11-20T10:00:00Z"}
            for n in range(number)
        ]
        assert (await ada.post("/v1/messages", json={"messages": said})).status_code == 202

    async def told() -> tuple[list[str], bool]:
        page = good(await ada.get("/v1/agenda", params=span))
        return [one["what"] for one in page["items"]], page["truncated"]

    await tell(ada, "Dentist on 25 November.", "2026-10-20T10:00:00Z")
    await chat(30, "ok, nice weather")
    assert await told() == (["Dentist on 25 November."], False), "what has no words of time takes no room"
    await chat(39, "ok, nice weather")
    assert await told() == ([], True), "more than is looked at"
    monkeypatch.setattr(ask, "__kwdefaults__", defaults | {"said": (2, 400)})
    assert await told() == (["Dentist on 25 November."], False)
    await chat(3, "We ran all day,")
    assert await told() == ([], True)
    question = {"query": "Do I have anything on today?", "asked_at": span["asked_at"]}
    assert NOT_ALL in good(await ada.post("/v1/context", json=question))["text"]
    async with mcp_client(api, ada) as client:
        lines, content = await use(client, "agenda", begin=span["from"], end=span["to"], asked_at=span["asked_at"])
    assert "something may be missing" in lines
    assert content["truncated"] is True


async def test_a_plan_that_was_moved_on_its_day_says_so_in_a_context(ada: httpx.AsyncClient) -> None:
    await tell(ada, "My flight home is on Tuesday at 11:20.", "2026-07-10T10:00:00Z")
    await tell(ada, "The dentist is on Tuesday at 9.", "2026-07-10T10:01:00Z")
    await tell(ada, "The flight on Tuesday is at 16:05 now and no longer at noon.", "2026-07-12T10:00:00Z")
    asked = {"query": "What's on today?", "asked_at": "2026-07-14T08:00:00Z"}
    context = good(await ada.post("/v1/context", json=asked))
    [agenda] = [one["items"] for one in context["sections"] if one["name"] == "agenda"]
    new = next(one["id"] for one in agenda if "16:05" in one["text"])
    assert [one["text"][-6:] for one in agenda if one["remark"]] == ["11:20."]
    assert len(agenda) == 3
    assert f"may be out of date: see {new}" in context["text"]


async def test_pages_follow_each_other(ada: httpx.AsyncClient) -> None:
    for number in range(5):
        await tell(ada, f"Meeting {number} tomorrow at {9 + number}.", "2026-11-10T10:00:00Z", id=str(number))
    given: list[str] = []
    cursor: str | None = None
    while True:
        more: dict[str, Any] = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = good(await ada.get("/v1/agenda", params=NOVEMBER | more))
        given += [one["what"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert given == [f"Meeting {number} tomorrow at {9 + number}." for number in range(5)]


async def test_spans_that_cannot_be_are_refused(ada: httpx.AsyncClient) -> None:
    for asked, code, field in (
        ({"from": "2026-01-01", "to": "2036-01-02"}, "", ""),
        ({"from": "2026-01-01", "to": "2036-01-06"}, "invalid_request", "to"),
        ({"from": "2026-01-01", "to": "2026-01-01"}, "invalid_request", "to"),
        ({"from": "soon", "to": "2026-01-01"}, "invalid_time", "from"),
        ({"from": "2026-01-01", "to": "2026-02-01", "asked_at": "2026-01-01"}, "invalid_time", "asked_at"),
        ({"from": "2026-01-01", "to": "2026-02-01", "cursor": "x"}, "bad_cursor", "cursor"),
    ):
        answer = await ada.get("/v1/agenda", params=asked)
        if code:
            assert refused(answer, 400, code)["field"] == field, asked
        else:
            assert good(answer)["items"] == []


async def test_the_tool_tells_the_agenda(api: Litestar, ada: httpx.AsyncClient) -> None:
    await tell(ada, "Dentist on Friday at 9.", "2026-11-10T10:00:00Z")
    async with mcp_client(api, ada) as client:
        asked = {"begin": "2026-11-13", "end": "2026-11-14", "asked_at": "2026-11-12T09:00:00Z"}
        told, content = await use(client, "agenda", **asked)
        refusal = await client.call_tool("agenda", {"begin": "2026-11-13", "end": "2126-11-14"})
    assert "Friday, 13 November 2026, 09:00" in told
    assert "“Dentist on Friday at 9.”" in told
    assert [item["what"] for item in content["items"]] == ["Dentist on Friday at 9."]
    assert refusal.is_error


@pytest.mark.parametrize(
    ("plan", "moved"),
    [
        (
            "Der Termin beim Tierarzt ist am 5. Dezember um 15 Uhr.",
            "Der Tierarzttermin wurde auf den 8. Dezember verschoben.",
        ),
        ("The vet appointment is on 5 December at 3 pm.", "The vet appointment was moved to 20 December."),
    ],
)
async def test_a_plan_that_was_moved_to_another_day_says_so(
    ada: httpx.AsyncClient, api: Litestar, plan: str, moved: str
) -> None:
    await tell(ada, plan, "2026-11-25T10:00:00Z")
    await tell(ada, moved, "2026-11-26T10:00:00Z")
    span = {"from": "2026-11-26", "to": "2026-12-10", "asked_at": "2026-11-26T12:00:00Z"}
    items = good(await ada.get("/v1/agenda", params=span))["items"]
    said = good(await ada.get("/v1/agenda", params=span | {"to": "2026-12-31"}))["items"]
    [new] = [one["id"] for one in said if one["what"] == moved]
    assert [one["remark"] for one in items if one["what"] == plan] == [f"may be out of date: see {new}"]
    assert [one["remark"] for one in said if one["what"] == moved] == [""]
    async with mcp_client(api, ada) as client:
        lines, _ = await use(client, "agenda", begin=span["from"], end=span["to"], asked_at=span["asked_at"])
    assert f"“{plan}” (may be out of date: see {new})" in lines
