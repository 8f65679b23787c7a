"""Messages get their token vectors with their vectors; older ones get theirs afterwards; with the setting off, none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from structlog.testing import capture_logs

from jobs.steps import all_steps
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders.registry import build_model, ensure_model, projections, retire_model, switch_model
from memsvc.queue.execution import run_due
from memsvc.queue.schedule import run_now
from memsvc.settings import Settings
from memsvc.sources.embedding import embedding_steps, ready_for_tokens
from tests.fakes.embedders import TokenWords, WordsEmbedder, resident
from tests.jobs.changing import Place, Shelf, process, work
from tests.jobs.working import say, vectors_of
from tests.sql.world import value

pytestmark = pytest.mark.server
HERONS = ("a heron in the reeds", "an otter at the mill", "the of and")
PASSAGES = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s"


def tokens_of(admin: psycopg.Connection, owner: Owner, model: str = "words") -> dict[str, int]:
    """Texts that have token vectors of the model, and how many."""
    found = admin.execute(
        "SELECT p.text, cardinality(t.tokens) FROM memsvc.token_vectors AS t "
        "JOIN memsvc.embedding_models AS m USING (model_id) JOIN memsvc.passages AS p USING (user_id, passage_id) "
        "WHERE t.user_id = %s AND m.name = %s",
        [owner.user_id, model],
    ).fetchall()
    return dict(found)


def late_of(admin: psycopg.Connection, owner: Owner, tokens: str | None) -> dict[str, float]:
    """How near each text is to the tokens of a query."""
    call = (
        "SELECT p.text, l.late FROM memsvc.passages AS p, memsvc.late_scores(p.user_id, "
        "(SELECT model_id FROM memsvc.embedding_models WHERE state = 'active'), %s::bit(128)[], ARRAY[p.passage_id]) "
        "AS l WHERE p.user_id = %s"
    )
    return dict(admin.execute(call, [tokens, owner.user_id]).fetchall())


def off(settings: Settings) -> Settings:
    return settings.model_copy(update={"late_interaction": False})


async def test_one_pass_gives_both_and_queries_are_compared_by_tokens(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, shelf: Shelf
) -> None:
    shelf["small"] = model = TokenWords()
    models = process(settings)
    await say(db, owner, settings, *HERONS)
    assert await work(db, models) == 1
    # The speaker stands before each text, and function words count where there is nothing else.
    assert tokens_of(admin, owner, "small") == {HERONS[0]: 3, HERONS[1]: 3, HERONS[2]: 1}
    assert vectors_of(admin, owner, "small") == sorted(HERONS)
    assert len([text for text in model.embedded if text.startswith("Ada: ")]) == len(HERONS)

    elsewhere = process(settings)  # which has the projection from the database
    await elsewhere.ready(db)
    for holder in (models, elsewhere):
        holder._read_again_at = 0
        [asked, leaving] = await holder.query_vectors(db, "Where is the heron? In reeds!", 5_000)
        assert leaving is None
        assert asked is not None
        late = late_of(admin, owner, asked.tokens)
        assert late[HERONS[0]] > 0.99
        assert max(late[HERONS[1]], late[HERONS[2]]) < 0.5
    elsewhere.close()
    models.close()


async def test_with_the_setting_off_nothing_is_stored_or_asked(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, shelf: Shelf
) -> None:
    shelf["small"] = model = TokenWords()
    models = process(off(settings))
    await say(db, owner, settings, *HERONS)
    assert await work(db, models) == 1
    assert vectors_of(admin, owner, "small") == sorted(HERONS)
    assert tokens_of(admin, owner, "small") == {}
    assert await projections(db, ["small"]) == {}
    [asked, _] = await models.query_vectors(db, "heron", 5_000)
    assert asked is not None
    assert asked.tokens is None
    # Nor where another process has stored some: what lacks tokens alone is not embedded again and again.
    await ready_for_tokens(db, resident(model, "small", settings), 1 + value(
        admin, "SELECT max(model_id) - 1 FROM memsvc.embedding_models"
    ))  # fmt: skip
    before = len(model.embedded)
    await run_now(db, owner.user_id, "tidy")
    assert await run_due(db, all_steps(off(settings), models)) >= 1
    assert len(model.embedded) == before
    assert tokens_of(admin, owner, "small") == {}
    models.close()


async def test_messages_that_are_older_than_token_vectors_get_them_in_the_background(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, *HERONS)
    await run_due(db, embedding_steps(resident(WordsEmbedder(), "words", settings)))
    vectors = (
        "SELECT array_agg(vector::text || created_at ORDER BY passage_id) FROM memsvc.embeddings WHERE user_id = %s"
    )
    before = value(admin, vectors, [owner.user_id])
    holder = resident(TokenWords(), "words", settings)  # the same model, in a version that knows of tokens
    await say(db, other, settings, "a swan")
    # The first message of anybody makes the projection, which asks for a job for all who lack token vectors.
    assert await run_due(db, embedding_steps(holder)) == 2
    assert tokens_of(admin, other) == {"a swan": 2}
    assert tokens_of(admin, owner) == {HERONS[0]: 3, HERONS[1]: 3, HERONS[2]: 1}
    assert value(admin, vectors, [owner.user_id]) == before, "the vectors that there were stay"

    # What was stored while the setting was off is asked for by the nightly upkeep.
    await say(db, owner, settings, "a heron again")
    await run_due(db, embedding_steps(resident(TokenWords(), "words", off(settings))))
    assert len(tokens_of(admin, owner)) == 3
    await run_now(db, owner.user_id, "tidy")
    await run_due(db, all_steps(settings, holder))
    assert tokens_of(admin, owner)["a heron again"] == 3
    await run_now(db, owner.user_id, "tidy")
    assert await run_due(db, all_steps(settings, holder)) == 1, "nothing lacks any more"


async def test_of_several_processes_that_fit_a_projection_the_first_one_counts(
    db: Database, settings: Settings, admin: psycopg.Connection
) -> None:
    holders = [resident(TokenWords(), "words", settings) for _ in range(3)]
    model_id, _ = await ensure_model(db, "words", 8)
    await asyncio.gather(*(ready_for_tokens(db, holder, model_id) for holder in holders))
    stored = (await projections(db, ["words"]))["words"]
    assert len({holder._projection for holder in holders}) == 1
    kept = "SELECT memsvc.keep_projection(%s::smallint, %s)"
    assert bytes(value(admin, kept, [model_id, b"x" * 256])) == stored
    with pytest.raises(psycopg.errors.CheckViolation):
        admin.execute("UPDATE memsvc.embedding_models SET projection = 'x'")


async def test_token_vectors_go_with_their_model_and_come_with_the_next(
    db: Database, owner: Owner, settings: Settings, place: Place
) -> None:
    admin, models, shelf = place.admin, place.models, place.shelf
    shelf["small"], shelf["middle"] = TokenWords(384), TokenWords(1_024)
    await say(db, owner, settings, *HERONS)
    await work(db, models)
    await build_model(db, "middle", 1_024)
    await work(db, models)
    assert tokens_of(admin, owner, "small") == tokens_of(admin, owner, "middle")
    await switch_model(db, "middle")
    models._read_again_at = 0
    active, leaving = await models.query_vectors(db, "heron", 5_000)
    assert active is not None
    assert leaving is not None
    assert active.tokens is not None
    assert leaving.tokens is not None
    assert await retire_model(db, "small") == len(HERONS)
    assert tokens_of(admin, owner, "small") == {}
    assert len(tokens_of(admin, owner, "middle")) == len(HERONS)
    await build_model(db, "small", 384)
    assert list(await projections(db, ["small", "middle"])) == ["middle"], "the next life of a model has its own"
    await work(db, models)
    assert len(tokens_of(admin, owner, "small")) == len(HERONS)


async def test_a_model_whose_tokens_cannot_be_used_gives_its_vectors(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    class Broken(TokenWords):
        tried = 0

        def embed_with_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
            self.tried += len(texts)
            raise AttributeError

    model = Broken()
    steps = embedding_steps(resident(model, "words", settings))
    with capture_logs() as logs:
        for text in HERONS:
            await say(db, owner, settings, text)
            assert await run_due(db, steps) == 1
    assert [line["event"] for line in logs] == ["messages get no token vectors"]
    assert vectors_of(admin, owner) == sorted(HERONS)
    assert tokens_of(admin, owner) == {}
    assert model.tried < 200, "it is tried once"
