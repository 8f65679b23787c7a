"""Since when and until when a fact is so, by the times that its clause names.

``memsvc.times`` reads the times, as of a question about the past. What is said of the future ("in October", "on
Thursday", "on the 15th") is moved on to its next time here, by the tense of the clause.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.times import words
from memsvc.times.calendar import DAYS_A_WEEK, MONTHS_A_YEAR, Calendar, months_from
from memsvc.times.reading import TimeWindow, read_times

FOR_SO_LONG = re.compile(
    r"(?:about |around |almost |nearly |over |the (?:last|past) )?"
    r"\b(?P<count>a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\s+"
    r"(?P<unit>day|week|month|year|yr)s?\b(?P<now> now| already)?(?! (?:ago|old|before|later|in ))",
    re.IGNORECASE,
)
"""For two years now; 3 yrs now."""
DAY_OF_MONTH = re.compile(
    r"\b(?:the )?(?P<day>[1-3]?\d)(?:st|nd|rd|th)\b(?! (?:of|birthday|floor|time|grade|year|week))", re.IGNORECASE
)
"""On the 15th, til the 2nd: a day of this month or one beside it."""
FIXED = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:ago|last|past|this|next|yesterday|today|tonight|tomorrow|recently|since)\b", re.IGNORECASE
)
"""A time that says by itself whether it is past."""
FROM, TO = {"since", "from", "after", "starting"}, {"until", "till", "til", "by", "before"}
MOMENTS = frozenset({"PARTICIPATED_IN", "LOCATED_AT", "CREATED", "FEELS"})
"""These happen at a time rather than hold from it on."""
STATES = frozenset({"LIKES", "DISLIKES", "WANTS", "KNOWS"})
BEGINNING = (
    verbs.MOVE
    | verbs.BUY
    | verbs.BEGIN_WORK
    | verbs.WED
    | verbs.lemmas("""
    meet, join, adopt, become, start, begin, hire, take up, sign, arrive, come, switch, get, launch, transfer
""")
)

Span = tuple[datetime | None, datetime | None]


def span(clause: Clause, type_: str, change: Change) -> Span:
    """From when a fact holds, and the first moment at which it did not any more; None where the clause does not say.

    Where the clause names no time and its sentence just one, that one counts.
    """
    found = read(clause, clause.wide, type_, change)
    if found == (None, None) and type_ not in STATES:
        sentence = str(clause.verb.sent)
        if len(times(clause, sentence)) == 1 and not FOR_SO_LONG.search(clause.wide):
            found = read(clause, sentence, type_, change)
    return found


def times(clause: Clause, text: str) -> list[tuple[datetime, datetime, str, str]]:
    """The times in a text: begin, end, their words, and the word before them."""
    now = clause.reading.now
    zone = now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")
    ahead = not clause.past and not perfect(clause)
    found = []
    for window in read_times(text, now, zone).windows[:2]:
        begin, end = moved_on(window, now, zone) if ahead else middle(window)
        found.append((begin, end, window.phrase, word_before(text, window.phrase)))
    if not found:
        for match in DAY_OF_MONTH.finditer(text):
            day = day_near(int(match["day"]), Calendar(now, zone).today, ahead=ahead)
            if day is not None:
                calendar = Calendar(now, zone)
                found.append((calendar.at(day), calendar.at(day + timedelta(1)), match[0], word_before(text, match[0])))
    return found


def read(clause: Clause, text: str, type_: str, change: Change) -> Span:
    """What the times of a text say of a fact."""
    now = clause.reading.now
    since: datetime | None = None
    until: datetime | None = None
    found = times(clause, text)
    for begin, end, phrase, before in found:
        first = phrase.split(" ", 1)[0].lower()
        if first in words.UNTIL | words.BEFORE or before in TO:
            until = until or (end if first in words.UNTIL | words.BEFORE else begin)
        elif change == "ended":
            until = until or begin
        elif first in words.SINCE | words.AFTER or before in FROM:
            since = since or begin
        elif type_ in MOMENTS or clause.past or clause.means(BEGINNING) or begin > now:
            since = since or begin
            staying = type_ == "LOCATED_AT" and clause.lemma in {"be", "stay"}
            until = until or (end if staying else None)
    if since is None and not found and change != "ended" and type_ not in STATES | MOMENTS:
        since = long_since(text, clause)
    if since is not None and until is not None and until <= since:
        until = None
    return since, until


def perfect(clause: Clause) -> bool:
    """Whether the clause is in the perfect."""
    return any(child.dep_ == "aux" and child.lemma_ == "have" for child in clause.verb.children)


def word_before(text: str, phrase: str) -> str:
    """The word in front of a phrase, articles left out."""
    before = [
        word for word in text[: max(text.find(phrase), 0)].lower().split() if word not in {"the", "about", "around"}
    ]
    return before[-1].strip(",.;:") if before else ""


def middle(window: TimeWindow) -> tuple[datetime, datetime]:
    """A window; of "two weeks ago", which is meant to be about then, the day in its middle."""
    if window.phrase.lower().endswith("ago") and window.end - window.begin > timedelta(1):
        half = window.begin + (window.end - window.begin) / 2
        day = half.replace(hour=0, minute=0, second=0, microsecond=0)
        return (
            (day, day + timedelta(1)) if window.end - window.begin <= timedelta(2 * DAYS_A_WEEK) else (half, window.end)
        )
    return window.begin, window.end


def moved_on(window: TimeWindow, now: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The next such time, where "in October" or "on Thursday" is said of what is to come."""
    if window.end > now or FIXED.search(window.phrase):
        return middle(window)
    calendar = Calendar(now, zone)
    if any(re.search(rf"\b{name}\b", window.phrase.lower()) for name in words.WEEKDAYS):
        days = timedelta(DAYS_A_WEEK)
        return calendar.at((window.begin + days).date()), calendar.at((window.end + days).date())
    begin, end = (months_from(moment.date(), MONTHS_A_YEAR) for moment in (window.begin, window.end))
    return calendar.at(begin), calendar.at(end)


def day_near(day: int, today: date, *, ahead: bool) -> date | None:
    """The last, or the next, day of a month that has this number."""
    for months in (0, 1, 2) if ahead else (0, -1, -2):
        try:
            found = months_from(today.replace(day=1), months).replace(day=day)
        except ValueError:
            continue
        if (found >= today) if ahead else (found <= today):
            return found
    return None


def long_since(text: str, clause: Clause) -> datetime | None:
    """When it began by "for two years now"."""
    match = FOR_SO_LONG.search(text)
    if match is None or clause.past or not (perfect(clause) or match["now"]):
        return None
    now = clause.reading.now
    zone = now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")
    count = int(match["count"]) if match["count"].isdecimal() else words.COUNTS[match["count"].lower()][0]
    unit = "year" if match["unit"].lower() == "yr" else match["unit"].lower()
    calendar = Calendar(now, zone)
    day = calendar.today - timedelta(count) if unit == "day" else calendar.shifted(unit, calendar.today, -count)
    return calendar.at(day)
