"""Compute vectors for stored messages: a step of the background jobs, for each model in use.

It reads messages with ``memsvc.unembedded``, asks a resident model, and writes with ``memsvc.store_embeddings``. No
transaction is open while the model works, and each group is stored separately. So a job may be killed at any point and
run again: stored vectors are kept, and missing ones are computed.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc import traces
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.db.vectors import Vectors
from memsvc.errors import (
    ConfigurationError,
    EmbedderAnswerError,
    EmbedderError,
    EmbedderMissingError,
    MemsvcError,
    ModelStateError,
)
from memsvc.llm.embedders.registry import State, ensure_model, keep_projection, projections
from memsvc.llm.embedders.resident import Embedding, ResidentEmbedder
from memsvc.llm.embedders.residents import InUse
from memsvc.observe import EMBEDDED
from memsvc.queue.execution import SLICE_S, WORDS_ALONE, Steps

PAGE = 512
"""Messages that one statement reads."""
GROUP = 64
"""Messages that the model gets together; their vectors are stored while it works on the next group."""
MOST_REFUSED = 8
"""Texts of a group that a model may refuse before it counts as broken."""
UNEMBEDDED = named("unembedded")
STORE = named("store_embeddings")
Passage = tuple[UUID, str]
First = TypeVar("First")
Second = TypeVar("Second")
Progress = Callable[[int], None]


class Embedded(NamedTuple):
    """The result of embedding a source."""

    new: int
    """Messages whose vectors were stored."""
    more: bool
    """Whether messages are left because the time was up."""


class ModelsInUse(Protocol):
    """The part of the models in use that the steps need."""

    async def for_passages(self, db: Database) -> Sequence[InUse]:
        """Return the models that embed passages, most important first."""


def embedding_steps(models: ModelsInUse | None, progress: Progress = lambda _stored: None) -> Steps:
    """Return the steps of jobs that embed a source, or all messages of a user, with every model in use.

    If no model is configured, the steps do nothing. A model that is not installed does not fail a job: recall works by
    words, and 'memsvc doctor' says what that costs. A model that is being built does fail it, because it was installed
    when the build started.
    """
    if models is None:
        return WORDS_ALONE

    async def embed_one(db: Database, user_id: UUID, source_id: UUID) -> bool:
        done = await _embed_by_all(db, models, user_id, source_id, progress, seconds=SLICE_S)
        failures = _failures_to_report(done.failures)
        if failures:
            state, failure = failures[0]
            if state == "active":
                raise failure
            async with db.transaction(user_id) as connection:  # only the active model may delay a source
                await connection.execute(named("vectors_later"), {"user_id": user_id})
        return done.more

    async def embed_all(db: Database, user_id: UUID, _user: UUID) -> bool:
        done = await _embed_by_all(db, models, user_id, None, progress, seconds=SLICE_S)
        for _state, failure in _failures_to_report(done.failures):
            raise failure
        return done.more

    return {"process": [embed_one], "embed": [embed_all]}


Failures = Sequence[tuple[State, MemsvcError]]
"""Models' states, each with the error of asking that model."""


def _failures_to_report(failures: Failures) -> Failures:
    """Leave out models that are not installed here, unless they are being built."""
    return [one for one in failures if one[0] == "building" or not isinstance(one[1], EmbedderMissingError)]


class _Done(NamedTuple):
    """The results of all models together."""

    new: int
    more: bool
    failures: Failures


async def _embed_by_all(
    db: Database,
    models: ModelsInUse,
    user_id: UUID,
    source_id: UUID | None,
    progress: Progress,
    *,
    seconds: float,
) -> _Done:
    """Ask every model in use, even if others fail."""
    new, more = 0, False
    failures: list[tuple[State, MemsvcError]] = []
    for state, resident in await models.for_passages(db):
        try:
            done = await embed_source(db, resident, user_id, source_id, progress, seconds=seconds)
        except (EmbedderError, ConfigurationError, ModelStateError) as error:
            if resident.closed:  # it was taken out of use in the meantime
                continue
            resident.warn("messages get no vectors", error)
            failures.append((state, error))
        else:
            new += done.new
            more = more or done.more
    return _Done(new, more, failures)


async def embed_source(
    db: Database,
    resident: ResidentEmbedder,
    user_id: UUID,
    source_id: UUID | None,
    progress: Progress = lambda _stored: None,
    *,
    seconds: float = math.inf,
) -> Embedded:
    """Compute the vector and token vectors that messages of a source lack for a model, newest messages first.

    Args:
        db: the database.
        resident: the model.
        user_id: the owner of the messages.
        source_id: the conversation; None: all messages of the user.
        progress: called with the number of stored vectors.
        seconds: no group is started after this time.

    Raises:
        EmbedderMissingError, EmbedderError, ConfigurationError: the model cannot be asked; stored vectors are kept.
        ModelStateError: the database does not know the model.
        EmbedderAnswerError: the model refuses some texts; the others have their vectors.
    """
    model = await resident.load()
    model_id, state = await ensure_model(db, resident.model_name, model.dimensions)
    if state == "retired":
        return Embedded(0, more=False)
    until = time.monotonic() + seconds
    await ready_for_tokens(db, resident, model_id)
    scope = _Scope(user_id, model_id, progress, tokens=not resident.lacks_projection)
    new = refused = 0
    group: list[Passage] = []
    vectors: list[Embedding | None] = []
    more = False
    async with aclosing(_lacking(db, scope, source_id)) as lacking:
        async for following in lacking:
            more = bool(group) and time.monotonic() >= until
            if more:
                break
            # The previous group is stored while the model works on this one, because the index takes a while too.
            texts = [searched for _, searched in following]
            made, stored = await _both(_vectors(resident, texts), _store(db, scope, group, vectors))
            new += stored
            refused += made.count(None)
            group, vectors = following, made
    new += await _store(db, scope, group, vectors)
    if refused and not more:
        raise EmbedderAnswerError(f"The embedding model refused {refused} messages; the others have vectors.")
    return Embedded(new, more)


class _Scope(NamedTuple):
    """The user and the model of the vectors."""

    user_id: UUID
    model_id: int
    progress: Progress
    tokens: bool
    """Whether token vectors are stored too."""


async def ready_for_tokens(db: Database, resident: ResidentEmbedder, model_id: int) -> None:
    """Give a model with token vectors its projection, which is fitted once for all processes.

    A model whose token vectors cannot be used continues without them, with a warning.

    Raises:
        EmbedderMissingError, EmbedderError, ConfigurationError: the model cannot be loaded.
    """
    if not resident.lacks_projection or not await resident.gives_tokens():
        return
    known = (await projections(db, [resident.model_name])).get(resident.model_name)
    if known is None:
        try:
            fitted = await resident.fit_projection()
        except (EmbedderError, EmbedderAnswerError) as error:
            resident.warn("messages get no token vectors", error)
            return
        known = await keep_projection(db, model_id, fitted)
    if known is not None:
        resident.project(known)


async def _lacking(db: Database, scope: _Scope, source_id: UUID | None) -> AsyncGenerator[list[Passage]]:
    """Yield groups of passages that lack vectors: newest page first, sorted by length, as models pad to the longest."""
    before: UUID | None = None
    # New messages lack both kinds, so only the job for all messages of a user searches for missing token vectors, which
    # costs a second scan: 0.03 s for 20,000 messages.
    tokens = scope.tokens and source_id is None
    while True:
        values = {
            "user_id": scope.user_id, "model_id": scope.model_id, "source_id": source_id, "before": before,
            "limit": PAGE, "tokens": tokens,
        }  # fmt: skip
        async with db.transaction(scope.user_id) as connection:
            page: list[Passage] = [(row[0], row[1]) for row in await connection.execute(UNEMBEDDED, values)]
        if not page:
            return
        before = page[-1][0]
        page.sort(key=lambda passage: len(passage[1]))
        for start in range(0, len(page), GROUP):
            yield page[start : start + GROUP]


async def _store(db: Database, scope: _Scope, group: Sequence[Passage], vectors: Sequence[Embedding | None]) -> int:
    """Store a group's vectors, except None for refused texts; return how many."""
    kept = [(found[0], made) for found, made in zip(group, vectors, strict=True) if made is not None]
    if not kept:
        return 0
    values = {
        "user_id": scope.user_id, "model_id": scope.model_id,
        "ids": [found for found, _ in kept], "vectors": Vectors(made.vector for _, made in kept),
        "tokens": [made.tokens for _, made in kept],
    }  # fmt: skip

    async def write(connection: AsyncConnection) -> int:
        count: int = (await connection.execute(STORE, values)).scalar_one()
        return count

    count = await db.attempt(scope.user_id, write)
    EMBEDDED.inc(count)
    scope.progress(count)
    return count


async def embed_lacking(
    db: Database, models: ModelsInUse, user_id: UUID, progress: Progress = lambda _stored: None
) -> int:
    """Compute the missing vectors of a user's messages for every model in use; return how many were stored.

    Raises:
        EmbedderError, ConfigurationError: a model cannot be asked, or refuses some texts; the others were embedded.
    """
    done = await _embed_by_all(db, models, user_id, None, progress, seconds=math.inf)
    if done.failures:
        raise done.failures[0][1]
    return done.new


async def _both(one: Awaitable[First], other: Awaitable[Second]) -> tuple[First, Second]:
    """Wait until both are finished, even if one fails; then raise the error."""
    first, second = asyncio.ensure_future(one), asyncio.ensure_future(other)
    await asyncio.wait({first, second})
    return first.result(), second.result()


async def _vectors(resident: ResidentEmbedder, texts: Sequence[str]) -> list[Embedding | None]:
    """Return the vectors of a group, None for refused texts. Halving the group finds them, so that the others succeed.

    Raises:
        EmbedderAnswerError: the model refuses more than a few texts, so it counts as broken.
    """
    found: list[Embedding | None] = [None] * len(texts)
    refused = 0
    todo = [range(len(texts))] if texts else []
    while todo:
        part = todo.pop()
        try:
            with traces.span("embed passages", values={"memsvc.passages": len(part)}):
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
