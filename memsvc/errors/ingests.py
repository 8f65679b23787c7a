"""Errors about files and addresses that clients send to be stored."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError
from memsvc.errors.requests import BadFileError


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
