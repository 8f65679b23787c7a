"""How much one document may cost: checked before it is opened, while it is read, and by the system's own limits."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What reading one document may take, and how large its chunks are."""

    window_tokens: int = 240
    """Most tokens of a chunk, by the estimate of ``memsvc.text.tokens``; callers pass ``settings.chunk_tokens``."""
    seconds: float = 60.0
    """Longest time for a file; then the process that reads it is killed."""
    memory_bytes: int = 1 << 30
    """Address space of the process that reads."""
    file_bytes: int = 100_000_000
    """Largest file."""
    unpacked_bytes: int = 500_000_000
    """Most bytes of all members of a packed file (docx, pptx, xlsx, epub, odt) together."""
    members: int = 20_000
    """Most members of a packed file."""
    pages: int = 10_000
    """Most pages, slides, sheets or chapters."""
    chars: int = 20_000_000
    """Most characters of text."""
    output_bytes: int = 200_000_000
    """Largest answer of the process that reads."""
