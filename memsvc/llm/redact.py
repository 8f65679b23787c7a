"""Takes memsvc's own secrets out of what another server answers.

A chat server may quote what it was sent in an error: the Authorization header, or the key within it. Its operator may
be ours, so other secrets of the same machine can get into its errors too. What is passed on to clients goes through
here first. An answer without secrets in it stays as it is, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Collection, Iterator
from urllib.parse import quote

REMOVED = b"[removed]"
ODD = "surrogateescape"
"""How the environment gives bytes that are no UTF-8."""
LEAST_CHARS = 16
"""Shorter secrets are left in answers that are no errors: ``not-needed``, as a key, may also be what a model says."""
LEAST_CHARS_OF_ERRORS = 4
CREDENTIALS = re.compile(
    rb"\bmk_[0-9a-f]{16}\.[\w-]+|\bmt_[\w.-]{16,}|(?<=bearer )[\w.~+/=-]{16,}", re.ASCII | re.IGNORECASE
)
"""What looks like a key or ticket of memsvc, or like the credential of a quoted header; looked for in errors alone."""


def _forms(secret: str) -> Iterator[bytes]:
    """A secret as it may stand in a body: plain, in JSON, in JSON with escaped slashes, and in a URL."""
    in_json = json.dumps(secret)[1:-1]
    for form in (secret, in_json, in_json.replace("/", "\\/"), quote(secret, safe="", errors=ODD)):
        yield form.encode(errors=ODD)


class Redaction:
    """Knows the secrets of this process."""

    def __init__(self, secrets: Collection[str]) -> None:
        """Prepare for these secrets; the empty ones among them count for nothing."""
        forms = {form for secret in secrets if len(secret) >= LEAST_CHARS_OF_ERRORS for form in _forms(secret)}
        long = {form for secret in secrets if len(secret) >= LEAST_CHARS for form in _forms(secret)}
        self._any, self._long = _any_of(forms), _any_of(long)
        self._begins = {form[:length] for form in long for length in range(1, len(form))}
        self._longest = max((len(form) for form in long), default=1) - 1

    def error(self, body: bytes) -> bytes:
        """A whole error without secrets and whatever looks like a credential."""
        return CREDENTIALS.sub(REMOVED, self._any.sub(REMOVED, body))

    def answer(self, text: bytes) -> bytes:
        """A whole answer without long secrets."""
        return self._long.sub(REMOVED, text)

    async def stream(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pieces of an answer without long secrets, also where one lies across pieces.

        The end of a piece is held back only where a secret may begin in it.
        """
        held = b""
        async for piece in pieces:
            text = self.answer(held + piece)
            kept = self._begun(text)
            held = text[len(text) - kept :]
            if kept < len(text):
                yield text[: len(text) - kept]
        if held:
            yield held

    def _begun(self, text: bytes) -> int:
        """How many bytes at the end may be the begin of a secret."""
        most = min(self._longest, len(text))
        return next((length for length in range(most, 0, -1) if text[len(text) - length :] in self._begins), 0)


def _any_of(forms: Collection[bytes]) -> re.Pattern[bytes]:
    """Finds any of these, the longest first; nothing where there are none."""
    return re.compile(b"|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or b"(?!)")
