"""The built files of the web page, read once: their bytes, compressed where that helps, and their headers.

``make web`` writes them to ``memsvc/web/dist`` from ``web/``; they are committed, because a machine that runs memsvc
needs no npm. Names in ``assets/`` contain a hash of the content, so browsers may keep these files for ever.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DIST = Path(__file__).resolve().parents[1] / "web" / "dist"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
FOR_EVER, CHECKED = "public, max-age=31536000, immutable", "no-cache"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types memsvc-worker"
)
"""The one trusted type makes the address of the worker that arranges the graph, and no other (web/src/graph)."""
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page."""

    body: bytes
    packed: bytes
    """The body as gzip."""
    media_type: str
    cached: str
    """The value of Cache-Control."""

    def answer(self, encodings: str) -> tuple[bytes, dict[str, str]]:
        """Return the body and headers for a browser that accepts these encodings."""
        headers = {**HEADERS, "Cache-Control": self.cached}
        if "gzip" not in encodings or len(self.packed) >= len(self.body):
            return self.body, headers
        return self.packed, {**headers, "Content-Encoding": "gzip"}


@cache
def page_files() -> dict[str, PageFile]:
    """Return the files by name: ``index.html`` and those of ``assets/``."""
    return {path.name: _read(path) for path in (DIST / "index.html", *sorted((DIST / "assets").iterdir()))}


def _read(path: Path) -> PageFile:
    body = path.read_bytes()
    cached = FOR_EVER if path.parent.name == "assets" else CHECKED
    return PageFile(body, gzip.compress(body, 9, mtime=0), TYPES[path.suffix], cached)
