"""Noun phrases as names of unnamed things: "my new blue van, which …" is "blue van"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Token

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.votes import kind_of_noun

MAX_WORDS = 5
EVALUATING = words("""
    new old own last next first second third other another same whole big small little great nice lovely good bad
    best worst favourite favorite beautiful gorgeous amazing awesome fantastic cool tiny huge bloody damn fucking
    stupid few many much more most several certain different various such current former late early entire actual
    real proper only very short long weekly daily monthly yearly annual second-hand used brand-new fresh cheap
    expensive decent main final latest recent original young perfect crazy funny silly poor dear pretty delicious
    tasty yummy awful terrible horrible wonderful incredible weird strange random ancient shiny trusty beloved
    adorable cute sweet wee massive enormous absolute total complete full half extra additional usual regular normal
    general
""")
MEASURES = words("""
    cup bottle pair bit kind lot couple piece glass slice sort type bunch bag box pint plate bowl set series couple
    number ton load dozen batch packet tin jar pack tonne kilo litre liter pound loads lots tons plenty
""")
FALLBACK = {"animal": "Object"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase."""

    head: Token
    name: str
    start: int
    end: int
    definite: bool


def phrase_of(token: Token) -> Phrase | None:
    """The phrase around a head; None where it says nothing."""
    head = token
    for _ in range(2):
        if head.lemma_.lower() in MEASURES:
            inner = next((grand for child in head.children if child.lower_ == "of" for grand in child.children), None)
            if inner is None:
                return None
            head = inner
    if head.pos_ not in {"NOUN", "PROPN", "ADJ", "VERB", "NUM", "X"} or head.lower_ in things.EMPTY or head.is_punct:
        return None
    if head.lemma_.lower() in things.EMPTY or (head.pos_ == "NUM" and head.dep_ != "pobj") or head.like_num:
        return None
    words = [head]
    for child in sorted(head.lefts, key=lambda left: -left.i):
        if child.i != words[-1].i - 1 and not all(
            between.is_punct and between.text == "-" for between in head.doc[child.i + 1 : words[-1].i]
        ):
            if child.dep_ not in {"compound", "amod", "nmod"}:
                continue
        if child.dep_ in {"compound", "nmod"} or (
            child.dep_ == "amod" and child.lower_ not in EVALUATING and child.pos_ in {"ADJ", "NOUN", "VERB", "PROPN"}
        ):
            words += [
                inner
                for inner in sorted(child.subtree, key=lambda t: -t.i)
                if inner.dep_ in {"compound", "punct", "amod", "nmod", "npadvmod"} and (inner.lower_ not in EVALUATING)
            ]
    words = sorted({word.i: word for word in words}.values(), key=lambda word: word.i)[-MAX_WORDS:]
    name = "".join(word.text + (" " if word.whitespace_ else "") for word in words).strip(" -,\"'")
    if not any(sign.isalpha() for sign in name):
        return None
    definite = any(child.lower_ in {"the", "this", "that"} or child.dep_ == "poss" for child in head.children)
    return Phrase(
        head, name if any(w.pos_ == "PROPN" for w in words) else name.lower(), words[0].i, head.i + 1, definite
    )


def kind_of(phrase: Phrase, types: Sequence[str]) -> str:
    """The node type of an unnamed thing: what it is by its noun where that fits what is asked; empty: it does not fit."""
    guess = kind_of_noun(phrase.head)
    if not types:
        return guess or ("Concept" if phrase.head.tag_ in {"VBG", "NN"} and not phrase.head.is_stop else "Object")
    if not guess or guess in types:
        return guess or types[0]
    if guess == "Person":
        return ""
    return types[0]


def same(known: str, name: str, *, definite: bool) -> bool:
    """Whether a phrase with the same head means what was named before: "the van" after "a blue van"."""
    if known == name:
        return True
    return definite and (known.endswith(name) or name.endswith(known))
