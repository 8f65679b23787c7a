"""What people make: build, bake, write, found, organise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import lexicon_works as works
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, SURE, Finding, kind, listed, named, owner, thing
from memsvc.extract.offline.reading import Status
from memsvc.extract.offline.votes import kind_of_noun

if TYPE_CHECKING:
    from spacy.tokens import Token

NO_WORKS = frozenset({"PERSON", "GPE", "DATE", "TIME", "MONEY", "CARDINAL", "NORP"})
CRAFTS = frozenset({"build", "construct", "assemble", "carve", "weld", "knit", "sew"})
"""What is so made is a thing, whatever it is."""
DESIGNS = things.words("""
    create develop build produce establish invent construct form publish write compose draft author film design
""")
THOUGHT = things.words("dream think consider contemplate talk fantasise fantasize plan imagine fancy want look hope")
LATER = 22
"""Tokens behind what is made, within which its name is looked for."""


def read(clause: Clause) -> Iterator[Finding]:
    """She makes cushions; I wrote an app; they founded a choir; the shed that dad built; a song by Ana."""
    if clause.status not in {Status.SO, Status.WAS} or clause.asked:
        return
    if not clause.means(verbs.CREATE) or clause.modal in {"can", "ca", "cannot"} or dreamt(clause):
        return
    plain = clause.means(verbs.CREATE_PLAIN)
    people = clause.people
    nouns = valence.objects(clause)
    if clause.passive:
        people = [key for noun in clause.at("by") if (key := clause.reading.person(noun)) is not None]
        nouns = clause.subjects
    for noun in nouns:
        name = named_later(noun)
        if name is None and not creatable(clause, noun, plain=plain):
            continue
        key = thing(clause, name or noun)
        if key is None or kind(clause, key) in {"Person", "Place", "Emotion"}:
            continue
        for person in people:
            if person != key:
                yield Finding(person, "CREATED", key, clause, SURE if plain else LIKELY)


def dreamt(clause: Clause) -> bool:
    """Whether making is only thought of: "I've always dreamed of writing a cookbook"."""
    around = clause.parent
    return clause.verb.tag_ == "VBG" and around is not None and clause.verb in around.inner and around.lemma in THOUGHT


def named_later(noun: Token) -> Token | None:
    """The name that the text gives what is made soon after: "we're making one, it's called Snowdrop"; or None."""
    if noun.lower_ not in {"one", "something", "thing", "it"} and not listed(noun, works.MADE):
        return None
    for token in noun.doc[noun.i + 1 : noun.i + LATER]:
        if token.lemma_ in {"call", "name", "title"} and token.tag_ == "VBN":
            pronoun = any(child.lower_ in {"it", "which"} for child in token.children)
            name = next((child for child in token.children if child.dep_ in {"oprd", "attr", "dobj"}), None)
            if pronoun and name is not None and named(name):
                return name
    return None


def creatable(clause: Clause, noun: Token, *, plain: bool) -> bool:
    """Whether a noun can name what the verb made."""
    known = listed(noun, works.MADE)
    yours = any(child.lower_ == "your" for child in noun.children)
    if yours and not any(subject.lower_ == "you" for subject in clause.subjects):
        return False  # "opening your own shop sounds great"
    if clause.verb.dep_ == "csubj" and any(child.lower_ in {"this", "that"} for child in noun.children):
        return False
    if noun.pos_ == "PRON":
        return pointed_at(clause, noun, plain=plain)
    if not known and (listed(noun, works.NOT_MADE) or noun.ent_type_ in NO_WORKS):
        return False
    if listed(noun, works.DRAWN_SHUT) and clause.lemma in {"draw", "make", "film"}:
        return False
    if not known and owner(noun) is not None and clause.lemma in {"film", "draw", "develop"}:
        return False
    if clause.lemma == "make" and listed(noun, works.SEEMING):
        return False
    special = by_lemma(clause, noun, known=known, plain=plain)
    if special is not None:
        return special
    return plain or known or grown(clause, noun)


def pointed_at(clause: Clause, pronoun: Token, *, plain: bool) -> bool:
    """Whether a pronoun may stand for what is made: of founding only where it means a named work or group."""
    if clause.means(works.START) and pronoun.lower_ == "it":
        key = clause.reading.entity(pronoun)
        if key is not None and kind(clause, key) in {"Organization", "Project", "Media"}:
            return True
    return plain and pronoun.lower_ in {"it", "them", "that", "one"}


def by_lemma(clause: Clause, noun: Token, *, known: bool, plain: bool) -> bool | None:
    """What verbs ask of the noun that make only some things; None: the verb asks nothing of its own."""
    lemma = clause.lemma
    if lemma == "grow":
        return owner(noun) is None and noun.pos_ == "NOUN" and not listed(noun, works.NOT_GROWN | things.EMPTY)
    if lemma in {"write", "film", "draw"} and clause.receivers:
        return known
    if lemma == "translate":
        return noun.ent_type_ != "LANGUAGE" and known
    if clause.means(works.START) and not plain:  # "she started college" founds nothing
        return any(child.lower_ in works.OF_ONE for child in noun.children) and listed(noun, works.FOUNDED)
    if lemma in {"throw", "host", "arrange", "plan", "put"}:
        return listed(noun, things.EVENTS) and not listed(noun, things.TRIPS | things.WEAK_EVENTS)
    if noun.lower_ == "letter":
        return lemma == "write"
    if lemma == "set":
        return known and not listed(noun, things.EVENTS)
    indefinite = noun.tag_ == "NNS" or any(child.lower_ in {"a", "an"} for child in noun.children)
    if lemma in CRAFTS and indefinite:
        return noun.pos_ == "NOUN" and not listed(noun, works.NOT_BUILT)
    if lemma in DESIGNS:
        return known or listed(noun, things.OWNED | things.HOMES) or named(noun)
    return None


def grown(clause: Clause, noun: Token) -> bool:
    """Whether a noun names some thing that one plants, records or makes."""
    if clause.lemma not in {"plant", "record", "make", "bake", "cook"} or clause.receivers:
        return False
    concrete = kind_of_noun(noun) in {"Object", "Media"} or clause.lemma in {"plant", "record"}
    concrete = concrete or (kind_of_noun(noun) == "" and noun.tag_ == "NNS" and clause.lemma == "make")
    return concrete and noun.pos_ == "NOUN" and owner(noun) is None
