"""All patterns that are asked of every clause."""

from __future__ import annotations

from memsvc.extract.offline import (
    belonging,
    conditions,
    events,
    feelings,
    making,
    people,
    places,
    possessions,
    preferences,
    usage,
    wishes,
    work,
)
from memsvc.extract.offline.findings import Pattern

PATTERNS: tuple[Pattern, ...] = (
    people.read,
    work.read,
    places.read,
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
