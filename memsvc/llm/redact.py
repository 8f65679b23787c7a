"""Removes memsvc's own secrets from the answers of another server.

A chat server's error may quote the request: the Authorization header, or the key within it. The server may run on the
same machine, so its errors may also contain other secrets of that machine. All answers pass through this module before
clients receive them. An answer without secrets is unchanged, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Collection, Iterator
from urllib.parse import quote

REMOVED = b"[removed]"
ODD = "surrogateescape"
"""The error handler with which Python reads bytes of the environment that are not UTF-8."""
LEAST_CHARS = 16
"""Shorter secrets are not removed from successful answers: a key such as ``not-needed`` may also be a model's text."""
LEAST_CHARS_OF_ERRORS = 4
CREDENTIALS = re.compile(
    rb"\bmk_[0-9a-f]{16}\.[\w-]+|\bmt_[\w.-]{16,}|(?<=bearer )[\w.~+/=-]{16,}", re.ASCII | re.IGNORECASE
)
"""Matches a key or ticket of memsvc, or the credential in a quoted header; used only for errors."""


def _forms(secret: str) -> Iterator[bytes]:
    """The forms of a secret in a body: plain, in JSON, in JSON with escaped slashes, and in a URL."""
    in_json = json.dumps(secret)[1:-1]
    for form in (secret, in_json, in_json.replace("/", "\\/"), quote(secret, safe="", errors=ODD)):
        yield form.encode(errors=ODD)


class Redaction:
    """Knows the secrets of this process."""

    def __init__(self, secrets: Collection[str]) -> None:
        """Prepare for these secrets; empty and very short ones are ignored."""
        forms = {form for secret in secrets if len(secret) >= LEAST_CHARS_OF_ERRORS for form in _forms(secret)}
        long = {form for secret in secrets if len(secret) >= LEAST_CHARS for form in _forms(secret)}
        self._any, self._long = _any_of(forms), _any_of(long)
        self._begins = {form[:length] for form in long for length in range(1, len(form))}
        self._longest = max((len(form) for form in long), default=1) - 1

    def error(self, body: bytes) -> bytes:
        """A whole error without secrets and anything that looks like a credential."""
        return CREDENTIALS.sub(REMOVED, self._any.sub(REMOVED, body))

    def answer(self, text: bytes) -> bytes:
        """A whole answer without long secrets."""
        return self._long.sub(REMOVED, text)

    async def stream(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pieces of an answer without long secrets, including those split across pieces.

        The end of a piece is held back only if a secret may begin in it.
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
        """How many bytes at the end may be the start of a secret."""
        most = min(self._longest, len(text))
        return next((length for length in range(most, 0, -1) if text[len(text) - length :] in self._begins), 0)


def _any_of(forms: Collection[bytes]) -> re.Pattern[bytes]:
    """A pattern for any of these forms, the longest first; without forms it matches nothing."""
    return re.compile(b"|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or b"(?!)")
