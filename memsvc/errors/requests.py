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


class InvalidIntervalError(InvalidRequestError):
    """The time span ends before it begins."""

    code = "invalid_interval"
    hint = "A span includes its start and excludes its end. Leave out a bound that does not exist."


class InvalidPlaceError(InvalidRequestError):
    """The coordinates are not a place on Earth."""

    code = "invalid_place"
    hint = "Latitude is -90 to 90 and longitude -180 to 180, in degrees (WGS 84). The radius is in metres."


class InvalidSpanError(InvalidRequestError):
    """The span does not lie within the passage."""

    code = "invalid_span"
    hint = "Spans count characters from 0 and exclude the end. Leave them out for the whole passage."


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


class BadCursorError(InvalidRequestError):
    """This cursor was not issued by memsvc."""

    code = "bad_cursor"
    hint = "Send next_cursor unchanged, or leave it out to start at the first page."


class CursorExpiredError(InvalidRequestError):
    """Events after this cursor may have been deleted."""

    code, status = "cursor_expired", 410
    hint = "Reload what you need, then continue with cursor=now. Events are kept for MEMSVC_KEEP_EVENTS_DAYS."


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
