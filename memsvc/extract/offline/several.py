"""Where somebody has several of what one mostly has one of: "I also work at Lidl", "a flat in Porto, a house in Braga".

Such a value does not end the other one: its finding's data has ``beside``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import DOUBTFUL, MAYBE, Finding, listed
from memsvc.extract.offline.homes import HOME_WORDS, LETS, born
from memsvc.graph.operations import BESIDE

if TYPE_CHECKING:
    from spacy.tokens import Token

ADDING = re.compile(r"\b(?:as well(?! as)|in addition|on the side|part[- ]time|besides?)\b", re.IGNORECASE)
FURTHER = frozenset({"second", "third", "other", "another", "extra", "additional", "side", "weekend", "evening"})
"""Before a job or a home, these say that there is one more."""


def several(found: Sequence[Finding], functional: AbstractSet[str]) -> Iterator[Finding]:
    """Findings of a turn; those that hold beside another value are marked.

    Args:
        found: in their order.
        functional: types that have one value at a time.
    """
    for place, one in enumerate(found):
        also = one.type in functional and one.change == "holds" and (
            adds(one) or any(joined(other, one) for other in found[:place])
        )  # fmt: skip
        yield replace(one, data={**one.data, BESIDE: True}) if also else one


def adds(finding: Finding) -> bool:
    """Whether a clause says that a value comes to another one."""
    clause: Clause = finding.clause
    if finding.type == "LIVES_IN" and clause.means(verbs.MOVE):
        return False  # "I got a new job, and we also moved to Porto"
    if ADDING.search(clause.words) or any(comes_to(token) for token in clause.own):
        return True
    nouns = [token for token in clause.own if listed(token, things.JOBS | HOME_WORDS | LETS)]
    return any(child.lower_ in FURTHER for noun in nouns for child in noun.lefts)


def comes_to(token: Token) -> bool:
    """Whether a word is the "also" or "too" of a predicate, not the one of "too tired"."""
    return token.lower_ in {"also", "too"} and token.head.pos_ not in {"ADJ", "ADV"}


def joined(first: Finding, other: Finding) -> bool:
    """Whether two values are told in one breath of one time: "I work at Lidl and at Boots"."""
    if (first.subject, first.type, first.change) != (other.subject, other.type, other.change):
        return False
    if first.object == other.object or born(first) or born(other):
        return False
    one, two = first.clause.verb, other.clause.verb
    begins = verbs.MOVE | verbs.BEGIN_WORK | verbs.BEGIN
    moving = any(each.clause.means(begins) or each.clause.past for each in (first, other))
    return (one == two or one in two.conjuncts) and not moving


def spoken_for(found: Sequence[Finding], functional: AbstractSet[str]) -> Iterator[Finding]:
    """Findings of a window; another's word against what one voice says of somebody's home or work is doubtful.

    Who speaks of himself is believed; of two others who differ, the first in the order of ``found``, for they may speak
    of two people.
    """
    told: dict[tuple[int, str], dict[int | None, set[int]]] = {}
    for one in sorted(found, key=lambda each: each.clause.reading.index):
        if one.type in functional and one.change == "holds" and one.confidence >= MAYBE:
            voices = told.setdefault((one.subject, one.type), {})
            voices.setdefault(one.clause.reading.speaker, set()).add(one.object)
    for one in found:
        voices = told.get((one.subject, one.type), {}) if one.change == "holds" else {}
        voice = one.clause.reading.speaker
        first = one.subject if one.subject in voices else next(iter(voices), voice)
        against = voice not in {first, one.subject} and one.object not in voices[first]
        yield replace(one, confidence=min(one.confidence, DOUBTFUL)) if against else one
