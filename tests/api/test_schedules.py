"""Recurring work over REST: what is shown, what can be set, and what is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import httpx
import psycopg
import pytest

from memsvc.access.users import Owner
from tests.api.conftest import Connect


async def only(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/v1/schedules")
    assert answer.status_code == 200
    assert answer.json()["next_cursor"] is None
    asleep, found = answer.json()["items"]
    assert isinstance(found, dict)
    assert asleep["kind"] == "sleep"
    return found


async def test_a_new_user_has_a_nightly_one(ada: httpx.AsyncClient) -> None:
    found = await only(ada)
    assert (found["kind"], found["weekdays"], found["enabled"], found["time_zone"]) == ("tidy", None, True, "UTC")
    assert "03:00" <= found["at"] < "05:00"
    assert found["last_at"] is None
    assert found["next_at"][11:16] == found["at"]


async def test_it_is_set_and_read_back(ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection) -> None:
    admin.execute("UPDATE memsvc.users SET time_zone = 'Asia/Kolkata' WHERE user_id = %s", [owner.user_id])
    answer = await ada.put("/v1/schedules/tidy", json={"at": "06:15", "weekdays": [5, "Monday"]})
    assert answer.status_code == 200
    found = answer.json()
    assert found == await only(ada)
    assert (found["at"], found["weekdays"], found["enabled"]) == ("06:15", ["mon", "fri"], True)
    due = datetime.fromisoformat(found["next_at"])
    assert (due.strftime("%H:%M"), due.isoweekday() in {1, 5}) == ("00:45", True)  # half past five hours east
    again = await ada.put("/v1/schedules/tidy", json={"at": "06:15", "weekdays": [5, "Monday"]})
    assert again.json() == found
    off = (await ada.put("/v1/schedules/tidy", json={"at": "06:15", "enabled": False})).json()
    assert (off["enabled"], off["next_at"], off["weekdays"]) == (False, None, None)


async def test_nobody_sets_anothers(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    before = await only(bob)
    assert (await ada.put("/v1/schedules/tidy", json={"at": "12:34:56", "enabled": False})).status_code == 200
    assert await only(bob) == before


async def test_setting_needs_the_scope_write(connect: Connect, owner: Owner) -> None:
    reader = await connect("read", user=owner)
    assert (await only(reader))["kind"] == "tidy"
    answer = await reader.put("/v1/schedules/tidy", json={"at": "06:15"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    writer = await connect("write", user=owner)
    assert (await writer.get("/v1/schedules")).status_code == 403


BAD: list[tuple[Any, str, str | None]] = [
    ({}, "invalid_request", "at"),
    ({"at": "25:00"}, "invalid_time", "at"),
    ({"at": "3:00"}, "invalid_time", "at"),
    ({"at": "03:00\u0000"}, "invalid_time", "at"),
    ({"at": 3}, "invalid_request", "at"),
    ({"at": "03:00", "weekdays": []}, "invalid_request", "weekdays"),
    ({"at": "03:00", "weekdays": ["x"]}, "invalid_request", "weekdays"),
    ({"at": "03:00", "weekdays": [0]}, "invalid_request", "weekdays"),
    ({"at": "03:00", "weekdays": [1] * 8}, "invalid_request", "weekdays"),
    ({"at": "03:00", "weekdays": "mon"}, "invalid_request", "weekdays"),
    ({"at": "03:00", "weekdays": [True]}, "invalid_request", None),
    ({"at": "03:00", "enabled": "no"}, "invalid_request", "enabled"),
    ({"at": "03:00", "zone": "UTC"}, "invalid_request", "zone"),
    ([], "invalid_request", None),
    (None, "invalid_request", None),
]


@pytest.mark.parametrize(("body", "code", "field"), BAD)
async def test_what_cannot_be_understood_is_refused_and_changes_nothing(
    ada: httpx.AsyncClient, body: Any, code: str, field: str | None
) -> None:
    before = await only(ada)
    answer = await ada.put("/v1/schedules/tidy", json=body)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, code), problem
    assert problem["hint"]
    if field is not None:
        assert problem["field"] == field
    assert await only(ada) == before


@pytest.mark.parametrize("kind", ["process", "TIDY", "x", "%00", "a%20b"])
async def test_what_does_not_recur_is_not_found(ada: httpx.AsyncClient, kind: str) -> None:
    answer = await ada.put(f"/v1/schedules/{kind}", json={"at": "03:00"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
