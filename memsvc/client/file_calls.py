"""The calls about files, documents and feeds, as in ``memsvc.client.calls``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import httpx

from memsvc.client import options as o
from memsvc.client.calls import Call, at, once, read, word
from memsvc.db.paging import Page
from memsvc.feeds.feeds import AddedFeed, Feed, FeedRemoved
from memsvc.sources.document_reads import Document, ReadDocument
from memsvc.sources.ingests import Ingest, IngestEnded, IngestShown
from memsvc.turns.history import CausedVersion, Staleness


def ingest(paths: str | Path | Sequence[str | Path], options: o.IngestOptions) -> Call[Ingest]:
    """Store files.

    Raises:
        OSError: a file cannot be read.
    """
    chosen = [Path(one) for one in ([paths] if isinstance(paths, (str, Path)) else paths)]
    files = [("file", (one.name, one.read_bytes())) for one in chosen]
    given = {name: value for name, value in options.items() if value is not None}
    fields = {name: value if isinstance(value, (str, list, tuple)) else word(value) for name, value in given.items()}
    if (kind := fields.pop("kind", None)) is not None:
        fields["as"] = kind
    request = httpx.Request("POST", "http://memsvc", data=fields, files=files)
    form = (request.headers["Content-Type"], request.read())
    return replace(once("/v1/documents", Ingest, None), form=form)


def get_ingest(ingest_id: str | UUID) -> Call[IngestShown]:
    """Return what became of files."""
    return read(at("/v1/ingests/{}", ingest_id), IngestShown)


def ingests(page: int) -> Call[Page[Ingest]]:
    """List what was sent."""
    return read("/v1/ingests", Page[Ingest], {"limit": page})


def continue_ingest(ingest_id: str | UUID, me: Sequence[str], *, not_me: bool) -> Call[Ingest]:
    """Say who the user is."""
    body = {"me": [me] if isinstance(me, str) else list(me), "not_me": not_me}
    return Call("POST", at("/v1/ingests/{}/continue", ingest_id), Ingest, body)


def end_ingest(ingest_id: str | UUID) -> Call[IngestEnded]:
    """Cancel or delete an ingest."""
    return Call("DELETE", at("/v1/ingests/{}", ingest_id), IngestEnded)


def documents(options: o.DocumentOptions, page: int) -> Call[Page[Document]]:
    """List documents."""
    return read("/v1/documents", Page[Document], {**options, "limit": page})


def get_document(document_id: str | UUID, version: int | None, cursor: str | None, limit: int) -> Call[ReadDocument]:
    """Read a document."""
    query = {"version": version, "cursor": cursor, "limit": limit}
    return read(at("/v1/documents/{}", document_id), ReadDocument, query)


def document_versions(document_id: str | UUID, page: int) -> Call[Page[CausedVersion]]:
    """List the versions of a document."""
    return read(at("/v1/documents/{}/versions", document_id), Page[CausedVersion], {"limit": page})


def document_staleness(document_id: str | UUID, cursor: str | None, limit: int) -> Call[Staleness]:
    """Ask how stale a document is."""
    return read(at("/v1/documents/{}/staleness", document_id), Staleness, {"cursor": cursor, "limit": limit})


def add_feed(kind: str, options: o.FeedOptions) -> Call[AddedFeed]:
    """Add a feed."""
    body: dict[str, Any] = {"kind": kind, **options}
    if (files := body.pop("kind_of_files", None)) is not None:
        body["as"] = files
    return Call("POST", "/v1/feeds", AddedFeed, body)


def feeds(page: int) -> Call[Page[Feed]]:
    """List feeds."""
    return read("/v1/feeds", Page[Feed], {"limit": page})


def feed_runs(feed_id: str | UUID, page: int) -> Call[Page[Ingest]]:
    """List the runs of a feed."""
    return read(at("/v1/feeds/{}/runs", feed_id), Page[Ingest], {"limit": page})


def get_feed(feed_id: str | UUID) -> Call[Feed]:
    """Return a feed."""
    return read(at("/v1/feeds/{}", feed_id), Feed)


def run_feed(feed_id: str | UUID) -> Call[Ingest]:
    """Read a feed now."""
    return Call("POST", at("/v1/feeds/{}/run", feed_id), Ingest)


def switch_feed(feed_id: str | UUID, does: Literal["pause", "resume"]) -> Call[Feed]:
    """Pause or resume a feed."""
    return Call("POST", at(f"/v1/feeds/{{}}/{does}", feed_id), Feed)


def remove_feed(feed_id: str | UUID) -> Call[FeedRemoved]:
    """Remove a feed."""
    return Call("DELETE", at("/v1/feeds/{}", feed_id), FeedRemoved)
