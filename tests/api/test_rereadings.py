"""Reading again over REST: what a new version would change, that it is applied, looked at, stopped and undone."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.db.engine import Database
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.test_extraction import facts, say

PLACE = "/v1/extractions/rereadings"
SAID = ("I OWNS Bertha.", "I WORKS_AT Lidl.")


async def test_a_new_version_is_tried_applied_and_undone_by_its_user_alone(
    ada: httpx.AsyncClient,
    bob: httpx.AsyncClient,
    *,
    api: Litestar,
    db: Database,
    reading: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extractor = await api.state["service"].extractors.get()
    monkeypatch.setattr(extractor, "without", frozenset({"WORKS_AT"}))
    for user in (ada, bob):
        await say(user, *SAID)
    await run_due(db, all_steps(reading, None))
    assert (await ada.post(PLACE)).json() == {"rereading": None, "job_id": None}, "nothing is new"

    monkeypatch.setattr(extractor, "without", frozenset({"OWNS"}))
    monkeypatch.setattr(extractor, "name", "saying/2")
    dry = (await ada.get(f"{PLACE}/dry-run")).json()
    assert (dry["turns"], dry["left"], dry["next_cursor"]) == (2, 2, None)
    assert {(one["outcome"], one["fact"]) for one in dry["facts"]} == {
        ("added", "I WORKS_AT Lidl."), ("retracted", "I OWNS Bertha."),
    }  # fmt: skip
    assert (await ada.get(PLACE)).json()["items"] == []

    asked = (await ada.post(PLACE)).json()
    assert (await ada.post(PLACE)).json() == asked, "once is enough"
    mine = f"{PLACE}/{asked['rereading']['rereading_id']}"
    [again] = [one["again"] for one in (await ada.get("/v1/extractions")).json()["items"] if one["again"]]
    assert again == 2
    await run_due(db, all_steps(reading, None))
    done = (await ada.get(mine)).json()
    assert (done["state"], done["counts"]) == ("done", dry["counts"])
    assert {one["fact"] for one in (await ada.get(f"{mine}/facts", params={"outcome": "added"})).json()["items"]} == {
        "I WORKS_AT Lidl."
    }
    assert await facts(ada) == {"I WORKS_AT Lidl."}
    assert await facts(bob) == {"I OWNS Bertha."}

    for theirs in (mine, f"{PLACE}/{uuid4()}"):
        answers = [
            await bob.get(theirs), await bob.get(f"{theirs}/facts"), await bob.post(f"{theirs}/stop"),
            await bob.post(f"{theirs}/undo"),
        ]  # fmt: skip
        assert [(one.status_code, one.json()["code"]) for one in answers] == [(404, "not_found")] * 4
    refused = await ada.post(f"{mine}/stop")
    assert (refused.status_code, refused.json()["code"]) == (409, "rereading_state")

    assert (await ada.post(f"{mine}/undo")).status_code == 202
    await run_due(db, all_steps(reading, None))
    undone = (await ada.get(mine)).json()
    assert (undone["state"], undone["not_undone"]) == ("undone", 0)
    assert await facts(ada) == {"I OWNS Bertha."}
