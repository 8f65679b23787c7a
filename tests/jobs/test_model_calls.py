"""Every call of the language model is written down, without a word of it; budgets stop the next one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError, LlmAnswerError, LlmBudgetError, LlmError
from memsvc.extract.extraction import Extraction, Extractor, for_user
from memsvc.extract.llm import LlmExtractor
from memsvc.extract.prompts.facts import VERSION
from memsvc.llm.calls import list_calls, spending
from memsvc.settings import Settings
from tests.fakes.chat_server import ChatServer, Dies, Say, Status, serving
from tests.windows import ENDS, answer, fact, turn, window

SECRET = "I moved to Porto, and the treasure lies under the mill"
GOOD = json.dumps(answer(*ENDS, facts=(fact(0, "LIVES_IN", 1),)))
PRICED = {"prompt_tokens": 400, "completion_tokens": 100, "cost": 0.0021}
_models = (f"paid-{number}" for number in count())


@pytest.fixture(autouse=True)
def _pauses_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))


@dataclass(frozen=True, slots=True)
class Place:
    """A database, a server that answers well unless it is told otherwise, and the administrator who looks."""

    db: Database
    settings: Settings
    server: ChatServer
    admin: psycopg.Connection

    def reader(self, owner: Owner, **more: Any) -> Extractor:
        """The extractor for a user, with a model of its own name."""
        chosen = self.settings.model_copy(update={"llm_url": self.server.url, "llm_model": next(_models), **more})
        return for_user(LlmExtractor(chosen), self.db, owner.user_id)

    def rows(self, owner: Owner) -> list[tuple[Any, ...]]:
        """What was written down of a user, first first."""
        return self.admin.execute(
            "SELECT task, prompt_version, outcome, tokens_in, tokens_out, cost, tries FROM memsvc.model_calls "
            "WHERE user_id = %s ORDER BY call_id",
            [owner.user_id],
        ).fetchall()


@pytest.fixture
def place(db: Database, settings: Settings, admin: psycopg.Connection) -> Iterator[Place]:
    admin.execute("TRUNCATE memsvc.model_calls")
    with serving(ChatServer(otherwise=Say(GOOD, usage=PRICED))) as served:
        yield Place(db, settings, served, admin)


async def test_what_a_call_cost_is_written_down_and_nothing_that_was_said(
    place: Place, owner: Owner, other: Owner
) -> None:
    reads = place.reader(owner)
    assert len((await reads.extract(window(turn(SECRET)))).facts) == 1
    price = Decimal("0.0021")
    assert place.rows(owner) == [("facts", VERSION, "answered", 400, 100, price, 1)]

    place.server.script(Say("Porto?"), Say(GOOD, usage=None))
    assert len((await reads.extract(window(turn(SECRET)))).facts) == 1
    place.server.script(Say("Porto?"), Say("Porto!"))
    with pytest.raises(LlmAnswerError):
        await reads.extract(window(turn(SECRET)))
    place.server.script(Dies(), Status(429, {"Retry-After": "0"}))
    with pytest.raises(LlmError):
        await reads.extract(window(turn(SECRET)))
    place.server.script(Status(401))
    with pytest.raises(LlmError):
        await reads.extract(window(turn(SECRET)))

    outcomes = [(row[2], row[6]) for row in place.rows(owner)]
    assert outcomes == [
        ("answered", 1), ("unusable", 1), ("answered", 1), ("unusable", 1), ("unusable", 1), ("failed", 2),
        ("refused", 1),
    ]  # fmt: skip
    assert place.rows(owner)[2][3] > 500, "an estimate, where the server counts nothing"
    assert {row[3:5] for row in place.rows(owner)[5:]} == {(0, 0)}
    assert len(place.server) == 8
    kept = json.dumps(place.admin.execute("SELECT to_jsonb(c) FROM memsvc.model_calls AS c").fetchall())
    assert "Porto" not in kept
    assert "treasure" not in kept

    page = await list_calls(place.db, owner.user_id, limit=4)
    rest = await list_calls(place.db, owner.user_id, cursor=page.next_cursor, limit=4)
    assert [call.outcome for call in (*page.items, *rest.items)] == [outcome for outcome, _ in reversed(outcomes)]
    assert rest.next_cursor is None
    assert (rest.items[-1].cost, rest.items[-1].model) == (price, reads.name.split(":")[1].split("/")[0])
    assert (await list_calls(place.db, other.user_id)).items == []


async def test_who_asks_nothing_and_who_is_nobodys_costs_nothing(place: Place, owner: Owner) -> None:
    reads = place.reader(owner)
    assert await reads.extract(window(turn("You must love Porto!", "Assistant", "assistant"))) == Extraction()
    chosen = place.settings.model_copy(update={"llm_url": place.server.url, "llm_model": next(_models)})
    await LlmExtractor(chosen).extract(window(turn(SECRET)))
    assert place.rows(owner) == []
    assert await spending(place.db, owner.user_id) == []


@pytest.mark.parametrize("budget", ["llm_tokens_per_user", "llm_tokens_per_day"])
async def test_a_budget_stops_the_next_call_and_tells_until_when(
    place: Place, owner: Owner, other: Owner, budget: str
) -> None:
    more = {budget: 900}
    mine, others = place.reader(owner, **more), place.reader(other, **more)
    place.admin.execute(
        "INSERT INTO memsvc.model_calls (user_id, at, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, "
        "tries) VALUES (%s, date_trunc('day', now(), 'UTC') - interval '1 second', 'facts', 'm', '1', 'answered', 999, "
        "999, 1, 1)",
        [owner.user_id],
    )
    await mine.extract(window(turn(SECRET)))
    await mine.extract(window(turn(SECRET)))
    with pytest.raises(LlmBudgetError, match=f"900 tokens .* MEMSVC_{budget.upper()}|{budget.upper()}") as caught:
        await mine.extract(window(turn(SECRET)))
    assert caught.value.passing
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert caught.value.details == {"budget": budget, "again_at": f"{tomorrow}T00:00:00+00:00"}
    assert len(place.server) == 2, "nobody was asked"
    if budget == "llm_tokens_per_user":
        assert len((await others.extract(window(turn(SECRET)))).facts) == 1
    else:
        with pytest.raises(LlmBudgetError):
            await others.extract(window(turn(SECRET)))
    assert len(place.rows(owner)) == 3, "a call that was not made has no row"


async def test_a_repair_is_a_call_and_needs_room_in_the_budget(place: Place, owner: Owner) -> None:
    place.server.script(Say("Porto?"))
    reads = place.reader(owner, llm_tokens_per_user=50)
    with pytest.raises(LlmBudgetError):
        await reads.extract(window(turn(SECRET)))
    assert [row[2] for row in place.rows(owner)] == ["unusable"]


async def test_days_add_up_for_a_user_and_for_all(place: Place, owner: Owner, other: Owner) -> None:
    reads = [place.reader(user) for user in (owner, owner, other)]
    for one in reads:
        await one.extract(window(turn(SECRET)))
    place.admin.execute(
        "UPDATE memsvc.model_calls SET at = at - interval '1 day', model = 'm' WHERE user_id = %s", [owner.user_id]
    )
    place.server.script(Dies(), Dies())
    with pytest.raises(LlmError):
        await reads[2].extract(window(turn(SECRET)))
    today = datetime.now(UTC).date()
    mine = await spending(place.db, owner.user_id)
    assert [(one.day, one.model, one.calls, one.tokens_in, one.cost) for one in mine] == [
        (today - timedelta(days=1), "m", 2, 800, Decimal("0.0042"))
    ]
    everybodys = await spending(place.db)
    assert [(one.day, one.calls, one.answered) for one in everybodys] == [
        (today, 2, 1), (today - timedelta(days=1), 2, 2),
    ]  # fmt: skip
    assert (sum(one.tokens_in for one in everybodys), sum(one.tokens_out for one in everybodys)) == (1200, 300)
    assert sum(one.cost for one in everybodys if one.cost is not None) == Decimal("0.0063")
    assert [one.day for one in await spending(place.db, days=1)] == [today]
    for days in (0, 3_651):
        with pytest.raises(InvalidRequestError):
            await spending(place.db, days=days)
    with pytest.raises(InvalidRequestError):
        await list_calls(place.db, owner.user_id, cursor="not one of ours")
