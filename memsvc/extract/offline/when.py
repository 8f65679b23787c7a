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
from memsvc.times.calendar import Calendar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.tokens import Token

SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES, _UP_TO_19 = "|".join(SMALL[:9]), "|".join(reversed(SMALL))
NUMBER = rf"(?:(?:{'|'.join(TENS)})(?:(?: ?- ?| )(?:{_ONES}))?|{_UP_TO_19})"
FOR_SO_LONG = re.compile(
    r"(?:about |around |almost |nearly |over |the (?:last|past) )?"
    rf"\b(?P<count>a|an|{NUMBER}|\d{{1,2}})\s+"
    r"(?:whole |full |long |happy )?(?P<unit>day|week|month|year|yr)s?\b"
    r"(?P<now> now| already)?(?! (?:ago|old|before|later|from now)\b)",
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
BOOKING = verbs.lemmas("enter, sign up, register, book, reserve, enrol, enroll, invite, schedule, arrange")
"""In the past or perfect, these are about what is still to come."""
LASTING = verbs.lemmas("know, date, see, be")
HOLDING = verbs.LIVE | verbs.WORK | verbs.lemmas("be, have, own, date, see, rent, play, attend, use, run, keep")
"""Said in the past with a time, these held at that time."""
OVER = verbs.lemmas("""
    be, stay, go, visit, spend, attend, have, do, run, race, win, lose, pass, fail, finish, see, watch, celebrate,
    travel, meet, eat, walk, hike, swim, play, perform, camp, study, work, teach, sing, tour, explore, drive, fly
""")
"""In the past, these are over where they were done."""
NOW = things.words("just now finally today officially")
RUN_ON = 80
"""Words of a sentence beyond which its times may belong to anything."""
LONGEST, A_YEAR = timedelta(93), timedelta(366)
"""Of a time that is to come, and of one that is past, in which something happens as a whole."""

Span = tuple[datetime | None, datetime | None]


def span(clause: Clause, type_: str, change: Change) -> Span:
    """From when a fact holds, and the first moment at which it did not any more; None where the clause does not say.

    Where the clause names no time and its sentence just one, that one counts.
    """
    tokens = wide(clause)
    found = read(clause, times(clause, tokens), words_of(tokens), type_, change)
    sentence = clause.verb.sent
    if found == (None, None) and type_ not in STATES and len(sentence) <= RUN_ON:
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
    """The times that some words name, read with the tense of the verb that they stand with."""
    tokens = list(tokens)
    verb = verb_of_times(tokens) or clause.verb
    ahead = not (clause.past or perfect(clause)) if verb == clause.verb else not over(verb)
    return moments(words_of(tokens), told_at(clause), ahead=ahead or clause.means(BOOKING))


def verb_of_times(tokens: list[Token]) -> Token | None:
    """The verb with which the first time among some words stands."""
    first = next((token for token in tokens if token.ent_type_ == "DATE"), None)
    return next((token for token in first.ancestors if token.pos_ in {"VERB", "AUX"}), None) if first else None


def over(verb: Token) -> bool:
    """Whether a verb speaks of the past."""
    helped = any(child.dep_ == "aux" and child.lower_ in {"have", "has", "had", "'ve"} for child in verb.children)
    return (verb.tag_ == "VBD" or helped) and not (helped and verb.lower_ == "got")


def read(clause: Clause, found: list[Moment], text: str, type_: str, change: Change) -> Span:
    """What times say of a fact."""
    now = told_at(clause)
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
            until = until or (end if brief(clause, type_, begin, end) else None)
    if since is None and not found and change != "ended" and type_ not in MOMENTS:
        since = long_since(text, clause) if type_ not in STATES or clause.means(LASTING) else None
    elif since is None and until is not None and type_ not in MOMENTS:
        since = so_long_before(text, until)  # "thirty-one years at the library, until 2008"
    if since is not None and until is not None and until <= since:
        until = None
    return since, until


def brief(clause: Clause, type_: str, begin: datetime, end: datetime) -> bool:
    """Whether what happens at a time is over with it: a concert is; a journey that begins that day is not."""
    longest = A_YEAR if end <= told_at(clause) else LONGEST
    if type_ not in PASSING or end - begin > longest or clause.means(STARTING) or not clause.people:
        return False
    staying = clause.lemma in {"be", "stay"} or (clause.past and end - begin > timedelta(1))
    return type_ == "PARTICIPATED_IN" or staying


def of_now(clause: Clause, type_: str, change: Change) -> Span:
    """What is told as just begun, just over, or felt now is so since, or until, the day it is told."""
    today = told_at(clause).replace(hour=0, minute=0, second=0, microsecond=0)
    present = not clause.past and not perfect(clause)
    going_on = present and clause.verb.tag_ == "VBG" and (type_ == "CREATED" or clause.means(verbs.MOVE))
    fresh = bool(clause.adverbs & NOW) or perfect(clause) or str(clause.verb.sent).rstrip().endswith("!")
    begun = fresh and type_ not in STATES and clause.means(BEGINNING) and change != "ended"
    gone = type_ in PASSING and clause.past and clause.people and clause.means(OVER)
    if change == "ended" or gone:
        return (None, today) if gone or clause.adverbs & NOW else (None, None)
    return (today, None) if going_on or begun or (type_ == "FEELS" and present) else (None, None)


def told_at(clause: Clause) -> datetime:
    """When it was said, on the clock of the place where it was said; where that is not known, on the owner's."""
    now, there = clause.reading.now, clause.reading.turn.said_at
    return there if there.utcoffset() and there.utcoffset() != now.utcoffset() else now


def zone_of(now: datetime) -> ZoneInfo:
    """The owner's zone."""
    return now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")


def perfect(clause: Clause) -> bool:
    """Whether the clause is in the perfect; "I've got" is not."""
    if clause.lemma == "get" and clause.verb.lower_ == "got":
        return False
    return any(child.dep_ == "aux" and child.lemma_ == "have" for child in clause.verb.children)


def long_since(text: str, clause: Clause) -> datetime | None:
    """When it began by "for two years now"."""
    match = FOR_SO_LONG.search(text)
    fragment = clause.verb.pos_ not in {"VERB", "AUX"}
    if match is None or clause.past or not (perfect(clause) or fragment or match["now"]):
        return None
    return earlier(told_at(clause), match) if perfect(clause) or match["now"] else None


def so_long_before(text: str, until: datetime) -> datetime | None:
    """When it began that lasted so long until then."""
    match = FOR_SO_LONG.search(text)
    return earlier(until - timedelta(1), match) if match is not None else None


def earlier(moment: datetime, match: re.Match[str]) -> datetime:
    """The day so long before a moment."""
    unit = "year" if match["unit"].lower() == "yr" else match["unit"].lower()
    day = Calendar(moment, zone_of(moment)).shifted(unit, moment.date(), -number(match["count"].lower()))
    return datetime(day.year, day.month, day.day, tzinfo=moment.tzinfo)


def number(written: str) -> int:
    """How many: "3", "a", "forty-four"."""
    if written.isdecimal():
        return int(written)
    tens, _, ones = re.sub(r"[ -]+", "-", written).partition("-")
    if tens in TENS:
        return 10 * (TENS.index(tens) + 2) + (SMALL.index(ones) + 1 if ones else 0)
    return SMALL.index(tens) + 1 if tens in SMALL else 1
