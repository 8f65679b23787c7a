"""Sends vectors to the database in binary, as pgvector's halfvec, with the package pgvector.

A vector as text takes 4 to 50 times as long to write and read (docs/dependencies.md has the figures). psycopg sends a
single vector in binary by itself, but a list of them only as ``Vectors``.
"""

from __future__ import annotations

from typing import Any

from pgvector import HalfVector
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import BaseConnection
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

HALFVEC = "SELECT t.oid, t.typarray FROM pg_catalog.pg_type AS t WHERE t.oid = to_regtype('public.halfvec')"


class Vectors(list[HalfVector]):
    """Several vectors as one value: an array of halfvec."""


def adapt(driver: BaseConnection[Any], oid: int, array_oid: int) -> None:
    """Let a connection send and receive vectors; the oids are those of the types in its database."""
    register_halfvec_info(driver, TypeInfo("halfvec", oid, array_oid))
    driver.adapters.register_dumper(Vectors, ListBinaryDumper)


def watch(engine: AsyncEngine) -> None:
    """Let all connections of a pool send and receive vectors."""

    @event.listens_for(engine.sync_engine, "connect")
    def learn(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(HALFVEC)
        found = cursor.fetchone()
        cursor.close()
        connection.rollback()
        if found is None:  # the database is not upgraded yet: the pool replaces this connection at its next use
            record.invalidate(soft=True)
        else:
            adapt(connection.driver_connection, *found)
