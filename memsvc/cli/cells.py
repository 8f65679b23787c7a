"""``memsvc cells``: the databases of a deployment, each with some of the users."""

from __future__ import annotations

import typer

from memsvc.cli.common import AsJson, note, opened, print_json, print_table
from memsvc.text.counts import counted

cells = typer.Typer(
    help="Manage cells: further databases, each with the memories of some users.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
MEGABYTE = 1_000_000
Weight = typer.Option(1, min=0, max=1_000, help="Its share of new users, relative to the other cells; 0: none.")
Name = typer.Argument(help="The cell's name.", metavar="NAME")


@cells.command("list")
def list_all(as_json: bool = AsJson) -> None:
    """List the cells with their users and sizes."""
    from memsvc.cells.managing import list_states

    with opened() as (admin_url, settings):
        found = list_states(admin_url, settings)
    if as_json:
        print_json(found)
        return
    print_table(
        ("cell", "weight", "users", "passages", "MB", "revision", "address"),
        [
            (
                one.name,
                one.weight,
                one.users,
                one.passages,
                None if one.bytes is None else round(one.bytes / MEGABYTE),
                one.revision if one.answers else "does not answer",
                one.url or "MEMSVC_DATABASE_URL",
            )
            for one in found
        ],
    )


@cells.command("add")
def add(
    name: str = Name,
    url: str = typer.Argument(help="postgresql://host:port/database, without a login.", metavar="URL"),
    weight: int = Weight,
) -> None:
    """Add an empty database on which 'memsvc db upgrade' was run, or give a cell another address."""
    from memsvc.cells.managing import add_cell

    with opened() as (admin_url, settings):
        cell = add_cell(admin_url, settings, name, url, weight)
    print(f"The cell {cell.name} takes part. Running processes know it within ten seconds.")
    print("It needs workers of its own: memsvc worker, with its database as MEMSVC_DATABASE_URL.")


@cells.command("weight")
def weigh(name: str = Name, weight: int = typer.Argument(min=0, max=1_000, help="Its share of new users.")) -> None:
    """Set a cell's share of new users."""
    from memsvc.cells.managing import HOME_NAME, read_cells, weigh_cell

    with opened() as (admin_url, _settings):
        weigh_cell(admin_url, name, weight)
        total = sum(cell.weight for cell in read_cells(admin_url))
    if total == 0:
        print(f"The cell {name} has the weight 0, and no cell has more: new users still come to {HOME_NAME}.")
    elif weight == 0:
        print(f"No new users come to {name}; it keeps those that it has.")
    else:
        print(f"New users come to {name} with the weight {weight} of {total}.")


@cells.command("drain")
def drain(
    name: str = Name,
    to: str | None = typer.Option(None, "--to", help="The only cell to move users to; default: by weights."),
) -> None:
    """Empty a cell: it gets no new users, and its users are moved to other cells. A repeated call continues."""
    from memsvc.cells.draining import drain_cell

    with opened() as (admin_url, settings):
        done = drain_cell(admin_url, settings, name, to, note)
    print(f"{counted(done.moved, 'user')} moved, {done.failed} stayed.")
    if done.failed:
        raise typer.Exit(1)


@cells.command("remove")
def remove(name: str = Name) -> None:
    """Remove a cell without users from the directory. Its database stays as it is."""
    from memsvc.cells.managing import remove_cell

    with opened() as (admin_url, _settings):
        remove_cell(admin_url, name)
    print(f"The cell {name} is removed.")


@cells.command("upgrade")
def upgrade(names: list[str] = typer.Argument(None, help="Only these cells.", metavar="NAME")) -> None:
    """Upgrade the databases of all cells one after another, the home last. Safe to repeat, also while in use."""
    from memsvc.cells.managing import upgrade_cells

    with opened() as (admin_url, settings):
        done = upgrade_cells(admin_url, settings, names or (), note)
    print_table(("cell", "revision"), [(name, one.to_revision) for name, one in done.items()])


@cells.command("doctor")
def doctor(
    erase_strays: bool = typer.Option(False, help="Erase users in cells that they have left."),
    erase_unknown: bool = typer.Option(
        False, help="With --erase-strays: also users whom the directory does not know. Not after a restore of the home."
    ),
    as_json: bool = AsJson,
) -> None:
    """Compare the directory with all cells. Exit code 1: something is wrong."""
    from memsvc.cells.managing import examine
    from memsvc.cells.strays import erase_strays as erase

    with opened() as (admin_url, settings):
        if erase_strays:
            for name, erased in erase(admin_url, settings, note, unknown=erase_unknown).items():
                note(f"{name}: erased {counted(erased, 'user who is', 'users who are')} not there")
        found = examine(admin_url, settings)
    if as_json:
        print_json(found)
    else:
        print_table(("cell", "state", "what", "hint"), [(one.cell, one.state, one.what, one.hint) for one in found])
    if any(one.state == "wrong" for one in found):
        raise typer.Exit(1)
