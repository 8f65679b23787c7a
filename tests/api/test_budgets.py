"""What an app and its users may use in a day, at every door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import httpx
import psycopg
import pytest
from litestar import Litestar
from sqlalchemy import text

from memsvc.access.budgets import Limits, list_budgets, set_budget, used_up
from memsvc.access.keys import create_key
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import LlmBudgetError
from memsvc.llm.calls import Account
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.api.conftest import client_of
from tests.api.test_limits import DOORS

CALL = text(
    "INSERT INTO memsvc.model_calls (user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, cost, "
    "tries) VALUES (:user_id, 'extract', 'm', '1', 'answered', 30, 10, 5, 0.25, 1)"
)


@pytest.fixture
async def budgeted(db: Database, app: UUID) -> AsyncIterator[None]:
    """Removes the app's budgets afterwards."""
    yield
    for one in (await list_budgets(db, app)).items:
        await set_budget(db, app, one.whose, Limits(), user=str(one.user_id) if one.user_id else None)
    assert not [one for one in (await list_budgets(db, app)).items if one.limits != Limits()]


@pytest.mark.usefixtures("chatting", "budgeted")
@pytest.mark.parametrize("whose", ["user", "each", "app"])
@pytest.mark.parametrize("door", DOORS)
async def test_every_door_keeps_to_the_days_budget(
    *, door: str, whose: str, api: Litestar, db: Database, app: UUID, owner: Owner, admin: psycopg.Connection
) -> None:
    send, each = DOORS[door]
    user = str(owner.user_id) if whose == "user" else None
    await set_budget(db, app, whose, Limits(messages_per_day=2 * each), user=user)  # type: ignore[arg-type]
    stored = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"
    key = await create_key(db, app, user_id=owner.user_id)
    async with client_of(api, Authorization=f"Bearer {key}") as client:
        for time in (1, 2):
            assert await send(api, client, f"{door} {time}".replace(" ", "-"))
        assert admin.execute(stored, [owner.user_id]).fetchone() == (2 * each,)
        assert not await send(api, client, "one-too-many")
    assert admin.execute(stored, [owner.user_id]).fetchone() == (2 * each,), "what is refused is not stored"
    counted = "app" if whose == "app" else "user"
    [used] = [one.used.messages for one in (await list_budgets(db, app)).items if one.whose == counted]
    assert used == 2 * each, "what is refused is not counted"


@pytest.mark.usefixtures("budgeted")
async def test_a_refusal_says_what_when_and_how_much(
    chief: httpx.AsyncClient, ada: httpx.AsyncClient, admin: psycopg.Connection, app: UUID
) -> None:
    given = {"whose": "app", "bytes_per_day": 10, "cost_per_day": 1.5}
    assert (await chief.put("/v1/budgets", json=given)).status_code == 204
    assert (await ada.post("/v1/messages", json={"conversation": "a", "text": "eight ch"})).status_code == 202
    refused = await ada.post("/v1/messages", json={"conversation": "a", "text": "three"})
    told = refused.json()
    assert (refused.status_code, told["code"]) == (429, "budget_exceeded")
    assert (told["budget"], told["whose"], told["limit"], told["used"]) == ("bytes", "app", 10, 8)
    assert datetime.fromisoformat(told["resets_at"]) > datetime.now(UTC)
    assert 1 <= int(refused.headers["Retry-After"]) <= 86_400
    assert [one["text"] for one in (await ada.get("/v1/conversations/a/messages")).json()["items"]] == ["eight ch"]
    [shown] = (await chief.get("/v1/budgets")).json()["items"]
    assert (shown["whose"], shown["limits"]["bytes_per_day"], shown["used"]["bytes"]) == ("app", 10, 8)
    admin.execute("UPDATE memsvc.budgets SET day = day - 1 WHERE app_id = %s", [app])
    assert (await ada.post("/v1/messages", json={"conversation": "a", "text": "tomorrow"})).status_code == 202
    assert (await ada.put("/v1/budgets", json=given)).status_code == 403
    unknown = await chief.put("/v1/budgets", json={"whose": "user", "user": "nobody", "messages_per_day": 1})
    assert unknown.status_code == 404
    for wrong in ({"whose": "user"}, {"whose": "app", "user": "ada"}, {"messages_per_day": 0}, {"cost_per_day": -1}):
        assert (await chief.put("/v1/budgets", json=wrong)).status_code == 400, wrong


@pytest.mark.usefixtures("budgeted")
async def test_many_at_once_do_not_exceed_it_and_each_is_counted_alone(
    db: Database, app: UUID, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await set_budget(db, app, "each", Limits(messages_per_day=5))
    said = [MessageIn(conversation=f"c{number}", text="oak") for number in range(12)]
    done = await asyncio.gather(*(append(db, owner, [one], settings) for one in said), return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in done) == 5
    stored = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"
    assert admin.execute(stored, [owner.user_id]).fetchone() == (5,)
    own = Limits(messages_per_day=7)
    await set_budget(db, app, "user", own, user=str(owner.user_id))  # a limit of one's own counts instead
    await append(db, owner, said[:2], settings)
    [mine] = (await list_budgets(db, app, user_id=owner.user_id)).items
    assert (mine.limits, mine.used.messages) == (own, 7)
    assert [(one.whose, one.what) for one in await used_up(db)] == [("user", "messages")]


@pytest.mark.usefixtures("budgeted")
@pytest.mark.parametrize("limits", [Limits(tokens_per_day=40), Limits(cost_per_day=Decimal("0.25"))])
@pytest.mark.parametrize("whose", ["user", "each", "app"])
async def test_the_language_model_waits_when_its_budget_is_spent(
    *, whose: str, limits: Limits, db: Database, app: UUID, owner: Owner, settings: Settings
) -> None:
    user = str(owner.user_id) if whose == "user" else None
    await set_budget(db, app, "app", Limits(tokens_per_day=10**9))
    [used] = [one.used for one in (await list_budgets(db, app)).items if one.whose == "app"]
    await set_budget(db, app, "app", Limits())
    if whose == "app":  # other tests have used the app's today
        tokens, cost = limits.tokens_per_day, limits.cost_per_day
        limits = Limits(
            tokens_per_day=tokens and tokens + used.tokens, cost_per_day=cost and cost + used.cost
        )  # fmt: skip
    await set_budget(db, app, whose, limits, user=user)  # type: ignore[arg-type]
    account = Account(db, owner.user_id, settings)
    await account.open()
    async with db.transaction(owner.user_id) as connection:
        await connection.execute(CALL, {"user_id": owner.user_id})
    with pytest.raises(LlmBudgetError, match="used up") as refused:
        await account.open()
    assert refused.value.passing, "the job waits, and does not fail"
    assert refused.value.details["again_at"] > datetime.now(UTC).isoformat()
    assert sum(one.budgets for one in await used_up(db)) >= 1
    await append(db, owner, [MessageIn(conversation="a", text="is stored all the same")], settings)
