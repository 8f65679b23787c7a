"""Works that people are said to have made without a verb of making: authors, "my novel", what is being worked on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    LIKELY,
    MAYBE,
    Finding,
    kind,
    listed,
    named,
    owner,
    owning,
    thing,
    told,
)
from memsvc.extract.offline.lexicon_works import AUTHORS, CRAFTED, OTHERS_WORKS, OWN_WORKS, RUN_WORKS, WRITTEN

if TYPE_CHECKING:
    from spacy.tokens import Token


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about authorship in a clause."""
    if clause.said and not clause.asked:
        yield from authors(clause)
        yield from own_works(clause)
        yield from run_works(clause)
        yield from finished(clause)


def of_people(clause: Clause, noun: Token, confidence: float) -> Iterator[Finding]:
    """That the subjects made what a noun names."""
    key = thing(clause, noun)
    if key is not None and kind(clause, key) not in {"Person", "Place", "Emotion"}:
        yield from told(clause.people, "CREATED", key, clause, confidence)


def authors(clause: Clause) -> Iterator[Finding]:
    """I'm the author of a book; she's the founder of Lumen; Leo is the creator of the game."""
    if clause.lemma in {"be", "become"}:
        for oblique in clause.obliques:
            if oblique.prep == "of" and oblique.holder.lemma_.lower() in AUTHORS:
                yield from of_people(clause, oblique.noun, LIKELY)


def own_works(clause: Clause) -> Iterator[Finding]:
    """My novel, my blog, Rosa's new painting: what is somebody's own work."""
    for noun in clause.own:
        whose = owner(noun)
        if whose is None or noun.pos_ != "NOUN" or noun.dep_ == "compound" or named(noun):
            continue
        if any(child.lower_ in {"favourite", "favorite", "fave", "next", "first"} for child in noun.children):
            continue
        if listed(noun, OWN_WORKS if whose.lower_ in {"my", "our"} else OTHERS_WORKS):
            yield from told([owning(clause, noun)], "CREATED", thing(clause, noun), clause, MAYBE)


def run_works(clause: Clause) -> Iterator[Finding]:
    """I run a blog; Ana has a podcast."""
    if clause.lemma in {"run", "have", "host", "keep"}:
        for noun in clause.objects:
            if listed(noun, RUN_WORKS):
                yield from of_people(clause, noun, LIKELY if clause.lemma == "run" else MAYBE)


def finished(clause: Clause) -> Iterator[Finding]:
    """I finished the quilt; working on a novel: of things that one makes rather than reads or attends."""
    nouns: list[Token] = []
    if clause.means(verbs.lemmas("finish, complete, finish off")) and not clause.passive:
        nouns = [noun for noun in clause.objects if listed(noun, CRAFTED)]
    elif clause.lemma == "work":
        nouns = [
            noun for noun in clause.on_verb("on")
            if listed(noun, CRAFTED) or (listed(noun, WRITTEN) and owner(noun) is None)
        ]  # fmt: skip
    for noun in nouns:
        yield from of_people(clause, noun, MAYBE)
