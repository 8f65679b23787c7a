"""Changes of the graph: writing batches, listing and undoing changes, and comparing two moments."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.operations import OperationsIn
from memsvc.api.parameters import (
    BeforeParameter,
    CursorParameter,
    KnownAtParameter,
    OnceParameter,
    PageSize,
    read_before,
)
from memsvc.api.problems import documented
from memsvc.db.once import Once
from memsvc.db.paging import Page
from memsvc.errors import InvalidTimeError
from memsvc.graph import history
from memsvc.graph.changes import RecordedChange, ShownChange, get_change, list_changes
from memsvc.graph.diff import Axis, Diff, diff
from memsvc.graph.history import Change
from memsvc.graph.operations import check_conditions
from memsvc.graph.read import Kind
from memsvc.sources.moments import read_known_at, read_moment

BATCH = {
    "operations": [
        {"op": "node", "type": "Person", "label": "Rui Tavares"},
        {"op": "node", "type": "Place", "label": "Porto"},
        {"op": "alias", "node_id": 0, "alias": "Rui"},
        {
            "op": "edge",
            "from_node": 0,
            "type": "LIVES_IN",
            "to_node": 1,
            "fact": "Rui lives in Porto.",
            "valid_from": "2024-05-01",
        },
    ]
}


class ChangesController(Controller):
    """Changes."""

    path = "/changes"
    tags = ("graph",)

    @get(
        operation_id="listChanges",
        summary="List changes",
        description="Lists changes of the graph, newest first: who made them, when, with which kinds of operations.",
        response_description="One page of changes.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        before: BeforeParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[RecordedChange]:
        """Return one page."""
        moment = read_before(before, cursor, reader.owner)
        found = await list_changes(reader.db, reader.owner, before=moment, limit=limit)
        return Page(items=found, next_cursor=found[-1].recorded_at.isoformat() if len(found) == limit else None)

    @get(
        "/{change_id:uuid}",
        operation_id="describeChange",
        summary="Get a change",
        description="Returns a change and, in pages, the versions, names and merges that it wrote and closed.",
        response_description="The change.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(
        self,
        reader: NamedDependency[Caller],
        change_id: FromPath[UUID],
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> ShownChange:
        """Return it."""
        return await get_change(reader.db, reader.owner, change_id, cursor=cursor, limit=limit)

    @post(
        operation_id="writeChanges",
        summary="Change the graph in one batch",
        description="Runs up to 1,000 operations in order, at one recorded time, all of them or none. An error names "
        "the row. Operations refer to a node that the batch creates by the index of its operation, from 0. Facts, "
        "names and merges can be repeated safely. A node without a node_id is created again each time: give it your "
        "own node_id and `make`, or send an Idempotency-Key.",
        response_description="The outcome of each operation.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def write(
        self,
        data: Annotated[OperationsIn, BodyKwarg(examples=[Example(value=BATCH)])],
        writer: NamedDependency[Caller],
        idempotency_key: OnceParameter = None,
    ) -> Change:
        """Write the batch."""
        operations = data.read(writer.owner)
        once = Once.of("writeChanges", idempotency_key, data)
        check_conditions(operations)
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by, once=once)

    @post(
        "/{change_id:uuid}/undo",
        status_code=200,
        operation_id="undoChange",
        summary="Undo a change",
        description="Restores what a change altered. This is a new change, which can be undone as well. Refused if a "
        "later change altered the same things again.",
        response_description="The new change.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def undo(self, writer: NamedDependency[Caller], change_id: FromPath[UUID]) -> Change:
        """Undo it."""
        return await history.undo(writer.db, writer.owner, change_id, asserted_by=writer.asserted_by)


class DiffController(Controller):
    """Differences between two moments."""

    path = "/graph/diff"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="diffGraph",
        summary="Compare two moments",
        description="Lists the differences of the graph between two moments, by node, name, edge, place and merge, "
        "newest first. Axis known: what memsvc learnt between them (added, ended, corrected, retracted). Axis valid: "
        "what began, ended, changed or passed in the world between them, as known at known_at. A page can be shorter "
        "than its limit.",
        response_description="One page of differences.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def diff(
        self,
        *,
        reader: NamedDependency[Caller],
        since: Annotated[
            str,
            QueryParameter(
                name="from",
                description="Differences after this moment (ISO 8601).",
                examples=[Example(value="2026-03-14")],
            ),
        ],
        until: Annotated[
            str | None, QueryParameter(name="to", description="Differences up to this moment. Default: now.")
        ] = None,
        axis: Annotated[Axis, QueryParameter(description="known: memsvc's knowledge; valid: the world.")] = "known",
        known_at: KnownAtParameter = None,
        kinds: Annotated[
            list[Kind] | None,
            QueryParameter(name="kind", description="node, edge, alias, place or merge. May be repeated."),
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Diff:
        """Return one page."""
        read = read_known_at if axis == "known" else read_moment
        first = read(since, reader.owner, "from")
        if first is None:
            raise InvalidTimeError(field="from")
        return await diff(
            reader.db,
            reader.owner,
            first,
            read(until, reader.owner, "to"),
            axis=axis,
            known_at=read_known_at(known_at, reader.owner),
            kinds=kinds,
            cursor=cursor,
            limit=limit,
        )
