"""Corrections by people: they name a node or a fact, and its current version is looked up here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import FactUnknownError, InvalidRequestError, NodeUnknownError, VersionSupersededError
from memsvc.graph.history import Change, write
from memsvc.graph.operations import Close, Correct, Evidence, Operation, Thread
from memsvc.graph.read import ALWAYS, node_states, resolve, times


async def _version(db: Database, owner: Owner, node_id: UUID, version_id: UUID | None) -> UUID:
    """Find the version of a node's properties that a correction replaces."""
    await resolve(db, owner, [node_id])
    if version_id is None:
        shown = await node_states(db, owner, [node_id])
        shown = shown or await node_states(db, owner, [node_id], as_of=ALWAYS)
        if not shown:
            raise NodeUnknownError(
                f"Nothing is known of node {node_id} that could be corrected.",
                hint="Give it properties: POST /v1/nodes with its node_id.",
            )
        return shown[0].version_id
    known = await node_states(db, owner, [node_id], as_of=ALWAYS)
    if all(state.version_id != version_id for state in known):
        await _superseded(db, owner, "node", version_id)
    return version_id


async def _superseded(db: Database, owner: Owner, kind: str, version_id: UUID) -> None:
    """Raise the error for a version that is not known now.

    Raises:
        VersionSupersededError: the version was known once.
        FactUnknownError: there is no such version, or it describes something else.
    """
    parameters = {"user_id": owner.user_id, "kinds": [kind], "ids": [version_id]}
    async with db.transaction(owner.user_id) as connection:
        found = (await connection.execute(query("versions_shown"), parameters)).one_or_none()
    if found is not None and found.recorded_to is not None:
        raise VersionSupersededError(f"Version {version_id} was superseded or taken back.")
    raise FactUnknownError(f"Version {version_id} does not belong to it.", field="version_id")


async def correct_node(
    db: Database,
    owner: Owner,
    node_id: UUID,
    content: Mapping[str, Any],
    *,
    asserted_by: str,
    version_id: UUID | None = None,
    evidence: Sequence[Evidence] = (),
) -> Change:
    """Correct properties of a node, over the same valid time.

    Args:
        db: the database.
        owner: the user whose graph is changed.
        node_id: the node, or one that is merged with it.
        content: the fields to replace: type, label, description, data, importance.
        asserted_by: who makes the correction.
        version_id: the version that the person saw; None: the one that the node's card shows now.
        evidence: passages that support it.

    Raises:
        NodeUnknownError: there is no such node, or nothing is known of it.
        VersionSupersededError: somebody changed it in the meantime.
        MemsvcError: as ``write``.
    """
    version = await _version(db, owner, node_id, version_id)
    return await write(
        db, owner, [Correct(version=version, content=content, evidence=evidence)], asserted_by=asserted_by
    )


async def correct_fact(
    db: Database,
    owner: Owner,
    edge_id: UUID,
    content: Mapping[str, Any],
    *,
    asserted_by: str,
    version_id: UUID | None = None,
    ended_at: datetime | None = None,
    evidence: Sequence[Evidence] = (),
) -> Change:
    """Correct a fact over the same valid time, end it, or both.

    Args:
        db: the database.
        owner: the user whose graph is changed.
        edge_id: the fact's edge.
        content: the fields to replace: fact, data, weight, confidence; may be empty if ``ended_at`` is given.
        asserted_by: who makes the correction.
        version_id: the version that the person saw; None: the one that is true now, else the last known one.
        ended_at: the moment from which the fact is not true any more.
        evidence: passages that support it.

    Raises:
        FactUnknownError: there is no such edge.
        VersionSupersededError: somebody changed it in the meantime, or the fact was taken back.
        InvalidIntervalError: it would end before it began.
        MemsvcError: as ``write``.
    """
    if not content and ended_at is None:
        raise InvalidRequestError("Say what was wrong, or when it ended.", hint="For example fact, or ended_at.")
    version = await fact_version(db, owner, edge_id, version_id)
    operations: list[Operation] = []
    if content:
        operations.append(Correct(version=version, content=content, evidence=evidence))
    if ended_at is not None:
        operations.append(Close(thread=Thread(edge=edge_id), at=ended_at, evidence=evidence))
    return await write(db, owner, operations, asserted_by=asserted_by)


async def fact_version(db: Database, owner: Owner, edge_id: UUID, version_id: UUID | None) -> UUID:
    """Find the version of a fact that is true now, else the last known one; or check the one that a person saw.

    Raises:
        FactUnknownError: there is no such edge, or the version is not its own.
        VersionSupersededError: the version was superseded, or the fact was taken back.
    """
    asked: dict[str, Any] = {"user_id": owner.user_id, "edge_id": edge_id}
    now = times(None, None)["as_of"]
    async with db.transaction(owner.user_id) as connection:
        if (await connection.execute(query("known_edge"), asked)).one_or_none() is None:
            raise FactUnknownError(f"There is no edge {edge_id}.")
        rows = (await connection.execute(query("open_edge_versions"), asked | {"at": now})).all()
    if version_id is None and rows:
        found: UUID = rows[0].version_id
        return found
    if version_id is None:
        raise VersionSupersededError(f"Edge {edge_id} was taken back.", hint="Assert it again: POST /v1/facts.")
    if all(row.version_id != version_id for row in rows):
        await _superseded(db, owner, "edge", version_id)
    return version_id
