"""What nodes and edges can be, and what a user adds to it."""

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
    """A node type that is proposed."""

    proposed_by: str = "user"
    """user, app, or the name of an extractor."""
    approve: bool = False
    """True: a person adds it, so it is approved at once."""


class EdgeTypeProposal(EdgeTypeIn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An edge type that is proposed."""

    proposed_by: str = "user"
    """user, app, or the name of an extractor."""
    approve: bool = False
    """True: a person adds it, so it is approved at once."""


class TypeChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What can change of a type."""

    description: str
    """What belongs under it, and what does not."""


class OntologyController(Controller):
    """The ontology."""

    path = "/ontology"
    tags = ("ontology",)

    @get(
        operation_id="getOntology",
        summary="List types of nodes and edges",
        description="The core, which is the same for everybody, and the user's own types, proposals among them, with "
        "how many nodes and facts of each there are now.",
        response_description="All types.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        status: Annotated[Status | None, QueryParameter(description="Only types of this status.")] = None,
    ) -> Ontology:
        """All of them."""
        return await ontology(reader.db, reader.owner, status=status)

    @post(
        "/node-types",
        operation_id="proposeNodeType",
        summary="Propose a node type",
        description="Adds a type to the user's ontology. No node can have it until somebody approves it.",
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
        description="Adds a type to the user's ontology. No edge can have it until somebody approves it.",
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
        description="Approves a proposal, turns it down, or gives an approved type to nothing new. What has a "
        "deprecated type keeps it; rejected and deprecated types can be approved again.",
        response_description="The type.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def decide(
        self,
        writer: NamedDependency[Caller],
        types: Sort,
        name: FromPath[str],
        decision: Annotated[Literal["approve", "reject", "deprecate"], PathParameter(description="What is decided.")],
    ) -> NodeType | EdgeType:
        """Decide."""
        return await decide(writer.db, writer.owner, KINDS[types], name, STATUSES[decision], by="user")

    @patch(
        "/{types:str}/{name:str}",
        operation_id="describeType",
        summary="Describe a type anew",
        description="Gives a type of the user another description. All else about a type is fixed.",
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
        """Describe it."""
        return await describe(writer.db, writer.owner, KINDS[types], name, data.description)

    @delete(
        "/{types:str}/{name:str}",
        operation_id="withdrawType",
        summary="Withdraw a proposal",
        description="Deletes a type that was never approved.",
        response_description="It is gone.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def withdraw(self, writer: NamedDependency[Caller], types: Sort, name: FromPath[str]) -> None:
        """Withdraw it."""
        await withdraw(writer.db, writer.owner, KINDS[types], name)
