"""What each factor of recall gives, by the formulas of docs/recall-parts.md, and that it moves the order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from statistics import fmean, pstdev

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.profiles.write import move, write_block
from memsvc.recall.options import FACTORS, NOTHING, Filters, Weights
from memsvc.recall.results import Memory
from memsvc.recall.search import recall
from memsvc.recall.signals import feedback
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from tests.sql.test_salient import judge
from tests.sql.test_signals import recalled, told

TODAY = datetime(2026, 3, 18, 12, tzinfo=UTC)
NEXT_TO_NOTHING = 1e-12
"""The weight of words: without any the words of a query find nothing."""


def alone(factor: str) -> Weights:
    """One factor that counts."""
    return {**NOTHING, "words": NEXT_TO_NOTHING, factor: 1.0}


async def points(  # noqa: PLR0917 - as recall has it
    db: Database, owner: Owner, settings: Settings, factor: str, query: str = "heron", filters: Filters | None = None
) -> list[tuple[str, float]]:
    """Texts and what this factor alone gives them, best first; it is their score."""
    found = await recall(db, owner, query, settings, weights=alone(factor), filters=filters)
    for memory in found.memories:
        assert memory.score == pytest.approx(memory.factors[factor], abs=1e-9), factor
    return [(memory.text, memory.factors[factor]) for memory in found.memories]


async def test_feedback_changes_the_order_of_a_recall(db: Database, owner: Owner, settings: Settings) -> None:
    first, second = await told(db, owner, settings, "The lamp is of oak.", "The desk is of oak.")

    async def ask(known_at: datetime | None = None) -> list[Memory]:
        return (await recall(db, owner, "oak", settings, filters=Filters(known_at=known_at))).memories

    before = await ask()
    assert [memory.memory_id for memory in before] == [first, second]
    recall_id = await recalled(db, owner, settings, "oak")
    await feedback(db, owner, recall_id, used=[second], irrelevant=[first])
    after = await ask()
    assert [memory.memory_id for memory in after] == [second, first]
    assert [memory.factors["usefulness"] for memory in after] == pytest.approx([0.3 / 3, -0.3 / 3])
    assert after[0].score - before[1].score == pytest.approx(0.1)
    once = await ask(after[0].recorded_at)
    assert [(memory.memory_id, memory.factors["usefulness"]) for memory in once] == [(first, 0), (second, 0)]


async def test_what_is_new_counts_fully_and_half_after_thirty_days(
    db: Database, owner: Owner, settings: Settings
) -> None:
    ages = {"heron one": 60, "heron two": 0, "heron three": 30}
    said = [
        MessageIn(conversation="pond", text=text, said_at=(TODAY - timedelta(days=days)).isoformat())
        for text, days in ages.items()
    ]
    await append(db, owner, said, settings)
    found = await points(db, owner, settings, "recency", filters=Filters(as_of=TODAY))
    assert [text for text, _ in found] == ["heron two", "heron three", "heron one"]
    assert [given for _, given in found] == pytest.approx([1, 0.5, 0.25])


@pytest.mark.parametrize(("asked", "best"), [("first", ["one", "two", "three"]), ("last", ["three", "two", "one"])])
async def test_the_first_or_the_last_stands_ahead_where_it_is_asked_for(
    db: Database, owner: Owner, settings: Settings, asked: str, best: list[str]
) -> None:
    said = [
        MessageIn(conversation="pond", text=f"heron {number}", said_at=f"2026-03-{day:02}T10:00:00Z")
        for number, day in (("two", 4), ("three", 17), ("one", 3))
    ]
    await append(db, owner, said, settings)
    found = await points(db, owner, settings, "order", f"When did I see the {asked} heron?")
    assert found == [(f"heron {number}", place) for number, place in zip(best, (1.0, 0.5, 0.0), strict=True)]
    unasked = await points(db, owner, settings, "order", "When did I see a heron?")
    assert {place for _, place in unasked} == {0.0}


@pytest.mark.parametrize(
    ("factor", "column", "values", "expected"),
    [
        ("importance", "importance", (10, 4, 1), (1, 1 / 3, 0)),
        ("sentiment", "sentiment", (-0.75, 0.5, 0), (0.75, 0.5, 0)),
        ("familiarity", "recalls", (15, 5, 1), (15 / 20, 5 / 10, 1 / 6)),
        ("usefulness", "used", (6, 2, 1), (6 / 8, 2 / 4, 1 / 3)),
        ("usefulness", "irrelevant", (0, 1, 4), (0, -1 / 3, -4 / 6)),
        # Thirty days after the last recall, by a half-life of 30 days that each recall makes 30 longer.
        ("strength", "recalls", (9, 3, 1), (2**-0.1, 2**-0.25, 2**-0.5)),
    ],
)  # fmt: skip
async def test_what_is_known_about_a_memory_counts_by_its_formula(  # noqa: PLR0917 - what the parameters and fixtures give
    db: Database,
    owner: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    factor: str,
    column: str,
    values: tuple[float, ...],
    expected: tuple[float, ...],
) -> None:
    texts = ["heron one", "heron two", "heron three", "heron four"]
    for memory, number in zip(await told(db, owner, settings, *texts), values, strict=False):
        known: dict[str, object] = {column: number}
        if column == "recalls":
            known["last_recalled_at"] = datetime.now(UTC) - timedelta(days=30)
        judge(admin, owner, memory, "passage", **known)
    found = dict(await points(db, owner, settings, factor))
    assert [found[text] for text in texts] == pytest.approx([*expected, 0], abs=1e-5)


async def test_neighbours_and_sessions_count_by_their_words(db: Database, owner: Owner, settings: Settings) -> None:
    """The next messages whole, the ones behind them half, in one session; of a session the best."""
    texts = {
        "a": ["heron", "heron and much else besides", "heron heron heron", "heron mill", "water", "heron pond reed"],
        "b": ["heron mill reed pond", "heron boat"],
    }
    said = [MessageIn(conversation="pond", session=name, text=text) for name, some in texts.items() for text in some]
    await append(db, owner, said, settings)
    memories = (await recall(db, owner, "heron", settings, weights=alone("words"))).memories
    words = {(memory.session, memory.ordinal): memory.arms["words"]["score"] for memory in memories}
    assert len(words) == 7, "water is no candidate"
    assert len(set(words.values())) > 4
    nearby = {
        (session, place): sum(
            words.get((session, place + away), 0) * share for away, share in ((-2, 0.5), (-1, 1), (1, 1), (2, 0.5))
        )
        for session, place in words
    }
    whole = {(name, place): max(held for (one, _), held in words.items() if one == name) for name, place in words}
    for factor, values in (("nearby", nearby), ("session", whole)):
        found = (await recall(db, owner, "heron", settings, weights=alone(factor))).memories
        mean, spread = fmean(values.values()), pstdev(values.values())
        for memory in found:
            expected = (values[memory.session, memory.ordinal] - mean) / spread
            assert memory.factors[factor] == pytest.approx(expected, abs=2e-3), (factor, memory.text)
            assert memory.score == pytest.approx(memory.factors[factor], abs=1e-9)
        assert found[0].factors[factor] == max(memory.factors[factor] for memory in found) > 0.5


async def test_questions_and_what_stands_behind_them_count(db: Database, owner: Owner, settings: Settings) -> None:
    said = {
        "one": ["heron, did you see it? Or not?", "heron, yes", "heron, no"],
        "two": ["heron, long ago: when? 1999"],
    }
    messages = [MessageIn(conversation="pond", session=name, text=text) for name, some in said.items() for text in some]
    await append(db, owner, messages, settings)
    asks = dict(await points(db, owner, settings, "asks"))
    answers = dict(await points(db, owner, settings, "answers"))
    assert [text for text, given in asks.items() if given] == ["heron, did you see it? Or not?", said["two"][0]]
    assert [text for text, given in answers.items() if given] == ["heron, yes"]
    longer = dict(await points(db, owner, settings, "length"))
    assert max(longer, key=lambda text: longer[text]) == "heron, did you see it? Or not?"
    assert sum(longer.values()) == pytest.approx(0, abs=1e-9)


async def test_a_question_that_came_later_was_not_answered_then(db: Database, owner: Owner, settings: Settings) -> None:
    await append(db, owner, [MessageIn(conversation="pond", text="heron, yes", ordinal=1)], settings)
    [known] = (await recall(db, owner, "heron", settings)).memories
    await append(db, owner, [MessageIn(conversation="pond", text="Was it there?", ordinal=0)], settings)
    assert await points(db, owner, settings, "answers") == [("heron, yes", 1)]
    then = Filters(known_at=known.recorded_at)
    assert await points(db, owner, settings, "answers", filters=then) == [("heron, yes", 0)]


async def test_what_stands_beside_others_is_known_by_its_session(
    db: Database, owner: Owner, settings: Settings
) -> None:
    said = [MessageIn(conversation="pond", session=name, text=f"{name}{place}") for name in "ab" for place in range(6)]
    await append(db, owner, said, settings)
    beside = text(
        "WITH given AS (SELECT array_agg(passage_id) AS ids FROM memsvc.passages WHERE text IN ('a0', 'a3')) "
        "SELECT p.text FROM given AS g CROSS JOIN LATERAL memsvc.passages_beside("
        "  :user_id, g.ids, 2, memsvc.scope('{message}')"
        ") AS b INNER JOIN memsvc.passages AS p ON p.passage_id = b.passage_id ORDER BY p.text"
    )
    async with db.transaction(owner.user_id) as connection:
        found = (await connection.execute(beside, {"user_id": owner.user_id})).scalars().all()
    assert found == ["a1", "a2", "a4", "a5"]


@pytest.mark.parametrize(("kind", "to", "comes"), [("core", "archival", False), ("archival", "core", True)])
async def test_what_goes_to_or_from_the_archive_between_two_pages_changes_nothing(  # noqa: PLR0917 - as above
    db: Database, owner: Owner, settings: Settings, kind: str, to: str, comes: bool
) -> None:
    await told(db, owner, settings, *(f"The keel of boat {number} is of oak, oak, oak." for number in range(9)))
    await write_block(db, owner, "boat", "Rosinante has much besides a keel. It is said to be of oak.", kind=kind)  # type: ignore[arg-type]

    async def pages(*, moves: bool) -> list[str]:
        given: list[str] = []
        cursor = None
        while not given or cursor is not None:
            page = await recall(db, owner, "oak keel", settings, mode="deliberate", limit=3, cursor=cursor)
            given, cursor = given + [memory.kind for memory in page.memories], page.next_cursor
            if moves:
                await move(db, owner, "boat", to)  # type: ignore[arg-type]
                moves = False
        return given

    without = await pages(moves=False)
    assert without.count("block") == (1 if comes else 0)
    assert "block" not in without[:3], "it belongs to a later page"
    assert sorted(await pages(moves=True)) == sorted(without)
    assert (await pages(moves=False)).count("block") == (0 if comes else 1)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ('{"charm": 1}', "no factor 'charm'"),
        ('{"recency": 1, "Words": 0}', "no factor 'Words'"),
        (json.dumps({"x" * 10_000: 1}), f"no factor '{'x' * 60}'"),
        ('{"words": "NaN"}', "The weight of words"),
        ('{"words": "0.5"}', "The weight of words"),
        ('{"words": null}', "The weight of words"),
        ('{"words": true}', "The weight of words"),
        ('{"words": {"by": 1}}', "The weight of words"),
        ('{"words": 1e400}', "The weight of words"),
        ('{"recency": 0.5, "late": -100.01}', "The weight of late"),
        ('{"late": []}', "The weight of late"),
        ('{"late": [1, "NaN"]}', "The weight of late"),
        ('{"late": [1, [2]]}', "The weight of late"),
        ('{"late": [1, 2, 3, 4, 5, 6]}', "The weight of late"),
        ("[]", "not a JSON object"),
        ("1", "not a JSON object"),
        ("null", "not a JSON object"),
        (None, "not a JSON object"),
    ],
)
async def test_psql_refuses_weights_that_would_count_for_nothing(
    db: Database, owner: Owner, weights: str | None, said: str
) -> None:
    asked = text("SELECT count(*) FROM memsvc.recall(:me, 'heron', 5, p_weights => CAST(:weights AS jsonb))")
    with pytest.raises(SQLAlchemyError) as refused:  # also where nothing is found
        async with db.transaction(owner.user_id) as connection:
            await connection.execute(asked, {"me": owner.user_id, "weights": weights})
    cause = refused.value.__cause__ or refused.value
    assert isinstance(cause, psycopg.errors.InvalidParameterValue)
    assert said in str(cause)
    if "no factor" in said:
        assert all(factor in str(cause.diag.message_hint) for factor in FACTORS)


@pytest.mark.parametrize("weights", ["{}", '{"words": -100, "late": [1, 2, 3, 4, 100]}', '{"words": [0.5]}'])
async def test_psql_takes_numbers_and_lists_of_them(db: Database, owner: Owner, weights: str) -> None:
    async with db.transaction(owner.user_id) as connection:
        asked = text("SELECT memsvc.checked_weights(CAST(:weights AS jsonb)) = CAST(:weights AS jsonb)")
        assert await connection.scalar(asked, {"weights": weights})
