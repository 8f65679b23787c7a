"""The audit log: every act of an administrator, with its door and key and without text; each app reads its own.

Also the use of keys by day, what a key may do, and jobs of all users.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from memsvc.access.audit import ActFilters, KeyUse, every_act, key_use
from memsvc.access.users import Owner, find_app
from memsvc.cli.audit import _write
from memsvc.db.engine import Database
from memsvc.errors import DatabaseUnavailableError, StorageFullError
from tests.api.conftest import Connect

SECRETIVE = "Zwetschgenkuchen"


def id_of(client: httpx.AsyncClient) -> str:
    """The id of a client's key."""
    return client.headers["Authorization"].removeprefix("Bearer ").split(".")[0]


@pytest.fixture
async def app_name() -> str:
    """An app that no other test has."""
    return f"audited-{uuid4()}"


async def acts(chief: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    """Acts, newest first."""
    answer = await chief.get("/v1/audit", params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def test_every_act_is_written_down_with_its_key_and_without_text(connect: Connect, app_name: str) -> None:
    chief = await connect("admin", "read", "write", "forget", app_name=app_name)
    user = (await chief.post("/v1/users", json={"name": SECRETIVE})).json()["user_id"]
    key = (await chief.post("/v1/keys", json={"user": user, "label": SECRETIVE})).json()
    key_id = key["key"]["key_id"]
    await chief.put(f"/v1/keys/{key_id}/limits", json={"requests_per_minute": 7})
    await chief.put(f"/v1/keys/{key_id}/scopes", json={"scopes": ["read", "forget"]})
    await chief.delete(f"/v1/keys/{key_id}")
    acting = {"X-Memsvc-User": user}
    said = await chief.post("/v1/messages", json={"conversation": "a", "text": SECRETIVE}, headers=acting)
    passage = said.json()["messages"][0]["passage_id"]
    await chief.delete(f"/v1/messages/{passage}", headers=acting)
    await chief.get("/v1/export", headers=acting)
    await chief.put("/v1/schedules/tidy", json={"at": "03:30"}, headers=acting)
    await chief.delete(f"/v1/users/{user}")
    found = [act for act in await acts(chief, limit=100) if not act["whole_service"]]
    assert [act["action"] for act in reversed(found)][2:] == [
        "user.create", "key.create", "key.limit", "key.scopes", "key.revoke", "memory.erase", "memory.export",
        "schedule.set", "user.erase", "user.erased",
    ]  # fmt: skip
    assert {(act["door"], act["key_id"]) for act in found[:-2]} == {("api", id_of(chief))}
    assert {act["user_id"] for act in found if act["action"].startswith(("user", "memory"))} == {user}
    by_action = {act["action"]: act for act in found}
    assert by_action["key.scopes"]["details"] == {"before": ["read", "write"], "after": ["forget", "read"]}
    assert by_action["memory.erase"]["details"] == {"kind": "message"}
    assert SECRETIVE not in str(found)
    assert key["secret"] not in str(found)


async def test_acts_are_read_in_pages_and_by_key_act_user_and_day(connect: Connect, app_name: str) -> None:
    chief, other = [await connect("admin", app_name=app_name) for _ in range(2)]
    mine = (await chief.post("/v1/keys", json={})).json()["key"]["key_id"]
    await other.delete(f"/v1/keys/{mine}")
    user = (await other.post("/v1/users", json={"name": "Rui"})).json()["user_id"]
    assert [act["subject"] for act in await acts(chief, actor=id_of(chief))] == [mine]
    assert [act["action"] for act in await acts(chief, actor=id_of(other))] == ["user.create", "key.revoke"]
    assert [act["subject"] for act in await acts(chief, action="key.revoke")] == [mine]
    assert {act["action"] for act in await acts(chief, action="key")} == {"key.create", "key.revoke"}
    assert [act["action"] for act in await acts(chief, user=user)] == ["user.create"]
    today = (await acts(chief, user=user))[0]["recorded_at"][:10]
    assert len(await acts(chief, user=user, since=today, until=today)) == 1
    assert await acts(chief, user=user, until="2020-01-01") == []
    assert await acts(chief, user=user, since="9999-12-31", until="9999-12-31") == []
    whole = await acts(chief, limit=1_000)
    paged: list[dict[str, Any]] = []
    cursor: str | None = None
    while len(paged) <= len(whole):
        page = (await chief.get("/v1/audit", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        paged += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert paged == whole


async def test_all_acts_of_an_app_are_exported_as_lines_page_by_page(
    connect: Connect, app_name: str, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chief, stranger = await connect("admin", app_name=app_name), await connect("admin", app_name=f"{app_name}-2")
    for number in range(5):
        await chief.post("/v1/users", json={"name": f"{SECRETIVE} {number}"})
    await stranger.post("/v1/users", json={"name": "Eve"})
    monkeypatch.setattr("memsvc.access.audit.MAX_PAGE", 2)
    app, target = await find_app(db, app_name), tmp_path / "acts.jsonl"
    wanted = {"action": "user.create", "actor": id_of(chief)}
    assert await _write(every_act(db, app, ActFilters(action=wanted["action"], actor=wanted["actor"])), target) == 5
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert lines == await acts(chief, **wanted)
    assert SECRETIVE not in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o600
    everything = [act async for act in every_act(db, app, ActFilters())]
    assert [str(act.audit_id) for act in everything] == [act["audit_id"] for act in await acts(chief, limit=1_000)]
    before_all = ActFilters(until=datetime(2020, 1, 1, tzinfo=UTC))
    assert [act async for act in every_act(db, app, before_all)] == []
    with pytest.raises(StorageFullError):
        await _write(every_act(db, app, ActFilters()), tmp_path / "absent" / "acts.jsonl")


async def test_another_app_reads_no_act_no_use_and_no_job_of_this_one(
    connect: Connect, chief: httpx.AsyncClient, ada: httpx.AsyncClient, owner: Owner, app_name: str
) -> None:
    stranger = await connect("admin", app_name=app_name)
    job = (await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"})).json()["messages"][0]["job_id"]
    assert any(one["job_id"] == job for one in (await chief.get("/v1/operations/jobs")).json()["items"])
    told = [await acts(stranger, limit=1_000)]
    told += [
        (await stranger.get(path)).json() for path in ("/v1/keys/use", "/v1/operations/jobs", "/v1/operations/costs")
    ]
    for secret in (str(owner.user_id), id_of(chief), id_of(ada), job):
        assert secret not in str(told)
    assert (await stranger.post(f"/v1/operations/jobs/{job}/retry")).json()["code"] == "not_found"
    key = id_of(ada)
    refused = await stranger.put(f"/v1/keys/{key}/scopes", json={"scopes": ["admin"]})
    assert refused.json()["code"] == "not_found"


async def test_keys_are_counted_by_day_with_their_tokens(
    connect: Connect, anybody: httpx.AsyncClient, owner: Owner, chief: httpx.AsyncClient
) -> None:
    client = await connect(user=owner)
    token = (await client.post("/v1/token")).json()["token"]
    for _ in range(2):
        await client.get("/v1/me")
    await anybody.get("/v1/me", headers={"Authorization": f"Bearer {token}"})
    await client.get("/v1/me", headers={"Authorization": client.headers["Authorization"] + "x"})  # does not work
    [day] = (await chief.get("/v1/keys/use", params={"key": id_of(client), "days": 1})).json()["items"]
    assert (day["key_id"], day["requests"]) == (id_of(client), 4)
    await client.get("/v1/me")
    [later] = (await chief.get("/v1/keys/use", params={"key": id_of(client)})).json()["items"]
    assert later["requests"] == 5
    assert later["last_at"] > day["last_at"]


async def test_what_is_counted_while_the_database_is_away_is_kept(
    db: Database, app: Any, chief: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = KeyUse(db)
    use.add(id_of(chief))
    with monkeypatch.context() as patched:
        patched.setattr(db, "transaction", _away)
        with pytest.raises(DatabaseUnavailableError):
            await use.flush()
    use.add(id_of(chief))
    use.add("mk_gone")
    use.add(None)
    before = await key_use(db, app, key_id=id_of(chief))
    await use.flush()
    [after] = await key_use(db, app, key_id=id_of(chief))
    assert after.requests - sum(day.requests for day in before) == 2


def _away() -> None:
    raise DatabaseUnavailableError


async def test_a_key_may_do_what_its_scopes_say_now(connect: Connect, owner: Owner, chief: httpx.AsyncClient) -> None:
    client = await connect("read", "write", user=owner)
    words = {"conversation": "a", "text": "oak"}
    assert (await client.post("/v1/messages", json=words)).status_code == 202
    changed = await chief.put(f"/v1/keys/{id_of(client)}/scopes", json={"scopes": ["read"]})
    assert changed.json()["scopes"] == ["read"]
    assert (await client.post("/v1/messages", json=words)).json()["code"] == "forbidden"
    await chief.delete(f"/v1/keys/{id_of(client)}")
    again = await chief.put(f"/v1/keys/{id_of(client)}/scopes", json={"scopes": ["read", "write"]})
    assert again.json()["code"] == "not_found"
    for wrong in ([], ["root"]):
        answer = await chief.put(f"/v1/keys/{id_of(chief)}/scopes", json={"scopes": wrong})
        assert answer.json()["code"] == "invalid_request"


async def test_an_administrator_retries_a_job_of_any_user(
    ada: httpx.AsyncClient, chief: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    job = (await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"})).json()["messages"][0]["job_id"]
    admin.execute(
        "UPDATE memsvc.jobs SET state = 'failed', finished_at = now(), error_code = 'embedder', error = 'It is away.' "
        "WHERE job_id = %s",
        [job],
    )
    failed = (await chief.get("/v1/operations/jobs", params={"state": "failed", "limit": 1})).json()["items"]
    assert [(one["job_id"], one["user_id"], one["error"]) for one in failed] == [
        (job, str(owner.user_id), "It is away.")
    ]
    assert (await chief.post(f"/v1/operations/jobs/{job}/retry")).json()["state"] == "pending"
    assert (await chief.post(f"/v1/operations/jobs/{job}/retry")).json()["code"] == "job_state"
    [act] = await acts(chief, action="job.retry", user=str(owner.user_id))
    assert (act["subject"], act["key_id"]) == (job, id_of(chief))


async def test_dead_letters_are_retried_and_dropped(chief: httpx.AsyncClient, admin: psycopg.Connection) -> None:
    letters = [str(uuid4()) for _ in range(2)]
    for letter in letters:
        admin.execute(
            "INSERT INTO memsvc.dramatiq_queue (message_id, queue_name, state, message) VALUES "
            '(%s, \'models\', \'rejected\', \'{"actor_name": "odd", "error": "unknown"}\')',
            [letter],
        )
    found = {one["message_id"]: one for one in (await chief.get("/v1/operations/dead-letters")).json()["items"]}
    assert [found[letter]["actor"] for letter in letters] == ["odd", "odd"]
    assert (await chief.post(f"/v1/operations/dead-letters/{letters[0]}/retry")).status_code == 204
    assert (await chief.delete(f"/v1/operations/dead-letters/{letters[1]}")).status_code == 204
    for letter in letters:
        assert (await chief.delete(f"/v1/operations/dead-letters/{letter}")).json()["code"] == "not_found"
    done = {(act["action"], act["subject"], act["whole_service"]) for act in await acts(chief, action="dead_letter")}
    assert {("dead_letter.retry", letters[0], True), ("dead_letter.drop", letters[1], True)} <= done
    admin.execute("DELETE FROM memsvc.dramatiq_queue WHERE message_id = ANY (%s)", [letters])
