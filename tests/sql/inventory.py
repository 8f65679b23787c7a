"""Every table, view and privilege that is decided upon; ``test_privileges.py`` holds it true.

Functions have their decisions in their own files, where ``memsvc.server.objects`` reads them.
"""

from __future__ import annotations

from memsvc.server.objects import declared_functions
from tests.sql.world import ACCOUNT_TABLES, ANALYST, APP, CYPHER, ERASER, PARTITIONS, READER, USER_TABLES

LOGINS = (APP, READER, CYPHER, ANALYST)
ONTOLOGY = {"node_types", "edge_types"}  # rows of the core, which all read, and of users
EVERYBODYS = {*ONTOLOGY, "embedding_models"}
BOOKKEEPING = {"schema_version", "applied_sql"}  # revisions and digests of our own files: nobody's rows
VIEWS = {
    "messages", "conversations", "canonical_nodes", "nodes_current", "node_labels", "facts_current", "facts_history",
    "timeline", "people", "daily_activity", "sources_status", "procedures", "document_signals", "instructions_used",
    "document_history", "agent_days",
}  # fmt: skip
QUEUE = {"dramatiq_queue", "dramatiq_worker"}  # ids of jobs on their way, which workers take for all users
TABLES = {*USER_TABLES, *ACCOUNT_TABLES, *EVERYBODYS, *BOOKKEEPING, *PARTITIONS, *QUEUE}

# What each role may do with tables and views; a tuple names the only columns.
READS = (set(USER_TABLES) - {"tombstones"}) | EVERYBODYS | VIEWS
INSERTED = {
    "nodes", "node_versions", "aliases", "sources", "passages", "corpora", "terms", "term_deltas", "jobs", "outbox",
    "embeddings", "token_vectors", "schedules", "changes", "edges", "edge_versions", "merges", "source_links",
    "tombstones", "recall_events", "memory_signals", "extractions", "fact_reviews", "model_calls",
    "duplicate_candidates", "sleep_runs", "rereadings", "cards_compared", "profile_versions", "profile_evidence",
    "used_tickets", "answered_requests", "analysis_runs", "analysis_results", "locations", "ingests", "ingest_files",
    "feeds", "document_versions", "vaults", "turns", "tool_calls", "node_salience", "proposals", *ONTOLOGY,
}  # fmt: skip
UPDATED = {
    **{name: {"description", "status", "decided_by", "decided_at"} for name in ONTOLOGY},
    "nodes": {"lockable"},  # may be locked; it can hold one value only
    "edge_versions": {"recorded_to"},
    "merges": {"recorded_to"},
    "source_links": {"recorded_to"},
    "node_versions": {"recorded_to"},
    "aliases": {"recorded_to"},
    "locations": {"recorded_to"},
    "users": {"paused_at", "paused_until", "forgetting"},
    "sources": {"title", "status", "last_ingested_at", "metadata", "forget_after", "local"},
    "profile_versions": {"recorded_to"},
    "document_versions": {
        "recorded_to",
        "path",
        "bytes",
        "format",
        "title",
        "pages",
        "characters",
        "metadata",
        "chunked",
    },
    "turns": {"project", "commit_id", "ok", "ended_at", "chat_id", "chat_messages"},
    "tool_calls": {
        "told",
        "document_id",
        "version",
        "wrote",
        "ok",
        "exit_code",
        "ms",
        "result_head",
        "result_tail",
        "result_bytes",
        "result_sha256",
    },
    "vaults": {"flavours", "write_back", "read_at", "odd"},
    "corpora": {"passages", "length"},
    "terms": {"passages"},
    "jobs": {
        "state",
        "requests",
        "attempts",
        "outages",
        "restarts",
        "starts",
        "error_code",
        "error",
        "run_after",
        "started_at",
        "finished_at",
    },
    "schedules": {
        "at_local",
        "weekdays",
        "enabled",
        "next_at",
        "last_at",
        "look_at",
        "woken_at",
        "woken_for",
        "tasks_off",
    },
    "erasures": {"verified_at", "leftovers"},
    "recall_events": {"verdicts", "echoed", "folded_at"},
    "extractions": {"backend", "upto", "turns", "facts", "refused", "asked", "last_at", "passed_over", "again_upto"},
    "rereadings": {"state", "turns", "counts", "last_at", "finished_at"},
    "changes": {"rereading_id"},
    "feeds": {
        "name",
        "settings",
        "salt",
        "secret",
        "rule",
        "state",
        "failures",
        "last_error",
        "last_run",
        "next_run",
        "run_id",
        "cursor",
    },
    "ingests": {"state", "dry_run", "choices", "job_id", "error_code", "started_at", "finished_at"},
    "ingest_files": {
        "name",
        "source",
        "bytes",
        "sha256",
        "content",
        "outcome",
        "kind",
        "code",
        "message",
        "hint",
        "stored",
        "counts",
        "preview",
    },
    "fact_reviews": {
        "extractor",
        "state",
        "reason",
        "proposal",
        "span_from",
        "span_to",
        "decided_at",
        "decided_by",
    },
    "memory_signals": {"recalls", "last_recalled_at", "used", "irrelevant", "importance", "sentiment", "pinned"},
    "sleep_runs": {
        "state",
        "place",
        "examined",
        "applied",
        "proposed",
        "counts",
        "seconds",
        "model_calls",
        "tokens_in",
        "tokens_out",
        "within_budget",
        "error_code",
        "finished_at",
        "announced",
        "undone_at",
    },
    "cards_compared": {"made_at", "passage_id"},
    "node_salience": {"salience", "before", "sleep_run_id", "written_at"},
    "proposals": {"state", "decided_at", "decided_by"},
    "analysis_runs": {"state", "found", "figures", "seconds", "error_code", "finished_at"},
    "duplicate_candidates": {"score", "evidence", "state", "decided_at", "decided_by"},
}
# Who erases: functions of memsvc_eraser alone, on rows of the user that the token proves; a whole user, in all tables.
ERASED = {*USER_TABLES, "api_keys", "dramatiq_queue", "moves", *ONTOLOGY}
ERASERS_UPDATES = {
    "tombstones": {"recorded_at"},
    "erasures": {"state", "counts", "ids", "finished_at"},
    "sources": {"identifier", "title", "metadata", "local"},
    "passages": {
        "part",
        "kind",
        "recorded_to",
        "session",
        "ordinal",
        "metadata",
        "archived_at",
        "archived_by",
        "restored_at",
    },
    "tool_calls": {"document_id", "version"},
    "recall_events": {"memories", "instructions"},
    "extractions": {"upto", "passed_over", "begun_after", "again_upto"},
    "profile_versions": {"text", "version"},
    "profile_evidence": {"lines"},
    "corpora": {"passages", "length"},
    "terms": {"passages"},
    **{name: {"derived_from"} for name in ("node_versions", "edge_versions", "aliases", "locations")},
}
TABLE_PRIVILEGES = {
    *((APP, "SELECT", name) for name in READS | {"tombstones"} | BOOKKEEPING),
    *((APP, "INSERT", name) for name in INSERTED),
    *(
        (APP, "DELETE", name)
        for name in (
            "term_deltas",
            "vaults",
            "recall_events",
            "sleep_runs",
            "used_tickets",
            "answered_requests",
            "analysis_runs",
            "analysis_results",
            "ingests",
            "ingest_files",
            "feeds",
            *ONTOLOGY,
        )
    ),
    *((APP, may, name) for may in ("SELECT", "INSERT", "UPDATE", "DELETE") for name in QUEUE),
    *((READER, "SELECT", name) for name in READS),
    *((ERASER, may, name) for may in ("SELECT", "DELETE") for name in ERASED),
    *((ERASER, "INSERT", name) for name in ("tombstones", "erasures", "corpora", "terms")),
    *(
        ("memsvc_recall", "SELECT", name)
        for name in (
            "passages",
            "corpora",
            "terms",
            "term_deltas",
            "embeddings",
            "token_vectors",
            "node_versions",
            "aliases",
            "edge_versions",
            "source_links",
            "locations",
            "sources",
            "memory_signals",
        )
    ),
}

# Functions: who may call each stands in its file, `-- callers:`; the owner may call it anyway.
DECLARED = declared_functions()
EXECUTE = {
    role: {name for name, function in DECLARED.items() if role in {function.owner, *function.callers}}
    for role in (*LOGINS, "memsvc_recall", ERASER)
}
