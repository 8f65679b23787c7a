"""Facts that were found and not written by themselves: a person accepts, corrects or rejects them."""

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
from memsvc.extract.review import Decided, Edit, Review, State, accept, get_review, list_reviews, reject
from memsvc.sources.moments import read_moment


class EditIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a person changes before the fact is written; what is left out stays as it was proposed."""

    subject: str | None = None
    """Name of its start."""
    type: str | None = None
    """An edge type."""
    object: str | None = None
    """Name of its end."""
    sentence: str | None = None
    """The fact as a sentence; needed where the new names do not fit into the proposed one."""
    since: str | msgspec.UnsetType | None = msgspec.UNSET
    """From when it is so: ISO 8601, without an offset on the user's clock; null: not known."""
    until: str | msgspec.UnsetType | None = msgspec.UNSET
    """The first moment at which it was not so any more; null: it still is."""
    data: dict[str, Any] | None = None
    """Further properties, all of them."""

    def edit(self, owner: Owner) -> Edit:
        """As the review takes it.

        Raises:
            InvalidRequestError: nothing is to be changed.
            InvalidTimeError: since or until is no time.
        """
        given = {name: getattr(self, name) for name in ("subject", "type", "object", "sentence", "data")}
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        for name in ("since", "until"):
            value: str | msgspec.UnsetType | None = getattr(self, name)
            if not isinstance(value, msgspec.UnsetType):
                fields[name] = read_moment(value, owner, name)
        if not fields:
            raise InvalidRequestError("Nothing is to be changed.", hint="POST …/accept writes a fact as it is.")
        return Edit(**fields)


class ReviewsController(Controller):
    """Reviews of facts."""

    path = "/reviews"
    tags = ("extraction",)

    @get(
        operation_id="listReviews",
        summary="List facts that wait for a decision",
        description="Facts that were found and not written by themselves, newest first, each with the message that it "
        "comes from. doubtful ones wait for somebody; refused ones failed a check, which the reason names, and can be "
        "accepted all the same; accepted, edited and rejected ones are decided.",
        response_description="One page of them.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        in_state: Annotated[
            State | Literal["all"], QueryParameter(name="state", description="Only those in it; all: in any.")
        ] = "doubtful",
        source: Annotated[UUID | None, QueryParameter(description="Only out of this conversation, by its id.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Review]:
        """One page of them."""
        wanted: State | None = None if in_state == "all" else in_state
        after = read_id(cursor)
        found = await list_reviews(reader.db, reader.owner, state=wanted, source=source, after=after, limit=limit)
        return Page(items=found, next_cursor=str(found[-1].review_id) if len(found) == limit else None)

    @get(
        "/{review_id:uuid}",
        operation_id="getReview",
        summary="Look at a fact that waits for a decision",
        description="What is proposed, why it was not written, and the message that it comes from.",
        response_description="The review.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], review_id: FromPath[UUID]) -> Review:
        """Look at it."""
        return await get_review(reader.db, reader.owner, review_id)

    @post(
        "/{review_id:uuid}/accept",
        status_code=200,
        operation_id="acceptReview",
        summary="Accept a fact",
        description="Writes the fact as it was proposed, as said by whoever accepts it, with its message as the "
        "evidence. What it contradicts in its time is superseded.",
        response_description="The review, decided, and the change of the graph.",
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
        description="Writes the fact with what is corrected here; the rest stays as it was proposed.",
        response_description="The review, decided, and the change of the graph.",
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
        summary="Reject a fact for ever",
        description="It is never proposed again from the same message, whoever reads it.",
        response_description="The review, decided.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reject(self, writer: NamedDependency[Caller], review_id: FromPath[UUID]) -> Decided:
        """Reject it."""
        return await reject(writer.db, writer.owner, review_id, by=writer.asserted_by)
