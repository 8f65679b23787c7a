"""Errors about files and addresses that clients send to be stored."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError
from memsvc.errors.requests import BadFileError, InvalidRequestError, NotFoundError


class DocumentEncryptedError(BadFileError):
    """The document is protected by a password."""

    code = "document_encrypted"
    hint = "Nothing of it was stored. Open it in its own program, save it without a password, and send that copy."


class DocumentTooLargeError(BadFileError):
    """The document needs more time, memory or pages than the limits allow."""

    code, status = "document_too_large", 413
    hint = "Nothing of it was stored. Split it into smaller files, or raise the limit; see docs/documents.md."


class DocumentWithoutTextError(BadFileError):
    """The document has no text."""

    code = "document_without_text"
    hint = "Nothing was stored. Reading pictures is not built in: run text recognition (OCR) on a scan, and send that."


class OwnerRequiredError(InvalidRequestError):
    """Several people speak, and it is not known which of them is the owner of the memory."""

    code = "owner_required"
    hint = "Nothing was stored. Say which speaker you are with --me NAME, or --not-me if you are none of them."


class UrlRefusedError(BadFileError):
    """The service does not fetch this address."""

    code = "url_refused"
    hint = "Only public http and https addresses are fetched, if the operator allows it. Or send the file itself."


class UrlFailedError(BadFileError):
    """The address could not be fetched."""

    code = "url_failed"
    hint = "Nothing of it was stored. Try again later, or send the file itself."


class IngestStateError(MemsvcError):
    """The ingest's state does not allow this."""

    code, status, exit_code = "ingest_state", 409, 3
    hint = "GET /v1/ingests/{id} shows its state. Files that wait for an answer are kept for a day."


class IngestsFullError(MemsvcError):
    """Too much that this user sent still waits."""

    code, status, exit_code = "ingests_full", 429, 4
    hint = "Wait until it is stored, continue or delete what waits: GET /v1/ingests lists it."


class FeedUnknownError(NotFoundError):
    """There is no such feed."""

    code = "feed_unknown"
    hint = "GET /v1/feeds or 'memsvc feed list' shows all."


class FeedStateError(MemsvcError):
    """The feed's kind or state does not allow this."""

    code, status, exit_code = "feed_state", 409, 3
    hint = "GET /v1/feeds/{id} shows its kind and state."


class FeedRefusedError(MemsvcError):
    """Only the operator may add this feed."""

    code, status, exit_code = "feed_refused", 403, 4
    hint = "Ask the operator: 'memsvc feed add' may read any path and mailbox, MEMSVC_FEED_ROOTS allows folders."


class FolderMissingError(BadFileError):
    """The folder or file cannot be read."""

    code = "folder_missing"
    hint = "Nothing was changed. Is the disk mounted, and may the service read it?"


class MailboxFailedError(BadFileError):
    """The mail server cannot be reached, or answers with an error."""

    code = "mailbox_failed"
    hint = "Nothing is lost: the next run goes on where the last one ended."


class MailboxRefusedError(BadFileError):
    """The mail server refuses the login or the mailbox."""

    code = "mailbox_refused"
    hint = "Check user, password and mailbox; some servers want a password for apps."


class CalendarError(BadFileError):
    """The calendar cannot be read."""

    code = "calendar_invalid"
    hint = "Nothing of it was stored. It must be iCalendar (RFC 5545)."


class SignatureError(MemsvcError):
    """The signature is missing, wrong or too old."""

    code, status, exit_code = "signature_invalid", 401, 4
    hint = "Sign the time and the body with the feed's secret; see docs/feeds.md. The clock must be right to 5 minutes."
