"""What people own: animals, vehicles, instruments, homes, devices; and what they no longer own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_frames as frames
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    SURE,
    Finding,
    change,
    kind,
    listed,
    named,
    owner,
    owning,
    thing,
    told,
)
from memsvc.extract.offline.ownable import (
    BUSINESSES,
    CHANGING_HANDS,
    KEPT,
    SWAP,
    identified,
    kept_as,
    leaving,
    names_event,
    ownable,
    planned,
)
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

CHERISHED = things.words("""
    cabin cottage allotment greenhouse telescope camera loom kiln lathe hive hives beehives orchard
    vineyard boat watch collection tattoo bungalow smoker sewing-machine pottery-wheel tent drone ipad macbook kindle
    garden
""")
"""What "my" makes a possession worth remembering."""


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about possessions in a clause."""
    if clause.asked:
        return
    if clause.said:
        yield from had(clause)
        yield from given(clause)
        yield from belonging(clause)
        yield from swapped(clause)
        yield from known_vehicles(clause)
        yield from mine(clause)
        yield from is_mine(clause)


def had(clause: Clause) -> Iterator[Finding]:
    """I have two cats; we bought a van; she adopted a greyhound; Leo has a bakery; I bought my son a skateboard."""
    bought = clause.means(verbs.BUY_PLAIN) and not clause.passive
    runs = clause.lemma == "run" and not clause.particle
    if not (bought or runs or clause.means(verbs.BUY | verbs.HAVE)) or clause.passive or planned(clause):
        return
    for noun in valence.objects(clause):
        whose = owner(noun)
        person_of = owning(clause, noun)
        if whose is not None and person_of not in clause.people and clause.lemma not in CHANGING_HANDS:
            continue
        if runs or listed(noun, things.WORKPLACES):
            if not (clause.lemma == "own" or trade_of_own(clause, noun)):
                continue
        elif not ownable(noun, any_thing=bought and clause.lemma != "take"):
            continue
        sure = (
            SURE if bought or (clause.lemma in {"have", "own", "get"} and listed(noun, things.OWNED_STRONG)) else LIKELY
        )
        perfect = any(
            child.lower_ in {"have", "'ve", "has", "'s"} and child.dep_ == "aux" for child in clause.verb.children
        )
        over: Change = "ended" if clause.lemma == "have" and clause.past and not perfect else change(clause)
        receivers = clause.at("for") if clause.means(verbs.BUY) else []
        for key in kept_as(clause, noun):
            if kind(clause, key) == "Organization" and clause.lemma != "own" and not listed(noun, BUSINESSES):
                continue  # "he had that choir"
            for person in recipients(clause, receivers) or clause.people:
                yield Finding(person, "OWNS", key, clause, sure, over)


def trade_of_own(clause: Clause, noun: Token) -> bool:
    """Whether to have a business means to own it: "my wife has a bakery", but not "we have a gym in town"."""
    one = any(child.lower_ in {"a", "an", "own", "two", "three"} for child in noun.children)
    many = any(token.lower_ in {"we", "they", "you"} for token in clause.subjects)
    return one and not many and listed(noun, BUSINESSES) and clause.lemma in {"have", "get", "buy", "inherit", "run"}


def recipients(clause: Clause, nouns: list[Token]) -> list[int]:
    """The persons that something was bought for; nobody where it was for the buyers themselves."""
    nouns = [*valence.receivers(clause), *nouns]
    found = [
        clause.reading.person(noun)
        for noun in nouns
        if noun.lower_ not in {"myself", "ourselves", "himself", "herself"}
    ]
    return [key for key in found if key is not None and key not in clause.people]


def given(clause: Clause) -> Iterator[Finding]:
    """Mum gave me her old car; I was given a camera; I gave my guitar to Leo."""
    if not clause.means(verbs.GIVE) or planned(clause):
        return
    to = [key for key in map(clause.reading.person, valence.receivers(clause)) if key is not None]
    if clause.lemma in {"give", "hand", "pass", "gift", "lend", "leave"}:
        to += [key for key in map(clause.reading.person, clause.at("to")) if key is not None]
    if clause.passive:
        to = clause.people
    for noun in valence.objects(clause) if to else ():
        if not ownable(noun, any_thing=clause.lemma in {"gift", "bequeath", "buy"} or named(noun)):
            continue
        if listed(noun, frames.TROUBLES):  # "dairy gives me hives"
            continue
        key = thing(clause, noun, "Object")
        if key is not None and kind(clause, key) in KEPT:
            yield from told(to, "OWNS" if clause.lemma != "lend" else "USES", key, clause, LIKELY, change(clause))
            yield from parted_with(clause, noun, key)


def parted_with(clause: Clause, noun: Token, key: int) -> Iterator[Finding]:
    """That who gives away what is theirs owns it no longer."""
    if clause.lemma == "lend" or clause.passive:
        return
    if owner(noun) is not None and owning(clause, noun) in clause.people:
        yield from told([owning(clause, noun)], "OWNS", key, clause, LIKELY, "ended")
    elif any(child.lower_ == "the" for child in noun.children):
        yield from told(clause.people, "OWNS", key, clause, MAYBE, "ended")


def belonging(clause: Clause) -> Iterator[Finding]:
    """The drill belongs to Bert; the canoe is Leo's; I'm the owner of a caravan; the boat is owned by Ana."""
    pairs: list[tuple[Token, Token]] = []
    if clause.lemma == "belong":
        pairs = [(noun, subject) for noun in clause.on_verb("to") for subject in clause.subjects]
    elif clause.lemma == "own" and clause.passive:
        pairs = [(noun, subject) for noun in clause.at("by") for subject in clause.subjects]
    elif clause.lemma == "be":
        named_owners = [noun for noun in clause.complements if valence.owned_by(noun) is not None]
        pairs = [(noun, subject) for noun in named_owners for subject in clause.subjects]
    if clause.lemma in {"be", "become"}:
        for oblique in clause.obliques:
            if oblique.prep == "of" and oblique.holder.lemma_ in {"owner", "co-owner", "proprietor"}:
                pairs += [(subject, oblique.noun) for subject in clause.subjects]
    for noun, owned in pairs:
        person = clause.reading.person(noun)
        key = thing(clause, owned, "Object") if person is not None else None
        if key is not None and kind(clause, key) in KEPT:
            yield from told([person], "OWNS", key, clause, LIKELY, change(clause))


def swapped(clause: Clause) -> Iterator[Finding]:
    """I traded the car in for a bike; swapped my guitar for a banjo; treated myself to a camera."""
    swaps = clause.means(SWAP) and not clause.passive
    treats: list[Token] = []
    if clause.lemma == "treat" and any(noun.lower_.endswith(("self", "selves")) for noun in clause.objects):
        treats = clause.on_verb("to")
    if clause.means(verbs.lemmas("splash out, splurge")):
        treats = clause.on_verb("on")
    gained = clause.on_verb("for") if swaps else treats
    for noun in gained:
        if ownable(noun, any_thing=swaps):
            key = thing(clause, noun, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told(clause.people, "OWNS", key, clause, LIKELY, change(clause))
    for noun in valence.objects(clause) if gained and swaps else ():
        key = thing(clause, noun, "Object") if ownable(noun, any_thing=True) else None
        if key is not None and kind(clause, key) in KEPT:
            yield from told(clause.people, "OWNS", key, clause, LIKELY, "ended")


def mine(clause: Clause) -> Iterator[Finding]:
    """My van; Tova's guitar; our dog; the bike is mine."""
    if clause.status is not Status.SO:
        return
    gone_now = leaving(clause)
    for noun in clause.own:
        if noun in gone_now or identified(clause, noun) or names_event(noun):
            continue
        if noun.dep_ == "compound" and noun.head.pos_ == "PROPN" and listed(noun, things.PETS | things.VEHICLES):
            person = owning(clause, noun.head)  # "our dog Rex"
            key = thing(clause, noun.head, "Object") if person is not None else None
            if person is not None and key is not None and kind(clause, key) in KEPT:
                yield Finding(person, "OWNS", key, clause, LIKELY)
        if (
            noun.pos_ not in {"NOUN", "PROPN"}
            or owner(noun) is None
            or not listed(noun, things.OWNED_STRONG | CHERISHED)
        ):
            continue
        if noun.dep_ == "compound" or listed(
            noun,
            things.words("""
                home room place land desk bed bar pool park chair table side switch bass watch sound record golf
                fiesta focus
            """),
        ):
            continue
        if (
            any(
                child.dep_ == "amod" and child.lower_ in {"old", "former", "previous", "dream", "next"}
                for child in noun.children
            )
            and clause.past
        ):
            continue
        person = owning(clause, noun)
        key = thing(clause, noun, "Object") if person is not None else None
        if person is not None and key is not None and kind(clause, key) in KEPT:
            yield Finding(person, "OWNS", key, clause, LIKELY)


def is_mine(clause: Clause) -> Iterator[Finding]:
    """Duchess is mine now; the van is hers."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        whose = {"mine": clause.reading.speaker, "ours": clause.reading.speaker}.get(complement.lower_)
        if complement.lower_ in {"hers", "his"}:
            whose = clause.reading.person(complement)
        if listed(complement, things.PETS | things.VEHICLES) and clause.subjects and named(clause.subjects[0]):
            whose = owning(clause, complement)  # "Biscuit is my dog"
        for subject in clause.subjects if whose is not None else ():
            key = thing(clause, subject, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told([whose], "OWNS", key, clause, LIKELY)


def known_vehicles(clause: Clause) -> Iterator[Finding]:
    """The Clio needs a service: a make with "the" is, as a rule, the speaker's."""
    if clause.status is not Status.SO or leaving(clause) or clause.means(verbs.BUY | verbs.LOSE):
        return
    for noun in [*clause.subjects, *clause.objects]:
        make = noun.pos_ == "PROPN" and noun.lower_ in things.VEHICLES and noun.text[0].isupper()
        the = any(child.lower_ == "the" for child in noun.children)
        if make and the and not any(child.dep_ in {"prep", "relcl"} for child in noun.children):
            for key in kept_as(clause, noun):
                yield from told([clause.reading.speaker], "OWNS", key, clause, MAYBE)
