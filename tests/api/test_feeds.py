"""Feeds over HTTP, and what other programs push to them."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import Any

import httpx
import psycopg
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.feeds.pushing import WINDOW_S, sign
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.conftest import Connect
from tests.sql.world import value

MESSAGES = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND kind = 'message'"
NOTE = {"text": "The office is closed on Friday.", "speaker": "office", "role": "other"}


@pytest.fixture
async def user(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    """A client who may read and write."""
    return await connect("read", "write", user=owner)


async def added(user: httpx.AsyncClient, **asked: Any) -> dict[str, Any]:
    """Add a feed."""
    answer = await user.post("/v1/feeds", json={"kind": "push", "name": "office", **asked})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def push(
    client: httpx.AsyncClient, feed: dict[str, Any], body: Any, *, at: int | None = None, secret: str | None = None
) -> httpx.Response:
    """Push a body, signed as the docs say it, by hand."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    moment = str(int(time.time()) if at is None else at)
    digest = hmac.new((secret or feed["secret"]).encode(), moment.encode() + b"." + content, hashlib.sha256)
    headers = {"X-Memsvc-Timestamp": moment, "X-Memsvc-Signature": f"v1={digest.hexdigest()}"}
    return await client.post(f"/v1/feeds/{feed['feed_id']}/push", content=content, headers=headers)


async def test_a_memory_is_pushed_once(
    user: httpx.AsyncClient, anybody: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    feed = await added(user, takes="memory", title="the office")
    now = int(time.time())
    first = await push(anybody, feed, NOTE, at=now)
    assert (first.status_code, first.json()["message"]["outcome"]) == (202, "created")
    again = await push(anybody, feed, NOTE, at=now)  # a replay, or a sender who did not get the answer
    assert (again.status_code, again.json()["message"]["outcome"]) == (202, "existing")
    assert again.json()["message"]["passage_id"] == first.json()["message"]["passage_id"]
    assert value(admin, MESSAGES, [owner.user_id]) == 1
    listed = (await user.get("/v1/conversations")).json()["items"]
    assert len(listed) == 1
    assert "the office" in listed[0].values()
    shown = (await user.get(f"/v1/feeds/{feed['feed_id']}")).json()
    assert shown["last_run"] is not None
    assert "secret" not in shown
    assert feed["secret"] not in (await user.get("/v1/feeds")).text


async def test_a_document_is_pushed_once_and_its_run_is_listed(  # noqa: PLR0917 - fixtures
    user: httpx.AsyncClient, anybody: httpx.AsyncClient, owner: Owner, db: Database, settings: Settings,
    admin: psycopg.Connection,
) -> None:  # fmt: skip
    feed = await added(user, me=["Jo"])
    body = {
        "name": "talk.jsonl",
        "text": '{"speaker": "Jo", "text": "I like oak."}\n{"speaker": "Mia", "text": "Why?"}\n',
    }
    now = int(time.time())
    first, again = await push(anybody, feed, body, at=now), await push(anybody, feed, body, at=now)
    assert first.json() == again.json()
    await run_due(db, all_steps(settings, None))
    assert value(admin, MESSAGES, [owner.user_id]) == 2
    [run] = (await user.get(f"/v1/feeds/{feed['feed_id']}/runs")).json()["items"]
    assert (run["ingest_id"], run["state"], run["created"]) == (first.json()["ingest_id"], "completed", 2)


async def test_what_is_not_signed_as_it_must_be_is_refused_alike(
    user: httpx.AsyncClient, anybody: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    feed = await added(user, takes="memory")
    stranger = {**feed, "feed_id": "01900000-0000-7000-8000-000000000000"}
    now = int(time.time())
    at = f"/v1/feeds/{feed['feed_id']}/push"
    content = json.dumps(NOTE).encode()
    good = sign(feed["secret"], now, content)
    answers = [
        await push(anybody, stranger, NOTE),
        await push(anybody, feed, NOTE, secret="mps_wrong"),
        await push(anybody, feed, NOTE, at=now - WINDOW_S - 2),
        await push(anybody, feed, NOTE, at=now + WINDOW_S + 60),
        await anybody.post(at, content=content),
        await anybody.post(at, content=content, headers={"Authorization": user.headers["Authorization"]}),
    ]
    for moment, signature, body in (
        (str(now), good, content + b" "), (str(now + 1), good, content), (str(now), good.upper(), content),
        (str(now), good[3:], content), (f"{now}.0", good, content), (f" {now}", good, content), ("", "", content),
        ("9" * 4_000, good, content),
    ):  # fmt: skip
        headers = {"X-Memsvc-Timestamp": moment, "X-Memsvc-Signature": signature}
        answers.append(await anybody.post(at, content=body, headers=headers))
    said = {(one.status_code, one.json()["code"], one.json()["detail"]) for one in answers if one.status_code != 202}
    taken = [one for one in answers if one.status_code == 202]
    assert len(said) == 1
    assert len(taken) <= 1  # " now" is what an HTTP server strips
    assert (next(iter(said))[:2]) == (401, "signature_invalid")
    assert value(admin, MESSAGES, [owner.user_id]) == len(taken)


async def test_a_new_secret_replaces_the_old_one_and_a_paused_push_takes_nothing(
    user: httpx.AsyncClient, anybody: httpx.AsyncClient
) -> None:
    feed = await added(user, takes="memory")
    at = f"/v1/feeds/{feed['feed_id']}"
    renewed = (await user.post(f"{at}/secret")).json()
    assert (await push(anybody, feed, NOTE)).status_code == 401
    assert (await push(anybody, renewed, NOTE)).status_code == 202
    await user.post(f"{at}/pause")
    refused = await push(anybody, renewed, {**NOTE, "text": "While paused."})
    assert (refused.status_code, refused.json()["code"]) == (409, "feed_state")
    await user.post(f"{at}/resume")
    wrong = await push(anybody, renewed, {"words": "no text"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_request")
    assert (await user.get(at)).json()["last_error"] == "invalid_request"
    assert (await user.post(f"{at}/run")).json()["code"] == "feed_state"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"kind": "folder", "path": "/etc"}, "feed_refused"),
        ({"kind": "ics", "path": "/etc/passwd"}, "feed_refused"),
        ({"kind": "imap"}, "feed_refused"),
        ({"kind": "url", "url": "https://example.org/"}, "url_refused"),
        ({"kind": "ics", "url": "https://example.org/a.ics"}, "url_refused"),
        ({"kind": "folder"}, "invalid_request"),
        ({"kind": "push", "rule": "every day"}, "invalid_request"),
        ({"kind": "push", "name": ""}, "invalid_request"),
        ({"kind": "push", "path": "/etc"}, "invalid_request"),
        ({"kind": "url", "url": "https://example.org/", "rule": "now and then"}, "invalid_request"),
        ({"kind": "url", "url": "https://example.org/", "rule": "FREQ=SECONDLY"}, "invalid_request"),
    ],
)  # fmt: skip
async def test_what_may_not_be_read_is_refused(user: httpx.AsyncClient, asked: dict[str, Any], code: str) -> None:
    answer = await user.post("/v1/feeds", json={"name": "a", **asked})
    assert answer.json()["code"] == code, answer.text
    assert (await user.get("/v1/feeds")).json()["items"] == []


def test_a_push_is_described_without_a_key(api: Litestar) -> None:
    paths = api.openapi_schema.to_schema()["paths"]
    assert {"X-Memsvc-Timestamp", "X-Memsvc-Signature"} <= {
        one["name"] for one in paths["/v1/feeds/{feed_id}/push"]["post"]["parameters"]
    }
