"""The database does what it was asked, and its answer is lost: nobody is told that nothing was stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from litestar import Litestar
from psycopg import errors as pg
from sqlalchemy import text

from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.client import AsyncMemory, UnavailableError
from memsvc.db.engine import Database, role_url
from memsvc.db.meanings import in_doubt, plainly
from memsvc.db.together import Together
from memsvc.errors import DatabaseUnavailableError, OutcomeUnknownError, StorageFullError
from memsvc.settings import Settings
from tests.api.conftest import running
from tests.cluster import Cluster
from tests.fakes.cut_line import CutLine, cut_line
from tests.sql.world import value

APPEND = text("SELECT memsvc.append_recall(:user_id, :recall_id, 'test', 'eager', '{}')")
RECORDED = "SELECT count(*) FROM memsvc.recall_events WHERE user_id = %s"


@pytest.fixture
async def line(cluster: Cluster, database_name: str, settings: Settings) -> AsyncIterator[CutLine]:
    url = role_url(cluster.admin_url(database_name), "memsvc_app", settings.secret("app_password"))
    async with cut_line(url.render_as_string(hide_password=False)) as line:
        yield line


@pytest.fixture
async def pool(line: CutLine, settings: Settings) -> AsyncIterator[Database]:
    """A pool whose connections can be cut."""
    url = role_url(line.url, "memsvc_app", settings.secret("app_password"))
    pool = Database(url, settings, pool_size=2)
    yield pool
    await pool.close()


def recording(owner: Owner) -> dict[str, Any]:
    """Values of a statement that writes."""
    return {"user_id": owner.user_id, "recall_id": uuid4()}


async def by_transaction(pool: Database, owner: Owner) -> None:
    async with pool.transaction(owner.user_id) as connection:
        await connection.execute(APPEND, recording(owner))


async def together(pool: Database, owner: Owner) -> None:
    trip = Together(pool, owner.user_id)
    trip.ask(APPEND, recording(owner))
    await trip.send()


WAYS: dict[bytes, tuple[Callable[[Database, Owner], Any], int]] = {
    b"COMMIT": (by_transaction, 1),
    b"append_recall": (together, 1),
}
"""What is done, and how many rows it writes, by what is sent last."""


@pytest.mark.parametrize("word", WAYS)
async def test_whether_it_was_done_is_unknown(
    pool: Database, line: CutLine, owner: Owner, admin: psycopg.Connection, word: bytes
) -> None:
    line.word, (work, stored) = word, WAYS[word]
    with pytest.raises(OutcomeUnknownError) as lost:
        await work(pool, owner)
    assert "may have been stored" in lost.value.advice
    assert value(admin, RECORDED, [owner.user_id]) == stored
    await work(pool, owner)  # with another connection


async def test_what_is_lost_before_its_commit_is_not_done(
    pool: Database, line: CutLine, owner: Owner, admin: psycopg.Connection
) -> None:
    line.word = b"append_recall"
    with pytest.raises(DatabaseUnavailableError, match="cannot be reached") as lost:
        await by_transaction(pool, owner)
    assert lost.value.code == "database_unavailable"
    assert value(admin, RECORDED, [owner.user_id]) == 0


async def test_what_cannot_store_leaves_nothing_in_doubt(pool: Database, line: CutLine, owner: Owner) -> None:
    async def reading() -> None:
        trip = Together(pool, owner.user_id, stores=False)
        trip.ask(text("SELECT count(*) AS count FROM memsvc.passages"), {})
        await trip.send()

    async def counting() -> None:
        async with pool.statement() as connection:
            await connection.execute(text("SELECT count(*) FROM memsvc.passages"))

    for work in (reading, counting):
        line.word = b"memsvc.passages"
        with pytest.raises(DatabaseUnavailableError) as lost:
            await work()
        assert lost.value.code == "database_unavailable"
        await work()


async def test_a_full_disk_that_ends_the_server_leaves_it_unknown_too() -> None:
    class Panic(pg.DiskFull):
        @property
        def diag(self) -> Any:
            return type("Diag", (), {"severity_nonlocalized": "PANIC", "message_primary": ""})

    for error, hint in ((Panic(), "may have been stored"), (pg.DiskFull(), "Nothing was stored")):
        with pytest.raises(StorageFullError) as full, plainly(), in_doubt():
            raise error
        assert hint in full.value.advice


@pytest.fixture
async def service(pool: Database, settings: Settings) -> AsyncIterator[Litestar]:
    """The application over that way."""
    async with running(create_app(settings, pool)) as app:
        yield app


async def test_the_service_says_so_and_nothing_is_done_twice(
    service: Litestar, line: CutLine, db: Database, app: UUID, owner: Owner
) -> None:
    key = await create_key(db, app, user_id=owner.user_id)
    transport = httpx.ASGITransport(app=service)  # type: ignore[arg-type]
    async with AsyncMemory("http://memsvc.test", key, transport=transport) as memory:
        await memory.write_block("preferences", "Tea at ten.")
        line.word = b"COMMIT"
        with pytest.raises(UnavailableError) as lost:
            await memory.append_to_block("preferences", "No sugar.")
        assert (lost.value.code, lost.value.status) == ("outcome_unknown", 503)
        assert (await memory.read_block("preferences")).text == "Tea at ten.\nNo sugar."
        line.word = b"append_messages"
        assert (await memory.add("Sent twice.")).outcome == "existing"
        assert [said.text async for said in memory.messages("default")] == ["Sent twice."]


async def test_what_is_lost_before_it_stores_is_sent_again(
    service: Litestar, line: CutLine, db: Database, app: UUID, owner: Owner
) -> None:
    """Whose key it is, is asked first; so a change that may not be done twice is sent again."""
    key = await create_key(db, app, user_id=owner.user_id)
    transport = httpx.ASGITransport(app=service)  # type: ignore[arg-type]
    async with AsyncMemory("http://memsvc.test", key, transport=transport) as memory:
        await memory.write_block("preferences", "Tea at ten.")
        line.word = key.partition(".")[0].encode()
        await memory.append_to_block("preferences", "No sugar.")
        assert not line.word, "it was lost"
        assert (await memory.read_block("preferences")).text == "Tea at ten.\nNo sugar."
    given: Any = {"json": {"query": "Zanzibar"}, "headers": {"Authorization": f"Bearer {key}"}}
    async with httpx.AsyncClient(transport=transport, base_url="http://memsvc.test") as client:
        for path in ("/v1/recall", "/v1/context"):
            line.word = b"Zanzibar"
            lost = await client.post(path, **given)
            assert (bool(line.word), lost.status_code, lost.json()["code"]) == (False, 503, "database_unavailable")
