"""Finds nodes and notes for a text: by their names first, then by what is said about them.

The first part is complete: ``memsvc.graph.search`` for nodes, ``memsvc.graph.notes`` for notes with the text in title
or text. The second is a ranking of at most ``MOST_RANKED``, by words and vectors of cards, notes and instructions
(``memsvc.nodes_found``), without those of the first part. A cursor within the ranking carries what was given, as
cursors of recall do: nothing comes twice, whatever is written meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, check_page, read_cursor, read_id, write_cursor
from memsvc.errors import BadCursorError
from memsvc.graph.notes import FoundNote, Note, NoteKind, NoteMatched, chosen, notes, notes_beyond, notes_passed_over
from memsvc.graph.read import AsOf, times
from memsvc.graph.search import Matched, MatchedNode, check_wanted, glance, search_nodes, shown_nodes
from memsvc.recall.kinds import OF_NODES
from memsvc.recall.options import LEAST_COSINE
from memsvc.recall.search import QueryEmbedder, query_vectors
from memsvc.settings import Settings
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

T = TypeVar("T")
MOST_RANKED = 100
"""Most nodes that are found by words and meaning."""
RANKED = "r."
"""Begins a cursor within the ranking."""
UUID_BYTES = 16
EVER = datetime.max.replace(tzinfo=UTC)


class FoundPage(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One page of what was found: a ``Page``, and what it is without (OpenAPI loses T of a class that inherits it)."""

    items: list[T]
    next_cursor: str | None
    """Send it as the cursor of the next page; None: this was the last."""
    degraded: list[Literal["vector"]] = []
    """vector: the embedding model did not answer, so nothing was found by meaning."""


class _Place(NamedTuple):
    """Where a page begins within the ranking."""

    as_of: datetime | None
    """None: any time."""
    given: Sequence[UUID] = ()


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is ranked."""

    text: str
    as_of: AsOf
    known_at: datetime | None = None
    types: list[str] | None = None
    metadata: dict[str, Any] | None = None
    by_name: bool
    """What is called like the text was listed before."""
    given: Sequence[UUID] = ()
    """What earlier pages gave of the ranking."""
    without: Sequence[UUID] = ()
    """Nodes that are left out, and take no place of others."""


async def find_nodes(
    db: Database,
    owner: Owner,
    wanted: str,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None,
    node_type: str | None = None,
    as_of: AsOf = None,
    known_at: datetime | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> FoundPage[MatchedNode]:
    """Return nodes by name, then by words and meaning of their cards; without ``wanted`` all that have a label.

    Args:
        db: the database.
        owner: the user whose graph is read.
        wanted: at most 200 characters; no character in it is syntax.
        settings: how long the embedding model may take.
        embedder: gives the text's vector; None: by names and words alone.
        node_type: only nodes of this type.
        as_of: valid time; ``ALWAYS``: any time.
        known_at: recorded time.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the cursor, the limit or the text is not valid.
        TypeUnknownError: the ontology has no such node type.
    """
    place = _read(cursor)
    if place is None:
        named = await search_nodes(
            db, owner, wanted, node_type=node_type, as_of=as_of, known_at=known_at, cursor=cursor, limit=limit
        )
        if named.next_cursor is not None or not is_visible(wanted):
            return FoundPage(items=named.items, next_cursor=named.next_cursor)
        place, items = _Place(times(as_of, known_at)["as_of"]), named.items
    else:
        check_page(limit)
        check_wanted(wanted, node_type)
        as_of, items = place.as_of or "always", []
    asked = _Asked(
        text=wanted,
        as_of=as_of,
        known_at=known_at,
        types=[node_type] if node_type is not None else None,
        by_name=True,
        given=place.given,
    )
    ranked, degraded = await _ranked(db, owner, asked, settings, embedder)
    async with db.transaction(owner.user_id) as connection:
        if node_type is not None:  # nodes that were merged may have had this type, and have another now
            types = await glance(connection, owner, list(ranked), place.as_of, known_at)
            ranked = {node: found for node, found in ranked.items() if node in types and types[node].type == node_type}
        shown = list(ranked)[: limit - len(items)]
        cards = await shown_nodes(connection, owner, shown, place.as_of, known_at)
    items += [
        MatchedNode(**cards[node], name=cards[node]["label"] or "", match=None, matched=ranked[node])
        for node in shown
        if node in cards  # else it was erased or merged in between
    ]
    return FoundPage(items=items, next_cursor=_next(place, shown, len(ranked)), degraded=degraded)


async def find_notes(
    db: Database,
    owner: Owner,
    settings: Settings,
    *,
    embedder: QueryEmbedder | None,
    q: str | None = None,
    kind: NoteKind | None = None,
    tag: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> FoundPage[FoundNote]:
    """Return notes with ``q`` in title or text, newest first, then by words and meaning; without ``q`` all of them.

    Args:
        db: the database.
        owner: the user whose notes they are.
        settings: how long the embedding model may take.
        embedder: gives the text's vector; None: by words alone.
        q: a text; no character in it is syntax.
        kind: only notes of this kind.
        tag: only notes with this tag.
        cursor: ``next_cursor`` of the previous page.
        limit: page size, 1 to 1,000.

    Raises:
        InvalidRequestError: the cursor or another argument is not valid.
    """
    place, items = _read(cursor), list[FoundNote]()
    if place is None:
        listed, following = await notes(db, owner, kind=kind, tag=tag, q=q, cursor=read_id(cursor), limit=limit)
        items = [_found(one, None if not q else "name" if q.lower() in one.title.lower() else "text") for one in listed]
        if following is not None or not q or not is_visible(q):
            return FoundPage(items=items, next_cursor=str(following) if following is not None else None)
        place = _Place(datetime.now(UTC))
    else:
        check_page(limit)
        if not q or not is_visible(q):
            raise BadCursorError(field="cursor")
        check_storable(q, "q")
    # A note whose data has no kind is a fact, so the metadata cannot tell those.
    narrowed = {"kind": kind if kind != "fact" else None, "tags": [chosen(None, tag)["tag"]] if tag else None}
    metadata = {name: value for name, value in narrowed.items() if value is not None}
    asked = _Asked(
        text=q,
        as_of=None,
        types=["Note"],
        metadata=metadata or None,
        by_name=False,
        given=place.given,
        without=await notes_passed_over(db, owner, q, "fact" if kind == "fact" else None),
    )
    ranked, degraded = await _ranked(db, owner, asked, settings, embedder)
    found = await notes_beyond(db, owner, list(ranked), q, kind=kind, tag=tag)
    shown = found[: limit - len(items)]
    items += [_found(one, ranked[one.note_id]) for one in shown]
    return FoundPage(
        items=items, next_cursor=_next(place, [one.note_id for one in shown], len(found)), degraded=degraded
    )


async def _ranked(
    db: Database, owner: Owner, asked: _Asked, settings: Settings, embedder: QueryEmbedder | None
) -> tuple[dict[UUID, Matched], list[Literal["vector"]]]:
    """Return canonical nodes with what found them, best first, without those that were given."""
    (active, leaving), missing = await query_vectors(db, asked.text, embedder, settings)
    moments = times(asked.as_of, asked.known_at)
    always = asked.as_of == "always"
    values = {
        "user_id": owner.user_id,
        "query": asked.text,
        "language": owner.language,
        "model": active.model if active else None,
        "vector": active.vector if active else None,
        "other_model": leaving.model if leaving else None,
        "other_vector": leaving.vector if leaving else None,
        "least": LEAST_COSINE.get(active.model) if active else None,
        "most": MOST_RANKED,
        "kinds": sorted(OF_NODES - {"summary", "concept"}),
        "types": asked.types,
        "metadata": msgspec.json.encode(asked.metadata).decode() if asked.metadata else None,
        "as_of": EVER if always else asked.as_of,
        "ended": always,
        "known_at": asked.known_at,
        "given": list(asked.given),
        "without": list(asked.without),
        "named": asked.text if asked.by_name else None,
        "named_as_of": moments["as_of"],
    }
    with await db.recalls.turn(owner.user_id):
        async with db.transaction(owner.user_id, keep_plans=True) as connection:
            rows = (await connection.execute(query("nodes_found"), values)).all()
    left = MOST_RANKED - len(asked.given)
    return {row.node_id: row.matched for row in rows[:left]}, ["vector"] if missing else []


def _found(note: Note, matched: NoteMatched | None) -> FoundNote:
    return FoundNote(**msgspec.structs.asdict(note), matched=matched)


def _read(cursor: str | None) -> _Place | None:
    """Return the place in the ranking; None: the cursor leads to the list before it.

    Raises:
        BadCursorError: it is neither.
    """
    if cursor is None or not cursor.startswith(RANKED):
        return None
    as_of, given = read_cursor(cursor.removeprefix(RANKED), tuple[Moment | None, bytes])
    if len(given) % UUID_BYTES or len(given) >= MOST_RANKED * UUID_BYTES:
        raise BadCursorError(field="cursor")
    starts = range(0, len(given), UUID_BYTES)
    return _Place(as_of, [UUID(bytes=given[start : start + UUID_BYTES]) for start in starts])


def _next(place: _Place, shown: Sequence[UUID], ranked: int) -> str | None:
    """Return the cursor behind a page; None: the ranking ends there."""
    if len(shown) >= ranked:
        return None
    return RANKED + write_cursor((place.as_of, b"".join(node.bytes for node in (*place.given, *shown))))
