"""Requests go to the cell that has their user: real databases, the real application."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import make_url

from memsvc.access.keys import Limits, create_key
from memsvc.access.users import app_id
from memsvc.api.app import create_app
from memsvc.cells.managing import add_cell, examine, read_cells, remove_cell
from memsvc.cells.strays import erase_strays
from memsvc.errors import AlreadyExistsError, InvalidRequestError, NotFoundError
from memsvc.settings import Settings
from tests.api.conftest import client_of, running
from tests.cells.pair import without_login
from tests.cells.served import EAST, HOME, Served, found, gone, tell
from tests.cluster import Cluster

pytestmark = pytest.mark.slow


async def test_users_are_added_by_weight_and_each_is_served_by_its_cell(cells: Served) -> None:
    ada, as_ada = await cells.person("Ada", HOME)
    zoe, as_zoe = await cells.person("Zoe", EAST)
    for client, text in ((as_ada, "The heron is at the mill."), (as_zoe, "The heron is at the lock.")):
        assert (await tell(client, text)).status_code == 202
    assert await found(as_ada, "heron") == ["The heron is at the mill."]
    assert await found(as_zoe, "heron") == ["The heron is at the lock."]
    assert cells.run(HOME, "SELECT cell_id, epoch FROM memsvc.users WHERE user_id = %s", zoe) == [(EAST, 1)]
    assert cells.rows(HOME, zoe) == {"users": 1}, "the home has memories of a user of another cell"
    assert cells.rows(EAST, ada) == {}
    assert cells.rows(EAST, zoe)["passages"] == 1
    chief = await cells.client()
    listed = {user["external_id"] for user in (await chief.get("/v1/users")).json()["items"]}
    assert {"Ada", "Zoe"} <= listed
    me = (await as_zoe.get("/v1/me")).json()
    assert me["user"]["user_id"] == zoe
    token = (await as_zoe.post("/v1/token")).json()["token"]
    by_token = await cells.bearer(token)
    assert await found(by_token, "heron") == ["The heron is at the lock."]
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "recall", "arguments": {"query": "heron"}},
    }
    headers = {"Accept": "application/json, text/event-stream"}
    said = await as_zoe.post("/mcp", json=asked, headers=headers)
    assert "at the lock" in said.text, said.text


async def test_a_name_is_taken_in_all_cells_and_a_repeated_request_adds_once(cells: Served) -> None:
    cells.weigh(0, 1)
    chief = await cells.client()
    once = {"Idempotency-Key": "add-ines"}
    first = await chief.post("/v1/users", json={"name": "Ines"}, headers=once)
    for home, east in ((0, 1), (1, 0)):
        cells.weigh(home, east)
        again = await chief.post("/v1/users", json={"name": "Ines"}, headers=once)
        assert (again.status_code, again.json()) == (201, first.json()), again.text
        taken = await chief.post("/v1/users", json={"name": "Ines"})
        assert (taken.status_code, taken.json()["code"]) == (409, "already_exists"), taken.text
    other = await chief.post("/v1/users", json={"name": "Ines", "language": "german"}, headers=once)
    assert other.status_code == 409
    cells.weigh(0, 1)
    enrolling = await cells.client("read", "write", "enroll", **{"X-Memsvc-User": "Enno"})
    assert (await tell(enrolling, "I am new.")).status_code == 202
    assert cells.run(HOME, "SELECT cell_id FROM memsvc.users WHERE external_id = 'Enno'") == [(EAST,)]


async def test_who_was_half_added_is_added_by_the_same_request_and_two_at_once_add_one(cells: Served) -> None:
    await cells.person("Erna", EAST)  # the app is in the cell
    [(app,)] = cells.run(EAST, "SELECT app_id FROM memsvc.apps WHERE name = 'cells'")
    half = "SELECT memsvc.settle_user(%s, 'cells', uuidv7(), 'Halfdan', 'Halfdan', 'UTC', 'english', 1, '{}')"
    [(known,)] = cells.run(EAST, half, app)
    cells.weigh(0, 1)
    added = await (await cells.client()).post("/v1/users", json={"name": "Halfdan"})
    assert (added.status_code, added.json()["user_id"]) == (201, str(known)), added.text
    enrolling = await cells.client("read", "write", "enroll", **{"X-Memsvc-User": "Twyla"})
    told = await asyncio.gather(*(tell(enrolling, f"Message {number}.") for number in range(4)))
    assert {answer.status_code for answer in told} == {202}, [answer.text for answer in told]
    for cell in (HOME, EAST):
        assert cells.run(cell, "SELECT count(*) FROM memsvc.users WHERE external_id = 'Twyla'") == [(1,)]
    assert cells.run(HOME, "SELECT cell_id FROM memsvc.users WHERE external_id = 'Twyla'") == [(EAST,)]


async def test_a_process_that_has_just_started_erases_a_user_of_a_cell_there(cells: Served) -> None:
    user, client = await cells.person("Fritzi", EAST)
    assert (await tell(client, "The eel is gone.")).status_code == 202
    key = await create_key(cells.db, await app_id(cells.db, "cells"), scopes=("admin",))
    async with (
        running(create_app(cells.settings, cells.db)) as fresh,
        client_of(fresh, Authorization=f"Bearer {key}") as chief,
    ):
        receipt = (await chief.delete("/v1/users/Fritzi")).json()
    assert (receipt["state"], receipt["counts"]["passages"]) == ("done", 1), receipt
    assert cells.rows(HOME, user) == cells.rows(EAST, user) == {}


async def test_a_keys_limit_holds_for_users_of_other_cells_at_each_door(cells: Served) -> None:
    await cells.person("Limo", EAST)
    limits = Limits(messages_per_day=2)
    key = await create_key(cells.db, await app_id(cells.db, "cells"), scopes=("read", "write"), limits=limits)
    headers = {
        "Authorization": f"Bearer {key}",
        "X-Memsvc-User": "Limo",
        "Accept": "application/json, text/event-stream",
    }
    client = await cells.stack.enter_async_context(client_of(cells.api, **headers))
    assert (await tell(client, "One.")).status_code == 202
    call = {"name": "remember", "arguments": {"conversation": "pond", "text": "Two."}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    assert "quota" not in (await client.post("/mcp", json=asked)).text
    assert "quota_exceeded" in (await client.post("/mcp", json=asked)).text
    assert (await tell(client, "Three.")).status_code == 429


async def test_a_user_of_a_cell_is_erased_there_and_in_the_directory(cells: Served) -> None:
    gone, client = await cells.person("Gero", EAST)
    _, as_stays = await cells.person("Stella", EAST)
    for who in (client, as_stays):
        assert (await tell(who, "The otter sleeps.")).status_code == 202
    chief = await cells.client()
    preview = (await chief.delete("/v1/users/Gero", params={"preview": "true"})).json()
    assert preview["counts"]["passages"] == 1
    receipt = (await chief.delete("/v1/users/Gero")).json()
    assert (receipt["state"], receipt["verified"], receipt["counts"]["passages"]) == ("done", True, 1), receipt
    assert cells.rows(HOME, gone) == cells.rows(EAST, gone) == {}
    checked = (await chief.get(f"/v1/users/{gone}/erasure")).json()
    assert (checked["state"], checked["verified"]) == ("done", True)
    assert (await tell(client, "Hello?")).status_code == 404
    assert (await chief.delete("/v1/users/Gero")).status_code == 404
    assert await found(as_stays, "otter") == ["The otter sleeps."]
    assert (await chief.post("/v1/users", json={"name": "Gero"})).status_code == 201


async def test_the_policies_on_secrets_of_app_and_user_hold_in_every_cell(cells: Served) -> None:
    _, client = await cells.person("Pia", EAST)
    _, at_home = await cells.person("Per", HOME)
    chief = await cells.client()
    assert (await client.put("/v1/me/policy", json={"kinds": {"card": "mask"}})).status_code == 200
    assert (await tell(client, "The pike costs 4532 0151 1283 3600.")).json()["messages"][0]["masked"] == {"card": 1}
    assert await found(client, "pike") == ["The pike costs [card number]."]
    assert (await client.get("/v1/me/policy")).json()["own"]["card"] == "mask"
    assert (await chief.put("/v1/policy", json={"kinds": {"card": "refuse"}})).status_code == 200
    for who in (client, at_home):
        assert (await tell(who, "4532 0151 1283 3600")).json()["code"] == "text_refused"
        assert (await who.put("/v1/me/policy", json={"kinds": {"card": "mask"}})).json()["code"] == "policy_laxer"
    assert cells.run(EAST, "SELECT policy FROM memsvc.apps WHERE name = 'cells'") == [({"card": "refuse"},)]
    await chief.put("/v1/policy", json={"kinds": {}})


async def test_a_user_of_a_cell_is_anonymised_there_and_counted_with_the_others(cells: Served) -> None:
    chief = await cells.client()
    for name, cell in (("Anna", EAST), ("Arno", HOME)):
        user, client = await cells.person(name, cell)
        await tell(client, "The otter sleeps.")
        previewed = (await chief.get(f"/v1/users/{name}/figures")).json()["items"]
        assert {"messages", "users"} <= {one["what"] for one in previewed}
        done = (await chief.post(f"/v1/users/{name}/anonymise")).json()
        assert (done["receipt"]["state"], done["receipt"]["verified"]) == ("done", True)
        assert done["added"] == len(previewed)
        assert cells.rows(HOME, user) == cells.rows(EAST, user) == {}
    sums = {(one["what"], one["kind"]): one["number"] for one in (await chief.get("/v1/figures")).json()["items"]}
    assert (sums["users", ""], sums["messages", "user"]) == (2, 2)


async def test_a_moving_user_is_waited_for_and_told_to_come_back_after_a_while(cells: Served) -> None:
    user, client = await cells.person("Mona", EAST)
    door = "UPDATE memsvc.users SET moving = %s WHERE user_id = %s"
    cells.run(HOME, door, "closing", user)
    waiting = asyncio.create_task(tell(client, "The pike is asleep."))
    await asyncio.sleep(0.5)
    assert not waiting.done(), "a request of a moving user went on"
    cells.run(HOME, door, None, user)
    assert (await waiting).status_code == 202
    cells.run(HOME, door, "closing", user)
    late = await tell(client, "The pike is awake.")
    assert (late.status_code, late.json()["code"], late.headers["Retry-After"]) == (503, "user_moving", "1")
    cells.run(HOME, door, None, user)
    cells.run(EAST, door, "frozen", user)  # a request that was on its way
    refused = await tell(client, "The pike is awake.")
    assert (refused.status_code, refused.json()["code"]) == (503, "user_moving"), refused.text
    cells.run(EAST, door, None, user)
    assert await found(client, "pike") == ["The pike is asleep."]


async def test_an_old_token_finds_the_new_place_and_an_old_cell_refuses(cells: Served) -> None:
    user, client = await cells.person("Theo", EAST)
    by_token = await cells.bearer((await client.post("/v1/token")).json()["token"])
    assert (await tell(by_token, "The lock is open.")).status_code == 202
    moved = "UPDATE memsvc.users SET epoch = 2 WHERE user_id = %s"
    cells.run(HOME, moved, user)
    stale = await tell(by_token, "The old cell must not store this.")  # the cell's row still has epoch 1
    assert (stale.status_code, stale.json()["code"]) == (503, "user_moving")
    assert (await tell(client, "Nor this.")).status_code == 503
    cells.run(EAST, moved, user)
    assert await found(by_token, "lock") == await found(client, "lock") == ["The lock is open."]


async def test_without_the_directory_known_users_of_other_cells_go_on_and_nobody_else(cells: Served) -> None:
    _, as_ada = await cells.person("Adele", HOME)
    _, as_zoe = await cells.person("Zita", EAST)
    _, as_new = await cells.person("Nele", EAST)
    token = (await as_zoe.post("/v1/token")).json()["token"]
    for client in (as_ada, as_zoe):
        assert (await tell(client, "The swan is back.")).status_code == 202
    by_token = await cells.bearer(token)
    with gone(cells.urls[HOME]):
        assert await found(as_zoe, "swan") == await found(by_token, "swan") == ["The swan is back."]
        assert (await tell(as_zoe, "The swan has a nest.")).status_code == 202
        for client in (as_ada, as_new):
            assert (await client.post("/v1/recall", json={"query": "swan"})).status_code == 503
    assert await found(as_ada, "swan") == ["The swan is back."]
    assert len(await found(as_zoe, "swan")) == 2


async def test_a_cell_that_is_gone_fails_its_own_users_alone(cells: Served) -> None:
    _, as_ada = await cells.person("Alma", HOME)
    _, as_zoe = await cells.person("Zora", EAST)
    for client in (as_ada, as_zoe):
        assert (await tell(client, "The swan is back.")).status_code == 202
    with gone(cells.urls[EAST]):
        lost = await as_zoe.post("/v1/recall", json={"query": "swan"})
        assert (lost.status_code, lost.json()["code"]) == (503, "database_unavailable"), lost.text
        assert await found(as_ada, "swan") == ["The swan is back."]
        assert (await (await cells.client()).get("/health")).status_code == 200
        wrong = [one for one in examine(cells.urls[HOME], cells.settings) if one.state == "wrong"]
        assert {one.cell for one in wrong} == {"east"}
    assert await found(as_zoe, "swan") == ["The swan is back."]


async def test_the_doctor_finds_who_is_not_where_the_directory_says(cells: Served) -> None:
    _, as_ada = await cells.person("Agnes", HOME)
    zoe, as_zoe = await cells.person("Zelda", EAST)
    for client in (as_ada, as_zoe):
        assert (await tell(client, "The swan is back.")).status_code == 202

    def wrong() -> str:
        return " ".join(one.what for one in examine(cells.urls[HOME], cells.settings) if one.state == "wrong")

    assert wrong() == ""
    cells.run(EAST, "UPDATE memsvc.users SET epoch = 7 WHERE user_id = %s", zoe)
    assert f"epoch than in the directory, who are refused: {zoe}" in wrong()
    cells.run(EAST, "UPDATE memsvc.users SET epoch = 1, cell_id = 3 WHERE user_id = %s", zoe)
    assert f"who are not there: {zoe}" in wrong()
    cells.run(EAST, "UPDATE memsvc.users SET cell_id = 0 WHERE user_id = %s", zoe)
    cells.run(
        EAST,
        "INSERT INTO memsvc.users (app_id, external_id, name, created_at) "
        "SELECT app_id, 'stray', 'Stray', now() - interval '2 hours' FROM memsvc.users WHERE user_id = %s",
        zoe,
    )
    [(stray,)] = cells.run(EAST, "SELECT user_id FROM memsvc.users WHERE external_id = 'stray'")
    assert f"whom the directory does not know: {stray}" in wrong()
    assert await asyncio.to_thread(erase_strays, cells.urls[HOME], cells.settings) == {}
    assert "stray" in str(cells.run(EAST, "SELECT external_id FROM memsvc.users WHERE user_id = %s", stray))
    # The directory is restored to a time before somebody came: what the cell has is all that there is.
    cells.run(HOME, "UPDATE memsvc.users SET cell_id = 0, epoch = 0 WHERE user_id = %s", zoe)
    cells.run(EAST, "UPDATE memsvc.users SET created_at = now() - interval '2 hours' WHERE user_id = %s", zoe)
    assert f"came here later: {zoe}" in wrong()
    assert await asyncio.to_thread(erase_strays, cells.urls[HOME], cells.settings) == {}
    # The cell is restored to a time before somebody left.
    cells.run(HOME, "UPDATE memsvc.users SET cell_id = 0, epoch = 2 WHERE user_id = %s", zoe)
    assert f"who have left, as the directory says: {zoe}" in wrong()
    cells.run(HOME, "UPDATE memsvc.users SET cell_id = 1, epoch = 1 WHERE user_id = %s", zoe)
    assert await asyncio.to_thread(erase_strays, cells.urls[HOME], cells.settings, unknown=True) == {"east": 1}
    assert wrong() == ""
    assert cells.rows(EAST, stray) == {}
    assert await found(as_zoe, "swan") == ["The swan is back."]


def test_only_an_empty_database_of_this_deployment_becomes_a_cell(
    urls: tuple[str, str], settings: Settings, cluster: Cluster, template: str, worker_id: str
) -> None:
    home, name = urls[0], f"memsvc_test_requests_third_{worker_id}"
    third = without_login(cluster.clone(name, template))
    admin = cluster.admin_url(name)
    try:
        for wrong in ("East", "home", "", "-", "x" * 41, "ä"):
            with pytest.raises(InvalidRequestError):
                add_cell(home, settings, wrong, third)
        for url in (admin, "mysql://localhost/x", "no url", without_login(home)):
            with pytest.raises(InvalidRequestError) as refused:
                add_cell(home, settings, "third", url)
            password = make_url(admin).password
            assert not password or str(password) not in str(refused.value)
        other = settings.model_copy(update={"identity_secret": SecretStr("y" * 40)})
        with pytest.raises(InvalidRequestError, match="does not believe"):
            add_cell(home, other, "third", third)
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute("UPDATE memsvc.schema_version SET version_num = '0059'")
            with pytest.raises(InvalidRequestError, match="0059"):
                add_cell(home, settings, "third", third)
            connection.execute("UPDATE memsvc.schema_version SET version_num = %s", [_head(home)])
            connection.execute("SELECT memsvc.create_user(memsvc.ensure_app('x'), 'x', 'X', 'UTC', 'english')")
            with pytest.raises(InvalidRequestError, match="already has apps or users"):
                add_cell(home, settings, "third", third)
            connection.execute("DELETE FROM memsvc.schedules")
            connection.execute("DELETE FROM memsvc.users")
            connection.execute("DELETE FROM memsvc.apps")
        add_cell(home, settings, "third", third, 3)
        with pytest.raises(AlreadyExistsError):
            add_cell(home, settings, "fourth", third)
        assert [(one.name, one.weight) for one in read_cells(home) if one.name == "third"] == [("third", 3)]
        for wrong in ("home", "fifth"):
            with pytest.raises((InvalidRequestError, NotFoundError)):
                remove_cell(home, wrong)
        remove_cell(home, "third")
        assert all(one.name != "third" for one in read_cells(home))
    finally:
        cluster.drop(name)


def _head(home: str) -> str:
    with psycopg.connect(home) as connection:
        [(head,)] = connection.execute("SELECT version_num FROM memsvc.schema_version").fetchall()
        return str(head)
