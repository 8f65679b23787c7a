"""Every table, view, function and privilege that is decided upon; ``test_privileges.py`` holds it true."""

from __future__ import annotations

from tests.sql.world import ACCOUNT_TABLES, APP, CYPHER, ERASER, PARTITIONS, READER, USER_TABLES

LOGINS = (APP, READER, CYPHER)
ONTOLOGY = {"node_types", "edge_types"}  # rows of the core, which all read, and of users
EVERYBODYS = {*ONTOLOGY, "embedding_models"}
BOOKKEEPING = {"schema_version", "applied_sql"}  # revisions and digests of our own files: nobody's rows
VIEWS = {
    "messages", "conversations", "canonical_nodes", "nodes_current", "node_labels", "facts_current", "facts_history",
    "timeline", "people", "daily_activity", "sources_status",
}  # fmt: skip
QUEUE = {"dramatiq_queue", "dramatiq_worker"}  # ids of jobs on their way, which workers take for all users
TABLES = {*USER_TABLES, *ACCOUNT_TABLES, *EVERYBODYS, *BOOKKEEPING, *PARTITIONS, *QUEUE}

# What each role may do with tables and views; a tuple names the only columns.
READS = (set(USER_TABLES) - {"tombstones"}) | EVERYBODYS | VIEWS
INSERTED = {
    "nodes", "node_versions", "aliases", "sources", "passages", "corpora", "terms", "term_deltas", "jobs", "outbox",
    "embeddings", "schedules", "changes", "edges", "edge_versions", "merges", "source_links",
    "tombstones", *ONTOLOGY,
}  # fmt: skip
UPDATED = {
    **{name: {"description", "status", "decided_by", "decided_at"} for name in ONTOLOGY},
    "nodes": {"lockable"},  # may be locked; it can hold one value only
    "edge_versions": {"recorded_to"},
    "merges": {"recorded_to"},
    "source_links": {"recorded_to"},
    "node_versions": {"recorded_to"},
    "aliases": {"recorded_to"},
    "sources": {"title", "status", "last_ingested_at", "metadata"},
    "corpora": {"passages", "length"},
    "terms": {"passages"},
    "jobs": {"state", "requests", "attempts", "error_code", "error", "run_after", "started_at", "finished_at"},
    "schedules": {"at_local", "weekdays", "enabled", "next_at", "last_at"},
    "erasures": {"verified_at", "leftovers"},
}
# Who erases: functions of memsvc_eraser alone, on rows of the user that the token proves; a whole user, in all tables.
ERASED = {*USER_TABLES, "api_keys", "dramatiq_queue", *ONTOLOGY}
ERASERS_UPDATES = {
    "tombstones": {"recorded_at"},
    "erasures": {"state", "counts", "ids", "finished_at"},
    "sources": {"identifier", "title", "metadata"},
    "passages": {"part"},
    "corpora": {"passages", "length"},
    "terms": {"passages"},
}
TABLE_PRIVILEGES = {
    *((APP, "SELECT", name) for name in READS | {"tombstones"} | BOOKKEEPING),
    *((APP, "INSERT", name) for name in INSERTED),
    *((APP, "DELETE", name) for name in ("term_deltas", *ONTOLOGY)),
    *((APP, may, name) for may in ("SELECT", "INSERT", "UPDATE", "DELETE") for name in QUEUE),
    *((READER, "SELECT", name) for name in READS),
    *((ERASER, may, name) for may in ("SELECT", "DELETE") for name in ERASED),
    *((ERASER, "INSERT", name) for name in ("tombstones", "erasures", "corpora", "terms")),
    *(("memsvc_recall", "SELECT", name) for name in ("passages", "corpora", "terms", "term_deltas", "embeddings")),
}

# Functions that read past row security: each is an opening, so each has its owner here.
DEFINERS = {
    "current_user_id": "memsvc_owner",
    "ensure_app": "memsvc_owner",
    "find_app": "memsvc_owner",
    "create_user": "memsvc_owner",
    "users_of_app": "memsvc_owner",
    "create_key": "memsvc_owner",
    "keys_of_app": "memsvc_owner",
    "revoke_key": "memsvc_owner",
    "authenticate_key": "memsvc_owner",
    "due_jobs": "memsvc_owner",
    "begin_job": "memsvc_owner",
    "keep_queue": "memsvc_owner",
    "backlog": "memsvc_owner",
    "work_now": "memsvc_owner",
    "work_errors": "memsvc_owner",
    "users_with_failed_jobs": "memsvc_owner",
    "ensure_model": "memsvc_owner",
    "seed_schedules": "memsvc_owner",
    "due_schedules": "memsvc_owner",
    "delete_ended": "memsvc_owner",
    "build_model": "memsvc_owner",
    "pause_model": "memsvc_owner",
    "switch_model": "memsvc_owner",
    "retire_model": "memsvc_owner",
    "drop_model_index": "memsvc_owner",
    "drop_vectors": "memsvc_owner",
    "embedding_totals": "memsvc_recall",
    "users_lacking": "memsvc_recall",
    "vectors_behind": "memsvc_recall",
    "match_words": "memsvc_recall",
    "match_vectors": "memsvc_recall",
    "user_is_here": "memsvc_owner",
    "begin_user_erasure": "memsvc_owner",
    "erase_user": "memsvc_owner",
    "user_erasure": "memsvc_owner",
    "users_erasing": "memsvc_owner",
    "rows_of_user": "memsvc_eraser",
    "erase_user_rows": "memsvc_eraser",
    "begin_erasure": "memsvc_eraser",
    "erase_batch": "memsvc_eraser",
}
# Called by definer functions alone.
INNER = {
    "audit",
    "reschedule",
    "make_model_index",
    "change_models",
    "ask_vectors",
    "known_model",
    "users_lacking",
    "vectors_behind",
    "user_tables",
    "erase_user_rows",
    "forget_words",
    "bury",
    "lock_memories",
    "add_counts",
}
READING = {
    "current_user_id", "require_identity", "set_signs_apart", "to_words", "word_count", "searched_text", "as_tsquery",
    "normal_form", "words_behind", "recall", "embedding_progress", "resolve_nodes", "same_nodes", "content_of",
    "links_of", "edges_known", "facts", "node_states", "node_names", "nodes_called", "history_of", "node_cards",
    "neighbourhood", "any_merges", "standing_for", "open_edges", "open_edges_typed", "past_edges", "hop", "stored_hop",
    "unknown_nodes", "graph_shown", "graph_around", "paths", "next_level", "paths_through", "graph_paths",
    "edges_between", "graph_among", "all_edges", "all_nodes", "graph_stats", "graph_page", "page_of_edges",
    "page_of_nodes", "other_counts",
    "core_user_id", "count_nodes", "count_facts",
    "name_tier", "names_matching", "best_names", "search_nodes", "merges_among",
    "versions_touched", "versions_turning", "graph_diff", "version_shown",
}  # fmt: skip
WRITING = {
    "message_digest",
    "append_messages",
    "fold_statistics",
    "job_queue",
    "job_message",
    "send_job",
    "ask_job",
    "due_messages",
    "claim_messages",
    "finish_job",
    "fail_job",
    "work_hands",
    "retry_failed_jobs",
    "unembedded",
    "store_embeddings",
    "relay_messages",
    "clock_reaches",
    "next_run",
    "run_schedule",
    "form_label",
    "open_versions",
    "plan_history",
    "apply_steps",
    "write_versions",
    "link_evidence",
    "refuse_change",
    "keep_memories",
    "begin_change",
    "check_operations",
    "version_of",
    "history_steps",
    "apply_merges",
    "types_now",
    "check_endpoints",
    "check_closes",
    "write_history",
    "altered_by",
    "differs_now",
    "merges_back",
    "undo_change",
    "check_written_node_types",
    "check_written_edge_types",
    "check_added_types",
    "propose_type",
    "decide_type",
    "refuse_undecidable",
    "withdraw_type",
    "tombstone_digest",
    "erased_operations",
    "erasure_scope",
    "spoken_for",
    "plan_erasure",
    "terms_of",
    "preview_erasure",
    "erase",
    "continue_erasure",
    "erasure_leftovers",
    "verify_erasure",
}
EXECUTE = {
    APP: READING | WRITING | (set(DEFINERS) - INNER),
    READER: READING | {"match_words", "match_vectors"},
    CYPHER: {"current_user_id"},
    "memsvc_recall": READING | {name for name, owner in DEFINERS.items() if owner == "memsvc_recall"},
    ERASER: {
        "current_user_id", "require_identity", "normal_form", "tombstone_digest", "message_digest", "fold_statistics",
        "links_of", "erasure_scope", "spoken_for", "plan_erasure", "terms_of", "forget_words", "bury", "lock_memories",
        "add_counts", "begin_erasure", "erase_batch",
        "user_tables", "rows_of_user", "erase_user_rows",
    },
}  # fmt: skip
