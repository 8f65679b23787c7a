"""Places: where nodes are, and what is near."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from litestar import Controller, Response, delete, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter
from msgspec import json

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.operations import PlaceFields
from memsvc.api.parameters import AsOfParameter, KnownAtParameter, OnceParameter
from memsvc.api.problems import documented
from memsvc.db.once import Once
from memsvc.errors import InvalidPlaceError
from memsvc.graph import history
from memsvc.graph.history import Change
from memsvc.graph.operations import Close, Operation, Retract, Thread
from memsvc.graph.places import Locations, Nearby, area, as_geojson, locations, nearby
from memsvc.sources.moments import read_as_of, read_known_at, read_moment

GEOJSON = "application/geo+json"
WORKSHOP = {"latitude": 52.52, "longitude": 13.405, "radius_m": 25, "valid_from": "2026-03-01"}


class LocationController(Controller):
    """Where a node is."""

    path = "/nodes/{node_id:uuid}/location"
    tags = ("graph",)

    @post(
        operation_id="locateNode",
        summary="Say where a node is",
        description="It is there, over the given time. Where else it was said to be in that time is superseded, and "
        "stays in the history; so a person who moves has one location after the other.",
        response_description="The change.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def locate(
        self,
        data: Annotated[PlaceFields, BodyKwarg(examples=[Example(value=WORKSHOP)])],
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
        idempotency_key: OnceParameter = None,
    ) -> Change:
        """Say it."""
        operations = [data.location(writer.owner, node_id)]
        once = Once.of(f"locateNode {node_id}", idempotency_key, data)
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by, once=once)

    @get(
        operation_id="nodeLocations",
        summary="Where a node is, and was",
        description="Its locations and those of all nodes that are the same, the newest valid time first: all of them, "
        "or those that hold at as_of. What was superseded is in the node's history, and here with known_at.",
        response_description="The locations.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(
        self,
        reader: NamedDependency[Caller],
        node_id: FromPath[UUID],
        as_of: Annotated[
            str | None,
            QueryParameter(description="Where it was then: ISO 8601. Every time, where it is not given."),
        ] = None,
        known_at: KnownAtParameter = None,
    ) -> Locations:
        """Look."""
        found = await locations(
            reader.db,
            reader.owner,
            node_id,
            as_of=read_as_of(as_of or "always", reader.owner),
            known_at=read_known_at(known_at, reader.owner),
        )
        return Locations(items=found)

    @delete(
        status_code=200,
        operation_id="endLocation",
        summary="A node is not there any more, or never was",
        description="With ended_at: it was where it was until then. Without: it never was there, at no time. Both stay "
        "in the history; DELETE of its message erases.",
        response_description="The change; outcome unchanged: it was nowhere anyway.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def end(
        self,
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
        ended_at: Annotated[
            str | None, QueryParameter(description="The first moment at which it was not there any more (ISO 8601).")
        ] = None,
    ) -> Change:
        """End it."""
        at = read_moment(ended_at, writer.owner, "ended_at")
        thread = Thread(node=node_id, place=True)
        operation: Operation = Retract(thread=thread) if at is None else Close(thread=thread, at=at)
        return await history.write(writer.db, writer.owner, [operation], asserted_by=writer.asserted_by)


class NearbyController(Controller):
    """What is near."""

    path = "/nearby"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="nearby",
        summary="What is near a place",
        description="Locations of nodes, the nearest first: around a point (lat and lon), within a radius or the k "
        "nearest; or in a box. Now, at a moment (as_of), or at some time in a span (valid_from, valid_to). A node "
        "comes as often as it has locations there in that time. Metres are great circles on a sphere of the Earth's "
        "mean radius, the same whether the database has PostGIS or cube; without both it answers 501 "
        "(capability_missing).",
        response_description="What is near.",
        responses=documented(400, 401, 403, 404, 501, 503),
    )
    async def near(
        self,
        *,
        reader: NamedDependency[Caller],
        lat: Annotated[
            float | None, QueryParameter(description="Degrees north (WGS 84).", examples=[Example(value=52.52)])
        ] = None,
        lon: Annotated[
            float | None, QueryParameter(description="Degrees east (WGS 84).", examples=[Example(value=13.405)])
        ] = None,
        radius: Annotated[
            float | None, QueryParameter(description="Metres around it; however far, where it is not given.")
        ] = None,
        k: Annotated[int, QueryParameter(ge=1, le=1_000, description="At most so many.")] = 50,
        box: Annotated[
            str | None,
            QueryParameter(
                description="west,south,east,north in degrees, as GeoJSON has it; west of east, or across the "
                "antimeridian. Alone: the nearest to its middle go first."
            ),
        ] = None,
        types: Annotated[
            list[str] | None,
            QueryParameter(name="type", max_items=100, description="Only nodes of this type; may be repeated."),
        ] = None,
        as_of: AsOfParameter = None,
        valid_from: Annotated[
            str | None, QueryParameter(description="There at some time from then on (ISO 8601), instead of as_of.")
        ] = None,
        valid_to: Annotated[str | None, QueryParameter(description="There at some time before then.")] = None,
        known_at: KnownAtParameter = None,
        form: Annotated[
            Literal["json", "geojson"],
            QueryParameter(name="format", description="geojson: a FeatureCollection for maps (RFC 7946)."),
        ] = "json",
    ) -> Response[Nearby]:
        """Look around."""
        begin, end = (
            read_moment(value, reader.owner, field)
            for value, field in ((valid_from, "valid_from"), (valid_to, "valid_to"))
        )
        found = await nearby(
            reader.db,
            reader.owner,
            area(lat, lon, radius, _sides(box)),
            types=types,
            as_of=read_as_of(as_of, reader.owner),
            during=(begin, end) if begin is not None or end is not None else None,
            known_at=read_known_at(known_at, reader.owner),
            limit=k,
        )
        headers = {"X-Content-Type-Options": "nosniff"}  # labels are what anybody ever wrote
        if form == "json":
            return Response(found, headers=headers)
        drawn: Response[Any] = Response(json.encode(as_geojson(found)), media_type=GEOJSON, headers=headers)
        return drawn


def _sides(box: str | None) -> list[float] | None:
    """The numbers of a box."""
    if box is None:
        return None
    try:
        return [float(side) for side in box.split(",")]
    except ValueError:
        raise InvalidPlaceError(
            "A box is four numbers.", hint="box=west,south,east,north, in degrees.", field="box"
        ) from None
