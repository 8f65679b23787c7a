"""All patterns that are asked of every clause."""

from __future__ import annotations

from memsvc.extract.offline import (
    belonging,
    conditions,
    events,
    feelings,
    homes,
    making,
    people,
    places,
    possessions,
    preferences,
    standing,
    trades,
    usage,
    wishes,
    work,
)
from memsvc.extract.offline.findings import Pattern

PATTERNS: tuple[Pattern, ...] = (
    people.read,
    work.read,
    trades.read,
    homes.read,
    places.read,
    standing.read,
    events.read,
    possessions.read,
    preferences.read,
    feelings.read,
    wishes.read,
    making.read,
    usage.read,
    belonging.read,
    conditions.read,
)
