"""What a key stores counts against its limit wherever the user is, also what is stored in the background."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from jobs.steps import all_steps
from memsvc.access.keys import Limits
from memsvc.db.engine import Database, role_url
from memsvc.errors import DatabaseUnavailableError
from memsvc.feeds.pushing import sign
from memsvc.queue.execution import run_due
from tests.cells.application import Application, served
from tests.cells.pair import Deployment, without_login
from tests.cells.served import tell

pytestmark = pytest.mark.slow

NO_SERVER = "postgresql://127.0.0.1:1/memsvc"
COUNTED = "SELECT messages FROM memsvc.api_keys WHERE key_id = %s"


@pytest.fixture(scope="module")
async def both(deployment: Deployment) -> AsyncIterator[Application]:
    async with served(deployment) as running:
        yield running


async def worker(both: Application, cell: str, home: str | None) -> int:
    """Do all waiting jobs of a cell, as a worker with that cell's database does."""
    own = both.settings.model_copy(update={"home_url": SecretStr(home) if home else None})
    url = role_url(both.deployment.url(cell), "memsvc_app", own.secret("app_password"))
    db = Database(url, own)
    try:
        return await run_due(db, all_steps(own, None))
    finally:
        await db.close()


async def push(client: httpx.AsyncClient, feed: dict[str, Any], words: str) -> httpx.Response:
    body, now = json.dumps({"text": words}).encode(), int(time.time())
    headers = {"X-Memsvc-Timestamp": str(now), "X-Memsvc-Signature": sign(feed["secret"], now, body)}
    return await client.post(f"/v1/feeds/{feed['feed_id']}/push", content=body, headers=headers)


@pytest.mark.parametrize("cell", ["home", "north"])
async def test_files_and_pushes_count_against_the_keys_limit_in_every_cell(
    both: Application, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sources.ingesting.BATCH", 2)
    await both.person(f"Limo of {cell}", cell)
    key = await both.key("read", "write", limits=Limits(messages_per_day=5))
    client = await both.client(key, **{"X-Memsvc-User": f"Limo of {cell}"})

    def counted() -> int:
        [(messages,)] = both.deployment.rows("home", COUNTED, key.split(".")[0])
        return int(messages)

    assert (await tell(client, "One.")).status_code == 202
    feed = (await client.post("/v1/feeds", json={"kind": "push", "name": "office", "takes": "memory"})).json()
    assert (await push(client, feed, "Two.")).status_code == 202
    assert counted() == 2
    talk = "".join(json.dumps({"text": f"word {number}"}) + "\n" for number in range(9))
    sent = await client.post("/v1/documents", files=[("file", ("talk.jsonl", talk))])
    assert sent.status_code == 202, sent.text
    at = f"/v1/ingests/{sent.json()['ingest_id']}"

    if cell != "home":  # the worker waits for the home, and loses and counts nothing
        with pytest.raises(DatabaseUnavailableError):
            await worker(both, cell, NO_SERVER)
        assert (await client.get(at)).json()["state"] not in {"failed", "completed"}
        assert counted() == 2
    await worker(both, cell, None if cell == "home" else without_login(both.deployment.home))
    done = (await client.get(at)).json()
    assert (done["state"], done["error_code"], done["stored"]) == ("failed", "quota_exceeded", 2)
    assert counted() == 4
    assert (await push(client, feed, "Five.")).status_code == 202
    refused = await push(client, feed, "Six.")
    assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded")
    assert counted() == 5
