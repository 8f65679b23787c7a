"""What is a part of what, what a work is about, what needs and what causes what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_frames as frames
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import usage, valence
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
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
LEAVE = verbs.lemmas("leave, quit, drop out, resign, drop, step down, walk out")
CHANNELS = things.PLACES | things.words("netflix youtube spotify bbc tv radio amazon zoom")
WORKS = things.MEDIA | things.COURSES | things.words("thesis dissertation phd talk research project exhibition article")
STUDIED = things.words("phd thesis dissertation research talk lecture paper essay masters doctorate")
FUELS = things.words("propane gas petrol diesel electricity battery batteries coal wood hydrogen solar steam oil")
NOT_OWN = frozenset({"favourite", "favorite", "fave", "old", "former", "first", "ideal", "dream"})
THINGS = frozenset({"NOUN", "PROPN", "PRON", "X"})
TIMES = frozenset({"DATE", "TIME", "CARDINAL", "PERCENT", "MONEY", "QUANTITY", "ORDINAL"})
VAGUE = frozenset({"it", "that", "this", "what", "everything", "something", "nothing", "stuff"})


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
    """I joined a choir; she sings in a band; he's captain of the team; I play for Harrow Rovers; our band."""
    nouns: list[tuple[Token, bool, Change]] = []
    over: Change = change(clause)
    for frame, noun in valence.filled(clause, frames.JOINING):
        holder = bool(frame.holder) or clause.lemma in {"belong", "join", "rejoin"}
        sporting = frame.place == "for" and clause.lemma != "be"
        nouns.append((noun, holder or sporting, over))
    if clause.means(LEAVE) and clause.said:
        nouns += [(noun, False, "ended") for noun in [*clause.objects, *clause.at("of", "out of", "from")]]
    for oblique in clause.obliques:
        if (
            listed(oblique.holder, MEMBERS)
            and oblique.prep in {"of", "in", "for", "at", "on"}
            and clause.lemma in {"be", "become"}
        ):
            nouns.append((oblique.noun, True, over))
    for noun, loose, how in nouns:
        key = group(clause, noun, loose=loose)
        yield from told(clause.people, "PART_OF", key, clause, LIKELY, how)
    yield from my_groups(clause)


def my_groups(clause: Clause) -> Iterator[Finding]:
    """Our band, my choir; not my favourite band."""
    for noun in clause.own:
        if noun.pos_ == "NOUN" and listed(
            noun,
            things.words("band choir team club orchestra quartet book-club"),
        ):
            told_of = any(child.lower_ in NOT_OWN for child in noun.children)
            told_of = told_of or (clause.lemma == "be" and noun in clause.complements)  # "the Rovers are my team"
            whose = owning(clause, noun) if not told_of else None
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
            yield from between(clause, subject, "PART_OF", noun)


def between(clause: Clause, subject: Token, type_: str, other: Token, confidence: float = LIKELY) -> Iterator[Finding]:
    """A relation of one thing to another, neither of them a person."""
    if subject.pos_ not in THINGS or other.pos_ not in THINGS or subject.ent_type_ in TIMES or other.ent_type_ in TIMES:
        return
    if listed(other, things.TIMES | things.EMPTY) or listed(subject, things.EMPTY):
        return
    if clause.reading.person(subject) is not None or clause.reading.person(other) is not None:
        return
    what = clause.reading.entity(subject) if subject.pos_ == "PRON" else thing(clause, subject)
    whole = thing(clause, other) if what is not None else None
    if what is None or whole is None or what == whole or "Person" in {kind(clause, what), kind(clause, whole)}:
        return
    yield Finding(what, type_, whole, clause, confidence, change(clause))


def subjects(clause: Clause) -> Iterator[Finding]:
    """A book about bees; her PhD on soil; the talk is about memory; the course covers statistics."""
    pairs = [(oblique.holder, oblique.noun, LIKELY) for oblique in clause.obliques if oblique.prep == "about" or (
        oblique.prep == "on" and not listed(oblique.noun, CHANNELS))]  # fmt: skip
    if clause.lemma == "be":
        pairs += [(subject, noun, LIKELY) for subject in clause.subjects for noun in clause.on_verb("about")]
        pairs += [(subject, noun, MAYBE) for subject in clause.subjects for noun in clause.on_verb("on", "of")
                  if not listed(noun, CHANNELS) and listed(subject, STUDIED)]  # fmt: skip
    for _, noun in valence.filled(clause, frames.TELLING):
        pairs += [(subject, noun, MAYBE) for subject in clause.subjects]
    for holder, topic, confidence in pairs:
        work = named_work(clause, holder)
        if not (listed(work, WORKS) or (named(work) and telling(clause, work))):
            continue
        if not listed(topic, things.TIMES) and topic.pos_ in {"NOUN", "PROPN"} and topic.lower_ not in VAGUE:
            yield from about(clause, work, topic, confidence)


def named_work(clause: Clause, work: Token) -> Token:
    """The work's name where the clause tells it: Salt Roads in "Salt Roads is a novel about smugglers"."""
    if clause.lemma == "be" and work in clause.complements and clause.subjects and named(clause.subjects[0]):
        return clause.subjects[0]
    return work


def telling(clause: Clause, work: Token) -> bool:
    """Whether a name is that of a work or project, which may be about something."""
    key = clause.reading.entity(work)
    return key is not None and kind(clause, key) in {"Media", "Project", "Document"}


def about(clause: Clause, work: Token, topic: Token, confidence: float) -> Iterator[Finding]:
    """What a work is about; a person may be that too."""
    what = thing(clause, topic) if topic.ent_type_ not in TIMES else None
    key = thing(clause, work) if what is not None else None
    if key is not None and what is not None and clause.reading.person(work) is None:
        yield from told([key], "ABOUT", what, clause, confidence)


def needs(clause: Clause) -> Iterator[Finding]:
    """The app depends on Postgres; it runs on a Pi; it is written in Elixir; we built the game with Godot."""
    for frame, noun in valence.filled(clause, frames.NEEDING):
        leaning = clause.lemma in {"depend", "rely", "hinge", "require", "base"}
        tool_named = named(noun) and (usage.tool(noun) or noun.ent_type_ not in {"DATE", "PERSON", "LOC", "GPE"})
        made = clause.lemma in {"write", "code", "build", "implement", "program", "develop", "rewrite", "make"}
        if made and not (tool_named or usage.tool(noun)):
            continue
        fuel = clause.lemma in {"run", "power", "drive", "fuel", "heat"} and listed(noun, FUELS)
        if not (leaning or tool_named or usage.tool(noun) or fuel):
            continue
        subjects_ = clause.subjects
        if made and not clause.passive:
            subjects_ = [each for each in clause.objects if not usage.tool(each)] if frame.place != "object" else []
        for subject in subjects_:
            yield from between(clause, subject, "DEPENDS_ON", noun)


def causes(clause: Clause) -> Iterator[Finding]:
    """The migraines come from screens; the storm caused the flood; dairy gives me hives; due to the strike."""
    pairs: list[tuple[Token, Token]] = []
    for _, noun in valence.filled(clause, frames.RESULTING):
        pairs += [(noun, subject) for subject in clause.subjects]
    for frame, noun in valence.filled(clause, frames.CAUSING):
        if not (frame.place == "object" and clause.lemma == "give" and not valence.receivers(clause)):
            pairs += [(subject, noun) for subject in clause.subjects]
    strong = clause.means(verbs.lemmas("cause, trigger, provoke, worsen, aggravate"))
    for cause, effect in pairs:
        leads = {cause.pos_, effect.pos_} <= {"NOUN", "PROPN"} and clause.lemma in {"lead", "result"}
        if strong or leads or listed(effect, frames.TROUBLES):
            yield from between(clause, effect, "CAUSED_BY", cause, MAYBE)
