"""Which periods get a summary, and what each rests on. Pure: sittings in, periods out.

A sitting is a part of a conversation without a long pause. A period of a longer level is told only where it has at
least two parts, so that each level tells less than the one below. Parts are the nearest periods below that have a
summary, and sittings that are too short to have one.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

Level = Literal["conversation", "day", "week", "month", "year"]
LEVELS: tuple[Level, ...] = get_args(Level)
DAY = timedelta(1)
PAUSE = timedelta(minutes=30)
"""A longer one ends a sitting."""
CONTENT_WORDS = 4
"""A message that carries content has so many words at least."""
LEAST_TOLD = 3
"""Messages with content by somebody other than the assistant, below which a sitting has nothing to say."""
MOST_MESSAGES, MOST_WORDS = 30, 400
"""Messages, and words by others than assistants, of a sitting that one summary tells; a longer one is told in parts."""
BUDGETS: dict[Level, int] = {"conversation": 150, "day": 120, "week": 120, "month": 100, "year": 100}
"""Words that a summary has at most: less for each day, the longer the period."""
VERSION = "1"
"""Of the rules; with another one everything is told anew."""


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a conversation without a long pause, or a part of a long one."""

    source_id: UUID
    session: str
    first_ordinal: int
    last_ordinal: int
    first_at: datetime
    last_at: datetime
    recorded_at: datetime
    """When its newest message was stored."""
    told: int
    """Messages with content by somebody other than the assistant."""
    messages: int
    words: int
    digest: str


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary is about: a sitting, or a day, week, month or year on the user's clock."""

    level: Level
    key: str
    """Tells it from the user's other periods, whatever is said in it later."""
    begin: datetime
    end: datetime
    """Of a sitting the time of its last message; else the first moment after the period."""
    last_at: datetime
    """When the last message in it was said."""
    recorded_at: datetime
    """When its newest message was stored."""
    messages: int
    digest: str
    """Of all that it rests on."""
    parts: tuple[Period, ...] = ()
    """Periods of lower levels; none: it rests on messages."""
    sitting: Sitting | None = None
    short: bool = False
    """A sitting too short to have a summary, which only stands in the parts of others."""

    @property
    def label(self) -> str:
        """What the node is called; nothing that anybody wrote."""
        first = f"{self.begin.day} {self.begin:%B %Y}"
        match self.level:
            case "conversation":
                return f"Summary of {first}, {self.begin:%H:%M}"
            case "day":
                return f"Summary of {first}"
            case "week":
                return f"Summary of the week of {first}"
            case "month":
                return f"Summary of {self.begin:%B %Y}"
            case _:
                return f"Summary of {self.begin:%Y}"


def periods(sittings: Sequence[Sitting], zone: ZoneInfo, now: datetime) -> list[Period]:
    """Return all periods that should have a summary, shorter levels first, each level in the order of time.

    Args:
        sittings: all of a user's, in the order of time.
        zone: the user's; days begin at midnight there.
        now: what is not over by then has no summary yet.
    """
    maker = _Maker(zone, now)
    days: dict[date, list[Period]] = defaultdict(list)
    for one in sittings:
        if one.last_at + PAUSE <= now:
            days[one.first_at.astimezone(zone).date()].append(maker.of_sitting(one))
    told = [one for parts in days.values() for one in parts if not one.short]
    for day, parts in sorted(days.items()):
        made = maker.longer("day", parts, day, day + DAY) if len(parts) > 1 else None
        if made is not None:
            days[day] = [made]
            told.append(made)
    weeks, months = _grouped(days, _week), _grouped(days, _month)
    for first, within in weeks.items():
        parts = [part for day in within for part in days[day]]
        made = maker.longer("week", parts, first, first + 7 * DAY) if len(within) > 1 else None
        told += [made] if made is not None else []
    years: dict[date, list[list[Period]]] = defaultdict(list)
    for first, within in months.items():
        parts = [part for day in within for part in days[day]]
        several = len({_week(day) for day in within}) > 1
        made = maker.longer("month", parts, first, (first + 32 * DAY).replace(day=1)) if several else None
        told += [made] if made is not None else []
        years[first.replace(month=1)].append([made] if made is not None else parts)
    for first, parted in years.items():
        parts = [part for parts in parted for part in parts]
        made = maker.longer("year", parts, first, first.replace(year=first.year + 1)) if len(parted) > 1 else None
        told += [made] if made is not None else []
    return sorted(told, key=lambda one: LEVELS.index(one.level))


def _week(day: date) -> date:
    return day - timedelta(day.weekday())


def _month(day: date) -> date:
    return day.replace(day=1)


def _grouped(days: Iterable[date], first: Callable[[date], date]) -> dict[date, list[date]]:
    groups: dict[date, list[date]] = defaultdict(list)
    for day in sorted(days):
        groups[first(day)].append(day)
    return groups


@dataclass(frozen=True, slots=True)
class _Maker:
    zone: ZoneInfo
    now: datetime

    def of_sitting(self, one: Sitting) -> Period:
        """The period of a sitting."""
        return Period(
            level="conversation",
            key=f"conversation {one.source_id} {one.session} {one.first_ordinal}",
            begin=one.first_at.astimezone(self.zone), end=one.last_at.astimezone(self.zone), last_at=one.last_at,
            recorded_at=one.recorded_at, messages=one.messages, digest=self._digest([one.digest]), sitting=one,
            short=one.told < LEAST_TOLD,
        )  # fmt: skip

    def longer(self, level: Level, parts: Sequence[Period], first: date, after: date) -> Period | None:
        """A longer period; None: it is not over, or too little was said in it."""
        begin, end = (datetime.combine(day, time(), self.zone) for day in (first, after))
        told = sum(one.sitting.told if one.sitting is not None else LEAST_TOLD for one in parts)
        if end > self.now or told < LEAST_TOLD:
            return None
        return Period(
            level=level, key=f"{level} {first.isoformat()}", begin=begin, end=end,
            last_at=max(one.last_at for one in parts), recorded_at=max(one.recorded_at for one in parts),
            messages=sum(one.messages for one in parts), digest=self._digest([one.digest for one in parts]),
            parts=tuple(parts),
        )  # fmt: skip

    @staticmethod
    def _digest(parts: Sequence[str]) -> str:
        return hashlib.sha256(" ".join([VERSION, *parts]).encode()).hexdigest()[:32]
