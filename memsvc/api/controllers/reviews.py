"""Reviews: facts that extraction found but did not write. A person accepts, corrects or rejects them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Controller, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.access.users import Owner
from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page, read_id
from memsvc.errors import InvalidRequestError
from memsvc.extract.review import Decided, Edit, Review, State, accept, get_review, list_reviews, reject, reopen
from memsvc.sources.moments import read_moment


class EditIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a person changes before the fact is written. Fields that are left out stay as proposed."""

    subject: str | None = None
    """Name of the node at its start."""
    type: str | None = None
    """An edge type."""
    object: str | None = None
    """Name of the node at its end."""
    sentence: str | None = None
    """The fact as a sentence. Needed if the new names do not fit into the proposed sentence."""
    since: str | msgspec.UnsetType | None = msgspec.UNSET
    """Since when it holds (ISO 8601; without an offset in the user's time zone); null: not known."""
    until: str | msgspec.UnsetType | None = msgspec.UNSET
    """The first moment at which it no longer holds; null: it still holds."""
    data: dict[str, Any] | None = None
    """All further properties."""

    def edit(self, owner: Owner) -> Edit:
        """Return the edit for the review.

        Raises:
            InvalidRequestError: the request changes nothing.
            InvalidTimeError: since or until is not a time.
        """
        given = {name: getattr(self, name) for name in ("subject", "type", "object", "sentence", "data")}
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        for name in ("since", "until"):
            value: str | msgspec.UnsetType | None = getattr(self, name)
            if not isinstance(value, msgspec.UnsetType):
                fields[name] = read_moment(value, owner, name)
        if not fields:
            raise InvalidRequestError("The request changes nothing.", hint="POST …/accept writes a fact as proposed.")
        return Edit(**fields)


class ReviewsController(Controller):
    """Reviews of facts."""

    path = "/reviews"
    tags = ("extraction",)

    @get(
        operation_id="listReviews",
        summary="List facts under review",
        description="Lists facts that extraction found but did not write, newest first, each with its message. "
        "doubtful: waits for a person. refused: failed a check, which the reason names, but can still be accepted. "
        "accepted, edited, rejected: decided.",
        response_description="One page of them.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        in_state: Annotated[
            State | Literal["all"], QueryParameter(name="state", description="Only reviews in this state; all: any.")
        ] = "doubtful",
        source: Annotated[UUID | None, QueryParameter(description="Only from this conversation, by its id.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Review]:
        """Return one page."""
        wanted: State | None = None if in_state == "all" else in_state
        after = read_id(cursor)
        found = await list_reviews(reader.db, reader.owner, state=wanted, source=source, after=after, limit=limit)
        return Page(items=found, next_cursor=str(found[-1].review_id) if len(found) == limit else None)

    @get(
        "/{review_id:uuid}",
        operation_id="getReview",
        summary="Get a fact under review",
        description="Returns the proposed fact, the reason why it was not written, and its message.",
        response_description="The review.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], review_id: FromPath[UUID]) -> Review:
        """Return it."""
        return await get_review(reader.db, reader.owner, review_id)

    @post(
        "/{review_id:uuid}/accept",
        status_code=200,
        operation_id="acceptReview",
        summary="Accept a fact",
        description="Writes the fact as proposed. It counts as asserted by the caller, with the message as evidence, "
        "and supersedes facts that it contradicts in its valid time.",
        response_description="The decided review and the change of the graph.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def accept(self, writer: NamedDependency[Caller], review_id: FromPath[UUID]) -> Decided:
        """Accept it."""
        return await accept(writer.db, writer.owner, review_id, by=writer.asserted_by)

    @patch(
        "/{review_id:uuid}",
        operation_id="editReview",
        summary="Correct a fact and accept it",
        description="Writes the fact with the corrections of this request. The rest stays as proposed.",
        response_description="The decided review and the change of the graph.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def edit(
        self,
        data: Annotated[
            EditIn,
            BodyKwarg(
                examples=[Example(value={"object": "Porto", "sentence": "Ines lives in Porto.", "since": "2026-03-01"})]
            ),
        ],
        writer: NamedDependency[Caller],
        review_id: FromPath[UUID],
    ) -> Decided:
        """Correct and accept it."""
        edit = data.edit(writer.owner)
        return await accept(writer.db, writer.owner, review_id, by=writer.asserted_by, edit=edit)

    @post(
        "/{review_id:uuid}/reject",
        status_code=200,
        operation_id="rejectReview",
        summary="Reject a fact permanently",
        description="Rejects the fact. No extractor proposes it again from the same message.",
        response_description="The decided review.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reject(self, writer: NamedDependency[Caller], review_id: FromPath[UUID]) -> Decided:
        """Reject it."""
        return await reject(writer.db, writer.owner, review_id, by=writer.asserted_by)

    @post(
        "/{review_id:uuid}/reopen",
        status_code=200,
        operation_id="reopenReview",
        summary="Take back a decision on a fact",
        description="Lets a fact that was accepted, corrected or rejected wait for a decision again. If a fact was "
        "written, undo its change as well: POST /v1/changes/{change_id}/undo. Repeating the request changes nothing.",
        response_description="The review.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def reopen(self, writer: NamedDependency[Caller], review_id: FromPath[UUID]) -> Review:
        """Let it wait again."""
        return await reopen(writer.db, writer.owner, review_id)
