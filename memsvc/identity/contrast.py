"""Whether names tell two things apart that are described alike: "iPhone 12" and "iPhone 13", "Lena" and "Lina".

Descriptions of two such things may be the same word by word, so their vectors say nothing about it. Names that only
differ ("Laptop", "Notebook computer") tell nothing apart; people are told apart by any other name.
"""

from __future__ import annotations

from itertools import product, takewhile

from memsvc.identity.cards import Card
from memsvc.identity.counts import differently_counted, pieces
from memsvc.identity.judging import CONTRARY, judge
from memsvc.identity.names import PERSON, parse

MOST_NAMES = 10
"""Most names of each node that are compared."""


def told_apart(a: str, b: str, node_type: str) -> bool:
    """Whether two names that are not alike say that two things of a type are different.

    They do where both have numbers or times, and others; or where both end with the same words, and begin with others:
    what comes last says what a thing is, what comes before says which.
    """
    ours, theirs = parse(a, node_type).words, parse(b, node_type).words
    if differently_counted(ours, theirs):
        return True
    ours, theirs = pieces(ours), pieces(theirs)
    alike = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(ours), reversed(theirs), strict=False))
    )
    return 0 < alike < min(len(ours), len(theirs))


def may_be_same(a: Card, b: Card) -> float | None:
    """Whether two nodes that are described alike may be the same, for a person to decide.

    Returns:
        The judge's score; None if names, properties or facts speak against it. Of two people, one must have no proper
        name: two names that do not agree are two people.
    """
    if a.type != b.type or not a.names or not b.names or (a.type == PERSON and a.named == b.named):
        return None
    verdict = judge(a, b)
    against = ("attributes_against", "company_against")
    if any(verdict.evidence.get(name) for name in against) or verdict.evidence.get("name", 0) <= CONTRARY:
        return None
    if any(told_apart(one, other, a.type) for one, other in product(a.names[:MOST_NAMES], b.names[:MOST_NAMES])):
        return None
    return verdict.score
