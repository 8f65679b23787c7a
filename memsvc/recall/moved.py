"""Which plans of an agenda a later message may have moved: "the vet appointment was moved to 8 December".

The same person must have said later, in a sentence with a word of change (``changes.txt``) that names another day, what
the plan is about; or something that changes it on its own day. Nothing is claimed by that: who reads the plan is told
which message to see. Telling words are compared without their endings, and in German compounds: a Tierarzttermin is a
Termin beim Tierarzt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from memsvc.recall.changes import LOOKED_AT, is_plain, may_have_moved, says_change
from memsvc.recall.sameness import asks_at_its_end
from memsvc.summaries.words import content_of
from memsvc.times.tense import sentences

MOST_LATER, MOST_OF_A_DAY = 50, 8
"""Messages with words of change that are compared, the latest; and of a plan's own day."""
LEAST_PART, ENDING, LEAST_BEGIN = 5, 3, 4
"""Letters of a part of a compound, of an ending, and of a beginning that two forms of a word share."""
_GENERIC = frozenset(
    (
        *("appointment", "appointments", "appt", "meeting", "date", "event", "plan", "time", "slot", "o'clock", "pm"),
        *("termin", "termine", "treffen", "verabredung", "besprechung", "uhr"),
    )
)
"""Words that many plans share."""
_EMPTY = frozenset(("beim", "vom", "ins", "ans", "wegen", "gegen", "er", "hat", "been", "because"))
"""Words that say nothing of what a plan is about."""
_OF_CHANGE = re.compile(
    r"(?:mov|chang|shift|postpon|reschedul|push|delay|defer|put$|brought$|forward|back$|now$|new$|instead|cancel|call(?:ed)?$"
    r"|rang$|wrote$|told$|ask(?:ed)?$|unfortunately|again|verschob|verschieb|verleg|vorverleg|vorgezog|änder|geänder|statt"
    r"|neu|jetzt|doch|leider|angerufen|rief|erst$|nun$|wieder|bereits|already|just$)"
)
"""Beginnings of words that say that something is otherwise, and nothing of what it is."""
_TIME = re.compile(r"\d.*")


class Told(NamedTuple):
    """A plan of a message."""

    passage_id: UUID
    speaker: str
    said_at: datetime
    text: str
    words: str
    """Those of the message that name the time."""
    day: date


class _Change(NamedTuple):
    """A message that may have moved plans to another day."""

    told: Told
    about: frozenset[str]
    """Telling words of what it moved."""


def later_messages(plans: Sequence[Told], all_told: Iterable[Told]) -> dict[int, UUID]:
    """The messages that may have changed plans.

    Args:
        plans: the plans that are shown.
        all_told: all plans that were read, also of other days.

    Returns:
        A plan's place among ``plans`` -> the passage of the latest such message.
    """
    told = sorted(all_told, key=lambda one: one.said_at, reverse=True)
    changes = list(islice(_changes(told), MOST_LATER))
    on_days = _of_days(told)
    found: dict[int, UUID] = {}
    unsure: dict[UUID, list[int]] = {}
    read = [frozenset(content_of(plan.text[:LOOKED_AT])) for plan in plans]
    forms = _forms({word for change in changes for word in change.about}, frozenset().union(*read))
    for place, plan in enumerate(plans):
        same_day = islice(on_days.get((plan.speaker, plan.day), ()), MOST_OF_A_DAY)
        later = [one for one in same_day if one.said_at > plan.said_at and may_have_moved(plan.text, one.text)]
        for change in changes:
            other = change.told
            if other.said_at <= plan.said_at or other.speaker != plan.speaker or other.day == plan.day:
                continue
            sure = _is_about(change.about, read[place], forms)
            if sure:
                later.append(other)
            elif sure is None:
                unsure.setdefault(other.passage_id, []).append(place)
        if later:
            found[place] = max(later, key=lambda one: one.said_at).passage_id
    for passage_id, places in unsure.items():
        if len(places) == 1:  # "my appointment was moved", and there is one
            found.setdefault(places[0], passage_id)
    return found


def _of_days(told: Sequence[Told]) -> dict[tuple[str, date], list[Told]]:
    """Messages with a word of change, by who said them and the day that they speak of; the latest first."""
    found: dict[tuple[str, date], list[Told]] = {}
    for one in told:
        if says_change(one.text[:LOOKED_AT].casefold()):
            found.setdefault((one.speaker, one.day), []).append(one)
    return found


def _changes(told: Sequence[Told]) -> Iterator[_Change]:
    for one in told:
        for sentence in sentences(one.text[:LOOKED_AT]):
            small = " ".join(sentence.casefold().split())
            at = small.find(one.words.casefold())
            if at < 0 or asks_at_its_end(sentence) or not says_change(small):
                continue
            about = _telling(small[:at]) or _telling(small)
            if about:
                yield _Change(one, about)
            break


def _telling(small: str) -> frozenset[str]:
    """The words of a sentence that tell what it is about."""
    words = set(content_of(small)) - _EMPTY
    return frozenset(word for word in words if not (_OF_CHANGE.match(word) or _TIME.fullmatch(word) or is_plain(word)))


def _forms(words: set[str], said: frozenset[str]) -> dict[str, frozenset[str]]:
    """Words -> those of all plans that are the same in another form."""
    return {word: frozenset(other for other in said if _same(word, other)) for word in words}


def _is_about(about: frozenset[str], said: frozenset[str], forms: Mapping[str, frozenset[str]]) -> bool | None:
    """Whether what was moved is what an earlier message speaks of; None: it may be, by words that many plans share."""
    matched = {word for word in about if not forms[word].isdisjoint(said)}
    special = {word for word in matched - _GENERIC if not (forms[word] - _GENERIC).isdisjoint(said)}
    missing = about - matched
    if special:
        return len(special) > len(missing - _GENERIC)
    return None if matched and not missing and matched <= _GENERIC else False


def _same(word: str, other: str) -> bool:
    """Whether two words are forms of one, or one is a part of the other: "tierarzttermin", "tierarzt"."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if len(short) >= LEAST_PART and short in long:
        return True
    begin = max(LEAST_BEGIN, len(short) - ENDING)
    return len(short) >= LEAST_PART and short[:begin] == long[:begin] and len(long) - len(short) <= ENDING
