"""What nodes and edges can be: a core that is the same for everybody, and what each user adds to it.

A program proposes a type, a person approves it; nothing can have it before. A type refines one of the core, or stands
for itself. What it means (its ends, ``functional``, what it refines) is fixed; its description can change. A type that
was approved is never deleted, for the past has it: it is deprecated. How to: docs/ontology.md. The work is done in
``sql/functions/history/20_ontology.sql``; ``memsvc.write_history`` refuses types that cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec
from sqlalchemy import TextClause, text
from sqlalchemy import exc as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import InvalidRequestError, NotFoundError, TextTooLongError
from memsvc.graph.history import refusal
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

Kind = Literal["node", "edge"]
Status = Literal["core", "proposed", "approved", "rejected", "deprecated"]
Decision = Literal["approved", "rejected", "deprecated"]
MAX_WORDS_CHARS = 2_000
MAX_ENDS = 50
SHAPES = {"node": re.compile(r"[A-Z][A-Za-z0-9]{0,59}"), "edge": re.compile(r"[A-Z][A-Z0-9_]{0,59}")}
LOOKS = {"node": "Pet or SchoolClass", "edge": "TEACHES or GREW_UP_IN"}
CATEGORIES = {
    "node": ("entity", "knowledge", "record", "derived", "procedure"),
    "edge": ("social", "place", "time", "preference", "work", "logic", "provenance", "general"),
}
PROPOSE = text("SELECT memsvc.propose_type(:user_id, :kind, CAST(:type AS jsonb), :actor)")
DECIDE = text("SELECT memsvc.decide_type(:user_id, :kind, :name, :status, :actor)")
WITHDRAW = text("SELECT memsvc.withdraw_type(:user_id, :kind, :name)")


class TypeIn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A type that is proposed."""

    name: str
    """Up to 60 letters and digits: of a node type as in SchoolClass, of an edge type as in GREW_UP_IN."""
    description: str
    """What belongs under it, and what does not; of an edge type a sentence about A and B."""
    parent: str | None = None
    """The core type that it refines: where that is allowed, this is."""
    category: str | None = None
    """As core types have it; the parent's where not given."""
    reason: str = ""
    """Why, for the person who decides."""


class NodeTypeIn(TypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node type that is proposed."""


class EdgeTypeIn(TypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An edge type that is proposed."""

    from_types: list[str] | None = None
    """Node types at which it may start; empty: any; the parent's where not given."""
    to_types: list[str] | None = None
    """Node types at which it may end; empty: any; the parent's where not given."""
    functional: bool = False
    """Each start has one value at a time: a new one closes the old one."""


class KnownType(msgspec.Struct, frozen=True, kw_only=True):
    """A type of the ontology."""

    name: str
    status: Status
    """core: the same for everybody. Of one's own: proposed (it waits and cannot be used), approved, rejected, or
    deprecated (what has it keeps it, nothing new gets it)."""
    category: str
    description: str
    parent: str | None
    """The core type that it refines."""
    reason: str
    proposed_by: str | None
    """Who proposed it; null for the core."""
    proposed_at: datetime | None
    decided_by: str | None
    """Who approved, rejected or deprecated it last."""
    decided_at: datetime | None


class NodeType(KnownType, frozen=True, kw_only=True):
    """What a node can be."""

    nodes: int
    """How many nodes of the user have it now; merged ones are one."""


class EdgeType(KnownType, frozen=True, kw_only=True):
    """How two nodes can be related."""

    from_types: list[str]
    """Node types at which it may start, those that refine them included; empty: any."""
    to_types: list[str]
    """Node types at which it may end, those that refine them included; empty: any."""
    functional: bool
    """Each start has one value at a time: a new one closes the old one."""
    facts: int
    """How many facts of the user have it now."""


AnyType = NodeType | EdgeType
AnyTypeIn = NodeTypeIn | EdgeTypeIn


class Ontology(msgspec.Struct, frozen=True, kw_only=True):
    """All types that a user can see: the core's first, by name."""

    node_types: list[NodeType]
    edge_types: list[EdgeType]


async def ontology(db: Database, owner: Owner, *, status: Status | None = None) -> Ontology:
    """The core and the user's own types, with how much of each there is now.

    Args:
        db: the database.
        owner: whose own types, nodes and facts.
        status: only types of this status.
    """
    async with db.transaction(owner.user_id) as connection:
        nodes = await connection.execute(query("node_types"), {"user_id": owner.user_id})
        edges = await connection.execute(query("edge_types"), {"user_id": owner.user_id})
        return Ontology(
            node_types=[NodeType(**row) for row in nodes.mappings() if status in {None, row["status"]}],
            edge_types=[EdgeType(**row) for row in edges.mappings() if status in {None, row["status"]}],
        )


async def _known(connection: AsyncConnection, user_id: UUID, kind: Kind, name: str) -> AnyType:
    rows = await connection.execute(query(f"{kind}_types"), {"user_id": user_id})
    row = next(row for row in rows.mappings() if row["name"] == name)
    return NodeType(**row) if kind == "node" else EdgeType(**row)


async def _do(connection: AsyncConnection, statement: TextClause, values: Mapping[str, object]) -> None:
    try:
        await connection.execute(statement, values)
    except sa.DBAPIError as error:
        refused = refusal(error)
        if refused is None:
            raise
        raise refused from error


async def propose(db: Database, owner: Owner, proposal: AnyTypeIn, *, by: str, approve: bool = False) -> AnyType:
    """Add a type that waits for approval.

    Args:
        db: the database.
        owner: whose type it will be.
        proposal: the type.
        by: who proposes it: user, app, or the name of an extractor.
        approve: a person adds it: it is approved at once, by the same.

    Raises:
        InvalidRequestError: its name or words cannot be.
        TypeUnknownError: what it refines is not of the core, or an end is no type.
        AlreadyExistsError: there is one of this name, whatever its status and its capitals.
        TypeStateError: it should be approved, but one of its ends waits.
    """
    actor = valid_name(by, "proposed_by")
    kind: Kind = "edge" if isinstance(proposal, EdgeTypeIn) else "node"
    fields = _checked(proposal, kind)
    values = {"user_id": owner.user_id, "kind": kind, "name": proposal.name, "actor": actor}

    async def work(connection: AsyncConnection) -> AnyType:
        await _do(connection, PROPOSE, {**values, "type": msgspec.json.encode(fields).decode()})
        if approve:
            await _do(connection, DECIDE, {**values, "status": "approved"})
        return await _known(connection, owner.user_id, kind, proposal.name)

    return await db.attempt(owner.user_id, work)


def _checked(proposal: AnyTypeIn, kind: Kind) -> dict[str, object]:
    _shaped(proposal.name, kind, "name")
    if proposal.category is not None and proposal.category not in CATEGORIES[kind]:
        raise InvalidRequestError(
            f"{proposal.category[:60]!r} is no category of {kind} types.",
            hint=f"One of: {', '.join(CATEGORIES[kind])}.",
            field="category",
        )
    if proposal.parent is not None:
        _shaped(proposal.parent, kind, "parent")
    _words(proposal.description, "description", empty=False)
    _words(proposal.reason, "reason", empty=True)
    fields: dict[str, object] = msgspec.to_builtins(proposal)
    if isinstance(proposal, EdgeTypeIn):
        for field, ends in (("from_types", proposal.from_types), ("to_types", proposal.to_types)):
            if ends is not None and len(ends) > MAX_ENDS:
                raise InvalidRequestError(f"{field} has more than {MAX_ENDS} types.", field=field)
            for end in ends or ():
                _shaped(end, "node", field)
            fields[field] = None if ends is None else list(dict.fromkeys(ends))
    return fields


def _own(name: str, kind: Kind) -> str:
    if SHAPES[kind].fullmatch(name) is None:
        raise NotFoundError(f"This user has no {kind} type {name[:60]!r}.")
    return name


def _shaped(name: str, kind: Kind, field: str) -> None:
    if SHAPES[kind].fullmatch(name) is None:
        raise InvalidRequestError(
            f"{name[:60]!r} cannot be the name of {'an edge' if kind == 'edge' else 'a node'} type.",
            hint=f"Up to 60 letters (A to Z) and digits, as in {LOOKS[kind]}.",
            field=field,
        )


def _words(value: str, field: str, *, empty: bool) -> None:
    check_storable(value, field)
    if not empty and not is_visible(value):
        raise InvalidRequestError(f"{field} is empty.", hint="Say what belongs under the type.", field=field)
    if len(value) > MAX_WORDS_CHARS:
        raise TextTooLongError(
            f"{field} has more than {MAX_WORDS_CHARS:,} characters.", hint="Shorten it.", field=field
        )


async def decide(db: Database, owner: Owner, kind: Kind, name: str, status: Decision, *, by: str) -> AnyType:
    """Approve, reject or deprecate a type of one's own; what it is already it stays.

    Raises:
        NotFoundError: the user has no such type.
        TypeStateError: it belongs to the core, or its status does not lead there.
    """
    values = {
        "user_id": owner.user_id, "kind": kind, "name": _own(name, kind), "status": status,
        "actor": valid_name(by, "decided_by"),
    }  # fmt: skip

    async def work(connection: AsyncConnection) -> AnyType:
        await _do(connection, DECIDE, values)
        return await _known(connection, owner.user_id, kind, name)

    return await db.attempt(owner.user_id, work)


async def approve(db: Database, owner: Owner, kind: Kind, name: str, *, by: str) -> AnyType:
    """Let a type be used; also one that was rejected or deprecated. Raises: as ``decide``."""
    return await decide(db, owner, kind, name, "approved", by=by)


async def reject(db: Database, owner: Owner, kind: Kind, name: str, *, by: str) -> AnyType:
    """Turn a proposal down; it stays, so that it is not proposed again. Raises: as ``decide``."""
    return await decide(db, owner, kind, name, "rejected", by=by)


async def deprecate(db: Database, owner: Owner, kind: Kind, name: str, *, by: str) -> AnyType:
    """Give a type to nothing new; what has it keeps it. Raises: as ``decide``."""
    return await decide(db, owner, kind, name, "deprecated", by=by)


async def withdraw(db: Database, owner: Owner, kind: Kind, name: str) -> None:
    """Delete a proposal, or one that was rejected.

    Raises:
        NotFoundError: the user has no such type.
        TypeStateError: it belongs to the core, or was approved.
    """
    values = {"user_id": owner.user_id, "kind": kind, "name": _own(name, kind)}
    await db.attempt(owner.user_id, lambda connection: _do(connection, WITHDRAW, values))


async def describe(db: Database, owner: Owner, kind: Kind, name: str, description: str) -> AnyType:
    """Give a type of one's own another description.

    Raises:
        NotFoundError: the user has no such type.
        InvalidRequestError: the description is empty or too long.
    """
    _words(description, "description", empty=False)
    values = {"user_id": owner.user_id, "name": _own(name, kind), "description": description}

    async def work(connection: AsyncConnection) -> AnyType:
        if (await connection.execute(query(f"describe_{kind}_type"), values)).first() is None:
            raise NotFoundError(f"This user has no {kind} type {name} of their own.")
        return await _known(connection, owner.user_id, kind, name)

    return await db.attempt(owner.user_id, work)
