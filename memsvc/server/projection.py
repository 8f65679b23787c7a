"""Cypher's graph, on servers with Apache AGE: creates it, keeps it up to date in ``upgrade``, compares and removes it.

``sql/projection/`` has the statements: privileges on AGE, then the graph itself and the triggers that update it. The
rows are created user by user, with the application's role and under row security, each user in transactions of its own.
If the process is killed, the graph's mark stays old, so the next upgrade begins again. Only a superuser can revoke
AGE's functions from all users, so without a superuser as administrator there is no Cypher.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import psycopg
from psycopg import sql

from memsvc.db.files import folder
from memsvc.db.identity import Signer
from memsvc.errors import CapabilityMissingError, ConfigurationError
from memsvc.settings import Settings

GRAPH = "memory"
LEAST_VERSION = (1, 7)
"""AGE before 1.7 ignores row security."""
STATE = """
SELECT r.rolsuper AS superuser,
  (SELECT coalesce(e.installed_version, e.default_version) FROM pg_available_extensions AS e WHERE e.name = 'age')
    AS version,
  (SELECT obj_description(n.oid, 'pg_namespace') FROM pg_namespace AS n WHERE n.nspname = 'memory') AS mark,
  EXISTS (SELECT FROM pg_namespace AS n WHERE n.nspname = 'memory') AS there,
  EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgname = 'project' AND t.tgrelid = to_regclass('memsvc.changes'))
    AS kept
FROM pg_roles AS r WHERE r.rolname = current_user
"""
TRIGGERS = (
    ("project", "changes"), ("project_passages", "passages"), ("project_turn", "turns"),
    ("project_versions", "document_versions"), ("project_document", "sources"), ("project_calls", "tool_calls"),
    *(("forget_projected", name) for name in (
        "edge_versions", "node_versions", "merges", "nodes", "passages", "turns", "tool_calls", "document_versions",
        "sources",
    )),
)  # fmt: skip
REBUILD_TTL_S = 86_400
"""A user with millions of rows takes minutes; a token that expires during that time would show no more rows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences in one kind of rows of one user.

    Kinds: vertices of nodes (node) and edges between them (edge); vertices of passages and conversations (passage) and
    edges between those (order); documents with their versions (document); turns with their calls (turn).
    """

    user_id: UUID
    kind: str
    stored: int
    missing: int
    surplus: int
    different: int

    @property
    def wrong(self) -> int:
        """The number of wrong rows."""
        return self.missing + self.surplus + self.different


@dataclass(frozen=True, slots=True)
class State:
    """The server's state with regard to Cypher's graph."""

    lacks: str
    """Why a graph is not possible here; empty: it is possible."""
    there: bool
    """Whether the graph exists."""
    mark: str
    """Identifies the sources from which it was made; empty if its creation was interrupted."""
    kept: bool
    """Whether triggers project changes into it."""
    version: str = ""
    """AGE's version; empty without AGE."""


def state(connection: psycopg.Connection) -> State:
    """Read the server's state, with the administrator's login."""
    row = connection.execute(STATE).fetchone()
    if row is None:
        return State("the administrator's role cannot be read", there=False, mark="", kept=False)
    superuser, version, mark, there, kept = row
    lacks = ""
    if version is None:
        lacks = "the server has no extension age"
    elif tuple(map(int, version.split("~")[0].split(".")[:2])) < LEAST_VERSION:
        lacks = f"age {version} is too old: 1.7 or newer is needed"
    elif not superuser:
        lacks = "only a superuser can keep age's functions from everybody"
    return State(lacks, there, mark or "", kept, version or "")


def missing() -> CapabilityMissingError:
    """The error for a Cypher query if there is no graph."""
    return CapabilityMissingError(
        "This server has no Cypher: it needs Apache AGE.",
        hint="pip install 'memsvc[cypher]' brings it to the embedded server; docs/cypher.md says how others have it. "
        "GET /v1/graph, 'memsvc graph' and SQL show the same graph without.",
        capability="age",
    )


def wanted(found: State, settings: Settings) -> bool:
    """Whether there should be a graph.

    Raises:
        ConfigurationError: MEMSVC_CYPHER is on, but a graph is not possible.
    """
    if settings.cypher == "on" and found.lacks:
        raise ConfigurationError(
            f"MEMSVC_CYPHER is on, but {found.lacks}.",
            hint="docs/cypher.md says what it needs; auto or off goes without.",
        )
    return settings.cypher == "on" or (settings.cypher == "auto" and not found.lacks)


def is_current(connection: psycopg.Connection, settings: Settings, revision: str) -> bool:
    """Whether ``bring_up`` has nothing to do."""
    found = state(connection)
    if settings.cypher != "on" and not wanted(found, settings):
        return not found.there and not found.kept
    return found.mark == _mark(revision, found.version) and found.kept


def bring_up(connection: psycopg.Connection, settings: Settings, revision: str, report: Callable[[str], None]) -> None:
    """Create, renew or remove the graph, as needed. Safe to run again, also after it was killed.

    Args:
        connection: the administrator's, in autocommit.
        settings: whether Cypher is wanted, and the identity secret.
        revision: revision of the schema; a new one may have added types, and so labels.
        report: called with a line for each step.

    Raises:
        ConfigurationError: MEMSVC_CYPHER is on, but a graph is not possible.
    """
    found = state(connection)
    if not wanted(found, settings):
        if found.there or found.kept:
            report("Cypher's graph is removed")
            remove(connection, drop=not found.lacks)
        return
    scripts = [path.read_text(encoding="utf-8") for path in _scripts()]
    connection.execute("LOAD 'age'")  # a transaction in which it is loaded cannot be rolled back: liveness.close_failed
    with connection.transaction():  # every time: an update of AGE grants to PUBLIC, and a dump has no roles
        connection.execute(scripts[0].encode(), prepare=False)
    mark = _mark(revision, found.version)
    if found.mark == mark and found.kept:
        return
    report("Cypher's graph")
    labels = _labels(connection)
    for script in scripts[1:]:
        with _as_owner(connection):
            connection.execute(script.encode(), prepare=False)
    if not found.kept or found.mark.split()[:2] != mark.split()[:2] or _labels(connection) != labels:
        rebuild(connection, settings, report=report)
    with _as_owner(connection):
        connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(GRAPH), sql.Literal(mark)))


def remove(connection: psycopg.Connection, *, drop: bool = True) -> None:
    """Stop projecting and delete the graph's rows; with ``drop``, which needs AGE, drop the graph itself too.

    Rows that no trigger updates would survive the erasure of the memories that they show.
    """
    with _as_owner(connection):
        for name, table in TRIGGERS:
            connection.execute(
                sql.SQL("DROP TRIGGER IF EXISTS {} ON memsvc.{}").format(sql.Identifier(name), sql.Identifier(table))
            )
        if drop:
            connection.execute("SELECT ag_catalog.drop_graph('memory', true)")
        else:
            _empty(connection)


def _empty(connection: psycopg.Connection) -> None:
    """Delete all rows of the graph as its owner, and revoke access to it until it is created again."""
    graph = sql.Identifier(GRAPH)
    tables = connection.execute(
        "SELECT c.relname FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' "
        "WHERE n.nspname = 'memory' AND c.relkind = 'r'"
    ).fetchall()
    for (name,) in tables:
        table = sql.Identifier(GRAPH, name)
        connection.execute(sql.SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY").format(table))
        connection.execute(sql.SQL("DELETE FROM ONLY {}").format(table))
        connection.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(table))
    if tables:
        connection.execute(
            sql.SQL("REVOKE ALL ON SCHEMA {} FROM memsvc_app, memsvc_reader, memsvc_cypher, memsvc_eraser").format(
                graph
            )
        )
        connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS NULL").format(graph))


def rebuild(
    connection: psycopg.Connection,
    settings: Settings,
    user_id: UUID | None = None,
    report: Callable[[str], None] = lambda _line: None,
) -> None:
    """Create the rows of one user, or of all users, again: each part in a transaction of its own.

    Each waits for writers that hold a lock another one needs, so one transaction for all could wait for ever.
    """
    users = [user_id] if user_id else _users(connection)
    for number, user in enumerate(users, 1):
        for part in ("graph", "messages", "turns"):
            with _as_user(connection, settings, user):
                connection.execute("SELECT memsvc.rebuild_projection(%s, %s)", [user, part])
        if number % 100 == 0:
            report(f"Cypher's graph: {number} of {len(users)} users")


def compare(connection: psycopg.Connection, settings: Settings, user_id: UUID | None = None) -> Iterator[Difference]:
    """Six rows for each user, one of each kind: how the stored rows differ from the expected ones."""
    for user in [user_id] if user_id else _users(connection):
        with _as_user(connection, settings, user):
            query = "SELECT kind, stored, missing, surplus, different FROM memsvc.compare_projection(%s)"
            rows = connection.execute(query, [user]).fetchall()
        yield from (Difference(user, *row) for row in rows)


def _scripts() -> list[Path]:
    """The script that the administrator runs, then those that the owner runs, each in a transaction of its own."""
    return sorted((folder("sql") / "projection").glob("*.sql"))


def _mark(revision: str, version: str) -> str:
    """Identifies the sources of the graph: ``sql/projection``, its functions, the revision and AGE's version."""
    texts = [*_scripts(), *sorted((folder("sql") / "functions" / "projection").glob("*.sql"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in texts)).hexdigest()[:32]
    return f"memsvc {digest} {revision} {version}"


def _labels(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = 'memory' AND c.relkind = 'r'"
    ).fetchone()
    return row[0] if row else 0


def _users(connection: psycopg.Connection) -> list[UUID]:
    found = connection.execute("SELECT user_id FROM memsvc.users WHERE erasing_since IS NULL ORDER BY user_id")
    return [row[0] for row in found]


@contextmanager
def _as_owner(connection: psycopg.Connection) -> Iterator[None]:
    with connection.transaction():
        connection.execute("SET LOCAL ROLE memsvc_owner")
        connection.execute("SET LOCAL lock_timeout = '10s'")  # other sessions queue after one that waits for such locks
        yield


@contextmanager
def _as_user(connection: psycopg.Connection, settings: Settings, user_id: UUID) -> Iterator[None]:
    """Act as the application for one user, in one transaction without a time limit."""
    signer = replace(Signer(settings.secret("identity_secret").encode(), settings.identity_ttl_s), ttl_s=REBUILD_TTL_S)
    with connection.transaction():
        connection.execute("SET LOCAL ROLE memsvc_app")
        connection.execute(
            "SELECT set_config('memsvc.identity', %s, true), set_config('statement_timeout', '0', true)",
            [signer.token(user_id)],
        )
        yield
