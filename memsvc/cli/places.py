"""``memsvc places``: where nodes are, and what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, print_json, print_table

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.history import Change
    from memsvc.graph.places import Location, Near, Nearby

places = typer.Typer(help="Where nodes are, and what is near.", rich_markup_mode=None)
NodeRef = typer.Argument(help="Its name, label or id.", metavar="NODE")
ByHand = "user"
NEAR_M = 10_000
"""Below it, metres are shown as metres."""


@places.command("add", context_settings={"ignore_unknown_options": True})  # numbers may be negative
def add(
    node: str = NodeRef,
    latitude: float = typer.Argument(help="Degrees north, -90 to 90.", metavar="LAT"),
    longitude: float = typer.Argument(help="Degrees east, -180 to 180.", metavar="LON"),
    radius: float = typer.Option(0.0, "--radius", help="How far around that point it reaches, in metres."),
    since: str | None = typer.Option(None, "--since", help="From when: a date or an ISO 8601 time."),
    until: str | None = typer.Option(None, "--until", help="The first moment at which it was not there any more."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Say where a node is. Where else it was said to be in that time is superseded."""

    async def act(db: Database, owner: Owner) -> Change:
        from memsvc.graph.find import find_node
        from memsvc.graph.history import write
        from memsvc.graph.operations import Location
        from memsvc.sources.moments import read_moment

        there = Location(
            node=await find_node(db, owner, node),
            latitude=latitude,
            longitude=longitude,
            radius_m=radius,
            valid_from=read_moment(since, owner, "since"),
            valid_to=read_moment(until, owner, "until"),
        )
        return await write(db, owner, [there], asserted_by=ByHand)

    change: Change = for_owner(user, app, act)
    print(f"{change.results[0].outcome} | change {change.change_id}")


@places.command("end")
def end(
    node: str = NodeRef,
    at: str | None = typer.Option(None, "--at", help="Until then it was where it was; not given: it never was there."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """A node is not there any more, or never was. Its past stays in the history."""

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
    known_at: str | None = typer.Option(None, "--known-at", help="As memsvc knew it then."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Where a node is and was, the newest first."""

    async def act(db: Database, owner: Owner) -> list[Location]:
        from memsvc.graph.find import find_node
        from memsvc.graph.places import locations
        from memsvc.graph.read import ALWAYS
        from memsvc.sources.moments import read_known_at

        known = read_known_at(known_at, owner)
        found = await find_node(db, owner, node, known_at=known)
        return await locations(db, owner, found, as_of=ALWAYS, known_at=known)

    found: list[Location] = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    print_table(
        ["lat", "lon", "radius", "since", "until"],
        [[one.latitude, one.longitude, f"{one.radius_m:g} m", *_span(one)] for one in found],
    )


@places.command("nearby", context_settings={"ignore_unknown_options": True})
def nearby(
    latitude: float = typer.Argument(help="Degrees north, -90 to 90.", metavar="LAT"),
    longitude: float = typer.Argument(help="Degrees east, -180 to 180.", metavar="LON"),
    radius: float | None = typer.Option(None, "--radius", "-r", help="Metres around it; else however far."),
    limit: int = typer.Option(20, "--limit", "-k", min=1, max=1000, help="At most so many, the nearest."),
    type_: list[str] = typer.Option([], "--type", help="Only nodes of this type; may be given several times."),
    as_of: str | None = typer.Option(None, "--as-of", help="Who was there then: a date, an ISO 8601 time, or always."),
    known_at: str | None = typer.Option(None, "--known-at", help="As memsvc knew it then."),
    geojson: bool = typer.Option(False, "--geojson", help="Print GeoJSON, for maps."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """What is near a point, the nearest first."""
    from memsvc.graph.places import area, as_geojson
    from memsvc.graph.places import nearby as search

    where = area(latitude, longitude, radius)

    async def act(db: Database, owner: Owner) -> Nearby:
        from memsvc.sources.moments import read_as_of, read_known_at

        moments = {"as_of": read_as_of(as_of, owner) if as_of else None, "known_at": read_known_at(known_at, owner)}
        return await search(db, owner, where, types=type_ or None, limit=limit, **moments)  # type: ignore[arg-type]

    found: Nearby = for_owner(user, app, act)
    if geojson:
        print_json(as_geojson(found))
    elif as_json:
        print_json(found)
    else:
        print_table(
            ["away", "label", "type", "since", "until", "node"],
            [[_far(one.metres), one.label, one.type, *_span(one), one.node_id] for one in found.items],
        )
        if found.truncated:
            print("… and more: --limit shows them.")


def _far(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < NEAR_M else f"{metres / 1000:,.1f} km"


def _span(one: Location | Near) -> tuple[str, str]:
    """When it was there; nothing where there is no bound."""
    return (
        f"{one.valid_from:%Y-%m-%d %H:%M}" if one.valid_from else "",
        f"{one.valid_to:%Y-%m-%d %H:%M}" if one.valid_to else "",
    )
