"""``memsvc db reindex``, ``health`` and ``sizes``: rebuild indexes, check the database, and say what takes its room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AsJson, note, opened, print_json, print_table

if TYPE_CHECKING:
    from memsvc.server.care import TableCare

SHOWN = 10


def reindex(
    names: list[str] = typer.Argument(
        None, help="Indexes to rebuild; default: those that keep erased words and grow most.", metavar="[INDEX…]"
    ),
    everything: bool = typer.Option(False, "--all", help="Rebuild all indexes that can be rebuilt while in use."),
    memory: str | None = typer.Option(None, help="maintenance_work_mem to use: 1GB builds vector indexes faster."),
    as_json: bool = AsJson,
) -> None:
    """Rebuild indexes while they are in use, to remove erased words and bloat. If killed, run it again to resume."""
    from memsvc.server.reindex import reindex as rebuild

    with opened() as (admin_url, _settings):
        done = list(rebuild(admin_url, names or (), everything=everything, memory=memory, report=note))
    if as_json:
        print_json(done)
    else:
        print_table(
            ["index", "before", "after", "seconds"],
            [[one.name, _size(one.before), _size(one.after), f"{one.seconds:.1f}"] for one in done],
        )


def health(as_json: bool = AsJson) -> None:
    """Show dead rows, the oldest transaction, wraparound, archiving and broken indexes. Exit code 1: one needs care."""
    from memsvc.server.care import look

    with opened() as (admin_url, _settings):
        found = look(admin_url)
    if as_json:
        print_json({"ok": found.good, "checks": found.checks, "tables": found.tables})
    else:
        print_table(["", "check", ""], [[check.state, check.name, check.says] for check in found.checks])
        print()
        print_table(["table", "size", "live rows", "dead rows", "last vacuum"], [*map(_row, found.tables[:SHOWN])])
    if not found.good:
        raise typer.Exit(1)


def sizes(
    limit: int = typer.Option(SHOWN, "--limit", "-n", min=1, max=1000, help="Most tables and indexes to show."),
    as_json: bool = AsJson,
) -> None:
    """Show how large the database, its tables and its indexes are, the largest first, for all users together."""
    from memsvc.server.sizes import sizes as measure

    with opened() as (admin_url, _settings):
        found = measure(admin_url)
    if as_json:
        print_json(found)
        return
    print(f"database: {_size(found.database)}")
    print_table(
        ["table", "size", "rows alone", "indexes", "number of rows"],
        [
            [one.name, _size(one.total), _size(one.rows), _size(one.indexes), f"about {one.live:,}"]
            for one in found.tables[:limit]
        ],
    )
    print()
    print_table(
        ["index", "table", "kind", "size", "scans"],
        [[one.name, one.table, one.kind, _size(one.total), f"{one.scans:,}"] for one in found.indexes[:limit]],
    )


def _row(table: TableCare) -> list[str]:
    vacuumed = f"{table.vacuumed_at:%Y-%m-%d %H:%M}" if table.vacuumed_at else "never"
    return [table.name, _size(table.size), f"{table.live:,}", f"{table.dead:,}", vacuumed]


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
