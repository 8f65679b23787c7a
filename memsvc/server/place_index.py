"""The index by which places are searched: of PostGIS where it is, else of cube, else none.

The table holds plain numbers, and the index an expression of them: so no dump depends on an extension, and an index
that cannot be restored costs no row. Migrations cannot make it, for an extension may come later, or go; so every
upgrade looks. Which of the two is there is the capability: ``memsvc.places_by()``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from sqlalchemy import Connection, text

from memsvc.db.locks import TOGETHER_MS

By = Literal["postgis", "cube"]
NAMES: dict[By, str] = {"postgis": "locations_geography", "cube": "locations_cube"}
"""In the order in which they are preferred."""
EXPRESSIONS: dict[By, str] = {
    "postgis": "public.geography(public.ST_MakePoint(longitude, latitude))",
    "cube": "public.cube(ARRAY[cosd(latitude) * cosd(longitude), cosd(latitude) * sind(longitude), sind(latitude)])",
}
"""As ``sql/functions/places/20_match_locations.sql`` has them; points of the unit sphere for cube."""
THERE = text(
    "SELECT e.extname FROM pg_extension AS e "
    "WHERE e.extnamespace = 'public'::regnamespace AND e.extname IN ('postgis', 'cube')"
)
INDEXED = text(
    "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'memsvc'::regnamespace "
    "AND c.relname IN ('locations_geography', 'locations_cube')"
)


def index_places(connection: Connection, report: Callable[[str], None], by: By | None = None) -> By | None:
    """Make the index of the best extension that is there, then drop the other one; nothing where all is so already.

    Each in its own transaction, so that an upgrade that dies leaves the old index, or both, and the next one goes on.
    While an index is made, writers of places wait, and readers do not.

    Args:
        connection: the administrator's.
        report: called with a line where something is done.
        by: this extension instead of the best one (benchmarks and tests).

    Returns:
        The extension by which places are searched from now on; None: they are not.
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
            # Samples of the planner would outlive what is erased.
            f"ALTER INDEX memsvc.{NAMES[chosen]} ALTER COLUMN 2 SET STATISTICS 0",
        )
    for name in sorted(indexed - wanted):
        _as_owner(connection, f"DROP INDEX memsvc.{name}")
    return chosen


def _as_owner(connection: Connection, *statements: str) -> None:
    """Run statements in one transaction, which gives up where it does not get its locks soon."""
    connection.execute(text("SET LOCAL ROLE memsvc_owner"))
    connection.execute(text(f"SET LOCAL lock_timeout = '{TOGETHER_MS}ms'"))
    for statement in statements:
        connection.exec_driver_sql(statement)
    connection.commit()
