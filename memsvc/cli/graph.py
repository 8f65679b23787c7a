"""``memsvc facts``, ``nodes``, ``node``, ``changes``, ``undo``, ``assert``, ``merge``, ``unmerge``: the graph."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    clock,
    finding,
    for_owner,
    note,
    note_missing,
    owner_at_home,
    print_json,
    print_table,
    with_database,
)
from memsvc.cli.references import evidence_of, id_of, is_short

if TYPE_CHECKING:
    from uuid import UUID

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.read import Event, Version
    from memsvc.graph.shown import FactsPage, ShownNode
    from memsvc.llm.embedders.residents import Residents
    from memsvc.settings import Settings

ACTOR = "user"
AsOfOption = typer.Option(
    None, "--as-of", help="What was true at this ISO date or time (in the user's time zone), or 'always'."
)
KnownAtOption = typer.Option(None, "--known-at", help="What memsvc knew at this date or time.")
Limit = typer.Option(20, "--limit", "-n", min=1, max=1000, help="Most items to show.")


def _times(as_of: str | None, known_at: str | None, owner: Owner) -> dict[str, Any]:
    from memsvc.sources.moments import read_as_of, read_known_at

    return {"as_of": read_as_of(as_of, owner), "known_at": read_known_at(known_at, owner)}


async def _one(db: Database, owner: Owner, asked: str, else_made: str | None = None) -> UUID:
    """Return the id of the node with this id, or of the only node with this name; merged nodes keep their own id.

    ``else_made``: as in ``memsvc.graph.find.find_nodes``.
    """
    from memsvc.errors import MemoryUnknownError
    from memsvc.graph.find import find_node
    from memsvc.graph.search import as_id

    if (whole := as_id(asked)) is not None:
        return whole
    if is_short(asked):
        with suppress(MemoryUnknownError):  # then it is a name
            return await id_of(db, owner, asked, "node")
    return await find_node(db, owner, asked, else_made=else_made)


def _line(text: str | None) -> str:
    from memsvc.graph.draw import one_line

    return one_line(text or "")


def _span(version: Version | Event, owner: Owner) -> str:
    """Format valid time for people."""
    from memsvc.graph.read import Fact
    from memsvc.times.untold import begin_is_untold, end_is_untold

    begin, end = clock(version.valid_from, owner) or "…", clock(version.valid_to, owner) or "…"
    if isinstance(version, Fact) and begin_is_untold(version.valid_from, version.data):
        begin = f"known since {begin}"
    if isinstance(version, Fact) and end_is_untold(version.valid_to, version.data):
        end = f"ended by {end}"
    return f"{begin} – {end}"


def facts(
    about: list[str] = typer.Option(..., "--about", help="Id or name of a node; repeatable."),
    fact_type: list[str] = typer.Option([], "--type", "-t", help="Only facts of this type; repeatable."),
    as_of: str | None = AsOfOption,
    known_at: str | None = KnownAtOption,
    every: bool = typer.Option(False, "--all", help="Facts of all times; same as --as-of always."),
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List facts about nodes, now or at an earlier time, newest first."""
    if every and as_of is not None:
        raise typer.BadParameter("This option cannot be combined with --as-of.", param_hint="--all")

    async def do(db: Database, owner: Owner) -> tuple[Owner, FactsPage]:
        from memsvc.graph.describe import facts_about

        times = _times("always" if every else as_of, known_at, owner)
        types = fact_type or None
        return owner, await facts_about(db, owner, about, types=types, **times, limit=limit)

    owner, page = for_owner(user, app, do)
    for name in page.ambiguous:
        note(f"{len(name.nodes)} nodes are called {name.name!r}; choose one with --about ID:")
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
        note("No facts found.")


def nodes(
    query: str = typer.Argument("", help="A name, a part of one, or what it is about; default: all nodes."),
    node_type: str | None = typer.Option(None, "--type", "-t", help="Only nodes of this type."),
    as_of: str | None = AsOfOption,
    known_at: str | None = KnownAtOption,
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Find nodes by name, then by what is said about them, best matches first."""

    async def do(db: Database, owner: Owner, settings: Settings, models: Residents | None) -> Any:
        from memsvc.recall.find import find_nodes

        asked: dict[str, Any] = {"node_type": node_type, "limit": limit, **_times(as_of, known_at, owner)}
        return await find_nodes(db, owner, query, settings, embedder=models, **asked)

    page = finding(user, app, do)
    note_missing(page.degraded)
    if as_json:
        print_json(page)
        return
    print_table(
        ["node", "type", "label", "called", "by", "description"],
        [
            [
                n.node_id,
                n.type,
                _line(n.label),
                _line(n.name) if n.name != n.label else "",
                n.matched,
                _line(n.description)[:60],
            ]
            for n in page.items
        ],
    )
    if not page.items:
        note("No node has this name, or is about this.")
    if page.next_cursor is not None:
        note(f"There are more than {limit}; see --limit.")


def node(
    which: str = typer.Argument(help="Id or name of the node.", metavar="NAME|ID"),
    as_of: str | None = AsOfOption,
    known_at: str | None = KnownAtOption,
    history: bool = typer.Option(False, "--history", help="Everything ever recorded about it, newest first."),
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show a node: its description, names, facts and sources."""

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
                    clock(e.at, owner),
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
    print(f"{_line(shown.label or 'Nothing is known about it')} ({shown.type})  {shown.node_id}")
    if shown.merged_into is not None:
        print(f"represents {shown.asked}, which is merged into it")
    if shown.description:
        print(_line(shown.description))
    names = [_line(name.alias) for name in shown.aliases]
    print(f"names: {', '.join(names) or 'none'}")
    if shown.first_seen is not None:
        print(f"first seen: {clock(shown.first_seen, owner)} | last seen: {clock(shown.last_seen, owner)}")
    for same in shown.same:
        print(f"same: {same.node_id} is merged into {same.canonical_id} ({_line(same.reason) or 'no reason given'})")
    print()
    _show_facts(shown.facts, owner)
    source_lists = [thing.sources for thing in shown.facts]
    source_lists += [thing.sources for thing in shown.versions] + [thing.sources for thing in shown.aliases]
    sources = [source for one_list in source_lists for source in one_list]
    for source in {one.passage_id: one for one in sources}.values():
        print(f"source: “{_line(source.quote)}” | passage {source.passage_id}")


def changes(
    change: str | None = typer.Argument(None, help="Id of a change: show what it wrote and closed.", metavar="CHANGE"),
    limit: int = Limit,
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List the changes of the graph, newest first, or show one of them."""

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
                    clock(c.recorded_at, owner),
                    _line(c.asserted_by),
                    " ".join(c.operations),
                    c.undoes,
                    c.undone_by,
                ]
                for c in found
            ],
        )


def undo(change: str = typer.Argument(metavar="CHANGE"), user: str | None = UserRef, app: str = AppName) -> None:
    """Undo a change by a new change, which can itself be undone."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph import history

        return await history.undo(db, owner, as_uuid(change, "change"), asserted_by=ACTOR)

    print(f"Undone by change {for_owner(user, app, do).change_id}.")


def annotate(
    fact: str = typer.Argument(help="The fact's id: f:…, or its edge's, as 'memsvc facts' shows it."),
    stance: str = typer.Argument(help="validated or disputed.", metavar="validated|disputed"),
    reason: str = typer.Argument(help="Why, in words."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Mark a fact as validated or disputed; a disputed one is shown as contested."""

    async def work(db: Database, settings: Settings) -> Any:
        from typing import cast, get_args

        from memsvc.errors import InvalidRequestError
        from memsvc.graph.operations import Mark
        from memsvc.sources.annotating import Annotation, annotate_fact

        if stance not in get_args(Mark):
            raise InvalidRequestError(
                f"A fact cannot be marked as {stance!r:.60}.",
                hint=f"One of: {', '.join(get_args(Mark))}.",
                field="stance",
            )
        db, owner = await owner_at_home(db, user, app)
        edge = await id_of(db, owner, fact, "fact")
        annotation = Annotation(edge_id=edge, stance=cast("Mark", stance), reason=reason)
        return await annotate_fact(db, owner, settings, annotation, asserted_by=ACTOR)

    change = with_database(work)
    if as_json:
        print_json(change)
    else:
        print(f"Marked as {stance} by change {change.change_id}.")


def assert_fact(
    from_node: str = typer.Argument(help="Node where the fact starts: an id or a name.", metavar="FROM"),
    fact_type: str = typer.Argument(help="Type of the fact in the ontology, such as LIVES_IN.", metavar="TYPE"),
    to_node: str = typer.Argument(help="Node where the fact ends: an id or a name.", metavar="TO"),
    fact: str = typer.Argument(help="The fact as a sentence."),
    since: str | None = typer.Option(
        None, "--from", help="When it became true (ISO date or time, in the user's time zone)."
    ),
    until: str | None = typer.Option(None, "--to", help="When it stopped being true."),
    from_type: str | None = typer.Option(None, "--from-type", help="If FROM is unknown, create it with this type."),
    to_type: str | None = typer.Option(None, "--to-type", help="If TO is unknown, create it with this type."),
    passage: list[str] = typer.Option([], "--passage", help="Id of a passage as evidence; repeatable."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Assert a fact by hand; it supersedes facts that contradict it during its valid time."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.errors import NodeUnknownError
        from memsvc.graph import history
        from memsvc.graph.find import check_edge_types
        from memsvc.graph.operations import Edge, Node, Operation
        from memsvc.sources.moments import read_moment

        await check_edge_types(db, owner, [fact_type])
        operations: list[Operation] = []
        ends: list[UUID | int] = []
        for asked, option, new_type in (
            (from_node, "--from-type", from_type),
            (to_node, "--to-type", to_type),
        ):
            try:
                ends.append(await _one(db, owner, asked, new_type))
            except NodeUnknownError as error:
                if new_type is None:
                    hint = f"Check the spelling, or create it with {option} TYPE; 'memsvc ontology' lists the types."
                    raise NodeUnknownError(error.message, hint=hint) from error
                ends.append(len(operations))
                operations.append(Node(type=new_type, label=asked))
        edge = Edge(
            from_node=ends[0],
            type=fact_type,
            to_node=ends[1],
            fact=fact,
            valid_from=read_moment(since, owner, "from"),
            valid_to=read_moment(until, owner, "to"),
            evidence=await evidence_of(db, owner, passage),
        )
        return await history.write(db, owner, [*operations, edge], asserted_by=ACTOR)

    change = for_owner(user, app, do)
    if as_json:
        print_json(change)
    else:
        result = change.results[-1]
        print(f"{result.outcome}: edge {result.edge_id}, by change {change.change_id}.")


def merge(
    which: str = typer.Argument(help="Id or name of the node to merge.", metavar="NODE"),
    into: str = typer.Argument(help="Id or name of the node that then represents both."),
    reason: str = typer.Option("", help="The reason, for people."),
    user: str | None = UserRef,
    app: str = AppName,
) -> None:
    """Record that two nodes are the same; nothing is moved, and 'memsvc unmerge' undoes it."""

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
    """Undo a merge: the node is separate again, with everything that was ever written to it."""

    async def do(db: Database, owner: Owner) -> Any:
        from memsvc.graph import history

        return await history.unmerge(db, owner, await id_of(db, owner, which, "node"), asserted_by=ACTOR)

    change = for_owner(user, app, do)
    outcome = "is separate again" if change.results[0].outcome == "closed" else "was not merged"
    print(f"{which} {outcome}.")
