"""Conversations, their messages, and sources opened around a place."""

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

Neighbours = Annotated[int, QueryParameter(ge=0, le=100, description="How many messages on that side.")]


class ConversationsController(Controller):
    """Conversations."""

    path = "/conversations"
    tags = ("conversations",)
    dependencies = READER

    @get(
        operation_id="listConversations",
        summary="List conversations",
        description="The user's conversations, newest first.",
        response_description="One page of conversations.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        identifier: Annotated[str | None, QueryParameter(description="Only the one that the client calls so.")] = None,
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: PageSize = 50,
    ) -> Page[Conversation]:
        """One page of them."""
        place = begin_of(cursor, after)
        return await list_conversations(reader.db, reader.owner, identifier=identifier, after=place, limit=limit)

    @get(
        "/{conversation:str}/messages",
        operation_id="listMessages",
        summary="List a conversation's messages",
        description="The messages of a conversation in the order in which they were said.",
        response_description="One page of messages.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def messages(
        self,
        reader: NamedDependency[Caller],
        conversation: Annotated[
            str, PathParameter(description="Its id, or the client's identifier (the id, where that holds a slash).")
        ],
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> Page[Message]:
        """One page of them."""
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
        description="The original that a memory came from: the message of the passage and its neighbours.",
        response_description="The source with the messages around the place.",
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
