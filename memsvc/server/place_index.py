"""The index for searching places: with PostGIS if the server has it, else with cube, else none.

The table holds plain numbers, and the index is on an expression of them. So no dump depends on an extension, and an
index that cannot be restored loses no row. Migrations cannot create it, because an extension may be added or removed
later; so every upgrade checks. ``memsvc.places_by()`` reports which index exists, and so whether places are searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from sqlalchemy import Connection, text

from memsvc.db.locks import TOGETHER_MS

By = Literal["postgis", "cube"]
NAMES: dict[By, str] = {"postgis": "locations_geography", "cube": "locations_cube"}
"""The index of each extension, in order of preference."""
EXPRESSIONS: dict[By, str] = {
    "postgis": "public.geography(public.ST_MakePoint(longitude, latitude))",
    "cube": "public.cube(ARRAY[cosd(latitude) * cosd(longitude), cosd(latitude) * sind(longitude), sind(latitude)])",
}
"""The same expressions as in ``sql/functions/places/20_match_locations.sql``; cube uses points of the unit sphere."""
THERE = text(
    "SELECT e.extname FROM pg_extension AS e "
    "WHERE e.extnamespace = 'public'::regnamespace AND e.extname IN ('postgis', 'cube')"
)
INDEXED = text(
    "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'memsvc'::regnamespace "
    "AND c.relname IN ('locations_geography', 'locations_cube')"
)


def index_places(connection: Connection, report: Callable[[str], None], by: By | None = None) -> By | None:
    """Create the index of the best installed extension, then drop the other one; do nothing if that is done already.

    Each step is a transaction of its own, so that an upgrade that dies leaves the old index, or both, and the next one
    continues. While an index is created, writers of places wait, and readers do not.

    Args:
        connection: the administrator's.
        report: called with a line if something is done.
        by: use this extension instead of the best one (benchmarks and tests).

    Returns:
        The extension with which places are searched from now on; None: they are not searched.
    """
    there = set(connection.execute(THERE).scalars())
    indexed = set(connection.execute(INDEXED).scalars())
    connection.rollback()
    chosen = by or next((name for name in NAMES if name in there), None)
    wanted = {NAMES[chosen]} if chosen is not None else set()
    if indexed != wanted:
        report(f"places: index by {chosen or 'nothing'}")
    if chosen is not None and not wanted <= indexed:
        _as_owner(
            connection,
            f"CREATE INDEX {NAMES[chosen]} ON memsvc.locations USING gist (user_id, ({EXPRESSIONS[chosen]}))",
            # The planner's statistics would keep samples of erased places.
            f"ALTER INDEX memsvc.{NAMES[chosen]} ALTER COLUMN 2 SET STATISTICS 0",
        )
    for name in sorted(indexed - wanted):
        _as_owner(connection, f"DROP INDEX memsvc.{name}")
    return chosen


def _as_owner(connection: Connection, *statements: str) -> None:
    """Run statements in one transaction, which fails if it does not get its locks soon."""
    connection.execute(text("SET LOCAL ROLE memsvc_owner"))
    connection.execute(text(f"SET LOCAL lock_timeout = '{TOGETHER_MS}ms'"))
    for statement in statements:
        connection.exec_driver_sql(statement)
    connection.commit()
