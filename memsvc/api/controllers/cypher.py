"""Cypher queries that read the graph, on servers with Apache AGE."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc.api.callers import READER, Caller, service_of
from memsvc.api.problems import documented
from memsvc.graph.cypher import MAX_QUERY_CHARS, MAX_ROWS, CypherAnswer, ask
from memsvc.server.projection import missing


class CypherIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A Cypher query."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_CHARS)]
    """openCypher that only reads and ends with RETURN. docs/cypher.md describes the labels and properties."""
    parameters: dict[str, Any] = {}
    """Values of its $names. Put users' text here, never into the query."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)] = 1_000
    """The most rows to return."""


class CypherController(Controller):
    """Cypher."""

    path = "/graph/cypher"
    tags = ("graph",)
    dependencies = READER

    @post(
        status_code=200,
        operation_id="askCypher",
        summary="Ask the graph in Cypher",
        description="Runs one openCypher query that only reads. The server needs Apache AGE; without it the answer is "
        "501 (capability_missing). The label of a node or an edge is its type. Properties are `id`, `type`, `name` or "
        "`fact`, and the bounds of valid time. Merged nodes are one node. Paths of variable length are not allowed: "
        "use GET /v1/graph/neighbourhood and /v1/graph/paths instead.",
        response_description="Columns and rows.",
        responses=documented(400, 401, 403, 404, 413, 415, 501, 503),
    )
    async def ask(
        self,
        *,
        request: Request[Any, Any, Any],
        data: Annotated[
            CypherIn,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "query": "MATCH (p:Person {name: $name})-[e:LIVES_IN]->(c) "
                            "RETURN c.name AS place, e.valid_from AS since",
                            "parameters": {"name": "Ines Albrecht"},
                        }
                    ),
                    Example(value={"query": "MATCH (n) RETURN label(n) AS label, count(*) AS nodes", "limit": 50}),
                ]
            ),
        ],
        reader: NamedDependency[Caller],
    ) -> CypherAnswer:
        """Run the query."""
        cypher = service_of(request).cypher_of(reader.db)
        if cypher is None:
            raise missing()
        seconds = reader.settings.cypher_timeout_ms / 1_000
        return await ask(cypher, reader.owner, data.query, data.parameters, limit=data.limit, seconds=seconds)
