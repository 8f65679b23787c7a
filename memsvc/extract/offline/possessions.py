"""What people own: animals, vehicles, instruments, homes, devices; and what they no longer own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause, spread
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
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

EATEN = things.words("""
    bread milk eggs coffee tea cake pizza sandwich burger wine beer groceries food ice-cream chocolate flowers tickets
    ticket lunch dinner breakfast drink drinks present presents gift gifts ingredients snacks bouquet round stuff
    takeaway fuel petrol gas medicine card cards cookies biscuits
""")
CHERISHED = things.words("""
    cabin cottage allotment greenhouse telescope camera loom kiln lathe hive hives beehives flat house farm orchard
    vineyard boat watch collection tattoo bungalow smoker sewing-machine pottery-wheel tent drone ipad macbook kindle
    garden
""")
"""What "my" makes a possession worth remembering."""
KEPT = {"Object", "Media", "Place", "Organization", "Document"}


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about possessions in a clause."""
    yield from lost(clause)
    if clause.said:
        yield from had(clause)
        yield from given(clause)
        yield from mine(clause)
        yield from gone(clause)
        yield from named_so(clause)
        yield from is_mine(clause)
        yield from kept_animals(clause)


def ownable(noun: Token, *, any_thing: bool) -> bool:
    """Whether what a noun names can be owned; ``any_thing``: the verb says so, unless the noun denies it."""
    if noun.ent_type_ in {
        "PERSON",
        "DATE",
        "TIME",
        "MONEY",
        "GPE",
        "NORP",
        "EVENT",
        "QUANTITY",
        "CARDINAL",
    } and not listed(noun, things.OWNED):
        return False
    brand = any(child.lower_ in things.VEHICLES for child in noun.children if child.dep_ == "compound")
    if brand or noun.ent_type_ == "PRODUCT":
        return True
    if listed(noun, things.OWNED):
        return not listed(noun, things.EVENTS - things.OWNED)
    if listed(noun, things.NOT_OWNED | things.EMPTY | EATEN | things.EVENTS):
        return False
    return any_thing and noun.pos_ in {"NOUN", "PROPN"}


def had(clause: Clause) -> Iterator[Finding]:
    """I have two cats; we bought a van; she adopted a greyhound; he's saving his old bike."""
    bought = clause.means(verbs.BUY_PLAIN) and not clause.passive
    if not (bought or clause.means(verbs.BUY | verbs.HAVE)) or clause.passive:
        return
    for noun in clause.objects:
        if not ownable(noun, any_thing=bought):
            continue
        whose = owner(noun)
        person_of = owning(clause, noun)
        if whose is not None and person_of not in clause.people:
            continue
        if listed(noun, things.WORKPLACES):
            continue
        key = thing(clause, noun, "Object")
        if key is None or kind(clause, key) not in KEPT:
            continue
        sure = (
            SURE if bought or (clause.lemma in {"have", "own", "get"} and listed(noun, things.OWNED_STRONG)) else LIKELY
        )
        over = "ended" if clause.lemma == "have" and clause.past else change(clause)
        receivers = clause.at("for") if bought else []
        for person in recipients(clause, receivers) or clause.people:
            yield Finding(person, "OWNS", key, clause, sure, over)


def named_so(clause: Clause) -> Iterator[Finding]:
    """We named the puppy Biscuit; I called her Gladys."""
    if clause.means(verbs.lemmas("name, call, christen")) and clause.past:
        nouns = [
            noun for child in clause.verb.children if child.dep_ in {"dobj", "ccomp", "oprd"} for noun in child.subtree
        ]
        for noun in nouns:
            if listed(noun, things.PETS) and noun.pos_ == "NOUN":
                yield from told(clause.people, "OWNS", thing(clause, noun, "Object"), clause, LIKELY)


def recipients(clause: Clause, nouns: list[Token]) -> list[int]:
    """The persons that something was bought for; nobody where it was for the buyers themselves."""
    found = [
        clause.reading.person(noun)
        for noun in nouns
        if noun.lower_ not in {"myself", "ourselves", "himself", "herself"}
    ]
    return [key for key in found if key is not None and key not in clause.people]


def given(clause: Clause) -> Iterator[Finding]:
    """Mum gave me her old car; I was given a camera."""
    if not clause.means(verbs.GIVE):
        return
    to = [key for key in map(clause.reading.person, clause.receivers) if key is not None]
    if clause.lemma in {"give", "hand", "pass", "gift", "lend", "leave"}:
        to += recipients(clause, clause.at("to"))
    if clause.passive:
        to = clause.people
    for noun in clause.objects if to else ():
        if not ownable(noun, any_thing=clause.lemma in {"gift", "bequeath", "buy"} or named(noun)):
            continue
        key = thing(clause, noun, "Object")
        if key is not None and kind(clause, key) in KEPT:
            yield from told(to, "OWNS" if clause.lemma != "lend" else "USES", key, clause, LIKELY, change(clause))


def mine(clause: Clause) -> Iterator[Finding]:
    """My van; Tova's guitar; our dog; the bike is mine."""
    if clause.status is not Status.SO or clause.means(verbs.LOSE | verbs.DIE):
        return
    for noun in clause.own:
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
        for subject in clause.subjects if whose is not None else ():
            key = thing(clause, subject, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told([whose], "OWNS", key, clause, LIKELY)


def kept_animals(clause: Clause) -> Iterator[Finding]:
    """Bolek is the neighbour's goose; Admiral is a parrot: an animal with a name is kept, as a rule by who speaks."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        if not listed(complement, things.PETS) or complement.pos_ != "NOUN":
            continue
        whose = owning(clause, complement) if owner(complement) is not None else clause.reading.speaker
        for subject in clause.subjects:
            if clause.reading.person(subject) is not None:
                continue
            key = thing(clause, subject, "Object")
            if key is not None and kind(clause, key) == "Object" and clause.reading.whose(key).named:
                yield from told([whose], "OWNS", key, clause, MAYBE)


def lost(clause: Clause) -> Iterator[Finding]:
    """We sold the van; gave away my guitar; got rid of the car; my bike was stolen."""
    if clause.status not in {Status.SO, Status.WAS}:
        return
    if clause.means(verbs.STEAL) and clause.passive:
        nouns = [noun for noun in clause.subjects if owner(noun) is not None]
    elif clause.means(verbs.LOSE) and not clause.passive:
        if clause.lemma == "sell" and not (clause.past or any(c.lemma_ == "have" for c in clause.verb.children)):
            return
        nouns = clause.objects + (clause.at("of") if clause.lemma in {"get", "part"} else []) + clause.at("with")
    else:
        return
    for noun in nouns:
        if not ownable(noun, any_thing=clause.lemma in {"sell", "scrap", "rehome"}):
            continue
        key = thing(clause, noun, "Object")
        people = [owning(clause, noun)] if clause.passive else [*clause.people]
        if key is not None and kind(clause, key) in KEPT:
            yield from told(people, "OWNS", key, clause, LIKELY, "ended")


def gone(clause: Clause) -> Iterator[Finding]:
    """Our dog died; my laptop packed in."""
    if not clause.means(verbs.DIE):
        return
    for subject in clause.subjects:
        for noun in spread(subject):
            person = owning(clause, noun)
            if person is not None and listed(noun, things.OWNED):
                key = thing(clause, noun, "Object")
                if key is not None and kind(clause, key) in KEPT:
                    yield Finding(person, "OWNS", key, clause, MAYBE, "ended")
            elif named(noun) and clause.reading.speaker is not None and noun.ent_type_ != "PERSON":
                continue
