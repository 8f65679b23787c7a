"""The page at ``/docs``: one file that shows the OpenAPI document and loads nothing from outside.

The usual pages load their scripts from a CDN, which many memsvc servers cannot reach.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

PAGE = Path(__file__).with_name("docs.html").read_text(encoding="utf-8")


def _hash(element: str) -> str:
    """The hash of the inline script or style for Content-Security-Policy; the browser refuses everything else."""
    found = re.search(rf"<{element}>(.*?)</{element}>", PAGE, re.DOTALL)
    body = found[1] if found else ""
    return f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"


CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src {_hash('script')}; style-src {_hash('style')}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
