"""``memsvc ontology``: the types of nodes and edges, and those that a user adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, note, print_json, print_table

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.ontology import AnyType, AnyTypeIn, Decision, Kind, Ontology

ontology = typer.Typer(help="List and manage the types of nodes and edges.", rich_markup_mode=None)
Name = typer.Argument(
    help="The type's name: Pet is a node type, MARRIED_TO (in capitals) an edge type.", metavar="NAME"
)
About = typer.Option(..., "--description", "-d", help="What the type covers, and what it does not.")
Parent = typer.Option(None, "--parent", help="The core type that this type refines.")
Category = typer.Option(None, "--category", help="A category of the core types; default: the parent's.")
Starts = typer.Option(None, "--from", help="Node types at which an edge may start, such as Person,Organization.")
Ends = typer.Option(None, "--to", help="Node types at which an edge may end.")
Functional = typer.Option(
    False, "--functional", help="The edge has one value at a time: a new value closes the old one."
)
Reason = typer.Option("", "--reason", help="The reason, for the person who decides.")
By = typer.Option("user", "--by", help="Who proposes it: user, app, or the name of an extractor.")


def kind_of(name: str) -> Kind:
    """Return the kind of a type by its name: edge types are in capitals; a single letter is a node type."""
    return "edge" if len(name) > 1 and name == name.upper() else "node"


def _ends(types: list[str]) -> str:
    return ",".join(types) or "any"


def _show(found: Ontology) -> None:
    if found.node_types:
        print_table(
            ["node type", "status", "nodes", "refines", "description"],
            [[t.name, t.status, t.nodes, t.parent, t.description] for t in found.node_types],
        )
    if found.node_types and found.edge_types:
        print()
    if found.edge_types:
        print_table(
            ["edge type", "status", "facts", "refines", "from", "to", "values", "description"],
            [
                [
                    t.name, t.status, t.facts, t.parent, _ends(t.from_types), _ends(t.to_types),
                    "one" if t.functional else "many", t.description,
                ]
                for t in found.edge_types
            ],
        )  # fmt: skip


@ontology.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    proposals: bool = typer.Option(False, "--proposals", help="Only types that wait for approval."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List the types, with the current number of nodes and facts of each."""
    if context.invoked_subcommand is not None:
        return

    async def act(db: Database, owner: Owner) -> Ontology:
        from memsvc.graph.ontology import ontology

        return await ontology(db, owner, status="proposed" if proposals else None)

    found: Ontology = for_owner(user, app, act)
    if as_json:
        print_json(found)
    elif proposals and not found.node_types and not found.edge_types:
        note("Nothing waits for approval.")
    else:
        _show(found)


def _said(found: AnyType) -> None:
    print(f"{found.name} is {found.status}.")


def _propose(fields: dict[str, Any], user: str | None, app: str, by: str, *, approve: bool) -> None:
    async def act(db: Database, owner: Owner) -> AnyType:
        from memsvc.errors import InvalidRequestError
        from memsvc.graph.ontology import EdgeTypeIn, NodeTypeIn, propose

        of_edges = {name: fields.pop(name) for name in ("from_types", "to_types", "functional")}
        proposal: AnyTypeIn
        if kind_of(fields["name"]) == "edge":
            proposal = EdgeTypeIn(**fields, **of_edges)
        elif any(of_edges.values()):
            raise InvalidRequestError(
                "--from, --to and --functional are for edge types, and this is a node type.",
                hint="Edge types are written in capitals, as in MARRIED_TO.",
            )
        else:
            proposal = NodeTypeIn(**fields)
        return await propose(db, owner, proposal, by=by, approve=approve)

    _said(for_owner(user, app, act))


def _fields(
    name: str,
    description: str,
    parent: str | None,
    category: str | None,
    starts: str | None,
    ends: str | None,
    functional: bool,
    reason: str,
) -> dict[str, Any]:
    return {
        "name": name, "description": description, "parent": parent, "category": category, "reason": reason,
        "from_types": None if starts is None else [t.strip() for t in starts.split(",") if t.strip()],
        "to_types": None if ends is None else [t.strip() for t in ends.split(",") if t.strip()],
        "functional": functional,
    }  # fmt: skip


@ontology.command("add")
def add(
    name: str = Name,
    description: str = About,
    parent: str | None = Parent,
    category: str | None = Category,
    starts: str | None = Starts,
    ends: str | None = Ends,
    functional: bool = Functional,
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Add a type and approve it, so that it can be used immediately."""
    fields = _fields(name, description, parent, category, starts, ends, functional, "")
    _propose(fields, user, app, "user", approve=True)


@ontology.command("propose")
def propose_type(
    name: str = Name,
    description: str = About,
    parent: str | None = Parent,
    category: str | None = Category,
    starts: str | None = Starts,
    ends: str | None = Ends,
    functional: bool = Functional,
    reason: str = Reason,
    by: str = By,
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Propose a type; it cannot be used until somebody approves it."""
    fields = _fields(name, description, parent, category, starts, ends, functional, reason)
    _propose(fields, user, app, by, approve=False)


def _decide(name: str, status: Decision, user: str | None, app: str) -> None:
    async def act(db: Database, owner: Owner) -> AnyType:
        from memsvc.graph.ontology import decide

        return await decide(db, owner, kind_of(name), name, status, by="user")

    _said(for_owner(user, app, act))


@ontology.command("approve")
def approve(name: str = Name, user: str | None = UserRef, app: str = AppName) -> None:
    """Approve a type for use, also one that was rejected or deprecated."""
    _decide(name, "approved", user, app)


@ontology.command("reject")
def reject(name: str = Name, user: str | None = UserRef, app: str = AppName) -> None:
    """Reject a proposed type; it stays recorded, so that it is not proposed again."""
    _decide(name, "rejected", user, app)


@ontology.command("deprecate")
def deprecate(name: str = Name, user: str | None = UserRef, app: str = AppName) -> None:
    """Deprecate a type: nothing new gets it; existing nodes and facts keep it."""
    _decide(name, "deprecated", user, app)


@ontology.command("withdraw")
def withdraw_type(name: str = Name, user: str | None = UserRef, app: str = AppName) -> None:
    """Delete a type that was never approved."""

    async def act(db: Database, owner: Owner) -> None:
        from memsvc.graph.ontology import withdraw

        await withdraw(db, owner, kind_of(name), name)

    for_owner(user, app, act)
    print(f"{name} was deleted.")
