"""Who may do what: keys, tokens, scopes, apps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from litestar import Litestar

from memsvc.access.keys import JWT_ALGORITHM
from memsvc.access.users import Owner, add_user, app_id
from memsvc.api.controllers import accounts
from memsvc.db.engine import Database
from memsvc.db.paging import write_cursor
from tests.api.conftest import Connect
from tests.api.routes import BODIES, EVERY_ROUTE, OPEN_ROUTES, ask


def test_the_table_of_routes_is_complete(api: Litestar) -> None:
    def place(path: str) -> str:
        return path.partition("?")[0].removeprefix("/v1").split("/")[1]

    listed = sorted((method, place(path)) for method, path, _ in EVERY_ROUTE)
    served = [
        (method.upper(), place(path))
        for path, item in api.openapi_schema.to_schema()["paths"].items()
        for method in item
        if path not in OPEN_ROUTES
    ]
    assert listed == sorted(served)


@pytest.mark.parametrize(("method", "path", "scope"), EVERY_ROUTE)
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer mk_x.y", "Bearer mk_", "Bearer a.b.c", "mk_x.y"],
)
async def test_no_route_opens_without_a_working_key(
    anybody: httpx.AsyncClient, method: str, path: str, scope: str, authorization: str | None
) -> None:
    headers = {"Authorization": authorization} if authorization is not None else {}
    answer = await ask(anybody, method, path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path", "scope"), EVERY_ROUTE)
async def test_no_route_opens_without_its_scope(
    connect: Connect, owner: Owner, method: str, path: str, scope: str
) -> None:
    others = {"read", "write", "forget", "admin"} - {scope}
    client = await connect(*(others if path != "/v1/token" else {"admin"}))
    answer = await ask(client, method, path, headers={"X-Memsvc-User": str(owner.user_id)})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), answer.text


async def test_a_key_is_checked_before_a_body_is_looked_at(anybody: httpx.AsyncClient) -> None:
    assert (await anybody.post("/v1/messages", content=b"nonsense")).status_code == 401


async def test_an_expired_key_does_not_work(connect: Connect, owner: Owner, admin: Any) -> None:
    client = await connect(user=owner, ttl=timedelta(hours=1))
    assert (await client.get("/v1/me")).status_code == 200
    key_id = client.headers["Authorization"].removeprefix("Bearer ").split(".")[0]
    admin.execute("UPDATE memsvc.api_keys SET expires_at = now() - interval '1 s' WHERE key_id = %s", [key_id])
    assert (await client.get("/v1/me")).json()["code"] == "unauthenticated"


async def test_a_revoked_key_does_not_work(connect: Connect, owner: Owner, chief: httpx.AsyncClient) -> None:
    client = await connect(user=owner)
    key_id = client.headers["Authorization"].removeprefix("Bearer ").split(".")[0]
    assert (await chief.delete(f"/v1/keys/{key_id}")).status_code == 204
    assert (await client.get("/v1/me")).json()["code"] == "unauthenticated"
    assert (await chief.delete(f"/v1/keys/{key_id}")).json()["code"] == "not_found"


async def test_a_wrong_secret_does_not_work(connect: Connect, owner: Owner) -> None:
    client = await connect(user=owner)
    good = client.headers["Authorization"]
    wrong = good[:-1] + ("a" if good[-1] != "a" else "b")
    assert (await client.get("/v1/me", headers={"Authorization": wrong})).status_code == 401


async def test_a_key_for_the_app_acts_for_the_user_that_the_header_names(connect: Connect, owner: Owner) -> None:
    client = await connect()
    assert (await client.get("/v1/me")).json()["code"] == "user_required"
    by_id = await client.get("/v1/me", headers={"X-Memsvc-User": str(owner.user_id)})
    external = by_id.json()["user"]["external_id"]
    by_external_id = await client.get("/v1/me", headers={"X-Memsvc-User": external})
    assert by_id.json() == by_external_id.json()
    nobody = await client.get("/v1/me", headers={"X-Memsvc-User": "nobody"})
    assert (nobody.status_code, nobody.json()["code"]) == (404, "user_unknown")


async def test_an_external_id_may_have_any_letters(connect: Connect, db: Database, app: Any) -> None:
    client = await connect()
    await add_user(db, app, name="Zoë", external_id="zoë 木")
    answer = await client.get("/v1/me", headers=httpx.Headers([(b"X-Memsvc-User", "zoë 木".encode())]))
    assert answer.json()["user"]["name"] == "Zoë"


@pytest.mark.parametrize("ref", [b"", b"\xff\xfe", b"'; --", b"a" * 5_000])
async def test_a_strange_user_header_names_nobody(connect: Connect, ref: bytes) -> None:
    client = await connect()
    answer = await client.get("/v1/me", headers=httpx.Headers([(b"X-Memsvc-User", ref)]))
    assert answer.status_code in {400, 404}, answer.text


async def test_a_key_of_one_user_cannot_act_for_another(ada: httpx.AsyncClient, other: Owner) -> None:
    answer = await ada.get("/v1/me", headers={"X-Memsvc-User": str(other.user_id)})
    nobody = await ada.get("/v1/me", headers={"X-Memsvc-User": str(uuid4())})
    assert answer.status_code == nobody.status_code == 404
    assert answer.json() | {"request_id": ""} == nobody.json() | {"request_id": ""}


async def test_a_key_of_one_app_cannot_act_for_a_user_of_another(connect: Connect, owner: Owner) -> None:
    stranger = await connect("read", "write", "forget", "admin", app_name="another app")
    for method, path, scope in EVERY_ROUTE:
        if scope != "admin":
            answer = await ask(stranger, method, path, headers={"X-Memsvc-User": str(owner.user_id)})
            assert (answer.status_code, answer.json()["code"]) == (404, "user_unknown"), path


async def test_an_administrator_adds_users_and_makes_keys_for_them(
    chief: httpx.AsyncClient, anybody: httpx.AsyncClient
) -> None:
    name = f"marcel-{uuid4()}"
    added = await chief.post(
        "/v1/users",
        json={"name": "Marcel", "external_id": name, "aliases": ["MW"], "time_zone": "Europe/Berlin"},
    )
    assert added.status_code == 201
    made = await chief.post("/v1/keys", json={"user": name, "label": "phone", "expires_in": 60})
    assert made.status_code == 201
    key = made.json()
    assert key["key"]["user_id"] == added.json()["user_id"]
    assert (
        datetime.now(UTC) < datetime.fromisoformat(key["key"]["expires_at"]) < datetime.now(UTC) + timedelta(seconds=61)
    )
    me = await anybody.get("/v1/me", headers={"Authorization": f"Bearer {key['secret']}"})
    assert {"Marcel", "MW"} <= set(me.json()["aliases"])
    listed = [key async for key in keys_of(chief)]
    assert key["key"] in listed
    assert key["secret"] not in str(listed)


async def test_users_are_listed_in_pages(connect: Connect, db: Database) -> None:
    app = f"pages-{uuid4()}"
    for name in "abc":
        await add_user(db, await app_id(db, app), name=name)
    chief = await connect("admin", app_name=app)
    first = (await chief.get("/v1/users", params={"limit": 2})).json()
    rest = (await chief.get("/v1/users", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [user["name"] for user in first["items"] + rest["items"]] == ["a", "b", "c"]
    assert rest["next_cursor"] is None


async def keys_of(chief: httpx.AsyncClient) -> AsyncIterator[dict[str, Any]]:
    """All keys of the app, page by page."""
    place: dict[str, str] = {}
    while True:
        page = (await chief.get("/v1/keys", params={"limit": "1000"} | place)).json()
        for key in page["items"]:
            yield key
        if page["next_cursor"] is None:
            return
        place = {"cursor": page["next_cursor"]}


async def test_keys_are_listed_in_pages_oldest_first(connect: Connect, db: Database) -> None:
    app = f"pages-{uuid4()}"
    chief = await connect("admin", app_name=app)
    made = [(await chief.post("/v1/keys", json={"label": label})).json()["key"] for label in "abcd"]
    assert (await chief.delete(f"/v1/keys/{made[1]['key_id']}")).status_code == 204
    found, place = [], None
    for expected in (2, 2, 1):
        page = (await chief.get("/v1/keys", params={"limit": 2} | ({"cursor": place} if place else {}))).json()
        assert len(page["items"]) == expected
        found += page["items"]
        place = page["next_cursor"]
    assert place is None
    assert [key["label"] for key in found] == ["", "a", "b", "c", "d"]
    assert [key["revoked_at"] is not None for key in found] == [False, False, True, False, False]
    assert found == (await chief.get("/v1/keys")).json()["items"]
    whole = (await chief.get("/v1/keys", params={"limit": 5})).json()
    assert (whole["items"], whole["next_cursor"]) == (found, None)
    for wrong in ("oak", made[0]["key_id"], write_cursor(("2026-01-01T00:00:00", "mk_1")), write_cursor((1, 2))):
        answer = await chief.get("/v1/keys", params={"cursor": wrong})
        assert (answer.status_code, answer.json()["field"]) == (400, "cursor"), wrong
    elsewhere = await connect("admin", app_name=f"pages-{uuid4()}")
    behind = (await elsewhere.get("/v1/keys", params={"cursor": write_cursor(("2020-01-01T00:00:00Z", ""))})).json()
    assert len(behind["items"]) == 1, "a cursor names a place, and no app"


async def test_making_and_limiting_a_key_reads_that_one_alone(
    chief: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(accounts, "list_keys", never)
    key = (await chief.post("/v1/keys", json={"label": "phone"})).json()["key"]
    limited = await chief.put(f"/v1/keys/{key['key_id']}/limits", json={"requests_per_minute": 7})
    assert limited.json() == key | {"requests_per_minute": 7}


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/v1/users", {"name": ""}, "invalid_request"),
        ("/v1/users", {"name": "a\0b"}, "invalid_text"),
        ("/v1/users", {"name": "a" * 201}, "invalid_request"),
        ("/v1/users", {"name": "a", "aliases": ["\0"]}, "invalid_text"),
        ("/v1/users", {"name": "a", "aliases": ["x"] * 101}, "invalid_request"),
        ("/v1/users", {"name": "a", "time_zone": "Mars/Olympus"}, "invalid_zone"),
        ("/v1/users", {"name": "a", "time_zone": "\0"}, "invalid_zone"),
        ("/v1/users", {"name": "a", "language": "klingon"}, "invalid_request"),
        ("/v1/keys", {"scopes": []}, "invalid_request"),
        ("/v1/keys", {"scopes": ["root"]}, "invalid_request"),
        ("/v1/keys", {"label": "\0"}, "invalid_text"),
        ("/v1/keys", {"label": "a" * 201}, "invalid_request"),
        ("/v1/keys", {"expires_in": 0}, "invalid_request"),
        ("/v1/keys", {"expires_in": 10**30}, "invalid_request"),
        ("/v1/keys", {"user": "nobody"}, "user_unknown"),
        ("/v1/keys", {"user": "\0"}, "invalid_text"),
    ],
)
async def test_users_and_keys_that_cannot_be_are_refused(
    chief: httpx.AsyncClient, path: str, body: dict[str, Any], code: str
) -> None:
    answer = await chief.post(path, json=body)
    assert answer.status_code in {400, 404}
    assert answer.json()["code"] == code, answer.text


async def test_a_second_user_with_the_same_external_id_is_refused(chief: httpx.AsyncClient) -> None:
    name = {"name": "Eve", "external_id": f"eve-{uuid4()}"}
    assert (await chief.post("/v1/users", json=name)).status_code == 201
    again = await chief.post("/v1/users", json=name)
    assert (again.status_code, again.json()["code"]) == (409, "already_exists")


async def test_an_administrator_of_another_app_sees_and_ends_nothing_of_this_one(
    connect: Connect, chief: httpx.AsyncClient, owner: Owner
) -> None:
    stranger = await connect("admin", app_name="another app")
    key = (await chief.post("/v1/keys", json={})).json()["key"]
    assert key["key_id"] not in {one["key_id"] async for one in keys_of(stranger)}
    assert str(owner.user_id) not in str((await stranger.get("/v1/users", params={"limit": 1000})).json())
    assert (await stranger.delete(f"/v1/keys/{key['key_id']}")).json()["code"] == "not_found"
    assert (await stranger.post("/v1/keys", json={"user": str(owner.user_id)})).json()["code"] == "user_unknown"


@pytest.mark.parametrize(
    ("method", "path"), [(method, path) for method, path, scope in EVERY_ROUTE if scope == "admin"]
)
async def test_a_key_of_one_user_never_manages_users_and_keys(
    connect: Connect, owner: Owner, method: str, path: str
) -> None:
    client = await connect("read", "write", "admin", user=owner)
    answer = await ask(client, method, path)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_a_token_acts_for_its_user_alone(
    connect: Connect, anybody: httpx.AsyncClient, owner: Owner, other: Owner
) -> None:
    client = await connect("read", "write", "admin")
    answer = await client.post("/v1/token", headers={"X-Memsvc-User": str(owner.user_id)})
    token = answer.json()
    assert token["token_type"] == "Bearer"
    assert token["expires_in"] == 900
    assert token["scopes"] == ["read", "write"]
    bearer = {"Authorization": f"Bearer {token['token']}"}
    assert (await anybody.get("/v1/me", headers=bearer)).json()["user"]["user_id"] == str(owner.user_id)
    as_other = await anybody.get("/v1/me", headers=bearer | {"X-Memsvc-User": str(other.user_id)})
    assert (as_other.status_code, as_other.json()["code"]) == (404, "user_unknown")
    assert (await anybody.get("/v1/keys", headers=bearer)).json()["code"] == "forbidden"
    assert (await anybody.post("/v1/token", headers=bearer)).json()["code"] == "forbidden"


async def test_a_token_has_no_scope_that_its_key_lacks(
    connect: Connect, anybody: httpx.AsyncClient, owner: Owner
) -> None:
    reader = await connect("read", user=owner)
    token = (await reader.post("/v1/token")).json()["token"]
    answer = await anybody.post(
        "/v1/messages", json=BODIES["/v1/messages"], headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.json()["code"] == "forbidden"


async def test_expired_and_tampered_tokens_do_not_work(
    ada: httpx.AsyncClient, anybody: httpx.AsyncClient, db: Database, other: Owner
) -> None:
    good = (await ada.post("/v1/token")).json()["token"]
    secret = db.signer.derived("jwt")
    claims = jwt.decode(good, secret, algorithms=[JWT_ALGORITHM])
    head, body, mac = good.split(".")
    for_other = jwt.encode(claims | {"sub": str(other.user_id)}, "a guess of thirty-two characters!", JWT_ALGORITHM)
    past = datetime.now(UTC) - timedelta(seconds=1)
    bad = {
        "expired": jwt.encode(claims | {"exp": past}, secret, JWT_ALGORITHM),
        "signed by another": for_other,
        "unsigned": jwt.encode(claims, None, algorithm="none"),  # type: ignore[arg-type]
        "another's body": ".".join([head, for_other.split(".")[1], mac]),
        "no signature": f"{head}.{body}.",
        "another issuer": jwt.encode(claims | {"iss": "else"}, secret, JWT_ALGORITHM),
        "no expiry": jwt.encode({k: v for k, v in claims.items() if k != "exp"}, secret, JWT_ALGORITHM),
        "a user that is no id": jwt.encode(claims | {"sub": "ada"}, secret, JWT_ALGORITHM),
    }
    for what, token in bad.items():
        answer = await anybody.get("/v1/me", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), what
    assert (await anybody.get("/v1/me", headers={"Authorization": f"Bearer {good}"})).status_code == 200


async def test_the_case_of_the_word_bearer_does_not_matter(ada: httpx.AsyncClient) -> None:
    key = ada.headers["Authorization"].removeprefix("Bearer ")
    assert (await ada.get("/v1/me", headers={"Authorization": f"bearer  {key} "})).status_code == 200
