"""What clients of model servers share: the standard library's urllib serves, for the protocols are one POST each."""

from __future__ import annotations

import urllib.request
from typing import Any


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host."""

    def redirect_request(self, *_request: Any) -> None:
        """Follow none."""
