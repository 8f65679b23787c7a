"""Places: where nodes are, and what is near a place."""

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
    """The location of a node."""

    path = "/nodes/{node_id:uuid}/location"
    tags = ("graph",)

    @post(
        operation_id="locateNode",
        summary="Set a node's location",
        description="Records that a node is at a place, over the given valid time. Other locations in that time are "
        "superseded and stay in the history, so a person who moves has one location after another.",
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
        """Write it."""
        operations = [data.location(writer.owner, node_id)]
        once = Once.of(f"locateNode {node_id}", idempotency_key, data)
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by, once=once)

    @get(
        operation_id="nodeLocations",
        summary="List a node's locations",
        description="Lists the locations of a node and of the nodes merged with it, newest valid time first: all of "
        "them, or those that hold at as_of. Superseded locations are in the node's history, and here with known_at.",
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
            QueryParameter(description="Only locations that hold at this moment (ISO 8601). Default: all times."),
        ] = None,
        known_at: KnownAtParameter = None,
    ) -> Locations:
        """Return them."""
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
        summary="End or retract a node's location",
        description="With ended_at: the node was at its location until then. Without: it was never at any of its "
        "locations. Both stay in the history. To erase a location, delete the message that it comes from.",
        response_description="The change. The outcome unchanged means that the node had no location.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def end(
        self,
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
        ended_at: Annotated[
            str | None, QueryParameter(description="The first moment at which it is no longer there (ISO 8601).")
        ] = None,
    ) -> Change:
        """End it."""
        at = read_moment(ended_at, writer.owner, "ended_at")
        thread = Thread(node=node_id, place=True)
        operation: Operation = Retract(thread=thread) if at is None else Close(thread=thread, at=at)
        return await history.write(writer.db, writer.owner, [operation], asserted_by=writer.asserted_by)


class NearbyController(Controller):
    """What is near a place."""

    path = "/nearby"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="nearby",
        summary="Find what is near a place",
        description="Lists locations of nodes, nearest first: around a point (lat and lon), within a radius or the k "
        "nearest, or in a box. They hold now, at a moment (as_of), or at some time in a span (valid_from, valid_to). A "
        "node appears once for each of its locations there in that time. Distances are great circles on a sphere of "
        "the Earth's mean radius, in metres, the same with PostGIS and with cube. A database with neither answers 501 "
        "(capability_missing).",
        response_description="The locations.",
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
            float | None, QueryParameter(description="Radius around the point in metres. Default: any distance.")
        ] = None,
        k: Annotated[int, QueryParameter(ge=1, le=1_000, description="The most locations to return.")] = 50,
        box: Annotated[
            str | None,
            QueryParameter(
                description="west,south,east,north in degrees, as in GeoJSON. A box whose west is greater than its "
                "east crosses the antimeridian. Without a point, locations nearest to the centre come first."
            ),
        ] = None,
        types: Annotated[
            list[str] | None,
            QueryParameter(name="type", max_items=100, description="Only nodes of this type. May be repeated."),
        ] = None,
        as_of: AsOfParameter = None,
        valid_from: Annotated[
            str | None,
            QueryParameter(description="There at some time from this moment on (ISO 8601); instead of as_of."),
        ] = None,
        valid_to: Annotated[str | None, QueryParameter(description="There at some time before this moment.")] = None,
        known_at: KnownAtParameter = None,
        form: Annotated[
            Literal["json", "geojson"],
            QueryParameter(name="format", description="geojson: a FeatureCollection for maps (RFC 7946)."),
        ] = "json",
    ) -> Response[Nearby]:
        """Find them."""
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
        headers = {"X-Content-Type-Options": "nosniff"}  # labels may have been written by anybody
        if form == "json":
            return Response(found, headers=headers)
        drawn: Response[Any] = Response(json.encode(as_geojson(found)), media_type=GEOJSON, headers=headers)
        return drawn


def _sides(box: str | None) -> list[float] | None:
    """Parse the numbers of a box."""
    if box is None:
        return None
    try:
        return [float(side) for side in box.split(",")]
    except ValueError:
        raise InvalidPlaceError(
            "A box must be four numbers.", hint="Send box=west,south,east,north in degrees.", field="box"
        ) from None
