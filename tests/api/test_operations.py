"""What operators look at: health and metrics."""

from __future__ import annotations

import math
import re
import socket
from typing import Any

import httpx
import psycopg
import pytest

from memsvc import __version__, observe
from memsvc.api.controllers import service
from memsvc.errors import DatabaseUnavailableError
from memsvc.settings import Settings

pytestmark = pytest.mark.server
PRIVATE = "4711-private"


def value(text: str, name: str, **labels: str) -> float:
    """A sample of Prometheus's text format; 0 where there is none yet."""
    for line in text.splitlines():
        if re.match(rf"{re.escape(name)}[ {{]", line) and all(
            f'{label}="{content}"' in line for label, content in labels.items()
        ):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


async def metrics(client: httpx.AsyncClient) -> str:
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return answer.text


async def test_health_needs_no_key_and_tells_versions_only(anybody: httpx.AsyncClient) -> None:
    answer = await anybody.get("/health")
    assert answer.status_code == 200
    health = answer.json()
    assert (health["status"], health["database"], health["schema"]) == ("ok", "ok", "current")
    assert health["version"] == __version__
    assert "vector" in health["extensions"]
    assert not re.search("postgresql|password|memsvc_app|/var", answer.text)


async def test_health_fails_where_the_schema_is_not_this_versions(
    anybody: httpx.AsyncClient, admin: psycopg.Connection
) -> None:
    [current] = admin.execute("SELECT version_num FROM memsvc.schema_version").fetchone() or ["?"]
    admin.execute("UPDATE memsvc.schema_version SET version_num = '0000'")
    try:
        answer = await anybody.get("/health")
    finally:
        admin.execute("UPDATE memsvc.schema_version SET version_num = %s", [current])
    assert (answer.status_code, answer.json()["schema"]) == (503, "outdated")
    assert (await anybody.get("/health")).status_code == 200


async def test_requests_are_counted_and_timed_by_route_template(
    ada: httpx.AsyncClient, anybody: httpx.AsyncClient
) -> None:
    labels = {"method": "GET", "route": "/v1/conversations/{conversation}/messages", "status": "404"}
    before = value(await metrics(anybody), "memsvc_http_requests_total", **labels)
    await ada.get(f"/v1/conversations/{PRIVATE}/messages")
    after = await metrics(anybody)
    assert value(after, "memsvc_http_requests_total", **labels) == before + 1
    assert value(after, "memsvc_http_request_duration_seconds_count", **labels) == before + 1
    assert PRIVATE not in after


async def test_strangers_paths_and_methods_make_no_labels(anybody: httpx.AsyncClient) -> None:
    await anybody.get(f"/{PRIVATE}")
    await anybody.request(PRIVATE, "/v1/me")
    text = await metrics(anybody)
    assert PRIVATE not in text
    assert value(text, "memsvc_http_requests_total", route="unmatched", method="GET", status="404") >= 1
    assert value(text, "memsvc_http_requests_total", method="OTHER") >= 1


async def test_messages_recalls_and_errors_are_counted(ada: httpx.AsyncClient, anybody: httpx.AsyncClient) -> None:
    names: list[tuple[str, dict[str, str]]] = [
        ("memsvc_messages_total", {"outcome": "created"}),
        ("memsvc_messages_total", {"outcome": "existing"}),
        ("memsvc_ingest_duration_seconds_count", {}),
        ("memsvc_recall_duration_seconds_count", {"door": "recall"}),
        ("memsvc_recall_duration_seconds_count", {"door": "context"}),
        ("memsvc_errors_total", {"code": "empty_text"}),
        ("memsvc_recall_stage_duration_seconds_count", {"stage": "wait"}),
        ("memsvc_recall_stage_duration_seconds_count", {"stage": "database"}),
        ("memsvc_recall_stage_duration_seconds_count", {"stage": "answer"}),
    ]
    text = await metrics(anybody)
    before = [value(text, name, **labels) for name, labels in names]
    for _ in range(2):
        await ada.post("/v1/messages", json={"conversation": "a", "text": PRIVATE, "id": "1"})
    await ada.post("/v1/recall", json={"query": PRIVATE})
    await ada.post("/v1/context", json={"query": PRIVATE})
    await ada.post("/v1/messages", json={"conversation": "a", "text": " "})
    text = await metrics(anybody)
    grown = [value(text, name, **labels) - old for (name, labels), old in zip(names, before, strict=True)]
    assert grown == [1, 1, 3, 1, 1, 1, 2, 2, 2]
    assert PRIVATE not in text


async def test_the_backlog_is_measured_when_it_is_asked_for(ada: httpx.AsyncClient, anybody: httpx.AsyncClient) -> None:
    before = value(await metrics(anybody), "memsvc_jobs_pending")
    await ada.post("/v1/messages", json={"conversation": "a new one", "text": "oak"})
    text = await metrics(anybody)
    assert value(text, "memsvc_jobs_pending") == before + 1
    assert value(text, "memsvc_term_deltas_unfolded") >= 1
    assert value(text, "memsvc_jobs_oldest_pending_seconds") > 0
    assert value(text, "memsvc_database_up") == 1
    assert value(text, "memsvc_build_info", version=__version__) == 1


async def test_the_database_itself_is_measured(
    ada: httpx.AsyncClient, anybody: httpx.AsyncClient, admin: psycopg.Connection, settings: Settings
) -> None:
    await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"})
    text = await metrics(anybody)
    assert value(text, "memsvc_database_bytes") > 5_000_000
    assert 1 <= value(text, "memsvc_database_connections") <= value(text, "memsvc_database_connections_max")
    assert 0 <= value(text, "memsvc_database_oldest_transaction_seconds") < 60
    [age] = admin.execute("SELECT max(age(datfrozenxid)) FROM pg_database").fetchone() or [0]
    assert value(text, "memsvc_database_xid_age") == pytest.approx(age, abs=1_000)
    assert value(text, "memsvc_pool_connections_max", login="memsvc_app") >= settings.pool_size
    assert "memsvc_pool_connections_used{" in text
    for state in ("live", "dead"):
        assert f'memsvc_table_rows{{state="{state}",table="passages"}}' in text


async def test_a_job_of_a_request_that_is_not_traced_has_a_plain_message(
    ada: httpx.AsyncClient, admin: psycopg.Connection
) -> None:
    headers = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    answer = await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"}, headers=headers)
    found = admin.execute(
        "SELECT message -> 'kwargs' FROM memsvc.dramatiq_queue WHERE message_id = %s",
        [answer.json()["messages"][0]["job_id"]],
    )
    assert found.fetchone() == ({},)


async def test_work_that_runs_fails_or_is_not_understood_is_measured(
    ada: httpx.AsyncClient, anybody: httpx.AsyncClient, admin: psycopg.Connection
) -> None:
    names = ("memsvc_jobs_running", "memsvc_jobs_retrying", "memsvc_dead_letters", "memsvc_workers")
    # Other tests of this worker leave jobs that no vector waits for; they may be older than all others.
    admin.execute("UPDATE memsvc.jobs SET state = 'cancelled' WHERE state = 'pending' AND kind IN ('erase', 'tidy')")
    text = await metrics(anybody)
    before = [value(text, name) for name in names]
    messages = [{"conversation": str(number), "text": "oak"} for number in range(3)]
    answer = await ada.post("/v1/messages", json={"messages": messages})
    jobs = [receipt["job_id"] for receipt in answer.json()["messages"]]
    admin.execute("UPDATE memsvc.jobs SET attempts = 1, error_code = 'embedder' WHERE job_id = ANY (%s)", [jobs[:2]])
    admin.execute("INSERT INTO memsvc.dramatiq_worker VALUES (gen_random_uuid(), now())")
    admin.execute("UPDATE memsvc.dramatiq_queue SET state = 'consumed' WHERE message_id = %s", [jobs[0]])
    admin.execute("UPDATE memsvc.dramatiq_queue SET state = 'rejected' WHERE message_id = %s", [jobs[2]])
    try:
        text = await metrics(anybody)
    finally:
        admin.execute("TRUNCATE memsvc.dramatiq_worker")
        admin.execute("UPDATE memsvc.dramatiq_queue SET state = 'queued'")
    # One of the two that failed before is being tried again.
    assert [value(text, name) - old for name, old in zip(names, before, strict=True)] == [1, 1, 1, 1]
    assert value(text, "memsvc_embedding_lag_seconds") == pytest.approx(
        value(text, "memsvc_jobs_oldest_pending_seconds"), abs=0.1
    )


async def test_a_database_that_is_away_makes_no_figures_up(
    anybody: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_db: object) -> None:
        raise DatabaseUnavailableError

    monkeypatch.setattr(service, "backlog", away)
    text = await metrics(anybody)
    assert value(text, "memsvc_database_up") == 0
    assert math.isnan(value(text, "memsvc_jobs_pending"))
    assert math.isnan(value(text, "memsvc_dead_letters"))
    assert math.isnan(value(text, "memsvc_database_bytes"))
    assert "memsvc_table_rows{" not in text


async def test_the_p95_of_recall_can_be_had_for_each_door(ada: httpx.AsyncClient, anybody: httpx.AsyncClient) -> None:
    for door in ("recall", "context"):
        await ada.post(f"/v1/{door}", json={"query": "oak"})
        text = await metrics(anybody)
        assert value(text, "memsvc_recall_duration_seconds_bucket", door=door, le="+Inf") >= 1
        assert value(text, "memsvc_recall_duration_seconds_bucket", door=door, le="0.25") >= 0


def test_a_worker_tells_of_itself_and_nothing_that_it_did_not_ask() -> None:
    observe.JOBS_RUN.labels("process", "done").inc(0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with observe.metrics_served("127.0.0.1", port):
        text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    assert 'memsvc_jobs_run_total{kind="process",outcome="done"}' in text
    assert "memsvc_build_info" in text
    assert "memsvc_jobs_pending" not in text
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics")


@pytest.mark.parametrize(
    "name", ["authorization", "Authorization", "token", "access_token", "key", "api-key", "X-Api-Key", "db_password"]
)
def test_a_secrets_name_is_known(name: str) -> None:
    hidden: dict[str, Any] = observe.redacted({name: "x"})
    assert hidden == {name: observe.REDACTED}


@pytest.mark.parametrize("name", ["tokens", "budget_tokens", "keyboard", "monkey", "route", "secretary"])
def test_other_names_are_left_alone(name: str) -> None:
    assert observe.redacted({name: "x"}) == {name: "x"}
