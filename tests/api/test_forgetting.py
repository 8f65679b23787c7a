"""Forgetting through REST: what goes, who may, receipts, and users as a whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import pytest

from memsvc.access.users import Owner, add_user
from memsvc.api.controllers import erasures
from memsvc.db.engine import Database
from memsvc.db.short_ids import short_id
from memsvc.erasing import memories as erase
from memsvc.erasing import users as erase_users
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node
from memsvc.queue.execution import run_due
from memsvc.sources.messages import MessageIn, append
from tests.api.conftest import Connect

SECRET = "The safe opens with xyzzy4711."
KINDS = ("messages", "passages", "sources", "facts", "nodes")


@pytest.fixture
async def forgetter(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    """Ada with a key that may forget."""
    return await connect("read", "write", "forget", user=owner)


async def remember(db: Database, owner: Owner, settings: Any, text: str = SECRET) -> dict[str, UUID]:
    """Two messages, and a fact between two nodes that the first shows; the ids of all, by the route that names them."""
    first, _ = await append(
        db,
        owner,
        [
            MessageIn(conversation="kitchen", id="m1", text=text),
            MessageIn(conversation="kitchen", id="m2", text="Something else."),
        ],
        settings,
    )
    assert first.passage_id is not None
    made = await write(
        db,
        owner,
        [
            Node(type="Person", label="Ida"),
            Node(type="Place", label="the safe"),
            Edge(
                from_node=0, type="RELATED_TO", to_node=1, fact=text, evidence=[Evidence(passage_id=first.passage_id)]
            ),
        ],
        asserted_by="user",
    )
    node, edge, passage = made.results[0].node_id, made.results[2].edge_id, first.passage_id
    assert node is not None
    assert edge is not None
    assert first.conversation_id is not None
    return {
        "messages": passage, "passages": passage, "sources": first.conversation_id,
        "facts": edge, "nodes": node,
    }  # fmt: skip


def rows_by_user(admin: Any, user_id: UUID) -> dict[str, int]:
    """Rows of a user in all tables, as the administrator counts them."""
    tables = [row[0] for row in admin.execute("SELECT name FROM memsvc.user_tables()")]
    return {
        table: admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [user_id]).fetchone()[0]
        for table in tables
    }


@pytest.mark.parametrize("what", KINDS)
async def test_what_is_forgotten_is_gone_and_checked(
    *, forgetter: httpx.AsyncClient, db: Database, owner: Owner, settings: Any, admin: Any, what: str
) -> None:
    known = await remember(db, owner, settings)
    before = rows_by_user(admin, owner.user_id)
    preview = await forgetter.delete(f"/v1/{what}/{known[what]}", params={"preview": "true"})
    assert preview.status_code == 200, preview.text
    assert preview.json()["counts"]
    assert rows_by_user(admin, owner.user_id) == before, "a preview changed something"

    answer = await forgetter.delete(f"/v1/{what}/{known[what]}")
    assert answer.status_code == 200, answer.text
    receipt = answer.json()
    assert receipt["kind"] == what.removesuffix("s")
    assert (receipt["state"], receipt["verified"], receipt["leftovers"]) == ("done", True, {})
    assert receipt["requested_by"] == "api"
    assert receipt["counts"] == preview.json()["counts"]
    assert (await forgetter.get(f"/v1/erasures/{receipt['erasure_id']}")).json() == receipt
    [listed] = (await forgetter.get("/v1/erasures")).json()["items"]
    assert listed["erasure_id"] == receipt["erasure_id"]

    again = await forgetter.delete(f"/v1/{what}/{known[what]}")
    assert again.status_code == 404, again.text
    found = (await forgetter.post("/v1/recall", json={"query": "xyzzy4711"})).json()["memories"]
    assert (found == []) == (what in {"messages", "passages", "sources"})
    facts = admin.execute("SELECT count(*) FROM memsvc.edges WHERE user_id = %s", [owner.user_id]).fetchone()[0]
    assert facts == 0, "what only that supported stayed"


@pytest.mark.parametrize("kind", ["messages", "passages"])
async def test_the_short_id_of_a_context_is_taken(
    forgetter: httpx.AsyncClient, db: Database, owner: Owner, settings: Any, kind: str
) -> None:
    known = await remember(db, owner, settings)
    asked = f"m:{short_id(known['messages'])}"
    counted = await forgetter.delete(f"/v1/{kind}/{asked}", params={"preview": True})
    assert counted.json()["counts"]["passages"] == 1
    for other in (f"n:{short_id(known['nodes'])}", short_id(known["nodes"]), str(known["nodes"])):
        assert (await forgetter.delete(f"/v1/{kind}/{other}")).status_code == 404
    for wrong, status, code in (("abc", 404, "memory_unknown"), ("m:oak!", 400, "invalid_request")):
        answer = await forgetter.delete(f"/v1/{kind}/{wrong}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (await forgetter.delete(f"/v1/{kind}/{asked}")).json()["state"] == "done"
    assert (await forgetter.get(f"/v1/memories/{known['messages']}")).status_code == 404


async def test_a_forgotten_message_does_not_come_back(
    forgetter: httpx.AsyncClient, db: Database, owner: Owner, settings: Any
) -> None:
    known = await remember(db, owner, settings)
    await forgetter.delete(f"/v1/messages/{known['messages']}")
    sent = await forgetter.post("/v1/messages", json={"conversation": "kitchen", "id": "m1", "text": SECRET})
    assert sent.json()["messages"][0]["outcome"] == "erased"
    assert "xyzzy" not in (await forgetter.get("/v1/conversations/kitchen/messages")).text


async def test_a_conversation_is_forgotten_by_the_clients_name(
    forgetter: httpx.AsyncClient, db: Database, owner: Owner, settings: Any
) -> None:
    known = await remember(db, owner, settings)
    preview = await forgetter.delete("/v1/conversations/kitchen?preview=true")
    assert preview.json()["counts"]["passages"] == 2
    answer = await forgetter.delete("/v1/conversations/kitchen")
    assert (answer.status_code, answer.json()["kind"]) == (200, "source")
    assert answer.json()["subject_id"] == str(known["sources"])
    gone = await forgetter.delete("/v1/conversations/kitchen")
    assert (gone.status_code, gone.json()["code"]) == (404, "conversation_unknown")


async def test_the_rest_of_a_large_one_goes_in_the_background(
    forgetter: httpx.AsyncClient, db: Database, owner: Owner, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "BATCH", 10)
    messages = [MessageIn(conversation="long", id=f"m{n}", text=f"Number {n} xyzzy.") for n in range(60)]
    await append(db, owner, messages, settings)
    answer = await forgetter.delete("/v1/conversations/long")
    assert answer.status_code == 202, answer.text
    receipt = answer.json()
    assert (receipt["state"], receipt["verified"], receipt["finished_at"]) == ("pending", None, None)
    assert answer.headers["Location"] == f"/v1/erasures/{receipt['erasure_id']}"
    await run_due(db, {"process": (), "embed": (), **erase.erase_steps()})
    done = (await forgetter.get(answer.headers["Location"])).json()
    assert (done["state"], done["verified"]) == ("done", True)
    assert done["counts"]["passages"] == 60
    assert (await forgetter.get("/v1/conversations/long/messages")).status_code == 404


async def test_receipts_are_paged_newest_first(
    forgetter: httpx.AsyncClient, db: Database, owner: Owner, settings: Any
) -> None:
    stored = await append(db, owner, [MessageIn(conversation="c", text=f"{n}") for n in range(5)], settings)
    erased = [
        (await forgetter.delete(f"/v1/messages/{one.passage_id}")).json()["erasure_id"] for one in stored
    ]  # fmt: skip
    first = (await forgetter.get("/v1/erasures", params={"limit": 3})).json()
    rest = (await forgetter.get("/v1/erasures", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [one["erasure_id"] for one in first["items"] + rest["items"]] == erased[::-1]
    assert rest["next_cursor"] is None


# Who may


async def test_forgetting_needs_its_own_scope(
    connect: Connect, db: Database, owner: Owner, settings: Any, admin: Any
) -> None:
    known = await remember(db, owner, settings)
    writer = await connect("read", "write", "admin", user=owner)
    before = rows_by_user(admin, owner.user_id)
    for what in KINDS:
        for query in ("", "?preview=true"):
            answer = await writer.delete(f"/v1/{what}/{known[what]}{query}")
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
            assert answer.json()["scope"] == "forget"
    assert (await writer.delete("/v1/conversations/kitchen")).status_code == 403
    assert rows_by_user(admin, owner.user_id) == before


async def test_anothers_memories_are_not_found_and_stay(
    *, forgetter: httpx.AsyncClient, db: Database, other: Owner, settings: Any, admin: Any, connect: Connect
) -> None:
    his = await remember(db, other, settings)
    before = rows_by_user(admin, other.user_id)
    for what in KINDS:
        for query in ("", "?preview=true"):
            seen = []
            for place in (str(his[what]), str(uuid4())):
                answer = await forgetter.delete(f"/v1/{what}/{place}{query}")
                seen.append(
                    (answer.status_code, answer.text.replace(place, "").replace(answer.headers["X-Request-Id"], ""))
                )
            assert seen[0] == seen[1], what
            assert seen[0][0] == 404, what
    assert (await forgetter.delete("/v1/conversations/kitchen")).status_code == 404
    assert rows_by_user(admin, other.user_id) == before
    bob = await connect("read", "forget", user=other)
    receipt = (await bob.delete(f"/v1/facts/{his['facts']}")).json()
    assert (await forgetter.get(f"/v1/erasures/{receipt['erasure_id']}")).status_code == 404
    assert (await forgetter.get("/v1/erasures")).json()["items"] == []


STRANGE = (
    "0", "null", "true", "-1", "%00", "a%00b", "..%2f..", "%2e%2e", "%", "%zz", "%ff%fe", "%ed%a0%80", "\u202e", "💥",
    "'; DROP TABLE users; --", "a" * 5_000, "01900000-0000-7000-8000-00000000000z",
    "{01900000-0000-7000-8000-000000000000}",
)  # fmt: skip


@pytest.mark.parametrize("what", [*KINDS, "conversations", "users"])
async def test_any_id_is_unknown_and_never_an_accident(
    forgetter: httpx.AsyncClient, chief: httpx.AsyncClient, what: str
) -> None:
    client = chief if what == "users" else forgetter
    chance = random.Random(f"names of {what}")
    made = ["".join(chr(chance.randrange(33, 0x3000)) for _ in range(chance.randrange(1, 50))) for _ in range(12)]
    for name in (*STRANGE, *(quote(one, safe="") for one in made), str(uuid4())):
        for query in ("", "?preview=true", "?preview=maybe"):
            answer = await client.delete(f"/v1/{what}/{name}{query}")
            assert 400 <= answer.status_code < 500, (name, answer.text)
            assert answer.json()["code"] in {
                "not_found", "user_unknown", "conversation_unknown", "passage_unknown", "fact_unknown", "node_unknown",
                "memory_unknown", "invalid_request", "invalid_text", "method_not_allowed",
            }, (name, answer.text)  # fmt: skip


# Users


@pytest.fixture
async def nobody(db: Database, app: UUID, settings: Any) -> Owner:
    """A user with memories, to be forgotten."""
    user = await add_user(db, app, name="Nora", external_id=f"nora-{uuid4()}/with a slash")
    await remember(db, user.owner, settings)
    return user.owner


async def test_a_user_is_forgotten_with_everything(
    *, chief: httpx.AsyncClient, connect: Connect, nobody: Owner, other: Owner, admin: Any, db: Database, settings: Any
) -> None:
    await remember(db, other, settings)
    before, neighbour = rows_by_user(admin, nobody.user_id), rows_by_user(admin, other.user_id)
    mine, any_user = await connect(user=nobody), await connect()
    token = (await mine.post("/v1/token")).json()["token"]
    before["api_keys"] += 1
    preview = await chief.delete(f"/v1/users/{nobody.user_id}?preview=true")
    assert preview.json() == {"kind": "user", "counts": {table: rows for table, rows in before.items() if rows}}

    answer = await chief.delete(f"/v1/users/{nobody.user_id}")
    assert answer.status_code == 200, answer.text
    receipt = answer.json()
    assert (receipt["kind"], receipt["subject_id"]) == ("user", str(nobody.user_id))
    assert (receipt["state"], receipt["verified"], receipt["leftovers"]) == ("done", True, {})
    assert set(rows_by_user(admin, nobody.user_id).values()) == {0}
    assert rows_by_user(admin, other.user_id) == neighbour
    assert (await chief.get(f"/v1/users/{nobody.user_id}/erasure")).json() == receipt

    assert (await mine.get("/v1/me")).json()["code"] == "unauthenticated"
    named = await any_user.get("/v1/me", headers={"X-Memsvc-User": str(nobody.user_id)})
    assert (named.status_code, named.json()["code"]) == (404, "user_unknown")
    for method, path, body in (
        ("GET", "/v1/conversations", None),
        ("POST", "/v1/messages", {"conversation": "a", "text": "back again"}),
        ("POST", "/v1/recall", {"query": "safe"}),
    ):
        answer = await any_user.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["code"]) == (404, "user_unknown"), path
    assert (await chief.delete(f"/v1/users/{nobody.user_id}")).json()["code"] == "user_unknown"


async def test_from_the_first_moment_nobody_acts_for_the_user(
    chief: httpx.AsyncClient, connect: Connect, nobody: Owner, monkeypatch: pytest.MonkeyPatch, db: Database
) -> None:
    monkeypatch.setattr(erase_users, "BATCH", 3)
    monkeypatch.setattr(erasures, "USER_SECONDS", 0.0)
    mine, any_user = await connect("read", "write", "forget", user=nobody), await connect("read", "write", "forget")
    token = (await mine.post("/v1/token")).json()["token"]
    answer = await chief.delete(f"/v1/users/{nobody.user_id}")
    assert answer.status_code == 202, answer.text
    assert answer.headers["Location"] == f"/v1/users/{nobody.user_id}/erasure"
    pending = (await chief.get(answer.headers["Location"])).json()
    assert (pending["state"], pending["verified"], sum(pending["counts"].values())) == ("pending", None, 3)

    assert (await mine.post("/v1/recall", json={"query": "safe"})).status_code == 401
    for headers in ({"X-Memsvc-User": str(nobody.user_id)}, {"Authorization": f"Bearer {token}"}):
        for method, path, body in (
            ("POST", "/v1/recall", {"query": "safe"}),
            ("POST", "/v1/messages", {"conversation": "a", "text": "more"}),
            ("GET", "/v1/jobs", None),
            ("DELETE", f"/v1/messages/{uuid4()}", None),
        ):
            denied = await any_user.request(method, path, json=body, headers=headers)
            assert (denied.status_code, denied.json()["code"]) == (404, "user_unknown"), (headers, path)
    listed = (await chief.get("/v1/users", params={"limit": 1000})).text
    assert str(nobody.user_id) not in listed
    denied = await chief.post("/v1/keys", json={"user": str(nobody.user_id)})
    assert denied.json()["code"] == "user_unknown"

    for _ in range(100):
        if not await erase_users.go_on_erasing(db):
            break
    done = (await chief.get(answer.headers["Location"])).json()
    assert (done["state"], done["verified"]) == ("done", True)


async def test_only_the_apps_administrator_forgets_users(
    connect: Connect, nobody: Owner, owner: Owner, admin: Any
) -> None:
    before = rows_by_user(admin, nobody.user_id)
    path = f"/v1/users/{nobody.user_id}"
    refused = [
        (await connect("read", "write", "forget"), 403),
        (await connect("read", "write", "forget", user=nobody), 403),
        (await connect("admin", user=owner), 403),
        (await connect("admin", app_name="strangers"), 404),
    ]
    for client, status in refused:
        for place in (path, path + "?preview=true"):
            assert (await client.delete(place)).status_code == status
        assert (await client.get(path + "/erasure")).status_code == status
    after = rows_by_user(admin, nobody.user_id)
    after["api_keys"] -= 1
    assert after == before


def codes() -> Iterator[str]:
    """Paths that lead to no erasure of a user."""
    yield from ("nobody", "%20", str(uuid4()), "01900000-0000-7000-8000-00000000000z")


async def test_an_unknown_erasure_of_a_user_is_not_found(chief: httpx.AsyncClient) -> None:
    for place in codes():
        answer = await chief.get(f"/v1/users/{place}/erasure")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
