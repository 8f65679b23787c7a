"""A model judges facts that wait in review: once a night, in one call, and nothing is lost when it fails."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.errors import InvalidRequestError, LlmError
from memsvc.extract.review import Review, accept, list_reviews
from memsvc.graph.history import undo
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sleep.runner import dry_run, sleep
from memsvc.sleep.runs import Budget, list_runs
from tests.fakes.chat_server import Body, ChatServer, Dies, Say, serving
from tests.jobs.reading import Desk

_models = (f"verifying-{number}" for number in count())
SAID = ["maybe Ana LIKES tea.", "maybe Rui LIKES wine.", "maybe Eva LIKES rye.", "maybe Tim LIKES figs."]


@dataclass(frozen=True, slots=True)
class Judge:
    """A desk with doubtful facts, and a scripted model that judges them."""

    desk: Desk
    server: ChatServer
    settings: Settings

    async def reviews(self, state: Any = None) -> dict[str, Review]:
        found = await list_reviews(self.desk.db, self.desk.owner, state=state)
        return {one.proposal.sentence: one for one in found}

    async def states(self) -> dict[str, tuple[str, str]]:
        return {sentence: (one.state, one.reason) for sentence, one in (await self.reviews()).items()}

    async def sleeps(self, **more: Any) -> Any:
        settings = self.settings.model_copy(update=more)
        [run] = await sleep(self.desk.db, self.desk.owner, ["reviews"], settings=settings)
        return run


@pytest.fixture
async def judge(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))
    for text in SAID:
        await desk.say(text)
        await desk.read()
    with serving(ChatServer()) as served:
        chosen = {"llm_url": served.url, "llm_model": next(_models), "llm_reviews_per_night": 10}
        yield Judge(desk, served, desk.settings.model_copy(update=chosen))


def verdicts(*facts: dict[str, Any]) -> Say:
    return Say(json.dumps({"facts": [{"why": None, "quote": "", **fact} for fact in facts]}))


MIXED = verdicts(
    {"number": 0, "verdict": "yes", "quote": "Ana LIKES tea"},
    {"number": 1, "verdict": "no", "why": "hypothetical"},
    {"number": 2, "verdict": "unsure"},
    {"number": 3, "verdict": "yes", "quote": "Tim adores figs"},
)


async def test_what_it_confirms_is_written_and_what_it_refuses_is_refused_with_the_reason(judge: Judge) -> None:
    judge.server.script(MIXED)
    run = await judge.sleeps()
    assert (run.task, run.state, run.examined, run.applied, run.proposed) == ("reviews", "done", 4, 2, 2)
    assert await judge.states() == {
        "Ana LIKES tea.": ("accepted", "doubtful"),
        "Rui LIKES wine.": ("refused", "hypothetical"),
        "Eva LIKES rye.": ("doubtful", "unsure"),
        "Tim LIKES figs.": ("doubtful", "unsure"),
    }, "a yes without words that stand there is none"
    assert judge.desk.facts() == ["Ana LIKES tea."]
    assert len(judge.server) == 1, "one call for all"
    assert (await judge.sleeps()).examined == 0
    assert len(judge.server) == 1, "what was judged is not judged again"

    [(change, by)] = judge.desk.rows(
        "SELECT change_id, asserted_by FROM memsvc.changes WHERE user_id = %s AND asserted_by LIKE 'verifier:%%'"
    )
    assert by == (await judge.reviews("accepted"))["Ana LIKES tea."].decided_by
    await undo(judge.desk.db, judge.desk.owner, change, asserted_by="user")
    assert judge.desk.facts() == []
    refused = (await judge.reviews("refused"))["Rui LIKES wine."]
    await accept(judge.desk.db, judge.desk.owner, refused.review_id, by="user")
    assert judge.desk.facts() == ["Rui LIKES wine."], "a person decides otherwise"


async def test_a_run_records_its_calls_and_ends_when_its_tokens_are_used_up(judge: Judge) -> None:
    judge.server.script(Say("no JSON"), MIXED)
    [run] = await sleep(
        judge.desk.db, judge.desk.owner, ["reviews"], settings=judge.settings, budget=Budget(tokens=1_000_000)
    )
    assert run.counts == {"accepted": 1, "refused": 1, "unsure": 2}
    calls = judge.desk.rows("SELECT tokens_in, tokens_out FROM memsvc.model_calls WHERE user_id = %s")
    assert run.model_calls == len(calls) == len(judge.server) == 2
    assert (run.tokens_in, run.tokens_out) == tuple(map(sum, zip(*calls, strict=True)))

    await judge.desk.say("maybe Eva LIKES oak.")
    await judge.desk.read()
    judge.server.script(Say("no JSON"), MIXED)
    [run] = await sleep(judge.desk.db, judge.desk.owner, ["reviews"], settings=judge.settings, budget=Budget(tokens=1))
    assert (run.state, run.within_budget, run.model_calls, run.examined) == ("done", False, 1, 0)
    assert len(judge.server) == 3, "the second call is beyond the budget"


async def test_what_it_was_unsure_about_is_not_judged_again_when_a_new_version_finds_it_again(judge: Judge) -> None:
    judge.server.script(MIXED)
    await judge.sleeps()
    judge.desk.extractor.name = "saying/2"
    newer = judge.settings.model_copy(update={"extractor": "saying"})
    [run] = await sleep(judge.desk.db, judge.desk.owner, ["reread"], settings=newer)
    assert run.examined == 4
    unsure = (await judge.reviews("doubtful"))["Eva LIKES rye."]
    assert (unsure.reason, unsure.extractor) == ("unsure", "saying/2")


async def test_it_is_off_by_default_and_bounded(judge: Judge) -> None:
    runs = await sleep(judge.desk.db, judge.desk.owner, settings=judge.desk.settings)
    assert {"duplicates", "reread", "summaries"} <= {run.task for run in runs}
    assert "reviews" not in {run.task for run in runs}
    with pytest.raises(InvalidRequestError, match="switched off"):
        await sleep(judge.desk.db, judge.desk.owner, ["reviews"], settings=judge.desk.settings)
    assert len(judge.server) == 0
    judge.server.otherwise = verdicts()
    assert (await judge.sleeps(llm_reviews_per_night=3)).examined == 3
    assert shown(judge.server.requests[0]) == [f"{text.removeprefix('maybe ')}" for text in SAID[:3]], "oldest first"
    small = await judge.sleeps(llm_context_tokens=1_300)
    assert small.examined == 1


def shown(body: Body) -> list[str]:
    lines = body["messages"][1]["content"].splitlines()
    return [json.loads(line)["fact"] for line in lines if line.startswith("{")]


async def test_a_dry_run_decides_nothing(judge: Judge) -> None:
    judge.server.script(MIXED)
    before = await judge.states()
    pages = [page async for _, page in dry_run(judge.desk.db, judge.desk.owner, ["reviews"], settings=judge.settings)]
    assert [one.action for page in pages for one in page.judgements] == ["accept", "refuse", "wait", "wait"]
    assert await judge.states() == before


@pytest.fixture
def broken(judge: Judge) -> Judge:
    judge.server.otherwise = Dies()
    return judge


async def test_nothing_is_lost_when_the_model_fails(broken: Judge, admin: psycopg.Connection) -> None:
    before = await broken.states()
    with pytest.raises(LlmError):
        await broken.sleeps()
    await run_now(broken.desk.db, broken.desk.owner.user_id, "sleep")
    await run_due(broken.desk.db, all_steps(broken.settings, None))
    assert await broken.states() == before
    runs = [run for run in await list_runs(broken.desk.db, broken.desk.owner.user_id) if run.task == "reviews"]
    assert {(run.state, run.error_code) for run in runs} == {("failed", "llm")}
    assert admin.execute(
        "SELECT state FROM memsvc.jobs WHERE kind = 'sleep' AND user_id = %s", [broken.desk.owner.user_id]
    ).fetchall() == [("done",)], "other tasks are none the worse"
    broken.server.otherwise = MIXED
    assert (await broken.sleeps()).applied == 2


async def test_garbage_decides_nothing(judge: Judge) -> None:
    twice = {"number": 0, "verdict": "yes", "quote": "Ana LIKES tea"}
    judge.server.script(verdicts(twice, twice, {"number": 9, "verdict": "yes"}, {"number": 1, "verdict": "perhaps"}))
    await judge.sleeps()
    assert {state for state, _ in (await judge.states()).values()} == {"doubtful"}
    assert judge.desk.facts() == []
