"""Begins and ends of facts that nobody told: they count from the time at which the fact was said, and are marked so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

TIMES = "times"
"""Key of a fact's data: what to call its times where they are not what they look like. ``since``: "about 2004", "the
early 1990s", or "by 2026-11-20": it was so then, and nobody told since when; ``until``: "by 2026-11-20", it was over
then, and nobody told since when."""


def by(moment: datetime) -> str:
    """What a begin or end is called that is only the time at which it was said: "by 2026-11-20", a day of UTC."""
    return f"by {moment.astimezone(UTC):%Y-%m-%d}"


def is_untold(moment: datetime | None, told: str) -> bool:
    """Whether a fact's begin or end is only the time at which it was said.

    Where somebody has changed it by hand, it is another moment than the one that it is called by, so it was told.

    Args:
        moment: the begin or the end; None: not known at all.
        told: what its data call it.
    """
    return moment is not None and told == by(moment)


def told_begin(valid_from: datetime | None, data: Mapping[str, Any]) -> datetime | None:
    """A fact's begin; None where nobody told it, also where it counts from the time at which it was said."""
    times = data.get(TIMES)
    told = times.get("since") if isinstance(times, Mapping) else None
    return None if isinstance(told, str) and is_untold(valid_from, told) else valid_from
