"""Reading the graph as JSON or as a drawing: what is near, how nodes are connected, what was told, all in pages."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Any, TypedDict
from zoneinfo import ZoneInfo

from litestar import Controller, Request, Response, get
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.parameters import AsOfParameter, CursorParameter, KnownAtParameter
from memsvc.api.problems import documented
from memsvc.graph.draw import MEDIA_TYPES, Format, as_graph, draw
from memsvc.graph.find import check_edge_types, find_node, find_nodes
from memsvc.graph.overview import GraphPage, Stats, page, stats
from memsvc.graph.read import AsOf, Side
from memsvc.graph.told import graph_told
from memsvc.graph.traverse import Graph, Paths, neighbourhood, paths, subgraph
from memsvc.sources.moments import read_as_of, read_known_at
from memsvc.sources.read import conversation_called

MAX_STARTS = 100
WALK = documented(400, 401, 403, 404, 409, 503)

Starts = Annotated[
    list[str],
    QueryParameter(
        name="node",
        min_items=1,
        max_items=MAX_STARTS,
        description="Where to start: an id, a name or a label. May be repeated. A name that several nodes have is "
        "refused (node_ambiguous); use the id of the one you mean.",
        examples=[Example(value="Ines Albrecht")],
    ),
]
Types = Annotated[
    list[str] | None,
    QueryParameter(name="type", max_items=100, description="Follow only edges of this type. May be repeated."),
]
Along = Annotated[Side, QueryParameter(description="from: follow edges forwards; to: backwards; both.")]
FanOut = Annotated[
    int, QueryParameter(ge=1, le=500, description="The most edges to follow from one node, strongest first.")
]
MostNodes = Annotated[int, QueryParameter(ge=1, le=2_000, description="The most nodes to return.")]
Form = Annotated[
    Format | None,
    QueryParameter(name="format", description="Default: what the Accept header asks for, else json."),
]


class Moments(TypedDict):
    """The valid time and the recorded time to read at."""

    as_of: AsOf
    known_at: datetime | None


def _moments(reader: Caller, as_of: str | None, known_at: str | None) -> Moments:
    return {"as_of": read_as_of(as_of, reader.owner), "known_at": read_known_at(known_at, reader.owner)}


def _chosen(request: Request[Any, Any, Any], form: Format | None) -> Format:
    if form is not None:
        return form
    best = request.accept.best_match([*MEDIA_TYPES.values()], MEDIA_TYPES["json"])
    return next(form for form, media_type in MEDIA_TYPES.items() if media_type == best)


async def _answer(
    request: Request[Any, Any, Any],
    reader: Caller,
    found: Graph | GraphPage | Paths,
    form: Format | None,
    cursor: str | None = None,
) -> Response[Any]:
    """Answer with JSON of what was found, or with a drawing of its nodes and edges."""
    chosen = _chosen(request, form)
    headers = {
        "Vary": "Accept",
        "X-Content-Type-Options": "nosniff",
    }  # a drawing contains text that anybody may have written
    if chosen == "json":
        return Response(found, headers=headers)
    if cursor is not None:
        headers["X-Next-Cursor"] = cursor
    # A large drawing takes half a second, so it is made in a thread.
    drawing = await asyncio.to_thread(draw, as_graph(found), chosen, ZoneInfo(reader.owner.time_zone))
    return Response(drawing.encode(), media_type=MEDIA_TYPES[chosen], headers=headers)


class WalksController(Controller):
    """Reading the graph."""

    path = "/graph"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="pageGraph",
        summary="Read the whole graph",
        description="Returns in pages all facts that hold, with the nodes at their ends, then all nodes without facts. "
        "With `known_at`, all pages show the same moment. A page can be drawn; the header X-Next-Cursor then has the "
        "cursor of the next page.",
        response_description="One page.",
        responses=WALK,
    )
    async def page(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        cursor: CursorParameter = None,
        limit: Annotated[
            int, QueryParameter(ge=1, le=2_000, description="The most facts, or nodes without facts, on a page.")
        ] = 500,
        types: Types = None,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        form: Form = None,
    ) -> Response[GraphPage]:
        """Return one page."""
        await check_edge_types(reader.db, reader.owner, types)
        moments = _moments(reader, as_of, known_at)
        found = await page(reader.db, reader.owner, cursor=cursor, limit=limit, types=types, **moments)
        return await _answer(request, reader, found, form, found.next_cursor)

    @get(
        "/neighbourhood",
        operation_id="walkNeighbourhood",
        summary="Find what is near some nodes",
        description="Returns the nodes within some hops of the given ones, nearest first, and the facts that lead to "
        "them. Merged nodes count as one. `truncated` is true if a limit left something out.",
        response_description="Nodes and facts.",
        responses=WALK,
    )
    async def neighbourhood(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        node: Starts,
        hops: Annotated[int, QueryParameter(ge=0, le=4, description="How many facts away to go.")] = 2,
        types: Types = None,
        side: Along = "both",
        fan_out: FanOut = 25,
        limit: MostNodes = 200,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        form: Form = None,
    ) -> Response[Graph]:
        """Walk."""
        moments = _moments(reader, as_of, known_at)
        await check_edge_types(reader.db, reader.owner, types)
        found = await neighbourhood(
            reader.db,
            reader.owner,
            await find_nodes(reader.db, reader.owner, node, known_at=moments["known_at"]),
            hops=hops,
            types=types,
            side=side,
            fan_out=fan_out,
            limit=limit,
            **moments,
        )
        return await _answer(request, reader, found, form)

    @get(
        "/subgraph",
        operation_id="readSubgraph",
        summary="Read a subgraph",
        description="Returns the given nodes, those within some hops of them, and all facts between any of these.",
        response_description="Nodes and facts.",
        responses=WALK,
    )
    async def subgraph(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        node: Starts,
        hops: Annotated[int, QueryParameter(ge=0, le=2, description="How many facts away to go.")] = 0,
        types: Types = None,
        fan_out: FanOut = 25,
        limit: MostNodes = 500,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        form: Form = None,
    ) -> Response[Graph]:
        """Read it."""
        moments = _moments(reader, as_of, known_at)
        await check_edge_types(reader.db, reader.owner, types)
        found = await subgraph(
            reader.db,
            reader.owner,
            await find_nodes(reader.db, reader.owner, node, known_at=moments["known_at"]),
            hops=hops,
            types=types,
            fan_out=fan_out,
            limit=limit,
            **moments,
        )
        return await _answer(request, reader, found, form)

    @get(
        "/conversation",
        operation_id="readConversationGraph",
        summary="Read what a conversation told",
        description="Returns the facts that messages of a conversation support, the strongest first, and the nodes at "
        "their ends. Facts that only other conversations support are not among them.",
        response_description="Nodes and facts.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def conversation(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        conversation: Annotated[
            str,
            QueryParameter(description="Its id or the client's identifier.", examples=[Example(value="moves")]),
        ],
        types: Types = None,
        limit: Annotated[
            int, QueryParameter(ge=1, le=2_000, description="The most facts to return, the strongest first.")
        ] = 500,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        form: Form = None,
    ) -> Response[Graph]:
        """Read it."""
        moments = _moments(reader, as_of, known_at)
        await check_edge_types(reader.db, reader.owner, types)
        source_id = await conversation_called(reader.db, reader.owner, conversation)
        found = await graph_told(reader.db, reader.owner, source_id, types=types, limit=limit, **moments)
        return await _answer(request, reader, found, form)

    @get(
        "/paths",
        operation_id="findPaths",
        summary="Find paths between two nodes",
        description="Returns the shortest paths from one node to another, each as its nodes and facts in order. Of "
        "several facts between the same two nodes, it shows the strongest. If `complete` is false, the search stopped "
        "early.",
        response_description="Paths, all of the same length; none if the nodes are not connected.",
        responses=WALK,
    )
    async def paths(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        from_node: Annotated[
            str,
            QueryParameter(
                name="from",
                description="Id, name or label of the first node.",
                examples=[Example(value="Ines Albrecht")],
            ),
        ],
        to_node: Annotated[
            str,
            QueryParameter(
                name="to", description="Id, name or label of the last node.", examples=[Example(value="Porto")]
            ),
        ],
        max_hops: Annotated[int, QueryParameter(ge=1, le=6, description="The longest path, in facts.")] = 4,
        types: Types = None,
        side: Along = "both",
        limit: Annotated[int, QueryParameter(ge=1, le=50, description="The most paths to return.")] = 5,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        form: Form = None,
    ) -> Response[Paths]:
        """Find them."""
        moments = _moments(reader, as_of, known_at)
        await check_edge_types(reader.db, reader.owner, types)
        start = await find_node(reader.db, reader.owner, from_node, known_at=moments["known_at"])
        end = await find_node(reader.db, reader.owner, to_node, known_at=moments["known_at"])
        found = await paths(
            reader.db, reader.owner, start, end, max_hops=max_hops, types=types, side=side, limit=limit, **moments
        )
        return await _answer(request, reader, found, form)

    @get(
        "/stats",
        operation_id="graphStats",
        summary="Count nodes and facts",
        description="Returns the numbers of nodes and facts, by type.",
        response_description="Counts.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def stats(
        self, reader: NamedDependency[Caller], as_of: AsOfParameter = None, known_at: KnownAtParameter = None
    ) -> Stats:
        """Count."""
        return await stats(reader.db, reader.owner, **_moments(reader, as_of, known_at))
