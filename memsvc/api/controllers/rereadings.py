"""Re-readings: a new version of an extractor reads again what an older one has read."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import AfterParameter, CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.extract.outcomes import Outcome
from memsvc.extract.rehearsal import MOST_MESSAGES, Rehearsal, rehearse
from memsvc.extract.rereading import (
    Reread,
    Rereading,
    ask_undo,
    begin,
    get_rereading,
    list_rereadings,
    report,
    stop,
)
from memsvc.sleep.reread import Reread as Task
from memsvc.sleep.runner import ask


class RereadingAsked(msgspec.Struct, frozen=True, kw_only=True):
    """A re-reading, and the job that works on it."""

    rereading: Rereading | None
    """null: no older version has read anything that is left."""
    job_id: UUID | None
    """The job of sleep mode. null: there is nothing to do."""


async def _asked(caller: Caller, found: Rereading | None) -> RereadingAsked:
    if found is None or (found.state == "done" and not found.left):
        return RereadingAsked(rereading=found, job_id=None)
    job_id, _ = await ask(caller.db, caller.owner, [Task.name], settings=caller.settings)
    return RereadingAsked(rereading=found, job_id=job_id)


class RereadingsController(Controller):
    """Re-readings."""

    path = "/extractions/rereadings"
    tags = ("extraction",)

    @post(
        status_code=202,
        operation_id="reread",
        summary="Read again with a new version of the extractor",
        description="When a new version of the configured extractor is installed, it reads again what older versions "
        "have read. Sleep mode does this at night, a part each night, the most recalled conversations first; this "
        "request lets it go on now until all is read. Facts that only older versions found are retracted, unless a "
        "person wrote, corrected, validated or pinned them, or other evidence supports them. "
        "GET /v1/extractions/rereadings/dry-run shows before what would change. Repeating the request does not repeat "
        "the work.",
        response_description="The re-reading and the job that works on it.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def begin(self, writer: NamedDependency[Caller]) -> RereadingAsked:
        """Ask for it."""
        extractor, backend = await writer.extractor(None)
        return await _asked(writer, await begin(writer.db, writer.owner, extractor, backend))

    @get(
        "/dry-run",
        operation_id="previewRereading",
        summary="Show what a re-reading would change",
        description="Reads the messages that a re-reading would read next, and returns what would become of facts, "
        "counted by type, with examples. Nothing is stored. It reads whole windows of 12 messages and takes up to a "
        "minute (MEMSVC_DRY_RUN_S). Needs the right to write, because a language model may cost money.",
        response_description="What would change.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def preview(
        self,
        writer: NamedDependency[Caller],
        messages: Annotated[
            int, QueryParameter(ge=1, le=MOST_MESSAGES, description="About how many messages to read.")
        ] = 120,
        cursor: CursorParameter = None,
    ) -> Rehearsal:
        """Do a dry run."""
        extractor, backend = await writer.extractor(None)
        return await rehearse(
            writer.db, writer.owner, extractor, backend, writer.settings, cursor=cursor, messages=messages
        )

    @get(
        operation_id="listRereadings",
        summary="List re-readings",
        description="Lists re-readings, newest first: which version reads, how far it is, and what became of facts.",
        response_description="One page of re-readings.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        reader: NamedDependency[Caller],
        cursor: CursorParameter = None,
        after: AfterParameter = None,
        limit: PageSize = 50,
    ) -> Page[Rereading]:
        """Return one page."""
        found = await list_rereadings(reader.db, reader.owner, after=begin_of(cursor, after), limit=limit)
        return Page(items=found, next_cursor=str(found[-1].rereading_id) if len(found) == limit else None)

    @get(
        "/{rereading_id:uuid}",
        operation_id="getRereading",
        summary="Get a re-reading",
        description="Returns how far a re-reading is, and how many facts it added, changed, ended, retracted, refused "
        "and found unchanged, by type.",
        response_description="The re-reading.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller], rereading_id: FromPath[UUID]) -> Rereading:
        """Return it."""
        return await get_rereading(reader.db, reader.owner, rereading_id)

    @get(
        "/{rereading_id:uuid}/facts",
        operation_id="listRereadFacts",
        summary="List what a re-reading made of facts",
        description="Lists the facts that a re-reading added, changed, ended, retracted or found unchanged, in the "
        "order in which it did, also after it was undone. With outcome=refused: those that it found and did not write.",
        response_description="One page of facts.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def facts(
        self,
        reader: NamedDependency[Caller],
        rereading_id: FromPath[UUID],
        *,
        outcome: Annotated[
            Outcome | None, QueryParameter(description="Only this outcome. Left out: all but refused.")
        ] = None,
        type_: Annotated[
            str | None, QueryParameter(name="type", max_length=100, description="Only facts of this type.")
        ] = None,
        not_undone: Annotated[
            bool, QueryParameter(description="true: only what undoing it left, because it was altered again since.")
        ] = False,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Reread]:
        """Return one page."""
        facts, more = await report(
            reader.db, reader.owner, rereading_id,
            outcome=outcome, type_=type_, not_undone=not_undone, cursor=cursor, limit=limit,
        )  # fmt: skip
        return Page(items=facts, next_cursor=more)

    @post(
        "/{rereading_id:uuid}/stop",
        status_code=200,
        operation_id="stopRereading",
        summary="Stop a re-reading",
        description="Stops an open re-reading after the window that is being read. What it changed stays. It does not "
        "go on at night; POST /v1/extractions/rereadings lets it go on.",
        response_description="The re-reading.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def stop(self, writer: NamedDependency[Caller], rereading_id: FromPath[UUID]) -> Rereading:
        """Stop it."""
        return await stop(writer.db, writer.owner, rereading_id)

    @post(
        "/{rereading_id:uuid}/undo",
        status_code=202,
        operation_id="undoRereading",
        summary="Undo a re-reading",
        description="Lets sleep mode undo all changes of a re-reading, the last one first. A change stays if something "
        "that it altered was altered again since: not_undone counts these, and the list of facts shows them with "
        "not_undone=true. The version does not begin again by itself. Repeating the request tries again to undo what "
        "stayed.",
        response_description="The re-reading and the job that undoes it.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def undo(self, writer: NamedDependency[Caller], rereading_id: FromPath[UUID]) -> RereadingAsked:
        """Ask for it."""
        return await _asked(writer, await ask_undo(writer.db, writer.owner, rereading_id))
