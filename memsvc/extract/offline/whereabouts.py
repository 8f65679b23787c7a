"""Where people are, were and go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, Oblique
from memsvc.extract.offline.events import called_off
from memsvc.extract.offline.findings import (
    DOUBTFUL,
    LIKELY,
    MAYBE,
    Finding,
    change,
    kind,
    listed,
    named,
    owning,
    placed,
    told,
)
from memsvc.extract.offline.homes import REGIONS, stays, there

if TYPE_CHECKING:
    from spacy.tokens import Token

IN = ("in", "at", "on", "near", "by", "outside", "around", "within", "inside", "beside", "opposite", "off", "across")
TO = (
    "to", "into", "in", "at", "around", "through", "over", "up", "down", "via", "towards", "back to", "onto", "across",
    "near", "for",
)  # fmt: skip
BACK = verbs.lemmas("get, get back, come back, be back, return, fly back, leave, back, fly, arrive")
ELSEWHERE = (
    verbs.LIVE
    | verbs.MOVE
    | verbs.GROW
    | verbs.WORK
    | verbs.lemmas("""
    believe, trust, invest, hear, read, know, think, dream, talk, look, apply, call, phone, ring, text, email, mail,
    order, send, ship, import, want, wish, hope, plan, want to, like, love, hate, prefer, miss, remember, forget,
    specialise, specialize, major, write, come, rent, own, mean, seem, sound, follow, support, offer, need, consider
""")
)
"""What is done "in Rome" so need not be done there, or says more than that one was there."""
RIDES = things.words("train bus plane ferry flight tram taxi uber cab coach car boat tube metro lift sleeper")
GREETINGS = things.words("greeting greetings hello hi hugs postcard regards love")
FONDNESS = things.words("love like enjoy adore prefer hate dislike loathe miss fancy detest be dread")
FREQUENT = things.words("usually often always sometimes every regularly normally typically mostly")
SPANS = things.words("day week weekend month fortnight night")
PASSING = things.words("lunch dinner breakfast brunch coffee drink drinks meal time week weekend day days night nights "
                       "hour hours month months year holiday break walk hike swim show gig concert")  # fmt: skip
"""What one has, or spends, somewhere."""


def read(clause: Clause) -> Iterator[Finding]:
    """Where people are and go, in a clause."""
    if not clause.said or called_off(clause) or is_liked(clause) or is_often(clause):
        return
    yield from goes(clause)
    if not is_habit(clause):
        yield from does_there(clause)
    yield from visits(clause)
    yield from trips(clause)


def governing(clause: Clause) -> Token:
    """The verb that says when what a clause tells is done: "love" of "love hiking in the Alps"."""
    verb = clause.verb
    while verb.dep_ in {"xcomp", "pcomp", "csubj", "prep"} and verb.head != verb:
        verb = verb.head
    return verb


def is_liked(clause: Clause) -> bool:
    """Whether a clause names only what somebody likes, or likes not, to do: that is not done at any time."""
    verb = governing(clause)
    if any(child.dep_ == "aux" and child.lemma_.lower() in FONDNESS - {"be"} for child in verb.children):
        return True  # as the parser reads "I enjoy walking there"
    return verb != clause.verb and verb.lemma_.lower() in FONDNESS and verb.tag_ in {"VBP", "VBZ", "VB"}


def is_often(clause: Clause) -> bool:
    """Whether a clause says how often: "I usually hike in the Alps", "we go to Crete every summer"."""
    said = [*clause.own, *(token for child in governing(clause).children for token in child.lefts)]
    return not clause.past and any(token.lower_ in FREQUENT for token in said)


def is_habit(clause: Clause) -> bool:
    """Whether what a clause tells is done again and again, as its plain present says, rather than now or once."""
    verb = governing(clause)
    helped = any(child.dep_ in {"aux", "auxpass"} and child.lemma_ in {"be", "have"} for child in verb.children)
    return verb.tag_ in {"VBP", "VBZ", "VB"} and not helped and (verb != clause.verb or not clause.objects)


def goes(clause: Clause) -> Iterator[Finding]:
    """I'm flying to Rome on Friday; got back from Lisbon; we're in Leeds for the weekend; she stayed at the Ritz."""
    if clause.means(verbs.WORK_PLAIN):
        for noun in clause.at("in"):
            key = placed(clause, noun) if noun.ent_type_ in REGIONS else None
            yield from told(clause.people, "LOCATED_AT", key, clause, MAYBE, change(clause))
        return
    brought = takes_along(clause)
    off = clause.lemma == "be" and clause.adverb in {"off", "away", "over"}
    going = off or bool(brought) or clause.means(verbs.TRAVEL) or rides(clause) or reaches(clause)
    be = clause.lemma == "be" or clause.verb.pos_ in {"ADP", "ADV"}
    if not (going or be or clause.means(verbs.STAY)) or (
        clause.lemma == "get" and clause.objects and not clause.adverb
    ):
        return
    if be and clause.verb.pos_ != "AUX" and not timed(clause):  # "in Utrecht": of whom or what?
        return
    for spot in there(clause, "Place") if going else ():
        yield from told(clause.people, "LOCATED_AT", spot, clause, MAYBE, change(clause))
    for oblique in clause.obliques:
        if whereabouts(clause, oblique, going):
            yield from arrives(clause, oblique, [*clause.people, *brought], be=be)


def arrives(clause: Clause, oblique: Oblique, people: list[int], *, be: bool) -> Iterator[Finding]:
    """That persons are at the place of a prepositional phrase."""
    place = oblique if named(oblique.noun) else around(clause, oblique)
    key = placed(clause, place.noun)
    if key is None:
        return
    if be and not clause.past:
        if oblique.prep == "at" and kind(clause, key) == "Organization":
            return
        if oblique.prep == "in" and oblique.noun.ent_type_ in REGIONS and stays(clause):
            return  # a home, and told as one
    over: Change = "ended" if oblique.prep in {"from", "out of"} else change(clause)
    confidence = LIKELY if named(place.noun) else DOUBTFUL
    yield from told(people, "LOCATED_AT", key, clause, confidence, over)
    yield from told(companions(clause), "LOCATED_AT", key, clause, min(confidence, MAYBE), over)


def rides(clause: Clause) -> bool:
    """Whether somebody takes the train, or a bus."""
    return clause.means(verbs.lemmas("take, catch, get, hop")) and any(listed(noun, RIDES) for noun in clause.objects)


def reaches(clause: Clause) -> bool:
    """Whether "to" behind a clause says where somebody got: "I've been to Oslo", "we made it to Lisbon"."""
    made_it = clause.lemma == "make" and any(token.lower_ == "it" for token in clause.objects)
    been = clause.lemma == "be" and clause.verb.tag_ == "VBN"
    return (made_it or been) and bool(clause.on_verb("to"))


def takes_along(clause: Clause) -> list[int]:
    """Whom somebody takes somewhere: "drove Mum to Leeds"."""
    if not clause.means(verbs.lemmas("take, bring, drive, fly, drop, drop off, pick up, walk, send")):
        return []
    people = (clause.reading.person(noun) for noun in clause.objects)
    return [key for key in people if key is not None]


def companions(clause: Clause) -> list[int]:
    """Who is with them: "went to Rome with Ana"."""
    people = (clause.reading.person(noun) for noun in clause.on_verb("with"))
    return [key for key in people if key is not None and key not in clause.people]


def timed(clause: Clause) -> bool:
    """Whether the clause tells when, or that it is a journey."""
    return any(
        token.ent_type_ in {"DATE", "TIME"} or token.lower_ in {"back", "off", "currently"} for token in clause.own
    )


def whereabouts(clause: Clause, oblique: Oblique, going: bool) -> bool:
    """Whether a prepositional phrase says where the subject of its clause is or goes."""
    holder, verb = oblique.holder, clause.verb
    if oblique.prep in {"from", "out of"}:
        return (going or clause.lemma == "get") and clause.means(BACK)
    if oblique.prep not in (TO if going else IN):
        return False
    if oblique.prep == "for":  # "leaving for Lisbon"
        return clause.means(verbs.lemmas("leave, head, set off, set out, depart, make")) and named(oblique.noun)
    near = holder == verb or holder.pos_ in {"ADV", "ADP"}
    if near or holder.lower_ in {"back", "over", "home", "off", "away", "trip", "way"}:
        return True
    return holder.pos_ not in {"PROPN", "PRON"} and listed(holder, things.TRIPS | things.TIMES) and going


def around(clause: Clause, oblique: Oblique) -> Oblique:
    """The town around a place: "at the airport in Oslo"."""
    if not listed(oblique.noun, things.PLACES) or owning(clause, oblique.noun) is not None:
        return oblique
    for outer in clause.obliques:
        if outer.holder == oblique.noun and outer.prep in {"in", "near", "at"} and named(outer.noun):
            return outer
    return oblique


def does_there(clause: Clause) -> Iterator[Finding]:
    """We had lunch in Porto; met Ana in Leeds; stuck at Heathrow: who does something in a town is, or was, there."""
    going = clause.means(verbs.TRAVEL | verbs.STAY) or clause.lemma == "be"
    if going or clause.means(ELSEWHERE) or clause.verb.pos_ != "VERB" or not clause.people or clause.modal:
        return
    if any(listed(noun, things.HOMES | things.WORKPLACES) for noun in clause.objects):
        return  # these stand there
    for oblique in clause.obliques:
        if oblique.prep not in {"in", "at", "near", "around"} or not named(oblique.noun):
            continue
        on_object = oblique.holder in clause.objects and listed(oblique.holder, PASSING | things.TRIPS)
        if not (oblique.holder == clause.verb or on_object) or oblique.noun.ent_type_ not in REGIONS | {"FAC"}:
            continue
        key = placed(clause, oblique.noun)
        if key is not None and kind(clause, key) == "Place":
            yield from told(clause.people, "LOCATED_AT", key, clause, LIKELY, change(clause))
            yield from told(companions(clause), "LOCATED_AT", key, clause, MAYBE, change(clause))


def visits(clause: Clause) -> Iterator[Finding]:
    """We visited Porto; exploring the old town; left Leeds this morning."""
    if not clause.means(verbs.VISIT):
        return
    for noun in clause.objects:
        regional = noun.ent_type_ in {"GPE", "LOC", "FAC"} or listed(noun, things.PLACES)
        if clause.lemma in {"visit", "revisit", "tour", "explore"}:
            regional = regional or (named(noun) and noun.ent_type_ != "PERSON")
        key = placed(clause, noun) if regional else None
        yield from told(clause.people, "LOCATED_AT", key, clause, LIKELY if named(noun) else DOUBTFUL)


def trips(clause: Clause) -> Iterator[Finding]:
    """My trip to Rome; our move to Ghent; a weekend in Paris; booked flights to Seville."""
    for oblique in clause.obliques:
        if oblique.prep not in {"to", "in", "around", "through", "across", "from"}:
            continue
        lasting = oblique.holder == clause.verb and listed(clause.verb, SPANS) and not clause.subjects
        greeting = oblique.prep == "from" and oblique.holder == clause.verb and listed(clause.verb, GREETINGS)
        if greeting and oblique.noun.ent_type_ in REGIONS:
            key = placed(clause, oblique.noun)
            yield from told([clause.reading.speaker], "LOCATED_AT", key, clause, MAYBE)
        if lasting and oblique.prep == "in" and oblique.noun.ent_type_ in REGIONS:  # "two weeks in Crete"
            key = placed(clause, oblique.noun)
            yield from told([clause.reading.speaker], "LOCATED_AT", key, clause, MAYBE)
        if not listed(oblique.holder, things.TRIPS) or oblique.prep == "from":
            continue
        key = placed(clause, oblique.noun)
        whose = owning(clause, oblique.holder)
        taking_part = clause.means(verbs.TAKE_PART - verbs.NOT_TAKING_PART)
        going = whose is not None or taking_part or (oblique.holder == clause.verb and not is_habit(clause))
        people: list[int | None] = [whose] if whose is not None else [*clause.people] if going else []
        yield from told(people, "LOCATED_AT", key, clause, LIKELY)
