"""``memsvc turn record`` and ``memsvc work``: record an agent's turns from its hooks, and find past work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    embedders,
    for_owner_with,
    note_missing,
    owner_at_home,
    plain,
    print_json,
    with_database,
)

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.settings import Settings
    from memsvc.turns.past import PastWork
    from memsvc.turns.storing import StoredTurn

turns = typer.Typer(help="Record turns of agents.", rich_markup_mode=None, no_args_is_help=True)


@turns.command("record")
def record(
    source: str | None = typer.Option(
        None,
        "--from",
        help="Whose hook it is: claude-code, codex or cursor; or a chat: openai-chat, openai-responses or "
        "anthropic-messages. Default: an agent's hook or a turn, as recognised.",
    ),
    conversation: str | None = typer.Option(None, "--conversation", help="The name of a chat's conversation."),
    agent: str = typer.Option("", "--agent", help="Which agent; default: as --from."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Record what an agent's hook tells on standard input, a whole turn, or the turns of a chat.

    JSON with 'request' is a turn as POST /v1/turns takes it. Nothing is printed without --json, because agents read
    what hooks print.
    """
    from memsvc.errors import InvalidRequestError
    from memsvc.turns.recording import CHATS, check_source, record_chat, record_hook

    if source is not None:
        check_source(source)
    if source in CHATS and not conversation:
        raise InvalidRequestError("A chat needs a name.", hint="Name it with --conversation.", field="conversation")
    told = sys.stdin.buffer.read()

    async def work(db: Database, owner: Owner, settings: Settings) -> StoredTurn | list[StoredTurn] | None:
        if source in CHATS:
            return await record_chat(
                db, owner, told, settings, source=source or "", conversation=conversation or "", agent=agent
            )
        return await record_hook(db, owner, told, settings, agent=agent, source=source)

    stored = for_owner_with(user, app, work)
    if as_json:
        print_json(stored)


def work(
    query: str = typer.Argument("", help="What is to be done now; empty: by the files alone, or the last turns."),
    files: list[str] = typer.Option([], "--file", "-f", help="A file that the work touches; repeatable."),
    project: str | None = typer.Option(
        None, "--project", help="A folder in the project, or what it is called; default: where you are."
    ),
    within: bool = typer.Option(False, "--within", help="Only turns of this project."),
    within_files: bool = typer.Option(False, "--within-files", help="Only turns that touched one of the files."),
    agent: str | None = typer.Option(None, "--agent", help="Only turns of this agent; default: of all."),
    tool: str | None = typer.Option(None, "--tool", help="Only turns with a call of this tool."),
    ok: bool | None = typer.Option(None, "--ok/--failed", help="Only turns without a failure, or only those with one."),
    limit: int = typer.Option(5, "--limit", "-k", min=1, max=50, help="Most turns."),
    budget: int = typer.Option(1_500, "--budget", "-b", min=50, max=32_000, help="Most tokens."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show what agents did before about such a request or such files, with failures and what has changed since."""

    async def find(db: Database, settings: Settings) -> PastWork:
        from memsvc.turns.past import PastWorkIn, past_work

        db, owner = await owner_at_home(db, user, app)
        asked = PastWorkIn(
            query=query, within_project=within, within_files=within_files, agent=agent, tool=tool, ok=ok, limit=limit,
            budget=budget, **_where(project, files),
        )  # fmt: skip
        with embedders(settings) as models:
            if models is not None:
                await models.ready(db)
            return await past_work(db, owner, asked, settings, models)

    found = with_database(find)
    note_missing(found.degraded)
    if as_json:
        print_json(found)
    else:
        print(plain(found.text) if found.text else "There is no such past work.")


def _where(project: str | None, files: list[str]) -> dict[str, Any]:
    """Return the project, its root, and the files as they are on this machine."""
    from memsvc.turns.documents import on_disk
    from memsvc.turns.projects import Project, find_project, project_at

    folder = Path(project) if project is not None and Path(project).is_dir() else None
    found = find_project(Path.cwd()) if project is None else Project(project) if folder is None else project_at(folder)
    root = found.root if found else None
    return {
        "project": found.name if found else None,
        "root": root,
        "ignores_case": bool(found and found.ignores_case),
        "files": [one if not Path(one).exists() else on_disk(one) for one in files],
    }
