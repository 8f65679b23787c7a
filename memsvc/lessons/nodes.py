"""Reads the nodes that critiques and plans are: one of them, one by its client's id, or a page, newest first.

Statements: ``sql/queries/lessons.sql``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, check_page, read_id
from memsvc.errors import InvalidRequestError, NodeUnknownError
from memsvc.text.storable import check_storable

T = TypeVar("T")

Type = Literal["Critique", "Plan"]
MOST_ID, MOST_LABEL = 200, 200
"""Characters of a client's id, and of a label."""
LISTS = {"Critique": "GET /v1/lessons", "Plan": "GET /v1/plans"}
"""What lists the nodes of a type."""


async def node_called(connection: AsyncConnection, owner: Owner, type_: Type, client: str) -> Row[Any] | None:
    """Return the node of a type that has this id of a client; None: there is none."""
    rows = await _rows(connection, owner, type_, client=client)
    return rows[0] if rows else None


async def node_of(connection: AsyncConnection, owner: Owner, type_: Type, node_id: UUID) -> Row[Any]:
    """Return the node of a type that has this id.

    Raises:
        NodeUnknownError: there is none such.
    """
    rows = await _rows(connection, owner, type_, node_id=node_id)
    if not rows:
        raise NodeUnknownError(f"Node {node_id} is not a {type_.lower()}.", hint=f"{LISTS[type_]} lists them.")
    return rows[0]


async def page_of(
    db: Database,
    owner: Owner,
    type_: Type,
    shown: Callable[[Row[Any]], T],
    *,
    states: Sequence[str],
    state: str | None,
    cursor: str | None,
    limit: int,
) -> Page[T]:
    """Return nodes of a type, newest first.

    Args:
        db: the database.
        owner: whose.
        type_: of the nodes.
        shown: makes an item of a row.
        states: in which a node can be.
        state: only those in this one; None: all.
        cursor: of the page before.
        limit: 1 to 1,000.

    Raises:
        InvalidRequestError, BadCursorError: there is no such state, or the limit or cursor is none.
    """
    check_page(limit)
    if state is not None and state not in states:
        raise InvalidRequestError(f"state is one of {', '.join(states)}.", field="state")
    async with db.transaction(owner.user_id) as connection:
        rows = await _rows(connection, owner, type_, state=state, after=read_id(cursor), limit=limit + 1)
    more = str(rows[limit - 1].node_id) if len(rows) > limit else None
    return Page(items=[shown(row) for row in rows[:limit]], next_cursor=more)


def data_of(found: Any, form: type[T]) -> T | None:
    """Return a node's data; None: another program wrote a node of this type."""
    try:
        return msgspec.convert(found, form, strict=False)
    except msgspec.ValidationError:
        return None


def client_id(given: str | None) -> str:
    """Check a client's own id; empty: there is none.

    Raises:
        InvalidRequestError: it is empty or too long.
    """
    if given is None:
        return ""
    check_storable(given, "id")
    if not 1 <= len(given) <= MOST_ID:
        raise InvalidRequestError(f"An id has 1 to {MOST_ID} characters.", field="id")
    return given


def label_of(text: str) -> str:
    """A text as a label: one line, cut behind a word."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LABEL else line[: MOST_LABEL - 1].rsplit(" ", 1)[0] + "…"


async def _rows(connection: AsyncConnection, owner: Owner, type_: Type, **asked: Any) -> Sequence[Row[Any]]:
    none = dict.fromkeys(("node_id", "client", "state", "after"))
    values = {"user_id": owner.user_id, "type": type_, "limit": 1, **none, **asked}
    return (await connection.execute(query("learnt_nodes"), values)).all()
