"""What people call their favourite, their hobby, their passion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    LIKELY,
    SURE,
    Finding,
    change,
    listed,
    owning,
    told,
)
from memsvc.extract.offline.lexicon_tastes import HOBBY
from memsvc.extract.offline.liking import action, targets

if TYPE_CHECKING:
    from spacy.tokens import Token


def read(clause: Clause) -> Iterator[Finding]:
    """Jazz is my favourite; my favourite band is Low; my hobby is knitting; favourite food: ramen."""
    if not clause.said or clause.asked:
        return
    if clause.verb.pos_ == "NOUN" and clause.implied and favourite(clause.verb):
        others = [child for child in clause.verb.children if child.dep_ == "appos"]
        for key in targets(clause, others):
            yield from told(clause.people, "LIKES", key, clause, LIKELY)
    if clause.verb.tag_ == "VBG":  # "my hobby is knitting", which the parser takes for what it does
        for noun in clause.subjects:
            if listed(noun, HOBBY):
                deed = next(action(clause, clause.verb), None)
                yield from told([owning(clause, noun)], "LIKES", deed, clause, LIKELY)
    if clause.lemma == "be":
        gerunds = [verb for verb in clause.inner if verb.tag_ == "VBG"]
        yield from is_favourite(clause, clause.subjects, [*clause.complements, *gerunds])
        yield from is_favourite(clause, clause.complements, clause.subjects)


def is_favourite(clause: Clause, side: list[Token], other: list[Token]) -> Iterator[Finding]:
    """Where one side of "is" names a favourite, that the other side is it."""
    for noun in side:
        type_ = favourite(noun)
        whose = owning(clause, noun) if type_ and noun.pos_ in {"NOUN", "ADJ", "PROPN"} else None
        if whose is not None:
            for key in targets(clause, [each for each in other if each != noun and each.pos_ != "PRON"]):
                yield from told([whose], type_, key, clause, SURE, change(clause))


def favourite(noun: Token) -> str:
    """LIKES of "favourite band" or "hobby", DISLIKES of "least favourite subject"; empty: neither."""
    near = {child.lower_: child for child in noun.children if child.dep_ in {"amod", "compound", "advmod"}}
    near[noun.lower_] = noun
    guilty = noun.lower_ == "pleasure" and "guilty" in near
    if guilty:
        return "LIKES"
    found = near.keys() & {"favourite", "favorite", "fave", "fav", "hobby", "passion", "hobbies", "passions", "pastime"}
    least = "least" in near or any(child.lower_ == "least" for each in near.values() for child in each.children)
    return "" if not found else "DISLIKES" if least else "LIKES"
