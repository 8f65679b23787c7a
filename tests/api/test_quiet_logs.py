"""What people say does not reach a log: of the server, of the API or of a worker, whatever fails on the way."""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
import structlog
from psycopg import sql
from sqlalchemy import text

from memsvc import observe
from memsvc.access.users import Owner
from memsvc.api.controllers import recall as recall_controller
from memsvc.db.engine import Database
from memsvc.errors import MemsvcError, NodeUnknownError
from memsvc.queue.execution import run_job
from memsvc.server.reader import ask
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.sql.inventory import LOGINS
from tests.sql.world import login_url

pytestmark = pytest.mark.server
FAILING = {
    "a cast": "SELECT '{secret}'::integer",
    "a name": "SELECT * FROM {secret}",
    "the grammar": "SELECT 1 {secret} 1 {secret}",
    "a setting": "SET DateStyle = '{secret}'",
    "a pattern": "SELECT 'a' ~ '({secret}'",
    "code": "DO $$ BEGIN RAISE EXCEPTION '{secret}' USING DETAIL = '{secret}', HINT = '{secret}'; END $$",
    "a warning": "DO $$ BEGIN RAISE WARNING '{secret}'; END $$",
    "a part of a script": "SELECT 1; SELECT '{secret}' / 0; SELECT 2",
    "a timeout": "SET statement_timeout = 10; SELECT pg_sleep(5), '{secret}'",
    "a division in a long one": "SELECT length('{secret}') / 0",
}
BOUND = {"a cast": "SELECT CAST(%s AS text)::integer", "a range": "SELECT CAST(%s AS text)::int4range"}


@pytest.fixture
def secret() -> str:
    """A word that nobody else says."""
    return f"s{secrets.token_hex(12)}"


@pytest.fixture
def server_log(cluster: Cluster) -> Callable[[], str]:
    """What the server under test has logged."""
    path = cluster.log
    if path is None:
        pytest.skip("the log of this server cannot be read here")
    return lambda: path.read_text(errors="replace")


@pytest.fixture(params=["json", "console"])
def logged(settings: Settings, request: pytest.FixtureRequest) -> Iterator[Callable[[], str]]:
    """What this process logs from here on."""
    stream = io.StringIO()
    structlog.reset_defaults()
    observe.configure_logging(settings.model_copy(update={"log_format": request.param, "log_level": "debug"}), stream)
    yield stream.getvalue
    structlog.reset_defaults()


def test_the_log_that_is_read_here_is_the_servers(
    admin: psycopg.Connection, server_log: Callable[[], str], secret: str
) -> None:
    """An administrator's error is logged, but neither the statement nor the rows that it met."""
    with admin.transaction(force_rollback=True):
        admin.execute("CREATE TEMPORARY TABLE said (words text PRIMARY KEY)")
        admin.execute("INSERT INTO said VALUES (%s)", [secret])
        with pytest.raises(psycopg.errors.UniqueViolation), admin.transaction():
            admin.execute(sql.SQL("INSERT INTO said VALUES ({}) -- {}").format(secret, sql.SQL(secret)))
        with pytest.raises(psycopg.errors.DivisionByZero), admin.transaction():
            admin.execute(f"SELECT 1 / 0 AS {secret}".encode())
    assert secret not in server_log()
    with pytest.raises(psycopg.errors.UndefinedTable):
        admin.execute(f"SELECT * FROM {secret}".encode())
    assert secret in server_log()


@pytest.mark.parametrize("role", LOGINS)
def test_what_fails_in_a_session_is_not_in_the_servers_log(
    role: str, cluster: Cluster, database_name: str, settings: Settings, *, server_log: Callable[[], str], secret: str
) -> None:
    url = login_url(cluster.admin_url(database_name), role, settings)
    with psycopg.connect(url, autocommit=True) as connection:
        for name, statement in FAILING.items():
            with suppress(psycopg.Error):
                connection.execute(statement.format(secret=secret).encode(), prepare=False)
                assert name == "a warning"
        for statement in BOUND.values():
            for prepare in (False, True):
                with pytest.raises(psycopg.Error):
                    connection.execute(statement.encode(), [secret], prepare=prepare)
        for setting in ("log_min_messages", "log_statement", "log_error_verbosity", "log_min_error_statement"):
            value = {"log_statement": "all", "log_error_verbosity": "verbose"}.get(setting, "debug5")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SET {setting} = '{value}'".encode())
    with psycopg.connect(cluster.base_url, autocommit=True) as admin, psycopg.connect(url, autocommit=True) as ended:

        def long() -> None:
            with pytest.raises(psycopg.errors.AdminShutdown):
                ended.execute(f"SELECT pg_sleep(60), '{secret}'".encode())

        thread = Thread(target=long)
        thread.start()
        admin.execute("SELECT pg_sleep(0.2), pg_terminate_backend(%s, 5000)", [ended.info.backend_pid])
        thread.join()
    assert secret not in server_log()


async def test_what_is_sent_to_the_api_is_in_no_log(
    ada: httpx.AsyncClient, server_log: Callable[[], str], logged: Callable[[], str], secret: str
) -> None:
    message = {"conversation": secret, "text": secret, "external_id": "1"}
    await ada.post("/v1/messages", json=message)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    for path, body in (
        ("/v1/messages", message | {"text": f"{secret} otherwise"}),
        ("/v1/messages", message | {"said_at": secret}),
        ("/v1/messages", message | {secret: 1}),
        ("/v1/messages", {"text": f"{secret}\\u0000"}),
        ("/v1/recall", {"query": secret, "limit": secret}),
        ("/v1/recall", {"query": secret, "conversations": [secret]}),
        ("/v1/recall", {"query": secret, "cursor": secret}),
        ("/v1/facts", {"from": secret, "type": secret, "to": secret}),
        ("/v1/graph/cypher", {"query": f"MATCH ({secret}"}),
        ("/v1/chat/completions", {"model": secret, "messages": [{"role": "user", "content": secret}]}),
        ("/v1/answer", {"query": secret}),
        (f"/v1/{secret}", {}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": secret, "params": {secret: secret}}),
        ("/mcp", call | {"params": {"name": secret, "arguments": secret}}),
        ("/mcp", call | {"params": {"name": "recall", "arguments": {"x": secret}}}),
    ):
        answer = await ada.post(path, json=body, headers={"Accept": "application/json, text/event-stream"})
        assert answer.status_code < 600
    await ada.post("/v1/recall", content=f'{{"query": "{secret}'.encode(), headers={"Content-Type": "application/json"})
    for path in ("/v1/nodes", "/v1/conversations", "/v1/changes", "/v1/memories", "/v1/graph"):
        await ada.get(f"{path}/{secret}", params={"cursor": secret, "at": secret})
        await ada.get(path, params={"query": secret, "cursor": secret, "type": secret})
    await ada.get("/v1/me", headers={"Authorization": f"Bearer {secret}", "X-Memsvc-User": secret})
    assert "request" in logged()
    assert secret not in logged()
    assert secret not in server_log()


@pytest.mark.parametrize("statement", ["SELECT CAST(CAST(:secret AS text) AS integer)", "SELECT :secret / 0", ""])
async def test_what_nobody_foresaw_is_in_no_log(
    ada: httpx.AsyncClient,
    db: Database,
    owner: Owner,
    monkeypatch: pytest.MonkeyPatch,
    *,
    server_log: Callable[[], str],
    logged: Callable[[], str],
    secret: str,
    statement: str,
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        if not statement:
            try:
                int(secret)
            except ValueError as error:
                raise KeyError(secret) from error
        async with db.transaction(owner.user_id) as connection:
            await connection.execute(text(statement), {"secret": secret})

    monkeypatch.setattr(recall_controller, "recall", broken)
    answer = await ada.post("/v1/recall", json={"query": secret})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "unexpected error" in logged()
    assert ("psycopg.errors" if statement else "KeyError") in logged()
    assert secret not in logged()
    assert secret not in server_log()


async def test_what_fails_in_a_job_is_in_no_log(
    ada: httpx.AsyncClient,
    db: Database,
    owner: Owner,
    admin: psycopg.Connection,
    *,
    server_log: Callable[[], str],
    logged: Callable[[], str],
    secret: str,
) -> None:
    async def odd(*_: Any) -> bool:
        raise ValueError(secret)

    async def unknown(*_: Any) -> bool:
        raise NodeUnknownError(f"There is no node {secret!r}.")

    async def refused(db: Database, user_id: UUID, _subject: UUID) -> bool:
        async with db.transaction(user_id) as connection:
            await connection.execute(text("SELECT CAST(CAST(:secret AS text) AS integer)"), {"secret": secret})
        return False

    for step in (odd, unknown, refused):
        await ada.post("/v1/messages", json={"conversation": secret, "text": f"{secret} {step.__name__}"})
        job = admin.execute(
            "SELECT job_id, kind FROM memsvc.jobs WHERE user_id = %s AND state = 'pending'", [owner.user_id]
        ).fetchone()
        assert job is not None
        assert await run_job(db, job[1], owner.user_id, job[0], [step]) == "failed"
    assert logged().count("job failed") >= 3
    assert secret not in logged()
    assert secret not in server_log()


def test_what_people_ask_in_sql_is_not_in_the_servers_log(
    cluster: Cluster,
    database_name: str,
    settings: Settings,
    owner: Owner,
    *,
    server_log: Callable[[], str],
    secret: str,
) -> None:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    for statement in FAILING.values():
        with suppress(MemsvcError):
            ask(url, settings, owner.user_id, statement.format(secret=secret), limit=10)
    assert secret not in server_log()
