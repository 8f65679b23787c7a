"""Errors in what a client sent: the client has to change the request."""

from __future__ import annotations

from collections.abc import Sequence

from memsvc.errors.base import MemsvcError


class InvalidRequestError(MemsvcError):
    """The request does not have the expected form."""

    code, status, exit_code = "invalid_request", 400, 2
    hint = "Compare the request with the schema at /docs."


class InvalidTextError(InvalidRequestError):
    """The text cannot be stored."""

    code = "invalid_text"
    hint = "Send UTF-8 text without NUL characters or lone surrogates."


class TextRefusedError(InvalidRequestError):
    """The text contains a secret that is not stored here."""

    code, status = "text_refused", 422
    hint = "Nothing was stored. Send it without the secret; GET /v1/me/policy says which kinds are refused."


class PolicyLaxerError(InvalidRequestError):
    """A user's policy cannot be laxer than that of the app."""

    code, status, exit_code = "policy_laxer", 409, 3
    hint = "Name only kinds that are to be treated more strictly; GET /v1/me/policy says what holds already."


class KeyRequiredError(InvalidRequestError):
    """The export or backup is encrypted."""

    code = "key_required"
    hint = "Give its private key with --identity-file, or its passphrase with --passphrase-file."


class KeyWrongError(InvalidRequestError):
    """The key does not open the export or backup."""

    code = "key_wrong"
    hint = "Give the private key that belongs to the public key of --encrypt-to, or the same passphrase."


class KeyUnusableError(InvalidRequestError):
    """The key or passphrase cannot be used."""

    code = "key_unusable"
    hint = "Public keys are age1… or ssh-…; 'age-keygen' makes a pair. A passphrase is the first line of its file."


class NotEncryptedError(InvalidRequestError):
    """The export or backup is not encrypted."""

    code = "not_encrypted"
    hint = "Is it the right one? If so, leave out --identity-file and --passphrase-file."


class ArchiveDamagedError(InvalidRequestError):
    """The encrypted export or backup is cut off or was altered."""

    code = "archive_damaged"
    hint = "Nothing of it was stored. Take another copy."


class EmptyTextError(InvalidRequestError):
    """The text is empty."""

    code = "empty_text"
    hint = "Send at least one visible character in text or caption."


class TextTooLongError(InvalidRequestError):
    """The text is longer than the limit for one message."""

    code, status = "text_too_long", 413
    hint = (
        "Send it in several messages, or start the service (or memsvc ingest) with a higher MEMSVC_MAX_TEXT_CHARS, in "
        "characters. Over HTTP the whole request must also fit into MEMSVC_MAX_BODY_BYTES."
    )


class BodyTooSlowError(InvalidRequestError):
    """The request's body did not arrive in time."""

    code, status = "body_too_slow", 408
    hint = "Send it faster, or in smaller parts. MEMSVC_BODY_TIMEOUT_S is the longest wait."


class InvalidTimeError(InvalidRequestError):
    """The time cannot be understood."""

    code = "invalid_time"
    hint = "Use ISO 8601, for example 2026-03-14T09:30:00+01:00."


class InvalidZoneError(InvalidRequestError):
    """The time zone is not known."""

    code = "invalid_zone"
    hint = "Use an IANA name such as Europe/Berlin, or UTC."


class BatchTooLargeError(InvalidRequestError):
    """The batch holds more messages than one request may carry."""

    code, status = "batch_too_large", 413
    hint = "Send it in several requests, or raise MEMSVC_MAX_BATCH."


class BadFileError(InvalidRequestError):
    """The file cannot be read."""

    code = "bad_file"
    hint = "Nothing of it was stored. docs/ingest.md says what memsvc ingest reads."


class SourceUnknownError(BadFileError):
    """The file is of no kind that memsvc can read."""

    code = "source_unknown"
    hint = "Nothing was stored. Convert the messages to chat JSONL; see docs/ingest.md for the fields."


class ImportInvalidError(InvalidRequestError):
    """The export cannot be imported."""

    code = "import_invalid"
    hint = "Nothing was stored. The message names file and line; see docs/export.md for the format."


class InvalidIntervalError(InvalidRequestError):
    """The time span ends before it begins."""

    code = "invalid_interval"
    hint = "A span includes its start and excludes its end. Leave out a bound that does not exist."


class InvalidPlaceError(InvalidRequestError):
    """The coordinates are not a place on Earth."""

    code = "invalid_place"
    hint = "Latitude is -90 to 90 and longitude -180 to 180, in degrees (WGS 84). The radius is in metres."


class InvalidAliasError(InvalidRequestError):
    """The name is empty."""

    code = "invalid_alias"
    hint = "Send a name of 1 to 200 characters with at least one visible character."


class InvalidSpanError(InvalidRequestError):
    """The span does not lie within the passage."""

    code = "invalid_span"
    hint = "Spans count characters from 0 and exclude the end. Leave them out for the whole passage."


class TokenizerUnknownError(InvalidRequestError):
    """No tokenizer has this name."""

    code = "tokenizer_unknown"
    hint = "Leave it out to use an estimate, or install the package that provides it."


class BudgetTooSmallError(InvalidRequestError):
    """Not even an empty context block fits the budget."""

    code = "budget_too_small"
    hint = "Raise the budget. The default is 1,500 tokens."


class TypeUnknownError(InvalidRequestError):
    """The ontology has no such type."""

    code = "type_unknown"
    hint = "'memsvc ontology' and GET /v1/ontology list the types. You can propose new ones."


class TypeProposedError(MemsvcError):
    """The type is a proposal that waits for approval."""

    code, status, exit_code = "type_proposed", 409, 3
    hint = "Let a person approve it ('memsvc ontology approve'), or use a type of the core."


class TypeDeprecatedError(MemsvcError):
    """The type is deprecated, so nothing new can have it."""

    code, status, exit_code = "type_deprecated", 409, 3
    hint = "Use another type, or approve it again."


class TypeStateError(MemsvcError):
    """The type's status does not allow this decision."""

    code, status, exit_code = "type_state", 409, 3
    hint = "Proposals can be approved or rejected, and approved types deprecated. 'memsvc ontology' lists them."


class EndpointForbiddenError(InvalidRequestError):
    """The ontology does not allow an edge of this type between these nodes."""

    code = "endpoint_forbidden"
    hint = "Check from_types and to_types of the edge's type, or change the node's type first."


class RerankerMissingError(InvalidRequestError):
    """No reranker is configured."""

    code = "reranker_missing"
    hint = "Leave rerank out, or set MEMSVC_RERANKER; see docs/configuration.md."


class NotRecalledError(InvalidRequestError):
    """The memory was not in that recall."""

    code = "not_recalled"
    hint = "Send memory_id values of the memories in that answer. Nothing was counted."


class BatchUnsupportedError(InvalidRequestError):
    """JSON-RPC batches are not supported."""

    code = "batch_unsupported"
    hint = "Send each message in its own request or on its own line."


class DryRunTooLongError(TextTooLongError):
    """The text is longer than the limit for one dry run."""

    code = "dry_run_too_long"
    hint = "Send less text, or store it. Stored text is read in the background, however long it is."


class DryRunTooSlowError(InvalidRequestError):
    """The dry run took too long."""

    code = "dry_run_too_slow"
    hint = "Send less text, or store it. Stored text is read in the background, however long that takes."


class ClaimIsQuestionError(InvalidRequestError):
    """The claim is a question."""

    code = "claim_is_question"
    hint = "Send a statement, such as 'Ines lives in Porto'. POST /v1/answer answers questions."


class BadCursorError(InvalidRequestError):
    """This cursor was not issued by memsvc."""

    code = "bad_cursor"
    hint = "Send next_cursor unchanged, or leave it out to start at the first page."


class CursorExpiredError(InvalidRequestError):
    """Events after this cursor may have been deleted."""

    code, status = "cursor_expired", 410
    hint = "Reload what you need, then continue with cursor=now. Events are kept for MEMSVC_KEEP_EVENTS_DAYS."


class SqlRefusedError(InvalidRequestError):
    """PostgreSQL refused the statement."""

    code = "sql_refused"
    hint = "docs/sql.md describes the views and the queries that work."


class CypherRefusedError(InvalidRequestError):
    """The Cypher query cannot be run."""

    code = "cypher_refused"
    hint = "docs/cypher.md describes the labels, the properties and the queries that work."


class CypherReadsOnlyError(InvalidRequestError):
    """Cypher queries can only read."""

    code = "cypher_reads_only"
    hint = "Change the graph with POST /v1/facts and POST /v1/nodes. Every such change is recorded and can be undone."


class CypherPathsOffError(InvalidRequestError):
    """Paths of variable length are switched off."""

    code = "cypher_paths_off"
    hint = "Use GET /v1/graph/neighbourhood or GET /v1/graph/paths, or write out each hop: (a)-[]->(b)."


class CypherTooSlowError(InvalidRequestError):
    """The Cypher query took too long."""

    code = "cypher_too_slow"
    hint = "Start at a node by its id, name labels and directions, and follow fewer hops."


class MessageConflictError(MemsvcError):
    """A message with this identity and a different text is already stored."""

    code, status, exit_code = "message_conflict", 409, 3
    hint = "Nothing was overwritten. Send a correction as a new message with its own identity."
    rows: Sequence[int] = ()
    """All rows of the batch that differ; the error itself speaks of the first one."""


class TurnConflictError(MemsvcError):
    """A turn with this id is already stored, with another request, call or answer."""

    code, status, exit_code = "turn_conflict", 409, 3
    hint = "Nothing was overwritten. Give each turn an id of its own; send a committed turn again only as it was."


class IdempotencyConflictError(MemsvcError):
    """This Idempotency-Key was sent with another request."""

    code, status, exit_code = "idempotency_conflict", 409, 3
    hint = "Use a new key for each request. Repeat a key only with the same body."


class AlreadyExistsError(MemsvcError):
    """Something with this name exists already."""

    code, status, exit_code = "already_exists", 409, 3
    hint = "Choose another name, or use the existing one."


class UserNotEmptyError(MemsvcError):
    """The user's memory is not empty."""

    code, status, exit_code = "user_not_empty", 409, 3
    hint = "Nothing was stored. Name a user that does not exist; the import creates it."


class ConfirmationInvalidError(MemsvcError):
    """The confirmation does not match what would be erased now."""

    code, status, exit_code = "confirmation_invalid", 409, 3
    hint = "Call again without one. The answer lists what would be erased and has a new one, valid for 10 minutes."


class NotFoundError(MemsvcError):
    """Nothing has this id."""

    code, status, exit_code = "not_found", 404, 3
    hint = "Check the id. Other users' data is reported as not found."


class DocumentUnknownError(NotFoundError):
    """No document has this id, path or identifier."""

    code = "document_unknown"
    hint = "'memsvc documents' lists the documents of a user."


class ConversationUnknownError(NotFoundError):
    """No conversation has this id or identifier."""

    code = "conversation_unknown"
    hint = "GET /v1/conversations lists the conversations of this user."


class NodeUnknownError(NotFoundError):
    """No node has this id or name."""

    code = "node_unknown"


class NodeAmbiguousError(MemsvcError):
    """Several nodes have this name."""

    code, status, exit_code = "node_ambiguous", 409, 3
    hint = "Use the id of the one you mean; candidates lists them. If they are the same, merge them."


class FactUnknownError(NotFoundError):
    """No fact or version has this id."""

    code = "fact_unknown"


class PassageUnknownError(NotFoundError):
    """No passage has this id."""

    code = "passage_unknown"


class MemoryUnknownError(NotFoundError):
    """No memory has this id."""

    code = "memory_unknown"
    hint = "Give an id as a context or a recall shows it (m:…, f:…, n:… or b:…), or a full id."


class MemoryPausedError(MemsvcError):
    """The user's memory is paused: no text is stored."""

    code, status, exit_code = "memory_paused", 409, 3
    hint = "Resume it first: DELETE /v1/me/pause, or 'memsvc user resume'."


class MemoryAmbiguousError(MemsvcError):
    """Several memories have this short id."""

    code, status, exit_code = "memory_ambiguous", 409, 3
    hint = "Give one of the full ids."


class BlockUnknownError(NotFoundError):
    """The profile has no block with this name."""

    code = "block_unknown"
    hint = "'memsvc profile show' and GET /v1/profile list the blocks. Also name the block's conversation or node."


class ProfileConflictError(MemsvcError):
    """The block is not at the expected version."""

    code, status, exit_code = "profile_conflict", 409, 3
    hint = "Read the block again and apply your change to its current text."


class ProfileFullError(MemsvcError):
    """The profile has no room for this text."""

    code, status, exit_code = "profile_full", 409, 3
    hint = "Shorten a block, demote one to archival, or forget one."


class RecallUnknownError(NotFoundError):
    """No recall has this id."""

    code = "recall_unknown"
    hint = "Recalls are recorded only if MEMSVC_RECORD_RECALLS is on, and kept for MEMSVC_KEEP_RECALLS_DAYS."


class ChangeUnknownError(NotFoundError):
    """No change has this id."""

    code = "change_unknown"


class ReviewUnknownError(NotFoundError):
    """No fact under review has this id."""

    code = "review_unknown"
    hint = "'memsvc review list' and GET /v1/reviews list them."


class ReviewDecidedError(MemsvcError):
    """A decision on this fact was already made."""

    code, status, exit_code = "review_decided", 409, 3
    hint = "Change the fact itself. 'memsvc review list --state all' shows the decisions."


class VersionSupersededError(MemsvcError):
    """This version was superseded or retracted."""

    code, status, exit_code = "version_superseded", 409, 3
    hint = "Read the current version and correct that one."


class ChangeBuiltUponError(MemsvcError):
    """A later change builds on this one."""

    code, status, exit_code = "change_built_upon", 409, 3
    hint = "Undo the later changes first, or assert the right fact."


class MergeCycleError(MemsvcError):
    """The merge would make a node represent itself."""

    code, status, exit_code = "merge_cycle", 409, 3
    hint = "The two nodes are already merged, perhaps in the other direction. To reverse it, unmerge them first."


class AlreadyMergedError(MemsvcError):
    """The node is already merged into another one."""

    code, status, exit_code = "already_merged", 409, 3
    hint = "Unmerge it first, or merge the node that represents it."


class JobStateError(MemsvcError):
    """The job's state does not allow this."""

    code, status, exit_code = "job_state", 409, 3
    hint = "Failed and cancelled jobs can be retried. Pending jobs can be cancelled."


class RereadingStateError(MemsvcError):
    """The re-reading's state does not allow this."""

    code, status, exit_code = "rereading_state", 409, 3
    hint = "'memsvc reread list' shows re-readings and their states."


class SleepBusyError(MemsvcError):
    """Another process is running this user's sleep tasks."""

    code, status, exit_code, passing = "sleep_busy", 409, 3, True
    hint = "Wait until it ends. 'memsvc sleep --runs' shows its progress."


class SleepUndoError(MemsvcError):
    """This run of sleep cannot be undone."""

    code, status, exit_code = "sleep_undo", 409, 3
    hint = "'memsvc sleep --runs' shows what the run did; 'memsvc changes' what is known since."


class ModelStateError(MemsvcError):
    """The embedding model's state does not allow this."""

    code, status, exit_code = "model_state", 409, 3
    hint = "'memsvc models' shows the models and their states."


class JobFailedError(MemsvcError):
    """A step of a job failed unexpectedly."""

    code, exit_code = "job_failed", 1
    hint = "See the worker's log. 'memsvc jobs retry' tries again."


class JobTimeoutError(JobFailedError):
    """A step of a job took too long and was stopped."""

    code = "job_timeout"


class PairUnknownError(MemsvcError):
    """These two nodes are not a recorded pair of possible duplicates."""

    code, status, exit_code = "pair_unknown", 404, 3
    hint = "GET /v1/duplicates lists the pairs. 'memsvc merge' merges any two nodes."


class PairDecidedError(MemsvcError):
    """A different decision on this pair was already made."""

    code, status, exit_code = "pair_decided", 409, 3
    hint = "A rejected pair stays rejected, but 'memsvc merge' can still merge the two. Split a pair that was merged."


class ProposalUnknownError(MemsvcError):
    """There is no proposal with this id."""

    code, status, exit_code = "proposal_unknown", 404, 3
    hint = "GET /v1/proposals and 'memsvc proposals list' list them."


class ProposalDecidedError(MemsvcError):
    """This proposal was decided otherwise."""

    code, status, exit_code = "proposal_decided", 409, 3
    hint = "What is rejected stays so. You can still write the link or the name yourself."


class NothingToSplitError(MemsvcError):
    """The node cannot be split by these sources."""

    code, status, exit_code = "nothing_to_split", 409, 3
    hint = "Name some, but not all, of the sources that mention it."
