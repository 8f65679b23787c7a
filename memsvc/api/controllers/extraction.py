"""Text becomes facts: a dry run, asking for reading, and how far it is."""

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
    str | None, QueryParameter(max_length=1_000, description="Only this conversation: its identifier or its id.")
]


class SaidIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A message that is only thought of."""

    text: str
    speaker: str = ""
    """Who says it; the user, where it is empty."""
    role: Role = "user"
    """user, other, assistant, system, tool or thinking."""
    said_at: str | None = None
    """ISO 8601, without an offset on the user's clock. Left out: now."""
    caption: str = ""
    """What a shared picture shows."""

    def said(self, owner: Owner) -> Said:
        """As the dry run takes it."""
        moment = read_moment(self.said_at, owner, "said_at")
        return Said(text=self.text, speaker=self.speaker, role=self.role, said_at=moment, caption=self.caption)


class ExtractIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is to be read: with dry_run the messages given here, else what is stored."""

    text: str | None = None
    """With dry_run: one message of the user. Short for messages."""
    messages: list[SaidIn] = []
    """With dry_run: up to 200, in their order, of 50,000 characters together (MEMSVC_DRY_RUN_CHARS)."""
    conversation: str | None = None
    """Without dry_run: read this one, by its identifier or its id. Left out: all."""
    since: str | None = None
    """Without dry_run: what was said before (ISO 8601) is left out, where it was not read yet."""
    extractor: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    """Who reads: offline, llm, or a further one that is installed. Left out: the configured one."""

    def check(self, *, dry_run: bool) -> None:
        """Refuse what has no meaning here.

        Raises:
            InvalidRequestError: it names the field.
        """
        wrong = ("conversation", "since") if dry_run else ("text", "messages")
        for name in wrong:
            if getattr(self, name):
                hint = "Leave it out, or send dry_run=true." if not dry_run else "Leave it out, or leave dry_run out."
                only = "without" if dry_run else "with"
                raise InvalidRequestError(f"{name} goes only {only} dry_run.", hint=hint, field=name)
        if dry_run and (self.text is None) == (not self.messages):
            raise InvalidRequestError("A dry run needs either text or messages.", field="messages")


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """What was put off."""

    jobs: int
    """Jobs that were cancelled; POST /v1/extract goes on where they stopped."""


class ExtractController(Controller):
    """Reading."""

    path = "/extract"
    tags = ("extraction",)
    dependencies = WRITER

    @post(
        status_code=202,
        operation_id="extract",
        summary="Read text for facts",
        description="With dry_run: what reading some messages would write (people, places, facts, each with its quote) "
        "and what would be refused, and why; nothing is stored. It reads 50,000 characters within a minute at most. "
        "Without: asks for reading of all that the extractor "
        "has not read of a conversation, or of all; workers do it, one job for each conversation. Asking twice does "
        "nothing twice; an extractor that never read begins at the beginning.",
        response_description="The jobs that will read.",
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
                    Example(summary="All that was not read yet", value={}),
                    Example(summary="Said since then", value={"since": "2026-01-01", "extractor": "offline"}),
                    Example(summary="dry_run=true", value={"text": "My sister Ines moved to Porto in March."}),
                ]
            ),
        ],
        writer: NamedDependency[Caller],
        dry_run: Annotated[bool, QueryParameter(description="Store nothing; say what would be written.")] = False,
    ) -> Response[Asked | Preview]:
        """Read."""
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
        asked = await ask_all(writer.db, writer.owner, extractor, backend, since=since, source=source)
        return Response(content=asked, status_code=202)


class ExtractionsController(Controller):
    """How far reading is."""

    path = "/extractions"
    tags = ("extraction",)

    @get(
        operation_id="listExtractions",
        summary="How far reading is",
        description="For each conversation and each extractor that reads it: how much was read, how much is left, the "
        "facts found, those that were not written, and the job that reads or that failed.",
        response_description="One page, by conversation and extractor.",
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
        """One page of it."""
        source = await _source(reader, conversation)
        after = read_cursor(cursor, tuple[UUID, str]) if cursor is not None else None
        found = await progress(reader.db, reader.owner, source=source, after=after, limit=limit)
        more = len(found) == limit
        return Page(items=found, next_cursor=write_cursor((found[-1].source_id, found[-1].extractor)) if more else None)

    @post(
        "/pause",
        status_code=200,
        operation_id="pauseExtraction",
        summary="Put reading off",
        description="Cancels the jobs that read a conversation, or all. What was read stays; POST /v1/extract goes on "
        "where they stopped, and so does the next message of a conversation.",
        response_description="How many jobs were cancelled.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=WRITER,
    )
    async def pause(self, writer: NamedDependency[Caller], conversation: ConversationParameter = None) -> Paused:
        """Put it off."""
        source = await _source(writer, conversation)
        return Paused(jobs=await pause(writer.db, writer.owner, source=source))


async def _source(caller: Caller, conversation: str | None) -> UUID | None:
    if conversation is None:
        return None
    async with caller.db.transaction(caller.owner.user_id) as connection:
        return await find_conversation(connection, caller.owner, conversation)
