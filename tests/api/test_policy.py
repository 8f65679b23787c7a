"""The policy on secrets over HTTP: at once with keys, in tokens made afterwards, and never laxer than the app's."""

from __future__ import annotations

import io
import zipfile
from uuid import uuid4

import httpx

from memsvc.access.users import add_user, app_id
from memsvc.db.engine import Database
from tests.api.conftest import Connect

CARD = "4532 0151 1283 3600"
SAID = {"messages": [{"conversation": "c", "text": f"My card is {CARD}."}]}


async def texts(client: httpx.AsyncClient) -> list[str]:
    return [one["text"] for one in (await client.get("/v1/conversations/c/messages")).json()["items"]]


async def test_a_users_policy_counts_at_once_and_in_new_tokens(ada: httpx.AsyncClient) -> None:
    changed = await ada.put("/v1/me/policy", json={"kinds": {"card": "mask"}})
    assert changed.json() == (await ada.get("/v1/me/policy")).json()
    assert (changed.json()["own"]["card"], changed.json()["applied"]["iban"]) == ("mask", "keep")
    [receipt] = (await ada.post("/v1/messages", json=SAID)).json()["messages"]
    assert receipt["masked"] == {"card": 1}
    token = (await ada.post("/v1/token")).json()["token"]
    await ada.post("/v1/messages", json=SAID, headers={"Authorization": f"Bearer {token}"})
    turn = {"conversation": "w", "request": f"Pay with {CARD}", "calls": []}
    assert (await ada.post("/v1/turns", json=turn)).json()["masked"] == {"card": 1}
    note = await ada.post("/v1/notes", json={"title": "Bank", "text": f"It is {CARD}"})
    assert "[card number]" in note.text
    assert await texts(ada) == ["My card is [card number]."] * 2
    with zipfile.ZipFile(io.BytesIO((await ada.get("/v1/export")).content)) as whole:
        assert not any(CARD.encode() in whole.read(name) for name in whole.namelist())


async def test_an_app_demands_and_its_users_cannot_undo_it(connect: Connect, db: Database) -> None:
    name = f"strict-{uuid4()}"
    user = await add_user(db, await app_id(db, name), name="Ada")
    chief = await connect("admin", app_name=name)
    eve = await connect("read", "write", user=user.owner, app_name=name)
    assert (await chief.put("/v1/policy", json={"kinds": {"card": "refuse", "all": "mask"}})).status_code == 200
    laxer = await eve.put("/v1/me/policy", json={"kinds": {"card": "mask"}})
    assert (laxer.status_code, laxer.json()["code"], laxer.json()["kinds"]) == (409, "policy_laxer", ["card"])
    for door, body in (
        ("/v1/messages", SAID),
        ("/v1/notes", {"title": "Bank", "text": CARD}),
        ("/v1/turns", {"conversation": "w", "request": CARD, "calls": []}),
    ):
        refused = await eve.post(door, json=body)
        assert (refused.status_code, refused.json()["code"], refused.json()["kind"]) == (422, "text_refused", "card")
        assert CARD not in refused.text
    assert (await eve.get("/v1/me/policy")).json()["applied"] == {
        **dict.fromkeys(("key", "private_key", "password", "iban", "national_id"), "mask"),
        "card": "refuse",
    }
    for wrong in ({"cards": "mask"}, {"card": "hide"}):
        assert (await chief.put("/v1/policy", json={"kinds": wrong})).status_code == 400
    await chief.put("/v1/policy", json={"kinds": {}})
    assert (await eve.post("/v1/messages", json=SAID)).status_code == 202


async def test_an_administrator_anonymises_a_user(connect: Connect, db: Database) -> None:
    name = f"figures-{uuid4()}"
    user = await add_user(db, await app_id(db, name), name="Ada")
    chief = await connect("admin", app_name=name)
    eve = await connect("read", "write", user=user.owner, app_name=name)
    await eve.post("/v1/messages", json=SAID)
    previewed = (await chief.get("/v1/users/Ada/figures")).json()["items"]
    assert {"users", "messages", "nodes"} <= {one["what"] for one in previewed}
    done = (await chief.post("/v1/users/Ada/anonymise")).json()
    assert (done["receipt"]["state"], done["receipt"]["verified"], done["added"]) == ("done", True, len(previewed))
    assert (await chief.get("/v1/figures")).json()["items"] == previewed
    assert (await eve.get("/v1/me")).status_code == 401
    assert (await chief.post("/v1/users/Ada/anonymise")).status_code == 404
