"""Embedding models are paused, fail, are retired and refused, and nothing else suffers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg
import pytest
from psycopg import sql
from structlog.testing import capture_logs

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import DatabaseUnavailableError, EmbedderError, ModelStateError, NotFoundError
from memsvc.llm.embedders import residents as residents_module
from memsvc.llm.embedders.registry import (
    build_model,
    ensure_model,
    known_models,
    pause_model,
    retire_model,
    switch_model,
)
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.jobs import list_jobs
from memsvc.settings import Settings
from memsvc.sources.embedding import embed_lacking
from tests.fakes.embedders import WordsEmbedder
from tests.jobs.changing import (
    Place,
    Shelf,
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
from tests.sql.world import value

# Pause, failure -----------------------------------------------------------------------------------------------------


async def test_a_paused_model_gets_no_vectors_until_it_goes_on(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    assert await pause_model(db, "middle", paused=True) == 0
    await say(db, owner, settings, text_of(2))
    await work(db, models)
    assert await states(db) == {"small": "active", "middle": "paused"}
    assert await progress(db) == {"small": (2, 0), "middle": (0, 2)}
    assert (await build_model(db, "middle", 1_024)).jobs == 0, "building it again does not end the pause"
    assert await pause_model(db, "middle", paused=False) == 1
    await work(db, models)
    assert await progress(db) == {"small": (2, 0), "middle": (2, 0)}
    await pause_model(db, "middle", paused=True)
    await switch_model(db, "middle")
    assert await states(db) == {"small": "leaving", "middle": "active"}


async def test_a_pause_stops_long_work_at_its_next_step(
    db: Database, owner: Owner, settings: Settings, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    models, shelf = place.models, place.shelf
    monkeypatch.setattr("memsvc.sources.embedding.SLICE_S", 0.0)
    monkeypatch.setattr("memsvc.sources.embedding.PAGE", 5)
    loop = asyncio.get_running_loop()
    await say(db, owner, settings, *(text_of(number) for number in range(1, 31)))
    await embed_lacking(db, models, owner.user_id)

    def interrupt(_texts: Sequence[str]) -> None:
        asyncio.run_coroutine_threadsafe(pause_model(db, "middle", paused=True), loop).result()

    shelf["middle"] = WordsEmbedder(1_024, interrupt)
    await build(db, "middle")
    await work(db, models)
    assert await progress(db) == {"small": (30, 0), "middle": (5, 25)}


@pytest.mark.parametrize("troubled", ["building", "leaving"])
async def test_a_model_beside_the_active_one_that_fails_delays_no_conversation(
    troubled: str, db: Database, owner: Owner, settings: Settings, place: Place
) -> None:
    admin, models, shelf = place.admin, place.models, place.shelf
    down = True

    def fail(_texts: Sequence[str]) -> None:
        if down:
            raise EmbedderError("The embedding server answers 500.")

    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    if troubled == "leaving":
        await work(db, models)
        await switch_model(db, "middle")
    name = "middle" if troubled == "building" else "small"
    failing = shelf[name]
    assert isinstance(failing, WordsEmbedder)
    failing.before = fail
    await say(db, owner, settings, text_of(2))
    with capture_logs():
        await work(db, models)
    jobs = {job.kind: job for job in await list_jobs(db, owner.user_id, state="pending")}
    assert set(jobs) == {"embed"}, "the conversation is done; what lacks has a job of its own"
    assert jobs["embed"].error_code == "embedder" or jobs["embed"].attempts == 0
    assert value(admin, "SELECT status FROM memsvc.sources WHERE user_id = %s", [owner.user_id]) == "completed"
    assert (await progress(db))["small" if name == "middle" else "middle"] == (2, 0)
    down = False
    admin.execute("UPDATE memsvc.jobs SET run_after = now() WHERE state = 'pending'")
    await work(db, models)
    assert await progress(db) == {"small": (2, 0), "middle": (2, 0)}
    assert await list_jobs(db, owner.user_id, state="pending") == []


async def test_a_missing_active_model_keeps_no_other_from_its_vectors(
    db: Database, owner: Owner, settings: Settings, models: Residents, shelf: Shelf
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    del shelf["small"]
    elsewhere = process(settings)
    await say(db, owner, settings, text_of(2))
    with capture_logs():
        await work(db, elsewhere)
    assert await progress(db) == {"small": (1, 1), "middle": (2, 0)}
    assert await list_jobs(db, owner.user_id, state="pending") == []
    # Nothing that the broken model found would be lost, so there is nothing to wait for.
    await switch_model(db, "middle")
    assert await best(db, owner, text_of(2), settings, elsewhere) == (text_of(2), "")
    elsewhere.close()


async def test_a_built_model_that_a_worker_does_not_have_fails_the_job(
    db: Database, owner: Owner, settings: Settings, models: Residents, shelf: Shelf
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    del shelf["middle"]
    with capture_logs():
        await work(db, models)
    [job] = await list_jobs(db, owner.user_id, state="pending")
    assert (job.kind, job.error_code) == ("embed", "embedder_missing")


# Retiring -----------------------------------------------------------------------------------------------------------


async def test_retiring_goes_on_where_it_was_killed(
    db: Database, owner: Owner, other: Owner, settings: Settings, place: Place
) -> None:
    admin, models = place.admin, place.models
    await say(db, owner, settings, *(text_of(number) for number in range(1, 8)))
    await say(db, other, settings, *(text_of(number) for number in range(1, 4)))
    await work(db, models)
    await build(db, "middle")
    await work(db, models)

    class KilledError(Exception):
        """The process ended here."""

    def kill(_dropped: int) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        await retire_model(db, "middle", kill, page=4)
    assert (await states(db))["middle"] == "retired"
    assert not index_of(admin, "middle")
    assert (await progress(db))["middle"] == (6, 4)
    with pytest.raises(ModelStateError, match="Old vectors"):
        await build(db, "middle")
    assert await best(db, owner, text_of(5), settings, models) == (text_of(5), "")
    told = list[int]()
    assert await retire_model(db, "middle", told.append, page=4) == sum(told) == 6
    assert await retire_model(db, "middle") == 0
    assert await progress(db) == {"small": (10, 0), "middle": (0, 10)}

    built = await build_model(db, "middle", 2_000)
    assert (built.state, built.jobs) == ("building", 2), "it may come back, also with another length"
    dimensions = {model.name: model.dimensions for model in await known_models(db)}
    assert dimensions == {"small": 384, "middle": 2_000}
    assert index_of(admin, "middle")


async def test_a_model_comes_back_while_somebody_still_sees_its_old_vectors(
    db: Database, owner: Owner, settings: Settings, place: Place
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, place.models)
    await build(db, "middle")
    await work(db, place.models)
    with psycopg.connect(place.cluster_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM memsvc.users")  # its snapshot keeps rows that are deleted from now on
        assert await retire_model(db, "middle") == 1
        assert (await build_model(db, "middle", 2_000)).state == "building"
    assert index_of(place.admin, "middle")


async def test_a_model_that_was_retired_meanwhile_gets_no_vectors(
    db: Database, owner: Owner, settings: Settings, models: Residents, shelf: Shelf
) -> None:
    loop = asyncio.get_running_loop()
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")

    def interrupt(_texts: Sequence[str]) -> None:
        asyncio.run_coroutine_threadsafe(retire_model(db, "middle"), loop).result()

    shelf["middle"] = WordsEmbedder(1_024, interrupt)
    await work(db, models)
    assert await progress(db) == {"small": (1, 0), "middle": (0, 1)}
    assert await list_jobs(db, owner.user_id, state="pending") == []


async def test_retiring_waits_for_who_reads_and_lets_others_through(
    db: Database, owner: Owner, settings: Settings, place: Place
) -> None:
    admin, models, cluster_url = place.admin, place.models, place.cluster_url
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    await work(db, models)
    with psycopg.connect(cluster_url) as reader:
        reader.execute("SELECT count(*) FROM memsvc.embeddings")
        retiring = asyncio.create_task(retire_model(db, "middle"))
        await asyncio.sleep(1)
        assert not retiring.done()
        assert index_of(admin, "middle")
        assert await best(db, owner, text_of(1), settings, models) == (text_of(1), "")
        await say(db, owner, settings, text_of(2))
    assert await retiring == 1
    assert not index_of(admin, "middle")


# What is refused ----------------------------------------------------------------------------------------------------


async def test_changes_that_make_no_sense_are_refused_and_change_nothing(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    with pytest.raises(ModelStateError, match="nothing to go back to"):
        await switch_model(db, None, now=True)
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    with pytest.raises(ModelStateError, match="not one of this database's"):
        await ensure_model(db, "middle", 1_024)
    await build(db, "middle")
    before = await states(db)
    for change, says in (
        (switch_model(db, "small"), "small is active"),
        (pause_model(db, "small", paused=True), "only one that is being built"),
        (retire_model(db, "small"), "is the active one"),
        (build_model(db, "large", 3_072), "middle is being built already"),
        (switch_model(db, None), "nothing to go back to"),
        (switch_model(db, "middle"), "1 messages still lack"),
    ):
        with pytest.raises(ModelStateError, match=says) as caught:
            await change
        assert caught.value.advice
    for unknown in (switch_model(db, "x"), pause_model(db, "x", paused=True), retire_model(db, "x")):
        with pytest.raises(NotFoundError, match="no embedding model 'x'"):
            await unknown
    with pytest.raises(EmbedderError, match="7 dimensions"):
        await build_model(db, "middle", 7)
    assert await states(db) == before
    await retire_model(db, "middle")
    with pytest.raises(ModelStateError, match="middle is retired"):
        await switch_model(db, "middle")


async def test_two_first_models_at_once_are_one(db: Database) -> None:
    tries = await asyncio.gather(
        *(ensure_model(db, name, 8) for name in ("one", "two", "one", "two")), return_exceptions=True
    )
    assert sum(isinstance(found, ModelStateError) for found in tries) == 2
    assert list((await states(db)).values()) == ["active"]


async def test_two_switches_at_once_leave_one_active_model(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    changes = [switch_model(db, "middle", now=True), switch_model(db, None, now=True), retire_model(db, "middle")]
    await asyncio.gather(*changes, return_exceptions=True)
    assert list((await states(db)).values()).count("active") == 1


async def test_a_database_without_a_model_builds_its_first_one_at_once(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await say(db, owner, settings, text_of(1))
    built = await build_model(db, "middle", 1_024)
    assert (built.state, built.jobs) == ("active", 1)


async def test_building_the_active_model_again_gives_what_lacks(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, models: Residents
) -> None:
    await say(db, owner, settings, text_of(1), text_of(2))
    await work(db, models)
    forget(admin, "small", text_of(1))
    built = await build_model(db, "small", 384)
    assert (built.state, built.jobs) == ("active", 1)
    await work(db, models)
    assert await progress(db) == {"small": (2, 0)}


async def test_changes_are_written_down(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    before = value(admin, "SELECT count(*) FROM memsvc.audit_log WHERE action LIKE 'model.%'")
    await ensure_model(db, "small", 384)
    await build(db, "middle")
    await switch_model(db, "middle")
    await retire_model(db, "small")
    noted = admin.execute(
        "SELECT action, subject FROM memsvc.audit_log WHERE action LIKE 'model.%%' ORDER BY audit_id OFFSET %s",
        [before],
    )
    assert noted.fetchall() == [
        ("model.first", "small"), ("model.build", "middle"), ("model.switch", "middle"), ("model.retire", "small"),
    ]  # fmt: skip


# The models of a process --------------------------------------------------------------------------------------------


async def test_models_are_loaded_when_needed_and_closed_when_not(
    db: Database, owner: Owner, settings: Settings, models: Residents
) -> None:
    await say(db, owner, settings, text_of(1))
    await work(db, models)
    await build(db, "middle")
    assert set(models._holders) == {"small"}
    await work(db, models)
    holder = models._holders["middle"]
    await pause_model(db, "middle", paused=True)
    await models.for_passages(db)
    assert set(models._holders) == {"small"}
    assert holder.closed
    with pytest.raises(EmbedderError, match="not in use"):
        await holder.vectors(["x"])


async def test_a_setting_that_is_not_the_active_model_is_told_once(
    db: Database, settings: Settings, shelf: Shelf
) -> None:
    assert shelf
    await ensure_model(db, "middle", 1_024)
    for chosen, times in ((settings.model_copy(update={"embedding_model": "small"}), 1), (settings, 0)):
        holder = Residents(chosen)
        with capture_logs() as logs:
            for _ in range(3):
                assert [found.resident.model_name for found in await holder.for_passages(db)] == ["middle"]
        assert len(logs) == times, "the default is no wish"
        assert all("memsvc models build small" in line["hint"] for line in logs)
        holder.close()


async def test_a_database_that_is_away_for_a_moment_changes_no_model(
    db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch, models: Residents
) -> None:
    async def away(_db: Database) -> None:
        raise DatabaseUnavailableError

    with monkeypatch.context() as patch:
        patch.setattr(residents_module, "known_models", away)
        with pytest.raises(DatabaseUnavailableError):
            await models.query_vectors(db, "heron", 1_000)
        assert not await models.ready(db)
    await ensure_model(db, "middle", 1_024)
    active, leaving = await models.query_vectors(db, "heron", 1_000)
    assert active is not None
    assert (active.model, leaving) == ("middle", None)
    models._read_again_at = 0
    with monkeypatch.context() as patch:
        patch.setattr(residents_module, "known_models", away)
        assert await models.query_vectors(db, "heron", 1_000) == (active, None)


# Rules of the table -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([("a", "active"), ("b", "active")], "one_each"),
        ([("a", "building"), ("b", "building")], "one_each"),
        ([("a", "leaving"), ("b", "leaving")], "one_each"),
        ([("a", "gone")], "state_check"),
    ],
)
def test_the_table_keeps_one_model_a_state(rows: list[tuple[str, str]], rule: str, admin: psycopg.Connection) -> None:
    insert = "INSERT INTO memsvc.embedding_models (name, dimensions, state) VALUES (%s, 3, %s)"
    refused = (psycopg.errors.UniqueViolation, psycopg.errors.CheckViolation)
    with pytest.raises(refused, match=rule), admin.transaction(), admin.cursor() as cursor:
        cursor.executemany(insert, rows)
    many = sql.SQL(
        "INSERT INTO memsvc.embedding_models (name, dimensions, state) VALUES ('x', 3, 'retired'), ('y', 3, 'retired')"
    )
    assert admin.execute(many).rowcount == 2
