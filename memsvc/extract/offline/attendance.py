"""Who studies, volunteers or is a member somewhere, rather than working there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import listed, naming

if TYPE_CHECKING:
    from spacy.tokens import Token

STUDY_PLACES = things.words("""
    school university uni college academy conservatory kindergarten nursery institute polytechnic preschool daycare
    playgroup
""")
STUDENTS = things.words("student pupil undergrad undergraduate freshman sophomore")
DEGREES = things.words("masters phd degree doctorate erasmus bachelors")
FOR_ALL = ("gym", "library")
"""Ends of names of places that people join, and train or study at, without working there."""


def frequents(clause: Clause, noun: Token) -> bool:
    """Whether somebody is a member or guest there, not on its staff: "I joined the gym", "trains with the club"."""
    place = noun.lower_.endswith(FOR_ALL) or listed(noun, things.GROUPS)
    return place and clause.means(
        verbs.lemmas("join, rejoin, train, study, practise, practice, register, enrol, enroll")
    )


def attendance(clause: Clause, noun: Token) -> str:
    """Whether somebody studies or volunteers there, which ends no job; else empty."""
    own = verb_taken_for_noun(noun)
    if own is not None:
        return "studies" if own.lemma_ == "study" else "volunteers" if own.lemma_ == "volunteer" else ""
    if clause.means(verbs.lemmas("volunteer")) or any(word.lemma_ == "volunteer" for word in clause.complements):
        return "volunteers"
    school = listed(naming(noun), STUDY_PLACES) and clause.means(verbs.lemmas("go, get into, get in, attend"))
    studying = clause.means(verbs.lemmas("study, matriculate, attend")) or (
        clause.means(verbs.lemmas("do, start, begin, finish, have, be, enrol, enroll"))
        and any(listed(word, STUDENTS | DEGREES) for word in (*clause.objects, *clause.complements))
    )
    return "studies" if school or studying else ""


def verb_taken_for_noun(noun: Token) -> Token | None:
    """The second verb, where the parser takes it for a noun: "work" in "I study at Keele and work at Lidl"."""
    verb = noun.head.nbor(-1) if noun.head.pos_ == "ADP" and noun.head.i > noun.sent.start else None
    if verb is None or verb.dep_ != "conj" or verb.pos_ != "NOUN" or verb.lemma_ not in verbs.WORK:
        return None
    return None if any(child.i < verb.i for child in verb.children) else verb
