"""Locations of nodes: where they are and were, and which nodes are near a point, at two times.

Locations are versions in the graph's history, like names (``memsvc.graph.history``). They are searched with an index of
PostGIS or of cube (``memsvc.server.place_index``). Distances are great circles on a sphere with the Earth's mean
radius, so both give the same results. docs/adr/0028-places.md has the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import psycopg
from sqlalchemy import RowMapping
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import check_page
from memsvc.errors import CapabilityMissingError, InvalidIntervalError, InvalidPlaceError, InvalidRequestError
from memsvc.graph.operations import HALF_WAY_M, latitude, longitude, radius
from memsvc.graph.read import AsOf, Version, resolve, times
from memsvc.graph.search import check_type

EARTH_M = 6_371_008.7714
"""Mean radius of the Earth in metres; the same number as in ``memsvc.metres_between``."""
MOMENT = timedelta(microseconds=1)
"""The shortest span of time; it turns a moment into a span."""
MOST_NODES = 500
"""Most locations of an area whose nodes restrict a recall."""
BOX_SIDES = 4
NOTHING_TO_SEARCH_BY = "MS005"
"""SQLSTATE of ``memsvc.match_locations`` if the database has neither extension."""
FULL_TURN, EDGE = 360.0, 180.0


class Location(Version, frozen=True, kw_only=True):
    """A location of a node."""

    canonical_id: UUID
    node_id: UUID
    """The node as it was written, before merges."""
    location_id: UUID
    latitude: float
    longitude: float
    radius_m: float


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A location that a search found."""

    node_id: UUID
    """The canonical node, which represents all nodes merged into it."""
    label: str | None
    type: str | None
    location_id: UUID
    stored_id: UUID
    """The node as it was written, before merges."""
    latitude: float
    longitude: float
    radius_m: float
    metres: float
    """Distance from the given point; in a box, from its centre."""
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_from: datetime
    recorded_to: datetime | None


class Locations(msgspec.Struct, frozen=True, kw_only=True):
    """Locations of a node, present and past."""

    items: list[Location]
    """Newest valid time first."""


class Nearby(msgspec.Struct, frozen=True, kw_only=True):
    """Locations near a point or in a box."""

    items: list[Near]
    """Nearest first."""
    truncated: bool
    """There are more: use a smaller radius or a higher limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Where to search: around a point, in a box, or in the part of a box around a point."""

    latitude: float
    longitude: float
    radius_m: float | None = None
    """None: any distance."""
    box: tuple[float, float, float, float] | None = None
    """South, west, north, east in degrees; if west is greater than east, the box crosses the antimeridian."""


def area(
    lat: float | None = None,
    lon: float | None = None,
    radius_m: float | None = None,
    box: Sequence[float] | None = None,
) -> Area:
    """Check where to search, and return it as an ``Area``.

    Args:
        lat: degrees north of a point.
        lon: degrees east of it.
        radius_m: metres around it; None: any distance.
        box: west, south, east, north in degrees, in the order of GeoJSON (RFC 7946, section 5); None: no box.

    Raises:
        InvalidPlaceError: there is no such point, radius or box.
        InvalidRequestError: neither a point nor a box is given.
    """
    if (lat is None) != (lon is None):
        raise InvalidPlaceError("A point has both lat and lon.", field="lat" if lat is None else "lon")
    sides = _sides(box) if box is not None else None
    if lat is not None and lon is not None:
        checked = radius(radius_m, "radius") if radius_m is not None else None
        return Area(latitude=latitude(lat, "lat"), longitude=longitude(lon, "lon"), radius_m=checked, box=sides)
    if radius_m is not None:
        raise InvalidPlaceError("A radius needs its centre.", hint="Give lat and lon.", field="radius")
    if sides is None:
        raise InvalidRequestError("The area is missing.", hint="Give lat and lon, or box=west,south,east,north.")
    return _around(sides)


def _sides(box: Sequence[float]) -> tuple[float, float, float, float]:
    if len(box) != BOX_SIDES:
        raise InvalidPlaceError("A box has four sides.", hint="box=west,south,east,north, in degrees.", field="box")
    west, south, east, north = box
    low, high = latitude(south, "box"), latitude(north, "box")
    if low > high:
        raise InvalidPlaceError(
            "The south of the box is north of its north.", hint="box=west,south,east,north, in degrees.", field="box"
        )
    for side in (west, east):
        longitude(side, "box")
    on_the_edge = abs(west) == abs(east) == EDGE
    if on_the_edge and (west, east) != (-EDGE, EDGE):  # both sides are the antimeridian: -180 and 180 are the same
        return low, -EDGE, high, -EDGE
    return low, -EDGE if west == EDGE else float(west), high, EDGE if east == -EDGE else float(east)


def _around(box: tuple[float, float, float, float]) -> Area:
    """Return a box with its centre and the radius of a circle around it, with which an index can start.

    Within a quarter turn of the centre, no point of a box is farther away than its corners.
    """
    south, west, north, east = box
    width = east - west if west <= east else east - west + FULL_TURN
    middle_latitude, half = (south + north) / 2, width / 2
    middle = west + half
    middle = middle - FULL_TURN if middle >= FULL_TURN / 2 else middle
    radius_m: float | None = None
    if width <= FULL_TURN / 2:
        corners = (metres_between(middle_latitude, 0, side, half) for side in (south, north))
        radius_m = min(max(corners) + 1, HALF_WAY_M)
    return Area(latitude=middle_latitude, longitude=middle, radius_m=radius_m, box=box)


def metres_between(latitude_a: float, longitude_a: float, latitude_b: float, longitude_b: float) -> float:
    """Return the metres between two points (degrees) along a great circle, by the haversine formula.

    A test compares it with ``memsvc.metres_between``.
    """
    a, b = math.radians(latitude_a), math.radians(latitude_b)
    height = math.sin((b - a) / 2) ** 2
    width = math.sin(math.radians(longitude_b - longitude_a) / 2) ** 2
    return 2 * EARTH_M * math.asin(math.sqrt(min(1.0, height + math.cos(a) * math.cos(b) * width)))


async def locations(
    db: Database, owner: Owner, node: UUID, *, as_of: AsOf = None, known_at: datetime | None = None
) -> list[Location]:
    """Return the locations of a node and the nodes merged into it, newest valid time first.

    Raises:
        NodeUnknownError: there is no such node.
    """
    await resolve(db, owner, [node], known_at=known_at)
    asked = {"user_id": owner.user_id, "nodes": [node], **times(as_of, known_at)}
    async with db.transaction(owner.user_id) as connection:
        found = await connection.execute(query("node_locations"), asked)
        return [Location(**row) for row in found.mappings()]


async def _search(connection: AsyncConnection, asked: dict[str, Any]) -> Sequence[RowMapping]:
    """Run the statement ``nearby``.

    Raises:
        CapabilityMissingError: the database cannot search places.
    """
    try:
        return (await connection.execute(query("nearby"), asked)).mappings().all()
    except DBAPIError as error:
        if not isinstance(error.orig, psycopg.Error) or error.orig.sqlstate != NOTHING_TO_SEARCH_BY:
            raise
        raise CapabilityMissingError(
            "Places cannot be searched: the database has neither PostGIS nor cube.",
            hint="Install one of them on the server and run 'memsvc db upgrade'; locations are stored in the meantime.",
            capability="places",
        ) from error


async def nearby(
    db: Database,
    owner: Owner,
    where: Area,
    *,
    types: Sequence[str] | None = None,
    as_of: AsOf = None,
    during: tuple[datetime | None, datetime | None] | None = None,
    known_at: datetime | None = None,
    limit: int = 50,
) -> Nearby:
    """Return the locations in an area, nearest first. A node appears once for each of its locations there.

    Args:
        db: the database.
        owner: the user whose graph is read.
        where: the area.
        types: only nodes of these types.
        as_of: nodes that are there at this moment; None: now; "always": at any time.
        during: instead of ``as_of``, nodes that are there at some time in a span; None as a bound: open.
        known_at: recorded time.
        limit: most locations, 1 to 1,000.

    Raises:
        InvalidIntervalError: the span ends before it begins.
        TypeUnknownError: the ontology has no such node type.
        CapabilityMissingError: the database cannot search places.
    """
    check_page(limit)
    both = times(as_of, known_at)
    moment = both["as_of"]
    asked: dict[str, Any] = {
        "user_id": owner.user_id,
        "types": list(types) if types else None,
        "limit": limit + 1,
        "valid_from": moment or "-infinity",
        "valid_to": moment + MOMENT if moment is not None else "infinity",
        **both,
        **_parameters(where),
    }
    if during is not None:
        if as_of is not None:
            raise InvalidRequestError("Give a moment (as_of) or a span of time, not both.", field="as_of")
        begin, end = during
        if begin is not None and end is not None and end <= begin:
            raise InvalidIntervalError(field="valid_to")
        asked |= {"valid_from": begin or "-infinity", "valid_to": end or "infinity", "as_of": begin}
    async with db.transaction(owner.user_id) as connection:
        for name in dict.fromkeys(types or ()):
            await check_type(connection, name, "node")
        rows = await _search(connection, asked)
    return Nearby(items=[Near(**row) for row in rows[:limit]], truncated=len(rows) > limit)


async def nodes_near(
    connection: AsyncConnection, owner: Owner, where: Area, as_of: datetime | None, known_at: datetime | None
) -> list[UUID]:
    """Return the stored nodes of an area and those merged with them; only the 500 nearest locations count.

    Raises:
        CapabilityMissingError: the database cannot search places.
    """
    moment = as_of or datetime.now(UTC)
    span = {"valid_from": moment, "valid_to": moment + MOMENT, "as_of": moment, "known_at": known_at}
    asked = {"user_id": owner.user_id, "types": None, "limit": MOST_NODES, **span, **_parameters(where)}
    found = await _search(connection, asked)
    same = {"user_id": owner.user_id, "nodes": [row["node_id"] for row in found], "known_at": known_at}
    return list((await connection.execute(query("stored_nodes"), same)).scalars())


def _parameters(where: Area) -> dict[str, Any]:
    """Return an area as parameters of a statement."""
    return {
        "latitude": where.latitude,
        "longitude": where.longitude,
        "radius_m": where.radius_m,
        "box": list(where.box) if where.box is not None else None,
    }


def as_geojson(found: Nearby) -> dict[str, Any]:
    """Return a FeatureCollection of points (RFC 7946), nearest first; all other fields are in ``properties``."""
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "id": str(item.location_id),
                "geometry": {"type": "Point", "coordinates": [item.longitude, item.latitude]},
                "properties": {
                    name: value
                    for name, value in msgspec.to_builtins(item).items()
                    if name not in {"location_id", "latitude", "longitude"}
                },
            }
            for item in found.items
        ],
        "truncated": found.truncated,
    }
