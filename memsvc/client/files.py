"""The part of ``Memory`` about files, documents and feeds. Written by ``make client``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Unpack
from uuid import UUID

from memsvc.client import file_calls as calls
from memsvc.client import options as o
from memsvc.client.connection import Connection
from memsvc.feeds.feeds import AddedFeed, Feed, FeedRemoved
from memsvc.feeds.wanted import Kind as FeedKind
from memsvc.sources.document_reads import Document, ReadDocument
from memsvc.sources.ingests import Ingest, IngestEnded, IngestShown
from memsvc.turns.history import CausedVersion, Staleness


class MemoryFiles(Connection):
    """What is read from files: chats, documents with their versions, and feeds, which are read again and again."""

    def ingest(
        self, paths: str | Path | Sequence[str | Path], *, wait: bool = True, **options: Unpack[o.IngestOptions]
    ) -> IngestShown:
        """Store chats and exports from files, as ``memsvc ingest`` does. With ``wait``, return when it has ended."""
        sent = self.send(calls.ingest(paths, options))
        while True:
            found = self.send(calls.get_ingest(sent.ingest_id))
            if not wait or found.finished_at is not None:
                return found
            time.sleep(0.5)

    def ingests(self, *, page: int = 50) -> Iterator[Ingest]:
        """Yield what was sent to be stored, newest first."""
        return self.pages(calls.ingests(page))

    def get_ingest(self, ingest_id: str | UUID) -> IngestShown:
        """Return what became of each file."""
        return self.send(calls.get_ingest(ingest_id))

    def continue_ingest(self, ingest_id: str | UUID, *, me: str | Sequence[str] = (), not_me: bool = False) -> Ingest:
        """Store files that wait for the answer who the user is, or that a dry run looked at."""
        return self.send(calls.continue_ingest(ingest_id, me, not_me=not_me))

    def end_ingest(self, ingest_id: str | UUID) -> IngestEnded:
        """Cancel an ingest, or delete the record of one that has ended. Stored messages stay."""
        return self.send(calls.end_ingest(ingest_id))

    def documents(self, *, page: int = 50, **options: Unpack[o.DocumentOptions]) -> Iterator[Document]:
        """Yield the documents that are stored, those stored last first."""
        return self.pages(calls.documents(options, page))

    def get_document(
        self, document_id: str | UUID, *, version: int | None = None, cursor: str | None = None, limit: int = 100
    ) -> ReadDocument:
        """Return a document with its versions and a page of the chunks of one of them, by default of the last."""
        return self.send(calls.get_document(document_id, version, cursor, limit))

    def document_versions(self, document_id: str | UUID, *, page: int = 50) -> Iterator[CausedVersion]:
        """Yield the versions of a document, the newest first, each with what made it."""
        return self.pages(calls.document_versions(document_id, page))

    def document_staleness(self, document_id: str | UUID, *, cursor: str | None = None, limit: int = 50) -> Staleness:
        """Return how a document fared, and a page of the turns that touched it, the last first."""
        return self.send(calls.document_staleness(document_id, cursor, limit))

    def add_feed(self, kind: FeedKind, **options: Unpack[o.FeedOptions]) -> AddedFeed:
        """Add something that is read again by itself. Of a push, the answer has the secret, which is shown once."""
        return self.send(calls.add_feed(kind, options))

    def feeds(self, *, page: int = 50) -> Iterator[Feed]:
        """Yield the feeds, oldest first."""
        return self.pages(calls.feeds(page))

    def get_feed(self, feed_id: str | UUID) -> Feed:
        """Return a feed with its state, last error, last and next run."""
        return self.send(calls.get_feed(feed_id))

    def feed_runs(self, feed_id: str | UUID, *, page: int = 50) -> Iterator[Ingest]:
        """Yield the runs of a feed, newest first."""
        return self.pages(calls.feed_runs(feed_id, page))

    def run_feed(self, feed_id: str | UUID) -> Ingest:
        """Read a feed now."""
        return self.send(calls.run_feed(feed_id))

    def pause_feed(self, feed_id: str | UUID) -> Feed:
        """Stop reading a feed until it is resumed."""
        return self.send(calls.switch_feed(feed_id, "pause"))

    def resume_feed(self, feed_id: str | UUID) -> Feed:
        """Read a paused or failed feed again."""
        return self.send(calls.switch_feed(feed_id, "resume"))

    def remove_feed(self, feed_id: str | UUID) -> FeedRemoved:
        """Remove a feed. What it stored stays."""
        return self.send(calls.remove_feed(feed_id))
