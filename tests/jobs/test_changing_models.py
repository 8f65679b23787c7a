"""One embedding model takes over from another: beside it, then before it, and back, while everything goes on."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import ModelStateError
from memsvc.llm.embedders import residents as residents_module
from memsvc.llm.embedders.registry import build_model, retire_model, switch_model
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import NOTHING
from memsvc.recall.search import recall
from memsvc.settings import Settings
from tests.fakes.embedders import NoisyEmbedder, SlowEmbedder
from tests.jobs.changing import (
    MEANING,
    SIZES,
    Place,
    ask,
    best,
    build,
    forget,
    index_of,
    process,
    progress,
    say,
    states,
    text_of,
    work,
)

# From the first model to the third ----------------------------------------------------------------------------------
from tests.recalled import WORDS_ALONE
from tests.sql.world import value

pytestmark = pytest.mark.server
FUSED = {**NOTHING, "words": 0.5, "vector": 0.5, "late": 0.5}


async def test_three_models_of_384_1024_and_3072_dimensions_take_over_one_from_the_other(
    db: Database, owner: Owner, other: Owner, settings: Settings, place: Place
) -> None:
    admin, models = place.admin, place.models
    texts = [text_of(number) for number in range(1, 7)]
    await say(db, owner, settings, *texts)
    await say(db, other, settings, "a heron")
    await work(db, models)
    assert (await states(db), await progress(db)) == ({"small": "active"}, {"small": (7, 0)})

    built = await build_model(db, "middle", 1_024)
    assert (built.state, built.jobs) == ("building", 2)
    sent = (
        "SELECT count(*) FROM memsvc.dramatiq_queue WHERE queue_name = 'models' AND message ->> 'actor_name' = 'embed'"
    )
    assert value(admin, sent) == 2
    assert await progress(db) == {"small": (7, 0), "middle": (0, 7)}
    assert await best(db, owner, texts[3], settings, models) == (texts[3], "")
    assert await work(db, models) == 2
    assert await progress(db) == {"small": (7, 0), "middle": (7, 0)}

    switched = await switch_model(db, "middle")
    assert (switched.became, switched.leaves, switched.behind, switched.jobs) == ("middle", "small", 0, 0)
    assert await states(db) == {"small": "leaving", "middle": "active"}
    await say(db, owner, settings, text_of(7))
    await build(db, "large")
    await work(db, models)
    assert await progress(db) == {"small": (8, 0), "middle": (8, 0), "large": (8, 0)}
    sizes = "SELECT array_agg(DISTINCT vector_dims(vector) ORDER BY vector_dims(vector)) FROM memsvc.embeddings"
    assert value(admin, sizes) == [384, 1_024, 3_072]
    for wanted in (*texts, text_of(7)):
        assert await best(db, owner, wanted, settings, models) == (wanted, "")

    with pytest.raises(ModelStateError, match="small is still leaving"):
        await switch_model(db, "large")
    assert await retire_model(db, "small") == 8
    await switch_model(db, "large")
    assert await states(db) == {"small": "retired", "middle": "leaving", "large": "active"}
    assert [index_of(admin, name) for name in SIZES] == [False, True, True]
    await say(db, owner, settings, text_of(8))
    await work(db, models)
    assert await progress(db) == {"small": (0, 9), "middle": (9, 0), "large": (9, 0)}
    assert await best(db, owner, text_of(8), settings, models) == (text_of(8), "")


async def test_after_a_rollback_nothing_is_lost_that_came_meanwhile(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    await work(db, models)
    await switch_model(db, "middle")
    await say(db, owner, settings, text_of(2))
    await work(db, models)
    back = await switch_model(db, None, now=True)
    assert (back.became, back.leaves, back.behind) == ("small", "middle", 0)
    await say(db, owner, settings, text_of(3))
    await work(db, models)
    for number in (1, 2, 3):
        assert await best(db, owner, text_of(number), settings, models) == (text_of(number), "")
    assert await progress(db) == {"small": (3, 0), "middle": (3, 0)}
    forth = await switch_model(db, "middle")
    assert (forth.became, forth.leaves) == ("middle", "small")


async def test_another_process_sees_a_switch_within_its_time(
    db: Database, owner: Owner, settings: Settings, models: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residents_module, "REREAD_S", 0.2)
    elsewhere = process(settings)
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    await work(db, models)
    assert await elsewhere.active_name(db) == "small"
    await switch_model(db, "middle")
    # It still embeds queries by the old model, and the statement knows what that is now.
    assert await elsewhere.active_name(db) == "small"
    [found] = (await recall(db, owner, text_of(1), settings, embedder=elsewhere, weights=MEANING)).memories
    assert found.arms["vector"]["model"] == "small"
    await asyncio.sleep(0.2)
    assert await elsewhere.active_name(db) == "middle"
    assert await best(db, owner, text_of(1), settings, elsewhere) == (text_of(1), "")
    elsewhere.close()


# While vectors lack -------------------------------------------------------------------------------------------------


async def test_what_has_only_the_old_or_only_the_new_vector_is_found_in_its_place(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, models: Residents
) -> None:
    texts = [f"{text_of(number)} by the pond" for number in range(1, 41)]
    await say(db, owner, settings, *texts)
    await work(db, models)
    await build(db, "middle")
    await work(db, models)
    forget(admin, "middle", *texts[::2])
    forget(admin, "small", texts[1])
    with pytest.raises(ModelStateError, match="20 messages still lack"):
        await switch_model(db, "middle")
    assert await states(db) == {"small": "active", "middle": "building"}
    switched = await switch_model(db, "middle", now=True)
    assert (switched.behind, switched.jobs) == (20, 1)
    for number, wanted in enumerate(texts):
        by_vectors = await ask(db, owner, wanted, settings, models)
        fused = await ask(db, owner, wanted, settings, models, weights=FUSED)
        for found in (by_vectors, fused):
            assert found.memories[0].text == wanted
            assert found.memories[0].arms["vector"].get("model") == ("small" if number % 2 == 0 else None)
            scores = [memory.score for memory in found.memories]
            assert scores[0] > scores[1]
            assert scores == sorted(scores, reverse=True)
            assert len({memory.passage_id for memory in found.memories}) == 10
    # Equally near texts of either model come next, not those of one model first.
    found = await ask(db, owner, "by the pond", settings, models)
    kinds = [memory.arms["vector"].get("model") for memory in found.memories]
    assert {"small", None} == set(kinds)
    await work(db, models)
    assert await progress(db) == {"small": (40, 0), "middle": (40, 0)}
    assert await best(db, owner, texts[0], settings, models) == (texts[0], "")


async def test_ranks_by_two_models_are_those_of_one(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, models: Residents
) -> None:
    """Half of the vectors of either model: the answer is nearly that of a model that has all."""
    texts = [f"{text_of(number)} {text_of(number % 5 + 45)} and the pond" for number in range(1, 41)]
    await say(db, owner, settings, *texts)
    await work(db, models)
    await build(db, "middle")
    await work(db, models)
    await switch_model(db, "middle")
    question = f"{text_of(46)} {text_of(1)}"
    whole = [memory.text for memory in (await ask(db, owner, question, settings, models)).memories[:8]]
    forget(admin, "middle", *texts[::2])
    halves = [memory.text for memory in (await ask(db, owner, question, settings, models)).memories[:8]]
    assert halves[0] == whole[0] == texts[0]
    assert len(set(halves) & set(whole)) >= 7


async def test_a_late_model_costs_only_what_it_would_have_found(
    db: Database, owner: Owner, settings: Settings, place: Place
) -> None:
    admin, models, shelf = place.admin, place.models, place.shelf
    await say(db, owner, settings, text_of(1), text_of(2), text_of(3))
    await work(db, models)
    await build(db, "middle")
    await work(db, models)
    forget(admin, "middle", text_of(1))
    await switch_model(db, "middle", now=True)
    quick = settings.model_copy(update={"query_embedding_ms": 200})
    for late, degraded, found_by in (("middle", ["vector"], "small"), ("small", [], None)):
        shelf[late] = SlowEmbedder(0.6, SIZES[late])
        process_of_its_own = process(settings)
        assert await process_of_its_own.ready(db)
        found = await recall(db, owner, text_of(2), quick, embedder=process_of_its_own, weights=MEANING)
        assert found.degraded == degraded
        assert found.memories[0].text == text_of(2)
        assert found.memories[0].arms["vector"].get("model") == found_by
        process_of_its_own.close()
        shelf[late] = NoisyEmbedder(SIZES[late])


async def test_words_alone_never_ask_the_other_model(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, models: Residents
) -> None:
    await say(db, owner, settings, "a heron", "an otter")
    await work(db, models)
    await build(db, "middle")
    await switch_model(db, "middle", now=True)
    forget(admin, "middle", "a heron", "an otter")
    found = (await ask(db, owner, "herons", settings, models, weights=WORDS_ALONE)).memories
    assert [memory.text for memory in found] == ["a heron"]
    assert "rank" not in found[0].arms.get("vector", {})
