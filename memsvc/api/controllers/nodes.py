"""Nodes and their names: finding, reading, writing, merging and unmerging them."""

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
from memsvc.graph.describe import describe_node, list_names
from memsvc.graph.edit import correct_node
from memsvc.graph.history import Change
from memsvc.graph.operations import Alias, Close, Operation, Retract, Thread, check_conditions
from memsvc.graph.read import Event
from memsvc.graph.search import MatchedNode
from memsvc.graph.shown import ShownName, ShownNode
from memsvc.recall.find import FoundPage, find_nodes
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
    """Further names besides the label, valid at the same time."""
    node_id: UUID | None = None
    """An id of your own choice, best a UUID of version 7, so the request can be repeated. If the node exists, it gets
    these properties from now on."""


class NodePatch(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """A correction of a node's properties. Properties that are left out stay as they are."""

    type: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    """All further properties. They replace the old ones as a whole."""
    importance: float | UnsetType = UNSET
    version_id: UUID | None = None
    """The version that you read. Refused if it has been superseded since."""


class AliasesIn(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """Names of a node."""

    aliases: Names
    """1 to 1,000 names."""
    confidence: float = 1.0
    """Above 0, at most 1."""


class AliasesOut(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """Names that a node does not have, or no longer has."""

    aliases: Names
    """1 to 1,000 names."""
    ended_at: str | None = None
    """The node had the names until then. Left out: it never had them."""


class MergeIn(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """The node to merge into."""

    into: UUID
    """The node that represents both from now on."""
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
        description="Finds nodes by label or name, ignoring case, accents and spaces. Exact matches come first, then "
        "names that begin with q, then names with a word that begins with q, then names that contain q. After them "
        "come up to 100 nodes whose description fits q by its words or by meaning, best first; matched says by what "
        "each node was found. If the embedding model does not answer in time, degraded contains vector and nothing is "
        "found by meaning. Without q: all nodes, sorted by label. Merged nodes appear once, as the node that "
        "represents them.",
        response_description="One page of nodes.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def search(
        self,
        *,
        reader: NamedDependency[Caller],
        q: Annotated[
            str, QueryParameter(description="A name, a part of one, or what it is about. No part of it is syntax.")
        ] = "",
        node_type: Annotated[str | None, QueryParameter(name="type", description="Only nodes of this type.")] = None,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> FoundPage[MatchedNode]:
        """Return one page."""
        return await find_nodes(
            reader.db,
            reader.owner,
            q,
            reader.settings,
            embedder=reader.embedder,
            node_type=node_type,
            as_of=read_as_of(as_of, reader.owner),
            known_at=read_known_at(known_at, reader.owner),
            cursor=cursor,
            limit=limit,
        )

    @get(
        "/{node_id:uuid}",
        operation_id="describeNode",
        summary="Get a node",
        description="Returns a node's summary, the versions of its properties, its names and its facts, each with "
        "sources. For the id of a merged node, it returns the node that represents it, and merged_into names that.",
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
        facts: Annotated[int, QueryParameter(ge=1, le=1_000, description="The most facts to return.")] = 20,
    ) -> ShownNode:
        """Return it."""
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
        summary="Get the history of a node",
        description="Lists everything that was written or closed for the node and for all nodes merged with it, newest "
        "first. Events recorded at the same time are never split over pages, so a page can exceed its limit.",
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
        """Return one page."""
        moment = read_before(before, cursor, reader.owner)
        await read.resolve(reader.db, reader.owner, [node_id])
        events = await read.history(reader.db, reader.owner, node_id, before=moment, limit=limit)
        more = len(events) >= limit
        return Page(items=events, next_cursor=events[-1].at.isoformat() if more else None)

    @post(
        operation_id="addNode",
        summary="Create a node",
        description="Creates a node with its properties and names. With your own node_id the request can be repeated.",
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
        """Create it."""
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
        description="Corrects properties that were wrong, over the same valid time. The old ones stay in the history. "
        "If the world changed at some time, that is not a correction: use POST /v1/changes with op node and "
        "valid_from.",
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
        summary="Add names to a node",
        description="Adds names. Two nodes may have the same name; the name is then ambiguous, which is not an error.",
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
        """Add them."""
        span = data.span(writer.owner)
        operations = [Alias(node=node_id, alias=name, confidence=data.confidence, **span) for name in data.aliases]
        return await history.write(writer.db, writer.owner, operations, asserted_by=writer.asserted_by)

    @post(
        "/{node_id:uuid}/aliases/retract",
        status_code=200,
        operation_id="retractAliases",
        summary="Retract names of a node",
        description="Records that the node never had these names, or only until ended_at. They stay in the history.",
        response_description="The change. The outcome unchanged means that the node did not have the name.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def retract_aliases(
        self,
        data: Annotated[AliasesOut, BodyKwarg(examples=[Example(value={"aliases": ["Nessie"]})])],
        writer: NamedDependency[Caller],
        node_id: FromPath[UUID],
    ) -> Change:
        """Retract them."""
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
        description="Records that both nodes are the same. The other node represents both from now on. No data is "
        "moved, so the merge can be undone at any time.",
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
        summary="Unmerge a node",
        description="Undoes a merge. The node is separate again, with everything that was ever written to it.",
        response_description="The change. The outcome unchanged means that the node was not merged.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def unmerge(self, writer: NamedDependency[Caller], node_id: FromPath[UUID]) -> Change:
        """Undo the merge."""
        return await history.unmerge(writer.db, writer.owner, node_id, asserted_by=writer.asserted_by)


class AliasesController(Controller):
    """Names."""

    path = "/aliases"
    tags = ("graph",)
    dependencies = READER

    @get(
        operation_id="listAliases",
        summary="List names",
        description="Lists the names of a node, or the nodes that have a name (in any spelling with the same normal "
        "form), or both, in the order in which they were learnt.",
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
        """Return one page."""
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
