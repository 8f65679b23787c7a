"""Walking the graph: what is near, how two nodes are joined, all of it page by page; as JSON or drawn."""

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
from memsvc.graph.traverse import Graph, Paths, neighbourhood, paths, subgraph
from memsvc.sources.moments import read_as_of, read_known_at

MAX_STARTS = 100
WALK = documented(400, 401, 403, 404, 409, 503)

Starts = Annotated[
    list[str],
    QueryParameter(
        name="node",
        min_items=1,
        max_items=MAX_STARTS,
        description="Where to begin: an id, a name or a label; may be given several times. What several nodes are "
        "called is refused (node_ambiguous): name the one that is meant by its id.",
        examples=[Example(value="Ines Albrecht")],
    ),
]
Types = Annotated[
    list[str] | None,
    QueryParameter(
        name="type", max_items=100, description="Only along edges of this type; may be given several times."
    ),
]
Along = Annotated[Side, QueryParameter(description="from: along edges only; to: against them; both.")]
FanOut = Annotated[
    int, QueryParameter(ge=1, le=500, description="Most edges that are followed from one node, the strongest first.")
]
MostNodes = Annotated[int, QueryParameter(ge=1, le=2_000, description="Most nodes.")]
Form = Annotated[
    Format | None,
    QueryParameter(name="format", description="Else the Accept header chooses, among their media types; else json."),
]


class Moments(TypedDict):
    """At which times one looks."""

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
    """JSON of what was found, or a drawing of its nodes and edges."""
    chosen = _chosen(request, form)
    headers = {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}  # a drawing holds what anybody ever wrote
    if chosen == "json":
        return Response(found, headers=headers)
    if cursor is not None:
        headers["X-Next-Cursor"] = cursor
    # A large one takes half a second: others are answered meanwhile.
    drawing = await asyncio.to_thread(draw, as_graph(found), chosen, ZoneInfo(reader.owner.time_zone))
    return Response(drawing.encode(), media_type=MEDIA_TYPES[chosen], headers=headers)


class WalksController(Controller):
    """Walks."""

    path = "/graph"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="pageGraph",
        summary="Read all of the graph",
        description="All facts that hold, with the nodes at their ends, then all nodes without facts, page by page. "
        "With `known_at`, all pages are of one moment. A page can be drawn; the cursor of the next one then is in the "
        "header X-Next-Cursor.",
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
            int, QueryParameter(ge=1, le=2_000, description="Most facts, or most nodes without facts.")
        ] = 500,
        types: Types = None,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        form: Form = None,
    ) -> Response[GraphPage]:
        """One page."""
        await check_edge_types(reader.db, reader.owner, types)
        moments = _moments(reader, as_of, known_at)
        found = await page(reader.db, reader.owner, cursor=cursor, limit=limit, types=types, **moments)
        return await _answer(request, reader, found, form, found.next_cursor)

    @get(
        "/neighbourhood",
        operation_id="walkNeighbourhood",
        summary="Walk from nodes to what is near",
        description="Nodes within some hops of the given ones, nearest first, and the facts by which they were "
        "reached. Merged nodes are one. `truncated` says that a bound left something out.",
        response_description="Nodes and facts.",
        responses=WALK,
    )
    async def neighbourhood(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        node: Starts,
        hops: Annotated[int, QueryParameter(ge=0, le=4, description="How far.")] = 2,
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
        summary="Read what is among nodes",
        description="The given nodes, those within some hops of them, and all facts among these.",
        response_description="Nodes and facts.",
        responses=WALK,
    )
    async def subgraph(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        node: Starts,
        hops: Annotated[int, QueryParameter(ge=0, le=2, description="How far.")] = 0,
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
        "/paths",
        operation_id="findPaths",
        summary="Find how two nodes are joined",
        description="The shortest ways from one node to another, each as its nodes and facts in order; of several "
        "facts between the same two nodes the strongest one. Where `complete` is false, the search gave up.",
        response_description="Ways, all of one length; none where they are not joined.",
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
        max_hops: Annotated[int, QueryParameter(ge=1, le=6, description="Longest way.")] = 4,
        types: Types = None,
        side: Along = "both",
        limit: Annotated[int, QueryParameter(ge=1, le=50, description="Most ways.")] = 5,
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
        summary="Count what is in the graph",
        description="How many nodes and facts there are, of which types.",
        response_description="Counts.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def stats(
        self, reader: NamedDependency[Caller], as_of: AsOfParameter = None, known_at: KnownAtParameter = None
    ) -> Stats:
        """Count."""
        return await stats(reader.db, reader.owner, **_moments(reader, as_of, known_at))
