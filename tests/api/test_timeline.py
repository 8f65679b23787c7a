"""The timeline: what happened when, by periods and one by one, on the user's clock."""

from __future__ import annotations

from typing import Any

import httpx

from memsvc.access.users import add_user, app_id
from memsvc.db.engine import Database
from tests.api.conftest import Connect
from tests.api.graphs import batch, good, refused
from tests.api.test_agenda import tell

OF_FACTS = {"kind": ["began", "ended"]}


async def client_of(db: Database, connect: Connect, name: str) -> httpx.AsyncClient:
    """A user in Berlin, in an app of the test's own."""
    app = await app_id(db, f"timeline of {name}")
    user = (await add_user(db, app, name=name, time_zone="Europe/Berlin")).owner
    return await connect(user=user, app_name=f"timeline of {name}")


async def told(client: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    """The timeline of a span, through all pages."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = good(await client.get("/v1/timeline", params=asked | ({"cursor": cursor} if cursor else {})))
        found += page["items"]
        if (cursor := page["next_cursor"]) is None:
            return found


async def moved(client: httpx.AsyncClient) -> list[str]:
    """Ines lives in Leipzig, then in Porto; the ids of the three."""
    made = await batch(
        client,
        {"op": "node", "label": "Ines", "type": "Person"},
        {"op": "node", "label": "Leipzig", "type": "Place"},
        {"op": "node", "label": "Porto", "type": "Place"},
        {"op": "node", "label": "Wedding", "type": "Event", "valid_from": "2026-05-09T12:00:00+02:00"},
        {"op": "edge", "type": "LIVES_IN", "from_node": 0, "to_node": 1, "fact": "Ines lives in Leipzig.",
         "valid_from": "2024-02-01", "valid_to": "2025-12-01"},
        {"op": "edge", "type": "LIVES_IN", "from_node": 0, "to_node": 2, "fact": "Ines lives in Porto.",
         "valid_from": "2025-12-01"},
    )  # fmt: skip
    return [one["node_id"] for one in made["results"][:3]]


async def test_messages_of_a_day_and_a_conversation_are_one_entry_on_the_users_clock(
    db: Database, connect: Connect
) -> None:
    zoe = await client_of(db, connect, "Zoe")
    await tell(zoe, "Late.", "2026-03-14T23:30:00Z", id="a")  # the 15th in Berlin
    await tell(zoe, "Early.", "2026-03-15T06:00:00Z", id="b")
    await tell(zoe, "Elsewhere.", "2026-03-15T05:00:00Z", id="c", conversation="other")
    found = await told(zoe, kind="message", limit=1)
    assert [(one["title"], one["count"], one["text"]) for one in found] == [
        ("talk", 2, "Late."),
        ("other", 1, "Elsewhere."),
    ]
    assert (found[0]["since"], found[0]["at"]) == ("2026-03-15T00:30:00+01:00", "2026-03-15T07:00:00+01:00")
    days = good(await zoe.get("/v1/timeline/counts", params={"step": "day", "kind": "message"}))
    assert days == {
        "step": "day",
        "items": [{"begins": "2026-03-15T00:00:00+01:00", "counts": {"message": 3}}],
        "truncated": False,
    }
    assert await told(zoe, kind="message", to="2026-03-15") == []
    bob = await client_of(db, connect, "Bob")
    assert await told(bob) == []
    assert good(await bob.get("/v1/timeline/counts"))["items"] == []


async def test_facts_begin_and_end_and_one_can_ask_about_one_person(db: Database, connect: Connect) -> None:
    ada = await client_of(db, connect, "Ada")
    ines, leipzig, _ = await moved(ada)
    facts = await told(ada, **OF_FACTS)
    assert [(one["kind"], one["title"], one["at"][:10]) for one in facts] == [
        ("ended", "Ines lives in Leipzig.", "2025-12-01"),
        ("began", "Ines lives in Porto.", "2025-12-01"),
        ("began", "Ines lives in Leipzig.", "2024-02-01"),
    ]
    assert facts[0]["node_id"] == ines
    assert good(await ada.get(f"/v1/memories/{facts[0]['memory_id']}"))["text"] == "Ines lives in Leipzig."
    assert [one["title"] for one in await told(ada, kind="event")] == ["Wedding"]
    assert len(await told(ada, node=leipzig, **OF_FACTS)) == 2
    assert await told(ada, node=leipzig, kind="change") == []
    (change,) = await told(ada, kind="change")
    assert change["count"] >= 1
    years = good(await ada.get("/v1/timeline/counts", params={"step": "year", "node": ines, **OF_FACTS}))["items"]
    assert [(one["begins"][:4], one["counts"]) for one in years] == [
        ("2025", {"began": 1, "ended": 1}),
        ("2024", {"began": 1}),
    ]


async def test_what_continues_neither_began_nor_ended(db: Database, connect: Connect) -> None:
    eve = await client_of(db, connect, "Eve")
    ines, leipzig, _ = await moved(eve)
    town = "Ines lives in the old town of Leipzig."
    then = {"valid_from": "2025-06-01", "valid_to": "2025-12-01"}
    ends = {"from_node": ines, "to_node": leipzig}
    await batch(eve, {"op": "edge", "type": "LIVES_IN", "fact": town, **ends, **then})
    assert [(one["kind"], one["title"]) for one in await told(eve, node=leipzig, **OF_FACTS)] == [
        ("ended", town),
        ("began", "Ines lives in Leipzig."),
    ]


async def test_what_was_stored_since_a_moment_is_new_whenever_it_was_said(db: Database, connect: Connect) -> None:
    amy = await client_of(db, connect, "Amy")
    await tell(amy, "Before.", "2026-03-14T12:00:00Z", id="a")
    seen = good(await amy.get("/v1/timeline/news", params={"since": "2026-01-01"}))
    assert seen["counts"]["message"] == 1
    since = {"since": seen["until"]}
    nothing = {"message": 0, "document": 0, "node": 0, "fact": 0, "change": 0}
    assert good(await amy.get("/v1/timeline/news", params=since))["counts"] == nothing
    await tell(amy, "Long ago.", "1999-03-14T12:00:00Z", id="b")
    await tell(amy, "Long ago, too.", "1999-03-14T12:00:01Z", id="c")
    await moved(amy)
    found = good(await amy.get("/v1/timeline/news", params=since))
    assert found["counts"] == {"message": 2, "document": 0, "node": 4, "fact": 2, "change": 1}
    ((title, count, first),) = [(one["title"], one["count"], one["memory_id"]) for one in found["conversations"]]
    assert (title, count) == ("talk", 2)
    assert good(await amy.get(f"/v1/memories/{first}"))["text"] == "Long ago."


async def test_a_span_that_ends_before_it_begins_and_an_unknown_node_are_refused(
    db: Database, connect: Connect
) -> None:
    kim = await client_of(db, connect, "Kim")
    for path in ("/v1/timeline", "/v1/timeline/counts"):
        refused(await kim.get(path, params={"from": "2026-02-01", "to": "2026-01-01"}), 400, "invalid_interval")
        nobody = {"node": "0199f3a2-5c1e-7b3d-9f00-1a2b3c4d5e6f"}
        refused(await kim.get(path, params=nobody), 404, "node_unknown")
        refused(await kim.get(path, params={"kind": "dream"}), 400, "invalid_request")
