"""Extraction of facts from text: dry runs, starting it, pausing it, and its progress."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, QueryParameter

from memsvc.access.users import Owner
from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page, read_cursor, write_cursor
from memsvc.errors import InvalidRequestError
from memsvc.extract.asking import Asked, Progress, ask_all, pause, progress
from memsvc.extract.preview import Preview, Said, preview
from memsvc.sources.messages import Role
from memsvc.sources.moments import read_moment
from memsvc.sources.read import find_conversation

ConversationParameter = Annotated[
    str | None, QueryParameter(max_length=1_000, description="Only this conversation, by identifier or id.")
]


class SaidIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A message for a dry run. It is not stored."""

    text: str
    speaker: str = ""
    """Who says it. Empty: the user."""
    role: Role = "user"
    """user, other, assistant, system, tool or thinking."""
    said_at: str | None = None
    """When it is said (ISO 8601; without an offset in the user's time zone). Left out: now."""
    caption: str = ""
    """What a shared picture shows."""

    def said(self, owner: Owner) -> Said:
        """Return the message for the dry run."""
        moment = read_moment(self.said_at, owner, "said_at")
        return Said(text=self.text, speaker=self.speaker, role=self.role, said_at=moment, caption=self.caption)


class ExtractIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to read: with dry_run the messages in this request, else stored messages."""

    text: str | None = None
    """With dry_run: one message of the user. A shorthand for messages."""
    messages: list[SaidIn] = []
    """With dry_run: up to 200 messages, in order, of at most 50,000 characters in all (MEMSVC_DRY_RUN_CHARS)."""
    conversation: str | None = None
    """Without dry_run: read only this conversation, by identifier or id. Left out: all conversations."""
    since: str | None = None
    """Without dry_run: skip unread messages that were said before this time (ISO 8601)."""
    extractor: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    """The extractor: offline, llm, or another installed one. Left out: the configured one."""

    def check(self, *, dry_run: bool) -> None:
        """Refuse fields that do not apply.

        Raises:
            InvalidRequestError: a field does not apply, or text and messages are both missing or both given.
        """
        wrong = ("conversation", "since") if dry_run else ("text", "messages")
        for name in wrong:
            if getattr(self, name):
                hint = "Leave it out, or send dry_run=true." if not dry_run else "Leave it out, or leave dry_run out."
                only = "without" if dry_run else "with"
                raise InvalidRequestError(f"{name} can only be used {only} dry_run.", hint=hint, field=name)
        if dry_run and (self.text is None) == (not self.messages):
            raise InvalidRequestError("A dry run needs either text or messages.", field="messages")


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """What was paused."""

    jobs: int
    """How many jobs were cancelled. POST /v1/extract continues where they stopped."""


class ExtractController(Controller):
    """Starting extraction."""

    path = "/extract"
    tags = ("extraction",)
    dependencies = WRITER

    @post(
        status_code=202,
        operation_id="extract",
        summary="Extract facts from text",
        description="With dry_run: returns what extraction would write for the given messages (people, places and "
        "facts, each with its quote), and what it would refuse and why. Nothing is stored. A dry run is limited to "
        "50,000 characters and one minute. Without dry_run: lets workers read everything in one conversation, or in "
        "all, that the extractor has not read yet, with one job for each conversation. Repeating the request does not "
        "repeat the work. An extractor that has never read a conversation starts at its beginning.",
        response_description="The jobs that will do it.",
        responses={
            **documented(400, 401, 403, 404, 413, 415, 503),
            200: ResponseSpec(data_container=Preview, description="With dry_run: what would be written."),
        },
    )
    async def extract(
        self,
        data: Annotated[
            ExtractIn,
            BodyKwarg(
                examples=[
                    Example(summary="Everything not read yet", value={}),
                    Example(
                        summary="Only messages since a date", value={"since": "2026-01-01", "extractor": "offline"}
                    ),
                    Example(summary="dry_run=true", value={"text": "My sister Ines moved to Porto in March."}),
                ]
            ),
        ],
        writer: NamedDependency[Caller],
        dry_run: Annotated[
            bool, QueryParameter(description="true: store nothing, return what would be written.")
        ] = False,
    ) -> Response[Asked | Preview]:
        """Do a dry run, or ask for jobs."""
        data.check(dry_run=dry_run)
        if dry_run:
            given = data.messages or [SaidIn(text=data.text or "")]
            messages = [message.said(writer.owner) for message in given]
            extractor, _ = await writer.extractor(data.extractor)
            found = await preview(writer.db, writer.owner, messages, extractor, writer.settings)
            return Response(content=found, status_code=200)
        since = read_moment(data.since, writer.owner, "since")
        source = await _source(writer, data.conversation)
        extractor, backend = await writer.extractor(data.extractor)
        asked = await ask_all(
            writer.db, writer.owner, extractor, backend, since=since, source=source,
            left_out=writer.settings.kinds_of("extractor_skips"),
        )  # fmt: skip
        return Response(content=asked, status_code=202)


class ExtractionsController(Controller):
    """The progress of extraction."""

    path = "/extractions"
    tags = ("extraction",)

    @get(
        operation_id="listExtractions",
        summary="List the progress of extraction",
        description="Returns for each conversation and each extractor that reads it: how much was read, how much is "
        "left, the facts found, the facts not written, and the job that is reading or has failed.",
        response_description="One page, sorted by conversation and extractor.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        conversation: ConversationParameter = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Progress]:
        """Return one page."""
        source = await _source(reader, conversation)
        after = read_cursor(cursor, tuple[UUID, str]) if cursor is not None else None
        found = await progress(reader.db, reader.owner, source=source, after=after, limit=limit)
        more = len(found) == limit
        return Page(items=found, next_cursor=write_cursor((found[-1].source_id, found[-1].extractor)) if more else None)

    @post(
        "/pause",
        status_code=200,
        operation_id="pauseExtraction",
        summary="Pause extraction",
        description="Cancels the jobs that read one conversation, or all conversations. What was already extracted "
        "stays. POST /v1/extract continues where they stopped, and so does the next message of a conversation.",
        response_description="How many jobs were cancelled.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def pause(self, writer: NamedDependency[Caller], conversation: ConversationParameter = None) -> Paused:
        """Pause it."""
        source = await _source(writer, conversation)
        return Paused(jobs=await pause(writer.db, writer.owner, source=source))


async def _source(caller: Caller, conversation: str | None) -> UUID | None:
    if conversation is None:
        return None
    async with caller.db.transaction(caller.owner.user_id) as connection:
        return await find_conversation(connection, caller.owner, conversation)
