"""Since when and until when a fact is so, by the times that its clause names (``moments`` reads them)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.moments import SINCE, UNTIL, Moment, moments
from memsvc.times import words
from memsvc.times.calendar import Calendar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.tokens import Token

FOR_SO_LONG = re.compile(
    r"(?:about |around |almost |nearly |over |the (?:last|past) )?"
    r"\b(?P<count>a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\s+"
    r"(?P<unit>day|week|month|year|yr)s?\b(?P<now> now| already)?(?! (?:ago|old|before|later|in|from) )"
    r"(?! (?:ago|old|before|later)\b)",
    re.IGNORECASE,
)
"""For two years now; 3 yrs now."""
MOMENTS = frozenset({"PARTICIPATED_IN", "LOCATED_AT", "CREATED", "FEELS"})
"""These happen at a time rather than hold from it on."""
PASSING = frozenset({"PARTICIPATED_IN", "LOCATED_AT"})
"""And are over when it is."""
STATES = frozenset({"LIKES", "DISLIKES", "WANTS", "KNOWS"})
BEGINNING = (
    verbs.MOVE
    | verbs.BUY
    | verbs.BEGIN_WORK
    | verbs.WED
    | verbs.lemmas("""
    meet, join, adopt, become, start, begin, hire, take up, sign, arrive, come, switch, get, launch, transfer, open,
    found, set up, marry, bear, enrol, enroll, retire, register
""")
)
STARTING = verbs.lemmas("start, begin, enrol, enroll, sign up, register, join, commence, apply, book, plan")
"""What begins at a time need not be over with it."""
HOLDING = verbs.LIVE | verbs.WORK | verbs.lemmas("be, have, own, date, see, rent, play, attend, use, run, keep")
"""Said in the past with a time, these held at that time."""
NOW = things.words("just now finally today officially")
LONGEST = timedelta(93)

Span = tuple[datetime | None, datetime | None]


def span(clause: Clause, type_: str, change: Change) -> Span:
    """From when a fact holds, and the first moment at which it did not any more; None where the clause does not say.

    Where the clause names no time and its sentence just one, that one counts.
    """
    tokens = wide(clause)
    found = read(clause, times(clause, tokens), words_of(tokens), type_, change)
    if found == (None, None) and type_ not in STATES:
        sentence = list(clause.verb.sent)
        of_sentence = times(clause, sentence)
        if len(of_sentence) == 1 and not FOR_SO_LONG.search(words_of(tokens)):
            found = read(clause, of_sentence, words_of(sentence), type_, change)
    return found if found != (None, None) else of_now(clause, type_, change)


def wide(clause: Clause) -> list[Token]:
    """The words of a clause and of those around it that it completes."""
    tokens = list(clause.own)
    while clause.verb.dep_ in {"xcomp", "pcomp"} and clause.parent and clause.parent is not clause:
        clause = clause.parent
        tokens += clause.own
    return sorted(tokens, key=lambda token: token.i)


def words_of(tokens: Iterable[Token]) -> str:
    """The text of some words, persons' names left out: "June" may be one."""
    return " ".join("_" if token.ent_type_ == "PERSON" else token.text for token in tokens)


def times(clause: Clause, tokens: Iterable[Token]) -> list[Moment]:
    """The times that some words name, read with the clause's tense."""
    return moments(words_of(tokens), clause.reading.now, ahead=not clause.past and not perfect(clause))


def read(clause: Clause, found: list[Moment], text: str, type_: str, change: Change) -> Span:
    """What times say of a fact."""
    now = clause.reading.now
    since: datetime | None = None
    until: datetime | None = None
    for begin, end, before in found:
        if before == "between":
            since, until = since or begin, until or end
        elif before in UNTIL or (change == "ended" and not (clause.past and clause.means(HOLDING))):
            until = until or begin
        elif before in SINCE:
            since = since or begin
        elif change == "ended":
            since, until = since or begin, until or end
        elif type_ in MOMENTS or clause.past or clause.means(BEGINNING) or begin > now:
            since = since or begin
            brief = type_ in PASSING and end - begin <= LONGEST and not clause.means(STARTING)
            until = until or (end if brief and clause.people else None)
    if since is None and not found and change != "ended" and type_ not in STATES | MOMENTS:
        since = long_since(text, clause)
    if since is not None and until is not None and until <= since:
        until = None
    return since, until


def of_now(clause: Clause, type_: str, change: Change) -> Span:
    """What is told as just begun, just over, or felt now is so since, or until, the day it is told."""
    now = clause.reading.now
    today = Calendar(now, zone_of(now)).at(now.date())
    feeling = type_ == "FEELS" and not clause.past and not perfect(clause)
    fresh = bool(clause.adverbs & NOW) and type_ not in STATES
    if change == "ended":
        return (None, today) if fresh else (None, None)
    return (today, None) if feeling or (fresh and clause.means(BEGINNING)) else (None, None)


def zone_of(now: datetime) -> ZoneInfo:
    """The owner's zone."""
    return now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")


def perfect(clause: Clause) -> bool:
    """Whether the clause is in the perfect."""
    return any(child.dep_ == "aux" and child.lemma_ == "have" for child in clause.verb.children)


def long_since(text: str, clause: Clause) -> datetime | None:
    """When it began by "for two years now"."""
    match = FOR_SO_LONG.search(text)
    if match is None or clause.past or not (perfect(clause) or match["now"]):
        return None
    now = clause.reading.now
    count = int(match["count"]) if match["count"].isdecimal() else words.COUNTS[match["count"].lower()][0]
    unit = "year" if match["unit"].lower() == "yr" else match["unit"].lower()
    calendar = Calendar(now, zone_of(now))
    day = calendar.today - timedelta(count) if unit == "day" else calendar.shifted(unit, calendar.today, -count)
    return calendar.at(day)
