"""The part of ``AsyncMemory`` about files, documents and feeds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Unpack
from uuid import UUID

from memsvc.client import file_calls as calls
from memsvc.client import options as o
from memsvc.client.connection_async import AsyncConnection
from memsvc.feeds.feeds import AddedFeed, Feed, FeedRemoved
from memsvc.feeds.wanted import Kind as FeedKind
from memsvc.sources.document_reads import Document, ReadDocument
from memsvc.sources.ingests import Ingest, IngestEnded, IngestShown
from memsvc.turns.history import CausedVersion, Staleness


class AsyncMemoryFiles(AsyncConnection):
    """What is read from files: chats, documents with their versions, and feeds, which are read again and again."""

    async def ingest(
        self, paths: str | Path | Sequence[str | Path], *, wait: bool = True, **options: Unpack[o.IngestOptions]
    ) -> IngestShown:
        """Store chats and exports from files, as ``memsvc ingest`` does. With ``wait``, return when it has ended."""
        sent = await self.send(calls.ingest(paths, options))
        while True:
            found = await self.send(calls.get_ingest(sent.ingest_id))
            if not wait or found.finished_at is not None:
                return found
            await asyncio.sleep(0.5)

    def ingests(self, *, page: int = 50) -> AsyncIterator[Ingest]:
        """Yield what was sent to be stored, newest first."""
        return self.pages(calls.ingests(page))

    async def get_ingest(self, ingest_id: str | UUID) -> IngestShown:
        """Return what became of each file."""
        return await self.send(calls.get_ingest(ingest_id))

    async def continue_ingest(
        self, ingest_id: str | UUID, *, me: str | Sequence[str] = (), not_me: bool = False
    ) -> Ingest:
        """Store files that wait for the answer who the user is, or that a dry run looked at."""
        return await self.send(calls.continue_ingest(ingest_id, me, not_me=not_me))

    async def end_ingest(self, ingest_id: str | UUID) -> IngestEnded:
        """Cancel an ingest, or delete the record of one that has ended. Stored messages stay."""
        return await self.send(calls.end_ingest(ingest_id))

    def documents(self, *, page: int = 50, **options: Unpack[o.DocumentOptions]) -> AsyncIterator[Document]:
        """Yield the documents that are stored, those stored last first."""
        return self.pages(calls.documents(options, page))

    async def get_document(
        self, document_id: str | UUID, *, version: int | None = None, cursor: str | None = None, limit: int = 100
    ) -> ReadDocument:
        """Return a document with its versions and a page of the chunks of one of them, by default of the last."""
        return await self.send(calls.get_document(document_id, version, cursor, limit))

    def document_versions(self, document_id: str | UUID, *, page: int = 50) -> AsyncIterator[CausedVersion]:
        """Yield the versions of a document, the newest first, each with what made it."""
        return self.pages(calls.document_versions(document_id, page))

    async def document_staleness(
        self, document_id: str | UUID, *, cursor: str | None = None, limit: int = 50
    ) -> Staleness:
        """Return how a document fared, and a page of the turns that touched it, the last first."""
        return await self.send(calls.document_staleness(document_id, cursor, limit))

    async def add_feed(self, kind: FeedKind, **options: Unpack[o.FeedOptions]) -> AddedFeed:
        """Add something that is read again by itself. Of a push, the answer has the secret, which is shown once."""
        return await self.send(calls.add_feed(kind, options))

    def feeds(self, *, page: int = 50) -> AsyncIterator[Feed]:
        """Yield the feeds, oldest first."""
        return self.pages(calls.feeds(page))

    async def get_feed(self, feed_id: str | UUID) -> Feed:
        """Return a feed with its state, last error, last and next run."""
        return await self.send(calls.get_feed(feed_id))

    def feed_runs(self, feed_id: str | UUID, *, page: int = 50) -> AsyncIterator[Ingest]:
        """Yield the runs of a feed, newest first."""
        return self.pages(calls.feed_runs(feed_id, page))

    async def run_feed(self, feed_id: str | UUID) -> Ingest:
        """Read a feed now."""
        return await self.send(calls.run_feed(feed_id))

    async def pause_feed(self, feed_id: str | UUID) -> Feed:
        """Stop reading a feed until it is resumed."""
        return await self.send(calls.switch_feed(feed_id, "pause"))

    async def resume_feed(self, feed_id: str | UUID) -> Feed:
        """Read a paused or failed feed again."""
        return await self.send(calls.switch_feed(feed_id, "resume"))

    async def remove_feed(self, feed_id: str | UUID) -> FeedRemoved:
        """Remove a feed. What it stored stays."""
        return await self.send(calls.remove_feed(feed_id))
