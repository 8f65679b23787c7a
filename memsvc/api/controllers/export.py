"""Everything that a user has, in one answer."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, ClassVar

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import QueryParameter
from litestar.response import Stream

from memsvc.access.archive import ZipSink
from memsvc.access.export import export
from memsvc.api.callers import READER, Caller
from memsvc.api.problems import documented
from memsvc.errors import OverloadedError

MEDIA_TYPE = "application/zip"
CHUNK_BYTES = 1 << 18
MOST_AT_ONCE = 2
"""Exports that one process writes at a time: each holds a connection."""


class ExportController(Controller):
    """Export."""

    path = "/export"
    tags = ("account",)
    dependencies = READER
    running: ClassVar[int] = 0

    @get(
        operation_id="exportUser",
        summary="Export everything",
        description="Everything that the user has, as a zip file: JSON lines that 'memsvc import' reads on any "
        "memsvc, and Markdown for people. It is of one moment, written to the server's disk first, and then sent.",
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
        markdown: Annotated[bool, QueryParameter(description="Also the pages for people.")] = True,
    ) -> Stream:
        """Write it to a file without a name, and send that."""
        with self._turn(), tempfile.TemporaryDirectory(prefix="memsvc-export-") as folder:
            target = Path(folder) / "export.zip"
            await export(reader.db, reader.owner.user_id, ZipSink(target), markdown=markdown)
            written = await asyncio.to_thread(target.open, "rb")
            size = target.stat().st_size
        return Stream(
            _chunks(written),
            media_type=MEDIA_TYPE,
            headers={
                "Content-Disposition": f'attachment; filename="memsvc-{datetime.now(UTC):%Y-%m-%d}.zip"',
                "Content-Length": str(size),
                "Cache-Control": "no-store",
            },
        )

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let so many at a time write, and no more."""
        if ExportController.running >= MOST_AT_ONCE:
            raise OverloadedError("Others are being exported.")
        ExportController.running += 1
        try:
            yield
        finally:
            ExportController.running -= 1


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The file's bytes; the file is gone with them."""
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
