"""``memsvc facts``, ``nodes``, ``node``, ``changes``, ``undo``, ``assert``, ``merge`` and ``unmerge``: the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    for_owner,
    note,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.describe import FactsPage, ShownNode
    from memsvc.graph.read import Event, Version

ACTOR = "user"
AsOfOption = typer.Option(
    None, "--as-of", help="When it was true (ISO date or time, on the user's clock), or 'always'."
)
KnownAtOption = typer.Option(None, "--known-at", help="As memsvc knew it then.")
Limit = typer.Option(20, "--limit", "-n", min=1, max=1000, help="At most so many.")


def _times(as_of: str | None, known_at: str | None, owner: Owner) -> dict[str, Any]:
    from memsvc.sources.moments import read_as_of, read_known_at

    return {"as_of": read_as_of(as_of, owner), "known_at": read_known_at(known_at, owner)}


async def _one(db: Database, owner: Owner, asked: str) -> UUID:
    """The node with this id as it is stored, or the one node that is called so."""
    from memsvc.graph.find import find_node
    from memsvc.graph.search import as_id

    return as_id(asked) or await find_node(db, owner, asked)


def _line(text: str | None) -> str:
    from memsvc.graph.draw import one_line

    return one_line(text or "")


def _span(version: Version | Event, owner: Owner) -> str:
    """Valid time for people."""
    return f"{_clock(version.valid_from, owner) or '…'} – {_clock(version.valid_to, owner) or '…'}"


def _clock(moment: datetime | None, owner: Owner) -> str:
    from zoneinfo import ZoneInfo

    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(owner.time_zone))
    return f"{local:%Y-%m-%d}" if (local.hour, local.minute, local.second) == (0, 0, 0) else f"{local:%Y-%m-%d %H:%M}"


def facts(
    about: list[str] = typer.Option(..., "--about", help="An id or a name; may be given several times."),
    fact_type: list[str] = typer.Option(
        [], "--type", "-t", help="Only facts of this type; may be given several times."
    ),
    as_of: str | None = AsOfOption,
    known_at: str | None = KnownAtOption,
    every: bool = typer.Option(False, "--all", help="At whatever time they were true."),
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List facts about nodes, now or as they were, newest first."""
    if every and as_of is not None:
        raise typer.BadParameter("Not together with --as-of.", param_hint="--all")

    async def do(db: Database, owner: Owner) -> tuple[Owner, FactsPage]:
        from memsvc.graph.describe import facts_about

        times = _times("always" if every else as_of, known_at, owner)
        types = fact_type or None
        return owner, await facts_about(db, owner, about, types=types, **times, limit=limit)

    owner, page = for_owner(user, app, do)
    for name in page.ambiguous:
        note(f"{len(name.nodes)} nodes are called {name.name!r}; say which with --about ID:")
        for node in page.about:
            if node.asked == name.name:
                note(f"  {node.node_id}  {node.type} {_line(node.label)}")
    if as_json:
        print_json(page)
        return
    _show_facts(page.items, owner)
    if page.next_cursor is not None:
        note(f"There are more than {limit}; see --limit.")


def _show_facts(found: list[Any], owner: Owner) -> None:
    print_table(
        ["fact", "type", "true", "sources", "edge"],
        [
            [
                _line(fact.fact) + (" (contested)" if fact.contested else ""),
                fact.type,
                _span(fact, owner),
                fact.sources_total,
                fact.edge_id,
            ]
            for fact in found
        ],
    )
    if not found:
        note("No facts.")


def nodes(
    query: str = typer.Argument("", help="A name or a part of one; all nodes, where it is left out."),
    node_type: str | None = typer.Option(None, "--type", "-t", help="Only nodes of this type."),
    as_of: str | None = AsOfOption,
    known_at: str | None = KnownAtOption,
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Find nodes by what they are called, best matches first."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph.search import search_nodes

        times = _times(as_of, known_at, owner)
        return await search_nodes(db, owner, query, node_type=node_type, **times, limit=limit)

    page = for_owner(user, app, do)
    if as_json:
        print_json(page)
        return
    print_table(
        ["node", "type", "label", "called", "description"],
        [
            [
                n.node_id,
                n.type,
                _line(n.label),
                _line(n.name) if n.name != n.label else "",
                _line(n.description)[:60],
            ]
            for n in page.items
        ],
    )
    if not page.items:
        note("No node is called so.")
    if page.next_cursor is not None:
        note(f"There are more than {limit}; see --limit.")


def node(
    which: str = typer.Argument(help="An id or a name.", metavar="NAME|ID"),
    as_of: str | None = AsOfOption,
    known_at: str | None = KnownAtOption,
    history: bool = typer.Option(False, "--history", help="Everything that was ever recorded of it, newest first."),
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show a node: its card, names, facts and sources."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph import read
        from memsvc.graph.describe import describe_node

        found = await _one(db, owner, which)
        if history:
            await read.resolve(db, owner, [found])
            return owner, await read.history(db, owner, found, limit=limit)
        times = _times(as_of, known_at, owner)
        return owner, await describe_node(db, owner, str(found), **times, facts=limit)

    owner, shown = for_owner(user, app, do)
    if as_json:
        print_json(shown)
    elif history:
        print_table(
            ["recorded", "event", "kind", "true", "content", "by"],
            [
                [
                    _clock(e.at, owner),
                    e.event,
                    e.kind,
                    _span(e, owner),
                    _line(_content(e.content)),
                    _line(e.changed_by),
                ]
                for e in shown
            ],
        )
    else:
        _show_node(shown, owner)


def _content(content: dict[str, Any]) -> str:
    for name in ("fact", "alias", "label", "canonical_id"):
        if name in content:
            return str(content[name])
    return ""


def _show_node(shown: ShownNode, owner: Owner) -> None:
    print(f"{_line(shown.label or 'Nothing is known of it')} ({shown.type})  {shown.node_id}")
    if shown.merged_into is not None:
        print(f"stands for {shown.asked}, which is merged into it")
    if shown.description:
        print(_line(shown.description))
    names = [_line(name.alias) for name in shown.aliases]
    print(f"names: {', '.join(names) or 'none'}")
    for same in shown.same:
        print(f"same: {same.node_id} is merged into {same.canonical_id} ({_line(same.reason) or 'no reason given'})")
    print()
    _show_facts(shown.facts, owner)
    told = [thing.sources for thing in shown.facts]
    told += [thing.sources for thing in shown.versions] + [thing.sources for thing in shown.aliases]
    sources = [source for few in told for source in few]
    for source in {one.passage_id: one for one in sources}.values():
        print(f"source: “{_line(source.quote)}” | passage {source.passage_id}")


def changes(
    change: str | None = typer.Argument(None, help="What this change wrote and closed.", metavar="CHANGE"),
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List changes of the graph, newest first, or look at one."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph.changes import get_change, list_changes

        if change is not None:
            return owner, await get_change(db, owner, as_uuid(change, "change"), limit=limit)
        return owner, await list_changes(db, owner, limit=limit)

    owner, found = for_owner(user, app, do)
    if as_json:
        print_json(found)
    elif change is not None:
        print_table(
            ["kind", "done", "true", "content", "subject"],
            [
                [t.kind, "closed" if t.closed else "written", _span(t, owner), _line(_content(t.content)), t.subject]
                for t in found.items
            ],
        )
    else:
        print_table(
            ["change", "recorded", "by", "operations", "undoes", "undone by"],
            [
                [
                    c.change_id,
                    _clock(c.recorded_at, owner),
                    _line(c.asserted_by),
                    " ".join(c.operations),
                    c.undoes,
                    c.undone_by,
                ]
                for c in found
            ],
        )


def undo(change: str = typer.Argument(metavar="CHANGE"), user: str | None = UserRef, app: str = AppName) -> None:
    """Put back what a change altered, by a new change, which can be undone as well."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph import history

        return await history.undo(db, owner, as_uuid(change, "change"), asserted_by=ACTOR)

    print(f"Undone by change {for_owner(user, app, do).change_id}.")


def assert_fact(
    from_node: str = typer.Argument(help="Where it starts: an id or a name.", metavar="FROM"),
    fact_type: str = typer.Argument(help="Its type in the ontology, for example LIVES_IN.", metavar="TYPE"),
    to_node: str = typer.Argument(help="Where it ends: an id or a name.", metavar="TO"),
    fact: str = typer.Argument(help="The fact as a sentence."),
    since: str | None = typer.Option(
        None, "--from", help="From when it is so (ISO date or time, on the user's clock)."
    ),
    until: str | None = typer.Option(None, "--to", help="Until when it was so."),
    from_type: str | None = typer.Option(None, "--from-type", help="Make FROM, as a node of this type, if unknown."),
    to_type: str | None = typer.Option(None, "--to-type", help="Make TO, as a node of this type, if unknown."),
    passage: list[str] = typer.Option([], "--passage", help="Id of a passage that shows it; may be repeated."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Assert a fact by hand; what it contradicts in its time is superseded."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.errors import NodeUnknownError
        from memsvc.graph import history
        from memsvc.graph.operations import Edge, Evidence, Node, Operation
        from memsvc.sources.moments import read_moment

        operations: list[Operation] = []
        ends: list[UUID | int] = []
        for asked, new_type in ((from_node, from_type), (to_node, to_type)):
            try:
                ends.append(await _one(db, owner, asked))
            except NodeUnknownError:
                if new_type is None:
                    raise
                ends.append(len(operations))
                operations.append(Node(type=new_type, label=asked))
        edge = Edge(
            from_node=ends[0],
            type=fact_type,
            to_node=ends[1],
            fact=fact,
            valid_from=read_moment(since, owner, "from"),
            valid_to=read_moment(until, owner, "to"),
            evidence=[Evidence(passage_id=as_uuid(one, "passage")) for one in passage],
        )
        return await history.write(db, owner, [*operations, edge], asserted_by=ACTOR)

    change = for_owner(user, app, do)
    if as_json:
        print_json(change)
    else:
        result = change.results[-1]
        print(f"{result.outcome}: edge {result.edge_id}, by change {change.change_id}.")


def merge(
    which: str = typer.Argument(help="An id or a name.", metavar="NODE"),
    into: str = typer.Argument(help="The node that stands for both: an id or a name."),
    reason: str = typer.Option("", help="Why, for people."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Say that two nodes are the same; nothing is moved, and 'memsvc unmerge' takes it back."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph import history

        one, other = await _one(db, owner, which), await _one(db, owner, into)
        return await history.merge(db, owner, one, other, asserted_by=ACTOR, reason=reason)

    change = for_owner(user, app, do)
    print(f"{change.results[0].node_id} is merged, by change {change.change_id}.")


def unmerge(
    which: str = typer.Argument(help="The id of the merged node.", metavar="ID"),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Take a merge back: the node is itself again, with all that was ever written to it."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph import history

        return await history.unmerge(db, owner, as_uuid(which, "node"), asserted_by=ACTOR)

    change = for_owner(user, app, do)
    outcome = "is itself again" if change.results[0].outcome == "closed" else "was not merged"
    print(f"{which} {outcome}.")
