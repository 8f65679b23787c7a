"""Finds nodes: by their labels and names, page by page, or by one exact name or id as people type it.

By what is said about them, ``memsvc.recall.find`` finds them.

Names are compared by their normal form (case, accents, width and spaces do not count). Exact matches come first, then
names that begin with the text, then names with a word that begins with it, then names that contain it anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, Number, Page, check_page, read_cursor, write_cursor
from memsvc.db.short_ids import id_range
from memsvc.errors import BadCursorError, InvalidAliasError, InvalidRequestError, NodeUnknownError, TypeUnknownError
from memsvc.graph.operations import MAX_NAME_CHARS
from memsvc.graph.read import AsOf, times
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

Match = Literal["exact", "prefix", "word", "part"]
Matched = Literal["name", "words", "meaning"]
MATCHES: tuple[Match, ...] = ("exact", "prefix", "word", "part")
NODE_PREFIX = "n:"
SHORT_NODE = re.compile(rf"{NODE_PREFIX}[0-9a-zA-Z-]{{1,40}}")
MOST_ASKED = 100
"""Most names or ids in one request."""
MOST_NAMESAKES = 100
"""Most nodes that are considered for one name."""


class FoundNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node with its type, label and description."""

    node_id: UUID
    """The canonical node, which represents all nodes merged into it."""
    type: str | None
    """None: nothing is known of the node except that it exists."""
    label: str | None
    description: str
    importance: float | None
    holds: bool
    """False: this was not true at the requested time; it is the nearest known version."""


class MatchedNode(FoundNode, frozen=True, kw_only=True):
    """A node that a search found."""

    name: str
    """The label or name that matched, as it was written; the label where none did."""
    match: Match | None
    """exact; prefix: the name begins with the text; word: one of its words does; part: the name contains it; null: no
    name matched."""
    matched: Matched
    """name; words: what is said about the node holds more than half of the words; meaning: it is near to the text."""
    first_seen: datetime | None
    """When the first message or document was said that supports anything known about it; null: none does."""
    last_seen: datetime | None
    """The same for the newest one."""


class AskedNode(FoundNode, frozen=True, kw_only=True):
    """A node that was requested by an id or a name."""

    asked: str


async def glance(
    connection: AsyncConnection,
    owner: Owner,
    nodes: Sequence[UUID],
    as_of: AsOf = None,
    known_at: datetime | None = None,
) -> dict[UUID, FoundNode]:
    """Return type, label and description of the canonical node of each node."""
    parameters = {"user_id": owner.user_id, "nodes": list(dict.fromkeys(nodes)), **times(as_of, known_at)}
    return {
        row.node_id: FoundNode(
            node_id=row.canonical_id,
            type=row.type,
            label=row.label,
            description=row.description or "",
            importance=row.importance,
            holds=row.holds,
        )
        for row in await connection.execute(query("node_cards"), parameters)
    }


class Seen(NamedTuple):
    """When a node was spoken of."""

    first_seen: datetime | None
    last_seen: datetime | None


async def seen(
    connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID], known_at: datetime | None = None
) -> dict[UUID, Seen]:
    """Return when the first and the newest passage was said that supports anything about each canonical node.

    Facts of any valid time count, properties, names, locations and merges, as known at ``known_at``.
    """
    parameters = {"user_id": owner.user_id, "nodes": list(dict.fromkeys(nodes)), "known_at": known_at}
    rows = await connection.execute(query("nodes_seen"), parameters)
    return {row.canonical_id: Seen(row.first_seen, row.last_seen) for row in rows}


async def shown_nodes(
    connection: AsyncConnection, owner: Owner, nodes: Sequence[UUID], as_of: AsOf, known_at: datetime | None
) -> dict[UUID, dict[str, Any]]:
    """Return what a list of nodes shows of each canonical node: its card, and when it was spoken of."""
    cards = await glance(connection, owner, nodes, as_of, known_at)
    spoken = await seen(connection, owner, nodes, known_at)
    return {
        node: {**msgspec.structs.asdict(cards[node]), **spoken[node]._asdict()}
        for node in nodes
        if node in cards and node in spoken  # else it was erased or merged in between
    }


def _read_cursor(cursor: str | None) -> tuple[int | None, str | None, UUID | None, datetime | None]:
    if cursor is None:
        return None, None, None, None
    found = read_cursor(cursor, tuple[Number, str, UUID, Moment | None])
    if found[0] >= len(MATCHES):
        raise BadCursorError(field="cursor")
    return found


def check_wanted(wanted: str, node_type: str | None) -> None:
    """Refuse a name, or a type, that no node can have.

    Raises:
        InvalidRequestError: it is too long, or cannot be stored.
    """
    check_storable([wanted, node_type], "q")
    if len(wanted) > MAX_NAME_CHARS:
        raise InvalidRequestError(f"q has more than {MAX_NAME_CHARS} characters.", hint="Shorten it.", field="q")


async def search_nodes(
    db: Database,
    owner: Owner,
    wanted: str = "",
    *,
    node_type: str | None = None,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[MatchedNode]:
    """Return nodes by label or name, best matches first; without ``wanted`` all nodes that have a label, sorted by it.

    Args:
        db: the database.
        owner: the user whose graph is read.
        wanted: a name or a part of one, at most 200 characters; no character in it is syntax.
        node_type: only nodes of this type.
        as_of: valid time of the names; ``ALWAYS``: any time.
        known_at: recorded time.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the cursor, the limit or the name is not valid.
        TypeUnknownError: the ontology has no such node type.
    """
    check_page(limit)
    check_wanted(wanted, node_type)
    tier, form, node, moment = _read_cursor(cursor)
    asked = times(as_of, known_at)
    if cursor is not None:
        asked["as_of"] = moment
    async with db.transaction(owner.user_id) as connection:
        if node_type is not None:
            await check_type(connection, node_type, "node")
        after = {"after_tier": tier, "after_form": form, "after_node": node, "limit": limit + 1}
        parameters = {"user_id": owner.user_id, "wanted": wanted, "type": node_type, **asked, **after}
        rows = (await connection.execute(query("search_nodes"), parameters)).all()
        shown = rows[:limit]
        ids = [row.canonical_id for row in shown]
        cards = await shown_nodes(connection, owner, ids, asked["as_of"], known_at)
    items = [
        MatchedNode(**cards[row.canonical_id], name=row.name, match=MATCHES[row.tier], matched="name") for row in shown
    ]
    last = shown[-1] if len(rows) > limit else None
    following = write_cursor((last.tier, last.form, last.node_id, asked["as_of"])) if last is not None else None
    return Page(items=items, next_cursor=following)


async def check_type(connection: AsyncConnection, name: str, kind: Literal["node", "edge"]) -> None:
    """Refuse a type that the ontology does not have.

    Raises:
        TypeUnknownError: the ontology does not have it.
    """
    check_storable(name, "type")
    known = (await connection.execute(query(f"known_{kind}_type"), {"name": name})).scalar_one()
    if not known:
        raise TypeUnknownError(f"The ontology has no {kind} type {name[:60]!r}.", field="type")


async def find_asked(
    connection: AsyncConnection,
    owner: Owner,
    asked: Sequence[str],
    *,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    else_made: str | None = None,
) -> list[AskedNode]:
    """Return nodes by id (in full, or n:…), label or name (of any valid time); several for an ambiguous name.

    A name that was not known at ``known_at`` is looked up among those that are known now. A document, a note or another
    text has a name only if no person, place or thing has it, and if the caller does not make one of an unknown name, of
    the type ``else_made``.

    Raises:
        InvalidRequestError, InvalidAliasError: more than 100 of them, or one cannot be a name.
        NodeUnknownError: no node has one of these ids or names.
    """
    wanted = list(dict.fromkeys(text.strip() for text in asked))
    if len(wanted) > MOST_ASKED:
        raise InvalidRequestError(f"{len(wanted):,} nodes; at most {MOST_ASKED} can be given in one request.")
    ids = {text: [node] for text in wanted if (node := as_id(text)) is not None}
    ids |= await _short(connection, owner, [text for text in wanted if SHORT_NODE.fullmatch(text)])
    names = [text for text in wanted if text not in ids]
    for name in names:
        check_name(name)
    parameters = {"user_id": owner.user_id, "known_at": known_at}
    given = [one for nodes in ids.values() for one in nodes]
    known = set((await connection.execute(query("known_nodes"), {**parameters, "nodes": given})).scalars())
    found: list[tuple[str, UUID]] = [(text, one) for text, nodes in ids.items() for one in nodes if one in known]
    found += await _named(connection, owner, names, known_at)
    unnamed = [name for name in names if name not in {text for text, _ in found}]
    if unnamed and known_at is not None:  # the name may have been recorded after known_at
        found += await _named(connection, owner, unnamed, None)
    cards = await glance(connection, owner, [node for _, node in found], as_of, known_at)
    found = await _without_texts(connection, owner, found, cards, else_made)
    missing = set(wanted) - {text for text, _ in found}
    for text in wanted:
        if text in missing:
            message = f"There is no node {text}." if text in ids else f"No node is called {text[:60]!r}."
            raise NodeUnknownError(message)
    return [AskedNode(**msgspec.structs.asdict(cards[node]), asked=text) for text, node in found]


async def _without_texts(
    connection: AsyncConnection,
    owner: Owner,
    found: Sequence[tuple[str, UUID]],
    cards: Mapping[UUID, FoundNode],
    else_made: str | None,
) -> list[tuple[str, UUID]]:
    """Return what was found for each name, without texts where something else has the name, or is made with it."""
    names = [text for text, _ in found]
    if len(set(names)) == len(names) and else_made is None:
        return list(found)
    asked = {
        "user_id": owner.user_id, "types": sorted({else_made or "", *(cards[node].type or "" for _, node in found)})
    }  # fmt: skip
    texts = set((await connection.execute(query("types_of_texts"), asked)).scalars())
    others = {text for text, node in found if cards[node].type not in texts}
    if else_made is not None and else_made not in texts:
        others |= {text for text in names if as_id(text) is None and not SHORT_NODE.fullmatch(text)}
    return [(text, node) for text, node in found if text not in others or cards[node].type not in texts]


async def _short(connection: AsyncConnection, owner: Owner, asked: Sequence[str]) -> dict[str, list[UUID]]:
    """Return the nodes of short ids; one that no node has may still be a name."""
    found: dict[str, list[UUID]] = {}
    for text in asked:
        first, last = id_range(text[len(NODE_PREFIX) :]) or (None, None)
        if first is not None:
            parameters = {"user_id": owner.user_id, "first": first, "last": last}
            nodes = list((await connection.execute(query("nodes_between"), parameters)).scalars())
            found |= {text: nodes} if nodes else {}
    return found


async def _named(
    connection: AsyncConnection, owner: Owner, names: Sequence[str], known_at: datetime | None
) -> list[tuple[str, UUID]]:
    """Return nodes with one of these labels or names, at any valid time, as known at a time."""
    if not names:
        return []
    parameters = {"user_id": owner.user_id, "names": list(names), "known_at": known_at, "limit": MOST_NAMESAKES}
    return [(row.name, row.canonical_id) for row in await connection.execute(query("nodes_named"), parameters)]


def check_name(name: str) -> None:
    """Refuse a text that cannot be a name.

    Raises:
        InvalidAliasError, InvalidTextError: it is empty, too long, or cannot be stored.
    """
    check_storable(name, "name")
    if not is_visible(name) or len(name) > MAX_NAME_CHARS:
        raise InvalidAliasError(f"A name has 1 to {MAX_NAME_CHARS} characters.")


def as_id(text: str) -> UUID | None:
    """Return the text as an id; None if it is not one."""
    try:
        return UUID(text)
    except ValueError:
        return None
