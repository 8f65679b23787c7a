"""A database of its own for jobs: embedding models belong to a whole database, and each test here begins with none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr

from memsvc.access.users import app_id
from memsvc.db.engine import Database, role_url
from memsvc.errors import EmbedderMissingError
from memsvc.extract import registry
from memsvc.llm.embedders import Embedder
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.residents import Residents
from tests.fakes.embedders import NoisyEmbedder
from tests.fakes.extractors import SayingExtractor
from tests.jobs.changing import SIZES, Place, Shelf, process
from tests.jobs.reading import Desk

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.settings import Settings
    from tests.cluster import Cluster

WITH_WHAT_REFERS_TO_THEM = """
WITH RECURSIVE found AS (
  SELECT unnest('{memsvc.passages, memsvc.jobs, memsvc.dramatiq_queue}'::regclass[]) AS oid
  UNION SELECT k.conrelid FROM pg_constraint AS k JOIN found ON k.confrelid = found.oid WHERE k.contype = 'f')
SELECT relname FROM found JOIN pg_class USING (oid) WHERE NOT relispartition
"""


@pytest.fixture(scope="session")
def database_name(cluster: Cluster, template: str, worker_id: str) -> str:
    """This worker's database for jobs."""
    name = f"memsvc_test_jobs_{worker_id}"
    cluster.clone(name, template)
    return name


@pytest.fixture(scope="session")
def settings(settings: Settings, cluster: Cluster, database_name: str) -> Settings:
    """The run's settings, on that database."""
    return settings.model_copy(update={"database_url": SecretStr(cluster.admin_url(database_name))})


@pytest.fixture(scope="session")
async def db(cluster: Cluster, database_name: str, settings: Settings) -> AsyncIterator[Database]:
    """The same as the application sees it."""
    url = role_url(cluster.admin_url(database_name), "memsvc_app", settings.secret("app_password"))
    database = Database(url, settings)
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def app(db: Database) -> UUID:
    """An app for its users."""
    return await app_id(db, "tests of jobs")


@pytest.fixture
def admin(cluster: Cluster, database_name: str) -> Iterator[psycopg.Connection]:
    """Its administrator, outside a transaction: sees everything."""
    with psycopg.connect(cluster.admin_url(database_name), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def cleared(cluster: Cluster, database_name: str) -> sql.Composed:
    """Empties passages, jobs and messages, and what refers to them; TRUNCATE takes fifty times as long for little."""
    with psycopg.connect(cluster.admin_url(database_name)) as connection:
        tables = connection.execute(WITH_WHAT_REFERS_TO_THEM).fetchall()
    return sql.SQL(";").join(sql.SQL("DELETE FROM {}").format(sql.Identifier("memsvc", name)) for (name,) in tables)


@pytest.fixture(autouse=True)
def _nothing_is_there(admin: psycopg.Connection, cleared: sql.Composed) -> None:
    """No messages, jobs, vectors and models of other tests."""
    with admin.transaction():
        admin.execute("SET LOCAL session_replication_role = replica")  # like TRUNCATE: no trigger, no order of tables
        admin.execute(cleared)
    for (model_id,) in admin.execute("DELETE FROM memsvc.embedding_models RETURNING model_id").fetchall():
        name = sql.Identifier("memsvc", f"embeddings_near_{model_id}")
        admin.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(name))


@pytest.fixture(scope="session")
def minilm() -> OnnxMiniLM:
    """The default model, loaded once: it has no state but its weights."""
    return OnnxMiniLM()


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Models that can be loaded, by name."""
    models: Shelf = {name: NoisyEmbedder(size) for name, size in SIZES.items()}

    def load(name: str, _settings: Settings) -> Embedder:
        if name not in models:
            raise EmbedderMissingError(f"There is no embedding model {name!r}.")
        return models[name]

    monkeypatch.setattr("memsvc.llm.embedders.resident.load", load)
    return models


@pytest.fixture
def models(settings: Settings, shelf: Shelf) -> Iterator[Residents]:
    """This process's models."""
    assert shelf
    made = process(settings)
    yield made
    made.close()


@pytest.fixture
def place(admin: psycopg.Connection, models: Residents, shelf: Shelf) -> Place:
    return Place(admin, models, shelf, f"{admin.info.dsn} password={admin.info.password}")


@pytest.fixture
def desk(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> Desk:
    """A user, and two extractors that workers can load."""
    made = {"saying": SayingExtractor(), "better": SayingExtractor("saying/2")}
    monkeypatch.setattr(registry, "load", lambda name, _settings: made[name])
    return Desk(db, owner, settings, admin, made["saying"], made["better"])
