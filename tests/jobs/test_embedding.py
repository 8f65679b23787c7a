"""Messages get their vectors in the background: each once, whatever fails or is killed; words go on meanwhile."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import DatabaseUnavailableError, EmbedderAnswerError, EmbedderError
from memsvc.llm.embedders.registry import ensure_model, list_models
from memsvc.llm.embedders.resident import Embedding
from memsvc.queue import worker as queue_worker
from memsvc.queue.execution import BATCH, run_due
from memsvc.queue.jobs import list_jobs, retry_job
from memsvc.settings import Settings
from memsvc.sources import embedding
from memsvc.sources.embedding import embed_lacking, embed_source, embedding_steps
from memsvc.sources.messages import MessageIn, append
from tests.conftest import remembered
from tests.fakes.embedders import Alone, NotANumber, SlowEmbedder, WordsEmbedder, resident
from tests.jobs.working import due_now, only_job, say, until, vectors_of, work_with
from tests.sql.world import value


@pytest.fixture(autouse=True)
async def _nothing_else_is_due(db: Database) -> None:
    """Jobs of other tests are done, without vectors."""
    await run_due(db)


async def test_due_jobs_of_other_kinds_are_in_nobody_s_way(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    admin.execute(
        "INSERT INTO memsvc.jobs (user_id, kind, subject_id, run_after) "
        "SELECT %s, 'extract', uuidv7(), '2020-01-01' FROM generate_series(1, 2 * %s)",
        [owner.user_id, BATCH],
    )
    await say(db, owner, settings, "a heron")
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(), "words", settings))) == 1
    admin.execute("DELETE FROM memsvc.jobs WHERE user_id = %s AND kind = 'extract'", [owner.user_id])


# The usual way ------------------------------------------------------------------------------------------------------


async def test_messages_get_a_vector_once(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    model = WordsEmbedder()
    steps = embedding_steps(resident(model, "words", settings))
    await say(db, owner, settings, "a heron", "an otter", "a heron")
    assert await run_due(db, steps) == 1
    assert vectors_of(admin, owner) == ["a heron", "a heron", "an otter"]
    assert sorted(model.embedded) == ["Ada: a heron", "Ada: a heron", "Ada: an otter"]
    assert await run_due(db, steps) == 0
    admin.execute("UPDATE memsvc.jobs SET state = 'pending' WHERE user_id = %s", [owner.user_id])
    assert await run_due(db, steps) == 1
    assert len(model.embedded) == 3
    [progress] = [m for m in await list_models(db, owner.user_id) if m.name == "words"]
    assert (progress.embedded, progress.lacking, progress.dimensions) == (3, 0, 8)


@pytest.mark.server
async def test_the_stored_vector_is_the_models_own(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    holder = resident(WordsEmbedder(), "words", settings)
    source_id = await say(db, owner, settings, "a heron in the reeds")
    assert (await embed_source(db, holder, owner.user_id, source_id)).new == 1
    asked = await holder.query_vector("Ada: a heron in the reeds", 1_000)
    near = "SELECT 1 + (vector <#> %s::halfvec) FROM memsvc.embeddings WHERE user_id = %s"
    assert asked is not None
    assert value(admin, near, [asked.vector.to_text(), owner.user_id]) == pytest.approx(0, abs=2e-3)


async def test_a_process_of_the_version_before_stores_the_same(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    """It sends vectors as pgvector's text, while the upgrade is done already."""
    source_id = await say(db, owner, settings, "a heron")
    model_id, _ = await ensure_model(db, "words", 8)
    holder = resident(WordsEmbedder(), "words", settings)
    [made] = await holder.vectors(["Ada: a heron"])
    old = text(
        "SELECT memsvc.store_embeddings("
        ":user_id, CAST(:model_id AS smallint), CAST(:ids AS uuid[]), CAST(:vectors AS text[]), NULL)"
    )
    passage = value(admin, "SELECT passage_id FROM memsvc.passages WHERE user_id = %s", [owner.user_id])
    values = {"user_id": owner.user_id, "model_id": model_id, "ids": [passage], "vectors": [made.vector.to_text()]}
    async with db.transaction(owner.user_id) as connection:
        assert (await connection.execute(old, values)).scalar_one() == 1
    by_text = value(admin, "SELECT vector::text FROM memsvc.embeddings WHERE user_id = %s", [owner.user_id])
    admin.execute("DELETE FROM memsvc.embeddings WHERE user_id = %s", [owner.user_id])
    assert (await embed_source(db, holder, owner.user_id, source_id)).new == 1
    assert value(admin, "SELECT vector::text FROM memsvc.embeddings WHERE user_id = %s", [owner.user_id]) == by_text


async def test_more_than_a_page_is_embedded_newest_first(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PAGE", 7)
    model, told = WordsEmbedder(), list[int]()
    source_id = await say(db, owner, settings, *(f"bird {number}" for number in range(30)))
    await say(db, owner, settings, "not of this talk", conversation="mill")
    holder = resident(model, "words", settings)
    assert await embed_source(db, holder, owner.user_id, source_id, told.append) == (30, False)
    assert told == [7, 7, 7, 7, 2]
    assert set(model.batches[0]) == {f"Ada: bird {number}" for number in range(23, 30)}
    assert len(model.embedded) == 30
    assert await embed_lacking(db, holder, owner.user_id) == 1
    assert "not of this talk" in vectors_of(admin, owner)


async def test_traces_get_none_and_parts_of_long_messages_get_one_each(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    long = " ".join(f"The heron number {number} stands." for number in range(200))
    trace = MessageIn(conversation="pond", text="called a tool", role="tool")
    await append(db, owner, [trace, MessageIn(conversation="pond", text=long)], settings)
    await run_due(db, embedding_steps(resident(WordsEmbedder(), "words", settings)))
    texts = vectors_of(admin, owner)
    assert len(texts) > 2
    assert "called a tool" not in texts


async def test_a_retired_model_gives_no_more_vectors(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await ensure_model(db, "old", 8)
    admin.execute("UPDATE memsvc.embedding_models SET state = 'retired' WHERE name = 'old'")
    await say(db, owner, settings, "a heron")
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(), "old", settings))) == 1
    assert vectors_of(admin, owner, "old") == []


# Beside others ------------------------------------------------------------------------------------------------------


async def test_messages_that_come_meanwhile_are_embedded_by_the_same_job(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    loop, said = asyncio.get_running_loop(), list[str]()

    def interrupt(_texts: Sequence[str]) -> None:
        if len(said) < 3:
            said.append(f"said meanwhile {len(said)}")
            asyncio.run_coroutine_threadsafe(say(db, owner, settings, said[-1]), loop).result()

    await say(db, owner, settings, "a heron")
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(8, interrupt), "words", settings))) == 1
    assert vectors_of(admin, owner) == ["a heron", *said]
    assert (await only_job(db, owner)).state == "done"
    status = "SELECT status FROM memsvc.sources WHERE user_id = %s"
    assert value(admin, status, [owner.user_id]) == "completed"
    assert value(admin, "SELECT count(*) FROM memsvc.outbox WHERE user_id = %s AND kind = 'source.completed'", [
        owner.user_id
    ]) == 1  # fmt: skip


async def test_no_transaction_is_open_while_the_model_works(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    waited_for: list[bool] = []
    count = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'memsvc_app' "
        "AND xact_start IS NOT NULL"
    )

    def none_is_open(_texts: Sequence[str]) -> None:
        """The notifications of what was said are sent a moment later, by another connection; a step's own transaction
        would stay open for as long as this waits."""
        until = time.monotonic() + 5
        while (is_open := value(admin, count) > 0) and time.monotonic() < until:
            time.sleep(0.05)
        waited_for.append(not is_open)

    await say(db, owner, settings, "a heron")
    model = WordsEmbedder(8, none_is_open)
    assert await run_due(db, embedding_steps(resident(model, "words", settings))) == 1
    assert waited_for == [True]


async def test_two_workers_do_not_do_the_same_work(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "a heron")
    await say(db, other, settings, "an otter")
    models = [SlowEmbedder(0.2), SlowEmbedder(0.2)]
    holders = [resident(model, "words", settings) for model in models]
    done = await asyncio.gather(*(run_due(db, embedding_steps(holder)) for holder in holders))
    assert sum(done) == 2
    assert sorted(models[0].embedded + models[1].embedded) == ["Ada: a heron", "Ada: an otter"]
    assert vectors_of(admin, owner) + vectors_of(admin, other) == ["a heron", "an otter"]


async def test_a_lock_is_held_by_one_until_it_ends_or_its_connection_dies(
    db: Database, admin: psycopg.Connection
) -> None:
    holder = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = %s::oid"
    database = value(admin, "SELECT oid FROM pg_database WHERE datname = current_database()")
    async with db.holding("a") as mine, db.holding("a") as theirs, db.holding("b") as another:
        assert (mine, theirs, another) == (True, False, True)
    async with db.holding("a") as mine:
        assert mine
        value(admin, "SELECT pg_terminate_backend(%s)", [value(admin, holder, [database])])
        until = time.monotonic() + 5
        while admin.execute(holder, [database]).fetchone() is not None:
            assert time.monotonic() < until
            await asyncio.sleep(0.01)
        async with db.holding("a") as theirs:
            assert theirs
    assert admin.execute(holder, [database]).fetchone() is None


# What fails ---------------------------------------------------------------------------------------------------------


async def test_a_worker_killed_between_embedding_and_storing_loses_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PAGE", 4)
    texts = [f"bird {number:02}" for number in range(10)]
    source_id = await say(db, owner, settings, *texts)
    holder = resident(WordsEmbedder(), "words", settings)

    class KilledError(Exception):
        """The process ended here."""

    async def killed_at(page: int) -> None:
        calls = 0
        vectors = holder.vectors

        async def embed(batch: Sequence[str]) -> list[Embedding]:
            nonlocal calls
            calls += 1
            made = await vectors(batch)
            if calls == page:  # it was embedded and is never stored
                raise KilledError
            return made

        monkeypatch.setattr(holder, "vectors", embed)
        with pytest.raises(KilledError):
            await embed_source(db, holder, owner.user_id, source_id)
        monkeypatch.setattr(holder, "vectors", vectors)

    await killed_at(1)
    assert vectors_of(admin, owner) == []
    await killed_at(2)
    assert len(vectors_of(admin, owner)) == 4
    assert (await only_job(db, owner)).state == "pending"
    assert await run_due(db, embedding_steps(holder)) == 1
    assert vectors_of(admin, owner) == texts


async def test_a_model_that_fails_delays_its_job_and_nothing_else(
    db: Database, owner: Owner, other: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    down = True

    def refuse_herons(texts: Sequence[str]) -> None:
        if down and any("heron" in text for text in texts):
            raise EmbedderError("The embedding server answers 500.")

    steps = embedding_steps(resident(WordsEmbedder(8, refuse_herons), "words", settings))
    await say(db, owner, settings, "a heron")
    await say(db, other, settings, "an otter")
    assert await run_due(db, steps) == 1
    job = await only_job(db, owner)
    assert (job.state, job.attempts, job.error_code) == ("pending", 1, "embedder")
    assert job.error == "The embedding server answers 500."
    assert 3 < (job.run_after - job.created_at).total_seconds() < 10
    assert (await only_job(db, other)).state == "done"
    assert vectors_of(admin, other) == ["an otter"]
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]
    assert value(admin, "SELECT count(*) FROM memsvc.term_deltas WHERE user_id = %s", [owner.user_id]) == 0  # folded
    down = False
    due_now(admin, owner)
    assert await run_due(db, steps) == 1
    job = await only_job(db, owner)
    assert (job.state, job.error_code, job.error) == ("done", None, None)
    assert vectors_of(admin, owner) == ["a heron"]


async def test_after_four_failures_a_job_waits_for_somebody_to_retry_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    def refuse(_texts: Sequence[str]) -> None:
        raise EmbedderAnswerError

    await say(db, owner, settings, "a heron")
    for attempt in range(1, 5):
        due_now(admin, owner)
        assert await run_due(db, embedding_steps(resident(WordsEmbedder(8, refuse), "words", settings))) == 0
        job = await only_job(db, owner)
        assert (job.attempts, job.state) == (attempt, "failed" if attempt == 4 else "pending")
    await retry_job(db, owner.user_id, job.job_id)
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(), "words", settings))) == 1
    assert vectors_of(admin, owner) == ["a heron"]


async def test_a_model_that_is_down_for_long_delays_a_job_and_never_ends_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    def down(_texts: Sequence[str]) -> None:
        raise EmbedderError

    await say(db, owner, settings, "a heron")
    for attempt in range(1, 9):
        due_now(admin, owner)
        assert await run_due(db, embedding_steps(resident(WordsEmbedder(8, down), "words", settings))) == 0
        job = await only_job(db, owner)
        assert (job.attempts, job.state, job.error_code) == (attempt, "pending", "embedder")
    assert 290 < (job.run_after - datetime.now(UTC)).total_seconds() <= 301
    due_now(admin, owner)
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(), "words", settings))) == 1
    assert vectors_of(admin, owner) == ["a heron"]


async def test_an_outage_uses_up_no_try_of_a_job(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    causes: list[type[EmbedderError]] = []

    def fail(_texts: Sequence[str]) -> None:
        raise causes[-1]

    steps = embedding_steps(resident(WordsEmbedder(8, fail), "words", settings))
    await say(db, owner, settings, "a heron")
    down, wrong = EmbedderError, EmbedderAnswerError
    for cause in (down, down, down, down, down, wrong, wrong, down, wrong, wrong):
        assert (await only_job(db, owner)).state == "pending", causes
        causes.append(cause)
        due_now(admin, owner)
        assert await run_due(db, steps) == 0
    job = await only_job(db, owner)
    assert (job.state, job.attempts, job.error_code) == ("failed", 10, "embedder_answer")
    await retry_job(db, owner.user_id, job.job_id)
    for attempt in range(1, 5):
        due_now(admin, owner)
        assert await run_due(db, steps) == 0
        assert (await only_job(db, owner)).state == ("failed" if attempt == 4 else "pending")


async def test_work_that_joins_a_job_meanwhile_has_all_its_tries(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await say(db, owner, settings, "a heron")
    admin.execute("UPDATE memsvc.jobs SET attempts = 3 WHERE user_id = %s", [owner.user_id])
    calls = 0

    async def join(db: Database, _user: UUID, _source: UUID) -> bool:
        nonlocal calls
        calls += 1
        if calls == 1:
            await say(db, owner, settings, "an otter")
            return False
        raise EmbedderError

    assert await run_due(db, {"process": [join]}) == 0
    job = await only_job(db, owner)
    assert (job.state, job.attempts) == ("pending", 1)


async def test_a_text_that_the_model_refuses_stops_no_other(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    model = NotANumber()
    texts = [f"bird {number:02}" for number in range(40)]
    await say(db, owner, settings, *texts[:20], "a poison", *texts[20:], "poison again")
    assert await run_due(db, embedding_steps(resident(model, "words", settings))) == 0
    assert vectors_of(admin, owner) == texts
    job = await only_job(db, owner)
    assert (job.state, job.error_code) == ("pending", "embedder_answer")
    assert "2 messages" in str(job.error)
    assert "poison" not in str(job.error)


async def test_a_model_that_refuses_everything_is_not_asked_for_every_text(
    db: Database, owner: Owner, settings: Settings
) -> None:
    model = NotANumber("")
    await say(db, owner, settings, *(f"bird {number}" for number in range(200)))
    with pytest.raises(EmbedderAnswerError, match="not numbers"):
        await embed_lacking(db, resident(model, "words", settings), owner.user_id)
    assert len(model.batches) < 60


async def test_a_missing_model_fails_no_job(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    holder = Alone(settings.model_copy(update={"embedding_model": "nothing"}))
    await say(db, owner, settings, "a heron")
    await say(db, owner, settings, "an otter", conversation="mill")
    with capture_logs() as logs:
        assert await run_due(db, embedding_steps(holder)) == 2
    assert [(line["log_level"], line["code"]) for line in logs] == [("warning", "embedder_missing")]
    assert {job.state for job in await list_jobs(db, owner.user_id)} == {"done"}
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]
    assert await embed_lacking(db, resident(WordsEmbedder(), "words", settings), owner.user_id) == 2
    assert vectors_of(admin, owner) == ["a heron", "an otter"]


async def test_no_steps_where_no_model_is_configured() -> None:
    assert embedding_steps(None) == {"process": (), "embed": ()}


async def test_a_model_whose_vectors_changed_their_length_is_refused(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await ensure_model(db, "words-of-change", 8)
    await say(db, owner, settings, "a heron")
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(9), "words-of-change", settings))) == 0
    job = await only_job(db, owner)
    assert job.error_code == "embedder"
    assert "9 dimensions" in str(job.error)


async def test_a_database_that_is_away_ends_the_round_and_fails_no_job(
    db: Database, owner: Owner, settings: Settings
) -> None:
    async def away(_db: Database, _user: UUID, _source: UUID) -> bool:
        raise DatabaseUnavailableError

    await say(db, owner, settings, "a heron")
    with pytest.raises(DatabaseUnavailableError):
        await run_due(db, {"process": [away]})
    job = await only_job(db, owner)
    assert (job.state, job.attempts, job.error) == ("pending", 0, None)


async def test_a_defect_in_a_step_shows_as_internal_and_tells_no_text(
    db: Database, owner: Owner, settings: Settings
) -> None:
    async def defect(_db: Database, _user: UUID, _source: UUID) -> bool:
        raise ValueError("secret words")

    await say(db, owner, settings, "a heron")
    with capture_logs():
        assert await run_due(db, {"process": [defect]}) == 0
    job = await only_job(db, owner)
    assert (job.state, job.error_code, job.error) == ("pending", "job_failed", "ValueError: see the worker's log.")


# The worker ---------------------------------------------------------------------------------------------------------


async def test_a_worker_embeds_what_comes_and_ends_when_told(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    async with work_with(settings, db, resident(WordsEmbedder(), "words", settings)):
        await say(db, owner, settings, "a heron")
        await until(lambda: vectors_of(admin, owner) == ["a heron"])
        began = time.monotonic()
    assert time.monotonic() - began < 4


async def test_a_worker_in_a_long_job_ends_soon_and_leaves_the_job_pending(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_worker, "GRACE_S", 0.1)
    monkeypatch.setattr(embedding, "SLICE_S", math.inf)
    await say(db, owner, settings, *(f"bird {number}" for number in range(500)))
    async with work_with(settings, db, resident(SlowEmbedder(0.5), "words", settings)):
        await until(lambda: vectors_of(admin, owner))
        began = time.monotonic()
    assert time.monotonic() - began < 4
    assert (await only_job(db, owner)).state == "pending"
    assert 0 < len(vectors_of(admin, owner)) < 500
    due_now(admin, owner)
    assert await run_due(db, embedding_steps(resident(WordsEmbedder(), "words", settings))) == 1
    assert len(vectors_of(admin, owner)) == 500
