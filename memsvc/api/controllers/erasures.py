"""Forgetting: messages, passages, sources, facts, nodes and whole users, and the receipts of what was erased."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, Response, delete, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, PathParameter, QueryParameter

from memsvc.api.callers import ADMINISTRATOR, FORGETTER, READER, Administrator, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.erasing.memories import Kind, Receipt, erase, erasure, erasures, preview
from memsvc.erasing.users import erase_user, preview_user, user_erasure
from memsvc.errors import NotFoundError
from memsvc.sources.read import find_conversation

BY = "api"
USER_SECONDS = 5.0
"""How long a request erases a user itself; what is left then is a worker's."""
Previewed = Annotated[bool, QueryParameter(description="Only count what would be removed; nothing changes.")]
LATER = "The first part is gone and the rest goes in the background: see Location."
GONE = "It is gone: the receipt. With preview: what would be."


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What erasing would remove now."""

    kind: str
    """message, passage, source, fact, node or user."""
    counts: dict[str, int]
    """Rows that would go, by table; evidence_reduced: versions that would stay with less evidence."""


def _answers(*errors: int) -> dict[int, ResponseSpec]:
    return {202: ResponseSpec(Receipt, description=LATER, generate_examples=False), **documented(*errors)}


def _receipt(receipt: Receipt, location: str) -> Response[Receipt | Preview]:
    if receipt.state == "done":
        return Response(receipt, status_code=200)
    return Response(receipt, status_code=202, headers={"Location": location})


async def _forget(caller: Caller, kind: Kind, subject: UUID, *, only_count: bool) -> Response[Receipt | Preview]:
    if only_count:
        counts = await preview(caller.db, caller.owner, kind, subject)
        return Response(Preview(kind=kind, counts=counts), status_code=200)
    receipt = await erase(caller.db, caller.owner, kind, subject, requested_by=BY, whole=False)
    return _receipt(receipt, f"/v1/erasures/{receipt.erasure_id}")


class ForgetController(Controller):
    """Memories that go."""

    tags = ("forgetting",)
    dependencies = FORGETTER
    status_code = 200

    @delete(
        "/messages/{passage_id:uuid}",
        status_code=200,
        operation_id="forgetMessage",
        summary="Forget a message",
        description="Erases a message with all its parts, and what only it supported; sending it again stores nothing. "
        "Facts that others support too stay, with less evidence. Where it is what an archived block says now, the "
        "block goes with all that it ever said; a past wording is refused, with the source to forget instead. Needs "
        "the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def message(
        self,
        forgetter: NamedDependency[Caller],
        passage_id: Annotated[
            UUID, PathParameter(description="The message's passage_id, or that of any of its parts.")
        ],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        return await _forget(forgetter, "message", passage_id, only_count=preview)

    @delete(
        "/passages/{passage_id:uuid}",
        status_code=200,
        operation_id="forgetPassage",
        summary="Forget a passage",
        description="Erases one part of a long message, and what only it supported; of a short message it is all. "
        "Archived blocks go as by forgetMessage. Needs the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def passage(
        self,
        forgetter: NamedDependency[Caller],
        passage_id: FromPath[UUID],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        return await _forget(forgetter, "passage", passage_id, only_count=preview)

    @delete(
        "/sources/{source_id:uuid}",
        status_code=200,
        operation_id="forgetSource",
        summary="Forget a source",
        description="Erases a source with all its messages, and what only they supported. A large one takes a while: "
        "its rest goes in the background. Needs the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def source(
        self,
        forgetter: NamedDependency[Caller],
        source_id: FromPath[UUID],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        return await _forget(forgetter, "source", source_id, only_count=preview)

    @delete(
        "/conversations/{conversation:str}",
        status_code=200,
        operation_id="forgetConversation",
        summary="Forget a conversation",
        description="Erases a conversation as forgetSource does, also by the name that the client gave it. Needs the "
        "scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def conversation(
        self,
        forgetter: NamedDependency[Caller],
        conversation: Annotated[
            str, PathParameter(description="Its id, or the client's identifier (the id, where that holds a slash).")
        ],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        async with forgetter.db.transaction(forgetter.owner.user_id) as connection:
            source_id = await find_conversation(connection, forgetter.owner, conversation)
        return await _forget(forgetter, "source", source_id, only_count=preview)

    @delete(
        "/facts/{edge_id:uuid}",
        status_code=200,
        operation_id="forgetFact",
        summary="Forget a fact",
        description="Erases a relation with all its versions, past ones too, and their evidence; the messages stay. "
        "Needs the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def fact(
        self,
        forgetter: NamedDependency[Caller],
        edge_id: FromPath[UUID],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        return await _forget(forgetter, "fact", edge_id, only_count=preview)

    @delete(
        "/nodes/{node_id:uuid}",
        status_code=200,
        operation_id="forgetNode",
        summary="Forget a node",
        description="Erases a node with its names, its properties and its facts, past ones too; the messages stay. "
        "Needs the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def node(
        self,
        forgetter: NamedDependency[Caller],
        node_id: FromPath[UUID],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        return await _forget(forgetter, "node", node_id, only_count=preview)


class ErasuresController(Controller):
    """Receipts."""

    path = "/erasures"
    tags = ("forgetting",)
    dependencies = READER

    @get(
        operation_id="listErasures",
        summary="List erasures",
        description="What was erased for the user, newest first: counts and ids, no text.",
        response_description="One page of receipts.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: PageSize = 50,
    ) -> Page[Receipt]:
        """One page of them."""
        page = await erasures(reader.db, reader.owner, after=begin_of(cursor, after), limit=limit)
        return Page(items=page.items, next_cursor=page.next_cursor)

    @get(
        "/{erasure_id:uuid}",
        operation_id="getErasure",
        summary="Check an erasure",
        description="The receipt of an erasure. All tables are searched once more for what was to go, and the receipt "
        "says what was found.",
        response_description="The receipt.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def check(self, reader: NamedDependency[Caller], erasure_id: FromPath[UUID]) -> Receipt:
        """Look again."""
        return await erasure(reader.db, reader.owner, erasure_id)


class ForgetUserController(Controller):
    """Users who go."""

    path = "/users"
    tags = ("administration", "forgetting")
    dependencies = ADMINISTRATOR

    @delete(
        "/{user:str}",
        status_code=200,
        operation_id="forgetUser",
        summary="Forget a user",
        description="Erases a user of the key's app with everything that is the user's. At once nobody can act for the "
        "user any more and the user's keys are revoked; a large user's rest goes in the background, and sending it "
        "again goes on. The external id may be given to a new user later. Needs the scope admin.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def forget(
        self,
        administrator: NamedDependency[Administrator],
        user: Annotated[
            str, PathParameter(description="The user's id, or external id (the id, where that holds a slash).")
        ],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget the user."""
        db, app_id = administrator.db, administrator.app_id
        if preview:
            return Response(Preview(kind="user", counts=await preview_user(db, app_id, user)), status_code=200)
        receipt = await erase_user(db, app_id, user, requested_by=BY, seconds=USER_SECONDS)
        return _receipt(receipt, f"/v1/users/{receipt.subject_id}/erasure")

    @get(
        "/{user:str}/erasure",
        operation_id="getUserErasure",
        summary="Check a user's erasure",
        description="How far the erasing of a user is; where it is done, all tables are looked at once more. Needs the "
        "scope admin.",
        response_description="The receipt.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def check(
        self,
        administrator: NamedDependency[Administrator],
        user: Annotated[str, PathParameter(description="The user's id: subject_id of the receipt.")],
    ) -> Receipt:
        """Look again."""
        try:
            user_id = UUID(user)
        except ValueError:
            raise NotFoundError("No user with this id was ever erased.") from None
        return await user_erasure(administrator.db, administrator.app_id, user_id)
