"""Errors of what a client sent: it has to change something."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError


class InvalidRequestError(MemsvcError):
    """The request does not have the expected form."""

    code, status, exit_code = "invalid_request", 400, 2
    hint = "Compare the request with the schema at /docs."


class InvalidTextError(InvalidRequestError):
    """The text cannot be stored."""

    code = "invalid_text"
    hint = "Send UTF-8 text without NUL characters and lone surrogates."


class EmptyTextError(InvalidRequestError):
    """The text is empty."""

    code = "empty_text"
    hint = "Send at least one visible character in text or caption."


class TextTooLongError(InvalidRequestError):
    """The text is longer than one message may be."""

    code, status = "text_too_long", 413
    hint = (
        "Send it in several messages, or start the service (or memsvc ingest) with a higher MEMSVC_MAX_TEXT_CHARS, in "
        "characters. By HTTP the whole request must also fit MEMSVC_MAX_BODY_BYTES."
    )


class BodyTooSlowError(InvalidRequestError):
    """The request's body did not arrive in time."""

    code, status = "body_too_slow", 408
    hint = "Send it at once, or in smaller parts; MEMSVC_BODY_TIMEOUT_S is the longest wait."


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
    """The file cannot be read as a conversation."""

    code = "bad_file"
    hint = "memsvc ingest reads chat JSONL and role/content exports; see docs/ingest.md."


class ImportInvalidError(InvalidRequestError):
    """The export cannot be imported."""

    code = "import_invalid"
    hint = "Nothing was stored. The message names file and line; see docs/export.md for the format."


class InvalidIntervalError(InvalidRequestError):
    """The time span ends before it begins."""

    code = "invalid_interval"
    hint = "A span goes from its begin up to, and without, its end; leave a bound out where there is none."


class InvalidPlaceError(InvalidRequestError):
    """There is no such place on Earth."""

    code = "invalid_place"
    hint = "Latitude -90 to 90, longitude -180 to 180, both in degrees (WGS 84); radius in metres."


class InvalidAliasError(InvalidRequestError):
    """The name is empty."""

    code = "invalid_alias"
    hint = "Send a name with at least one visible character, at most 200."


class InvalidSpanError(InvalidRequestError):
    """The passage has no such span."""

    code = "invalid_span"
    hint = "Spans count characters from 0, the end not included; leave them out for the whole passage."


class TokenizerUnknownError(InvalidRequestError):
    """There is no tokenizer of this name."""

    code = "tokenizer_unknown"
    hint = "Leave it out for an estimate, or install the package that brings it."


class BudgetTooSmallError(InvalidRequestError):
    """Not even an empty context block fits the budget."""

    code = "budget_too_small"
    hint = "Give more tokens; 1,500 are the default."


class TypeUnknownError(InvalidRequestError):
    """The ontology has no such type."""

    code = "type_unknown"
    hint = "'memsvc ontology' and GET /v1/ontology list the types; others can be proposed."


class TypeProposedError(MemsvcError):
    """The type is a proposal that waits for approval."""

    code, status, exit_code = "type_proposed", 409, 3
    hint = "Let a person approve it ('memsvc ontology approve'), or use a type of the core."


class TypeDeprecatedError(MemsvcError):
    """The type is deprecated: nothing new gets it."""

    code, status, exit_code = "type_deprecated", 409, 3
    hint = "Use another type, or approve it again."


class TypeStateError(MemsvcError):
    """The type's status does not allow that."""

    code, status, exit_code = "type_state", 409, 3
    hint = "Proposals are approved or rejected, approved types deprecated; 'memsvc ontology' shows them."


class EndpointForbiddenError(InvalidRequestError):
    """The ontology does not let this edge join these nodes."""

    code = "endpoint_forbidden"
    hint = "See from_types and to_types of the edge's type, or give the node another type first."


class RerankerMissingError(InvalidRequestError):
    """No reranker is configured."""

    code = "reranker_missing"
    hint = "Leave rerank out, or set MEMSVC_RERANKER; see docs/configuration.md."


class NotRecalledError(InvalidRequestError):
    """The memory was not in that recall."""

    code = "not_recalled"
    hint = "Send memory_id values of that answer's memories; nothing was counted."


class BatchUnsupportedError(InvalidRequestError):
    """Batches of JSON-RPC are not answered."""

    code = "batch_unsupported"
    hint = "Send each message in a request, or on a line, of its own."


class DryRunTooLongError(TextTooLongError):
    """The text is longer than one dry run may be."""

    code = "dry_run_too_long"
    hint = "Send less at once, or store it: what is stored is read in the background, however long it is."


class DryRunTooSlowError(InvalidRequestError):
    """The dry run took too long."""

    code = "dry_run_too_slow"
    hint = "Send less at once, or store it: what is stored is read in the background, however long that takes."


class BadCursorError(InvalidRequestError):
    """The cursor is not one of ours."""

    code = "bad_cursor"
    hint = "Send next_cursor as it came, or leave it out to begin at the first page."


class CursorExpiredError(InvalidRequestError):
    """What comes behind this cursor may be deleted by now."""

    code, status = "cursor_expired", 410
    hint = "Load what you need anew, and go on with cursor=now; events are kept for MEMSVC_KEEP_EVENTS_DAYS."


class SqlRefusedError(InvalidRequestError):
    """PostgreSQL refuses the statement."""

    code = "sql_refused"
    hint = "docs/sql.md shows the views and what can be asked of them."


class CypherRefusedError(InvalidRequestError):
    """The Cypher query cannot be run."""

    code = "cypher_refused"
    hint = "docs/cypher.md shows the labels, the properties and what can be asked of them."


class CypherReadsOnlyError(InvalidRequestError):
    """Cypher only reads here."""

    code = "cypher_reads_only"
    hint = "Change the graph with POST /v1/facts and POST /v1/nodes: every change is recorded and can be undone."


class CypherPathsOffError(InvalidRequestError):
    """Paths of variable length are off."""

    code = "cypher_paths_off"
    hint = "Walk with GET /v1/graph/neighbourhood, find ways with GET /v1/graph/paths, or write each hop: (a)-[]->(b)."


class CypherTooSlowError(InvalidRequestError):
    """The Cypher query took too long."""

    code = "cypher_too_slow"
    hint = "Begin at a node by its id, give labels and directions, and follow fewer hops."


class MessageConflictError(MemsvcError):
    """A message with this identity but another text is already stored."""

    code, status, exit_code = "message_conflict", 409, 3
    hint = "Nothing is overwritten: send a correction as a new message, with an identity of its own."


class IdempotencyConflictError(MemsvcError):
    """This Idempotency-Key was sent with another request."""

    code, status, exit_code = "idempotency_conflict", 409, 3
    hint = "Give each request a key of its own, and send it again with the same body only."


class AlreadyExistsError(MemsvcError):
    """Something with this name exists already."""

    code, status, exit_code = "already_exists", 409, 3
    hint = "Choose another name, or use what is there."


class UserNotEmptyError(MemsvcError):
    """The user remembers something already."""

    code, status, exit_code = "user_not_empty", 409, 3
    hint = "Nothing was stored. Name a user that does not exist: the import adds it."


class ConfirmationInvalidError(MemsvcError):
    """The confirmation does not fit what would be erased now."""

    code, status, exit_code = "confirmation_invalid", 409, 3
    hint = "Ask again without one: the answer shows what would go, and gives a new one for ten minutes."


class NotFoundError(MemsvcError):
    """There is nothing with this id."""

    code, status, exit_code = "not_found", 404, 3
    hint = "Check the id; what belongs to other users looks as if it did not exist."


class ConversationUnknownError(NotFoundError):
    """There is no conversation with this id or identifier."""

    code = "conversation_unknown"
    hint = "GET /v1/conversations lists the conversations of this user."


class NodeUnknownError(NotFoundError):
    """There is no node with this id or name."""

    code = "node_unknown"


class NodeAmbiguousError(MemsvcError):
    """Several nodes are called so."""

    code, status, exit_code = "node_ambiguous", 409, 3
    hint = "Name the one that is meant by its id; candidates lists them. If they are the same, merge them."


class FactUnknownError(NotFoundError):
    """There is no edge or version with this id."""

    code = "fact_unknown"


class PassageUnknownError(NotFoundError):
    """There is no passage with this id."""

    code = "passage_unknown"


class MemoryUnknownError(NotFoundError):
    """There is no memory with this id."""

    code = "memory_unknown"
    hint = "Give an id as a context or a recall shows it: m:…, f:…, n:… or b:…, or a whole id."


class MemoryAmbiguousError(MemsvcError):
    """Several memories have this short id."""

    code, status, exit_code = "memory_ambiguous", 409, 3
    hint = "Give one of the whole ids."


class BlockUnknownError(NotFoundError):
    """The profile has no block of this name."""

    code = "block_unknown"
    hint = "'memsvc profile show' and GET /v1/profile list the blocks; those of a conversation or node need its name."


class ProfileConflictError(MemsvcError):
    """The block is not at the version that was expected."""

    code, status, exit_code = "profile_conflict", 409, 3
    hint = "Read the block again, and make the change to what it says now."


class ProfileFullError(MemsvcError):
    """The profile has no room for this."""

    code, status, exit_code = "profile_full", 409, 3
    hint = "Shorten a block, demote one to archival, or forget one."


class RecallUnknownError(NotFoundError):
    """There is no recall with this id."""

    code = "recall_unknown"
    hint = "Recalls are kept for MEMSVC_KEEP_RECALLS_DAYS, and where MEMSVC_RECORD_RECALLS is on."


class ChangeUnknownError(NotFoundError):
    """There is no change with this id."""

    code = "change_unknown"


class ReviewUnknownError(NotFoundError):
    """There is no fact under review with this id."""

    code = "review_unknown"
    hint = "'memsvc review list' and GET /v1/reviews list them."


class ReviewDecidedError(MemsvcError):
    """The fact was decided upon already."""

    code, status, exit_code = "review_decided", 409, 3
    hint = "Change the fact itself: 'memsvc review list --state all' shows what was decided."


class VersionSupersededError(MemsvcError):
    """This version was superseded or taken back."""

    code, status, exit_code = "version_superseded", 409, 3
    hint = "Read what is known now, and correct that."


class ChangeBuiltUponError(MemsvcError):
    """A later change stands on this one."""

    code, status, exit_code = "change_built_upon", 409, 3
    hint = "Undo the later changes first, or assert what is right."


class MergeCycleError(MemsvcError):
    """A node would stand for itself."""

    code, status, exit_code = "merge_cycle", 409, 3
    hint = "The two are the same node already, or the other way round; unmerge first to turn it."


class AlreadyMergedError(MemsvcError):
    """The node is merged into another one."""

    code, status, exit_code = "already_merged", 409, 3
    hint = "Unmerge it first, or merge the node that stands for it."


class JobStateError(MemsvcError):
    """The job's state does not allow that."""

    code, status, exit_code = "job_state", 409, 3
    hint = "Failed and cancelled jobs can be retried, pending ones cancelled."


class SleepBusyError(MemsvcError):
    """Another process runs this user's tasks of sleep mode."""

    code, status, exit_code, passing = "sleep_busy", 409, 3, True
    hint = "Wait for it; 'memsvc sleep --runs' shows how far it is."


class ModelStateError(MemsvcError):
    """The embedding model's state does not allow that."""

    code, status, exit_code = "model_state", 409, 3
    hint = "'memsvc models' shows the models and their states."


class JobFailedError(MemsvcError):
    """A step of a job failed in a way that nobody foresaw."""

    code, exit_code = "job_failed", 1
    hint = "The worker's log has more; 'memsvc jobs retry' tries again."


class JobTimeoutError(JobFailedError):
    """A step of a job took too long and was broken off."""

    code = "job_timeout"


class PairUnknownError(MemsvcError):
    """No such pair of nodes was noted."""

    code, status, exit_code = "pair_unknown", 404, 3
    hint = "Pairs that may be the same are listed at /v1/duplicates; 'memsvc merge' makes any two nodes one."


class PairDecidedError(MemsvcError):
    """Somebody decided otherwise of this pair."""

    code, status, exit_code = "pair_decided", 409, 3
    hint = (
        "A rejected pair stays rejected; 'memsvc merge' makes the two one all the same. Split a pair that was merged."
    )


class NothingToSplitError(MemsvcError):
    """The node cannot be parted by these sources."""

    code, status, exit_code = "nothing_to_split", 409, 3
    hint = "Name some of the sources that speak of it, and not all of them."
