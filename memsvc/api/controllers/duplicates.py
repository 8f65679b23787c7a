"""Pairs of nodes that may be the same, for a person to decide."""

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
from memsvc.identity.review import Decision, Pair, State, accept, pairs, reject
from memsvc.identity.splitting import Split, split

A_SOURCE = "01a2007c-7edb-7c15-9f1d-6b0a1d2f8e44"
One = Annotated[UUID, PathParameter(description="One of the two, as the list names it.")]
Other = Annotated[UUID, PathParameter(description="The other.")]


class SplitIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """By what a node is parted."""

    sources: Annotated[list[UUID], msgspec.Meta(min_length=1, max_length=1_000)]
    """source_id of conversations and files that speak of somebody else."""


class DuplicatesController(Controller):
    """Duplicates."""

    path = "/duplicates"
    tags = ("graph",)

    @get(
        operation_id="listDuplicates",
        summary="List pairs that may be the same",
        description="Pairs of nodes that extraction or sleep took for possibly the same and did not dare to merge, the "
        "likeliest first, each with both nodes at a glance and what speaks for it.",
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
        """A page."""
        return await pairs(reader.db, reader.owner, state=status, cursor=cursor, limit=limit)

    @post(
        "/{node_id:uuid}/{other_id:uuid}/accept",
        status_code=200,
        operation_id="acceptDuplicate",
        summary="Say that the two are the same",
        description="Merges them; reads take them for one node from now on, and nothing is moved. The change that did "
        "it can be undone. Said again it changes nothing.",
        response_description="What is decided now.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def accept(self, writer: NamedDependency[Caller], node_id: One, other_id: Other) -> Decision:
        """Merge them."""
        return await accept(writer.db, writer.owner, node_id, other_id)

    @post(
        "/{node_id:uuid}/{other_id:uuid}/reject",
        status_code=200,
        operation_id="rejectDuplicate",
        summary="Say that the two are different",
        description="They are never proposed or merged by memsvc again, also when one is merged with a third. Said "
        "again it changes nothing.",
        response_description="What is decided now.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reject(self, writer: NamedDependency[Caller], node_id: One, other_id: Other) -> Decision:
        """Keep them apart."""
        return await reject(writer.db, writer.owner, node_id, other_id)

    @post(
        "/{node_id:uuid}/split",
        status_code=200,
        operation_id="splitNode",
        summary="Part one node that is two",
        description="What only the named sources say of the node goes over to another one: the merge that joined them "
        "is undone, or a new node gets these facts and names with their times and evidence. The two are never "
        "proposed as duplicates again. The change that did it can be undone.",
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
        """Part it."""
        return await split(writer.db, writer.owner, node_id, data.sources)
