"""The export of all of a user's data in one answer."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import IO, Annotated, ClassVar

import structlog
from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import QueryParameter
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Message, Receive, Scope, Send

from memsvc.api.callers import ALONE, READER, Caller
from memsvc.api.problems import documented
from memsvc.errors import OverloadedError
from memsvc.transfer.export import export
from memsvc.transfer.sinks import OpenZipSink

MEDIA_TYPE = "application/zip"
CHUNK_BYTES = 1 << 18
MOST_AT_ONCE = 2
"""The most exports that one process writes or sends at the same time. Each holds a connection while it is written, and
disk space until it is sent or its client is gone."""
MOST_IDLE_S = 60.0
"""An export ends when its client reads nothing for so long, because it blocks others."""
log = structlog.get_logger()


class ExportController(Controller):
    """Export."""

    path = "/export"
    tags = ("account",)
    dependencies = READER
    opt = ALONE
    running: ClassVar[int] = 0

    @get(
        operation_id="exportUser",
        summary="Export everything",
        description="Returns all of the user's data as a zip file: JSON lines, which 'memsvc import' can load into any "
        "memsvc, and Markdown for people. It is a snapshot of one moment. The server writes it to disk, then sends it.",
        response_description="A zip file.",
        responses={
            200: ResponseSpec(
                data_container=bytes, generate_examples=False, description="A zip file.", media_type=MEDIA_TYPE
            ),
            **documented(400, 401, 403, 404, 503),
        },
        media_type=MEDIA_TYPE,
    )
    async def export(
        self,
        reader: NamedDependency[Caller],
        markdown: Annotated[bool, QueryParameter(description="Include the Markdown pages.")] = True,
    ) -> Sending:
        """Write it to an unnamed file, which disappears with the process, and send that."""
        with _turn() as turn:
            file = turn.enter_context(await asyncio.to_thread(tempfile.TemporaryFile))
            await export(reader.db, reader.owner.user_id, OpenZipSink(file), markdown=markdown)
            size = file.tell()
            file.seek(0)
            sending = turn.pop_all()
        return Sending(
            file,
            sending,
            {
                "Content-Disposition": f'attachment; filename="memsvc-{datetime.now(UTC):%Y-%m-%d}.zip"',
                "Content-Length": str(size),
                "Cache-Control": "no-store",
            },
        )


class Sending(ASGIStreamingResponse):
    """Sends the bytes of a file. The turn ends whenever sending ends, also at an error or a disconnect."""

    __slots__ = ("_turn",)

    def __init__(self, file: IO[bytes], turn: ExitStack, headers: dict[str, str]) -> None:
        """Keep the turn, which closes the file."""
        super().__init__(iterator=_chunks(file, turn), media_type=MEDIA_TYPE, headers=headers)
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, and stop if the client does not take a chunk in time."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(MOST_IDLE_S):
                await send(message)

        with self._turn:
            try:
                await super().__call__(scope, receive, send_in_time)
            except* TimeoutError:
                log.warning("export broken off", reason="its reader took nothing", seconds=MOST_IDLE_S)


def _turn() -> ExitStack:
    """Take one of the MOST_AT_ONCE turns to export; closing it frees the turn."""
    if ExportController.running >= MOST_AT_ONCE:
        raise OverloadedError("Too many exports are running.")
    ExportController.running += 1
    turn = ExitStack()
    turn.callback(_over)
    return turn


def _over() -> None:
    ExportController.running -= 1


async def _chunks(file: IO[bytes], sending: ExitStack) -> AsyncIterator[bytes]:
    """Yield the file's bytes, then close and so delete the file."""
    with sending:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
