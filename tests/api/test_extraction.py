"""Reading text for facts over REST: dry run, asking, how far it is, and what a person decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.run import Extractors
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.conftest import Connect

pytestmark = pytest.mark.usefixtures("reading")


async def say(client: httpx.AsyncClient, *texts: str, conversation: str = "pond") -> str:
    messages = [{"conversation": conversation, "text": text} for text in texts]
    answer = await client.post("/v1/messages", json={"messages": messages})
    assert answer.status_code == 202, answer.text
    found: str = answer.json()["messages"][0]["conversation_id"]
    return found


async def reviews(client: httpx.AsyncClient, **wanted: Any) -> list[dict[str, Any]]:
    answer = await client.get("/v1/reviews", params=wanted)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def facts(client: httpx.AsyncClient) -> set[str]:
    answer = await client.get("/v1/facts", params={"about": "I", "as_of": "always"})
    assert answer.status_code == 200, answer.text
    return {fact["fact"] for fact in answer.json()["items"]}


async def test_a_dry_run_says_what_would_be_written_and_stores_nothing(ada: httpx.AsyncClient) -> None:
    said = [
        {"text": "I LIVES_IN Porto since 2020.", "said_at": "2026-03-14T18:30:00"},
        {"text": "maybe I KNOWS Rui. I LIVES_IN Rui.", "said_at": "2026-03-14T18:31:00"},
    ]
    answer = await ada.post("/v1/extract", params={"dry_run": True}, json={"messages": said})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["extractor"] == "saying/1"
    shown = [(one["turn"], one["proposal"]["object"]["name"], one["verdict"], one["reason"]) for one in told["facts"]]
    assert (0, "Porto", "new", "") in shown
    assert (1, "Rui", "doubtful", "doubtful") in shown
    assert {verdict for _, _, verdict, _ in shown} == {"new", "doubtful", "refused"}
    [porto] = [one["proposal"] for one in told["facts"] if one["verdict"] == "new"]
    assert porto["since"].startswith("2020-01-01")
    assert porto["quote"] == "I LIVES_IN Porto since 2020."
    assert {node["name"]: node["node_id"] is None for node in told["nodes"]} == {
        "Ada": False,
        "Porto": True,
        "Rui": True,
    }
    assert (await ada.get("/v1/conversations")).json()["items"] == []
    assert (await ada.get("/v1/changes")).json()["items"] == []
    assert await reviews(ada, state="all") == []
    one = await ada.post("/v1/extract", params={"dry_run": True}, json={"text": "I OWNS a boat."})
    assert [fact["verdict"] for fact in one.json()["facts"]] == ["new"]


async def test_what_is_stored_is_read_when_it_is_asked_and_once(
    ada: httpx.AsyncClient, db: Database, settings: Settings, reading: Settings
) -> None:
    ids = [await say(ada, "I OWNS boat.", "I OWNS car.", conversation=f"pond {number}") for number in range(3)]
    await run_due(db, all_steps(settings, None))  # nothing reads by itself here
    asked = await ada.post("/v1/extract", json={"conversation": "pond 1"})
    assert (asked.status_code, asked.json()["extractor"]) == (202, "saying/1")
    [job] = asked.json()["jobs"]
    assert (await ada.get(f"/v1/jobs/{job}")).json()["kind"] == "extract"
    paused = await ada.post("/v1/extractions/pause", params={"conversation": ids[1]})
    assert (paused.status_code, paused.json()) == (200, {"jobs": 1})
    assert (await ada.get(f"/v1/jobs/{job}")).json()["state"] == "cancelled"

    assert len((await ada.post("/v1/extract", json={})).json()["jobs"]) == 3
    await run_due(db, all_steps(reading, None))
    assert (await ada.post("/v1/extract", json={})).json()["jobs"] == []
    first = (await ada.get("/v1/extractions", params={"limit": 2})).json()
    rest = (await ada.get("/v1/extractions", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    told = [*first["items"], *rest["items"]]
    assert rest["next_cursor"] is None
    assert [one["source_id"] for one in told] == sorted(ids)
    assert all((one["turns"], one["left"], one["facts"], one["asked"]) == (2, 0, 2, False) for one in told)
    [only] = (await ada.get("/v1/extractions", params={"conversation": "pond 2"})).json()["items"]
    assert only["source_id"] == ids[2]
    assert await facts(ada) == {"I OWNS boat.", "I OWNS car."}


async def test_a_person_decides_about_doubtful_facts(ada: httpx.AsyncClient, db: Database, reading: Settings) -> None:
    source = await say(ada, "maybe I KNOWS Rui. maybe I KNOWS Ana. maybe I OWNS boat. maybe I LIKES tea.")
    await run_due(db, all_steps(reading, None))
    assert await facts(ada) == set()
    waiting = {one["proposal"]["object"]["name"]: one for one in await reviews(ada)}
    assert set(waiting) == {"Rui", "Ana", "boat", "tea"}
    page = (await ada.get("/v1/reviews", params={"limit": 3, "source": source})).json()
    rest = await reviews(ada, limit=3, cursor=page["next_cursor"])
    assert [*page["items"], *rest] == list(waiting.values())
    rui = waiting["Rui"]
    assert (rui["state"], rui["reason"], rui["text"][slice(*rui["span"])]) == ("doubtful",) * 2 + (
        "maybe I KNOWS Rui.",
    )

    place = {name: f"/v1/reviews/{one['review_id']}" for name, one in waiting.items()}
    accepted = await ada.post(f"{place['Rui']}/accept")
    assert (accepted.status_code, accepted.json()["review"]["state"]) == (200, "accepted")
    assert (await ada.get(f"/v1/changes/{accepted.json()['change']['change_id']}")).status_code == 200
    edit = {"object": "Ana Lopes", "since": "2020-02-01"}
    edited = await ada.patch(place["Ana"], json=edit)
    assert (edited.status_code, edited.json()["review"]["state"]) == (200, "edited"), edited.text
    assert edited.json()["review"]["proposal"]["object"]["name"] == "Ana Lopes"
    assert edited.json()["review"]["proposal"]["sentence"] == "I KNOWS Ana Lopes.", "a sentence goes with its names"
    rejected = await ada.post(f"{place['boat']}/reject")
    assert (rejected.status_code, rejected.json()["change"]) == (200, None)
    assert await facts(ada) == {"I KNOWS Rui.", "I KNOWS Ana Lopes."}

    again = await ada.post(f"{place['boat']}/accept")
    assert (again.status_code, again.json()["code"]) == (409, "review_decided")
    assert (await ada.get(place["boat"])).json()["state"] == "rejected"
    states = [(one["proposal"]["object"]["name"], one["state"]) for one in await reviews(ada, state="all")]
    assert dict(states) == {"Rui": "accepted", "Ana Lopes": "edited", "boat": "rejected", "tea": "doubtful"}
    assert [one["proposal"]["object"]["name"] for one in await reviews(ada)] == ["tea"]


async def test_nobody_reaches_what_is_anothers(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, db: Database, reading: Settings
) -> None:
    his = await say(bob, "maybe I KNOWS Rui. I LIVES_IN Porto.")
    await run_due(db, all_steps(reading, None))
    [review] = await reviews(bob)
    assert (await ada.get("/v1/extractions")).json()["items"] == []
    assert await reviews(ada, state="all") == await reviews(ada, source=his) == []
    assert await reviews(ada, cursor=str(uuid4()), state="all") == []
    assert (await ada.post("/v1/extractions/pause")).json() == {"jobs": 0}
    seen = []
    for theirs in (review["review_id"], str(uuid4())):
        place = f"/v1/reviews/{theirs}"
        answers = [
            await ada.get(place), await ada.post(f"{place}/accept"), await ada.post(f"{place}/reject"),
            await ada.patch(place, json={"type": "LIKES"}),
        ]  # fmt: skip
        seen.append([(answer.status_code, answer.json()["code"]) for answer in answers])
    for theirs in (his, str(uuid4())):
        answers = [
            await ada.post("/v1/extract", json={"conversation": theirs}),
            await ada.get("/v1/extractions", params={"conversation": theirs}),
            await ada.post("/v1/extractions/pause", params={"conversation": theirs}),
        ]
        seen.append([(answer.status_code, answer.json()["code"]) for answer in answers])
    assert seen == [[(404, "review_unknown")] * 4] * 2 + [[(404, "conversation_unknown")] * 3] * 2
    asked = await ada.post("/v1/extract", params={"dry_run": True}, json={"text": "I LIVES_IN Porto."})
    assert {node["name"]: node["node_id"] is None for node in asked.json()["nodes"]}["Porto"]
    assert [one["review_id"] for one in await reviews(bob)] == [review["review_id"]]


BAD: tuple[tuple[bool, dict[str, Any], str], ...] = (
    (True, {}, "messages"),
    (True, {"text": "x", "messages": [{"text": "y"}]}, "messages"),
    (True, {"text": " "}, "messages"),
    (True, {"messages": [{"text": "x"}] * 201}, "messages"),
    (True, {"text": "a\0b"}, "text"),
    (True, {"messages": [{"text": "x", "speaker": "\0"}]}, "speaker"),
    (True, {"messages": [{"text": "x", "caption": "\0"}]}, "caption"),
    (True, {"messages": [{"text": "x", "role": "parrot"}]}, "role"),
    (True, {"messages": [{"text": "x", "said_at": "soon"}]}, "said_at"),
    (True, {"messages": [{"text": "x", "who": "me"}]}, "who"),
    (True, {"text": "x", "conversation": "pond"}, "conversation"),
    (True, {"text": "x", "since": "2026-01-01"}, "since"),
    (False, {"text": "x"}, "text"),
    (False, {"messages": [{"text": "x"}]}, "messages"),
    (False, {"since": "yesterday"}, "since"),
    (False, {"extractor": 7}, "extractor"),
)


async def test_bad_requests_for_reading_name_their_field(ada: httpx.AsyncClient) -> None:
    for dry_run, body, field in BAD:
        answer = await ada.post("/v1/extract", params={"dry_run": dry_run}, json=body)
        assert (answer.status_code, answer.json().get("field")) == (400, field), (body, answer.text)


async def test_bad_requests_for_decisions_name_their_field(
    ada: httpx.AsyncClient, db: Database, reading: Settings
) -> None:
    await say(ada, "maybe I KNOWS Rui.")
    await run_due(db, all_steps(reading, None))
    [review] = await reviews(ada)
    place = f"/v1/reviews/{review['review_id']}"
    for body, code in (
        ({}, "invalid_request"), ({"since": "soon"}, "invalid_time"), ({"subject": "Bob"}, "invalid_request"),
        ({"type": "HATES"}, "type_unknown"),
        ({"since": "2026-01-02", "until": "2026-01-01"}, "invalid_interval"), ({"colour": "red"}, "invalid_request"),
        ({"object": " "}, "invalid_request"), ({"type": "LIVES_IN"}, "endpoint_forbidden"),
    ):  # fmt: skip
        answer = await ada.patch(place, json=body)
        assert answer.status_code in {400, 404, 409}, (body, answer.text)
        assert answer.json()["code"] == code, (body, answer.text)
    assert (await ada.get(place)).json()["state"] == "doubtful", "nothing was decided on the way"
    for params in ({"state": "maybe"}, {"limit": 0}, {"cursor": "x"}, {"colour": "red"}):
        assert (await ada.get("/v1/reviews", params=params)).status_code == 400
    assert (await ada.get("/v1/extractions", params={"cursor": "x"})).json()["field"] == "cursor"


async def test_reading_needs_an_extractor_and_the_right_to_write(
    api: Litestar, connect: Connect, owner: Owner, settings: Settings, ada: httpx.AsyncClient
) -> None:
    reader = await connect("read", user=owner)
    assert (await reader.get("/v1/reviews")).status_code == 200
    for path in ("/v1/extract", "/v1/extractions/pause", f"/v1/reviews/{uuid4()}/accept"):
        answer = await reader.post(path, json={} if path == "/v1/extract" else None)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    service = api.state["service"]
    api.state["service"] = replace(service, extractors=Extractors(settings))
    answer = await ada.post("/v1/extract", json={})
    named = [await ada.post("/v1/extract", json={"extractor": name}) for name in ("parrot", "llm", "x" * 201)]
    api.state["service"] = service
    assert (answer.status_code, answer.json()["code"]) == (503, "extractor_missing")
    assert [(told.status_code, told.json()["field"]) for told in named] == [(400, "extractor")] * 3
