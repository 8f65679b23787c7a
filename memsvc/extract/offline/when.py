"""Since when and until when a fact is so, by the times that its clause names (``moments`` reads them)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.eras import NUMBER, called, number
from memsvc.extract.offline.moments import SINCE, UNTIL, Moment
from memsvc.extract.offline.status import PAST_FRAME
from memsvc.extract.offline.ways import as_moved, perfect, times_of
from memsvc.times.calendar import MONTHS_A_YEAR, Calendar, months_from

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.tokens import Token

    from memsvc.extract.offline.reading import Reading

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
WHEN = frozenset({"when", "before", "after", "during", "while", "once", "since"})
"""With a clause or a noun these tell a time."""
WHEN_I_WAS = re.compile(
    rf"\bwhen I (?:was|turned) (?:only |just |about )?(?P<age>{NUMBER}|\d{{1,2}})\b(?! (?!years)\w)", re.IGNORECASE
)
BORN_IN = re.compile(r"\bI was born\b[^.!?;]{0,40}\b(?P<year>(?:19|20)\d\d)\b")
AGED = re.compile(rf"\bI(?: am|['’]m) (?:now )?(?P<age>{NUMBER}|\d{{1,3}})(?: years old)?(?= now|[.,;!?]| and\b|$)")
LONGEST, A_YEAR = timedelta(93), timedelta(366)
"""Of a time that is to come, and of one that is past, in which something happens as a whole."""


class Span(NamedTuple):
    """What a clause tells of when a fact holds."""

    since: datetime | None = None
    until: datetime | None = None
    """The first moment at which it did not hold any more."""
    about: str = ""
    """What to call its begin, where that is not meant to the day, month or year: "about 2004"."""
    earlier: bool = False
    """It began before it was said, at a time that was told and not understood."""

    @property
    def told(self) -> bool:
        """Whether a time was understood."""
        return self.since is not None or self.until is not None


def span(clause: Clause, type_: str, change: Change) -> Span:
    """From when a fact holds, and the first moment at which it did not any more; None where the clause does not say.

    Where the clause names no time and its sentence just one, that one counts.
    """
    tokens = wide(clause)
    sentence = clause.verb.sent
    found = read(clause, times(clause, tokens), words_of(tokens), type_, change)
    if not found.told and type_ not in STATES and clause.lemma != "bear" and len(sentence) <= RUN_ON:
        of_sentence = times(clause, sentence)
        if len(of_sentence) == 1 and not FOR_SO_LONG.search(words_of(tokens)):
            found = read(clause, of_sentence, words_of(sentence), type_, change)
    if not found.told:
        found = of_now(clause, type_, change)
        if found.until is None and unread(clause):
            found = at_age(clause, change) or Span(earlier=True)
    return of_its_day(clause, type_, found)


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
    """The times that some words name."""
    tokens = list(tokens)
    return times_of(clause, tokens, words_of(tokens), told_at(clause))


def read(clause: Clause, found: list[Moment], text: str, type_: str, change: Change) -> Span:
    """What times say of a fact."""
    now = told_at(clause)
    found = as_moved(clause, type_, text, found)
    since: Moment | None = None
    until: datetime | None = None
    for each in found:
        begin, end, before, _ = each
        if before == "between":
            first, last = spanned(clause, type_, text, each)
            since, until = since or first, until or last
        elif before in UNTIL or (change == "ended" and not clause.means(verbs.GROW) and not held(clause)):
            until = until or begin
        elif before in SINCE or (change == "ended" and clause.lemma == "bear"):
            since = since or each
        elif change == "ended":
            since, until = since or each, until or end
        elif type_ in MOMENTS or clause.past or clause.means(BEGINNING) or (begin > now and type_ not in STATES):
            since = since or each
            until = until or (end if brief(clause, type_, begin, end) else None)
    begun = since.begin if since is not None else None
    about = since.about if since is not None else ""
    if begun is None and not found and change != "ended" and type_ not in MOMENTS:
        begun, about = long_since(text, clause) if type_ not in STATES or clause.means(LASTING) else (None, "")
    elif begun is None and until is not None and type_ not in MOMENTS:
        begun, about = so_long_before(text, until)  # "thirty-one years at the library, until 2008"
    if begun is not None and until is not None and until <= begun:
        until = None
    return Span(begun, until, about)


def held(clause: Clause) -> bool:
    """Whether a clause tells of a state that was: the time that it names is when it held, not when it ended."""
    used_to = clause.verb.dep_ == "xcomp" and clause.verb.head.lemma_ == "use"
    return clause.means(HOLDING) and (clause.past or used_to)


def spanned(clause: Clause, type_: str, text: str, span: Moment) -> tuple[Moment, datetime | None]:
    """The begin and the end by a time with two ends; between them somebody moves once, and stays."""
    if clause.means(BEGINNING) and re.search(r"\bbetween\b", text):
        return span._replace(about=f"about {span.begin.year}"), None
    return span, span.end if type_ in MOMENTS else last_of(span.begin, span.end)


def last_of(begin: datetime, end: datetime) -> datetime:
    """Until when by "from 1848 until 1871": where the month or year that is named last begins, not where it ends."""
    if end.day != 1 or begin.day != 1:
        return end
    months = MONTHS_A_YEAR if begin.month == end.month == 1 else 1
    day = months_from(end.date(), -months)
    last = end.replace(year=day.year, month=day.month)
    return last if last > begin else end


def brief(clause: Clause, type_: str, begin: datetime, end: datetime) -> bool:
    """Whether what happens at a time is over with it: a concert is; a journey that begins that day is not."""
    past = end <= told_at(clause)
    longest = A_YEAR if past else LONGEST
    if type_ not in PASSING or clause.means(STARTING):
        return False
    if type_ == "PARTICIPATED_IN":
        return past or end - begin <= longest
    return (
        bool(clause.people)
        and end - begin <= longest
        and (clause.lemma in {"be", "stay"} or end - begin > timedelta(1))
    )


def of_now(clause: Clause, type_: str, change: Change) -> Span:
    """What is told as just begun, just over, or felt now is so since, or until, the day it is told.

    What goes on ("I'm writing a novel"), or is done by now ("I've moved"), began on a day that nobody told.
    """
    today = today_of(clause)
    present = not clause.past and not perfect(clause)
    cried = str(clause.verb.sent).rstrip().endswith("!") and not perfect(clause)
    fresh = bool(clause.adverbs & NOW) or cried
    planned = present and clause.verb.tag_ == "VBG" and not clause.adverbs & NOW
    begun = fresh and not planned and type_ not in STATES and clause.means(BEGINNING) and change != "ended"
    gone = type_ in PASSING and clause.past and clause.people and clause.means(OVER)
    if change == "ended" or gone:
        return Span(until=today) if gone or clause.adverbs & NOW else Span()
    return Span(since=today) if begun or (type_ == "FEELS" and present) else Span()


def of_its_day(clause: Clause, type_: str, found: Span) -> Span:
    """A mood holds the day on which it is told, or of which it is told; a journey the days that are named for it."""
    if found.until is not None or found.earlier:
        return found
    if type_ == "FEELS" and (found.since is not None or perfect(clause)):
        day = found.since or today_of(clause)
        if day > today_of(clause) and not clause.past and not clause.modal:  # "I'm excited about May"
            found, day = Span(since=today_of(clause)), today_of(clause)
        return found._replace(until=(day if clause.past else max(day, today_of(clause))) + timedelta(1))
    return found


def today_of(clause: Clause) -> datetime:
    """The beginning of the day on which it was said."""
    return told_at(clause).replace(hour=0, minute=0, second=0, microsecond=0)


def told_at(clause: Clause) -> datetime:
    """When it was said, on the clock of the place where it was said; where that is not known, on the owner's."""
    now, there = clause.reading.now, clause.reading.turn.said_at
    return there if there.utcoffset() and there.utcoffset() != now.utcoffset() else now


def zone_of(now: datetime) -> ZoneInfo:
    """The owner's zone."""
    return now.tzinfo if isinstance(now.tzinfo, ZoneInfo) else ZoneInfo("UTC")


def lasts(clause: Clause) -> bool:
    """Whether a clause in the perfect tells for how long it has been so: "we've lived here for a couple of years"."""
    so_long = any(noun.ent_type_ == "DATE" for noun in clause.at("for"))
    return perfect(clause) and not clause.past and so_long


def long_since(text: str, clause: Clause) -> tuple[datetime | None, str]:
    """When it began by "for two years now", and what to call that."""
    match = FOR_SO_LONG.search(text)
    fragment = clause.verb.pos_ not in {"VERB", "AUX"}
    if match is None or clause.past or not (perfect(clause) or fragment or match["now"]):
        return None, ""
    return earlier(told_at(clause), match) if perfect(clause) or match["now"] else (None, "")


def so_long_before(text: str, until: datetime) -> tuple[datetime | None, str]:
    """When it began that lasted so long until then, and what to call that."""
    match = FOR_SO_LONG.search(text)
    return earlier(until, match) if match is not None else (None, "")


def earlier(moment: datetime, match: re.Match[str]) -> tuple[datetime, str]:
    """The day so long before a moment, and what to call it."""
    unit = "year" if match["unit"].lower() == "yr" else match["unit"].lower()
    day = Calendar(moment, zone_of(moment)).shifted(unit, moment.date(), -number(match["count"].lower()))
    about = f"about {called(day, 'day' if unit == 'week' else unit)}" if unit != "day" else ""
    return datetime(day.year, day.month, day.day, tzinfo=moment.tzinfo), about


# --- times that are told and not understood -------------------------------------------------------------------------


def unread(clause: Clause) -> bool:
    """Whether a clause of the past tells when by something that was not read: "when I was ten", "after the war"."""
    if not (clause.past or perfect(clause)):
        return False
    if PAST_FRAME.search(str(clause.verb.sent)):
        return True
    for child in clause.verb.children:
        if child.dep_ == "advcl" and any(mark.lower_ in WHEN for mark in child.children):
            return True
        if child.dep_ == "prep" and child.lower_ in WHEN and any(noun.dep_ == "pobj" for noun in child.children):
            return True
    dated = any(token.ent_type_ == "DATE" and not token.like_num for token in clause.own)
    return dated and not FOR_SO_LONG.search(words_of(clause.own))


def at_age(clause: Clause, change: Change) -> Span | None:
    """The year of "when I was ten", where the speaker has told an age or a birth; else None."""
    match = WHEN_I_WAS.search(str(clause.verb.sent))
    born = born_about(clause.reading) if match is not None else None
    if match is None or born is None or change == "ended":
        return None
    year = born + number(match["age"])
    return Span(datetime(year, 1, 1, tzinfo=told_at(clause).tzinfo), about=f"about {year}")


def born_about(reading: Reading) -> int | None:
    """The year in which the speaker was born, by what the turns so far say."""
    for each in (reading, *reading.earlier):
        if each.heard or each.speaker != reading.speaker:
            continue
        told = BORN_IN.search(str(each.doc))
        if told is not None:
            return int(told["year"])
        aged = AGED.search(str(each.doc))
        if aged is not None:
            return each.now.year - number(aged["age"])
    return None
