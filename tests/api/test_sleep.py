"""Sleep mode over REST."""

from __future__ import annotations

from uuid import uuid4

import httpx


async def test_sleep_is_asked_for_and_listed(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    asked = await ada.post("/v1/sleep", json={"tasks": ["duplicates"], "since": "2026-01-01", "budget_s": 60})
    assert asked.status_code == 202, asked.text
    [run] = asked.json()["runs"]
    assert (run["task"], run["state"], run["budget_s"]) == ("duplicates", "open", 60.0)
    assert run["since"].startswith(("2025-12-31", "2026-01-01")), "midnight by the user's clock"
    again = (await ada.post("/v1/sleep", json={"tasks": ["duplicates"]})).json()
    assert (again["job_id"], again["runs"][0]["run_id"]) == (asked.json()["job_id"], run["run_id"])
    assert [one["run_id"] for one in (await ada.get("/v1/sleep/runs")).json()["items"]] == [run["run_id"]]
    assert (await ada.get(f"/v1/sleep/runs/{run['run_id']}")).json()["run_id"] == run["run_id"]
    assert (await bob.get(f"/v1/sleep/runs/{run['run_id']}")).status_code == 404
    assert (await bob.get("/v1/sleep/runs")).json()["items"] == []


async def test_bad_requests_for_sleep_name_their_field(ada: httpx.AsyncClient) -> None:
    for body, field in (
        ({"tasks": ["dream"]}, "tasks"), ({"since": "soon"}, "since"), ({"since": "0001-01-01T00:00+14:00"}, "since"),
        ({"budget_s": 0}, "budget_s"),
        ({"budget_tokens": 0}, "budget_tokens"), ({"from_node": "x"}, "from_node"), ({"colour": "red"}, "colour"),
    ):  # fmt: skip
        answer = await ada.post("/v1/sleep", json=body)
        assert (answer.status_code, answer.json().get("field")) == (400, field), (body, answer.text)
    for params, field in (({"limit": 0}, "limit"), ({"after": "x"}, "after"), ({"cursor": "x"}, "cursor")):
        answer = await ada.get("/v1/sleep/runs", params=params)
        assert (answer.status_code, answer.json().get("field")) == (400, field), answer.text
    assert (await ada.get(f"/v1/sleep/runs/{uuid4()}")).status_code == 404


async def test_a_report_is_json_or_a_page(ada: httpx.AsyncClient) -> None:
    found = await ada.get("/v1/sleep/report")
    assert found.status_code == 200, found.text
    assert found.json()["learnt"] == len(found.json()["facts"])
    for more in ({"params": {"format": "markdown"}}, {"headers": {"Accept": "text/markdown"}}):
        page = await ada.get("/v1/sleep/report", **more)  # type: ignore[arg-type]
        assert page.headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert page.text.startswith("# Night of ")
    for params, field in (({"date": "soon"}, "date"), ({"date": "9999-12-31"}, "date"), ({"format": "pdf"}, "format")):
        answer = await ada.get("/v1/sleep/report", params=params)
        assert (answer.status_code, answer.json().get("field")) == (400, field), answer.text


async def test_a_task_is_switched_off_and_on(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    off = await ada.put("/v1/sleep/tasks/duplicates", json={"on": False})
    assert (off.status_code, off.json()["on"]) == (200, False), off.text
    wanted = [
        {one["name"]: one["on"] for one in (await who.get("/v1/sleep/tasks")).json()["items"]} for who in (ada, bob)
    ]
    assert [one["duplicates"] for one in wanted] == [False, True]
    assert (await ada.put("/v1/sleep/tasks/duplicates", json={"on": True})).json()["on"]
    assert (await ada.put("/v1/sleep/tasks/dreams", json={"on": True})).status_code == 404


async def test_a_run_is_undone_by_its_user_alone(ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    asked = (await ada.post("/v1/sleep", json={"tasks": ["duplicates"]})).json()["runs"][0]["run_id"]
    answer = await ada.post(f"/v1/sleep/runs/{asked}/undo")
    assert (answer.status_code, answer.json()["code"]) == (409, "sleep_undo"), "it has not ended"
    assert (await bob.post(f"/v1/sleep/runs/{asked}/undo")).status_code == 404
