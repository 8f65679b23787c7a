"""Which way the times of a clause look that have no year or week of their own: back, or to what is to come.

The tense of the verb that a time stands with decides, but not alone: "the dentist moved it to 4 December" looks ahead,
"tickets for the concert on 4 December" may, "we set off on 4 June" is present or past, and "on 18 December they build
gauges", said on 30 December, is about the day that was.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.moments import Moment, moments
from memsvc.times import words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from spacy.tokens import Token

    from memsvc.extract.offline.clauses import Clause

BOOKING = verbs.lemmas("enter, sign up, register, book, reserve, enrol, enroll, invite, schedule, arrange")
"""In the past or perfect, these are about what is still to come."""
GETTING = verbs.lemmas("get, buy, receive, win, make, send, sell, order, accept")
TELLING = verbs.lemmas("""
    tell, say, mention, announce, hear, learn, plan, ask, discuss, prepare, talk, think, decide, forget, remember,
    write, call, look, train, save, need, want, see, find, read, know
""")
"""These may be about what is still to come."""
PROMISES = things.words("""
    ticket invitation invite appointment table seat slot reservation booking date place room notice
""")
"""What somebody got is for a day that may be still to come."""
ANNOUNCED = things.EVENTS | things.WEAK_EVENTS | PROMISES
GOT = re.compile(r"(?:^|[.!?;:])\W*got\b", re.IGNORECASE)
"""Without a subject, as a sentence begins."""
MOVED = verbs.lemmas("""
    move, shift, postpone, reschedule, push, delay, defer, rearrange, change, switch, swap, put, set, hold, bring, pull
""")
FORWARD = re.compile(r"\b(?:off|back|forward|up)\b", re.IGNORECASE)
"""With one of these, "put", "set", "hold", "bring" and "pull" mean that something is at another time from now on."""
WITH_A_WORD = frozenset({"put", "set", "hold", "bring", "pull"})
MOVED_TO = frozenset({"to", "between"})
UNTIL = re.compile(r"\b(?:until|till|til)\b", re.IGNORECASE)
SAME_FORMS = frozenset({"set", "shut", "let"})
"""Their past looks like their present."""
SINGULAR = frozenset({"he", "she", "it", "this", "that"})
OF_EACH_YEAR = re.compile(r"\b(?:birthdays?|anniversar\w+|every|each|always|usually|yearly|annual\w*)\b", re.IGNORECASE)
_DATE = rf"(?:{words.any_of(words.MONTHS)})"
DATED = re.compile(rf"\d(?:st|nd|rd|th)?(?: of)? {_DATE}\b|\b{_DATE} (?:the )?\d", re.IGNORECASE)
JUST_PAST, LONG_AWAY, LEAST_BACK = timedelta(31), timedelta(300), timedelta(120)
"""A present statement is about the day that is past where it is so near, and the next one so far; a past tense that may
be none is about the next one where the last is so long ago, and twice as far as the next one."""


def times_of(clause: Clause, tokens: Sequence[Token], text: str, now: datetime) -> list[Moment]:
    """The times that some words of a clause name, read with the tense of the verb that they stand with.

    Args:
        clause: the clause.
        tokens: its words, or those of its sentence.
        text: the same as a text.
        now: when it was said.
    """
    verb = verb_of_times(tokens) or clause.verb
    ahead = not (clause.past or perfect(clause)) or has_got(clause) if verb == clause.verb else not over(verb)
    if moves(clause, text):  # "until 4 December" is that day, not the one on which it is over
        text = UNTIL.sub("to", text)
    coming = moments(text, now, ahead=True)
    if clause.means(BOOKING) or is_moved(clause, text, coming):
        return coming
    last = moments(text, now, ahead=False)
    if len(last) != len(coming) or DATED.search(text) is None:
        return coming if ahead else last
    if not ahead:
        near = may_be_ahead(clause, verb, tokens)
        return [
            next_ if near and is_nearer(next_, past, now) else past for next_, past in zip(coming, last, strict=True)
        ]
    if not is_present(verb) or OF_EACH_YEAR.search(text):
        return coming
    return [past if was_just(next_, past, now) else next_ for next_, past in zip(coming, last, strict=True)]


def moves(clause: Clause, text: str) -> bool:
    """Whether a clause tells that something is at another time from now on, and not that somebody moved house."""
    if clause.lemma == "move" and not (clause.objects or clause.passive):
        return any(noun.lemma_.lower() in ANNOUNCED for noun in clause.subjects)
    return clause.lemma in MOVED and (clause.lemma not in WITH_A_WORD or FORWARD.search(text) is not None)


def is_moved(clause: Clause, text: str, found: Sequence[Moment]) -> bool:
    """Whether a clause says that something was moved to one of these times."""
    return any(one.before in MOVED_TO for one in found) and moves(clause, text)


def as_moved(clause: Clause, type_: str, text: str, found: list[Moment]) -> list[Moment]:
    """Times to which something was moved are when it is: "until" is no end, and of "4 to 9 December" the 9th."""
    if type_ == "LIVES_IN" or not is_moved(clause, text, found):
        return found
    begins = [one.end - timedelta(1) if one.before == "between" else one.begin for one in found]
    return [one._replace(begin=begin, before="") for one, begin in zip(found, begins, strict=True)]


def may_be_ahead(clause: Clause, verb: Token, tokens: Sequence[Token]) -> bool:
    """Whether a time may be still to come though its verb looks like the past."""
    if verb.lower_ in SAME_FORMS and not any(child.dep_ in {"aux", "auxpass"} for child in verb.children):
        subjects = [child for child in verb.children if child.dep_ == "nsubj"]
        several = any(child.dep_ == "conj" for one in subjects for child in one.children)
        if several or any(one.lower_ not in SINGULAR and one.tag_ in {"PRP", "NNS", "NNPS"} for one in subjects):
            return True
    if clause.means(GETTING) and any(noun.lemma_.lower() in ANNOUNCED for noun in clause.objects):
        return True
    if not clause.means(GETTING | TELLING):
        return False
    first = first_time(tokens)
    above = [] if first is None else list(first.ancestors)
    below = above[: next((at for at, token in enumerate(above) if token.pos_ in {"VERB", "AUX"}), len(above))]
    return any(token.lemma_.lower() in ANNOUNCED for token in below)


def is_nearer(coming: Moment, last: Moment, now: datetime) -> bool:
    """Whether the next such time is much nearer than the last."""
    back = now - last.begin
    return back >= LEAST_BACK and 2 * (coming.begin - now) <= back


def was_just(coming: Moment, last: Moment, now: datetime) -> bool:
    """Whether a day has just been, and comes again in a year only."""
    return last.end - last.begin == timedelta(1) and now - last.begin <= JUST_PAST and coming.begin - now >= LONG_AWAY


def is_present(verb: Token) -> bool:
    """Whether a verb states something in the present, and has no helper that speaks of what will be."""
    helpers = [child for child in verb.children if child.dep_ in {"aux", "auxpass"}]
    return verb.tag_ in {"VBP", "VBZ"} and not any(helper.tag_ == "MD" for helper in helpers)


def has_got(clause: Clause) -> bool:
    """Whether somebody has what is told, in short: "got an interview on Friday"; of "I got a bike" it is the past."""
    in_short = clause.verb.lower_ == "got" and GOT.search(clause.words) is not None
    return in_short and any(noun.lemma_.lower() in things.EVENTS for noun in clause.objects)


def first_time(tokens: Sequence[Token]) -> Token | None:
    """The first word of a time among some words."""
    return next((token for token in tokens if token.ent_type_ == "DATE"), None)


def verb_of_times(tokens: Sequence[Token]) -> Token | None:
    """The verb with which the first time among some words stands."""
    first = first_time(tokens)
    return next((token for token in first.ancestors if token.pos_ in {"VERB", "AUX"}), None) if first else None


def over(verb: Token) -> bool:
    """Whether a verb speaks of the past."""
    helped = any(child.dep_ == "aux" and child.lower_ in {"have", "has", "had", "'ve"} for child in verb.children)
    return (verb.tag_ == "VBD" or helped) and not (helped and verb.lower_ == "got")


def perfect(clause: Clause) -> bool:
    """Whether the clause is in the perfect; "I've got" is not."""
    if clause.lemma == "get" and clause.verb.lower_ == "got":
        return False
    return any(child.dep_ == "aux" and child.lemma_ == "have" for child in clause.verb.children)
