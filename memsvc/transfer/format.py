"""What an export contains: a manifest and a file of JSON lines for each kind of row; and what it leaves out, and why.

``docs/export.md`` is the reference. ``memsvc.transfer.sinks`` writes exports, ``memsvc.transfer.archive`` opens them.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

FORMAT, VERSION = "memsvc-export", 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 1_000_000

# Kinds of rows, in the order in which they are written and read: a row comes after the rows that it refers to.
KINDS = (
    "node_types", "edge_types", "vaults", "sources", "document_versions", "passages", "turns", "tool_calls", "nodes",
    "node_versions", "aliases", "locations", "edges", "edge_versions", "merges", "source_links", "profile_versions",
    "profile_evidence", "memory_signals", "duplicate_candidates", "changes", "tombstones", "schedules", "feeds",
)  # fmt: skip
# Tables with a user_id that no export contains, and why. A test compares both lists with the database.
LEFT_OUT = {
    "users": "the manifest has name, zone and language; ids, app, pause and policy on secrets belong to the service",
    "api_keys": "keys are secrets of one service",
    "moves": "where the users of one service are",
    "audit_log": "changes to the accounts of one service",
    "corpora": "counted from passages",
    "terms": "counted from passages",
    "term_deltas": "counted from passages",
    "embeddings": "computed from passages by the models in use at the importing service",
    "token_vectors": "computed from passages by the models in use at the importing service",
    "jobs": "work of one service; an import creates its own jobs",
    "erasures": "receipts of one service, with ids of erased rows",
    "extractions": "progress of one service's extractors",
    "fact_reviews": "proposals of one service's extractors; accepted ones are facts, rejections stay there",
    "recall_events": "answers of one service; their totals are in memory_signals",
    "ingests": "files on their way into one service; their messages are exported",
    "ingest_files": "files on their way into one service; their messages are exported",
    "rereadings": "operations of one service's extractors; their results are facts",
    "sleep_runs": "nightly runs of one service; their results are in changes and duplicate_candidates",
    "node_salience": "computed from the graph and from what is recalled, each night",
    "proposals": "proposals of one service; accepted ones are facts and names, rejections stay there",
    "cards_compared": "how far one service has compared cards, by vectors that an export does not contain",
    "analysis_runs": "analyses of one service; they can be computed again from the facts",
    "analysis_results": "analyses of one service; they can be computed again from the facts",
    "answered_requests": "recent requests of one service's clients, which they may repeat",
    "used_tickets": "tickets of one service, valid for half a minute",
    "outbox": "events for clients that are listening now",
    "model_calls": "what one service paid for; the results are facts",
    "dramatiq_queue": "queue messages for workers",
}
LEFT_OUT_COLUMNS = {
    ("nodes", "gid"): "a short id of one database",
    ("nodes", "lockable"): "always true",
    ("node_versions", "label_form"): "computed from the label",
    **dict.fromkeys([("node_types", "own_user_id"), ("edge_types", "own_user_id")], "a copy of the owner"),
    **dict.fromkeys([("memory_signals", "passage_id"), ("memory_signals", "version_id")], "a copy of memory_id"),
    ("aliases", "normal_form"): "computed from the alias",
    **dict.fromkeys(
        [("passages", name) for name in ("subject_id", "subject_type", "version_id", "valid_from", "valid_to")],
        "of what is known, which an import files again",
    ),
    ("passages", "archived_by"): "a nightly run of one service",
    ("sources", "status"): "state of background work",
    ("sources", "last_ingested_at"): "state of background work",
    ("vaults", "read_at"): "a run of one service",
    ("vaults", "odd"): "a run of one service",
    ("changes", "rereading_id"): "an operation of one service's extractors",
    ("schedules", "next_at"): "computed from the rule and the zone",
    ("feeds", "feed_id"): "part of an address to which programs push at one service",
    **dict.fromkeys([("feeds", "secret"), ("feeds", "salt")], "where one service has its secrets"),
    **dict.fromkeys([("feeds", "by_operator"), ("feeds", "key_id")], "who may do what at one service"),
    **dict.fromkeys(
        [("feeds", name) for name in ("state", "failures", "last_error", "last_run", "next_run", "run_id", "cursor")],
        "state of background work; an imported feed is paused",
    ),
    ("changes", "sleep_run_id"): "a run of one service",
    **dict.fromkeys(
        [("schedules", name) for name in ("last_at", "look_at", "woken_at", "woken_for")], "of one service"
    ),
    **dict.fromkeys(
        [("passages", "tsv"), ("passages", "tsv_simple"), ("passages", "length"), ("passages", "length_simple")],
        "computed from the text",
    ),
}


class ExportedUser(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The user whose memory it is, without ids."""

    name: str
    time_zone: str
    language: str


class ExportedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of JSON lines."""

    path: str
    rows: int
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of an export."""

    format: str
    version: int
    memsvc: str
    """The version of memsvc that wrote it."""
    schema: str
    """The schema revision of the exported database."""
    created_at: datetime
    user: ExportedUser
    files: list[ExportedFile]


class Head(msgspec.Struct, frozen=True):
    """What the manifests of all versions have."""

    format: str
    version: int


def file_of(kind: str) -> str:
    """Return the name of the file with the rows of a kind."""
    return f"{kind}.jsonl"
