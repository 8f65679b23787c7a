"""Pairs of nodes that may be duplicates, for a person to decide on."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, PathParameter, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.identity.review import Decision, Pair, State, accept, pairs, reject, reopen
from memsvc.identity.splitting import Split, split

A_SOURCE = "01a2007c-7edb-7c15-9f1d-6b0a1d2f8e44"
One = Annotated[UUID, PathParameter(description="Id of one node of the pair, as the list shows it.")]
Other = Annotated[UUID, PathParameter(description="Id of the other node.")]


class SplitIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The sources by which a node is split."""

    sources: Annotated[list[UUID], msgspec.Meta(min_length=1, max_length=1_000)]
    """source_id of the conversations and files that mention the other person or thing."""


class DuplicatesController(Controller):
    """Duplicates."""

    path = "/duplicates"
    tags = ("graph",)

    @get(
        operation_id="listDuplicates",
        summary="List possible duplicates",
        description="Lists pairs of nodes that may be the same and that extraction or sleep mode did not merge by "
        "itself, the most likely first. Each pair has a summary of both nodes and the reasons for the match.",
        response_description="A page of pairs.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        status: Annotated[State, QueryParameter(description="open, merged, rejected or split.")] = "open",
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Pair]:
        """Return one page of pairs."""
        return await pairs(reader.db, reader.owner, state=status, cursor=cursor, limit=limit)

    @post(
        "/{node_id:uuid}/{other_id:uuid}/accept",
        status_code=200,
        operation_id="acceptDuplicate",
        summary="Merge a pair of duplicates",
        description="Merges the two nodes. Reads treat them as one node from now on; no data is moved. The change can "
        "be undone. Repeating the request changes nothing.",
        response_description="The decision.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def accept(self, writer: NamedDependency[Caller], node_id: One, other_id: Other) -> Decision:
        """Merge them."""
        return await accept(writer.db, writer.owner, node_id, other_id, by=writer.asserted_by)

    @post(
        "/{node_id:uuid}/{other_id:uuid}/reject",
        status_code=200,
        operation_id="rejectDuplicate",
        summary="Reject a pair of duplicates",
        description="Records that the two nodes are different. memsvc never proposes or merges them again, even after "
        "one is merged with a third node. Repeating the request changes nothing.",
        response_description="The decision.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reject(self, writer: NamedDependency[Caller], node_id: One, other_id: Other) -> Decision:
        """Keep them apart."""
        return await reject(writer.db, writer.owner, node_id, other_id, by=writer.asserted_by)

    @post(
        "/{node_id:uuid}/{other_id:uuid}/reopen",
        status_code=200,
        operation_id="reopenDuplicate",
        summary="Take back a decision on a pair",
        description="Lets a pair that was merged, rejected or split wait for a decision again. If the two are merged, "
        "undo that change first: POST /v1/changes/{change_id}/undo. Repeating the request changes nothing.",
        response_description="The pair's state.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reopen(self, writer: NamedDependency[Caller], node_id: One, other_id: Other) -> Decision:
        """Let it wait again."""
        return await reopen(writer.db, writer.owner, node_id, other_id)

    @post(
        "/{node_id:uuid}/split",
        status_code=200,
        operation_id="splitNode",
        summary="Split a node",
        description="Splits a node that mixes up two people or things. Everything that only the named sources say "
        "about it moves to another node: either the merge that joined the two is undone, or a new node gets these "
        "facts and names with their times and evidence. The two are never proposed as duplicates again. The change "
        "can be undone.",
        response_description="Both nodes.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def split(
        self,
        data: Annotated[SplitIn, BodyKwarg(examples=[Example(value={"sources": [A_SOURCE]})])],
        writer: NamedDependency[Caller],
        node_id: Annotated[UUID, PathParameter(description="The node, or one that is merged with it.")],
    ) -> Split:
        """Split it."""
        return await split(writer.db, writer.owner, node_id, data.sources, by=writer.asserted_by)
