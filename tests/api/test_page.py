"""The web page's own door: its files, signing in and out, and what a session may do."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from litestar import Litestar

from memsvc.access.keys import create_key
from memsvc.access.page import page_link
from memsvc.access.tickets import LIVE, PAGE, issue_ticket
from memsvc.access.users import Owner
from memsvc.api.sessions import HEADER
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.conftest import Connect, client_of


@pytest.fixture
async def browser(api: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """A client that keeps cookies; it has no key."""
    async with client_of(api) as client:
        yield client


async def signed_in(browser: httpx.AsyncClient, **given: str) -> dict[str, str]:
    """Sign in; the header that the page sends from then on."""
    answer = await browser.post("/page/session", json=given)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return {HEADER: answer.json()["page"]}


def key_of(client: httpx.AsyncClient) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


async def test_the_page_is_served_with_a_strict_policy(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.status_code == 200
    assert page.headers["Cache-Control"] == "no-cache"
    for path in re.findall(r'(?:src|href)="(/assets/[^"]*)"', page.text):
        answer = await browser.get(path)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        plain = await browser.get(path, headers={"Accept-Encoding": "identity"})
        assert "Content-Encoding" not in plain.headers
        assert plain.content == answer.content
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "worker-src 'self';" in policy
    assert policy.endswith("; require-trusted-types-for 'script'; trusted-types memsvc-worker")
    assert gzip.decompress(gzip.compress(page.content)) == page.content


@pytest.mark.parametrize("name", ["index.html", "nothing.js", "..%2Findex.html", "sources.sha256", "%2e%2e"])
async def test_there_are_no_other_files(browser: httpx.AsyncClient, name: str) -> None:
    assert (await browser.get(f"/assets/{name}")).status_code == 404


async def test_a_session_acts_as_its_key_and_needs_both_halves(
    browser: httpx.AsyncClient, anybody: httpx.AsyncClient, ada: httpx.AsyncClient, owner: Owner
) -> None:
    header = await signed_in(browser, key=key_of(ada))
    [cookie] = browser.cookies.jar
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "strict"
    assert key_of(ada) not in f"{header}{cookie.value}"
    me = await browser.get("/v1/me", headers=header)
    assert me.json()["user"]["user_id"] == str(owner.user_id)
    assert (await browser.post("/v1/token", headers=header)).status_code == 200
    assert (await browser.get("/v1/keys", headers=header)).status_code == 403
    assert (await browser.get("/v1/me")).status_code == 401, "a cookie alone, as another site's page would send it"
    assert (await anybody.get("/v1/me", headers=header)).status_code == 401, "the page's half alone"
    wrong = await browser.get("/v1/me", headers=header | {"Authorization": "Bearer mk_x.y"})
    assert wrong.status_code == 401, "a key that is sent counts, and not the session"


async def test_a_session_ends_with_its_key(
    browser: httpx.AsyncClient, ada: httpx.AsyncClient, chief: httpx.AsyncClient
) -> None:
    header = await signed_in(browser, key=key_of(ada))
    await chief.delete(f"/v1/keys/{key_of(ada).partition('.')[0]}")
    assert (await browser.get("/v1/me", headers=header)).json()["code"] == "unauthenticated"


async def test_a_key_of_several_users_needs_one(browser: httpx.AsyncClient, connect: Connect, owner: Owner) -> None:
    key = key_of(await connect("read"))
    assert (await browser.post("/page/session", json={"key": key})).json()["code"] == "user_required"
    nobody = await browser.post("/page/session", json={"key": key, "user": "nobody"})
    assert nobody.json()["code"] == "user_unknown"
    header = await signed_in(browser, key=key, user=str(owner.user_id))
    acts = await browser.get("/v1/me", headers=header | {"X-Memsvc-User": str(owner.user_id)})
    assert acts.status_code == 200


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 400),
        ({"key": "mk_a.b", "ticket": "ml_a"}, 400),
        ({"key": "mk_a.b"}, 401),
        ({"key": "é" * 400}, 401),
        ({"ticket": "ml_a"}, 401),
        ({"key": "x" * 6_000}, 400),
        ({"password": "x"}, 400),
    ],
)
async def test_nothing_else_signs_in(browser: httpx.AsyncClient, given: dict[str, str], status: int) -> None:
    answer = await browser.post("/page/session", json=given)
    assert answer.status_code == status
    assert not browser.cookies


async def test_a_link_signs_in_once_and_its_key_ends_with_the_session(
    browser: httpx.AsyncClient, anybody: httpx.AsyncClient, db: Database, owner: Owner, settings: Settings
) -> None:
    link = page_link(db, settings, owner)
    assert "?" not in link
    ticket = link.partition("#token=")[2]
    header = await signed_in(browser, ticket=ticket)
    assert (await browser.get("/v1/me", headers=header)).json()["scopes"] == ["forget", "read", "write"]
    again = await anybody.post("/page/session", json={"ticket": ticket})
    assert (again.status_code, again.json()["code"]) == (401, "link_invalid")
    kept = dict(browser.cookies)
    assert (await browser.delete("/page/session", headers=header)).status_code == 204
    assert not browser.cookies
    browser.cookies.update(kept)
    assert (await browser.get("/v1/me", headers=header)).status_code == 401, "the key is revoked"
    assert (await browser.delete("/page/session", headers=header)).status_code == 204


async def test_a_key_that_was_given_outlives_the_session(browser: httpx.AsyncClient, ada: httpx.AsyncClient) -> None:
    header = await signed_in(browser, key=key_of(ada))
    assert (await browser.delete("/page/session", headers=header)).status_code == 204
    assert (await ada.get("/v1/me")).status_code == 200
    assert (await browser.delete("/page/session", headers={HEADER: "a;b=\x7f"})).status_code == 204


async def test_tickets_are_good_for_one_purpose(browser: httpx.AsyncClient, db: Database, owner: Owner) -> None:
    for ticket in (issue_ticket(db, owner, purpose=LIVE), issue_ticket(db, owner, purpose=PAGE, life_s=-1)):
        for prefix in (PAGE.prefix, ""):
            answer = await browser.post("/page/session", json={"ticket": prefix + ticket.ticket[3:]})
            assert answer.json()["code"] == "link_invalid"


async def test_the_cookie_of_a_page_by_https_travels_by_https_alone(
    api: Litestar, db: Database, app: object, owner: Owner
) -> None:
    key = await create_key(db, app, user_id=owner.user_id)  # type: ignore[arg-type]
    transport = httpx.ASGITransport(app=api)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="https://memsvc.test") as client:
        answer = await client.post("/page/session", json={"key": key})
        assert "; Secure" in answer.headers["Set-Cookie"]
