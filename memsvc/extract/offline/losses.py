"""What people no longer own: sold, lost, given away, stolen, dead; and what is to be sold, which they own still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import (
    DOUBTFUL,
    LIKELY,
    MAYBE,
    Finding,
    kind,
    listed,
    owner,
    owning,
    thing,
    told,
)
from memsvc.extract.offline.ownable import EATEN, KEPT, ownable, planned
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

DAMAGE = frozenset({"crash", "break", "smash", "wreck"})
"""What is so treated is owned still."""
DISPOSED = frozenset({"sell", "scrap", "rehome", "bin", "dump"})
TAKEN = verbs.lemmas("steal, nick, pinch, tow")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about the end of owning in a clause."""
    yield from to_be_sold(clause)
    if not clause.asked:
        yield from lost(clause)
        if clause.said:
            yield from gone(clause)


def lost(clause: Clause) -> Iterator[Finding]:
    """We sold the van; gave away my guitar; got rid of the car; my bike was stolen; somebody nicked my scooter."""
    if clause.status not in {Status.SO, Status.WAS} or planned(clause):
        return
    for noun in taken(clause):
        pointed = noun.lower_ in {"it", "him", "her", "them"} and clause.lemma in DISPOSED
        if pointed:
            key = clause.reading.entity(noun, "Object")
        elif ownable(noun, any_thing=clause.lemma in DISPOSED or clause.means(TAKEN)):
            key = thing(clause, noun, "Object")
        else:
            continue
        of_others = not clause.people or (clause.passive and clause.lemma != "rid")
        people = [owning(clause, noun)] if of_others else clause.people
        if key is not None and kind(clause, key) in KEPT:
            sure = DOUBTFUL if pointed and not said_before(noun) else LIKELY
            yield from told(people, "OWNS", key, clause, sure, "ended")


def taken(clause: Clause) -> list[Token]:
    """What a clause says to be sold, lost, given away or stolen."""
    if clause.means(verbs.STEAL) and (clause.passive or not clause.people):
        return [noun for noun in (clause.subjects if clause.passive else clause.objects) if owner(noun) is not None]
    if clause.lemma == "rid":
        return clause.at("of")
    if clause.passive or clause.lemma in DAMAGE or not clause.means(verbs.LOSE):
        return []
    nouns = [*valence.objects(clause), *(clause.at("of") if clause.lemma == "part" else []), *clause.at("with")]
    if clause.lemma == "sell":
        done = clause.past or any(child.lemma_ == "have" for child in clause.verb.children)
        return [noun for noun in nouns if done and (definite(noun) or listed(noun, things.OWNED))]
    return nouns


def gone(clause: Clause) -> Iterator[Finding]:
    """Our dog died; we had to put the dog down; we don't have the boat any more."""
    nouns: list[Token] = []
    if clause.means(verbs.DIE):
        nouns = [noun for subject in clause.subjects for noun in spread(subject) if owner(noun) is not None]
    elif clause.lemma == "put" and clause.particle in {"down", "to sleep"}:
        nouns = [noun for noun in clause.objects if listed(noun, things.PETS)]
    for noun in nouns:
        person = owning(clause, noun) if owner(noun) is not None else clause.reading.speaker
        key = thing(clause, noun, "Object") if person is not None and listed(noun, things.OWNED) else None
        if key is not None and kind(clause, key) in KEPT:
            yield from told([person], "OWNS", key, clause, LIKELY, "ended")


def said_before(pronoun: Token) -> bool:
    """Whether a noun that a pronoun may mean stands before it in its sentence."""
    return any(token.pos_ in {"NOUN", "PROPN"} for token in pronoun.doc[pronoun.sent.start : pronoun.i])


def definite(noun: Token) -> bool:
    """Whether a noun has "the", or a possessive, or stands for something known."""
    return (
        owner(noun) is not None
        or noun.pos_ == "PRON"
        or any(c.lower_ in {"the", "this", "that"} for c in noun.children)
    )


def to_be_sold(clause: Clause) -> Iterator[Finding]:
    """We're selling the Golf; not selling the boat; if I sold the van: who may sell it owns it still."""
    done = clause.said and clause.past
    if clause.lemma != "sell" or clause.passive or done or any(c.lower_ == "have" for c in clause.verb.children):
        return
    for noun in clause.objects:
        if definite(noun) and listed(noun, things.OWNED_STRONG | things.HOMES) and not listed(noun, EATEN):
            key = thing(clause, noun, "Object")
            if key is not None and kind(clause, key) in KEPT:
                yield from told(clause.people, "OWNS", key, clause, MAYBE)
