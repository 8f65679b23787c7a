"""What is a part of what, what a work is about, what needs and what causes what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
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
    owning,
    thing,
    told,
)
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

MEMBERS = things.words("""
    member captain treasurer chair secretary president part drummer singer bassist goalkeeper striker keeper volunteer
    conductor
""")
LEAVE = verbs.lemmas("leave, quit, drop out")
CHANNELS = things.PLACES | things.words("netflix youtube spotify bbc tv radio amazon zoom")
WORKS = things.MEDIA | things.COURSES | things.words("thesis dissertation phd talk research project exhibition article")


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about parts, subjects and causes in a clause."""
    if clause.status in {Status.SO, Status.WAS}:
        yield from members(clause)
        yield from parts(clause)
        yield from subjects(clause)
        yield from needs(clause)
        yield from causes(clause)


def group(clause: Clause, noun: Token, *, loose: bool = False) -> int | None:
    """The group that a noun names: a choir, a team, a named club."""
    if not (
        listed(noun, things.GROUPS)
        or (loose and named(noun) and noun.ent_type_ not in {"GPE", "DATE", "PERSON", "LOC"})
    ):
        return None
    key = thing(clause, noun, "Organization")
    return key if key is not None and kind(clause, key) in {"Organization", "Project"} else None


def members(clause: Clause) -> Iterator[Finding]:
    """I joined a choir; she sings in a band; he's captain of the team; our band."""
    nouns: list[tuple[Token, bool, Change]] = []
    over: Change = change(clause)
    if clause.means(verbs.lemmas("join, rejoin, captain, lead, coach, chair")):
        nouns += [(noun, clause.lemma in {"join", "rejoin"} and noun.ent_type_ == "", over) for noun in clause.objects]
    elif clause.means(LEAVE):
        nouns += [(noun, False, "ended") for noun in clause.objects]
    if clause.means(verbs.JOIN):
        nouns += [(noun, False, over) for noun in clause.on_verb("in", "for", "with", "to", "on")]
    for oblique in clause.obliques:
        if (
            listed(oblique.holder, MEMBERS)
            and oblique.prep in {"of", "in", "for", "at"}
            and clause.lemma in {"be", "become"}
        ):
            nouns.append((oblique.noun, True, over))
    for noun, loose, how in nouns:
        key = group(clause, noun, loose=loose)
        yield from told(clause.people, "PART_OF", key, clause, LIKELY, how)
    for noun in clause.own:
        if noun.pos_ == "NOUN" and listed(
            noun,
            things.words("band choir team club orchestra quartet book-club"),
        ):
            whose = owning(clause, noun)
            key = group(clause, noun) if whose is not None else None
            if whose is not None and key is not None:
                yield Finding(whose, "PART_OF", key, clause, LIKELY)


def parts(clause: Clause) -> Iterator[Finding]:
    """Vallila is part of Helsinki; the lab belongs to Keele."""
    nouns: list[Token] = []
    if clause.lemma == "be" and any(token.lower_ == "part" for token in clause.complements):
        nouns = clause.at("of")
    elif clause.lemma == "belong":
        nouns = clause.at("to")
    for subject in clause.subjects:
        if subject.pos_ not in {"NOUN", "PROPN"} or clause.reading.person(subject) is not None:
            continue
        for noun in nouns:
            what = thing(clause, subject)
            whole = thing(clause, noun) if what is not None else None
            if what is not None and whole is not None and what != whole:
                yield Finding(what, "PART_OF", whole, clause, LIKELY, change(clause))


def subjects(clause: Clause) -> Iterator[Finding]:
    """A book about bees; her PhD on soil; the talk is about memory."""
    pairs = [(oblique.holder, oblique.noun) for oblique in clause.obliques if oblique.prep == "about" or (
        oblique.prep == "on" and not listed(oblique.noun, CHANNELS))]  # fmt: skip
    if clause.lemma == "be":
        pairs += [(subject, noun) for subject in clause.subjects for noun in clause.on_verb("about")]
    for work, topic in pairs:
        if (
            not listed(work, WORKS)
            or {work.pos_, topic.pos_} - {"NOUN", "PROPN"}
            or topic.ent_type_ in {"DATE", "TIME"}
        ):
            continue
        what = None if listed(topic, things.TIMES) else thing(clause, topic)
        yield from told([thing(clause, work, "Media")] if what is not None else [], "ABOUT", what, clause)


def needs(clause: Clause) -> Iterator[Finding]:
    """The app depends on Postgres; it runs on a Pi; it is written in Elixir."""
    nouns: list[Token] = []
    if clause.means(verbs.lemmas("depend, rely, hinge")):
        nouns = clause.on_verb("on", "upon")
    elif clause.means(verbs.lemmas("run, build, base, power, write, host")) and (
        clause.passive or clause.lemma == "run"
    ):
        nouns = [
            noun
            for noun in clause.on_verb("on", "in", "with")
            if named(noun) and noun.ent_type_ not in {"GPE", "DATE", "PERSON", "LOC"}
        ]
    for subject in clause.subjects:
        if clause.reading.person(subject) is not None:
            continue
        for noun in nouns:
            what = thing(clause, subject)
            base = thing(clause, noun) if what is not None else None
            if what is not None and base is not None and what != base and kind(clause, what) != "Person":
                yield Finding(what, "DEPENDS_ON", base, clause, LIKELY, change(clause))


def causes(clause: Clause) -> Iterator[Finding]:
    """The migraines come from screens; the flood was caused by the storm; the mould triggers her asthma."""
    pairs: list[tuple[Token, Token]] = []
    if clause.means(verbs.lemmas("cause, trigger, provoke, spark, worsen")):
        pairs = [(subject, noun) for subject in clause.subjects for noun in clause.objects]
        if clause.passive:
            pairs = [(noun, subject) for subject in clause.subjects for noun in clause.at("by")]
    for cause, effect in pairs:
        if cause.pos_ in {"NOUN", "PROPN"} and effect.pos_ in {"NOUN", "PROPN"}:
            why, what = thing(clause, cause), thing(clause, effect)
            if why is not None and what is not None and why != what:
                yield Finding(what, "CAUSED_BY", why, clause, MAYBE)


__all__ = ["MAYBE", "SURE", "read"]
