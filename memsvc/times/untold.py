"""Begins and ends of facts that nobody told: they count from the time at which the fact was said, and are marked so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

TIMES = "times"
"""Key of a fact's data: what to call its times where they are not what they look like. ``since``: "about 2004", "the
early 1990s", or "by 2026-11-20": it was so then, and nobody told since when; ``until``: "by 2026-11-20", it was over
then, and nobody told since when."""


Bound = Literal["since", "until"]


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


def span_in_words(begin: str | None, end: str | None, *, begin_untold: bool = False, end_untold: bool = False) -> str:
    """When a fact holds, for people: "since 2026-03-01", "known since 2026-03-01", "2019 to 2023", "until 2023".

    Args:
        begin: the begin as it is to be shown; None or empty: not known.
        end: the end as it is to be shown; None or empty: not known, or none.
        begin_untold: the begin is only the time at which the fact was said.
        end_untold: the end is only the time at which the fact was said to be over: "ended by 2023, day unknown".
    """
    if begin and end and not (begin_untold or end_untold):
        return f"{begin} to {end}"
    since = f"{'known since' if begin_untold else 'since'} {begin}" if begin else ""
    until = (f"ended by {end}, day unknown" if end_untold else f"until {end}") if end else ""
    return ", ".join(filter(None, (since, until)))


def told_begin(valid_from: datetime | None, data: Mapping[str, Any]) -> datetime | None:
    """A fact's begin; None where nobody told it, also where it counts from the time at which it was said."""
    return None if begin_is_untold(valid_from, data) else valid_from


def begin_is_untold(valid_from: datetime | None, data: Mapping[str, Any]) -> bool:
    """Whether a fact's begin is only the time at which it was said."""
    return is_untold(valid_from, _called(data, "since"))


def end_is_untold(valid_to: datetime | None, data: Mapping[str, Any]) -> bool:
    """Whether a fact's end is only the time at which it was said to be over."""
    return is_untold(valid_to, _called(data, "until"))


def marked(data: Mapping[str, Any], bound: Bound, moment: datetime) -> dict[str, Any]:
    """A fact's data with the mark that its begin or end is only the time at which it was said.

    Args:
        data: of the fact.
        bound: since or until.
        moment: the begin or the end.
    """
    times = data.get(TIMES)
    return {**data, TIMES: {**(times if isinstance(times, Mapping) else {}), bound: by(moment)}}


def unmarked(data: Mapping[str, Any], *bounds: Bound) -> dict[str, Any]:
    """A fact's data without what its begin (since) or its end (until) is called: it was told anew."""
    times = data.get(TIMES)
    if not isinstance(times, Mapping):
        return dict(data)
    left = {key: value for key, value in times.items() if key not in bounds}
    return {key: value for key, value in data.items() if key != TIMES} | ({TIMES: left} if left else {})


def _called(data: Mapping[str, Any], bound: str) -> str:
    """What a fact's data call its begin (``since``) or end (``until``); empty: they do not say."""
    times = data.get(TIMES)
    told = times.get(bound) if isinstance(times, Mapping) else None
    return told if isinstance(told, str) else ""
