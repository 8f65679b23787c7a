"""What people take part in: trips, courses, races, parties, exams, appointments; had, or planned for sure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    DOUBTFUL,
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    kind,
    listed,
    named,
    owner,
    owning,
    thing,
    told,
)
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

PREPS = ("to", "in", "at", "for", "on", "from", "with", "into", "during", "through", "after", "of")
PLAIN = things.words("next last first good great long new big little final hour minute day short quick")
SURE_VERBS = verbs.lemmas("""
    attend, participate, take part, compete, sign up, enrol, enroll, register, run, finish, complete, pass, fail, win,
    lose, host, celebrate, graduate, join, take, do, go, perform, race, book, undergo, survive, organise, organize,
    sit
""")
COMPETING = verbs.lemmas("""
    compete, play, run, be, participate, take part, win, lose, race, fight, appear, perform, sing, dance, star, enter,
    swim, ride, row, come, finish, place, march, walk, represent, speak, present, bowl, box, skate, act
""")
"""What one does "in" an event."""
GOING = verbs.TRAVEL | verbs.lemmas("attend, be, join, host, throw, celebrate, speak, sing, perform, play, dance, dj")
NO_EVENTS = things.TIMES - things.words("christmas weekend")
NO_GAMES = things.words("computer video board card drinking phone online mobile")
MANY = things.words("finals championship championship exam lesson class nuptial")
SERVING = things.words("bridesmaid groomsman usher witness godmother godfather matron")
NOT_OWNED = things.words(
    "journey home date part place break practice play show talk service band choir session game market test"
)
PRESENTING = verbs.lemmas("give, present, speak, talk, perform, play, exhibit, do, dj, sing, read, keynote, volunteer")
TALKS = things.words(
    "talk paper poster lecture keynote workshop set gig speech demo reading session panel presentation"
)
TREKKING = verbs.lemmas("do, walk, run, hike, finish, complete, race, swim, cycle, ride, row")
CANCEL = verbs.lemmas("cancel, call off, scrap, axe, postpone, flop, collapse, ditch")
FEASTS = things.words("christmas easter eid diwali halloween thanksgiving")
HAS = verbs.lemmas("have, get")
OUTCOMES = things.words("well badly great fine ok okay brilliantly smoothly terribly horribly")
ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
LIFE_EVENTS = {"graduate": "graduation", "elope": "wedding", "operate": "operation", "christen": "christening",
               "baptise": "baptism", "baptize": "baptism"}  # fmt: skip


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about events in a clause."""
    if clause.status is not Status.SO or called_off(clause) or clause.modal in {"can", "ca", "could", "should", "may"}:
        return
    for noun in nouns_of(clause):
        yield from by_verb(clause, noun)
    yield from scheduled(clause)
    yield from went(clause)
    yield from owned(clause)
    yield from announced(clause)
    yield from dated(clause)
    yield from verbal(clause)
    yield from serves(clause)
    yield from by_name(clause)


def called_off(clause: Clause) -> bool:
    """Whether a clause says that something does not take place: it is off, was cancelled, fell through."""
    if clause.lemma == "be":
        if clause.on_verb("to"):  # "off to a good start"
            return False
        return clause.adverb == "off" and any(token.pos_ != "PRON" for token in clause.subjects) and not clause.people
    failed = clause.lemma == "fall" and "through" in {child.lower_ for child in clause.verb.children}
    return failed or clause.means(CANCEL)


def nouns_of(clause: Clause) -> list[Token]:
    """The words for events in a clause, as object, complement or behind a preposition."""
    nouns = clause.objects + clause.complements
    nouns += [  # "an interview for an internship" is no internship, "of course" no course
        oblique.noun
        for oblique in clause.obliques
        if oblique.prep in PREPS
        and not (oblique.prep in {"for", "about"} and listed(oblique.holder, things.EVENTS))
        and not (oblique.prep == "of" and oblique.noun.lower_ == "course" and not list(oblique.noun.children))
    ]
    return [noun for noun in nouns if is_event(noun) and not counted(noun)]


def is_event(noun: Token) -> bool:
    """A word for an event, or the name of one."""
    if noun.ent_type_ == "EVENT":
        return True
    if noun.ent_type_ == "DATE" and not any(child.dep_ == "compound" for child in noun.children):
        return False
    if noun.ent_type_ in {"PERSON", "GPE"} or noun.pos_ not in {"NOUN", "PROPN", "ADJ", "NUM"}:
        return False
    if not listed(noun, things.EVENTS | things.PASTIMES) or listed(noun, NO_EVENTS):
        return False
    return noun.tag_ != "NNS" or listed(noun, things.COURSES | MANY) or noun.lower_[0].isdigit()  # "10k"


def counted(noun: Token) -> bool:
    """Whether a noun's compound makes it no event: a surgery date, a party dress code, a computer game."""
    parts = {child.lower_ for child in noun.children if child.dep_ in {"compound", "amod"}}
    return bool(parts & NO_GAMES) or (noun.lower_ == "date" and bool(parts))


def telling(noun: Token) -> bool:
    """Whether something beside the noun says which event it is, so that it is worth remembering."""
    if named(noun) or noun.ent_type_ == "EVENT" or not listed(noun, things.WEAK_EVENTS):
        return True
    told_by = {child.lower_ for child in noun.children if child.dep_ in {"compound", "amod", "poss", "nmod"}}
    return bool(told_by - PLAIN) or any(
        child.lower_ in {"to", "in", "with", "for", "on", "about", "at"} for child in noun.children
    )


def by_verb(clause: Clause, noun: Token) -> Iterator[Finding]:
    """I'm doing a ceramics course; we ran the marathon; back from a trip; I have an exam on Friday."""
    if not takes_part(clause, noun) or not telling(noun):
        return
    key = thing(clause, noun, "Event")
    if key is None or kind(clause, key) != "Event":
        return
    whose = owner(noun)
    theirs = whose is not None and clause.reading.person(whose) not in clause.people
    if theirs and clause.lemma == "be":
        return
    confidence = SURE if clause.means(SURE_VERBS) else LIKELY
    if theirs and not clause.means(GOING):
        confidence = DOUBTFUL
    yield from told(clause.people, "PARTICIPATED_IN", key, clause, confidence)


def takes_part(clause: Clause, noun: Token) -> bool:
    """Whether what a clause says of an event is that its subject takes part in it."""
    if clause.verb == noun:
        return placed_or_dated(clause)
    if clause.means(verbs.NOT_TAKING_PART) or not clause.means(verbs.TAKE_PART):
        return False
    if listed(noun, FEASTS) and noun not in clause.objects:
        return False
    if clause.lemma == "be" and noun in clause.complements:
        return False
    if clause.lemma == "give" and clause.receivers and listed(noun, things.TRIPS):
        return False
    if clause.lemma == "make" and not listed(noun, things.TRIPS):
        return False
    part = clause.lemma == "take" and any(each.lower_ == "part" for each in clause.objects)
    if noun in clause.at("in") and not (part or clause.means(COMPETING)):
        return False
    return noun not in clause.at("of", "with", "during", "after") or noun in clause.on_verb("of", "with")


def placed_or_dated(clause: Clause) -> bool:
    """Whether a fragment tells when or where, or whose: "School trip to York on Friday", not "The cruise."."""
    return any(token.ent_type_ in {"DATE", "TIME", "GPE", "LOC", "FAC"} or token.lower_ == "my" for token in clause.own)


def scheduled(clause: Clause) -> Iterator[Finding]:
    """I've got the dentist on Monday; Tom has swimming at 4; choir on Tuesdays: what has its day is an event."""
    lessons = clause.verb.tag_ == "VBG" and any(
        child.dep_ == "aux" and child.lemma_ == "have" for child in clause.verb.children
    )
    day = any(token.ent_type_ in {"DATE", "TIME"} or ORDINAL.fullmatch(token.lower_) for token in clause.own)
    day = day or any(oblique.prep == "at" and oblique.noun.like_num for oblique in clause.obliques)
    if not day or clause.past:
        return
    if lessons and not any(child.lower_ == "been" for child in clause.verb.children):
        key: int | None = clause.reading.made(clause.verb.lower_, "Event", clause.verb) if clause.people else None
        yield from told(clause.people, "PARTICIPATED_IN", key, clause, MAYBE)
    elif clause.means(HAS):
        for noun in clause.objects:
            on_day = any(
                oblique.prep in {"on", "at", "next", "this"} and oblique.holder in {noun, clause.verb}
                and (oblique.noun.ent_type_ in {"DATE", "TIME"} or ORDINAL.fullmatch(oblique.noun.lower_))
                for oblique in clause.obliques
            )  # fmt: skip
            if on_day and noun.pos_ in {"NOUN", "PROPN"} and noun.ent_type_ not in {"PERSON", "DATE", "TIME"} and (
                not listed(noun, things.EMPTY | things.NOT_OWNED - things.EVENTS | things.JOBS)
            ):  # fmt: skip
                yield from told(clause.people, "PARTICIPATED_IN", thing(clause, noun, "Event"), clause, MAYBE)
    elif is_event(clause.verb) and not clause.subjects and owner(clause.verb) is None:
        yield from told([clause.reading.speaker], "PARTICIPATED_IN", thing(clause, clause.verb, "Event"), clause, MAYBE)


def went(clause: Clause) -> Iterator[Finding]:
    """The interview went well; tickets for the concert: it was the speaker's own."""
    nouns: list[Token] = []
    if clause.lemma == "go" and clause.past and clause.adverbs & OUTCOMES:
        nouns = [noun for noun in clause.subjects if noun.pos_ == "NOUN" and owner(noun) is None]
    nouns += [oblique.noun for oblique in clause.obliques
              if oblique.prep in {"for", "to"} and oblique.holder.lemma_.lower() == "ticket"]  # fmt: skip
    for noun in nouns:
        if is_event(noun) and clause.reading.speaker is not None:
            people = clause.people if clause.people and noun not in clause.subjects else [clause.reading.speaker]
            yield from told(people, "PARTICIPATED_IN", thing(clause, noun, "Event"), clause, MAYBE)


def owned(clause: Clause) -> Iterator[Finding]:
    """My interview went well; our wedding is in June; Ana's graduation."""
    for noun in clause.own:
        whose = owner(noun)
        if whose is None or whose.lower_ == "your" or noun.pos_ not in {"NOUN", "PROPN", "NUM", "ADJ"}:
            continue
        if not is_event(noun) or counted(noun) or listed(noun, NOT_OWNED):
            continue
        if listed(noun, things.COURSES) and not any(child.dep_ in {"compound", "amod"} for child in noun.children):
            continue
        person = owning(clause, noun)
        key = thing(clause, noun, "Event") if person is not None else None
        if person is not None and key is not None and kind(clause, key) == "Event":
            yield Finding(person, "PARTICIPATED_IN", key, clause, LIKELY)


def announced(clause: Clause) -> Iterator[Finding]:
    """There's a field trip to Anglesey in October: the speaker's own, as a rule."""
    if not any(child.dep_ == "expl" for child in clause.verb.children):
        return
    for noun in clause.complements:
        if is_event(noun) and telling(noun) and clause.reading.speaker is not None:
            key = thing(clause, noun, "Event")
            if key is not None:
                day = any(token.ent_type_ in {"DATE", "TIME"} for token in clause.own)
                yield Finding(clause.reading.speaker, "PARTICIPATED_IN", key, clause, 0.5 if day else DOUBTFUL)


def dated(clause: Clause) -> Iterator[Finding]:
    """The defence is on 24 October; party is Saturday: what somebody tells the day of is, as a rule, their own."""
    if clause.lemma not in {"be", "start", "begin"} or clause.past or clause.reading.speaker is None:
        return
    day = any(token.ent_type_ in {"DATE", "TIME"} or ORDINAL.fullmatch(token.lower_) for token in clause.own)
    for noun in clause.subjects if day else ():
        if is_event(noun) and owner(noun) is None and noun.pos_ in {"NOUN", "PROPN"}:
            key = thing(clause, noun, "Event")
            if key is not None and kind(clause, key) == "Event":
                yield Finding(clause.reading.speaker, "PARTICIPATED_IN", key, clause, MAYBE)


def verbal(clause: Clause) -> Iterator[Finding]:
    """Verbs that are events: we got married in June; she graduates on Friday; my knee will be operated on."""
    name = LIFE_EVENTS.get(clause.lemma, "")
    told_when = any(token.ent_type_ in {"DATE", "TIME", "GPE", "LOC", "FAC"} for token in clause.own)
    if marries(clause) and (told_when or not clause.past):
        name = "wedding"
    people = clause.people
    if name == "operation":
        whose = [owning(clause, noun) for noun in clause.subjects] if clause.passive else []
        speaker = [clause.reading.speaker] if clause.passive and told_when else []
        people = [key for key in (whose if any(whose) else speaker) if key is not None]
    if not name or not people:
        return
    key = clause.reading.made(name, "Event", clause.verb)
    yield from told(people, "PARTICIPATED_IN", key, clause, MAYBE)
    for noun in clause.at("in", "at"):
        if named(noun) and noun.ent_type_ in {"GPE", "LOC", "FAC", "ORG"}:
            where = clause.reading.entity(noun, "Place")
            if where is not None:
                yield Finding(key, "LOCATED_AT", where, clause, LIKELY)


def marries(clause: Clause) -> bool:
    """Whether a clause tells that somebody gets married."""
    helped = any(child.dep_ == "auxpass" and child.lower_.startswith(("get", "got")) for child in clause.verb.children)
    if clause.lemma in {"marry", "married"}:
        return helped
    return clause.lemma == "get" and any(token.lower_ == "married" for token in clause.verb.children)


def serves(clause: Clause) -> Iterator[Finding]:
    """I'm a bridesmaid; he was best man at their wedding: a wedding, of which more is told elsewhere."""
    if clause.lemma != "be":
        return
    for noun in clause.complements:
        best_man = noun.lower_ == "man" and any(child.lower_ == "best" for child in noun.children)
        maid = noun.lower_ == "maid" and any(child.lower_ == "of" for child in noun.children)
        if best_man or maid or listed(noun, SERVING):
            key = clause.reading.made("wedding", "Event", noun)
            yield from told(clause.people, "PARTICIPATED_IN", key, clause, MAYBE)


def by_name(clause: Clause) -> Iterator[Finding]:
    """I gave a talk at PyCon; tickets for Glastonbury; doing the Camino: events by what one does there."""
    nouns: list[Token] = []
    if clause.means(PRESENTING) and (not clause.objects or any(listed(noun, TALKS) for noun in clause.objects)):
        nouns += [noun for noun in clause.at("at") if noun.ent_type_ in {"ORG", "GPE", "EVENT", ""}]
    for oblique in clause.obliques:
        if oblique.prep in {"for", "to"} and oblique.holder.lemma_.lower() == "ticket":
            nouns += [oblique.noun] if oblique.noun.ent_type_ != "PERSON" else []
    if clause.means(TREKKING):
        nouns += [
            noun
            for noun in clause.objects
            if noun.ent_type_ in {"PRODUCT", "EVENT", "LOC"} and any(child.lower_ == "the" for child in noun.children)
        ]
    for noun in nouns:
        timed = noun.ent_type_ in {"DATE", "TIME"} or noun.lower_ in things.TIMES
        if named(noun) and noun.pos_ == "PROPN" and not timed:
            yield from told(clause.people, "PARTICIPATED_IN", clause.reading.entity(noun, "Event"), clause, MAYBE)
