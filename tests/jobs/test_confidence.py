"""How sure recall is that it found an answer: by what is near, by who speaks, and by facts; and what it says then."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph import operations as ops
from memsvc.graph.history import write
from memsvc.llm.embedders.residents import Residents
from memsvc.recall import search
from memsvc.recall.options import FITTED_MODELS, LEARNT, LEAST_CONFIDENCE, NEAREST_SHOWN, Filters, Mode, Weights
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.turns import past
from memsvc.turns.calls import CallIn
from memsvc.turns.past import PastWorkIn
from memsvc.turns.storing import TurnIn, record_turn
from memsvc.turns.wording import NOTHING_NEAR
from tests.fakes.embedders import TokenWords
from tests.jobs.changing import Shelf, process, work
from tests.jobs.working import say
from tests.sql.world import value

FAR, NEAR = (0.2, 0.3), (0.7, 0.6)
"""Best cosine, and mean of the best MaxSims."""
LIFTED = 0.2
"""What a memory that tells it lifts the confidence to."""


@pytest.fixture
async def models(
    db: Database, owner: Owner, settings: Settings, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Residents]:
    """Talk about herons, and two facts about Ines, whom nobody mentions; by a model that counts as fitted."""
    monkeypatch.setattr(search, "FITTED_MODELS", {"small"})
    shelf["small"] = TokenWords(dimensions=384)
    found = process(settings)
    await say(db, owner, settings, *(f"{number} herons stood among reeds at dawn" for number in range(8)))
    await work(db, found)
    made = await write(
        db,
        owner,
        [ops.Node(type="Person", label="Ines"), ops.Node(type="Place", label="Porto")],
        asserted_by="tests",
    )
    ines, porto = (row.node_id for row in made.results if row.node_id is not None)
    facts = {"LIVES_IN": "Ines moved to Porto.", "OWNS": "Ines keeps a wooden boat called Petrel."}
    await write(
        db,
        owner,
        [ops.Edge(from_node=ines, type=kind, to_node=porto, fact=fact) for kind, fact in facts.items()],
        asserted_by="tests",
    )
    yield found
    found.close()


def sure(
    admin: psycopg.Connection, cosine: float, late: float | None, *, mine: bool | None = None,
    lead: float | None = None, told: bool | None = None,
) -> float | None:  # fmt: skip
    """What ``memsvc.confidence`` gives."""
    given: list[object] = [cosine, late, mine, lead, told]
    found: float | None = value(admin, "SELECT memsvc.confidence(%s, %s, %s, %s, %s)", given)
    return found


def test_it_grows_with_nearness_and_with_who_speaks(admin: psycopg.Connection) -> None:
    assert sure(admin, 0.9, None) is None
    lonely, near = sure(admin, *FAR), sure(admin, *NEAR)
    assert lonely is not None
    assert near is not None
    assert 0 < lonely < LEAST_CONFIDENCE < near < 1
    named = [sure(admin, *FAR, lead=lead) or 0 for lead in (-1.4, -0.3, 0, 0.5, 1.4)]
    assert named == sorted(set(named))
    assert sure(admin, *NEAR, lead=1.5) == sure(admin, *NEAR, lead=9), "by 1.5 points at most"
    assert sure(admin, *NEAR, lead=-1.5) == sure(admin, *NEAR, lead=-9)


def test_saying_i_counts_where_something_is_near_and_then_names_do_not(admin: psycopg.Connection) -> None:
    near = sure(admin, *NEAR)
    mine = sure(admin, *NEAR, mine=True)
    assert mine is not None
    assert near is not None
    assert mine > near
    assert mine == sure(admin, *NEAR, mine=True, lead=-1)
    assert sure(admin, *FAR, mine=True) == sure(admin, *FAR)


def test_a_fact_that_tells_it_is_above_the_threshold_and_takes_nothing_away(admin: psycopg.Connection) -> None:
    told = sure(admin, *FAR, told=True)
    assert told is not None
    assert LEAST_CONFIDENCE <= told < 0.5
    assert sure(admin, *NEAR, told=True) == sure(admin, *NEAR)
    assert sure(admin, *FAR, told=False) == sure(admin, *FAR)


async def asked(
    db: Database, owner: Owner, settings: Settings, models: Residents, query: str, *, mode: Mode = "balanced",
    facts: bool = True, traces: bool = False, weights: Weights = LEARNT,
) -> Recalled:  # fmt: skip
    patient = settings.model_copy(update={"query_embedding_ms": 5_000})
    filters = Filters(facts=facts, traces=traces)
    return await recall(
        db, owner, query, patient, embedder=models, mode=mode, filters=filters, weights=weights, limit=8
    )


async def test_what_nothing_answers_gets_the_nearest_few(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    found = await asked(db, owner, settings, models, "Which volcano erupted near Iceland?")
    assert not found.relevant
    assert found.confidence is not None
    assert found.confidence < LEAST_CONFIDENCE
    assert len(found.memories) == NEAREST_SHOWN
    answered = await asked(db, owner, settings, models, "herons among reeds at dawn?")
    assert answered.relevant
    assert len(answered.memories) == 8


async def test_a_question_that_was_asked_before_is_no_answer_to_itself(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    before = await asked(db, owner, settings, models, "Which volcano erupted near Iceland?")
    await say(db, owner, settings, "which volcano erupted near Iceland")
    await work(db, models)
    again = await asked(db, owner, settings, models, "Which volcano erupted near Iceland?")
    assert again.confidence == pytest.approx(before.confidence, abs=0.02)
    assert not again.relevant
    assert again.memories[0].text == "which volcano erupted near Iceland"
    searched = await asked(db, owner, settings, models, "which volcano erupted near Iceland")
    assert searched.relevant, "who looks for what was said finds it"
    await say(db, owner, settings, "The volcano that erupted near Iceland was Katla")
    await work(db, models)
    assert (await asked(db, owner, settings, models, "Which volcano erupted near Iceland?")).relevant


@pytest.mark.parametrize(
    "case",
    [
        ("Who has a wooden boat?", True),  # 2 of 2 words
        ("Is Petrel a wooden canoe?", True),  # 2 of 3
        ("Where does Ines live?", True),  # 1 of 2, and it is about her
        ("What is wooden, Helena?", False),  # 1 of 2, of nobody who is named
        ("Which opera did Ines hear at Vienna?", False),  # 1 of 4, though it is about her
    ],
)
async def test_a_fact_that_holds_the_words_of_a_question_answers_it(
    db: Database, owner: Owner, settings: Settings, models: Residents, case: tuple[str, bool]
) -> None:
    query, answered = case
    found = await asked(db, owner, settings, models, query)
    assert found.relevant is answered
    without = await asked(db, owner, settings, models, query, facts=False)
    assert not without.relevant


async def test_without_late_interaction_there_is_no_confidence(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    found = await asked(db, owner, settings, models, "Which volcano erupted near Iceland?", mode="eager")
    assert (found.confidence, found.relevant) == (None, True)


async def test_by_a_model_that_it_was_not_fitted_for_there_is_no_confidence(
    db: Database, owner: Owner, settings: Settings, models: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "FITTED_MODELS", FITTED_MODELS)
    found = await asked(db, owner, settings, models, "Which volcano erupted near Iceland?")
    assert (found.confidence, found.relevant) == (None, True)


@pytest.mark.parametrize(
    "case",
    [
        ("Zirkelkasten", True),
        ("And the Zirkelkasten herons?", True),  # herons are common here
        ("Which volcano was on the Zirkelkasten?", False),  # a word more that is in no memory
        ("What did the invoice XK-4471 cost?", True),  # but a code tells by itself
        ("Whose number is 4930123456?", True),
        ("What did the invoice XK-4472 cost?", False),
        ("What happened in 2024?", False),
        ("1299.95", True),  # an amount in another of its forms
        ("What cost 1299.96?", False),
    ],
)
async def test_a_memory_that_holds_the_rare_words_of_a_question_answers_it(
    db: Database, owner: Owner, settings: Settings, models: Residents, case: tuple[str, bool]
) -> None:
    query, answered = case
    await say(
        db, owner, settings, "The Zirkelkasten is in the attic.", "Order XK-4471 came in 2023.", "4930123456 is Rui's.",
        "I paid 1.299,95 € for it.",
    )  # fmt: skip
    await work(db, models)
    found = await asked(db, owner, settings, models, query)
    assert found.confidence is not None
    assert (found.confidence >= LIFTED) is answered
    if answered:
        assert len(found.memories) == 8


async def test_a_question_with_rare_words_is_no_answer_to_itself(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    await say(db, owner, settings, "Where is the Zirkelkasten?")
    await work(db, models)
    assert not (await asked(db, owner, settings, models, "where is the Zirkelkasten ?")).relevant


async def test_words_are_rare_among_what_may_be_recalled(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    """What tools have said often is not asked, unless traces are."""
    await say(db, owner, settings, "The Zirkelkasten is in the attic.")
    traces = [
        MessageIn(conversation="pond", text=f"{number} results for zirkelkasten", role="tool") for number in range(5)
    ]
    await append(db, owner, traces, settings)
    query = "Which of those did they have, if they had any, of zirkelkasten?"
    for _ in ("counted as differences", "folded"):
        assert (await asked(db, owner, settings, models, query)).confidence == LIFTED
        with_traces = (await asked(db, owner, settings, models, query, traces=True)).confidence
        assert with_traces is not None
        assert with_traces < LIFTED
        await work(db, models)


async def test_weights_of_ones_own_change_the_order_and_not_the_confidence(
    db: Database, owner: Owner, settings: Settings, models: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By how much those who are named lead is told in points of the learnt order; without one, a name tells nothing."""
    said = {"Carla": "A heron is on the roof.", "Bob": "Three herons stood in the reeds, and a stork at dawn."}
    await append(
        db, owner, [MessageIn(conversation="roof", text=text, speaker=who) for who, text in said.items()], settings
    )
    await work(db, models)
    query = "Which herons stood in the reeds at dawn, Carla?"
    own: list[Weights] = [{"words": 5.0}, {"speaker": 0.0, "asks": 3.0}, {"recency": 9.0, "late": 0.1}]
    learnt = await asked(db, owner, settings, models, query)
    found = [await asked(db, owner, settings, models, query, weights=weights) for weights in own]
    assert learnt.confidence is not None
    assert {one.confidence for one in found} == {learnt.confidence}
    assert len({tuple(memory.memory_id for memory in one.memories) for one in found}) > 1
    monkeypatch.setattr(search, "shipped", lambda: None)
    linear = await asked(db, owner, settings, models, query)
    assert linear.degraded == ["order"]
    assert linear.confidence is not None
    assert linear.confidence > learnt.confidence


async def test_past_work_says_when_nothing_fits(
    db: Database, owner: Owner, settings: Settings, models: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "FITTED_MODELS", {"small"})
    patient = settings.model_copy(update={"query_embedding_ms": 5_000})
    call = CallIn(tool="Read", arguments={"file_path": "auth.py"}, result="def login")
    turn = TurnIn(conversation="monday", project="shop", request="Fix the login test", answer="Done.", calls=[call])
    await record_turn(db, owner, turn, settings)
    await work(db, models)
    for query, files, fits in (
        ("bake a cake", [], False), ("Back einen Kuchen", [], False), ("repair the login test", [], True),
        ("login", [], True), ("bake a cake", ["auth.py"], True), ("", [], True), ("what did I do today?", [], True),
        ("bake a cake " * 200, [], True),
    ):  # fmt: skip
        asked = PastWorkIn(query=query, files=files, project="shop")
        found = await past.past_work(db, owner, asked, patient, models)
        assert (len(found.turns), found.relevant) == (1, fits), query
        assert "Fix the login test" in found.text
        assert (NOTHING_NEAR in found.text) is not fits
    assert (await past.past_work(db, owner, PastWorkIn(query="bake the login"), patient)).relevant
