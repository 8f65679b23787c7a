"""Judges whether two cards are the same node, weighing names, attributes and company as evidence.

Each comparison gives bits: the binary logarithm of how much more often its result occurs for the same node than for
different ones (Fellegi and Sunter 1969). Agreement on something rare weighs more than on something common (Winkler's
adjustment by frequency). The weights are general priors and need no labels; frequencies, where known, come from the
memory that is judged. Two rules override the sum: an automatic merge needs agreement in the full name and in something
else, and no strong contradiction. Thresholds and their measured quality: docs/identity.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from uuid import UUID

from memsvc.identity.cards import Card, Decision, Verdict
from memsvc.identity.names import PERSON, Agreement, best, latin, parse
from memsvc.identity.similarity import is_typo, ratio
from memsvc.identity.words import is_first_name

PRIOR = -9.0
"""Bits before any comparison: of some hundred pairs that look alike, one is the same."""
SAME, UNSURE = 0.985, 0.15
"""Scores from which two are the same, unless a rule forbids it, and from which a person is asked."""
LEAST_SUPPORT = 5.0
"""Bits that attributes and company must give, in addition to the name, for an automatic merge."""
LEAST_SUPPORT_IF_UNSURE = 8.0
"""The same, if a nickname or an initial takes the place of a name."""
LEAST_SUPPORT_FOR_PART = 14.0
"""The same, if only a part of the name agrees: an identifier, or many things."""
MOST_CONTRARY = -5.0
"""Bits against, summed over attributes and company, that still allow an automatic merge."""
COMMON_FIRST_NAME, COMMON_WORD, RARE = 2**-7, 2**-9, 2**-12
"""Default frequencies of a first name, of any other name, and of a word that the memory does not hold."""
MOST_BITS = 12.0
"""Most bits that one word or value can give."""
SHARED_FACT, SHARED_NEIGHBOUR, MOST_COMPANY = 5.0, 2.5, 10.0
"""Bits of the same fact about the same other node, of another fact about it, and the most of all company together."""
RELATED, ONE_VALUE_DIFFERS, SHARED_SOURCE = -14.0, -3.0, 1.0
"""Bits of a fact between the two nodes, of different current values where one is usual, and of a common source."""
COMMON_FACTS = {"LOCATED_AT": 3.0, "LIVES_IN": 3.0, "LIKES": 2.0, "DISLIKES": 2.0, "USES": 2.0, "KNOWS": 3.0}
"""Bits of the same fact about the same other node, for facts that many nodes share."""
NEVER_WITH_ITSELF = frozenset({
    "KNOWS", "FAMILY_OF", "PARTICIPATED_IN", "WORKS_AT", "LIVES_IN", "OWNS", "LIKES", "DISLIKES",
})  # fmt: skip
"""Facts that no node has with itself."""
ONE_VALUE = frozenset({"WORKS_AT", "LIVES_IN", "LOCATED_AT"})
SHARE_OF_NAME = {
    Agreement.EQUAL: 1.0, Agreement.ORDER: 0.9, Agreement.TYPO: 0.75, Agreement.NICKNAME: 0.7, Agreement.INITIAL: 0.5,
    Agreement.PART: 0.5, Agreement.ALIKE: 0.3,
}  # fmt: skip
"""Share of the bits of an equal name that each agreement gives."""
NOT_NAMED_ALIKE, CONTRARY = -4.0, -9.0
FULL = frozenset({Agreement.EQUAL, Agreement.ORDER, Agreement.TYPO, Agreement.NICKNAME, Agreement.INITIAL})
SHORT_FORMS = frozenset({Agreement.NICKNAME, Agreement.INITIAL})
INCOMPATIBLE = -10.0
NEAR_TYPES = frozenset(
    map(
        frozenset,
        [
            ("Place", "Organization"), ("Place", "Object"), ("Organization", "Project"), ("Organization", "Object"),
            ("Object", "Media"), ("Object", "Concept"), ("Object", "Project"), ("Concept", "Project"),
            ("Concept", "Media"), ("Concept", "Event"), ("Event", "Project"), ("Document", "Media"),
            ("Document", "Note"),
        ],
    )
)  # fmt: skip
"""Pairs of types that people and extractors often confuse."""


# Kind of attribute -> (default frequency of a value, bits if two values have nothing in common).
IDENTIFIER, DATE, ADDRESS, TOWN, REGION, NUMBER, OTHER = (
    (2**-14, -4.0), (2**-12, -6.0), (2**-10, -2.0), (2**-8, -2.5), (2**-3, -2.0), (2**-6, -1.5), (2**-5, -1.0)
)  # fmt: skip
KINDS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(
        ("phone", "email", "url", "website", "handle", "id", "isbn", "doi", "passport", "iban"), IDENTIFIER
    ),
    **dict.fromkeys(("birthday", "birth_date", "date_of_birth", "born", "date", "year", "founded"), DATE),
    **dict.fromkeys(("street", "address", "address_2", "house"), ADDRESS),
    **dict.fromkeys(("suburb", "city", "town", "district", "postcode", "zip"), TOWN),
    **dict.fromkeys(("state", "country", "region", "sex", "gender", "language"), REGION),
    **dict.fromkeys(("street_number", "number", "age", "price"), NUMBER),
}
MOVABLE = frozenset({ADDRESS, TOWN})
NEAR_VALUE, TYPO_SHARE = 0.8, 0.7


Fact = tuple[str, str, UUID]


def frequencies(cards: Iterable[Card]) -> dict[str, float]:
    """Return the share of cards that have each word of a name, each value of an attribute and each fact, by key."""
    counted: Counter[str] = Counter()
    total = 0
    for card in cards:
        total += 1
        counted.update({word for name in card.names for word in parse(name, card.type).words})
        counted.update({_key(key, value) for key, value in card.attributes.items()})
        counted.update({_fact_key(fact) for fact in card.facts})
    return {key: count / total for key, count in counted.items()}


def judge(a: Card, b: Card, frequencies: Mapping[str, float] | None = None) -> Verdict:
    """Judge whether two cards are the same node.

    Args:
        a: one card.
        b: the other card.
        frequencies: the result of ``frequencies`` for the memory that is judged: the share (above 0, at most 1) of
            nodes whose names have a word, or that have a value. None: general knowledge of how common names are.
    """
    types = _types(a, b)
    if types == INCOMPATIBLE:
        return Verdict(decision="different", score=0.0, evidence={"type": types})
    agreement, name = _names(a, b, frequencies)
    attributes, against = _attributes(a, b, frequencies)
    company, apart = _company(a, b, frequencies)
    evidence = {"name": name, "attributes": attributes, "company": company, "type": types}
    evidence |= {"attributes_against": against, "company_against": apart}
    bits = PRIOR + sum(evidence.values())
    score = 1 / (1 + 2 ** -max(min(bits, 60.0), -60.0))
    found = {key: round(value, 2) for key, value in evidence.items() if value}
    return Verdict(
        decision=_decision((a, b), score, agreement, (attributes + company, against + apart)),
        score=score,
        evidence=found,
    )


def judge_many(pairs: Iterable[tuple[Card, Card]], frequencies: Mapping[str, float] | None = None) -> list[Verdict]:
    """Return ``judge`` of each pair, in their order."""
    return [judge(a, b, frequencies) for a, b in pairs]


def _decision(pair: tuple[Card, Card], score: float, agreement: Agreement, bits: tuple[float, float]) -> Decision:
    support, against = bits
    if score < UNSURE or (agreement == Agreement.CONTRARY and support < LEAST_SUPPORT_FOR_PART):
        return "different"
    if score < SAME or not all(card.named for card in pair) or against < MOST_CONTRARY or agreement <= Agreement.NONE:
        return "unsure"
    if agreement not in FULL or not _is_whole(pair):
        least = LEAST_SUPPORT_FOR_PART
    else:
        least = LEAST_SUPPORT_IF_UNSURE if agreement in SHORT_FORMS else LEAST_SUPPORT
    return "same" if support >= least else "unsure"


def _is_whole(pair: tuple[Card, Card]) -> bool:
    """Whether both have more than a first name; true for anything but people."""
    return pair[0].type != PERSON or all(
        any(len([word for word in parse(name).words if len(word) > 1]) > 1 for name in card.names) for card in pair
    )


def _types(a: Card, b: Card) -> float:
    if a.type == b.type:
        return 0.0
    return -2.0 if frozenset((a.type, b.type)) in NEAR_TYPES else INCOMPATIBLE


def _names(a: Card, b: Card, known: Mapping[str, float] | None) -> tuple[Agreement, float]:
    node_type = a.type if a.type == b.type else ""
    agreement, one, two = best(a.names, b.names, node_type)
    if agreement <= Agreement.NONE:
        return agreement, CONTRARY if agreement == Agreement.CONTRARY else NOT_NAMED_ALIKE
    ours, theirs = parse(one, node_type).words, parse(two, node_type).words
    words = ours if len(ours) <= len(theirs) else theirs
    if agreement == Agreement.PART:
        words = tuple(word for word in words if word in set(ours) & set(theirs)) or words
    return agreement, SHARE_OF_NAME[agreement] * sum(_bits(_frequency(word, known)) for word in set(words))


def _frequency(word: str, known: Mapping[str, float] | None) -> float:
    if known is not None:
        return known.get(word, RARE)
    return COMMON_FIRST_NAME if is_first_name(word) else COMMON_WORD


def _bits(frequency: float) -> float:
    return min(-math.log2(frequency), MOST_BITS)


@lru_cache(maxsize=200_000)
def _value(text: str) -> str:
    return latin(text).replace(" ", "")


def _key(key: str, value: str) -> str:
    return f"{key}={_value(value)}"


def _fact_key(fact: Fact) -> str:
    return f"{fact[0]} {fact[1]} {fact[2]}"


def _attributes(a: Card, b: Card, known: Mapping[str, float] | None) -> tuple[float, float]:
    """Return bits for and against from attributes with one value; parts of an address may be in each other's fields."""
    ours, theirs = ({key: _value(value) for key, value in card.attributes.items()} for card in (a, b))
    agree, differ = 0.0, 0.0
    apart: list[str] = []
    for key in ours.keys() & theirs.keys():
        bits = _value_bits((key, ours[key]), (key, theirs[key]), known)
        if bits:
            agree += bits
        else:
            apart.append(key)
    moved = _moved(ours, theirs, known)
    for key in apart:
        if key not in moved:
            differ += KINDS.get(key, OTHER)[1]
    return agree + sum(moved.values()) / 2, differ


def _moved(ours: Mapping[str, str], theirs: Mapping[str, str], known: Mapping[str, float] | None) -> dict[str, float]:
    """Return the bits of values under different keys, by the keys of both sides; each value counts twice."""
    found: dict[str, float] = {}
    for one, value in ours.items():
        for two, other in theirs.items():
            if one == two or KINDS.get(one) not in MOVABLE or KINDS.get(two) not in MOVABLE:
                continue
            bits = _value_bits((one, value), (two, other), known)
            if bits and one not in found and ours.get(one) != theirs.get(one):
                found[one] = found[two] = bits
    return found


def _value_bits(one: tuple[str, str], two: tuple[str, str], known: Mapping[str, float] | None) -> float:
    """Return the bits of two values of a kind, each with its key; 0 if they have nothing in common."""
    if not one[1] or not two[1]:
        return 0.0
    if one[1] == two[1]:
        share = 1.0
    elif is_typo(one[1], two[1]):
        share = TYPO_SHARE / 2 if one[1].isdigit() else TYPO_SHARE
    elif not one[1].isdigit() and ratio(one[1], two[1]) >= NEAR_VALUE:
        share = TYPO_SHARE / 2
    else:
        return 0.0
    if known is None:
        return share * _bits(KINDS.get(one[0], OTHER)[0])
    return share * _bits(max(known.get(f"{key}={value}", RARE) for key, value in (one, two)))


def _company(a: Card, b: Card, known: Mapping[str, float] | None) -> tuple[float, float]:
    """Return bits for and against from the nodes that current facts connect them with."""
    for one, two in ((a, b), (b, a)):
        if any(other == two.node_id and kind in NEVER_WITH_ITSELF for kind, _side, other in one.facts):
            return 0.0, RELATED
    shared = a.facts & b.facts
    others = {other for _kind, _side, other in shared}
    nearby = ({fact[2] for fact in a.facts} & {fact[2] for fact in b.facts}) - others
    each: dict[UUID, float] = {}
    for fact in shared:
        usual = 0.0 if known is None else -math.log2(known.get(_fact_key(fact), RARE))
        bits = COMMON_FACTS.get(fact[0], SHARED_FACT) if known is None else min(usual, SHARED_FACT)
        each[fact[2]] = max(each.get(fact[2], 0.0), bits)
    agree = min(sum(each.values()) + SHARED_NEIGHBOUR * len(nearby), MOST_COMPANY)
    if a.sources & b.sources:
        agree += SHARED_SOURCE
    differ = 0.0
    for kind in ONE_VALUE:
        ours = {other for name, side, other in a.facts if (name, side) == (kind, "out")}
        theirs = {other for name, side, other in b.facts if (name, side) == (kind, "out")}
        if ours and theirs and not ours & theirs:
            differ += ONE_VALUE_DIFFERS
    return agree, differ
