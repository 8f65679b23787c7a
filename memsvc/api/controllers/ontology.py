"""The ontology: the types of nodes and edges, and those that a user adds."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from litestar import Controller, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, PathParameter, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.problems import documented
from memsvc.graph.ontology import (
    EdgeType,
    EdgeTypeIn,
    Kind,
    NodeType,
    NodeTypeIn,
    Ontology,
    Status,
    decide,
    describe,
    ontology,
    propose,
    withdraw,
)

Sort = Annotated[Literal["node-types", "edge-types"], PathParameter(description="node-types or edge-types.")]
KINDS: dict[str, Kind] = {"node-types": "node", "edge-types": "edge"}
STATUSES: dict[str, Literal["approved", "rejected", "deprecated"]] = {
    "approve": "approved",
    "reject": "rejected",
    "deprecate": "deprecated",
}


class NodeTypeProposal(NodeTypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal of a node type."""

    proposed_by: str = "user"
    """user, app, or the name of an extractor."""
    approve: bool = False
    """True: a person adds the type, so it is approved immediately."""


class EdgeTypeProposal(EdgeTypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal of an edge type."""

    proposed_by: str = "user"
    """user, app, or the name of an extractor."""
    approve: bool = False
    """True: a person adds the type, so it is approved immediately."""


class TypeChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The new description of a type."""

    description: str
    """What belongs to the type, and what does not."""


class OntologyController(Controller):
    """The ontology."""

    path = "/ontology"
    tags = ("ontology",)

    @get(
        operation_id="getOntology",
        summary="List types of nodes and edges",
        description="Lists the core types, which are the same for everybody, and the user's own types, including "
        "proposals, each with its present number of nodes or facts.",
        response_description="All types.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        status: Annotated[Status | None, QueryParameter(description="Only types of this status.")] = None,
    ) -> Ontology:
        """Return all types."""
        return await ontology(reader.db, reader.owner, status=status)

    @post(
        "/node-types",
        operation_id="proposeNodeType",
        summary="Propose a node type",
        description="Proposes a type for the user's ontology. No node can have it until a person approves it.",
        response_description="The type.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def propose_node_type(
        self,
        data: Annotated[
            NodeTypeProposal,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "name": "Pet",
                            "description": "An animal that lives with people.",
                            "parent": "Person",
                            "reason": "Bello was called a Person three times.",
                            "proposed_by": "extractor",
                        }
                    )
                ]
            ),
        ],
        writer: NamedDependency[Caller],
    ) -> NodeType | EdgeType:
        """Propose it."""
        return await propose(writer.db, writer.owner, data, by=data.proposed_by, approve=data.approve)

    @post(
        "/edge-types",
        operation_id="proposeEdgeType",
        summary="Propose an edge type",
        description="Proposes a type for the user's ontology. No edge can have it until a person approves it.",
        response_description="The type.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def propose_edge_type(
        self,
        data: Annotated[
            EdgeTypeProposal,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "name": "MARRIED_TO",
                            "description": "A is married to B.",
                            "parent": "FAMILY_OF",
                            "functional": True,
                            "approve": True,
                        }
                    )
                ]
            ),
        ],
        writer: NamedDependency[Caller],
    ) -> NodeType | EdgeType:
        """Propose it."""
        return await propose(writer.db, writer.owner, data, by=data.proposed_by, approve=data.approve)

    @post(
        "/{types:str}/{name:str}/{decision:str}",
        status_code=200,
        operation_id="decideType",
        summary="Approve, reject or deprecate a type",
        description="Approves or rejects a proposal, or deprecates an approved type. Nothing new can have a deprecated "
        "type, but what has it keeps it. Rejected and deprecated types can be approved again.",
        response_description="The type.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def decide(
        self,
        writer: NamedDependency[Caller],
        types: Sort,
        name: FromPath[str],
        decision: Annotated[Literal["approve", "reject", "deprecate"], PathParameter(description="The decision.")],
    ) -> NodeType | EdgeType:
        """Decide."""
        return await decide(writer.db, writer.owner, KINDS[types], name, STATUSES[decision], by=writer.asserted_by)

    @patch(
        "/{types:str}/{name:str}",
        operation_id="describeType",
        summary="Change a type's description",
        description="Changes the description of one of the user's own types. Everything else about a type is fixed.",
        response_description="The type.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def describe(
        self,
        data: Annotated[
            TypeChange, BodyKwarg(examples=[Example(value={"description": "An animal that people keep and name."})])
        ],
        writer: NamedDependency[Caller],
        types: Sort,
        name: FromPath[str],
    ) -> NodeType | EdgeType:
        """Change it."""
        return await describe(writer.db, writer.owner, KINDS[types], name, data.description)

    @delete(
        "/{types:str}/{name:str}",
        operation_id="withdrawType",
        summary="Withdraw a proposal",
        description="Deletes a proposed type that was never approved.",
        response_description="The proposal is deleted.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def withdraw(self, writer: NamedDependency[Caller], types: Sort, name: FromPath[str]) -> None:
        """Withdraw it."""
        await withdraw(writer.db, writer.owner, KINDS[types], name)
