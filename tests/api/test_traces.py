"""Traces of the running application: from a request through its job to the statements, as a collector gets them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

import httpx
import psycopg
import pytest
from dramatiq.brokers.stub import StubBroker
from litestar import Litestar
from sqlalchemy import text

from jobs.actors import declare_actors
from memsvc import traces
from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.errors import EmbedderError
from memsvc.queue.broker import read_message
from memsvc.queue.execution import WORDS_ALONE, run_job
from memsvc.queue.worker import JobRunner
from memsvc.settings import Settings
from tests.api.conftest import client_of, running
from tests.collector import Collector, collecting, flush

PRIVATE = "4711-private"
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@dataclass(frozen=True, slots=True)
class Traced:
    """An application that records traces, and who collects them."""

    api: Litestar
    db: Database
    collector: Collector


@pytest.fixture(scope="module")
async def everything(settings: Settings, db: Database) -> AsyncIterator[Traced]:
    with collecting() as collector:
        chosen = settings.model_copy(update={"traces_url": collector.url})
        with traces.tracing(chosen):
            database = Database(db.engine.url, chosen)
            async with running(create_app(chosen, database)) as api:
                yield Traced(api, database, collector)
            await database.close()


@pytest.fixture
async def traced(everything: Traced) -> Traced:
    """The same, with nothing collected yet."""
    await flush()
    everything.collector.bodies.clear()
    return everything


@pytest.fixture
async def ada(traced: Traced, owner: Owner, app: UUID) -> AsyncIterator[httpx.AsyncClient]:
    key = await create_key(traced.db, app, scopes=("read", "write"), user_id=owner.user_id)
    async with client_of(traced.api, Authorization=f"Bearer {key}") as client:
        yield client


def message_of(admin: psycopg.Connection, job_id: str) -> tuple[str, str]:
    found = admin.execute(
        "SELECT queue_name, message::text FROM memsvc.dramatiq_queue WHERE message_id = %s", [job_id]
    ).fetchone()
    assert found is not None
    return found


async def work(db: Database, admin: psycopg.Connection, job_id: str) -> None:
    """Run a job as a worker does, from its message on."""
    queue, payload = message_of(admin, job_id)
    message, broker = read_message(job_id, queue, payload), StubBroker(middleware=[])
    declare_actors(broker, JobRunner(db, WORDS_ALONE, broker))
    await asyncio.to_thread(broker.get_actor(message.actor_name).fn, *message.args, **message.kwargs)


async def test_a_trace_leads_from_the_caller_through_the_request_and_its_job_to_the_statements(
    traced: Traced, ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    headers = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": f"x={PRIVATE}", "baggage": f"x={PRIVATE}"}
    said = {"conversation": PRIVATE, "text": PRIVATE, "id": PRIVATE, "speaker": PRIVATE}
    [receipt] = (await ada.post("/v1/messages", json=said, headers=headers)).json()["messages"]
    await work(traced.db, admin, receipt["job_id"])
    await flush()

    found = traced.collector
    request, job = found.only("POST /v1/messages"), found.only("job process")
    assert {span.trace_id for span in (request, job)} == {TRACE}
    assert (request.kind, request.parent_id) == ("server", CALLER)
    assert request.values == {
        "http.request.method": "POST", "http.route": "/v1/messages", "http.response.status_code": 202,
    }  # fmt: skip
    assert "append_messages" in found.below(request)
    assert (job.kind, job.parent_id) == ("consumer", request.span_id)
    assert job.values == {"memsvc.job.kind": "process", "memsvc.job.outcome": "done"}
    assert "finish_job" in found.below(job)
    private = (PRIVATE, str(owner.user_id), receipt["job_id"], receipt["conversation_id"])
    assert [one for one in private if one.encode() in b"".join(found.bodies)] == []


async def test_a_request_that_nobody_traced_begins_a_trace_and_hands_it_to_its_job(
    traced: Traced, ada: httpx.AsyncClient, admin: psycopg.Connection
) -> None:
    said = {"conversation": "a", "text": "oak"}
    answer = await ada.post("/v1/messages", json=said, headers=[(b"traceparent", f"{PRIVATE}-\N{SNOWMAN}".encode())])
    await work(traced.db, admin, answer.json()["messages"][0]["job_id"])
    await flush()
    request, job = traced.collector.only("POST /v1/messages"), traced.collector.only("job process")
    assert (request.parent_id, job.parent_id, job.trace_id) == ("", request.span_id, request.trace_id)


async def test_a_caller_who_does_not_want_a_trace_gets_none(
    traced: Traced, ada: httpx.AsyncClient, admin: psycopg.Connection
) -> None:
    headers = {"traceparent": f"00-{TRACE}-{CALLER}-00"}
    answer = await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"}, headers=headers)
    assert '"kwargs": {}' in message_of(admin, answer.json()["messages"][0]["job_id"])[1]
    await flush()
    assert traced.collector.spans == []


async def test_recall_shows_its_stages_and_named_statements(traced: Traced, ada: httpx.AsyncClient) -> None:
    await ada.post("/v1/recall", json={"query": PRIVATE})
    await ada.get("/health")
    await ada.get(f"/v1/conversations/{PRIVATE}/messages")
    await ada.get(f"/{PRIVATE}")
    await flush()

    found = traced.collector
    statement = found.only("recall")
    assert found.above(statement) == ["recall database", "POST /v1/recall"]
    assert found.above(found.only("recall wait")) == ["POST /v1/recall"]
    assert statement.kind == "client"
    assert statement.values == {"db.system.name": "postgresql", "db.query.summary": "recall"}
    assert found.above(found.only("recall answer")) == ["POST /v1/recall"]
    missing = found.only("GET /v1/conversations/{conversation}/messages")
    assert (missing.values["http.response.status_code"], missing.failed) == (404, False)
    assert missing.values["memsvc.error.code"] == "conversation_unknown"
    assert found.only("GET unmatched").values["http.response.status_code"] == 404
    assert not [span for span in found.spans if "health" in span.name]
    assert PRIVATE.encode() not in b"".join(found.bodies)


async def test_failures_are_told_by_code_and_never_by_text(
    traced: Traced, ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    async def step(database: Database, user_id: UUID, _subject: UUID) -> bool:
        with pytest.raises(Exception, match="division"):
            async with database.transaction(user_id) as connection:
                await connection.execute(text("SELECT CAST(:x AS text), 1 / 0"), {"x": PRIVATE})
        raise EmbedderError(PRIVATE)

    answer = await ada.post("/v1/messages", json={"conversation": "a", "text": PRIVATE})
    job_id = UUID(answer.json()["messages"][0]["job_id"])
    await run_job(traced.db, "process", owner.user_id, job_id, [step])
    await flush()

    job = traced.collector.only("job process")
    assert job.values["memsvc.job.outcome"] == "failed"
    assert job.values["error.type"] == EmbedderError.code
    [broken] = [span for span in traced.collector.spans if span.failed]
    assert (broken.name, broken.values["error.type"]) == ("SELECT", "DivisionByZero")
    assert PRIVATE.encode() not in b"".join(traced.collector.bodies)
    assert job.trace_id in message_of(admin, str(job_id))[1], "its next try belongs to the same trace"
