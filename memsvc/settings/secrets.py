"""Secrets: generated once and kept in a private file, or where the operator keeps them."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from memsvc.errors import ConfigurationError

SECRET_NAMES = ("identity_secret", "app_password", "reader_password", "cypher_password", "analyst_password")


def passwords_in(address: str) -> list[str]:
    """Return the passwords in a URL, both percent-encoded as written and decoded."""
    try:
        parts = urlsplit(address)
        found = [parts.password or "", *(value for key, value in parse_qsl(parts.query) if "password" in key)]
    except ValueError:
        return []
    return [form for password in found for form in (password, unquote(password))]


def read_or_make_secrets(path: Path) -> dict[str, str]:
    """Read the generated secrets and first generate missing ones; safe when two processes start at the same time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            draft = _secrets_draft(path, {})
            try:
                os.link(draft, path)  # fails if another process was faster; then its secrets are used
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        with path.open() as file:
            stored: dict[str, str] = json.load(file)
            if not stored.keys() >= set(SECRET_NAMES):  # written by an older version
                fcntl.flock(file, fcntl.LOCK_EX)
                _secrets_draft(path, json.loads(path.read_text())).replace(path)
                stored = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"The secrets in {path} cannot be read: {error.__class__.__name__}.",
            hint="Set MEMSVC_DATA_DIR to a folder that you can write to, or give the secrets by variable.",
        ) from error
    return stored


def _secrets_draft(path: Path, known: Mapping[str, str]) -> Path:
    """Write a private file next to ``path`` with the known secrets and new ones for the rest."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({**{name: secrets.token_urlsafe(32) for name in SECRET_NAMES}, **known}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    return draft


def secret_at(reference: str) -> str:
    """Return a secret by where the operator keeps it: ``env:NAME`` or ``file:PATH``, without the line's end.

    Raises:
        ConfigurationError: there is none; names the place.
    """
    place, _, name = reference.partition(":")
    found: str | None = None
    if place == "env":
        found = os.environ.get(name)
    elif place == "file":
        with suppress(OSError, UnicodeError):
            found = Path(name).read_text(encoding="utf-8").rstrip("\r\n")
    if not found:
        raise ConfigurationError(f"There is no secret at {reference}.", hint="Set the variable, or write the file.")
    return found
