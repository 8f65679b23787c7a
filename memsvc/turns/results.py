"""What is kept of a tool's result: its head, its tail, its size and its digest, however large it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from memsvc.text.secrets import mask
from memsvc.text.storable import UNSTORABLE

HEAD_CHARS, TAIL_CHARS = 1_500, 500
MARGIN = 4_000
"""Characters more that are looked at when a cut text is masked, so that no cut divides a secret."""
BINARY = "[binary]"
CONTROL = frozenset(range(32)) - {7, 8, 9, 10, 12, 13, 27}
"""Characters that texts of terminals do not have."""


@dataclass(frozen=True, slots=True)
class KeptResult:
    """What is kept of a result."""

    head: str
    """Its first 1,500 characters, masked; ``[binary]`` of what is no text."""
    tail: str
    """Its last 500 characters, masked; empty if the head has all."""
    size: int
    """Of all of it, in bytes of UTF-8."""
    sha256: str
    """Of all of it as it came, in hexadecimal digits."""


def keep_result(result: str | bytes, admit: Callable[[str], str] = str) -> KeptResult:
    """Return what is kept of a result: of 50 MB as of a line.

    Args:
        result: the result.
        admit: applies the owner's policy to what is kept, and may refuse it.
    """
    raw = result.encode("utf-8", "surrogatepass") if isinstance(result, str) else result
    digest = hashlib.sha256(raw).hexdigest()
    if isinstance(result, bytes):
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return KeptResult(BINARY, "", len(raw), digest)
    else:
        text = result
    if _is_binary(text):
        return KeptResult(BINARY, "", len(raw), digest)
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return KeptResult(admit(_kept(text)), "", len(raw), digest)
    head = admit(_kept(text[: HEAD_CHARS + MARGIN]))[:HEAD_CHARS]
    return KeptResult(head, admit(_kept(text[-TAIL_CHARS - MARGIN :]))[-TAIL_CHARS:], len(raw), digest)


def storable(text: str) -> str:
    """Return a text that PostgreSQL can store: NUL and lone surrogates become U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def _kept(text: str) -> str:
    return mask(storable(text))


def _is_binary(text: str) -> bool:
    """Say whether a text is none: a tenth of its first characters are control characters."""
    begin = text[:1_000]
    return sum(ord(one) in CONTROL or one == "\ufffd" for one in begin) * 10 > len(begin)
