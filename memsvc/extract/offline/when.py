"""Since when and until when a fact is so, by the times that its clause names."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.times import words
from memsvc.times.calendar import Calendar
from memsvc.times.reading import TimeWindow, read_times

FOR_SO_LONG = re.compile(
    r"\b(?:for|been|now|here|in)?\s*(?:about |around |almost |nearly |over |the (?:last|past) )?"
    r"(?P<count>a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\s+"
    r"(?P<unit>day|week|month|year|yr)s?(?P<now> now| already)?\b(?! (?:ago|old|before|later|in ))",
    re.IGNORECASE,
)
"""For two years now; 3 yrs now."""
MOMENTS = frozenset({"PARTICIPATED_IN", "LOCATED_AT", "CREATED", "FEELS"})
"""These happen at a time rather than hold from it on."""
STATES = frozenset({"LIKES", "DISLIKES", "WANTS"})
BEGINNING = (
    verbs.MOVE
    | verbs.BUY
    | verbs.BEGIN_WORK
    | verbs.WED
    | verbs.lemmas("meet, join, adopt, become, start, begin, hire, take up")
)


def span(clause: Clause, type_: str, change: Change) -> tuple[datetime | None, datetime | None]:
    """From when a fact holds, and the first moment at which it did not any more; None where the clause does not say."""
    text, now = clause.wide, clause.reading.now
    zone = now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")
    windows = read_times(text, now, zone).windows
    since: datetime | None = None
    until: datetime | None = None
    for window in windows[:2]:
        begin, end = bounds(window, text)
        if begin is not None and end is not None:
            if change == "ended":
                until = until or (begin if end > now else end if window.kind == "explicit" else begin)
            elif type_ in MOMENTS or clause.past or clause.means(BEGINNING) or begin > now:
                since = since or begin
                until = until or (end if type_ == "LOCATED_AT" and clause.lemma in {"be", "stay"} else None)
        elif begin is not None and change != "ended":
            since = since or begin
        elif end is not None:
            until = until or end
    if since is None and not windows and change != "ended" and type_ not in STATES | MOMENTS:
        since = long_since(text, clause, now, zone)
    if since is not None and until is not None and until <= since:
        until = None
    return since, until


def bounds(window: TimeWindow, text: str) -> tuple[datetime | None, datetime | None]:
    """The begin of "since March", the end of "until March", both of "in March"."""
    first = window.phrase.split(" ", 1)[0].lower()
    before = text[: text.find(window.phrase)].lower().split()[-1:] or [""]
    if first in words.SINCE | words.AFTER:
        return window.begin, None
    if first in words.UNTIL | words.BEFORE:
        return None, window.end
    if before[0] in {"since", "from"}:
        return window.begin, None
    if before[0] in {"until", "till", "til", "til'"}:
        return None, window.end
    return window.begin, window.end


def long_since(text: str, clause: Clause, now: datetime, zone: ZoneInfo) -> datetime | None:
    """When it began by "for two years now"."""
    match = FOR_SO_LONG.search(text)
    if match is None or clause.past:
        return None
    perfect = any(child.dep_ == "aux" and child.lemma_ == "have" for child in clause.verb.children)
    if not (perfect or match["now"]):
        return None
    count = int(match["count"]) if match["count"].isdecimal() else words.COUNTS[match["count"].lower()][0]
    unit = "year" if match["unit"].lower() == "yr" else match["unit"].lower()
    calendar = Calendar(now, zone)
    day = calendar.shifted(unit, calendar.today, -count) if unit != "day" else calendar.today - timedelta(count)
    return calendar.at(day)
