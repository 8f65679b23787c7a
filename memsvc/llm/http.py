"""Shared code of clients of model servers. They use urllib, because each protocol is one POST."""

from __future__ import annotations

import urllib.request
from typing import Any


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: one would carry the key to another host."""

    def redirect_request(self, *_request: Any) -> None:
        """Follow no redirect."""
