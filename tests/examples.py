"""How many examples property tests try.

Each run draws other examples: a half of them in ``make test``, and CI a fifth more on the full server.
``MEMSVC_TEST_EXAMPLES=1 make test`` tries all in one run, and 10 ten times as many.
"""

from __future__ import annotations

import os

SHARE = float(os.environ.get("MEMSVC_TEST_EXAMPLES", "0.5"))


def some_of(whole: int) -> int:
    """This run's share of so many examples."""
    return max(1, round(whole * SHARE))
