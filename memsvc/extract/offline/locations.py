"""Where things, firms and events stand, lie and take place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, Oblique
from memsvc.extract.offline.events import called_off
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    Finding,
    change,
    kind,
    listed,
    named,
    naming,
    owning,
    placed,
    thing,
)
from memsvc.extract.offline.homes import LETTING

if TYPE_CHECKING:
    from spacy.tokens import Token

AT = (
    "in", "at", "on", "near", "by", "outside", "around", "within", "inside", "beside", "opposite", "off", "across",
    "behind", "above", "below", "under", "over",
)  # fmt: skip
HOUSES = things.words(
    "studio boatyard yard workshop barn shed cabin land plot allotment garage stall stand chapel mill"
)
BOUGHT = (things.HOMES | things.WORKPLACES | HOUSES) - things.words("home place")
HOUSED = (things.WORKPLACES | things.PLACES | things.HOMES | things.GROUPS) - things.words("room department")
STAND = verbs.HOLD_EVENT | verbs.lemmas("""
    stand, lie, keep, locate, park, base, situate, hang, live, sit, moor, store, bury, install, anchor, dock, stay,
    set up, site, headquarter, find, display, tie up, lock up
""")
PUT = verbs.lemmas("keep, store, park, moor, leave, put, dock, hang, install, bury, set up, lock up")
"""With a thing as object, and a place."""
STANDING = frozenset({"Event", "Organization", "Place", "Object", "Project"})
NO_THINGS = things.words("i we he she they you who this that there everyone everything what which here")


def read(clause: Clause) -> Iterator[Finding]:
    """Where things are, in a clause."""
    if not clause.said or called_off(clause):
        return
    for oblique in clause.obliques:
        if holds(clause, oblique):
            yield from found_at(clause, oblique)
    yield from bought_in(clause)
    yield from kept(clause)
    takes_place = clause.lemma == "take" and any(noun.lower_ == "place" for noun in clause.objects)
    if clause.lemma == "be" or takes_place or clause.means(STAND):
        yield from subject_stands(clause, AT)
    elif clause.means(verbs.MOVE) and not clause.objects:  # "our office moved to Luton"
        yield from subject_stands(clause, ("to", "into"))


def holds(clause: Clause, oblique: Oblique) -> bool:
    """Whether a noun with a preposition behind it stands there: "a wedding in Birmingham", "the Polish club in …"."""
    holder = oblique.holder
    heading = oblique.prep == "to" and listed(holder, things.TRIPS - things.words("flight tour"))
    if not (oblique.prep in AT or heading) or holder.pos_ not in {"NOUN", "PROPN"}:
        return False
    if holder.ent_type_ in {"DATE", "TIME", "PERSON"}:
        return False
    event = listed(holder, things.EVENTS)
    house = listed(holder, HOUSED) or holder.ent_type_ in {"ORG", "FAC"}
    if not (event or house):
        return False
    told_of = clause.means(verbs.RUN | verbs.BUY | verbs.HAVE) and holder in clause.objects
    definite = named(oblique.noun) and any(child.lower_ == "the" for child in holder.children)
    known = named(naming(holder)) or told_of or definite or owning(clause, holder) is not None
    return event or known


def found_at(clause: Clause, oblique: Oblique) -> Iterator[Finding]:
    """The concert at St Mary's; a company in Tampere."""
    where = placed(clause, oblique.noun)
    if where is None:
        return
    what = thing(clause, oblique.holder, "Event" if listed(oblique.holder, things.EVENTS) else "Organization")
    if what is not None and where != what and kind(clause, what) in STANDING - {"Project"}:
        yield Finding(what, "LOCATED_AT", where, clause, LIKELY, "holds")


def bought_in(clause: Clause) -> Iterator[Finding]:
    """We bought a house in Kilkenny; rented half a studio in Poblenou."""
    if not clause.means(LETTING | verbs.BUY | verbs.RUN | verbs.lemmas("open, start, view, move")) or clause.passive:
        return
    for noun in clause.objects:
        wheres = [each for each in clause.on_verb("in", "on", "near") if named(each) and each.i > noun.i]
        yield from stands(clause, noun if listed(noun, BOUGHT) else None, wheres[:1])


def kept(clause: Clause) -> Iterator[Finding]:
    """I keep my van at the farm."""
    if not clause.means(PUT) or clause.passive:
        return
    for noun in clause.objects:
        if owning(clause, noun) is not None:
            yield from stands(clause, noun, clause.on_verb(*AT)[:1])


def stands(clause: Clause, noun: Token | None, wheres: list[Token]) -> Iterator[Finding]:
    """A thing at a place."""
    where = placed(clause, wheres[0]) if noun is not None and wheres else None
    what = thing(clause, noun) if noun is not None and where is not None else None
    if where is not None and what is not None and what != where and kind(clause, what) != "Person":
        yield Finding(what, "LOCATED_AT", where, clause, LIKELY if named(wheres[0]) else MAYBE)


def subject_stands(clause: Clause, preps: Sequence[str]) -> Iterator[Finding]:
    """What is no person stands somewhere: "the wedding is in Leeds", "the race takes place in York"."""
    for subject in clause.subjects:
        if subject.pos_ not in {"NOUN", "PROPN", "PRON"} or subject.ent_type_ == "PERSON":
            continue
        if subject.lower_ in NO_THINGS:
            continue
        for noun in clause.on_verb(*preps):
            key = placed(clause, noun)
            what = thing(clause, subject) if key is not None else None
            if key is None or what is None or what == key or kind(clause, what) not in STANDING:
                continue
            if subject.pos_ == "PRON" and kind(clause, what) not in {"Event", "Organization"}:
                continue  # "it's on Kirkgate": too much could be
            confidence = LIKELY if subject.pos_ != "PRON" else MAYBE
            yield Finding(what, "LOCATED_AT", key, clause, confidence, change(clause))
