"""Errors of exports and backups: what is encrypted, damaged, or cannot be imported."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError
from memsvc.errors.requests import InvalidRequestError


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


class ImportInvalidError(InvalidRequestError):
    """The export cannot be imported."""

    code = "import_invalid"
    hint = "Nothing was stored. The message names file and line; see docs/export.md for the format."


class UserNotEmptyError(MemsvcError):
    """The user's memory is not empty."""

    code, status, exit_code = "user_not_empty", 409, 3
    hint = "Nothing was stored. Name a user that does not exist; the import creates it."
