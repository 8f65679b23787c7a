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
HEADS = frozenset({"NOUN", "PROPN", "ADJ", "VERB", "NUM", "X"})
INSIDE = frozenset({"compound", "punct", "amod", "nmod", "npadvmod"})


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
    head = measured(token)
    if head is None or head.pos_ not in HEADS or head.is_punct or head.like_num:
        return None
    if head.lower_ in things.EMPTY or head.lemma_.lower() in things.EMPTY:
        return None
    parts = {head.i: head}
    for child in head.lefts:
        if child.dep_ in {"compound", "nmod", "amod"} and child.lower_ not in EVALUATING:
            inner = (word for word in child.subtree if word.dep_ in INSIDE and word.lower_ not in EVALUATING)
            parts.update({word.i: word for word in inner})
        elif child.tag_ == "HYPH" and child.i == head.i - 1:  # "sci-fi"
            parts[child.i] = child
    kept = [parts[at] for at in sorted(parts)][-MAX_WORDS:]
    name = "".join(word.text + (" " if word.whitespace_ else "") for word in kept).strip(" -,\"'")
    if not any(sign.isalpha() for sign in name):
        return None
    proper = any(word.pos_ == "PROPN" for word in kept)
    definite = any(child.lower_ in {"the", "this", "that"} or child.dep_ == "poss" for child in head.children)
    return Phrase(head, name if proper else name.lower(), kept[0].i, head.i + 1, definite)


def measured(token: Token) -> Token | None:
    """What a measure is of: tea in "a cup of tea"; None where nothing follows."""
    for _ in range(2):
        if token.lemma_.lower() in MEASURES:
            inner = [grand for child in token.children if child.lower_ == "of" for grand in child.children]
            if not inner:
                return None
            token = inner[0]
    return token


def kind_of(phrase: Phrase, types: Sequence[str]) -> str:
    """The node type of an unnamed thing, by its noun where that fits what is asked; empty: it does not fit."""
    guess = kind_of_noun(phrase.head)
    if not types:
        return guess or ("Concept" if phrase.head.tag_ in {"VBG", "NN"} and not phrase.head.is_stop else "Object")
    if not guess or guess in types:
        return guess or types[0]
    if guess in {"Person", "Event"}:  # nobody owns a wedding
        return ""
    return types[0]


def same(known: str, name: str, *, definite: bool) -> bool:
    """Whether a phrase with the same head means what was named before: "the van" after "a blue van"."""
    if known == name:
        return True
    return definite and (known.endswith(name) or name.endswith(known))
