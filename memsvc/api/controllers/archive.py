"""What forgetting has archived: seeing it, switching forgetting on or off, and restoring memories."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Controller, get, post, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.sleep.archive import (
    MOST_RESTORED,
    Archive,
    Archived,
    Restored,
    archive_of,
    list_archived,
    restore,
    switch_forgetting,
)

MemoryId = Annotated[str, msgspec.Meta(max_length=60)]


class ForgettingIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Whether to forget."""

    forgetting: bool | None
    """True: sleep mode archives what nobody recalls. False: it does not. Null: as the service is set."""


class RestoreIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to take out of the archive."""

    memory_ids: Annotated[list[MemoryId], msgspec.Meta(min_length=1, max_length=MOST_RESTORED)]
    """Ids of messages, facts and nodes, short (m:…, f:…, n:…) or full."""


class ArchiveController(Controller):
    """The archive of forgetting."""

    path = "/archive"
    tags = ("jobs",)

    @get(
        operation_id="getArchive",
        summary="Get what forgetting has archived",
        description="Returns how many messages, facts and cards of nodes are archived, and whether sleep mode goes on "
        "archiving what nobody recalls. Recall finds them with `include_archived`.",
        response_description="The archive.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def look(self, reader: NamedDependency[Caller]) -> Archive:
        """Return it."""
        return await archive_of(reader.db, reader.owner, reader.settings)

    @get(
        "/memories",
        operation_id="listArchived",
        summary="List what forgetting has archived",
        description="Lists archived messages, facts, cards of nodes and turns of agents, the newest memory first, each "
        "with the run that archived it. `POST /v1/archive/restore` takes them out.",
        response_description="One page of archived memories.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self, reader: NamedDependency[Caller], cursor: CursorParameter = None, limit: PageSize = 50
    ) -> Page[Archived]:
        """Return one page."""
        return await list_archived(reader.db, reader.owner, cursor=begin_of(cursor, None), limit=limit)

    @put(
        operation_id="switchForgetting",
        summary="Switch forgetting on or off",
        description="Decides whether sleep mode archives what this user's clients do not recall. What is archived "
        "stays archived.",
        response_description="The archive.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=WRITER,
    )
    async def switch(
        self,
        data: Annotated[ForgettingIn, BodyKwarg(examples=[Example(value={"forgetting": False})])],
        writer: NamedDependency[Caller],
    ) -> Archive:
        """Decide."""
        return await switch_forgetting(writer.db, writer.owner, writer.settings, on=data.forgetting)

    @post(
        "/restore",
        status_code=200,
        operation_id="restoreMemories",
        summary="Restore archived memories",
        description="Takes memories out of the archive. `POST /v1/sleep/runs/{run_id}/undo` takes back what a whole "
        "run archived. They count as used now. Recall finds them at once by their words, and by their meaning once "
        "the job embed has run.",
        response_description="How many memories were restored.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def restore(
        self,
        data: Annotated[
            RestoreIn, BodyKwarg(examples=[Example(value={"memory_ids": ["01a201b6-4ab1-7969-ac06-ffbb0c5e7975"]})])
        ],
        writer: NamedDependency[Caller],
    ) -> Restored:
        """Restore them."""
        return await restore(writer.db, writer.owner, data.memory_ids)
