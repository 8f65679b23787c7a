"""Cypher over a user's graph, where the server has Apache AGE: one reading query, run as the login ``memsvc_cypher``.

That login reads label tables under row security and may call only the AGE functions that
``sql/projection/010_access.sql`` names. Each query runs in a read-only transaction of its own, under a signed identity,
for a few seconds at most. Users' text never becomes SQL: the query is enclosed in dollar quotes with a random tag, and
values are bound as parameters.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import psycopg
from psycopg import errors as pg
from sqlalchemy import URL
from sqlalchemy import exc as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database, role_url
from memsvc.db.files import query
from memsvc.db.meanings import unbelieved
from memsvc.errors import (
    CypherPathsOffError,
    CypherReadsOnlyError,
    CypherRefusedError,
    CypherTooSlowError,
    MemsvcError,
    UserUnknownError,
)
from memsvc.graph.agtype import as_json
from memsvc.graph.cypher_text import returned
from memsvc.server.projection import missing
from memsvc.settings import Settings
from memsvc.text.storable import check_storable

LOGIN = "memsvc_cypher"
MAX_QUERY_CHARS = 20_000
MAX_PARAMETER_BYTES = 1_000_000
MAX_ROWS = 10_000
MAX_ANSWER_BYTES = 8_000_000
"""Rows after this size stay on the server, and the answer is marked as truncated."""
BIND = query("bind_cypher")
NO_FUNCTION = re.compile(r"permission denied for function (?:age_)?(\w+)")
WALKED = re.compile(r"vle|shortest|Invalid number of attributes")
WRITTEN = ("permission denied for schema memory", "permission denied for table", "read-only transaction")
# SQLSTATE classes that mean the query is at fault: not supported, data, syntax and names, limits, AGE's own errors.
QUERYS_FAULT = ("0A", "22", "42", "53", "54", "XX")


class CypherAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a query."""

    columns: list[str]
    """The names that RETURN gives them."""
    rows: list[list[Any]]
    """Values by column. A vertex is {"id", "label", "properties"}; an edge also has "start_id" and "end_id"; a path is
    a list of vertices and edges in alternation. Integers beyond 2^53 and AGE's own ids are text."""
    truncated: bool
    """There are more rows than the limit, or more data than an answer may hold (8 MB)."""


def cypher_database(url: URL | str, settings: Settings) -> Database:
    """Create the connection pool of the Cypher login, without connecting. The caller closes it.

    Args:
        url: of the database, with any login.
        settings: give the password, the pool's size and the statement timeout.
    """
    base = url if isinstance(url, str) else url.render_as_string(hide_password=False)
    own = settings.model_copy(update={"statement_timeout_ms": settings.cypher_timeout_ms})
    return Database(role_url(base, LOGIN, settings.secret("cypher_password")), own, pool_size=settings.cypher_pool_size)


async def ask(
    cypher: Database, owner: Owner, query: str, parameters: Mapping[str, Any], *, limit: int, seconds: float
) -> CypherAnswer:
    """Run a query that only reads.

    Args:
        cypher: ``cypher_database``.
        owner: the user whose graph is read.
        query: Cypher, at most 20,000 characters.
        parameters: JSON values of the query's ``$names``.
        limit: most rows, up to 10,000.
        seconds: the pool's statement timeout, for the error message.

    Raises:
        CapabilityMissingError: this server has no graph for Cypher.
        CypherRefusedError: the query is not valid, or calls a function that is not allowed.
        CypherReadsOnlyError, CypherPathsOffError: the query writes, or uses paths of variable length.
        CypherTooSlowError: the query reached the timeout.
    """
    check_storable(query, "query")
    check_storable(parameters, "parameters")
    if len(query) > MAX_QUERY_CHARS:
        raise CypherRefusedError(f"The query is longer than {MAX_QUERY_CHARS:,} characters.")
    bound = msgspec.json.encode(parameters)
    if len(bound) > MAX_PARAMETER_BYTES:
        raise CypherRefusedError(f"The parameters are larger than {MAX_PARAMETER_BYTES:,} bytes.")
    async with cypher.transaction() as connection:
        await _bind(connection, cypher, owner)
        columns = returned(query)
        statement, offset = _statement(query, len(columns), limit)
        try:
            rows = (await connection.exec_driver_sql(statement, {"parameters": bound.decode()})).all()
        except sa.DBAPIError as error:
            raise _refused(error, offset, seconds) from error
    try:
        kept = [row[:-1] for row in rows[:limit] if not row[-1]]
        values = await asyncio.to_thread(_values, kept)
    except RecursionError as error:
        raise CypherRefusedError("The answer is too deep.", hint="Return less.") from error
    return CypherAnswer(columns=columns, rows=values, truncated=len(rows) > len(kept))


def _values(rows: Sequence[Sequence[str | None]]) -> list[list[Any]]:
    return [[as_json(value) for value in row] for row in rows]


async def _bind(connection: AsyncConnection, cypher: Database, owner: Owner) -> None:
    row = (await connection.execute(BIND, {"token": cypher.signer.token(owner.user_id)})).one()
    if row.believed != owner.user_id:
        raise unbelieved()
    if not row.here:
        raise UserUnknownError
    if not row.there:
        raise missing()


def _statement(query: str, columns: int, limit: int) -> tuple[str, int]:
    """Return the SQL statement for the driver, and the offset (in characters) at which the query begins in it."""
    tag = f"$cypher_{secrets.token_hex(16)}$"
    if tag in query:  # cannot happen: the tag is random
        raise CypherRefusedError("The query holds a random word.")
    names = [f"c{number}" for number in range(columns)]
    shown = ", ".join(f"CASE WHEN s.size <= {MAX_ANSWER_BYTES} THEN s.{name} END" for name in names)
    size = " + ".join(f"coalesce(pg_column_size(r.{name}), 0)" for name in names)
    # The query is the only user text in the statement, and it is dollar-quoted.
    begin = (
        f"SELECT {shown}, s.size > {MAX_ANSWER_BYTES} FROM (SELECT r.*, sum({size}) "  # noqa: S608
        f"OVER (ROWS UNBOUNDED PRECEDING) AS size FROM (SELECT * FROM ag_catalog.cypher('memory', {tag}"
    )
    typed = ", ".join(f"{name} ag_catalog.agtype" for name in names)
    end = f"{tag}, %(parameters)s) AS g ({typed}) LIMIT {limit + 1}) AS r) AS s"
    return f"{begin}{query.replace('%', '%%')}{end}", len(begin)


def _refused(error: sa.DBAPIError, offset: int, seconds: float) -> MemsvcError | sa.DBAPIError:
    """Translate a database error about the query, keeping PostgreSQL's words; return any other error unchanged."""
    cause = error.orig
    if isinstance(cause, pg.QueryCanceled):
        return CypherTooSlowError(f"The query took longer than {seconds:g} s.")
    if not isinstance(cause, psycopg.Error) or not cause.sqlstate or cause.sqlstate[:2] not in {*QUERYS_FAULT, "25"}:
        return error
    said = cause.diag.message_primary or ""
    if (named := NO_FUNCTION.search(said)) or WALKED.search(said):
        if WALKED.search(said):
            return CypherPathsOffError()
        return CypherRefusedError(f"The function {named[1] if named else ''} is off.", hint="docs/cypher.md says why.")
    if any(words in said for words in WRITTEN):
        return CypherReadsOnlyError("The query changes something, or reads what is not the graph.")
    position = cause.diag.statement_position
    at = int(position) - offset if position else 0
    return CypherRefusedError(f"{said}{f' (at character {at})' if at > 0 else ''}", hint=cause.diag.message_hint or "")
