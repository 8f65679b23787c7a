"""What sleep mode proposes, for a person to decide on; and how much waits for a decision in all."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.sleep.proposals import Decision, Kind, Proposed, State, accept, proposals, reject, reopen
from memsvc.sleep.waiting import Waiting, count_waiting

ProposalId = Annotated[UUID, PathParameter(description="Id of the proposal, as the list shows it.")]


class ProposalsController(Controller):
    """Proposals."""

    path = "/proposals"
    tags = ("graph",)

    @get(
        operation_id="listProposals",
        summary="List proposals",
        description="Lists what sleep mode proposes and a person decides, the most likely first: links between nodes "
        "that probably belong together, other names of people, nodes that are probably two, memories that are "
        "recalled again and again and could be a line of core memory, and lines of core memory that a later fact ended "
        "or contradicts, with what takes their place. Nothing of it is done before it is accepted.",
        response_description="A page of proposals.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        status: Annotated[State, QueryParameter(description="open, accepted, rejected or withdrawn.")] = "open",
        kind: Annotated[
            Kind | None, QueryParameter(description="link, alias, split, core or outdated. Default: all kinds.")
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Proposed]:
        """Return one page of proposals."""
        return await proposals(reader.db, reader.owner, state=status, kind=kind, cursor=cursor, limit=limit)

    @post(
        "/{proposal_id:uuid}/accept",
        status_code=200,
        operation_id="acceptProposal",
        summary="Accept a proposal",
        description="Does what is proposed: writes the link (`RELATED_TO`) or the name, splits the node, appends "
        "the line to the block `remembered`, or replaces or removes the outdated line. A change of the graph can be "
        "undone; the history of a block keeps its text from before. Repeating the request changes nothing.",
        response_description="The decision.",
        responses=documented(400, 401, 403, 404, 409, 413, 503),
        dependencies=WRITER,
    )
    async def accept(self, writer: NamedDependency[Caller], proposal_id: ProposalId) -> Decision:
        """Do it."""
        return await accept(writer.db, writer.owner, proposal_id, by=writer.asserted_by)

    @post(
        "/{proposal_id:uuid}/reject",
        status_code=200,
        operation_id="rejectProposal",
        summary="Reject a proposal",
        description="Records that the proposal is wrong. It is never made again. Repeating the request changes "
        "nothing.",
        response_description="The decision.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reject(self, writer: NamedDependency[Caller], proposal_id: ProposalId) -> Decision:
        """Reject it."""
        return await reject(writer.db, writer.owner, proposal_id, by=writer.asserted_by)

    @post(
        "/{proposal_id:uuid}/reopen",
        status_code=200,
        operation_id="reopenProposal",
        summary="Take back a decision on a proposal",
        description="Lets a proposal that was accepted or rejected wait for a decision again. What accepting it did "
        "stays: undo its change (POST /v1/changes/{change_id}/undo), or edit the block `remembered`. Repeating the "
        "request changes nothing.",
        response_description="The proposal's state.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reopen(self, writer: NamedDependency[Caller], proposal_id: ProposalId) -> Decision:
        """Let it wait again."""
        return await reopen(writer.db, writer.owner, proposal_id)


class WaitingController(Controller):
    """What waits for a person."""

    path = "/waiting"
    tags = ("graph",)

    @get(
        operation_id="countWaiting",
        summary="Count what waits for a decision",
        description="Counts what waits for a person's decision, by kind: facts under review, duplicates, "
        "contradictions, types, lessons, and proposals.",
        response_description="The numbers.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def count(self, reader: NamedDependency[Caller]) -> Waiting:
        """Count it."""
        return await count_waiting(reader.db, reader.owner)
