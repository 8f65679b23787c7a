"""What is liked, for all that read tastes: things, days, and deeds by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import valence
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    listed,
    named,
    owning,
    phrase,
    thing,
    word,
)
from memsvc.extract.offline.lexicon_tastes import GREETINGS, PASSING, SPANS

if TYPE_CHECKING:
    from spacy.tokens import Token

SHORT = 4
VAGUE = frozenset(
    {"playing", "making", "taking", "working", "trying", "looking", "being", "coming", "putting", "doing"}
)
"""What says too little of what is gladly done."""


def targets(clause: Clause, nouns: list[Token]) -> Iterator[int]:
    """The entities of what is liked; of actions ("baking bread") as well."""
    for noun in map(valence.measured, nouns):
        if noun.tag_ == "VBG" and noun.pos_ in {"VERB", "AUX"}:
            yield from action(clause, noun)
        elif noun.lower_ in {"it", "them", "there"}:
            key = clause.reading.entity(noun)
            if key is not None and key != clause.reading.partner:
                yield key
        elif noun.lower_.rstrip("s") in SPANS:  # days and seasons are times elsewhere
            yield clause.reading.made(noun.text if noun.text[0].isupper() else noun.lower_, "Concept", noun)
        elif (
            (word(noun) not in GREETINGS | PASSING or (word(noun) == "job" and owning(clause, noun) is not None))
            and not any(child.lower_ == "your" for child in noun.children)
            and noun.lower_ not in {"you", "me", "myself", "that", "this"}
        ):
            usable = noun.pos_ != "ADJ" or named(noun) or listed(noun, things.HOMES)  # "flat"
            key = thing(clause, noun) if usable else None
            if key is not None and key != clause.reading.partner:
                yield key


def empty(noun: Token) -> bool:
    """Whether a noun says nothing by itself: "it", "things"."""
    return noun.pos_ == "PRON" or (listed(noun, things.EMPTY) and valence.measured(noun) == noun)


def action(clause: Clause, verb: Token) -> Iterator[int]:
    """What is gladly done: "baking", "swimming in the sea"; of "doing yoga", the yoga."""
    if verb.tag_ != "VBG" or any(child.dep_ == "dobj" and empty(child) for child in verb.children):
        return
    if verb.lemma_ in {"do", "go"}:
        inner = [child for child in verb.children if child.dep_ in {"dobj", "xcomp", "advcl"}]
        inner += [noun for child in verb.children if child.lower_ == "to" for noun in child.children]
        yield from targets(
            clause, [child for child in inner if child.pos_ in {"NOUN", "PROPN"} or child.tag_ == "VBG"][:1]
        )
    elif verb.lemma_ not in {"be", "have", "get", "see", "hear", "know", "think", "use"}:
        name = phrase(verb, SHORT, gerund=True)
        if name.lower() in VAGUE:
            return
        last = name.split()[-1]
        if any(token.pos_ in {"ADJ", "DET"} and token.text == last for token in verb.subtree):
            return  # cut short: "drawing odd and colourful maps"
        if not any(token.pos_ == "PROPN" for token in verb.subtree):
            name = name.lower()
        yield clause.reading.made(name, "Concept", verb)


def has_subject(verb: Token) -> bool:
    """Whether a verb has a subject of its own."""
    return any(child.dep_.startswith("nsubj") for child in verb.children)
