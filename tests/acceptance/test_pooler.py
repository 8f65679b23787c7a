"""Everything through a real PgBouncer in transaction mode, which gives each transaction any session of the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from memsvc.access.users import add_user, app_id
from memsvc.db.engine import Database, role_url
from memsvc.errors import OverloadedError
from memsvc.server import embedded
from memsvc.settings import Settings
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, free_port, wait_until
from tests.acceptance.web.world import ROOT
from tests.poolers import pooling

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """The service behind a pooler, with its worker."""
    with private_folder(prepared) as data:
        settings = Settings.model_validate({"data_dir": data, "database_url": None})
        passwords = {"memsvc_app": settings.secret("app_password")}
        with (
            embedded.running(data) as server,
            pooling(data.parent / "pgbouncer", server, free_port(), passwords) as pooler,
            Rig(data, extractor="offline") as made,
        ):
            made.environment |= {"MEMSVC_POOLER_URL": pooler.url(), "MEMSVC_DATABASE_URL": made.admin_url()}
            yield made


def test_all_doors_work_through_a_pooler(rig: Rig) -> None:
    rig.ok("user", "add", "--name", "Marcel", "--zone", "Europe/Berlin")
    rig.ok("ingest", str(ROOT / "examples" / "conversation.jsonl"), "--user", "Marcel")
    key = rig.ok(
        "key", "create", "--user", "Marcel", "--scope", "read", "--scope", "write", "--scope", "forget"
    ).strip()
    rig.serve("api")
    rig.start("worker")
    with httpx.Client(base_url=rig.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as api:
        for number in range(30):  # more than sessions, so statements meet sessions that do not know them
            told = f"The heron number {number} is back at the pond."
            stored = api.post(
                "/v1/messages", json={"conversation": f"c{number % 7}", "speaker": "Marcel", "text": told}
            )
            assert stored.is_success, stored.text
            found = api.post("/v1/recall", json={"query": f"heron number {number}", "limit": 5}).json()["memories"]
            assert told in [one["text"] for one in found]
        wait_until(lambda: api.get("/v1/graph/stats").json()["facts"] > 0, seconds=120)
        context = api.post("/v1/context", json={"query": "When is the wedding?"})
        assert "wedding" in context.text
        after = api.get("/v1/events", params={"cursor": "now"}).json()["next_cursor"]
        note = api.post("/v1/notes", json={"title": "Pond", "text": "It needs a fence.", "kind": "fact"})
        assert note.is_success, note.text
        heard = api.get("/v1/events", params={"cursor": after, "wait": 20}).json()["items"]
        assert heard, "nobody listens"
        rig.ok("sleep", "--user", "Marcel", "--tasks", "duplicates,summaries")
        reported = api.get("/v1/sleep/report")
        assert reported.is_success, reported.text
    health = httpx.get(f"{rig.url}/health", timeout=10)
    assert health.status_code == 200


async def test_a_statement_that_takes_too_long_is_ended_there_too(rig: Rig) -> None:
    given = {"data_dir": rig.data, "database_url": rig.admin_url(), "statement_timeout_ms": 200}
    settings = Settings.model_validate({**given, "pooler_url": rig.environment["MEMSVC_POOLER_URL"]})
    db = Database(role_url(rig.admin_url(), "memsvc_app", settings.secret("app_password")), settings)
    try:
        owner = (await add_user(db, await app_id(db, "mine"), name="Ada")).owner
        with pytest.raises(OverloadedError, match="too long"):
            async with db.transaction(owner.user_id) as connection:
                await connection.execute(text("SELECT pg_sleep(10)"))
        async with db.transaction(owner.user_id) as connection:
            assert (await connection.execute(text("SHOW statement_timeout"))).scalar_one() == "200ms"
        async with db.statement() as connection:  # the next one of this session has nothing left of it
            assert (await connection.execute(text("SHOW statement_timeout"))).scalar_one() == "0"
    finally:
        await db.close()
