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
from memsvc.cells.people import erase_user_anywhere, preview_user_anywhere, user_erasure_anywhere
from memsvc.db.paging import Page
from memsvc.erasing.memories import Kind, Receipt, erase, erasure, erasures, preview
from memsvc.errors import MemoryUnknownError, NotFoundError
from memsvc.sources.opening import find_memory
from memsvc.sources.read import find_conversation

BY = "api"
USER_SECONDS = 5.0
"""How long a request erases a user itself. A worker erases the rest."""
Previewed = Annotated[bool, QueryParameter(description="true: only count what would be erased; change nothing.")]
LATER = "The first part is erased. The rest is erased in the background: see Location."
GONE = "The receipt of the erasure; with preview, the counts of what would be erased."


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What an erasure would remove now."""

    kind: str
    """message, passage, source, fact, node or user."""
    counts: dict[str, int]
    """Rows that would be erased, by table. evidence_reduced: versions that would stay with less evidence."""


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


async def _passage(caller: Caller, asked: str) -> UUID:
    """Return the passage that a whole or short id means.

    Raises:
        InvalidRequestError: it is no id.
        MemoryUnknownError: there is no such passage, or the short id means something else.
        MemoryAmbiguousError: several memories have the short id.
    """
    try:
        return UUID(asked)
    except ValueError:
        found = await find_memory(caller.db, caller.owner, asked)
    if found.kind != "message":
        raise MemoryUnknownError(f"{asked[:60]!r} is the id of a {found.kind}, not of a message or a passage.")
    return found.memory_id


class ForgetController(Controller):
    """Erasing memories."""

    tags = ("forgetting",)
    dependencies = FORGETTER
    status_code = 200

    @delete(
        "/messages/{passage_id:str}",
        status_code=200,
        operation_id="forgetMessage",
        summary="Forget a message",
        description="Erases a message with all its parts, and everything that only it supported. Sending the message "
        "again stores nothing. Facts with other evidence stay, with less evidence. If the message is the current text "
        "of an archived block, the block is erased with all its versions. A past text of a block is refused, and the "
        "error names the source to forget instead. Needs the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def message(
        self,
        forgetter: NamedDependency[Caller],
        passage_id: Annotated[
            str,
            PathParameter(
                description="passage_id of the message or of any of its parts, or its short id as a context shows it."
            ),
        ],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        subject = await _passage(forgetter, passage_id)
        return await _forget(forgetter, "message", subject, only_count=preview)

    @delete(
        "/passages/{passage_id:str}",
        status_code=200,
        operation_id="forgetPassage",
        summary="Forget a passage",
        description="Erases one part of a long message (a short message has only one), and everything that only it "
        "supported. Archived blocks are erased as by forgetMessage. Needs the scope forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def passage(
        self,
        forgetter: NamedDependency[Caller],
        passage_id: Annotated[
            str, PathParameter(description="The passage's id, or its short id as a context shows it.")
        ],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget it."""
        subject = await _passage(forgetter, passage_id)
        return await _forget(forgetter, "passage", subject, only_count=preview)

    @delete(
        "/sources/{source_id:uuid}",
        status_code=200,
        operation_id="forgetSource",
        summary="Forget a source",
        description="Erases a source with all its messages, and everything that only they supported. The rest of a "
        "large source is erased in the background. Needs the scope forget.",
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
        description="Erases a conversation as forgetSource does, by its id or the client's identifier. Needs the scope "
        "forget.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def conversation(
        self,
        forgetter: NamedDependency[Caller],
        conversation: Annotated[
            str, PathParameter(description="Its id or the client's identifier. If that contains a slash, use the id.")
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
        description="Erases a fact with all its versions, past ones included, and their evidence. The messages stay. "
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
        description="Erases a node with its names, properties and facts, past ones included. The messages stay. Needs "
        "the scope forget.",
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
    """Receipts of erasures."""

    path = "/erasures"
    tags = ("forgetting",)
    dependencies = READER

    @get(
        operation_id="listErasures",
        summary="List erasures",
        description="Lists the user's erasures, newest first, with counts and ids but no text.",
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
        """Return one page."""
        page = await erasures(reader.db, reader.owner, after=begin_of(cursor, after), limit=limit)
        return Page(items=page.items, next_cursor=page.next_cursor)

    @get(
        "/{erasure_id:uuid}",
        operation_id="getErasure",
        summary="Check an erasure",
        description="Returns the receipt of an erasure. All tables are searched again for what had to be erased, and "
        "the receipt reports anything that was found.",
        response_description="The receipt.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def check(self, reader: NamedDependency[Caller], erasure_id: FromPath[UUID]) -> Receipt:
        """Search again, and return the receipt."""
        return await erasure(reader.db, reader.owner, erasure_id)


class ForgetUserController(Controller):
    """Erasing users."""

    path = "/users"
    tags = ("administration", "forgetting")
    dependencies = ADMINISTRATOR

    @delete(
        "/{user:str}",
        status_code=200,
        operation_id="forgetUser",
        summary="Forget a user",
        description="Erases a user of the key's app and all of the user's data. From then on nobody can act for the "
        "user, and the user's keys are revoked. The rest of a large user is erased in the background; repeating "
        "the request continues. The external id can be given to a new user later. Needs the scope admin.",
        response_description=GONE,
        responses=_answers(400, 401, 403, 404, 503),
    )
    async def forget(
        self,
        administrator: NamedDependency[Administrator],
        user: Annotated[
            str, PathParameter(description="The user's id or external id. If that contains a slash, use the id.")
        ],
        preview: Previewed = False,
    ) -> Response[Receipt | Preview]:
        """Forget the user."""
        cells, app_id = administrator.cells, administrator.app_id
        if preview:
            return Response(
                Preview(kind="user", counts=await preview_user_anywhere(cells, app_id, user)), status_code=200
            )
        receipt = await erase_user_anywhere(cells, app_id, user, requested_by=BY, seconds=USER_SECONDS)
        return _receipt(receipt, f"/v1/users/{receipt.subject_id}/erasure")

    @get(
        "/{user:str}/erasure",
        operation_id="getUserErasure",
        summary="Check a user's erasure",
        description="Returns how far the erasure of a user is. If it is done, all tables are searched again. Needs the "
        "scope admin.",
        response_description="The receipt.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def check(
        self,
        administrator: NamedDependency[Administrator],
        user: Annotated[str, PathParameter(description="The user's id, which is subject_id of the receipt.")],
    ) -> Receipt:
        """Search again, and return the receipt."""
        try:
            user_id = UUID(user)
        except ValueError:
            raise NotFoundError("No erased user has this id.") from None
        return await user_erasure_anywhere(administrator.cells, administrator.app_id, user_id)
