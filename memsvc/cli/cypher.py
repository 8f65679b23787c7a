"""``memsvc cypher``: run one Cypher query over a user's graph, as ``POST /v1/graph/cypher`` does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner_with, note, print_json, print_table
from memsvc.cli.console import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.cypher import CypherAnswer
    from memsvc.settings import Settings


def cypher(
    query: str = typer.Argument(
        help="openCypher that only reads and ends with RETURN; '-' reads it from standard input.", metavar="QUERY"
    ),
    param: list[str] = typer.Option(
        [], "--param", "-p", help="NAME=VALUE, the value of $NAME: JSON, else text; repeatable.", metavar="NAME=VALUE"
    ),
    user: str | None = UserRef,
    limit: int = typer.Option(1_000, "--limit", "-k", min=1, max=10_000, help="Most rows to print."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Run one Cypher query over a user's graph and print its rows. It sees only that user and cannot write.

    The server needs Apache AGE; docs/cypher.md lists labels and properties, and questions with their queries.
    """
    text = sys.stdin.read() if query == "-" else query
    parameters = dict(map(_parameter, param))

    async def ask_it(db: Database, owner: Owner, settings: Settings) -> CypherAnswer:
        from memsvc.graph.cypher import ask, cypher_database
        from memsvc.server.projection import missing

        if not settings.has_secret("cypher_password"):
            raise missing()
        graph = cypher_database(db.engine.url, settings)
        try:
            seconds = settings.cypher_timeout_ms / 1_000
            return await ask(graph, owner, text, parameters, limit=limit, seconds=seconds)
        finally:
            await graph.close()

    answer = for_owner_with(user, app, ask_it)
    if as_json:
        print_json(answer)
        return
    print_table(answer.columns, [[shown(in_words(value)) for value in row] for row in answer.rows])
    if answer.truncated:
        note("There are more rows; --limit shows more, up to 10,000 rows and 8 MB.")


def _parameter(given: str) -> tuple[str, Any]:
    """Return a parameter's name and value: what reads as JSON is that value, anything else is text."""
    import msgspec

    name, equals, value = given.partition("=")
    if not equals or not name:
        raise typer.BadParameter("Give a name and a value: name=Ines.", param_hint="--param")
    try:
        return name, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, value


def in_words(value: Any) -> Any:
    """Return a vertex, edge or path as people write them in Cypher, and any other value as it is.

    The words of a vertex are its name, title, text or request; those of an edge its fact or tool.
    """
    match value:
        case {"label": str(label), "start_id": _, "end_id": _, "properties": {**kept}}:
            return f"[:{_labelled(label, kept, ('fact', 'tool'))}]"
        case {"label": str(label), "id": _, "properties": {**kept}}:
            return f"(:{_labelled(label, kept, ('name', 'title', 'text', 'request', 'conversation'))})"
        case [{"label": str(), "properties": {**_ignored}}, *_rest]:
            return "-".join(str(in_words(part)) for part in value)
        case _:
            return value


def _labelled(label: str, kept: Mapping[Any, Any], names: Sequence[str]) -> str:
    said = next((str(kept[name]) for name in (*names, "id") if kept.get(name)), "")
    return f"{label} {said}".rstrip()
