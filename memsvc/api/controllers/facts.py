"""Facts about nodes: reading them, and writing them by hand."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import Controller, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter
from msgspec import UNSET, UnsetType

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.operations import FactFields, WithEvidence, WithSpan
from memsvc.api.parameters import AsOfParameter, CursorParameter, KnownAtParameter, OnceParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.once import Once
from memsvc.graph import history
from memsvc.graph.describe import contradictions, describe_edge, facts_about
from memsvc.graph.edit import correct_fact
from memsvc.graph.history import Change
from memsvc.graph.operations import Mark, Retract, Thread
from memsvc.graph.read import Side
from memsvc.graph.shown import Contradictions, FactsPage, ShownEdge
from memsvc.sources.annotating import Annotation, annotate_fact
from memsvc.sources.moments import read_as_of, read_known_at, read_moment

Several = list[str]
FACT = {
    "from_node": "01a200c9-0000-7000-8000-000000000001",
    "type": "LIVES_IN",
    "to_node": "01a200c9-0000-7000-8000-000000000003",
    "fact": "Ines lives in Porto.",
    "valid_from": "2026-03-01",
}


class FactIn(FactFields, kw_only=True, forbid_unknown_fields=True):
    """A fact to assert: a relation from one node to another."""

    from_node: UUID
    to_node: UUID


class FactPatch(WithEvidence, kw_only=True, forbid_unknown_fields=True):
    """A correction of a fact, or its end. Fields that are left out stay as they are."""

    fact: str | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    """All further properties. They replace the old ones as a whole."""
    weight: float | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    version_id: UUID | None = None
    """The version that you read. Refused if it has been superseded since."""
    ended_at: str | None = None
    """The first moment at which it no longer held."""


class AnnotationIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A mark on a fact, and the reason for it."""

    stance: Mark
    """validated: it was checked and holds. disputed: it is doubted, and shown as contested."""
    reason: str
    """Why, in words. It is kept as evidence, as a trace of the conversation "annotations"."""
    version_id: UUID | None = None
    """The version that you read. Refused if it has been superseded since. Left out: the one that is true now."""


class RetractIn(WithSpan, kw_only=True, forbid_unknown_fields=True):
    """The time in which the fact did not hold. Empty: it never held."""


class FactsController(Controller):
    """Facts."""

    path = "/facts"
    tags = ("graph",)

    @get(
        operation_id="listFacts",
        summary="List facts about nodes",
        description="Lists facts about nodes and the nodes merged with them, newest valid time first, each with the "
        "labels of both ends, its four times and its sources. A name that several nodes have means all of them; "
        "`ambiguous` lists them.",
        response_description="One page of facts.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        *,
        reader: NamedDependency[Caller],
        about: Annotated[
            Several,
            QueryParameter(
                description="An id, label or name. May be repeated up to 100 times.",
                examples=[Example(value="Ines Albrecht")],
            ),
        ],
        types: Annotated[
            Several | None, QueryParameter(name="type", description="Only facts of this type. May be repeated.")
        ] = None,
        as_of: AsOfParameter = None,
        known_at: KnownAtParameter = None,
        side: Annotated[
            Side, QueryParameter(description="from: facts that start at the node; to: facts that end there; both.")
        ] = "both",
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> FactsPage:
        """Return one page."""
        return await facts_about(
            reader.db,
            reader.owner,
            about,
            types=types,
            as_of=read_as_of(as_of, reader.owner),
            known_at=read_known_at(known_at, reader.owner),
            side=side,
            cursor=cursor,
            limit=limit,
        )

    @get(
        "/contested",
        operation_id="listContradictions",
        summary="List contradictions",
        description="Lists facts that hold now and are contested: groups of values that cannot all be true, because "
        "merged nodes have several of a type that allows one at a time, and facts that somebody disputes. Retract or "
        "end what is wrong, or mark a disputed fact as validated.",
        response_description="The contradictions.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def contested(self, reader: NamedDependency[Caller], limit: PageSize = 50) -> Contradictions:
        """Return them."""
        return await contradictions(reader.db, reader.owner, limit=limit)

    @get(
        "/{edge_id:uuid}",
        operation_id="describeFact",
        summary="Get a fact",
        description="Returns all versions of a fact that were ever recorded, newest first, or those known at a moment, "
        "each with its sources.",
        response_description="The fact with its versions.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(
        self,
        reader: NamedDependency[Caller],
        edge_id: FromPath[UUID],
        known_at: KnownAtParameter = None,
        limit: Annotated[int, QueryParameter(ge=1, le=1_000, description="The most versions to return.")] = 100,
    ) -> ShownEdge:
        """Return it."""
        moment = read_known_at(known_at, reader.owner)
        return await describe_edge(reader.db, reader.owner, edge_id, known_at=moment, limit=limit)

    @post(
        operation_id="addFact",
        summary="Assert a fact",
        description="Records a relation between two nodes, over a span of valid time. Facts that it contradicts in "
        "that time are superseded: for a type that allows one value at a time (LIVES_IN, WORKS_AT …), the old value "
        "ends where the new one begins. Asserting the same fact again only adds its evidence.",
        response_description="The change; results[0].edge_id is the fact.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def add(
        self, data: Annotated[FactIn, BodyKwarg(examples=[Example(value=FACT)])], writer: NamedDependency[Caller]
    ) -> Change:
        """Assert it."""
        edge = data.edge(writer.owner, data.from_node, data.to_node)
        return await history.write(writer.db, writer.owner, [edge], asserted_by=writer.asserted_by)

    @patch(
        "/{edge_id:uuid}",
        operation_id="correctFact",
        summary="Correct or end a fact",
        description="Corrects the fact's content over the same valid time, or ends the fact (ended_at), or both. Its "
        "nodes and its type cannot change: retract it and assert another fact instead.",
        response_description="The change.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def correct(
        self,
        data: Annotated[FactPatch, BodyKwarg(examples=[Example(value={"ended_at": "2026-09-30"})])],
        writer: NamedDependency[Caller],
        edge_id: FromPath[UUID],
    ) -> Change:
        """Correct it."""
        content = {
            name: value
            for name in ("fact", "data", "weight", "confidence")
            if (value := getattr(data, name)) is not UNSET
        }
        return await correct_fact(
            writer.db,
            writer.owner,
            edge_id,
            content,
            asserted_by=writer.asserted_by,
            version_id=data.version_id,
            ended_at=read_moment(data.ended_at, writer.owner, "ended_at"),
            evidence=data.evidence,
        )

    @post(
        "/{edge_id:uuid}/annotations",
        operation_id="annotateFact",
        summary="Validate or dispute a fact",
        description="Marks a fact as validated or disputed, with a reason. The mark is evidence of the fact with that "
        "stance, so it is part of the fact's sources, of its history and of exports, and can be undone. The last mark "
        "of each author counts. A disputed fact is shown as contested. It still holds: correct or retract it if you "
        "know better.",
        response_description="The change; results[0].versions has the version that was marked.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def annotate(
        self,
        data: Annotated[
            AnnotationIn, BodyKwarg(examples=[Example(value={"stance": "disputed", "reason": "Ines moved to Lyon."})])
        ],
        writer: NamedDependency[Caller],
        edge_id: FromPath[UUID],
        idempotency_key: OnceParameter = None,
    ) -> Change:
        """Mark it."""
        return await annotate_fact(
            writer.db,
            writer.owner,
            writer.settings,
            Annotation(edge_id=edge_id, stance=data.stance, reason=data.reason, version_id=data.version_id),
            asserted_by=writer.asserted_by,
            once=Once.of(f"annotateFact {edge_id}", idempotency_key, data),
        )

    @post(
        "/{edge_id:uuid}/retract",
        status_code=200,
        operation_id="retractFact",
        summary="Retract a fact",
        description="Records that the fact never held, or did not hold in the given time. It stays in the history, "
        "with the time until which memsvc believed it.",
        response_description="The change. The outcome unchanged means that the fact did not hold anyway.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def retract(
        self,
        data: Annotated[RetractIn, BodyKwarg(examples=[Example(value={})])],
        writer: NamedDependency[Caller],
        edge_id: FromPath[UUID],
    ) -> Change:
        """Retract it."""
        operation = Retract(thread=Thread(edge=edge_id), **data.span(writer.owner))
        return await history.write(writer.db, writer.owner, [operation], asserted_by=writer.asserted_by)
