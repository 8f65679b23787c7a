"""Vectors for what is stored: a step of the background job that brings a source up to now.

Reads ``memsvc.unembedded``, asks the resident model, writes ``memsvc.store_embeddings``. No transaction is open while
the model works, and each page is stored by itself, so that it may be killed anywhere and run again: what is there
stays, what lacks is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.errors import EmbedderAnswerError, EmbedderMissingError
from memsvc.llm.embedders.registry import ensure_model
from memsvc.llm.embedders.resident import ResidentEmbedder
from memsvc.observe import EMBEDDED
from memsvc.queue.run import Step

PAGE = 256
MOST_REFUSED = 8
"""Texts of a page that a model may refuse before it counts as broken."""
UNEMBEDDED = text("SELECT * FROM memsvc.unembedded(:user_id, CAST(:model_id AS smallint), :source_id, :before, :limit)")
STORE = text(
    "SELECT memsvc.store_embeddings("
    ":user_id, CAST(:model_id AS smallint), CAST(:ids AS uuid[]), CAST(:vectors AS text[]))"
)
Passage = tuple[UUID, str]
Progress = Callable[[int], None]


def embedding_steps(resident: ResidentEmbedder | None, progress: Progress = lambda _stored: None) -> list[Step]:
    """The job runner's steps that give a source its vectors; none where no model is configured.

    A model that is not installed fails no job: everything goes on by words, and 'memsvc doctor' says what that costs.
    """
    if resident is None:
        return []

    async def embed(db: Database, user_id: UUID, source_id: UUID) -> None:
        try:
            await embed_source(db, resident, user_id, source_id, progress)
        except EmbedderMissingError as error:
            resident.warn("messages get no vectors", error)

    return [embed]


async def embed_source(
    db: Database,
    resident: ResidentEmbedder,
    user_id: UUID,
    source_id: UUID | None,
    progress: Progress = lambda _stored: None,
) -> int:
    """Give each message of a source that lacks the model's vector one, newest first.

    Args:
        db: the database.
        resident: the model.
        user_id: whose messages.
        source_id: the conversation; None: all of the user's.
        progress: called with the number of vectors that were stored.

    Returns:
        How many vectors were new.

    Raises:
        EmbedderMissingError, EmbedderError, ConfigurationError: the model cannot be asked; what was stored stays.
        EmbedderAnswerError: it refuses some texts; the others have their vectors.
    """
    model = await resident.load()
    model_id, state = await ensure_model(db, resident.model_name, model.dimensions)
    if state == "retired":
        return 0
    scope = {"user_id": user_id, "model_id": model_id}
    new = refused = 0

    async def store(page: Sequence[Passage], vectors: Sequence[str | None]) -> int:
        """Store a page's vectors; those that the model refused are None."""
        kept = [(found[0], vector) for found, vector in zip(page, vectors, strict=True) if vector is not None]
        if not kept:
            return 0
        async with db.transaction(user_id) as connection:
            columns = {"ids": [found for found, _ in kept], "vectors": [vector for _, vector in kept]}
            count: int = (await connection.execute(STORE, {**scope, **columns})).scalar_one()
        EMBEDDED.inc(count)
        progress(count)
        return count

    page: list[Passage] = []
    vectors: list[str | None] = []
    before: UUID | None = None
    while True:
        async with db.transaction(user_id) as connection:
            values = {**scope, "source_id": source_id, "before": before, "limit": PAGE}
            found: list[Passage] = [(row[0], row[1]) for row in await connection.execute(UNEMBEDDED, values)]
        # The page before is stored while the model works on this one: inserting into the index takes a while as well.
        outcome = await asyncio.gather(
            _vectors(resident, [searched for _, searched in found]), store(page, vectors), return_exceptions=True
        )
        made, stored = outcome
        for failure in (stored, made):
            if isinstance(failure, BaseException):
                raise failure
        assert isinstance(made, list)  # noqa: S101 - for the type checker; exceptions were raised above
        assert isinstance(stored, int)  # noqa: S101
        new += stored
        refused += made.count(None)
        if not found:
            break
        page, vectors, before = found, made, found[-1][0]
    if refused:
        raise EmbedderAnswerError(f"The embedding model has no vectors for {refused} messages; the others have theirs.")
    return new


async def embed_lacking(
    db: Database, resident: ResidentEmbedder, user_id: UUID, progress: Progress = lambda _stored: None
) -> int:
    """Give all messages of a user that lack the model's vector one; otherwise as ``embed_source``."""
    return await embed_source(db, resident, user_id, None, progress)


async def _vectors(resident: ResidentEmbedder, texts: Sequence[str]) -> list[str | None]:
    """Vectors of a page; None for a text that the model refuses, found by halving, so that it stops no other.

    Raises:
        EmbedderAnswerError: it refuses more than a few; it is broken.
    """
    found: list[str | None] = [None] * len(texts)
    refused = 0
    todo = [range(len(texts))] if texts else []
    while todo:
        part = todo.pop()
        try:
            found[part.start : part.stop] = await resident.vectors([texts[index] for index in part])
        except EmbedderAnswerError:
            middle = part.start + len(part) // 2
            if len(part) > 1:
                todo += [range(middle, part.stop), range(part.start, middle)]
                continue
            refused += 1
            if refused > MOST_REFUSED or len(texts) == 1:
                raise
    return found
