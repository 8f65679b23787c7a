"""``memsvc places``: set where nodes are, and find nodes near a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, clock, for_owner, print_json, print_table

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.history import Change
    from memsvc.graph.places import Location, Near, Nearby

places = typer.Typer(help="Set where nodes are, and find nodes near a point.", rich_markup_mode=None)
NodeRef = typer.Argument(help="Name, label or id of the node.", metavar="NODE")
ByHand = "user"
NEAR_M = 10_000
"""Shorter distances are shown in metres, longer ones in kilometres."""


@places.command("add", context_settings={"ignore_unknown_options": True})  # numbers may be negative
def add(
    node: str = NodeRef,
    latitude: float = typer.Argument(help="Degrees north, -90 to 90.", metavar="LAT"),
    longitude: float = typer.Argument(help="Degrees east, -180 to 180.", metavar="LON"),
    radius: float = typer.Option(0.0, "--radius", help="Radius of the area around that point, in metres."),
    since: str | None = typer.Option(None, "--since", help="Since when: a date or an ISO 8601 time."),
    until: str | None = typer.Option(None, "--until", help="The first moment at which it was no longer there."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Set where a node is; this supersedes other locations that it had during that time."""

    async def act(db: Database, owner: Owner) -> Change:
        from memsvc.graph.find import find_node
        from memsvc.graph.history import write
        from memsvc.graph.operations import Location
        from memsvc.sources.moments import read_moment

        location = Location(
            node=await find_node(db, owner, node),
            latitude=latitude,
            longitude=longitude,
            radius_m=radius,
            valid_from=read_moment(since, owner, "since"),
            valid_to=read_moment(until, owner, "until"),
        )
        return await write(db, owner, [location], asserted_by=ByHand)

    change: Change = for_owner(user, app, act)
    print(f"{change.results[0].outcome} | change {change.change_id}")


@places.command("end")
def end(
    node: str = NodeRef,
    at: str | None = typer.Option(None, "--at", help="When it left; default: it was never there."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Record that a node has left its location, or was never there. The history keeps it."""

    async def act(db: Database, owner: Owner) -> Change:
        from memsvc.graph.find import find_node
        from memsvc.graph.history import write
        from memsvc.graph.operations import Close, Retract, Thread
        from memsvc.sources.moments import read_moment

        thread = Thread(node=await find_node(db, owner, node), place=True)
        moment = read_moment(at, owner, "at")
        ended = Retract(thread=thread) if moment is None else Close(thread=thread, at=moment)
        return await write(db, owner, [ended], asserted_by=ByHand)

    change: Change = for_owner(user, app, act)
    print(f"{change.results[0].outcome} | change {change.change_id}")


@places.command("show")
def show(
    node: str = NodeRef,
    known_at: str | None = typer.Option(None, "--known-at", help="What memsvc knew at this date or time."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show where a node is and was, newest first."""

    async def act(db: Database, owner: Owner) -> tuple[list[Location], Owner]:
        from memsvc.graph.find import find_node
        from memsvc.graph.places import locations
        from memsvc.graph.read import ALWAYS
        from memsvc.sources.moments import read_known_at

        known = read_known_at(known_at, owner)
        found = await find_node(db, owner, node, known_at=known)
        return await locations(db, owner, found, as_of=ALWAYS, known_at=known), owner

    found, owner = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    print_table(
        ["lat", "lon", "radius", "since", "until"],
        [[one.latitude, one.longitude, f"{one.radius_m:g} m", *_span(one, owner)] for one in found],
    )


@places.command("nearby", context_settings={"ignore_unknown_options": True})
def nearby(
    latitude: float = typer.Argument(help="Degrees north, -90 to 90.", metavar="LAT"),
    longitude: float = typer.Argument(help="Degrees east, -180 to 180.", metavar="LON"),
    radius: float | None = typer.Option(None, "--radius", "-r", help="Radius in metres; default: any distance."),
    limit: int = typer.Option(20, "--limit", "-k", min=1, max=1000, help="Most nodes to show, nearest first."),
    type_: list[str] = typer.Option([], "--type", help="Only nodes of this type; repeatable."),
    as_of: str | None = typer.Option(
        None, "--as-of", help="What was there at this date or ISO 8601 time, or 'always'."
    ),
    known_at: str | None = typer.Option(None, "--known-at", help="What memsvc knew at this date or time."),
    geojson: bool = typer.Option(False, "--geojson", help="Print GeoJSON, for maps."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show the nodes near a point, nearest first."""
    from memsvc.graph.places import area, as_geojson
    from memsvc.graph.places import nearby as search

    where = area(latitude, longitude, radius)

    async def act(db: Database, owner: Owner) -> tuple[Nearby, Owner]:
        from memsvc.sources.moments import read_as_of, read_known_at

        moments = {"as_of": read_as_of(as_of, owner) if as_of else None, "known_at": read_known_at(known_at, owner)}
        found = await search(db, owner, where, types=type_ or None, limit=limit, **moments)  # type: ignore[arg-type]
        return found, owner

    found, owner = for_owner(user, app, act)
    if geojson:
        print_json(as_geojson(found))
    elif as_json:
        print_json(found)
    else:
        print_table(
            ["away", "label", "type", "since", "until", "node"],
            [[_far(one.metres), one.label, one.type, *_span(one, owner), one.node_id] for one in found.items],
        )
        if found.truncated:
            print("… and more: --limit shows them.")


def _far(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < NEAR_M else f"{metres / 1000:,.1f} km"


def _span(one: Location | Near, owner: Owner) -> tuple[str, str]:
    """Return since and until when it was there, on the user's clock; empty if unbounded."""
    return clock(one.valid_from, owner), clock(one.valid_to, owner)
