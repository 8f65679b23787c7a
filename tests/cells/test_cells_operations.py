"""An administrator sees and mends one cell after another over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import httpx
import pytest

from memsvc.db.files import query
from tests.api.conftest import UNREADABLE
from tests.cells.application import Application, served
from tests.cells.pair import Deployment
from tests.cells.served import tell

pytestmark = pytest.mark.slow

FAIL = (
    "UPDATE memsvc.jobs SET state = 'failed', finished_at = now(), attempts = 3, error_code = 'embedder', error = 'x' "
    "WHERE user_id = %s"
)
READ = ("", "/models", "/costs", "/jobs", "/dead-letters")


@pytest.fixture(scope="module")
async def both(deployment: Deployment) -> AsyncIterator[Application]:
    async with served(deployment) as running:
        yield running


async def items(chief: httpx.AsyncClient, what: str, cell: str | None) -> list[dict[str, object]]:
    answer = await chief.get(f"/v1/operations/{what}", params={"cell": cell} if cell else {})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = answer.json()["items"]
    return found


async def test_the_cells_are_listed_by_name(both: Application) -> None:
    chief = await both.client(await both.key("admin"))
    assert [one["name"] for one in await items(chief, "cells", None)] == ["home", "north"]


async def test_jobs_of_a_cell_are_listed_and_retried_there_alone(both: Application) -> None:
    people = {cell: await both.person(f"Worker of {cell}", cell) for cell in ("home", "north")}
    chief = await both.client(await both.key("admin"))
    for user, client in people.values():
        assert (await tell(client, "The heron sleeps.")).status_code == 202
        for cell in people:
            both.deployment.run(cell, FAIL, user)

    async def users(cell: str | None) -> set[UUID]:
        return {UUID(str(job["user_id"])) for job in await items(chief, "jobs", cell)}

    home, north = (people[cell][0] for cell in ("home", "north"))
    for asked in (None, "home"):
        assert home in await users(asked)
        assert north not in await users(asked)
    assert north in await users("north")
    assert home not in await users("north")
    [job] = [job for job in await items(chief, "jobs", "north") if job["user_id"] == str(north)]
    at = f"/v1/operations/jobs/{job['job_id']}/retry"
    assert (await chief.post(at)).status_code == 404
    retried = await chief.post(at, params={"cell": "north"})
    assert (retried.status_code, retried.json()["state"]) == (200, "pending"), retried.text


async def test_health_is_that_of_the_cell(both: Application) -> None:
    chief = await both.client(await both.key("admin"))
    await tell((await both.person("Hella", "north"))[1], "The owl is awake.")
    for cell in ("home", "north"):
        answer = (await chief.get("/v1/operations", params={"cell": cell})).json()
        [(pending,)] = both.deployment.rows(cell, "SELECT pending FROM memsvc.backlog()")
        assert (answer["backlog"]["pending"], answer["current"]) == (pending, True)
    both.deployment.run("north", "UPDATE memsvc.schema_version SET version_num = '0001'")
    try:
        found = (await chief.get("/v1/operations", params={"cell": "north"})).json()
        assert (found["revision"], found["current"]) == ("0001", False)
        assert (await chief.get("/v1/operations")).json()["current"]
    finally:
        [(head,)] = both.deployment.rows("home", "SELECT version_num FROM memsvc.schema_version")
        both.deployment.run("north", "UPDATE memsvc.schema_version SET version_num = %s", head)


async def test_dead_letters_of_a_cell_are_listed_retried_and_dropped_there(both: Application) -> None:
    user, _ = await both.person("Letty", "north")
    chief = await both.client(await both.key("admin"))
    north = await both.service.cells.named("north")
    letters = [str(uuid4()), str(uuid4())]
    for letter in letters:
        values = {"message_id": letter, "user_id": user, "queue_name": "models", "message": UNREADABLE}
        async with north.transaction() as connection:
            await connection.execute(query("reject_message"), values)
    assert set(letters) <= {one["message_id"] for one in await items(chief, "dead-letters", "north")}
    assert not {one["message_id"] for one in await items(chief, "dead-letters", None)} & set(letters)
    first, second = (f"/v1/operations/dead-letters/{letter}" for letter in letters)
    assert (await chief.delete(first)).status_code == 404
    assert (await chief.delete(first, params={"cell": "north"})).status_code == 204
    assert (await chief.post(f"{second}/retry", params={"cell": "north"})).status_code == 204
    assert not {one["message_id"] for one in await items(chief, "dead-letters", "north")} & set(letters)


async def test_models_and_costs_are_those_of_the_cell(both: Application) -> None:
    user, _ = await both.person("Costa", "north")
    chief = await both.client(await both.key("admin"))
    [(models,)] = both.deployment.rows("north", "SELECT count(*) FROM memsvc.embedding_models")
    found = (await chief.get("/v1/operations/models", params={"cell": "north"})).json()
    assert len(found["models"]) == models > 0
    both.deployment.run(
        "north",
        "INSERT INTO memsvc.model_calls (user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, "
        "tries) VALUES (%s, 'facts', 'of the north', '1', 'answered', 900, 120, 800, 1)",
        user,
    )
    assert "of the north" in {one["model"] for one in await items(chief, "costs", "north")}
    assert "of the north" not in {one["model"] for one in await items(chief, "costs", None)}


async def test_an_unknown_cell_is_refused_by_name(both: Application) -> None:
    chief = await both.client(await both.key("admin"))
    nothing = f"{UUID(int=0)}"
    asked = [
        *(("GET", what) for what in READ),
        *(("POST", f"/{what}/{nothing}/retry") for what in ("jobs", "dead-letters")),
        ("DELETE", f"/dead-letters/{nothing}"),
    ]
    for name in ("south", "North", "", "<script>alert(1)</script>", "x" * 500, "%00"):
        for method, what in asked:
            refused = await chief.request(method, f"/v1/operations{what}", params={"cell": name})
            told = refused.json()
            assert (refused.status_code, told["code"], told["field"]) == (400, "invalid_request", "cell"), told
            assert repr(name[:40]) in told["detail"]


async def test_a_new_cell_is_known_at_once_and_one_that_is_gone_answers_503(both: Application) -> None:
    chief = await both.client(await both.key("admin"))
    assert (await chief.get("/v1/operations", params={"cell": "west"})).status_code == 400
    both.deployment.run(
        "home", "INSERT INTO memsvc.cells (cell_id, name, url) VALUES (7, 'west', 'postgresql://127.0.0.1:1/west')"
    )
    try:
        refused = await chief.get("/v1/operations", params={"cell": "west"})
        assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable"), refused.text
        assert (await chief.get("/v1/operations")).status_code == 200
        assert [one["name"] for one in await items(chief, "cells", None)] == ["home", "north", "west"]
    finally:
        both.deployment.run("home", "DELETE FROM memsvc.cells WHERE cell_id = 7")


async def test_what_tells_of_cells_needs_the_scope_admin(both: Application) -> None:
    await both.person("Nosy", "north")
    other = await both.client(await both.key("read", "write"), **{"X-Memsvc-User": "Nosy"})
    assert (await other.get("/v1/operations/cells")).status_code == 403
    assert (await other.get("/v1/operations", params={"cell": "north"})).status_code == 403
