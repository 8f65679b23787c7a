"""Conversations, their messages, and sources opened around a passage."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, PathParameter, QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.sources.read import (
    Conversation,
    Message,
    OpenedSource,
    list_conversations,
    list_messages,
    open_source,
)

Neighbours = Annotated[int, QueryParameter(ge=0, le=100, description="How many messages on this side of it.")]


class ConversationsController(Controller):
    """Conversations."""

    path = "/conversations"
    tags = ("conversations",)
    dependencies = READER

    @get(
        operation_id="listConversations",
        summary="List conversations",
        description="Lists the user's conversations, newest first.",
        response_description="One page of conversations.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        identifier: Annotated[
            str | None, QueryParameter(description="Only the conversation with this identifier.")
        ] = None,
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: PageSize = 50,
    ) -> Page[Conversation]:
        """Return one page."""
        position = begin_of(cursor, after)
        return await list_conversations(reader.db, reader.owner, identifier=identifier, after=position, limit=limit)

    @get(
        "/{conversation:str}/messages",
        operation_id="listMessages",
        summary="List a conversation's messages",
        description="Lists the messages of a conversation in the order in which they were said.",
        response_description="One page of messages.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def messages(
        self,
        reader: NamedDependency[Caller],
        conversation: Annotated[
            str, PathParameter(description="Its id or the client's identifier. If that contains a slash, use the id.")
        ],
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> Page[Message]:
        """Return one page."""
        return await list_messages(reader.db, reader.owner, conversation, cursor=cursor, limit=limit)


class SourcesController(Controller):
    """Sources."""

    path = "/sources"
    tags = ("conversations",)
    dependencies = READER

    @get(
        "/{source_id:uuid}",
        operation_id="openSource",
        summary="Open a source around a passage",
        description="Returns the source of a memory: the message of the passage and the messages around it.",
        response_description="The source with the messages around the passage.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def open(
        self,
        reader: NamedDependency[Caller],
        source_id: FromPath[UUID],
        around: FromQuery[UUID | None] = None,
        before: Neighbours = 5,
        after: Neighbours = 5,
    ) -> OpenedSource:
        """Open it."""
        return await open_source(reader.db, reader.owner, source_id, around=around, before=before, after=after)
