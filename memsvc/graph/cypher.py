"""Cypher over a user's graph, where the server has Apache AGE: one query that reads, as the login ``memsvc_cypher``.

That login sees label tables under row security and may call the functions of AGE that ``sql/projection/010_access.sql``
names, nothing else. Each query runs in a transaction of its own that can only read, under a signed identity, for a few
seconds at most. Text of users never becomes SQL: the query stands between dollar tags that nobody can guess, and values
are bound.
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
from memsvc.db.engine import Database, role_url, unbelieved
from memsvc.db.files import query
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
"""Rows behind this stay on the server: the answer is truncated."""
BIND = query("bind_cypher")
NO_FUNCTION = re.compile(r"permission denied for function (?:age_)?(\w+)")
WALKED = re.compile(r"vle|shortest|Invalid number of attributes")
WRITTEN = ("permission denied for schema memory", "permission denied for table", "read-only transaction")
# Classes of SQLSTATE that are the query's own: not supported, data, syntax and names, limits, AGE's own.
QUERYS_FAULT = ("0A", "22", "42", "53", "54", "XX")


class CypherAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a query gives."""

    columns: list[str]
    """As RETURN names them."""
    rows: list[list[Any]]
    """Values by column. A vertex is {"id", "label", "properties"}, an edge has "start_id" and "end_id" too, a path is a
    list of both in turn; integers beyond 2^53 and AGE's own ids are texts."""
    truncated: bool
    """There are more rows than were asked for, or than an answer may hold (8 MB)."""


def cypher_database(url: URL | str, settings: Settings) -> Database:
    """The pool of the login for Cypher; nothing connects yet. Whoever opens it closes it.

    Args:
        url: of the database, with any login.
        settings: password, size of the pool, longest statement.
    """
    base = url if isinstance(url, str) else url.render_as_string(hide_password=False)
    own = settings.model_copy(update={"statement_timeout_ms": settings.cypher_timeout_ms})
    return Database(role_url(base, LOGIN, settings.secret("cypher_password")), own, pool_size=settings.cypher_pool_size)


async def ask(
    cypher: Database, owner: Owner, query: str, parameters: Mapping[str, Any], *, limit: int, seconds: float
) -> CypherAnswer:
    """Run a query that reads.

    Args:
        cypher: ``cypher_database``.
        owner: whose graph is seen.
        query: Cypher, at most 20,000 characters.
        parameters: values of its ``$names``, as JSON has them.
        limit: at most so many rows, up to 10,000.
        seconds: longest statement, as the pool has it; for what is said where that is reached.

    Raises:
        CapabilityMissingError: this server has no graph for Cypher.
        CypherRefusedError: it is no query, or calls what is off.
        CypherReadsOnlyError, CypherPathsOffError: it writes, or walks paths of any length.
        CypherTooSlowError: it took too long.
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
    """SQL with the query in it, for the driver, and how many characters of it stand before the query."""
    tag = f"$cypher_{secrets.token_hex(16)}$"
    if tag in query:  # nobody can have guessed it
        raise CypherRefusedError("The query holds a random word.")
    names = [f"c{place}" for place in range(columns)]
    shown = ", ".join(f"CASE WHEN s.size <= {MAX_ANSWER_BYTES} THEN s.{name} END" for name in names)
    size = " + ".join(f"coalesce(pg_column_size(r.{name}), 0)" for name in names)
    # The query is the only text of a user's in it, between dollar tags.
    begin = (
        f"SELECT {shown}, s.size > {MAX_ANSWER_BYTES} FROM (SELECT r.*, sum({size}) "  # noqa: S608
        f"OVER (ROWS UNBOUNDED PRECEDING) AS size FROM (SELECT * FROM ag_catalog.cypher('memory', {tag}"
    )
    typed = ", ".join(f"{name} ag_catalog.agtype" for name in names)
    end = f"{tag}, %(parameters)s) AS g ({typed}) LIMIT {limit + 1}) AS r) AS s"
    return f"{begin}{query.replace('%', '%%')}{end}", len(begin)


def _refused(error: sa.DBAPIError, offset: int, seconds: float) -> MemsvcError | sa.DBAPIError:
    """What the database has against a query, in its own words; another trouble stays what it is."""
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
    place = cause.diag.statement_position
    at = int(place) - offset if place else 0
    return CypherRefusedError(f"{said}{f' (at character {at})' if at > 0 else ''}", hint=cause.diag.message_hint or "")
