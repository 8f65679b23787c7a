"""What tests about embedding models share: three models, texts of their own, and short ways to do and see things."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders import Embedder
from memsvc.llm.embedders.registry import build_model, known_models, list_models
from memsvc.llm.embedders.residents import Residents, residents
from memsvc.queue.execution import run_due
from memsvc.recall.options import NOTHING, Weights
from memsvc.recall.results import Recalled
from memsvc.recall.search import recall
from memsvc.settings import Settings
from memsvc.sources.embedding import embedding_steps
from memsvc.sources.messages import MessageIn, append
from tests.sql.world import value

SIZES = {"small": 384, "middle": 1_024, "large": 3_072}
Shelf = dict[str, Embedder]

MEANING = {**NOTHING, "vector": 1.0}
"""By vectors alone."""


def process(settings: Settings) -> Residents:
    """The models as a process has them that knows the name of the first one."""
    found = residents(settings.model_copy(update={"embedding_model": "small", "query_embedding_ms": 5_000}))
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """For tests that need all of it."""

    admin: psycopg.Connection
    models: Residents
    shelf: Shelf
    cluster_url: str
    """The administrator's way into the database."""


def text_of(number: int) -> str:
    """A text of three words that no other text has; no two words share a dimension, whatever the model's size."""
    return " ".join(letter * (number + tens) for letter, tens in (("b", 0), ("c", 60), ("d", 120)))


async def say(db: Database, owner: Owner, settings: Settings, *texts: str, conversation: str = "pond") -> None:
    await append(db, owner, [MessageIn(conversation=conversation, text=text) for text in texts], settings)


async def work(db: Database, models: Residents) -> int:
    """Do what is due, again and again where jobs gave way to others."""
    return await run_due(db, embedding_steps(models))


async def build(db: Database, name: str) -> None:
    await build_model(db, name, SIZES[name])


async def states(db: Database) -> dict[str, str]:
    return {model.name: "paused" if model.paused else model.state for model in await known_models(db)}


async def progress(db: Database) -> dict[str, tuple[int, int]]:
    """Embedded and lacking of each model, over all users."""
    return {model.name: (model.embedded, model.lacking) for model in await list_models(db)}


async def ask(
    db: Database, owner: Owner, question: str, settings: Settings, models: Residents, *, weights: Weights = MEANING
) -> Recalled:
    """Recall by vectors alone, where nothing else is said, as a process that has just read the models."""
    models._read_again_at = 0
    chosen = settings.model_copy(update={"query_embedding_ms": 5_000})
    return await recall(db, owner, question, chosen, embedder=models, weights=weights)


async def best(db: Database, owner: Owner, question: str, settings: Settings, models: Residents) -> tuple[str, str]:
    """The best memory by vectors, and the model that found it where it is not the active one."""
    found = (await ask(db, owner, question, settings, models)).memories[0]
    return found.text, found.arms["vector"].get("model", "")


def forget(admin: psycopg.Connection, model: str, *texts: str) -> None:
    """Take a model's vectors from some messages."""
    admin.execute(
        "DELETE FROM memsvc.embeddings WHERE model_id = (SELECT model_id FROM memsvc.embedding_models WHERE name = %s) "
        "AND passage_id IN (SELECT passage_id FROM memsvc.passages WHERE text = ANY (%s))",
        [model, list(texts)],
    )


def index_of(admin: psycopg.Connection, model: str) -> bool:
    """Whether a model has its index."""
    return bool(
        value(
            admin,
            "SELECT to_regclass('memsvc.embeddings_near_' || model_id) IS NOT NULL FROM memsvc.embedding_models "
            "WHERE name = %s",
            [model],
        )
    )
