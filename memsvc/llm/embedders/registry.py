"""Which models gave vectors, as the database knows them (``memsvc.embedding_models``)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import exc as sa
from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.errors import EmbedderError

State = Literal["building", "active", "retired"]


class ModelProgress(msgspec.Struct, frozen=True, kw_only=True):
    """A model, and how far a user's messages have its vectors."""

    model_id: int
    name: str
    dimensions: int
    state: State
    embedded: int
    """Messages that have its vector."""
    lacking: int
    """Messages that lack it."""


async def ensure_model(db: Database, name: str, dimensions: int) -> tuple[int, State]:
    """The id and the state of a model, registered on first use.

    Raises:
        EmbedderError: it is known with vectors of another length.
    """
    call = text("SELECT * FROM memsvc.ensure_model(:name, :dimensions)")
    try:
        async with db.transaction() as connection:
            row = (await connection.execute(call, {"name": name, "dimensions": dimensions})).one()
    except sa.DBAPIError as error:
        if not isinstance(error.orig, psycopg.errors.InvalidParameterValue):
            raise
        raise EmbedderError(
            f"The model {name!r} gives vectors of {dimensions} dimensions and gave others before.",
            hint="Another model needs another name; two servers behind one name must have the same model.",
        ) from error
    return row.model_id, row.state


async def list_models(db: Database, user_id: UUID) -> list[ModelProgress]:
    """The models of this database, oldest first, with a user's progress."""
    call = text("SELECT * FROM memsvc.embedding_progress(:user_id)")
    async with db.transaction(user_id) as connection:
        rows = await connection.execute(call, {"user_id": user_id})
        return [ModelProgress(**row._mapping) for row in rows]  # noqa: SLF001 - the public name of a row's mapping
