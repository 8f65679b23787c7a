"""Functions, views and policies: ``sql/`` is what the database has, no more and no less.

Where the text of any file changed, all of them are applied in one transaction, and functions that no file makes any
more are dropped. Replaced functions keep their identity, so sessions that are calling them do not notice. What the
directives in the files mean (``-- owner:``, ``-- callers:``, ``-- plans:``) is in ``memsvc/server/directives.py``.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
from sqlalchemy import Connection, text

from memsvc.db.files import folder
from memsvc.db.locks import lock
from memsvc.server.directives import CALLERS, callers, owner, with_plans
from memsvc.server.script import Script

# The rooms of sql/functions in the order in which they are applied: a room's functions call those of its own room and
# of the rooms before it (tests/sql/test_layers.py). Each room's README says what is in it and who calls it.
ROOMS = (
    "base", "queue", "accounts", "models", "messages", "history", "graph", "places", "identity", "recall", "profiles",
    "erase", "extract", "analysis", "live", "projection",
)  # fmt: skip
FOLDERS = (*(f"functions/{room}" for room in ROOMS), "views", "policies")
# PostgreSQL names the function whose result or parameters changed; SQL words are not translated.
DROP_FIRST = re.compile(r"DROP FUNCTION (.+\))")
FUNCTIONS = """
SELECT p.oid, p.proname, p.oid::regprocedure::text AS name, p.xmin::text AS version, p.proowner::regrole::text AS owner
FROM pg_proc AS p WHERE p.pronamespace = 'memsvc'::regnamespace
"""


def object_files() -> dict[str, Path]:
    """Files that are applied again when their text changes, in the order in which they are applied.

    Returns:
        Their paths, by their names below ``sql/``.
    """
    top = folder("sql")
    return {f"{name}/{path.name}": path for name in FOLDERS for path in sorted((top / name).glob("*.sql"))}


@dataclass(frozen=True, slots=True)
class Declared:
    """What a function's file says of it: the role that owns it, and those that may call it besides."""

    owner: str
    callers: tuple[str, ...]


def declared_functions() -> dict[str, Declared]:
    """Every function that the files make, by its name."""
    texts = (path.read_text(encoding="utf-8") for path in object_files().values())
    return {name: Declared(owner(body), roles) for body in texts for name, roles in callers(body).items()}


def run_script(connection: Connection | Script, script: str) -> None:
    """Run a file of statements as it stands, without any reading of ``:`` or ``%``."""
    if isinstance(connection, Script):
        connection.write(script)
        return
    driver = connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        message = "not a psycopg connection"
        raise TypeError(message)
    driver.execute(script.encode(), prepare=False)


def apply_objects(connection: Connection, report: Callable[[str], None]) -> tuple[str, ...]:
    """Bring functions, views and policies to the text of the files, all in one transaction.

    Returns:
        The files whose text changed.
    """
    found = connection.execute(text("SELECT path, sha256 FROM memsvc.applied_sql"))
    known: dict[str, str] = {row.path: row.sha256 for row in found}
    connection.rollback()
    texts = {name: path.read_text(encoding="utf-8") for name, path in object_files().items()}
    digests = {name: hashlib.sha256(body.encode()).hexdigest() for name, body in texts.items()}
    if known == digests:
        return ()
    changed = tuple(name for name in texts if known.get(name) != digests[name])
    report(f"functions, views and policies: {len(changed)} of {len(texts)} files changed")
    connection.execute(text("SET LOCAL ROLE memsvc_owner"))
    lock(connection)
    before = {(row.oid, row.version) for row in connection.execute(text(FUNCTIONS))}
    for name, body in texts.items():
        if not name.startswith("policies/"):
            _apply(connection, body)
    for row in connection.execute(text(FUNCTIONS)).all():
        if (row.oid, row.version) in before:  # no file made it anew
            connection.execute(text(f"SET LOCAL ROLE {row.owner}"))
            run_script(connection, f"DROP FUNCTION IF EXISTS {row.name} CASCADE")  # policies come next
    for name, body in texts.items():
        if name.startswith("policies/"):
            _apply(connection, body)
    _grant_functions(connection)
    connection.execute(text("SET LOCAL ROLE memsvc_owner"))
    connection.execute(text("DELETE FROM memsvc.applied_sql"))
    connection.execute(
        text(
            "INSERT INTO memsvc.applied_sql (path, sha256) "
            "SELECT * FROM unnest(CAST(:paths AS text[]), CAST(:sums AS text[]))"
        ),
        {"paths": list(texts), "sums": [digests[name] for name in texts]},
    )
    connection.commit()
    return changed


def _apply(connection: Connection, body: str) -> None:
    """Run one file; a function whose result changed cannot be replaced and is dropped first, with what stands on it.

    What stands on it comes back with the files behind this one.
    """
    role, script = owner(body), with_plans(body)
    while True:
        connection.execute(text("SAVEPOINT file"))
        connection.execute(text(f"SET LOCAL ROLE {role}"))
        try:
            run_script(connection, script)
        except psycopg.errors.InvalidFunctionDefinition as error:
            obstacle = DROP_FIRST.search(error.diag.message_hint or "")
            if obstacle is None:
                raise
            connection.execute(text("ROLLBACK TO SAVEPOINT file"))
            connection.execute(text(f"SET LOCAL ROLE {role}"))
            run_script(connection, f"DROP FUNCTION {obstacle.group(1)} CASCADE")
        else:
            connection.execute(text("RELEASE SAVEPOINT file"))
            return


def _grant_functions(connection: Connection) -> None:
    """Let the roles that a function's file names call it, and nobody else but its owner."""
    declared = declared_functions()
    scripts: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(text(FUNCTIONS)).all():
        others = ", ".join(role for role in CALLERS.values() if role != row.owner)
        scripts[row.owner].append(f"REVOKE ALL ON FUNCTION {row.name} FROM PUBLIC, {others};")
        if row.proname in declared and (roles := declared[row.proname].callers):
            scripts[row.owner].append(f"GRANT EXECUTE ON FUNCTION {row.name} TO {', '.join(roles)};")
    for role, statements in scripts.items():
        connection.execute(text(f"SET LOCAL ROLE {role}"))
        run_script(connection, "\n".join(statements))
