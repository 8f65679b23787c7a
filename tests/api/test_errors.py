"""How errors are told: one shape, one id, nothing leaked; and what happens when the database is away."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
import structlog
from litestar import Litestar
from pydantic import SecretStr

from memsvc import observe
from memsvc.access.keys import Principal, issue_jwt
from memsvc.access.users import Owner
from memsvc.api.app import application, create_app
from memsvc.api.bodies import JsonRequest, decode
from memsvc.api.controllers import recall as recall_controller
from memsvc.api.problems import MEDIA_TYPE, answer_error
from memsvc.db.engine import Database
from memsvc.errors import CapabilityMissingError, ConfigurationError, MemsvcError, OverloadedError, StorageFullError
from memsvc.settings import Settings
from memsvc.settings import settings as process_settings
from tests.api.conftest import client_of, running

GENERATED_ID = re.compile(r"[0-9a-f]{16}")


def every_error(base: type[MemsvcError] = MemsvcError) -> list[type[MemsvcError]]:
    """All error classes of memsvc."""
    return [base, *(error for child in base.__subclasses__() for error in every_error(child))]


async def test_a_problem_has_the_shape_of_rfc_9457(ada: httpx.AsyncClient) -> None:
    answer = await ada.post("/v1/messages", json={"messages": [{"conversation": "a", "text": " "}]})
    assert answer.headers["Content-Type"] == MEDIA_TYPE
    assert answer.json() == {
        "type": "urn:memsvc:error:empty_text",
        "title": "The text is empty.",
        "status": 400,
        "code": "empty_text",
        "detail": "The text is empty.",
        "hint": "Send at least one visible character in text or caption.",
        "request_id": answer.headers["X-Request-Id"],
        "row": 0,
        "field": "text",
    }


async def test_every_answer_carries_a_request_id(ada: httpx.AsyncClient, anybody: httpx.AsyncClient) -> None:
    answers = [
        await ada.get("/v1/me"),
        await ada.get("/v1/jobs/x"),
        await anybody.get("/v1/me"),
        await anybody.get("/nowhere"),
        await anybody.delete("/health"),
        await anybody.options("/v1/recall"),
        await anybody.get("/health"),
        await anybody.get("/schema/openapi.json"),
    ]
    ids = [answer.headers["X-Request-Id"] for answer in answers]
    assert all(GENERATED_ID.fullmatch(found) for found in ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("given", ["a", "A-Z.0_9", "x" * 64])
async def test_a_proper_request_id_is_kept(anybody: httpx.AsyncClient, given: str) -> None:
    answer = await anybody.get("/v1/me", headers={"X-Request-Id": given})
    assert answer.headers["X-Request-Id"] == answer.json()["request_id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "a\\n", "<script>", "ä", "a/b"])
async def test_any_other_request_id_is_replaced(anybody: httpx.AsyncClient, given: str) -> None:
    answer = await anybody.get("/v1/me", headers=httpx.Headers([(b"X-Request-Id", given.encode())]))
    assert GENERATED_ID.fullmatch(answer.headers["X-Request-Id"])


@pytest.mark.parametrize("error", every_error(), ids=lambda error: error.__name__)
def test_every_error_class_becomes_a_problem_of_its_code_and_status(
    error: type[MemsvcError], any_request: JsonRequest
) -> None:
    answer = answer_error(any_request, error(row=3))
    assert answer.status_code == answer.content["status"] == error.status
    assert answer.content["code"] == error.code
    assert answer.media_type == MEDIA_TYPE
    assert answer.content["title"].endswith(".")
    assert ("Retry-After" in answer.headers) == (error.status in {429, 503})
    assert ("WWW-Authenticate" in answer.headers) == (error.status == 401)
    assert ("row" in answer.content) == (error.status < 500 or error is CapabilityMissingError)


def test_details_cannot_replace_what_a_problem_says(any_request: JsonRequest) -> None:
    answer = answer_error(any_request, StorageFullError(status=200, code="fine", type="x", title="y"))
    assert (answer.content["status"], answer.content["code"]) == (507, "storage_full")


@pytest.fixture
def any_request(api: Litestar) -> JsonRequest:
    """Some request, for functions that want one."""
    return JsonRequest({"type": "http", "litestar_app": api, "app": api, "headers": [], "state": {}})  # type: ignore[arg-type]


@pytest.fixture
def logged(settings: Settings) -> Callable[[], list[dict[str, Any]]]:
    """What is logged from here on, as JSON."""
    stream = io.StringIO()
    structlog.reset_defaults()
    observe.configure_logging(settings.model_copy(update={"log_format": "json", "log_level": "debug"}), stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture(autouse=True)
def _logging_as_before() -> Any:
    yield
    structlog.reset_defaults()


async def test_what_nobody_foresaw_is_logged_and_told_without_details(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        secret_in_a_local_variable = "4711-local"  # noqa: F841
        raise ZeroDivisionError("4711-message")

    monkeypatch.setattr(recall_controller, "recall", broken)
    answer = await ada.post("/v1/recall", json={"query": "oak"}, headers={"X-Request-Id": "find-me"})
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert answer.json()["request_id"] == "find-me"
    assert "4711" not in answer.text
    assert "Zero" not in answer.text
    [event] = [line for line in logged() if line["event"] == "unexpected error"]
    assert event["request_id"] == "find-me"
    assert "ZeroDivisionError" in json.dumps(event["exception"])
    assert "broken" in {frame["name"] for frame in event["exception"][0]["frames"]}
    assert "4711" not in json.dumps(event)


async def test_the_operators_errors_are_logged_but_not_told(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ConfigurationError("The secrets in /srv/private cannot be read.")

    monkeypatch.setattr(recall_controller, "recall", broken)
    answer = await ada.post("/v1/recall", json={"query": "oak"})
    assert (answer.status_code, answer.json()["code"]) == (500, "configuration")
    assert "/srv/private" not in answer.text
    assert any("/srv/private" in line.get("detail", "") for line in logged())


async def test_too_much_at_once_says_when_to_come_back(ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(*_: Any, **__: Any) -> None:
        raise OverloadedError

    monkeypatch.setattr(recall_controller, "recall", busy)
    answer = await ada.post("/v1/recall", json={"query": "oak"})
    assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
    assert int(answer.headers["Retry-After"]) >= 1


async def test_logs_name_the_request_and_its_route_but_no_text_key_or_path(
    ada: httpx.AsyncClient, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    await ada.post("/v1/messages", json={"conversation": "private-affairs", "text": "a secret wish"})
    await ada.get("/v1/conversations/private-affairs/messages", headers={"X-Request-Id": "r-1"})
    lines = logged()
    [read] = [line for line in lines if line.get("request_id") == "r-1"]
    assert read["route"] == "/v1/conversations/{conversation}/messages"
    assert read["status"] == "200"
    assert read["milliseconds"] > 0
    everything = json.dumps(lines)
    for private in ("private-affairs", "secret wish", ada.headers["Authorization"].removeprefix("Bearer ")):
        assert private not in everything


def test_secrets_never_reach_a_log(logged: Callable[[], list[dict[str, Any]]]) -> None:
    observe.logger().info(
        "event",
        Authorization="s3cret",
        api_key="s3cret",
        deep={"list": [{"app_password": "s3cret", "x-token": "s3cret", "budget_tokens": 7}]},
        key="s3cret",
        tokens=12,
    )
    [line] = logged()
    assert "s3cret" not in json.dumps(line)
    assert line["tokens"] == 12
    assert line["deep"]["list"][0]["budget_tokens"] == 7


@pytest.fixture
def unreachable(settings: Settings) -> Settings:
    """Settings with a database where nobody listens."""
    return settings.model_copy(update={"database_url": SecretStr("postgresql://nobody@127.0.0.1:1/none")})


async def test_without_its_database_the_service_says_so_and_lives(
    unreachable: Settings, db: Database, owner: Owner, ada: httpx.AsyncClient
) -> None:
    token = (await ada.post("/v1/token")).json()["token"]
    async with running(create_app(unreachable)) as app, client_of(app) as client:
        for credential in (token, "mk_0123456789abcdef.secret"):
            for method, path, body in (
                ("POST", "/v1/messages", {"conversation": "a", "text": "b"}),
                ("POST", "/v1/recall", {"query": "a"}),
                ("GET", "/v1/conversations", None),
                ("GET", "/v1/jobs", None),
                ("GET", "/v1/me", None),
            ):
                answer = await client.request(
                    method, path, json=body, headers={"Authorization": f"Bearer {credential}"}
                )
                assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable"), answer.text
                assert int(answer.headers["Retry-After"]) >= 1
                assert "127.0.0.1" not in answer.text
        health = await client.get("/health")
        assert health.status_code == 503
        assert health.json()["database"] == "unreachable"
        assert "nobody" not in health.text
        metrics = await client.get("/metrics")
        assert metrics.status_code == 200
        assert "memsvc_database_up 0.0" in metrics.text


async def test_a_database_that_was_never_upgraded_is_unavailable_and_says_what_to_do(
    settings: Settings, cluster: Any
) -> None:
    empty = settings.model_copy(update={"database_url": SecretStr(cluster.admin_url("postgres"))})
    async with running(create_app(empty)) as app, client_of(app) as client:
        health = await client.get("/health")
        assert (health.status_code, health.json()["schema"]) == (503, "outdated")
        answer = await client.get("/v1/me", headers={"Authorization": "Bearer mk_0.x"})
        assert (answer.status_code, answer.json()["code"]) == (503, "database_outdated")
        assert "memsvc db upgrade" in answer.json()["hint"]


async def test_a_function_that_an_upgrade_took_away_says_that_the_process_must_be_restarted(
    ada: httpx.AsyncClient, admin: psycopg.Connection, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    body = {"query": "oak"}
    assert (await ada.post("/v1/recall", json=body)).status_code == 200
    applied = admin.execute("SELECT path, applied_at FROM memsvc.applied_sql").fetchall()
    admin.execute("ALTER FUNCTION memsvc.memories_shown RENAME TO memories_shown_anew")
    admin.execute("UPDATE memsvc.applied_sql SET applied_at = now()")
    try:
        answer = await ada.post("/v1/recall", json=body)
        chat = await ada.post("/v1/context", json=body)
    finally:
        admin.execute("ALTER FUNCTION memsvc.memories_shown_anew RENAME TO memories_shown")
        with admin.cursor() as cursor:
            cursor.executemany(
                "UPDATE memsvc.applied_sql SET applied_at = %s WHERE path = %s", [(at, path) for path, at in applied]
            )
    for told in (answer, chat):
        assert (told.status_code, told.json()["code"]) == (503, "upgraded")
        assert "Restart this process" in told.json()["hint"]
        assert int(told.headers["Retry-After"]) >= 1
    assert "upgraded" in {line.get("code") for line in logged()}
    assert (await ada.post("/v1/recall", json=body)).status_code == 200


def test_an_app_needs_a_database(settings: Settings) -> None:
    with pytest.raises(ConfigurationError):
        create_app(settings.model_copy(update={"database_url": None}))


def test_a_server_makes_the_app_from_the_environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.database_url is not None
    monkeypatch.setenv("MEMSVC_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("MEMSVC_DATA_DIR", str(settings.data_dir))
    process_settings.cache_clear()
    assert application().routes
    process_settings.cache_clear()


async def test_a_token_of_a_user_that_is_gone_reads_and_writes_nothing(
    api: Litestar, db: Database, app: UUID, ada: httpx.AsyncClient
) -> None:
    await ada.post("/v1/messages", json={"conversation": "a", "text": "oak"})
    ghost = Owner(uuid4(), "Ghost", "UTC", "english")
    token = issue_jwt(db, Principal(app, frozenset({"read", "write"}), ghost), ghost, 60)
    async with client_of(api, Authorization=f"Bearer {token}") as client:
        for read in (client.get("/v1/conversations"), client.post("/v1/recall", json={"query": "oak"})):
            assert (await read).json()["code"] == "user_unknown"
        written = await client.post("/v1/messages", json={"conversation": "a", "text": "oak"})
        assert (written.status_code, written.json()["code"]) == (404, "user_unknown"), written.text
        assert (await client.get("/v1/me")).json()["code"] == "user_unknown"


def test_decode_is_strict() -> None:
    with pytest.raises(MemsvcError):
        decode(b'{"limit": "1", "query": "a"}', recall_controller.RecallIn)
