"""``memsvc sql`` and ``memsvc psql``: read one user's memories with SQL, with a login that cannot write.

Operators can also read totals over all users, with a login that sees no memories.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from memsvc.cli.common import AppName, AsJson, UserRef, chosen_user, note, on_database, opened, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsvc.access.users import User
    from memsvc.db.engine import Database
    from memsvc.server.reader import Answer
    from memsvc.settings import Settings

UNSEEN = "\N{REPLACEMENT CHARACTER}"
CELL = 100
"""Most characters of a value that a table shows; --json and --csv show all."""
VIEWS = "facts_current, facts_history, timeline, people, daily_activity, sources_status, messages, conversations"
Analyst = typer.Option(
    False, "--analyst", help="As memsvc_analyst: counts, costs and durations of groups of users, no memories."
)
Cypher = typer.Option(
    False, "--cypher", help="As memsvc_cypher: a user's graph through cypher(), no tables (docs/cypher.md)."
)
COMMENT_FIRST = re.compile(r"--[^\s=]*\s")
"""How a statement begins that begins with a comment; no option of a command has a space in its name."""
NO_TERMINAL = ("-c", "--command", "-f", "--file", "-l", "--list", "-V", "--version", "-?", "--help")


class Statement(TyperCommand):
    """A command whose argument is SQL, which may begin with a comment: '--' does not make an option of it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a space in front of a comment means nothing in SQL, and is no option."""
        return super().parse_args(ctx, [f" {one}" if COMMENT_FIRST.match(one) else one for one in args])


def sql(
    statement: str | None = typer.Argument(
        None, help="One SQL statement that only reads; '-' reads it from standard input."
    ),
    file: Path | None = typer.Option(
        None, "--file", "-f", exists=True, dir_okay=False, help="Read the statement from this file."
    ),
    user: str | None = UserRef,
    limit: int = typer.Option(1_000, "--limit", "-k", min=1, max=1_000_000, help="Most rows to print."),
    as_csv: bool = typer.Option(False, "--csv", help="Print CSV with a header line."),
    analyst: bool = Analyst,
    cypher: bool = Cypher,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Run one SQL statement over a user's memories and print its rows. It sees only that user and cannot write.

    'memsvc psql' opens a session; docs/sql.md lists the views, and questions with their answers.
    """
    from memsvc.server.reader import ask

    text = _statement(statement, file)
    with opened() as (admin_url, settings):
        url, found = _meant(admin_url, settings, app, user, analyst=analyst, cypher=cypher)
        zone, user_id = (found.time_zone, found.user_id) if found else ("UTC", None)
        answer = ask(url, settings, user_id, text, limit=limit, time_zone=zone, cypher=cypher)
    if as_json:
        print_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    elif as_csv:
        _print_csv(answer)
    else:
        print_table(answer.columns, [[shown(value) for value in row] for row in answer.rows])
    if answer.cut:
        note(f"There are more than these {limit:,} rows; --limit shows more.")


def _statement(given: str | None, file: Path | None) -> str:
    """Return the statement, wherever it stands.

    Raises:
        typer.BadParameter: none was given, or two; or the file is not text.
    """
    if (given is None) == (file is None):
        raise typer.BadParameter("Give one statement, or --file with a file that has one.", param_hint="STATEMENT")
    if file is None:
        return sys.stdin.read() if given == "-" else given or ""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{str(file)!r} is not a text file in UTF-8.", param_hint="--file") from error


def _meant(
    admin_url: str, settings: Settings, app: str, ref: str | None, *, analyst: bool, cypher: bool
) -> tuple[str, User | None]:
    """Return the administrator's URL of the database with the chosen user's memory, and the user; None for an analyst.

    Raises:
        typer.BadParameter: --analyst is combined with --user or --cypher.
    """
    if analyst and cypher:
        raise typer.BadParameter("An analyst cannot see graphs: leave out --cypher.", param_hint="--analyst")
    if analyst and ref is not None:
        raise typer.BadParameter("An analyst cannot see a user's memories: leave out --user.", param_hint="--analyst")
    if analyst:
        return admin_url, None

    async def work(db: Database, _settings: Settings) -> User:
        from memsvc.access.users import find_app

        return await chosen_user(db, await find_app(db, app), ref)

    from memsvc.cells.managing import admin_url_at

    user = on_database(admin_url, settings, work)
    return admin_url_at(user.user_id, admin_url, settings), user


def shown(value: Any) -> str:
    """Return a value on one line; its text can neither break the table nor control the terminal."""
    import msgspec

    if value is None:
        return ""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, list):
        text = ", ".join(map(shown, value))
    else:
        text = msgspec.json.encode(value).decode() if isinstance(value, dict) else str(value)
    line = "".join(char if char.isprintable() else " " if char.isspace() else UNSEEN for char in text)
    return line if len(line) <= CELL else f"{line[: CELL - 1]}…"


def _print_csv(answer: Answer) -> None:
    """Print CSV (RFC 4180); null is an empty field, lists and objects are JSON."""
    import csv

    import msgspec

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.columns)
    for row in answer.rows:
        writer.writerow(
            [msgspec.json.encode(value).decode() if isinstance(value, (list, dict, bool)) else value for value in row]
        )


def psql(
    arguments: list[str] = typer.Argument(
        None, help="Arguments for psql, after '--': -c, -f, --csv …", metavar="[ARGUMENT…]"
    ),
    user: str | None = UserRef,
    minutes: int = typer.Option(60, min=1, max=480, help="Minutes after which the session sees no more rows."),
    analyst: bool = Analyst,
    cypher: bool = Cypher,
    app: str = AppName,
) -> None:
    """Open PostgreSQL's psql on a user's memories. It sees only that user and cannot write.

    Arguments after '--' go to psql, whose exit code is returned: memsvc psql --user ada -- -c 'TABLE people'.
    """
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from memsvc.server.reader import psql_session

    with opened() as (admin_url, settings):
        url, found = _meant(admin_url, settings, app, user, analyst=analyst, cypher=cypher)
        zone, user_id = (found.time_zone, found.user_id) if found else ("UTC", None)
        session = psql_session(
            url, settings, user_id, [*(arguments or ())], minutes=minutes, time_zone=zone, cypher=cypher
        )
        if found and not _asks_only(arguments or ()):
            until = datetime.fromtimestamp(session.ends_at, ZoneInfo(found.time_zone))
            note(f"{shown(found.name)}'s memories, read-only: {'the graph memory' if cypher else VIEWS}.")
            note(f"Until {until:%H:%M} ({found.time_zone}); after that all are empty: open a new session. \\q quits.")
        code = _run(session.command, {**os.environ, **session.environment})
    if code:
        raise typer.Exit(code)


def _asks_only(arguments: Sequence[str]) -> bool:
    """Return whether psql only answers and exits, so that no introduction is needed."""
    return not sys.stdin.isatty() or any(word.startswith(NO_TERMINAL) for word in arguments)


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run psql in the foreground; psql itself handles Ctrl-C."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 - psql itself
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
