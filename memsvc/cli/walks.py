"""``memsvc graph``: the graph around nodes, paths between two nodes, of a conversation, or all, as text or a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypedDict

import typer

from memsvc.cli.common import (
    AppName,
    UserRef,
    note,
    owner_at_home,
    with_database,
)

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.draw import Format
    from memsvc.graph.overview import Stats
    from memsvc.graph.read import AsOf
    from memsvc.graph.traverse import Graph, GraphEdge, GraphNode, Paths
    from memsvc.settings import Settings

HOPS, PATH_HOPS = 2, 4
ENDS = 2
"""Most nodes that each fact of a page, or of a conversation, adds: its two ends."""


class Asked(NamedTuple):
    """The values of the options."""

    about: list[str]
    path: tuple[str, str] | None
    hops: int | None
    types: list[str] | None
    limit: int
    as_of: str | None
    known_at: str | None
    stats: bool
    conversation: str | None


class Moments(TypedDict):
    """The times at which the graph is read."""

    as_of: AsOf
    known_at: datetime | None


def graph(
    context: typer.Context,
    about: list[str] = typer.Option([], "--about", help="Show what is around this name, label or id; repeatable."),
    path: tuple[str, str] | None = typer.Option(
        None, "--path", help="Show how two names, labels or ids are connected.", metavar="FROM TO", show_default=False
    ),
    conversation: str | None = typer.Option(
        None, "--conversation", help="Show the facts that this conversation told: its identifier or id.", metavar="NAME"
    ),
    hops: int | None = typer.Option(
        None, "--hops", min=0, max=4, help=f"Most hops; default: {HOPS} with --about, {PATH_HOPS} with --path."
    ),
    type_: list[str] = typer.Option([], "--type", help="Only facts of this type; repeatable."),
    limit: int = typer.Option(200, "--limit", min=ENDS, max=1000, help="Most nodes to show."),
    as_of: str | None = typer.Option(None, "--as-of", help="What was true at this date or ISO 8601 time, or 'always'."),
    known_at: str | None = typer.Option(None, "--known-at", help="What memsvc knew at this date or time."),
    stats: bool = typer.Option(False, "--stats", help="Count nodes and facts by type."),
    mermaid: bool = typer.Option(False, "--mermaid", help="Print a Mermaid flowchart."),
    graphml: bool = typer.Option(False, "--graphml", help="Print GraphML, for Gephi, networkx and others."),
    dot: bool = typer.Option(False, "--dot", help="Print DOT, for Graphviz."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
    output: Path | None = typer.Option(None, "--output", "-o", help="Write to this file.", metavar="FILE"),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Show the graph around nodes, between two nodes, of one conversation, or the whole graph.

    Times without an offset, and the dates shown, are in the user's time zone. A name that several nodes have is refused
    with a list of their ids.
    """
    if context.invoked_subcommand is not None:
        return
    form = _form(mermaid=mermaid, graphml=graphml, dot=dot, json=as_json)
    if sum((bool(about), path is not None, conversation is not None, stats)) > 1:
        raise typer.BadParameter("--about, --path, --conversation and --stats cannot be combined.")
    if conversation is not None and hops is not None:
        raise typer.BadParameter("--hops goes with --about or --path.")
    if stats and form not in {None, "json"}:
        raise typer.BadParameter("--stats prints a table or, with --json, JSON.")
    asked = Asked(about, path, hops, type_ or None, limit, as_of, known_at, stats, conversation)

    async def work(db: Database, _settings: Settings) -> tuple[Any, Owner]:

        db, owner = await owner_at_home(db, user, app)
        return await _read(db, owner, asked), owner

    found, owner = with_database(work)
    from zoneinfo import ZoneInfo

    _put(found, form, ZoneInfo(owner.time_zone), output, whole=not about)


def _form(**wanted: bool) -> Format | None:
    chosen: list[Any] = [name for name, is_wanted in wanted.items() if is_wanted]
    if len(chosen) > 1:
        raise typer.BadParameter("Give only one of --mermaid, --graphml, --dot and --json.")
    return chosen[0] if chosen else None


async def _read(db: Database, owner: Owner, asked: Asked) -> Graph | Paths | Stats:

    from memsvc.graph import overview, traverse
    from memsvc.graph.find import check_edge_types, find_node, find_nodes

    moments = _moments(asked, owner)
    await check_edge_types(db, owner, asked.types)
    if asked.stats:
        return await overview.stats(db, owner, **moments)
    if asked.path is not None:
        start, end = [await find_node(db, owner, named, known_at=moments["known_at"]) for named in asked.path]
        hops = PATH_HOPS if asked.hops is None else asked.hops
        return await traverse.paths(db, owner, start, end, max_hops=hops, types=asked.types, **moments)
    if asked.conversation is not None:
        return await _told(db, owner, asked.conversation, asked, moments)
    if not asked.about:
        return await _whole(db, owner, asked, moments)
    nodes = await find_nodes(db, owner, asked.about, known_at=moments["known_at"])
    return await _around(db, owner, nodes, asked, moments)


def _moments(asked: Asked, owner: Owner) -> Moments:
    from memsvc.sources.moments import read_as_of, read_known_at

    return {"as_of": read_as_of(asked.as_of, owner), "known_at": read_known_at(asked.known_at, owner)}


async def _around(db: Database, owner: Owner, nodes: list[UUID], asked: Asked, moments: Moments) -> Graph:
    """Return the nodes within the given hops, and all facts between them."""
    from msgspec.structs import replace

    from memsvc.graph.traverse import neighbourhood, subgraph

    hops = HOPS if asked.hops is None else asked.hops
    if hops <= HOPS:
        return await subgraph(db, owner, nodes, hops=hops, types=asked.types, limit=asked.limit, **moments)
    near = await neighbourhood(db, owner, nodes, hops=hops, types=asked.types, limit=asked.limit, **moments)
    nearby = [node.node_id for node in near.nodes]
    among = await subgraph(db, owner, nearby, types=asked.types, limit=asked.limit, **moments)
    return replace(near, edges=among.edges, truncated=near.truncated or among.truncated)


async def _told(db: Database, owner: Owner, conversation: str, asked: Asked, moments: Moments) -> Graph:
    """Return the facts that a conversation told, up to the limit of nodes."""
    from memsvc.graph.told import graph_told
    from memsvc.sources.read import conversation_called

    source_id = await conversation_called(db, owner, conversation)
    return await graph_told(db, owner, source_id, types=asked.types, limit=asked.limit // ENDS, **moments)


async def _whole(db: Database, owner: Owner, asked: Asked, moments: Moments) -> Graph:
    """Return all nodes and facts, up to the limit of nodes."""
    from memsvc.graph.overview import page
    from memsvc.graph.traverse import Graph

    nodes: dict[UUID, GraphNode] = {}
    edges: list[GraphEdge] = []
    cursor: str | None = None
    while True:
        room = asked.limit - len(nodes)
        found = await page(db, owner, cursor=cursor, limit=room // ENDS, types=asked.types, **moments)
        nodes |= {node.node_id: node for node in found.nodes}
        edges += found.edges
        cursor = found.next_cursor
        if cursor is None or asked.limit - len(nodes) < ENDS:
            return Graph(nodes=[*nodes.values()], edges=edges, truncated=cursor is not None)


def _put(found: Any, form: Format | None, zone: tzinfo, output: Path | None, *, whole: bool) -> None:
    """Print the result, or write it to a file that only the user may read, because it holds memories."""
    from memsvc.errors import InvalidRequestError

    if output is None:
        _write(found, form, zone, sys.stdout, whole=whole)
        return
    try:
        with os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            _write(found, form, zone, file, whole=whole)
    except OSError as error:
        raise InvalidRequestError(
            f"{output} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
    note(f"Written to {output}.")


def _write(found: Any, form: Format | None, zone: tzinfo, file: TextIO, *, whole: bool) -> None:
    import msgspec

    from memsvc.cli.tree import MORE, show
    from memsvc.graph.draw import as_graph, draw
    from memsvc.graph.overview import Stats

    if form is None:
        show(found, zone, file, whole=whole)
    elif form == "json" or isinstance(found, Stats):
        file.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        graph = as_graph(found)
        file.write(draw(graph, form, zone))
        if graph.truncated:
            note(MORE)
