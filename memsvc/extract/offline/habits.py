"""What people do of themselves, again and again, and so like to do: hobbies, pastimes, what they read and eat."""

from __future__ import annotations

from collections.abc import Iterator

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    Finding,
    listed,
    named,
    told,
)
from memsvc.extract.offline.lexicon_tastes import HABITUAL, HOBBIES, OUTRIGHT, PASTIMES, TASTES
from memsvc.extract.offline.lexicon_tools import GAMES
from memsvc.extract.offline.liking import targets
from memsvc.extract.offline.reading import Status


def read(clause: Clause) -> Iterator[Finding]:
    """What people do of themselves, again and again: she reads crime novels, I knit, he's taken up pottery."""
    if clause.status is not Status.SO or clause.asked or clause.modal:
        return
    progressive = clause.verb.tag_ == "VBG" and any(noun in clause.objects for noun in clause.objects
                                                    if valence.measured(noun) != noun)  # fmt: skip
    plain = clause.verb.tag_ in {"VBP", "VBZ"} and not any(
        child.dep_ in {"aux", "auxpass"} for child in clause.verb.children
    )
    if (plain or progressive or often(clause)) and clause.means(HOBBIES):
        yield from tastes(clause)
    if plain and clause.lemma in {"go", "do", "practise", "practice", "play"}:
        yield from pastimes(clause)
    begun = clause.means(verbs.lemmas("take up, get into, get back into, start, begin, go, get, be"))
    for token in [*clause.objects, *clause.on_verb("to", "into"), *clause.inner] if begun else []:
        if token.lower_ in OUTRIGHT.values() and clause.people and (clause.lemma != "go" or clause.adverb == "back"):
            yield from told(clause.people, "LIKES", clause.reading.made(token.lower_, "Concept", token), clause, MAYBE)
    if clause.means(verbs.lemmas("take up")):
        for key in targets(clause, clause.objects):
            yield from told(clause.people, "LIKES", key, clause, LIKELY)


def often(clause: Clause) -> bool:
    """Whether a verb whose form leaves its time open is said to be done much: "I read a lot of sci-fi"."""
    if clause.verb.lower_ != clause.lemma:
        return False
    return any(valence.measured(noun) != noun for noun in clause.objects)


def tastes(clause: Clause) -> Iterator[Finding]:
    """What is read, eaten, listened to again and again; or the doing itself where nothing is named."""
    nouns = [noun for noun in map(valence.measured, clause.objects) if noun.pos_ in {"NOUN", "PROPN"} or named(noun)]
    nouns = [noun for noun in nouns if noun.ent_type_ not in {"DATE", "TIME", "PERSON"}]
    nouns = [noun for noun in nouns if not listed(noun, things.INSTRUMENTS)]  # these are used
    nouns += clause.on_verb("to") if clause.lemma == "listen" else []
    if nouns and clause.means(TASTES) and not any(listed(noun, things.EMPTY) for noun in nouns):
        for key in targets(clause, nouns):
            yield from told(clause.people, "LIKES", key, clause, HABITUAL)
    elif not clause.objects and clause.lemma in OUTRIGHT and clause.people and not (going(clause) or clause.particle):
        name = OUTRIGHT[clause.lemma]
        yield from told(clause.people, "LIKES", clause.reading.made(name, "Concept", clause.verb), clause, HABITUAL)


def going(clause: Clause) -> bool:
    """Whether it is a way to get somewhere: "I cycle to work"."""
    return bool(clause.on_verb("to", "from")) or any(verb.lower_ == "work" for verb in clause.inner)


def pastimes(clause: Clause) -> Iterator[Finding]:
    """I go climbing on Thursdays; we play a lot of chess; Ana does yoga."""
    doing = [verb for verb in clause.inner if verb.tag_ == "VBG" and verb.lower_ in {*OUTRIGHT.values(), *PASTIMES}]
    if clause.lemma == "go":
        for verb in doing:
            name = verb.lower_
            yield from told(clause.people, "LIKES", clause.reading.made(name, "Concept", verb), clause, HABITUAL)
        return
    for noun in map(valence.measured, clause.objects):
        if noun.lower_ in PASTIMES or (clause.lemma == "play" and noun.lower_ in GAMES):
            key = clause.reading.made(noun.lower_, "Concept", noun) if clause.people else None
            yield from told(clause.people, "LIKES", key, clause, HABITUAL)
