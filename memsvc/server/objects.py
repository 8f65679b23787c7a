"""Applies functions, views and policies, so that the database has exactly those of ``sql/``.

If the text of any file has changed, all files are applied in one transaction, and functions that no file creates any
more are dropped. Replaced functions keep their identity, so sessions that call them are not disturbed.
``memsvc/server/directives.py`` explains the directives in the files (``-- owner:``, ``-- callers:``, ``-- plans:``).
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

# The rooms (folders) of sql/functions in the order in which they are applied: a function may call those of its own room
# and of earlier rooms (tests/sql/test_layers.py). Each room's README lists its contents and its callers.
ROOMS = (
    "base", "queue", "accounts", "models", "messages", "documents", "turns", "history", "graph", "places", "identity",
    "recall", "profiles", "erase", "extract", "analysis", "live", "projection",
)  # fmt: skip
FOLDERS = (*(f"functions/{room}" for room in ROOMS), "views", "policies")
# PostgreSQL's hint names the function whose result or parameters changed; SQL words in it are never translated.
DROP_FIRST = re.compile(r"DROP FUNCTION (.+\))")
FUNCTIONS = """
SELECT p.oid, p.proname, p.oid::regprocedure::text AS name, p.xmin::text AS version, p.proowner::regrole::text AS owner
FROM pg_proc AS p WHERE p.pronamespace = 'memsvc'::regnamespace
"""


def object_files() -> dict[str, Path]:
    """Files that are applied again when their text changes, in the order in which they are applied.

    Returns:
        The files' paths, by their names relative to ``sql/``.
    """
    top = folder("sql")
    return {f"{name}/{path.name}": path for name in FOLDERS for path in sorted((top / name).glob("*.sql"))}


@dataclass(frozen=True, slots=True)
class Declared:
    """The directives of a function: the role that owns it, and the other roles that may call it."""

    owner: str
    callers: tuple[str, ...]


def declared_functions() -> dict[str, Declared]:
    """Every function that the files create, by its name."""
    texts = (path.read_text(encoding="utf-8") for path in object_files().values())
    return {name: Declared(owner(body), roles) for body in texts for name, roles in callers(body).items()}


def run_script(connection: Connection | Script, script: str) -> None:
    """Run a file of statements unchanged; ``:`` and ``%`` have no special meaning in it."""
    if isinstance(connection, Script):
        connection.write(script)
        return
    driver = connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        message = "not a psycopg connection"
        raise TypeError(message)
    driver.execute(script.encode(), prepare=False)


def apply_objects(connection: Connection, report: Callable[[str], None]) -> tuple[str, ...]:
    """Apply the files if any of them has changed, all in one transaction.

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
        if (row.oid, row.version) in before:  # no file has replaced it
            connection.execute(text(f"SET LOCAL ROLE {row.owner}"))
            run_script(connection, f"DROP FUNCTION IF EXISTS {row.name} CASCADE")  # the next loop restores policies
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
    """Run one file; a function whose result changed cannot be replaced and is dropped first, with its dependents.

    The dependents come back with the files that follow this one.
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
    """Grant each function to the roles that its file names, and revoke it from all others but its owner."""
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
