"""Reads facts, nodes and names as clients see them: with the labels of both ends, and with their sources quoted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Page, check_page, read_cursor, write_cursor
from memsvc.errors import FactUnknownError, InvalidRequestError
from memsvc.graph.read import ALWAYS, AsOf, Kind, Side, times
from memsvc.graph.search import FoundNode, check_name, check_type, find_asked, glance, seen
from memsvc.graph.shown import (
    Ambiguous,
    Contradiction,
    Contradictions,
    FactsPage,
    FactVersion,
    Quote,
    SameNode,
    ShownEdge,
    ShownFact,
    ShownName,
    ShownNode,
    ShownState,
)

QUOTE_CHARS = 240
MOST_SOURCES = 5
MOST_NAMES = 200
MOST_TYPES = 50
MARKS = "annotations"
"""The conversation that has the reasons of marks on facts."""


async def quotes(
    connection: AsyncConnection, owner: Owner, kind: Kind, versions: Sequence[UUID], known_at: datetime | None = None
) -> dict[UUID, dict[str, Any]]:
    """Return ``sources`` and ``sources_total`` for versions of one kind."""
    limits = {"chars": QUOTE_CHARS, "most": MOST_SOURCES}
    parameters = {"user_id": owner.user_id, "kind": kind, "versions": list(versions), "known_at": known_at, **limits}
    found: dict[UUID, dict[str, Any]] = {version: {"sources": [], "sources_total": 0} for version in versions}
    for row in await connection.execute(query("quotes"), parameters):
        entry = found[row.version_id]
        entry["sources_total"] = row.total
        entry["sources"].append(
            Quote(
                passage_id=row.passage_id,
                source_id=row.source_id,
                span=None if row.span_from is None else (row.span_from, row.span_to),
                quote=row.quote,
                stance=row.stance,
                confidence=row.confidence,
                asserted_by=row.asserted_by,
                recorded_from=row.recorded_from,
            )
        )
    return found


async def _sources(
    connection: AsyncConnection, owner: Owner, versions: Sequence[UUID], known_at: datetime | None
) -> dict[UUID, dict[str, Any]]:
    """Return ``sources``, ``sources_total`` and ``certainty`` for versions of facts."""
    found = await quotes(connection, owner, "edge", versions, known_at)
    values = {"user_id": owner.user_id, "versions": list(versions), "known_at": known_at}
    for row in await connection.execute(query("fact_certainty"), values):
        found[row.version_id]["certainty"] = row.certainty
    return found


async def _pinned(connection: AsyncConnection, owner: Owner, memories: Sequence[UUID]) -> set[UUID]:
    """Return those of some memories that are pinned now."""
    values = {"user_id": owner.user_id, "memories": list(memories)}
    return set((await connection.execute(query("pinned_among"), values)).scalars())


async def contradictions(db: Database, owner: Owner, *, limit: int = 50) -> Contradictions:
    """Return facts that hold now and are contested, those that exclude each other together.

    Raises:
        InvalidRequestError: the limit is not 1 to 1,000.
    """
    check_page(limit)
    values = {"user_id": owner.user_id, "marks": MARKS, "limit": limit + 1}
    async with db.transaction(owner.user_id) as connection:
        rows = [dict(row) for row in (await connection.execute(query("contested_facts"), values)).mappings()]
        groups = [row.pop("grouped") for row in rows]
        facts = await _with_ends(connection, owner, rows, None, None)
    found: dict[str, list[ShownFact]] = {}
    for group, fact in zip(groups, facts, strict=True):
        found.setdefault(group, []).append(fact)
    items = [Contradiction(facts=some) for some in found.values()]
    return Contradictions(items=items[:limit], truncated=len(items) > limit)


async def _facts_page(
    connection: AsyncConnection, owner: Owner, asked: dict[str, Any], limit: int, cursor: str | None = None
) -> tuple[list[ShownFact], str | None]:
    """Return a page of facts. Its cursor keeps both times, so that the following pages show the same moment."""
    after: dict[str, Any] = {"after_valid": None, "after_recorded": None, "after_id": None}
    if cursor is not None:
        valid, recorded, as_of, known_at, version = read_cursor(
            cursor, tuple[Moment | None, Moment, Moment | None, Moment, UUID]
        )
        after = {"after_valid": valid, "after_recorded": recorded, "after_id": version}
        asked = asked | {"as_of": as_of, "known_at": known_at}
    parameters = {"user_id": owner.user_id, "limit": limit + 1, **asked, **after}
    rows = [dict(row) for row in (await connection.execute(query("facts_page"), parameters)).mappings()]
    moments = [row.pop("asked_at") for row in rows]
    known_at = asked["known_at"]
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        pinned = known_at or moments[0]
        following = write_cursor(
            (last["valid_from"], last["recorded_from"], asked["as_of"], pinned, last["version_id"])
        )
    return await _with_ends(connection, owner, rows[:limit], asked["as_of"], known_at), following


async def _with_ends(
    connection: AsyncConnection,
    owner: Owner,
    rows: Sequence[dict[str, Any]],
    as_of: datetime | None,
    known_at: datetime | None,
) -> list[ShownFact]:
    ends = [row[end] for row in rows for end in ("from_node", "to_node")]
    cards = await glance(connection, owner, ends, as_of, known_at)
    versions = [row["version_id"] for row in rows]
    sources = await _sources(connection, owner, versions, known_at)
    pinned = await _pinned(connection, owner, versions)
    return [
        ShownFact(
            **row,
            **sources[row["version_id"]],
            pinned=row["version_id"] in pinned,
            from_label=cards[row["from_node"]].label,
            from_type=cards[row["from_node"]].type,
            to_label=cards[row["to_node"]].label,
            to_type=cards[row["to_node"]].type,
        )
        for row in rows
    ]


async def facts_about(
    db: Database,
    owner: Owner,
    about: Sequence[str],
    *,
    types: Sequence[str] | None = None,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    side: Side = "both",
    cursor: str | None = None,
    limit: int = 50,
) -> FactsPage:
    """Return facts about nodes and the nodes merged into them, newest valid time first.

    Args:
        db: the database.
        owner: the user whose graph is read.
        about: 1 to 100 ids, labels or names; a name that several nodes have means all of them.
        types: only these edge types.
        as_of: valid time: None for now, ``ALWAYS`` for any time.
        known_at: recorded time: None for now.
        side: facts that start at the nodes (from), end at them (to), or both.
        cursor: ``next_cursor`` of the previous page; it keeps both times.
        limit: page size, 1 to 1,000.

    Raises:
        NodeUnknownError: no node has one of these ids or names.
        TypeUnknownError: the ontology has no such edge type.
        InvalidRequestError: another value is not valid.
    """
    check_page(limit)
    if not about:
        raise InvalidRequestError("Say which node the facts are about.", hint="An id or a name.", field="about")
    if types is not None and len(types) > MOST_TYPES:
        raise InvalidRequestError(f"At most {MOST_TYPES} types can be given in one request.", field="type")
    asked: dict[str, Any] = {**times(as_of, known_at), "types": list(types) if types else None, "side": side}
    async with db.transaction(owner.user_id) as connection:
        for name in dict.fromkeys(types or ()):
            await check_type(connection, name, "edge")
        nodes = await find_asked(connection, owner, about, as_of=as_of, known_at=known_at)
        asked["nodes"] = [node.node_id for node in nodes]
        items, following = await _facts_page(connection, owner, asked, limit, cursor)
    by_name: dict[str, list[UUID]] = {}
    for node in nodes:
        by_name.setdefault(node.asked, []).append(node.node_id)
    ambiguous = [Ambiguous(name=name, nodes=found) for name, found in by_name.items() if len(found) > 1]
    return FactsPage(items=items, next_cursor=following, about=nodes, ambiguous=ambiguous)


async def describe_edge(
    db: Database, owner: Owner, edge_id: UUID, *, known_at: datetime | None = None, limit: int = 100
) -> ShownEdge:
    """Return an edge with all recorded versions, or those known at a time; newest first.

    Raises:
        FactUnknownError: there is no such edge, or it was not known then.
    """
    check_page(limit)
    moments = times(None, known_at)
    parameters = {"user_id": owner.user_id, "edge_id": edge_id, "known_at": known_at, "limit": limit + 1}
    async with db.transaction(owner.user_id) as connection:
        rows = [dict(row) for row in (await connection.execute(query("edge_versions"), parameters)).mappings()]
        if not rows:
            raise FactUnknownError(f"There is no edge {edge_id}, or it was not known then.")
        first = rows[0]
        ends = [first["from_node"], first["to_node"]]
        cards = await glance(connection, owner, ends, moments["as_of"], known_at)
        sources = await _sources(connection, owner, [row["version_id"] for row in rows[:limit]], known_at)
    shared = ("edge_id", "type", "key")
    own = [name for name in FactVersion.__struct_fields__ if name not in {"sources", "sources_total", "certainty"}]
    return ShownEdge(
        **{name: first[name] for name in shared},
        from_node=cards[ends[0]].node_id,
        from_label=cards[ends[0]].label,
        to_node=cards[ends[1]].node_id,
        to_label=cards[ends[1]].label,
        stored_from=ends[0],
        stored_to=ends[1],
        versions=[
            FactVersion(**{name: row[name] for name in own}, **sources[row["version_id"]]) for row in rows[:limit]
        ],
        truncated=len(rows) > limit,
    )


async def describe_node(
    db: Database,
    owner: Owner,
    asked: str,
    *,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    facts: int = 20,
) -> ShownNode:
    """Return a node with its properties, names, facts and sources; for a merged node, those of its canonical node.

    Args:
        db: the database.
        owner: the user whose graph is read.
        asked: the node's id.
        as_of: valid time of its card and its facts.
        known_at: recorded time.
        facts: most facts, 1 to 1,000.

    Raises:
        NodeUnknownError: there is no such node.
    """
    check_page(facts)
    moments: dict[str, Any] = dict(times(as_of, known_at))
    always = times(ALWAYS, known_at)
    async with db.transaction(owner.user_id) as connection:
        [found] = await find_asked(connection, owner, [asked], as_of=as_of, known_at=known_at)
        parameters = {"user_id": owner.user_id, "nodes": [found.node_id], **always}
        states = [dict(row) for row in (await connection.execute(query("node_states"), parameters)).mappings()]
        names, _ = await _names(connection, owner, parameters, MOST_NAMES)
        same = [dict(row) for row in (await connection.execute(query("merges_among"), parameters)).mappings()]
        sources = await quotes(connection, owner, "node", [row["version_id"] for row in states], known_at)
        asked_facts = moments | {"nodes": [found.node_id], "types": None, "side": "both"}
        items, following = await _facts_page(connection, owner, asked_facts, facts)
        card = (await connection.execute(query("node_cards"), parameters | moments)).one()
        spoken = (await seen(connection, owner, [found.node_id], known_at))[found.node_id]
        filed = (
            await connection.execute(query("passage_of_node"), {"user_id": owner.user_id, "node_id": found.node_id})
        ).scalar_one_or_none()
        pinned = filed is not None and bool(await _pinned(connection, owner, [filed]))
    glimpse = {name: getattr(found, name) for name in FoundNode.__struct_fields__}
    node_id = UUID(asked)
    return ShownNode(
        **glimpse,
        **spoken._asdict(),
        asked=node_id,
        merged_into=found.node_id if found.node_id != node_id else None,
        data=card.data or {},
        pinned=pinned,
        same=[SameNode(**row) for row in same],
        versions=[ShownState(**row, **sources[row["version_id"]]) for row in states],
        aliases=names,
        facts=items,
        facts_cursor=following,
    )


async def _names(
    connection: AsyncConnection,
    owner: Owner,
    parameters: dict[str, Any],
    limit: int,
    *,
    cursor: str | None = None,
    form: str | None = None,
) -> tuple[list[ShownName], str | None]:
    """Return a page of the names of nodes; with ``form``, only names of this normal form."""
    found = (await connection.execute(query("node_names"), parameters | {"user_id": owner.user_id})).mappings()
    rows = [dict(row) for row in found if form is None or row["normal_form"] == form]
    if cursor is not None:
        last_shown = read_cursor(cursor, tuple[Moment, UUID])
        rows = [row for row in rows if (row["recorded_from"], row["alias_id"]) > last_shown]
    shown = rows[:limit]
    known_at = parameters["known_at"]
    cards = await glance(connection, owner, [row["canonical_id"] for row in shown], None, known_at)
    sources = await quotes(connection, owner, "alias", [row["alias_id"] for row in shown], known_at)
    items = [ShownName(**row, **sources[row["alias_id"]], label=cards[row["canonical_id"]].label) for row in shown]
    last = shown[-1] if len(rows) > limit else None
    return items, write_cursor((last["recorded_from"], last["alias_id"])) if last is not None else None


async def list_names(
    db: Database,
    owner: Owner,
    *,
    name: str | None = None,
    node: str | None = None,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[ShownName]:
    """Return the names of a node, the nodes that have a name, or both, in the order in which they were recorded.

    Args:
        db: the database.
        owner: the user whose graph is read.
        name: only this name, compared by its normal form.
        node: only of this node: an id, a label or a name.
        as_of: valid time of the name; ``ALWAYS``: any time.
        known_at: recorded time.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: neither name nor node is given, or a value is not valid.
        NodeUnknownError: there is no such node.
    """
    check_page(limit)
    if name is None and node is None:
        raise InvalidRequestError("Say which name, or of which node.", hint="?name=… or ?node=…", field="name")
    moments: dict[str, Any] = dict(times(as_of, known_at))
    form = None
    async with db.transaction(owner.user_id) as connection:
        if name is not None:
            check_name(name)
            form = (await connection.execute(query("normal_form"), {"name": name})).scalar_one()
        if node is not None:
            nodes = [found.node_id for found in await find_asked(connection, owner, [node], known_at=known_at)]
        else:
            asked = {"user_id": owner.user_id, "names": [name], **moments}
            nodes = [row.canonical_id for row in await connection.execute(query("nodes_called"), asked)]
        parameters = {"nodes": list(dict.fromkeys(nodes)), **moments}
        items, following = await _names(connection, owner, parameters, limit, cursor=cursor, form=form)
    return Page(items=items, next_cursor=following)
