"""An embedding model that lacks, lies or fails costs its own jobs and no others."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from structlog.testing import capture_logs

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders import remote
from memsvc.settings import Settings
from tests.conftest import remembered
from tests.fakes.embedders import Alone, NotANumber, WordsEmbedder, resident
from tests.fakes.embedding_server import EmbeddingServer, Mode
from tests.jobs.working import due_now, job_of, only_job, say, until, vectors_of, waiting, work_with
from tests.sql.world import value

# The model ----------------------------------------------------------------------------------------------------------


async def test_a_model_that_is_not_installed_is_told_once_and_stops_nothing(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await say(db, owner, settings, "a heron")
    holder = Alone(settings.model_copy(update={"embedding_model": "nowhere:nothing"}))
    async with work_with(settings, db, holder):
        with capture_logs() as logs:
            await job_of(db, owner)
    warned = [(line["log_level"], line.get("code")) for line in logs if "vectors" in line["event"]]
    assert warned == [("warning", "embedder_missing")]
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]


class WrongSize(WordsEmbedder):
    """Gives vectors of another length than it says."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One dimension too many."""
        return np.hstack([super().embed(texts), np.zeros((len(texts), 1), np.float32)])


@pytest.mark.parametrize("model", [NotANumber(""), WrongSize()], ids=["NaN", "another size"])
@pytest.mark.usefixtures("quick")
async def test_a_model_that_answers_nonsense_fails_the_job_and_says_so(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, model: WordsEmbedder
) -> None:
    await say(db, owner, settings, "a heron")
    async with work_with(settings, db, resident(model, "words", settings)):
        for attempt in range(1, 5):
            await until(lambda: value(admin, "SELECT max(attempts) FROM memsvc.jobs WHERE user_id = %s", [
                owner.user_id
            ]) == attempt)  # noqa: B023  # fmt: skip
            if attempt < 4:
                due_now(admin, owner)
        job = await job_of(db, owner, "failed")
    assert job.error_code == "embedder_answer"
    assert "model gave" in str(job.error)
    assert "heron" not in str(job.error)
    assert waiting(admin, owner) == []
    assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]


CODES: dict[Mode, str] = {
    "slow": "embedder", "429": "embedder", "500": "embedder", "401": "embedder", "garbage": "embedder",
    "dies": "embedder", "wrong count": "embedder_answer", "NaN": "embedder_answer", "shape": "embedder_answer",
}  # fmt: skip


@pytest.mark.parametrize("mode", CODES)
@pytest.mark.usefixtures("quick")
async def test_an_embedding_server_that_fails_delays_only_what_it_was_asked_for(
    *,
    db: Database,
    owner: Owner,
    other: Owner,
    settings: Settings,
    admin: psycopg.Connection,
    server: EmbeddingServer,
    mode: Mode,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "time", SimpleNamespace(sleep=lambda _seconds: None))
    update = {"embedding_model": f"openai:{mode}", "embedding_url": server.url, "embedding_timeout_s": 0.5}
    chosen = settings.model_copy(update=update)
    await say(db, owner, settings, "a heron")
    server.modes = ["ok", *([mode] * (1 if mode in {"slow", "401", "wrong count", "NaN", "shape"} else 3))]
    async with work_with(settings, db, Alone(chosen)):
        await until(lambda: value(admin, "SELECT attempts FROM memsvc.jobs WHERE user_id = %s", [owner.user_id]) == 1)
        job = await only_job(db, owner)
        assert (job.state, job.error_code) == ("pending", CODES[mode])
        assert "server" in str(job.error) or "model gave" in str(job.error)
        assert 3 < (job.run_after - job.created_at).total_seconds() < 12
        assert [memory.text for memory in await remembered(db, owner, "heron", settings)] == ["a heron"]
        await say(db, other, settings, "an otter")
        await job_of(db, other)
        assert vectors_of(admin, other, f"openai:{mode}") == ["an otter"]
        due_now(admin, owner)
        job = await job_of(db, owner)
    assert (job.error_code, job.error) == (None, None)
    assert vectors_of(admin, owner, f"openai:{mode}") == ["a heron"]
