"""Nodes and their names: found, looked at, written by hand, merged and taken apart."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from litestar import Controller, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter
from msgspec import UNSET, UnsetType

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.operations import Names, NodeFields, WithEvidence, WithSpan
from memsvc.api.parameters import (
    AsOfParameter,
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
from memsvc.graph import history, read
from memsvc.graph.describe import ShownName, ShownNode, describe_node, list_names
from memsvc.graph.edit import correct_node
from memsvc.graph.history import Change
from memsvc.graph.operations import Alias, Close, Operation, Retract, Thread, check_conditions
from memsvc.graph.read import Event
from memsvc.graph.search import MatchedNode, search_nodes
from memsvc.sources.moments import read_as_of, read_known_at, read_moment

NODE = {
    "type": "Person",
    "label": "Ines Albrecht",
    "description": "Marcel's sister; a carpenter.",
    "aliases": ["Ines", "Nessa"],
}


class NodeIn(NodeFields, kw_only=True, forbid_unknown_fields=True):
    """A node with its properties and its names."""

    aliases: tuple[str, ...] = ()
    """What it is called beside its label, at the same time."""
    node_id: UUID | None = None
    """An id of your own choice, best a UUID of version 7: the same request can then be sent again. Of a node that is
    there, these are its properties from now on."""


class NodePatch(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """What should have been otherwise; what is left out stays."""

    type: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    """All further properties: it replaces the whole."""
    importance: float | UnsetType = UNSET
    version_id: UUID | None = None
    """The version that you saw: refused where somebody knew better meanwhile."""


class AliasesIn(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """Names of a node."""

    aliases: Names
    """1 to 1,000."""
    confidence: float = 1.0
    """Above 0, at most 1."""


class AliasesOut(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """Names that a node does not have."""

    aliases: Names
    """1 to 1,000."""
    ended_at: str | None = None
    """It was called so until then. Left out: it never was."""


class MergeIn(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """Which node is the same."""

    into: UUID
    """The node that stands for both from now on."""
    reason: str = ""
    confidence: float = 1.0
    """Above 0, at most 1."""


class NodesController(Controller):
    """Nodes."""

    path = "/nodes"
    tags = ("graph",)

    @get(
        operation_id="searchNodes",
        summary="Find nodes",
        description="Nodes by label or name, in their normal form (case, accents and spaces do not count): first what "
        "is the same, then what begins so, then what has a word that begins so, then what holds it. Without q all "
        "nodes, by label. Merged nodes come once, as the one that stands for them.",
        response_description="One page of nodes.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def search(
        self,
        *,
        reader: NamedDependency[Caller],
        q: Annotated[str, QueryParameter(description="A name or a part of one; nothing in it is syntax.")] = "",
        node_type: Annotated[str | None, QueryParameter(name="type", description="Only nodes of this type.")] = None,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[MatchedNode]:
        """One page of them."""
        return await search_nodes(
            reader.db,
            reader.owner,
            q,
            node_type=node_type,
            as_of=read_as_of(as_of, reader.owner),
            known_at=read_known_at(known_at, reader.owner),
            cursor=cursor,
            limit=limit,
        )

    @get(
        "/{node_id:uuid}",
        operation_id="describeNode",
        summary="Look at a node",
        description="Its card, the versions of its properties, its names, its facts and the sources of all that. The "
        "id of a merged node is answered with the node that stands for it; merged_into says so.",
        response_description="The node.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(
        self,
        reader: NamedDependency[Caller],
        node_id: FromPath[UUID],
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        facts: Annotated[int, QueryParameter(ge=1, le=1_000, description="Most facts.")] = 20,
    ) -> ShownNode:
        """Look at it."""
        return await describe_node(
            reader.db,
            reader.owner,
            str(node_id),
            as_of=read_as_of(as_of, reader.owner),
            known_at=read_known_at(known_at, reader.owner),
            facts=facts,
        )

    @get(
        "/{node_id:uuid}/history",
        operation_id="nodeHistory",
        summary="Everything that was recorded of a node",
        description="What was written and closed, of the node and of all that are the same now, newest first. What "
        "was recorded at one time is never divided, so a page can be longer than its limit.",
        response_description="One page of events.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def history(
        self,
        reader: NamedDependency[Caller],
        node_id: FromPath[UUID],
        before: BeforeParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Event]:
        """One page of it."""
        moment = read_before(before, cursor, reader.owner)
        await read.resolve(reader.db, reader.owner, [node_id])
        events = await read.history(reader.db, reader.owner, node_id, before=moment, limit=limit)
        more = len(events) >= limit
        return Page(items=events, next_cursor=events[-1].at.isoformat() if more else None)

    @post(
        operation_id="addNode",
        summary="Make a node",
        description="A node with its properties and names. With a node_id of your own the request can be sent again.",
        response_description="The change; results[0].node_id is the node.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def add(
        self,
        data: Annotated[NodeIn, BodyKwarg(examples=[Example(value=NODE)])],
        writer: NamedDependency[Caller],
        idempotency_key: OnceParameter = None,
    ) -> Change:
        """Make it."""
        span = data.span(writer.owner)
        operations: list[Operation] = [data.node(writer.owner, make=True)]
        operations += [Alias(node=0, alias=name, **span) for name in data.aliases]
        once = Once.of("addNode", idempotency_key, data)
        check_conditions(operations)
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by, once=once)

    @patch(
        "/{node_id:uuid}",
        operation_id="correctNode",
        summary="Correct a node's properties",
        description="They should have been others, over the same time; the old ones stay in the history. What changed "
        "in the world at some time is news, not a correction: POST /v1/changes with op node and valid_from.",
        response_description="The change.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def correct(
        self,
        data: Annotated[NodePatch, BodyKwarg(examples=[Example(value={"label": "Ines Albrecht-Kern"})])],
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
    ) -> Change:
        """Correct them."""
        content = {
            name: value
            for name in ("type", "label", "description", "data", "importance")
            if (value := getattr(data, name)) is not UNSET
        }
        return await correct_node(
            writer.db,
            writer.owner,
            node_id,
            content,
            asserted_by=writer.asserted_by,
            version_id=data.version_id,
            evidence=data.evidence,
        )

    @post(
        "/{node_id:uuid}/aliases",
        operation_id="addAliases",
        summary="Give a node names",
        description="It is called so. Two nodes may have the same name: it is then ambiguous, not wrong.",
        response_description="The change.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def add_aliases(
        self,
        data: Annotated[AliasesIn, BodyKwarg(examples=[Example(value={"aliases": ["Nessa"]})])],
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
    ) -> Change:
        """Give them."""
        span = data.span(writer.owner)
        operations = [Alias(node=node_id, alias=name, confidence=data.confidence, **span) for name in data.aliases]
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by)

    @post(
        "/{node_id:uuid}/aliases/retract",
        status_code=200,
        operation_id="retractAliases",
        summary="Take names of a node back",
        description="It was never called so, or until a time (ended_at). The names stay in the history.",
        response_description="The change; outcome unchanged: it was not called so anyway.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def retract_aliases(
        self,
        data: Annotated[AliasesOut, BodyKwarg(examples=[Example(value={"aliases": ["Nessie"]})])],
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
    ) -> Change:
        """Take them back."""
        ended_at = read_moment(data.ended_at, writer.owner, "ended_at")
        threads = [Thread(node=node_id, alias=name) for name in data.aliases]
        operations: list[Operation] = [
            Retract(thread=thread, evidence=data.evidence)
            if ended_at is None
            else Close(thread=thread, at=ended_at, evidence=data.evidence)
            for thread in threads
        ]
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by)

    @post(
        "/{node_id:uuid}/merge",
        status_code=200,
        operation_id="mergeNode",
        summary="Merge a node into another",
        description="They are the same; the other one stands for both from now on. Nothing is moved, so it can be "
        "taken back at any time.",
        response_description="The change.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def merge(
        self,
        data: Annotated[
            MergeIn,
            BodyKwarg(examples=[Example(value={"into": "01a200c9-0000-7000-8000-000000000002", "reason": "Spelling"})]),
        ],
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
    ) -> Change:
        """Merge it."""
        return await history.merge(
            writer.db,
            writer.owner,
            node_id,
            data.into,
            asserted_by=writer.asserted_by,
            reason=data.reason,
            confidence=data.confidence,
            evidence=data.evidence,
        )

    @post(
        "/{node_id:uuid}/unmerge",
        status_code=200,
        operation_id="unmergeNode",
        summary="Take a merge back",
        description="The node is itself again, with all that was ever written to it.",
        response_description="The change; outcome unchanged: it was not merged.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def unmerge(self, writer: NamedDependency[Caller], node_id: FromPath[UUID]) -> Change:
        """Take it back."""
        return await history.unmerge(writer.db, writer.owner, node_id, asserted_by=writer.asserted_by)


class AliasesController(Controller):
    """Names."""

    path = "/aliases"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="listAliases",
        summary="List names",
        description="Names of a node, or whose name this is (however it is spelt), or both, in the order in which they "
        "were learnt.",
        response_description="One page of names.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def list(
        self,
        *,
        reader: NamedDependency[Caller],
        name: Annotated[
            str | None, QueryParameter(description="Only this name.", examples=[Example(value="Nessa")])
        ] = None,
        node: Annotated[str | None, QueryParameter(description="Only of this node: an id, label or name.")] = None,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[ShownName]:
        """One page of them."""
        return await list_names(
            reader.db,
            reader.owner,
            name=name,
            node=node,
            as_of=read_as_of(as_of, reader.owner),
            known_at=read_known_at(known_at, reader.owner),
            cursor=cursor,
            limit=limit,
        )
