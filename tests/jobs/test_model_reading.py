"""Conversations are read by a model that is slow, cuts its answers off, or has a small context: all that can be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import psycopg
import pytest

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.cli.extraction import show_totals
from memsvc.db.engine import Database
from memsvc.errors import LlmContextError
from memsvc.extract.asking import progress, totals
from memsvc.extract.llm import LlmExtractor
from memsvc.extract.preview import Said, preview
from memsvc.extract.rehearsal import rehearse
from memsvc.extract.run import Extractors
from memsvc.queue.execution import run_due
from memsvc.queue.jobs import Job, list_jobs
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sleep.runner import sleep
from memsvc.sleep.runs import list_runs
from memsvc.sources.messages import MessageIn, append
from memsvc.text.tokens import estimate_tokens
from tests.fakes.chat_server import Body, ByRequest, ChatServer, Hangs, Say, Status, serving
from tests.jobs.working import due_now
from tests.windows import answer, entity, fact

_models = (f"reading-{number}" for number in count())
OWNED = re.compile(r"I own (\w+)")


def turns_of(body: Body) -> list[str]:
    """The texts that a request wants to be read."""
    shown = body["messages"][1]["content"].partition("Turns:\n")[2].splitlines()
    return [json.loads(line)["text"] for line in shown if line.startswith("{")]


def tokens_of(body: Body) -> int:
    return sum(estimate_tokens(message["content"]) for message in body["messages"])


def owned(body: Body) -> str:
    """A good answer: what people say that they own."""
    found = [(place, said[1]) for place, text in enumerate(turns_of(body)) if (said := OWNED.search(text))]
    things = [entity(key, name, "Object", turn=place) for key, (place, name) in enumerate(found, 1)]
    facts = [
        fact(0, "OWNS", key, turn=place, quote=f"I own {name}", sentence=f"Ada owns {name}.")
        for key, (place, name) in enumerate(found, 1)
    ]
    return json.dumps(answer(entity(0, "Ada", known=0, quote=""), *things, facts=tuple(facts)))


GOOD = Say(owned)


def where(bad: Callable[[Body], bool], what: Hangs | Say | Status) -> ByRequest:
    """Good answers, but for some requests."""
    return ByRequest(lambda body: what if bad(body) else GOOD)


@dataclass
class Model:
    """A user, and a scripted model that reads what the user says."""

    db: Database
    owner: Owner
    settings: Settings
    admin: psycopg.Connection
    server: ChatServer

    def __post_init__(self) -> None:
        chosen = {"extractor": "llm", "llm_url": self.server.url, "llm_model": next(_models), "llm_timeout_s": 0.8}
        self.settings = self.settings.model_copy(update=chosen)

    async def say(self, *texts: str) -> None:
        messages = [MessageIn(conversation="pond", text=text, speaker="Ada") for text in texts]
        await append(self.db, self.owner, messages, self.settings)

    async def say_at(self, said_at: str, text: str) -> None:
        message = MessageIn(conversation="pond", text=text, speaker="Ada", said_at=said_at)
        await append(self.db, self.owner, [message], self.settings)

    async def read(self, **more: Any) -> None:
        chosen = self.settings.model_copy(update=more)
        await run_due(self.db, all_steps(chosen, None, extractors=Extractors(chosen)))

    async def jobs(self) -> list[Job]:
        return [job for job in await list_jobs(self.db, self.owner.user_id) if job.kind == "extract"]

    def facts(self) -> list[str]:
        rows = self.admin.execute(
            "SELECT fact FROM memsvc.edge_versions WHERE user_id = %s AND recorded_to = 'infinity' ORDER BY fact",
            [self.owner.user_id],
        )
        return [row[0] for row in rows]

    @property
    def sizes(self) -> list[int]:
        """How many turns each request had."""
        return [len(turns_of(body)) for body in self.server.requests]


@pytest.fixture
def model(db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection) -> Iterator[Model]:
    with serving(ChatServer(otherwise=GOOD)) as served:
        yield Model(db, owner, settings, admin, served)


def model_name(model: Model) -> str:
    return LlmExtractor(model.settings).name


SAID = [f"I own boat{number}" for number in range(8)]
TOLD = [f"Ada owns boat{number}." for number in range(8)]


async def test_a_window_that_takes_too_long_is_read_in_halves(model: Model) -> None:
    model.server.otherwise = where(lambda body: len(turns_of(body)) > 4, Hangs())
    await model.say(*SAID)
    await model.read()
    assert model.sizes[-2:] == [4, 4]
    assert model.facts() == TOLD
    assert (await totals(model.db, model.owner, model_name(model))).tokens == 2 * 100
    assert {job.state for job in await model.jobs()} == {"done"}


async def test_an_answer_that_is_cut_off_is_asked_for_in_halves(model: Model) -> None:
    model.server.otherwise = where(lambda body: len(turns_of(body)) > 2, Say('{"entities": [', finish="length"))
    await model.say(*SAID)
    await model.read()
    assert model.sizes == [8, 4, 2, 2, 4, 2, 2]
    assert model.facts() == TOLD


async def test_one_turn_that_takes_too_long_is_passed_over_and_fails_alone(model: Model) -> None:
    model.server.otherwise = where(lambda body: any("boat1" in text for text in turns_of(body)), Hangs())
    await model.say(*SAID[:4])
    await model.read()
    assert model.facts() == [TOLD[0], *TOLD[2:4]]
    assert model.sizes[1:] == [2, 1, 1, 2, 1], "halves, its turns, the other half, and the job of the turn itself"
    [told] = await progress(model.db, model.owner)
    assert (told.turns, told.left) == (3, 1)
    for _ in range(4):
        due_now(model.admin, model.owner)
        await model.read()
    states = {(job.state, job.error_code) for job in await model.jobs()}
    assert states == {("done", None), ("failed", "turn_too_slow")}
    asked = len(model.server)
    due_now(model.admin, model.owner)
    await model.read()
    assert len(model.server) == asked, "the run has ended"


async def test_a_model_that_is_slow_for_everything_passes_nothing_over(model: Model) -> None:
    model.server.otherwise = Hangs()
    await model.say(*SAID[:2])
    await model.read()
    assert [(job.state, job.error_code) for job in await model.jobs()] == [("pending", "llm_slow")]
    assert (await totals(model.db, model.owner, model_name(model))).turns == 0
    model.server.otherwise = GOOD
    due_now(model.admin, model.owner)
    await model.read()
    assert model.facts() == TOLD[:2]


async def test_a_context_of_4096_tokens_suffices(model: Model) -> None:
    long = [f"I own boat{number}, and " + "it has a new sail. " * 12 for number in range(12)]
    await model.say(*long)
    await model.read(llm_context_tokens=4_096)
    assert model.facts() == sorted(f"Ada owns boat{number}." for number in range(12))
    assert max(map(tokens_of, model.server.requests)) < 4_096 - 300
    assert max(model.sizes) < 12


async def test_a_server_that_refuses_long_questions_gets_shorter_ones(model: Model) -> None:
    too_long = Status(400, error={"code": "context_length_exceeded", "message": "Too long."})
    model.server.otherwise = where(lambda body: tokens_of(body) > 3_000, too_long)
    await model.say(*[f"I own boat{number}, and " + "it has a new sail. " * 12 for number in range(8)])
    await model.read()
    assert model.facts() == TOLD


async def test_a_message_that_no_context_holds_fails_with_the_size_that_it_needs(model: Model) -> None:
    await model.say(*SAID[:2])
    for _ in range(4):
        await model.read(llm_context_tokens=1_500)
        due_now(model.admin, model.owner)
    assert len(model.server) == 0, "it was measured before"
    [job] = await model.jobs()
    assert (job.state, job.error_code) == ("failed", "llm_context")
    assert job.error is not None
    assert re.fullmatch(r"A message needs a context of about [\d,]+ tokens, and .* is 1,500\.", job.error)


async def test_tokens_for_each_message_are_shown(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    await model.say(*SAID)
    await model.read()
    show_totals(await totals(model.db, model.owner, model_name(model)))
    assert "took 100 tokens, 12 a message" in capsys.readouterr().out


async def test_a_dry_run_is_read_in_halves_too(model: Model) -> None:
    model.server.otherwise = where(lambda body: len(turns_of(body)) > 2, Say("{", finish="length"))
    reader = LlmExtractor(model.settings)
    said = [Said(text=text, speaker="Ada") for text in SAID[:4]]
    found = await preview(model.db, model.owner, said, reader, model.settings)
    assert [one.proposal.sentence for one in found.facts] == TOLD[:4]
    small = model.settings.model_copy(update={"llm_context_tokens": 1_500})
    with pytest.raises(LlmContextError) as caught:
        await preview(model.db, model.owner, said, LlmExtractor(small), small)
    assert caught.value.details["needed"] > 1_500


async def test_reading_again_is_done_in_halves_too(model: Model) -> None:
    await model.say(*SAID)
    await model.read()
    newer = model.settings.model_copy(update={"llm_model": next(_models)})
    model.server.otherwise = where(lambda body: len(turns_of(body)) > 2, Say("{", finish="length"))
    before = len(model.server)
    found = await rehearse(model.db, model.owner, LlmExtractor(newer), "llm", newer)
    assert (found.turns, found.left) == (8, 8)
    assert model.sizes[before:] == [8, 4, 2, 2, 4, 2, 2]
    before = len(model.server)
    [run] = await sleep(model.db, model.owner, ["reread"], settings=newer)
    assert (run.state, run.examined) == ("done", 8)
    assert model.sizes[before:] == [8, 4, 2, 2, 4, 2, 2]
    assert model.facts() == TOLD


async def test_a_model_that_fails_at_night_ends_the_run_and_the_next_night_goes_on(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))
    await model.say(*SAID)
    await model.read()
    steps = all_steps(model.settings.model_copy(update={"llm_model": next(_models)}), None)
    for otherwise, outcome in ((Status(401), ("failed", "llm_refused")), (GOOD, ("done", None))):
        model.server.otherwise = otherwise
        await run_now(model.db, model.owner.user_id, "sleep")
        await run_due(model.db, {"sleep": steps["sleep"]})
        runs = reversed(await list_runs(model.db, model.owner.user_id))  # the last one of each task counts
        ended = {run.task: (run.state, run.error_code) for run in runs}
        assert ended.pop("reread") == outcome
        assert set(ended.values()) == {("done", None)}, "the other tasks go on"
        assert {job.state for job in await list_jobs(model.db, model.owner.user_id) if job.kind == "sleep"} == {"done"}


# Ends, times, and what assistants say ---------------------------------------------------------------------------------


def says(*facts: dict[str, Any], things: tuple[dict[str, Any], ...]) -> Say:
    """An answer about the owner and some things."""
    return Say(json.dumps(answer(entity(0, "Ada", known=0, quote=""), *things, facts=facts)))


def spans(model: Model) -> list[tuple[str, str | None, str | None]]:
    """Facts with the days from which and until which they hold."""
    rows = model.admin.execute(
        "SELECT fact, to_char(nullif(valid_from, '-infinity'), 'YYYY-MM-DD'), "
        "to_char(nullif(valid_to, 'infinity'), 'YYYY-MM-DD') FROM memsvc.edge_versions "
        "WHERE user_id = %s AND recorded_to = 'infinity' ORDER BY fact",
        [model.owner.user_id],
    )
    return list(rows.fetchall())


@pytest.mark.parametrize("told", [{"change": "ended"}, {"until": "2026-05-01"}, {"change": "ended", "confidence": 0.6}])
async def test_an_end_that_is_inferred_ends_what_is_known(model: Model, told: dict[str, Any]) -> None:
    van = entity(1, "van", "Object", named=False)
    has = fact(0, "OWNS", 1, quote="I own a van", sentence="Ada owns a van.")
    await model.say_at("2026-02-01T10:00:00Z", "I own a van")
    model.server.otherwise = says(has, things=(van,))
    await model.read()
    await model.say_at("2026-05-02T10:00:00Z", "we sold the van yesterday")
    over = fact(0, "OWNS", 1, quote="we sold the van", sentence="Ada owned a van.", **told)
    model.server.otherwise = says(over, things=(van,))
    await model.read()
    assert spans(model) == [("Ada owns a van.", None, "2026-05-01" if "until" in told else "2026-05-02")]


async def test_moods_hold_their_day_and_no_time_is_that_of_the_message(model: Model) -> None:
    await model.say_at("2026-05-02T10:00:00Z", "I'm so happy about my new boat!")
    mood = fact(0, "FEELS", 1, quote="I'm so happy", sentence="Ada is happy.")
    boat = fact(0, "OWNS", 2, quote="my new boat", sentence="Ada has a boat.", since="2026-05-02T10:00")
    things = (entity(1, "happiness", "Emotion", named=False, quote="happy"), entity(2, "boat", "Object", named=False))
    model.server.otherwise = says(mood, boat, things=things)
    await model.read()
    assert spans(model) == [("Ada has a boat.", None, None), ("Ada is happy.", "2026-05-02", "2026-05-03")]


@pytest.mark.parametrize(
    ("answer_", "on", "accepted", "written"),
    [
        ("yes please", True, 1, True),
        ("yes please", False, 1, False),
        ("No, I do eat meat.", True, 1, False),
        ("yes please", True, None, False),
        ("yes please", True, 2, False),
    ],
)
async def test_what_an_assistant_says_counts_where_it_is_accepted_and_that_is_wanted(
    model: Model, answer_: str, on: bool, accepted: int | None, written: bool
) -> None:
    asks = MessageIn(conversation="pond", text="Shall I note that you like tofu?", role="assistant")
    yes, more = (MessageIn(conversation="pond", text=text, speaker="Ada") for text in (answer_, "What a day."))
    await append(model.db, model.owner, [asks, yes, more], model.settings)
    told = fact(0, "LIKES", 1, quote="you like tofu", sentence="Ada likes tofu.", accepted=accepted)
    model.server.otherwise = says(told, things=(entity(1, "tofu", "Object", named=False),))
    await model.read(llm_assistants=on)
    assert model.facts() == (["Ada likes tofu."] if written else [])
    asked = json.dumps(model.server.requests[0])
    assert ("What assistants say" in asked) == ('"accepted"' in asked) == on
