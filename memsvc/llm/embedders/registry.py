"""The embedding models of a database and their states (``embedding_models``): which is active, and which replaces it.

The rules are in ``sql/functions/models/30_changes.sql``; this module has one function for each change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import Row, TextClause, text
from sqlalchemy import exc as sa

from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import EmbedderError, ModelStateError, NotFoundError, OverloadedError

State = Literal["building", "active", "leaving", "retired"]
LONGEST_CHANGE = text("SET LOCAL statement_timeout = '10min'")
"""Changes and counts over all users may read every vector."""
STATE_FORBIDS = "MS001"
"""SQLSTATE that the functions raise, with message and hint."""
ENSURE = text("SELECT * FROM memsvc.ensure_model(:name, :dimensions)")
BUILD = text("SELECT * FROM memsvc.build_model(:name, :dimensions)")
PAUSE = text("SELECT memsvc.pause_model(:name, :paused) AS jobs")
SWITCH = text("SELECT * FROM memsvc.switch_model(CAST(:name AS text), :now)")
RETIRE = text("SELECT memsvc.retire_model(:name) AS model_id")
KEEP_PROJECTION = text("SELECT memsvc.keep_projection(CAST(:model_id AS smallint), :projection) AS projection")
DROP_INDEX = text("SELECT memsvc.drop_model_index(CAST(:model_id AS smallint))")
DROP_VECTORS = text("SELECT * FROM memsvc.drop_vectors(CAST(:model_id AS smallint), :first, :page)")
DROP_PAGE = 2_000
LOCK_TRIES = 50
LOCK_PAUSE_S = 0.2
FIRST_USER = UUID(int=0)


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model that this database knows."""

    model_id: int
    name: str
    dimensions: int
    state: State
    paused: bool
    """It is being built, but messages get no vectors from it for now."""


class ModelProgress(Model, frozen=True, kw_only=True):
    """A model, and how many messages have its vectors."""

    embedded: int
    """Messages that have its vector."""
    lacking: int
    """Messages that lack it."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """The result of starting to build a model."""

    model_id: int
    state: State
    """building; or its earlier state, if there was nothing to start."""
    jobs: int
    """Number of users with a job for it now."""


class Switched(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a switch."""

    became: str
    """The active model now."""
    leaves: str
    """The previously active model."""
    behind: int
    """Messages that are compared by the previous model until they have a vector of the new one."""
    jobs: int
    """Number of users with a job for that."""


@contextmanager
def _explained(name: object = None, dimensions: object = None) -> Iterator[None]:
    """Translate refusals by the functions into errors for people."""
    try:
        yield
    except sa.DBAPIError as error:
        cause = error.orig
        if not isinstance(cause, psycopg.Error):
            raise
        says, hint = cause.diag.message_primary or "", cause.diag.message_hint or ""
        if cause.sqlstate == STATE_FORBIDS:
            raise ModelStateError(says, hint=hint) from error
        if isinstance(cause, psycopg.errors.UndefinedObject):
            raise NotFoundError(says, hint=hint) from error
        if isinstance(cause, psycopg.errors.InvalidParameterValue):
            raise EmbedderError(
                f"The model {name!r} gives vectors of {dimensions} dimensions and gave others before.",
                hint="Another model needs another name; two servers behind one name must have the same model.",
            ) from error
        raise


def _as(kind: type[Any], row: Row[Any]) -> Any:
    return kind(**row._mapping)  # noqa: SLF001 - the public name of a row's mapping


async def known_models(db: Database) -> list[Model]:
    """Return all models, oldest first."""
    async with db.transaction() as connection:
        return [_as(Model, row) for row in await connection.execute(query("known_models"))]


async def list_models(db: Database, user_id: UUID | None = None, *, patient: bool = True) -> list[ModelProgress]:
    """Return all models, oldest first, with the progress of one user, or of all users together.

    Args:
        db: the database.
        user_id: the user; None: all users.
        patient: counting over all users may take ten minutes, and not only as long as a statement of a request.
    """
    async with db.transaction(user_id) as connection:
        if user_id is None:
            if patient:
                await connection.execute(LONGEST_CHANGE)
            rows = await connection.execute(query("models_over_all_users"))
        else:
            call = text("SELECT * FROM memsvc.embedding_progress(:user_id)")
            rows = await connection.execute(call, {"user_id": user_id})
        return [_as(ModelProgress, row) for row in rows]


async def ensure_model(db: Database, name: str, dimensions: int) -> tuple[int, State]:
    """Return the id and the state of a model; the first model of a database is registered here.

    Raises:
        EmbedderError: it is known with vectors of another length.
        ModelStateError: it is not known, and another one is active.
    """
    with _explained(name, dimensions):
        async with db.transaction() as connection:
            await sign(connection)
            row = (await connection.execute(ENSURE, {"name": name, "dimensions": dimensions})).one()
    return row.model_id, row.state


async def projections(db: Database, names: Sequence[str]) -> dict[str, bytes]:
    """Return the projections of these models' token vectors, by name; models without one are left out."""
    async with db.transaction() as connection:
        rows = await connection.execute(query("projections"), {"names": list(names)})
        return {row.name: row.projection for row in rows}


async def keep_projection(db: Database, model_id: int, projection: bytes) -> bytes | None:
    """Store a model's projection if it has none yet; users whose messages lack token vectors get a job for them.

    Returns:
        The stored projection; None if the model was retired in the meantime.
    """
    kept: bytes | None = (await _change(db, KEEP_PROJECTION, model_id=model_id, projection=projection)).projection
    return kept


async def _change(db: Database, call: TextClause, **values: object) -> Row[Any]:
    with _explained(values.get("name"), values.get("dimensions")):
        async with db.transaction() as connection:
            await connection.execute(LONGEST_CHANGE)
            await sign(connection)
            return (await connection.execute(call, values)).one()


async def build_model(db: Database, name: str, dimensions: int) -> Built:
    """Start to make a model's vectors for messages, next to those of the active one; continue if it was started before.

    Raises:
        ModelStateError: another one is being built, or it was retired and its old vectors are not deleted yet.
        EmbedderError: it is known with vectors of another length.
    """
    found: Built = _as(Built, await _change(db, BUILD, name=name, dimensions=dimensions))
    return found


async def pause_model(db: Database, name: str, *, paused: bool) -> int:
    """Pause or resume a model that is being built; return the number of users with a job for it now.

    Raises:
        NotFoundError: there is no such model.
        ModelStateError: it is not being built.
    """
    row = await _change(db, PAUSE, name=name, paused=paused)
    jobs: int = row.jobs
    return jobs


async def switch_model(db: Database, name: str | None, *, now: bool = False) -> Switched:
    """Make a model the active one; the previous one leaves, and is used where the new one's vectors are missing.

    Args:
        db: the database.
        name: of a model that is being built or leaving; None: the one that is leaving.
        now: switch even if messages lack the new one's vectors.

    Raises:
        NotFoundError: there is no such model.
        ModelStateError: its state, or another model that is still leaving, forbids it; or messages lack its vectors.
    """
    switched: Switched = _as(Switched, await _change(db, SWITCH, name=name, now=now))
    return switched


async def retire_model(
    db: Database, name: str, progress: Callable[[int], None] = lambda _dropped: None, *, page: int = DROP_PAGE
) -> int:
    """Retire a model that is leaving or being built, and delete its vectors; may be killed and called again.

    Args:
        db: the database.
        name: of the model.
        progress: called with the number of vectors of each batch.
        page: vectors of a batch.

    Returns:
        Number of deleted vectors.

    Raises:
        NotFoundError: there is no such model.
        ModelStateError: it is the active one.
        OverloadedError: its index was in use all the time; call again.
    """
    model_id: int = (await _change(db, RETIRE, name=name)).model_id
    await _drop_index(db, model_id)
    dropped = 0
    async for count in _drop_vectors(db, model_id, page):
        progress(count)
        dropped += count
    return dropped


async def _drop_index(db: Database, model_id: int) -> None:
    for number in range(1, LOCK_TRIES + 1):
        try:
            await _change(db, DROP_INDEX, model_id=model_id)
        except OverloadedError:  # let other transactions run, then try again
            if number == LOCK_TRIES:
                raise
            await asyncio.sleep(LOCK_PAUSE_S)
        else:
            return


async def _drop_vectors(db: Database, model_id: int, page: int) -> AsyncIterator[int]:
    first: UUID = FIRST_USER
    while True:
        async with db.transaction() as connection:
            values = {"model_id": model_id, "first": first, "page": page}
            row = (await connection.execute(DROP_VECTORS, values)).one_or_none()
        if row is None:
            return
        first = row.last_user_id
        yield row.dropped
