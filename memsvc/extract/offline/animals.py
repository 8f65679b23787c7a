"""The animals that people keep, by their names: whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
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
from memsvc.extract.offline.ownable import BREEDS, identified, leaving, names_of
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

INSULTS = things.words("donkey pig cow rat snake chicken goat lamb goose sheep dog hen mouse fish bird cat pussy cross")
NEAR = 8
"""Tokens before a pronoun within which the name that it means stands."""


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about animals in a clause."""
    if clause.said and not clause.asked:
        yield from beside_animals(clause)
        yield from named_so(clause)
        yield from animals_named(clause)
        yield from kept_animals(clause)


def named_so(clause: Clause) -> Iterator[Finding]:
    """We named the puppy Biscuit; I called her Nutmeg."""
    if clause.means(verbs.lemmas("name, call, christen")) and clause.past:
        nouns = [
            noun for child in clause.verb.children if child.dep_ in {"dobj", "ccomp", "oprd"} for noun in child.subtree
        ]
        for noun in nouns:
            if listed(noun, things.PETS) and noun.pos_ == "NOUN":
                yield from told(clause.people, "OWNS", thing(clause, noun, "Object"), clause, LIKELY)


def animals_named(clause: Clause) -> Iterator[Finding]:
    """A tortoise called Flash, the cat Pepper, her goats, Heidi and Clover: an animal with a name is somebody's.

    Whose the possessive says; else of the people who have it, or come with it; else of who speaks.
    """
    if clause.status is not Status.SO or leaving(clause):
        return
    for noun in clause.own:
        if noun.pos_ != "NOUN" or not listed(noun, things.PETS | BREEDS) or noun.dep_ == "compound":
            continue
        names = names_of(noun)
        if not names or identified(clause, noun):
            continue
        person = owning(clause, noun)
        if owner(noun) is not None and person is None:
            continue
        together = clause.means(verbs.HAVE | verbs.BUY | verbs.MOVE | verbs.LIVE) and noun not in clause.subjects
        people = [person] if person is not None else clause.people if together else [clause.reading.speaker]
        for name in names:
            key = clause.reading.entity(name, "Object")
            if key is not None and kind(clause, key) == "Object":
                yield from told(people, "OWNS", key, clause, LIKELY)


def name_before(clause: Clause, pronoun: Token) -> Token | None:
    """The last name before a pronoun that is said to be an animal's."""
    if not (pronoun.head.lemma_ == "be" and any(child.lower_ in {"a", "an"} for each in clause.complements
                                                for child in each.children if not listed(each, INSULTS))):  # fmt: skip
        return None
    before = [name for name in clause.reading.names if pronoun.i - NEAR <= name.start and name.end <= pronoun.i]
    return pronoun.doc[before[-1].head] if before else None


def kept_animals(clause: Clause) -> Iterator[Finding]:
    """Bolek is the neighbour's goose; Admiral is a parrot: an animal with a name is kept, as a rule by who speaks."""
    if clause.lemma != "be" or clause.status is not Status.SO:
        return
    for complement in clause.complements:
        if not listed(complement, things.PETS) or complement.pos_ != "NOUN":
            continue
        whose = owning(clause, complement) if owner(complement) is not None else clause.reading.speaker
        for subject in clause.subjects:
            if subject.lower_ in {"he", "she"} and owner(complement) is None:
                subject = name_before(clause, subject) or subject  # noqa: PLW2901 - "fed Toby, he's a beagle"
            elif clause.reading.person(subject) is not None:
                continue
            key = thing(clause, subject, "Object")
            if key is not None and kind(clause, key) == "Object" and clause.reading.whose(key).named:
                yield from told([whose], "OWNS", key, clause, MAYBE)


def beside_animals(clause: Clause) -> Iterator[Finding]:
    """My mother lives in Leeds with a parrot: who is somewhere with an animal keeps it."""
    if clause.means(verbs.lemmas("be, live, sit, stay, move, move in, share") | verbs.MOVE) and clause.said:
        for noun in clause.at("with"):
            counted = any(child.lower_ in {"a", "an", "two", "three", "four", "five"} for child in noun.children)
            if counted and noun.pos_ == "NOUN" and listed(noun, things.PETS | BREEDS) and not names_of(noun):
                key = thing(clause, noun, "Object")
                if key is not None and kind(clause, key) == "Object":
                    yield from told(clause.people, "OWNS", key, clause, MAYBE)
