"""All patterns that are asked of every clause."""

from __future__ import annotations

from memsvc.extract.offline import (
    animals,
    authorship,
    belonging,
    conditions,
    events,
    favourites,
    feelings,
    habits,
    homes,
    judgements,
    locations,
    losses,
    making,
    misreadings,
    people,
    possessions,
    preferences,
    trades,
    usage,
    whereabouts,
    wishes,
    work,
)
from memsvc.extract.offline.findings import Pattern

PATTERNS: tuple[Pattern, ...] = (
    people.read,
    work.read,
    trades.read,
    homes.read,
    whereabouts.read,
    locations.read,
    events.read,
    possessions.read,
    losses.read,
    animals.read,
    preferences.read,
    misreadings.read,
    favourites.read,
    habits.read,
    judgements.read,
    feelings.read,
    wishes.read,
    making.read,
    authorship.read,
    usage.read,
    belonging.read,
    conditions.read,
)
