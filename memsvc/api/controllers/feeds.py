"""Feeds: what is read again by itself."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import Controller, Request, Response, delete, get, post, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, HeaderParameter

from memsvc.access.users import Owner
from memsvc.api.bodies import decode
from memsvc.api.callers import READER, SIGNED, STORES, WRITER, Caller, service_of
from memsvc.api.controllers.documents import accepted
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.api.uploads import decode_document
from memsvc.db.paging import Page, read_id
from memsvc.errors import DatabaseUnavailableError, MemsvcError, SignatureError
from memsvc.feeds.feeds import (
    AddedFeed,
    Feed,
    FeedRemoved,
    add,
    change,
    list_feeds,
    look,
    new_secret,
    pause,
    remove,
    resume,
    run,
    runs,
)
from memsvc.feeds.pushing import Document, Push, Pushed, take, whose
from memsvc.feeds.wanted import Door, FeedIn, Reads
from memsvc.sources.ingests import Ingest, chosen
from memsvc.sources.messages import MessageIn

CALENDAR = {"kind": "ics", "url": "https://example.org/team.ics", "rule": "every 2 hours"}
PUSH = {"kind": "push", "name": "notes of the office", "takes": "memory"}


def _door(writer: Caller) -> Door:
    return Door(key_id=writer.principal.key_id)


class PushedMemory(MessageIn, kw_only=True, forbid_unknown_fields=True):
    """A message to remember, as POST /memory takes it."""

    conversation: str = ""
    """The conversation it belongs to; left out: one of the feed's title or name."""


def decode_push(body: bytes, reads: Reads, owner: Owner) -> Document | MessageIn:
    """Read a push as its feed says. ``decode`` lists the errors."""
    choices = reads.choices
    if reads.takes == "memory":
        message: PushedMemory = decode(body, PushedMemory)
        message.conversation = message.conversation or choices.title or "push"
        return message
    given = decode_document(body, None)
    own = chosen(owner, kind=given.kind, me=given.me, not_me=given.not_me, since=given.since, title=given.title)
    has_owner = bool(own.me) or own.not_me
    merged = msgspec.structs.replace(
        choices, kind=own.kind or choices.kind, me=own.me if has_owner else choices.me,
        not_me=own.not_me if has_owner else choices.not_me, since=own.since or choices.since,
        title=own.title or choices.title,
    )  # fmt: skip
    return Document(given.sent[0], merged)


class FeedsController(Controller):
    """Feeds."""

    path = "/feeds"
    tags = ("documents",)

    @post(
        status_code=201,
        operation_id="addFeed",
        summary="Add a feed",
        description="Adds something that is read again by itself: a folder or calendar file, if the operator allows it "
        "(MEMSVC_FEED_ROOTS); an address or calendar of the web, if MEMSVC_INGEST_URLS is on; or a push, to which "
        "another program sends. It is read at once, and then by its rule in the user's time zone. The answer to a push "
        "has the secret with which pushes are signed; it is not shown again. 'memsvc feed add' adds mailboxes.",
        response_description="The feed.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def add(
        self,
        data: Annotated[
            FeedIn,
            BodyKwarg(examples=[Example(summary="A calendar", value=CALENDAR), Example(summary="A push", value=PUSH)]),
        ],
        writer: NamedDependency[Caller],
    ) -> AddedFeed:
        """Add it."""
        return await add(writer.db, writer.owner, data, writer.settings, _door(writer))

    @get(
        operation_id="listFeeds",
        summary="List feeds",
        description="Lists the user's feeds, each with its state, last error, last and next run; the oldest first.",
        response_description="One page of feeds.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self, reader: NamedDependency[Caller], cursor: CursorParameter = None, limit: PageSize = 50
    ) -> Page[Feed]:
        """Return one page."""
        return await list_feeds(reader.db, reader.owner, after=read_id(cursor), limit=limit)

    @get(
        "/{feed_id:uuid}",
        operation_id="getFeed",
        summary="Get a feed",
        description="Returns a feed with its state, last error, last and next run.",
        response_description="The feed.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], feed_id: FromPath[UUID]) -> Feed:
        """Return it."""
        return await look(reader.db, reader.owner, feed_id)

    @get(
        "/{feed_id:uuid}/runs",
        operation_id="listFeedRuns",
        summary="List the runs of a feed",
        description="Lists the ingests that have read a feed or were pushed to it, newest first. GET /v1/ingests/{id} "
        "shows the outcome of each file.",
        response_description="One page of ingests.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def runs(
        self,
        reader: NamedDependency[Caller],
        feed_id: FromPath[UUID],
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Ingest]:
        """Return one page."""
        return await runs(reader.db, reader.owner, feed_id, after=read_id(cursor), limit=limit)

    @put(
        "/{feed_id:uuid}",
        operation_id="changeFeed",
        summary="Change a feed",
        description="Replaces a feed's name, rule and choices. What it reads must stay the same. The body is that of "
        "POST /v1/feeds.",
        response_description="The feed.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def change(
        self,
        data: Annotated[FeedIn, BodyKwarg(examples=[Example(value={**CALENDAR, "rule": "0 7 * * 1-5"})])],
        writer: NamedDependency[Caller],
        feed_id: FromPath[UUID],
    ) -> Feed:
        """Change it."""
        return await change(writer.db, writer.owner, feed_id, data, writer.settings, door=_door(writer))

    @post(
        "/{feed_id:uuid}/run",
        status_code=202,
        operation_id="runFeed",
        summary="Read a feed now",
        description="Reads a feed now, whatever its state; its rule goes on as before. A feed that is being read is "
        "not read twice: the answer is the ingest that reads it.",
        response_description="The ingest, which waits or runs.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def run(self, writer: NamedDependency[Caller], feed_id: FromPath[UUID]) -> Response[Ingest]:
        """Request it."""
        return accepted(await run(writer.db, writer.owner, feed_id, writer.settings, _door(writer)))

    @post(
        "/{feed_id:uuid}/pause",
        status_code=200,
        operation_id="pauseFeed",
        summary="Pause a feed",
        description="Stops reading a feed, or taking what is pushed. A run that has begun goes on to its end.",
        response_description="The feed.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def pause(self, writer: NamedDependency[Caller], feed_id: FromPath[UUID]) -> Feed:
        """Pause it."""
        return await pause(writer.db, writer.owner, feed_id)

    @post(
        "/{feed_id:uuid}/resume",
        status_code=200,
        operation_id="resumeFeed",
        summary="Resume a feed",
        description="Reads a paused or failed feed again: at once, and then by its rule.",
        response_description="The feed.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def resume(self, writer: NamedDependency[Caller], feed_id: FromPath[UUID]) -> Feed:
        """Resume it."""
        return await resume(writer.db, writer.owner, feed_id, writer.settings, _door(writer))

    @post(
        "/{feed_id:uuid}/secret",
        status_code=200,
        operation_id="renewFeedSecret",
        summary="Make a new secret for a push",
        description="Makes another secret with which pushes are signed, and shows it once. The one before is worth "
        "nothing from now on.",
        response_description="The feed with its new secret.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def new_secret(self, writer: NamedDependency[Caller], feed_id: FromPath[UUID]) -> AddedFeed:
        """Make it."""
        return await new_secret(writer.db, writer.owner, feed_id)

    @post(
        "/{feed_id:uuid}/push",
        status_code=202,
        operation_id="pushToFeed",
        summary="Push to a feed",
        description="Stores what another program sends. It needs no key: the body is that of POST /v1/documents as "
        "JSON, or of POST /memory, as the feed says, and is signed with the feed's secret. A push older than 5 minutes "
        "is refused; the same one again stores nothing again.",
        response_description="What became of it.",
        responses=documented(400, 401, 403, 404, 409, 413, 503),
        security=[{}],
        opt=SIGNED | STORES,
    )
    async def push(
        self,
        request: Request[Any, Any, Any],
        feed_id: FromPath[UUID],
        timestamp: Annotated[
            str, HeaderParameter(name="X-Memsvc-Timestamp", description="Unix time in seconds, when it was signed.")
        ] = "",
        signature: Annotated[
            str,
            HeaderParameter(
                name="X-Memsvc-Signature",
                description="v1= and the hexadecimal HMAC-SHA256, by the secret, of time, full stop and body.",
            ),
        ] = "",
    ) -> Pushed:
        """Take it."""
        service = service_of(request)
        push = Push(feed_id, await request.body(), timestamp, signature)
        error: MemsvcError = SignatureError()
        for _, db in await service.cells.all():
            try:
                user_id = await whose(db, push)
            except SignatureError:  # the feed may be another cell's
                continue
            except DatabaseUnavailableError as unavailable:
                error = unavailable
                continue
            # A cell that was restored may still have a user who has left it.
            return await take(await service.cells.find(user_id), push, decode_push, service.settings)
        raise error

    @delete(
        "/{feed_id:uuid}",
        status_code=200,
        operation_id="removeFeed",
        summary="Remove a feed",
        description="Removes a feed, which is not read any more. What it stored stays: forget its conversations or "
        "documents to erase that.",
        response_description="The feed as it was.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def remove(self, writer: NamedDependency[Caller], feed_id: FromPath[UUID]) -> FeedRemoved:
        """Remove it."""
        return await remove(writer.db, writer.owner, feed_id)
