"""The types of nodes and edges: a core that is the same for everybody, and types that each user adds.

A program proposes a type, and a person approves it; it cannot be used before. A type may refine a type of the core. Its
meaning (its ends, ``functional``, the type that it refines) is fixed; its description can change. An approved type is
never deleted, because recorded facts use it; it is deprecated instead. How to: docs/ontology.md. The work is done in
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
    """A proposed type."""

    name: str
    """Up to 60 letters and digits: a node type as in SchoolClass, an edge type as in GREW_UP_IN."""
    description: str
    """What belongs to the type and what does not; for an edge type a sentence about A and B."""
    parent: str | None = None
    """The core type that it refines: where that type is allowed, this one is too."""
    category: str | None = None
    """One of the categories of core types; by default the parent's."""
    reason: str = ""
    """Why it is needed, for the person who decides."""


class NodeTypeIn(TypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposed node type."""


class EdgeTypeIn(TypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposed edge type."""

    from_types: list[str] | None = None
    """Node types at which it may start; empty: any; by default the parent's."""
    to_types: list[str] | None = None
    """Node types at which it may end; empty: any; by default the parent's."""
    functional: bool = False
    """Each start node has one current value: a new one closes the old one."""


class KnownType(msgspec.Struct, frozen=True, kw_only=True):
    """A type of the ontology."""

    name: str
    status: Status
    """core: the same for everybody. The user's own types: proposed (waiting, not usable yet), approved, rejected, or
    deprecated (existing nodes and facts keep the type, new ones cannot have it)."""
    category: str
    description: str
    parent: str | None
    """The core type that it refines."""
    reason: str
    proposed_by: str | None
    """Who proposed it; null for core types."""
    proposed_at: datetime | None
    decided_by: str | None
    """Who approved, rejected or deprecated it last."""
    decided_at: datetime | None


class NodeType(KnownType, frozen=True, kw_only=True):
    """A type of nodes."""

    nodes: int
    """How many nodes of the user have this type now; merged nodes count once."""


class EdgeType(KnownType, frozen=True, kw_only=True):
    """A type of edges."""

    from_types: list[str]
    """Node types at which it may start, and those that refine them; empty: any."""
    to_types: list[str]
    """Node types at which it may end, and those that refine them; empty: any."""
    functional: bool
    """Each start node has one current value: a new one closes the old one."""
    facts: int
    """How many facts of the user have this type now."""


AnyType = NodeType | EdgeType
AnyTypeIn = NodeTypeIn | EdgeTypeIn


class Ontology(msgspec.Struct, frozen=True, kw_only=True):
    """All types that a user can see: first the core's, then the user's, each sorted by name."""

    node_types: list[NodeType]
    edge_types: list[EdgeType]


async def ontology(db: Database, owner: Owner, *, status: Status | None = None) -> Ontology:
    """Return the core types and the user's own types, each with the number of its nodes or facts now.

    Args:
        db: the database.
        owner: the user whose types, nodes and facts are counted.
        status: only types with this status.
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
        owner: the user whose type it will be.
        proposal: the type.
        by: who proposes it: user, app, or the name of an extractor.
        approve: approve it in the same transaction, because a person adds it.

    Raises:
        InvalidRequestError: its name or description is not valid.
        TypeUnknownError: its parent is not a core type, or an end is not a type.
        AlreadyExistsError: a type of this name exists, with any status and in upper or lower case.
        TypeStateError: it cannot be approved, because the type of one of its ends is not approved yet.
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
            f"{proposal.category[:60]!r} is not a category of {kind} types.",
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
        raise InvalidRequestError(f"{field} is empty.", hint="Say what belongs to the type.", field=field)
    if len(value) > MAX_WORDS_CHARS:
        raise TextTooLongError(
            f"{field} has more than {MAX_WORDS_CHARS:,} characters.", hint="Shorten it.", field=field
        )


async def decide(db: Database, owner: Owner, kind: Kind, name: str, status: Decision, *, by: str) -> AnyType:
    """Approve, reject or deprecate one of the user's own types; nothing happens if it has that status already.

    Raises:
        NotFoundError: the user has no such type.
        TypeStateError: it is a core type, or its status does not allow this decision.
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
    """Allow a type to be used, even if it was rejected or deprecated. Raises: as ``decide``."""
    return await decide(db, owner, kind, name, "approved", by=by)


async def reject(db: Database, owner: Owner, kind: Kind, name: str, *, by: str) -> AnyType:
    """Reject a proposal; it is kept, so that it is not proposed again. Raises: as ``decide``."""
    return await decide(db, owner, kind, name, "rejected", by=by)


async def deprecate(db: Database, owner: Owner, kind: Kind, name: str, *, by: str) -> AnyType:
    """Stop new use of a type; existing nodes and facts keep it. Raises: as ``decide``."""
    return await decide(db, owner, kind, name, "deprecated", by=by)


async def withdraw(db: Database, owner: Owner, kind: Kind, name: str) -> None:
    """Delete a proposed or rejected type.

    Raises:
        NotFoundError: the user has no such type.
        TypeStateError: it is a core type, or was approved.
    """
    values = {"user_id": owner.user_id, "kind": kind, "name": _own(name, kind)}
    await db.attempt(owner.user_id, lambda connection: _do(connection, WITHDRAW, values))


async def describe(db: Database, owner: Owner, kind: Kind, name: str, description: str) -> AnyType:
    """Change the description of one of the user's own types.

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
