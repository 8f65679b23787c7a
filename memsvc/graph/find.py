"""Finds the one node that a request means: by its id, or by a name or label that only this node has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import NodeAmbiguousError
from memsvc.graph.draw import one_line
from memsvc.graph.search import AskedNode, check_type, find_asked

MOST_SHOWN = 20
SHOWN_CHARS = 80


async def find_nodes(
    db: Database, owner: Owner, asked: Sequence[str], *, known_at: datetime | None = None, else_made: str | None = None
) -> list[UUID]:
    """Return the canonical nodes of those with these ids, names or labels, each once and in this order.

    Names and labels of any valid time count; case, accents and spaces do not. A name that was not known at ``known_at``
    is looked up among those that are known now. ``else_made``: the type of the node that the caller makes of an unknown
    name; if that is no text's, neither are the nodes that are found.

    Raises:
        InvalidRequestError, InvalidAliasError, InvalidTextError: more than 100 of them, or one cannot be a name.
        NodeUnknownError: no node has one of these ids or names.
        NodeAmbiguousError: several nodes have the same name; ``details["candidates"]`` lists them.
    """
    async with db.transaction(owner.user_id) as connection:
        found = await find_asked(connection, owner, asked, known_at=known_at, else_made=else_made)
    meant: dict[str, dict[UUID, AskedNode]] = {text.strip(): {} for text in asked}
    for node in found:
        meant[node.asked][node.node_id] = node
    for text, nodes in meant.items():
        if len(nodes) > 1:
            raise _ambiguous(text, list(nodes.values()))
    return list(dict.fromkeys(node for nodes in meant.values() for node in nodes))


async def find_node(
    db: Database, owner: Owner, asked: str, *, known_at: datetime | None = None, else_made: str | None = None
) -> UUID:
    """Return the canonical node of the one with this id, name or label. Raises: as ``find_nodes``."""
    return (await find_nodes(db, owner, [asked], known_at=known_at, else_made=else_made))[0]


async def check_edge_types(db: Database, owner: Owner, types: Sequence[str] | None) -> None:
    """Refuse types that the user's ontology does not have, since a search for them would silently find nothing.

    Raises:
        InvalidTextError, TypeUnknownError: for the first such type.
    """
    if types:
        async with db.transaction(owner.user_id) as connection:
            for name in dict.fromkeys(types):
                await check_type(connection, name, "edge")


def _ambiguous(text: str, found: Sequence[AskedNode]) -> NodeAmbiguousError:
    shown = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
    candidates = [{"node_id": str(node.node_id), "type": node.type, "label": node.label} for node in found[:MOST_SHOWN]]
    listed = ", ".join(f"{one_line(one['label'] or '')} ({one['type']}, {one['node_id']})" for one in candidates)
    return NodeAmbiguousError(f"{shown!r} can be {len(found)} nodes: {listed}.", candidates=candidates)
