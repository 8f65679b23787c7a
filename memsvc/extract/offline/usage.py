"""What people use: tools, apps, instruments, medicines, languages, vehicles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_frames as frames
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, MAYBE, SURE, Finding, change, kind, listed, named, thing, told, word
from memsvc.extract.offline.lexicon_tools import (
    AIDS,
    DOSES,
    DRIVEN,
    DRUG,
    GAMES,
    ORDINARY,
    PROGRAMMING,
    RENTED,
    ROOMS,
    UNUSED,
    WORN,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

RIDE = verbs.lemmas("drive, ride, sail, pilot, row, fly, pedal")


TRYING = verbs.lemmas("""
    wear, try, try out, download, adopt, run, host, set up, test, configure, learn, upgrade, get, have, install, program
""")
SWITCHING = verbs.lemmas("switch, convert, migrate, subscribe, rely, swear, sign, bank, pay")
NO_TOOLS = frozenset({"GPE", "LOC", "FAC", "PERSON", "DATE", "TIME", "NORP", "EVENT"})
TRIED = verbs.lemmas("try, try out, test, download, install, configure, upgrade")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about use in a clause."""
    if not clause.said:
        return
    yield from used(clause)
    yield from by_frame(clause)
    yield from no_longer(clause)
    yield from by_preposition(clause)
    yield from languages(clause)
    yield from played(clause)
    yield from medicines(clause)


def used(clause: Clause) -> Iterator[Finding]:
    """I use Notion; he drives a Corsa; she wears hearing aids; I got the Headspace app; I rent a garage."""
    nouns: list[Token] = []
    confidence = LIKELY
    if clause.passive and clause.lemma != "prescribe":
        return
    objects = valence.objects(clause)
    if clause.means(verbs.lemmas("use, utilise, utilize, reuse, operate")):
        nouns, confidence = objects, SURE
    elif clause.means(RIDE):
        nouns = [noun for noun in objects if listed(noun, things.VEHICLES | things.PETS | DRIVEN) or named(noun)]
    elif clause.means(verbs.lemmas("rent, lease, hire, borrow")):
        nouns = [noun for noun in objects if listed(noun, things.OWNED | RENTED)] if not clause.at("to") else []
    elif clause.means(TRYING):
        nouns = [
            noun
            for noun in objects
            if tool(noun) or (product(noun) and clause.means(TRIED)) or (clause.lemma == "wear" and listed(noun, WORN))
        ]
    for noun in nouns:
        if noun.lower_ in {"it", "them"}:
            key = clause.reading.entity(noun, "Object", "Concept")
            yield from told(clause.people, "USES", key, clause, confidence, change(clause))
        elif listed(noun, WORN):  # "glasses" would be a measure
            key = clause.reading.made(word(noun) if noun.tag_ == "NN" else noun.lower_, "Object", noun)
            yield from told(clause.people, "USES", key, clause, confidence, change(clause))
        elif usable(noun):
            yield from found(clause, noun, confidence)


def usable(noun: Token) -> bool:
    """Whether a noun can name what somebody uses."""
    if noun.pos_ not in {"NOUN", "PROPN", "X"} or listed(noun, things.EMPTY | UNUSED):
        return False
    return (noun.ent_type_ not in {"PERSON", "GPE", "DATE", "TIME"}) or listed(noun, PROGRAMMING)


def by_frame(clause: Clause) -> Iterator[Finding]:
    """We switched to Signal; she walks with a cane; the doctor put me on statins; I'm fluent in Welsh."""
    for frame, noun in valence.filled(clause, frames.USING):
        commuted = clause.lemma in {"commute", "get"} and listed(noun, things.VEHICLES | DRIVEN)
        worked = listed(noun, AIDS | things.DEVICES - ROOMS | things.INSTRUMENTS)
        held = commuted or (frame.place in {"with", "on", "in"} and worked)
        known = held or tool(noun) or medicine(noun) or (product(noun) and frame.place in {"with", "to"})
        spoken = frame.holder == "fluent" and (word(noun) in things.LANGUAGES or noun.ent_type_ == "LANGUAGE")
        loose = frame.holder in {"subscription", "account"} or clause.means(SWITCHING)
        if not (known or spoken or (loose and named(noun) and noun.ent_type_ not in NO_TOOLS)):
            continue
        people = clause.people
        if clause.lemma == "put":  # "the doctor put me on statins"
            people = [key for key in map(clause.reading.person, clause.objects) if key is not None]
        if usable(noun) or noun.tag_ == "VB":
            key = clause.reading.entity(noun) if named(noun) or noun.tag_ == "VB" else thing(clause, noun, "Object")
            if key is not None and kind(clause, key) not in {"Person", "Place", "Event", "Emotion"}:
                yield from told(people, "USES", key, clause, LIKELY if known or spoken else MAYBE, change(clause))


def no_longer(clause: Clause) -> Iterator[Finding]:
    """I quit Twitter; deleted Instagram; moved away from Excel; came off the statins."""
    for _, noun in valence.filled(clause, frames.NO_LONGER_USING):
        if tool(noun) or medicine(noun):
            key = thing(clause, noun, "Object", "Concept")
            if key is not None and kind(clause, key) not in {"Person", "Place", "Event", "Emotion"}:
                yield from told(clause.people, "USES", key, clause, LIKELY, "ended")


def tool(noun: Token) -> bool:
    """Whether a noun names a tool, app or programming language."""
    return listed(noun, PROGRAMMING) and (noun.lower_ not in ORDINARY or noun.text[0].isupper())


def medicine(noun: Token) -> bool:
    """Whether a noun names a medicine: a known one, or one by its stem ("bisoprolol")."""
    return listed(noun, things.MEDICINES | DOSES) or bool(DRUG.match(noun.lower_))


def product(noun: Token) -> bool:
    """Whether a noun is the proper name of a thing."""
    return noun.ent_type_ == "PRODUCT" and named(noun)


def found(clause: Clause, noun: Token, confidence: float) -> Iterator[Finding]:
    """That the subjects use what a noun names."""
    key = thing(clause, noun, "Object", "Concept")
    over: Change = change(clause)
    if key is not None and kind(clause, key) not in {"Person", "Place", "Event", "Emotion"}:
        yield from told(clause.people, "USES", key, clause, confidence, over)


def by_preposition(clause: Clause) -> Iterator[Finding]:
    """I write in Elixir; track it with Strava; we talk on Zoom; moved to Hetzner."""
    for oblique in clause.obliques:
        noun = oblique.noun
        fits = (clause.lemma, oblique.prep) in verbs.USE_PREP
        known = tool(noun) or (fits and product(noun))
        switching = fits and clause.lemma in {"switch", "rely", "subscribe", "swear", "migrate"}
        brought = clause.lemma == "move" and oblique.prep == "to" and clause.objects and noun.pos_ == "PROPN"
        switching = switching or bool(brought and noun.ent_type_ not in {"GPE", "LOC", "FAC", "PERSON", "DATE"})
        if not (known or switching) or noun.pos_ not in {"NOUN", "PROPN", "X"}:
            continue
        if fits or (known and oblique.prep in {"on", "with", "in", "via", "through"}):
            yield from found(clause, noun, LIKELY)


def languages(clause: Clause) -> Iterator[Finding]:
    """She speaks Dutch; I'm learning Italian; they taught me Polish."""
    if not clause.means(verbs.SPEAK):
        return
    for noun in map(valence.measured, clause.objects):
        if word(noun) in things.LANGUAGES or noun.ent_type_ == "LANGUAGE":
            key = thing(clause, noun, "Concept")
            yield from told(clause.people, "USES", key, clause, LIKELY, change(clause))


def played(clause: Clause) -> Iterator[Finding]:
    """He plays bass; she's learning the cello; we play padel."""
    if not clause.means(verbs.PLAY) or clause.lemma == "pick":  # "picked up a piano" buys one
        return
    for noun in clause.objects:
        if listed(noun, things.INSTRUMENTS):
            key = thing(clause, noun, "Object")
            yield from told(clause.people, "USES", key, clause, SURE, change(clause))
        elif clause.lemma == "play" and listed(noun, GAMES):
            key = thing(clause, noun, "Concept")
            yield from told(clause.people, "LIKES", key, clause, MAYBE, change(clause))


def medicines(clause: Clause) -> Iterator[Finding]:
    """I'm on metformin; she takes sertraline."""
    if not clause.means(verbs.TAKE_MEDICINE):
        return
    nouns = valence.objects(clause) if clause.lemma != "be" else []
    for noun in nouns + clause.at("on"):
        if medicine(noun):
            key = thing(clause, noun, "Object")
            yield from told(clause.people, "USES", key, clause, SURE if named(noun) else MAYBE, change(clause))
