"""Relatives who are listed where somebody asked for them, or right after they were counted.

"What are your daughters called?" - "Aoife and Róisín.", "We have two boys. Kerem 6, Deniz 9."
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from spacy.tokens import Span, Token

from memsvc.extract.offline import kinship
from memsvc.extract.offline import lexicon_kin as kin
from memsvc.extract.offline.settling import Settling

OWN = frozenset({"my", "our"})
BETWEEN = frozenset({",", "and", "&", "(", ")", "-", "is", "'s", "then", "in", "from"})
LEAD = 3
"""Words before the first name: "yes", "well", "so"."""


def read_lists(reading: Settling) -> None:
    """Find the relatives of a turn that are named without saying again what they are."""
    if reading.speaker is None:
        return
    sentences = list(reading.doc.sents)
    read_answers(reading, sentences)
    for sentence in sentences:
        for noun, relation in relatives(sentence, OWN):
            if noun.tag_ == "NNS" or noun.lower_ in kin.PLURALS:
                name_them(reading, reading.doc[noun.i + 1 : sentence.end], relation)
    for before, after in pairwise(sentences):
        for noun, relation in relatives(before, OWN):
            if noun.tag_ == "NNS" or noun.lower_ in kin.PLURALS:
                name_them(reading, after, relation)


def read_answers(reading: Settling, sentences: list[Span]) -> None:
    """Find the relatives that somebody else asked for just before."""
    if sentences and reading.earlier:
        last = list(reading.earlier[0].doc.sents)[-1]
        if last.text.rstrip().endswith("?") and reading.earlier[0].speaker != reading.speaker:
            said = next((sent for sent in sentences if not all(token.like_num or token.is_punct for token in sent)),
                        sentences[0])  # fmt: skip
            for noun, relation in [*relatives(last, frozenset({"your"})), *several(last)]:
                if noun.tag_ == "NNS" or noun.lower_ in kin.PLURALS or asks_name(last):
                    name_them(reading, said, relation)


def relatives(sentence: Span, whose: frozenset[str]) -> Iterator[tuple[Token, str]]:
    """Nouns for relatives that "my", or a number behind "we have", makes the speaker's."""
    for token in sentence:
        relation = kinship.relation_of(token)
        if relation not in kin.FAMILY:
            continue
        owned = any(child.dep_ == "poss" and child.lower_ in whose for child in token.children)
        counted = any(child.dep_ == "nummod" for child in token.children) and token.head.lemma_ in {"have", "get", "be"}
        if owned or counted:
            yield token, relation


def several(question: Span) -> Iterator[tuple[Token, str]]:
    """Relatives that a question asks for without saying whose: "And children?"."""
    for token in question:
        relation = kinship.relation_of(token)
        whose = any(child.dep_ == "poss" for child in token.children)
        if relation in kin.FAMILY and not whose and (token.tag_ == "NNS" or token.lower_ in kin.PLURALS):
            yield token, relation


def asks_name(question: Span) -> bool:
    """Whether a question asks what somebody is called."""
    return any(token.lower_ in {"name", "names", "called", "who"} for token in question)


def name_them(reading: Settling, sentence: Span, relation: str) -> None:
    """Take the persons with whose names a sentence begins as relatives of who speaks."""
    at, found = sentence.start, 0
    while at < sentence.end:
        key = reading.named.get(at)
        token = reading.doc[at]
        if key is not None and reading.cast[key].kind == "Person" and not reading.cast[key].relation:
            kinship.named(reading, kinship.Relative(token, reading.speaker or 0, relation), key)
            found += 1
            while reading.named.get(at) == key:
                at += 1
            continue
        if key is not None and reading.cast[key].relation and not found and reading.cast[key].of == reading.speaker:
            found += 1  # "my sons Piet and Jan": one is bound already
            at += 1
            continue
        filler = token.lower_ in BETWEEN or token.like_num or (key is not None and reading.cast[key].kind == "Place")
        if not (filler and found) and (key is not None or at - sentence.start >= LEAD or found):
            return
        at += 1
