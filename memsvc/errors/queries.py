"""Errors of queries in SQL and Cypher."""

from __future__ import annotations

from memsvc.errors.requests import InvalidRequestError


class SqlRefusedError(InvalidRequestError):
    """PostgreSQL refused the statement."""

    code = "sql_refused"
    hint = "docs/sql.md describes the views and the queries that work."


class CypherRefusedError(InvalidRequestError):
    """The Cypher query cannot be run."""

    code = "cypher_refused"
    hint = "docs/cypher.md describes the labels, the properties and the queries that work."


class CypherReadsOnlyError(InvalidRequestError):
    """Cypher queries can only read."""

    code = "cypher_reads_only"
    hint = "Change the graph with POST /v1/facts and POST /v1/nodes. Every such change is recorded and can be undone."


class CypherPathsOffError(InvalidRequestError):
    """Paths of variable length are switched off."""

    code = "cypher_paths_off"
    hint = "Use GET /v1/graph/neighbourhood or GET /v1/graph/paths, or write out each hop: (a)-[]->(b)."


class CypherTooSlowError(InvalidRequestError):
    """The Cypher query took too long."""

    code = "cypher_too_slow"
    hint = "Start at a node by its id, name labels and directions, and follow fewer hops."
