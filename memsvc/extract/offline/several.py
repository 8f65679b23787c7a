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

ADDING = re.compile(r"\b(?:in addition|on the side|besides?)\b(?!\s*,)", re.IGNORECASE)
PART_TIME = re.compile(r"\bpart[- ]time\b", re.IGNORECASE)
NOW = frozenset({"now", "currently", "nowadays"})
FURTHER = frozenset({"second", "third", "other", "another", "extra", "additional", "side", "weekend", "evening"})
"""Before a job or a home, these say that there is one more."""


BETWEEN = frozenset({"in", "at", "for", "on", "with", "both", "also", "as", "well", "one", "another"})
"""These, with articles and times, may stand between two that are told in one breath."""
ONCE = frozenset({"before", "formerly", "previously", "then", "now", "later", "earlier", "once"})


def several(
    found: Sequence[Finding], functional: AbstractSet[str], before: Sequence[Finding] = ()
) -> Iterator[Finding]:
    """Findings of a turn; those that hold beside another value are marked.

    Of two that one verb tells, the later one is dropped where nothing says that both are so: "in Lyon, in France".

    Args:
        found: in their order.
        functional: types that have one value at a time.
        before: what was found in the turns before.
    """
    for place, one in enumerate(found):
        if one.type not in functional or one.change != "holds" or BESIDE in one.data:
            yield one
            continue
        breath = [other for other in found if is_one_breath(other, one)]
        if any(not joined(other, one) for other in breath) or any(is_alternative(one, other) for other in found):
            continue
        also = bool(breath) or adds(one, [*before, *found[:place]]) or any(
            coordinate(other, one) for other in found[:place]
        )  # fmt: skip
        yield replace(one, data={**one.data, BESIDE: True}) if also else one


def adds(finding: Finding, before: Sequence[Finding]) -> bool:
    """Whether a clause says that a value comes to another one.

    "Too" behind what somebody else was said to do, too, adds none, nor where nothing else is known: "me too".
    """
    clause: Clause = finding.clause
    if finding.type == "LIVES_IN" and clause.means(verbs.MOVE):
        return False  # "I got a new job, and we also moved to Porto"
    if ADDING.search(clause.words) or (PART_TIME.search(clause.words) and not NOW & clause.adverbs):
        return True
    nouns = [token for token in clause.own if listed(token, things.JOBS | HOME_WORDS | LETS)]
    if any(child.lower_ in FURTHER for noun in nouns for child in noun.lefts):
        return True
    same = [other for other in before if other.type == finding.type and other.change == "holds"]
    if any(other.object == finding.object and other.subject != finding.subject for other in same):
        return False
    other_value = any(other.subject == finding.subject and other.object != finding.object for other in same)
    return any(comes_to(token) and (other_value or not is_loose(token)) for token in clause.own)


def comes_to(token: Token) -> bool:
    """Whether a word is an "also", "too" or "as well"; not the one of "too tired"."""
    if token.lower_ == "well":
        return token.i > 0 and token.nbor(-1).lower_ == "as" and (is_loose(token) or token.nbor().lower_ != "as")
    return token.lower_ in {"also", "too"} and token.head.pos_ not in {"ADJ", "ADV"}


def is_loose(token: Token) -> bool:
    """Whether a word leads or ends its clause, so that it may come to anything: "Also, I live here", "I do, too"."""
    return (
        token.i == token.sent.start or token.i + 1 == len(token.doc) or token.nbor().is_punct or token.nbor().is_space
    )


def is_pair(first: Finding, other: Finding) -> bool:
    """Whether two findings are different values, of one subject, that hold as they stand, of no other time."""
    if (first.subject, first.type, first.change) != (other.subject, other.type, other.change):
        return False
    if first.object == other.object or born(first) or born(other) or BESIDE in first.data:
        return False
    begins = verbs.MOVE | verbs.BEGIN_WORK | verbs.BEGIN
    return not any(each.clause.means(begins) or each.clause.past for each in (first, other))


def between(first: Finding, other: Finding) -> list[Token] | None:
    """The words between two values, which one verb tells; None: it does not, or they do not stand in this order."""
    one, two = noun_of(first), noun_of(other)
    if first.clause.verb != other.clause.verb or not is_pair(first, other) or one is None or two is None:
        return None
    doc, verb = one.doc, first.clause.verb
    if one.i < verb.i < two.i:
        return None  # "besides my job at Bosch, I work at Lidl"
    return [doc[at] for at in range(one.i + 1, two.i) if doc[at].head != two or doc[at].dep_ != "compound"] or (
        [] if one.i < two.i else None
    )


def is_one_breath(first: Finding, other: Finding) -> bool:
    """Whether one verb tells two values, the second behind the first."""
    return between(first, other) is not None


def joined(first: Finding, other: Finding) -> bool:
    """Whether two values that one verb tells are both so: "I work at Lidl and at Boots"."""
    words = between(first, other) or []
    nouns = things.JOBS | HOME_WORDS | LETS
    return any(token.lower_ in {"and", "&", "also"} for token in words) and all(
        token.lower_ in BETWEEN or (token.pos_ in {"CCONJ", "DET", "ADJ"} and token.lower_ not in {"or", "but"})
        or token.ent_type_ in {"DATE", "TIME"} or (listed(token, nouns) and token.tag_ == "NN" and is_described(token))
        or token.lower_ == "&"
        for token in words
    )  # fmt: skip


def is_described(noun: Token) -> bool:
    """Whether a noun has an article or the like: no verb that the parser takes for one ("and work at")."""
    return any(child.dep_ in {"det", "poss", "amod", "nummod"} for child in noun.children)


def is_alternative(first: Finding, other: Finding) -> bool:
    """Whether a value is named in one breath with another of which only one is so: "Leeds or rather Bradford"."""
    return any(token.lower_ == "or" for token in between(first, other) or [])


def coordinate(first: Finding, other: Finding) -> bool:
    """Whether two verbs that belong together tell one value each: "She rents in Bern and lives in Basel"."""
    one, two = first.clause.verb, other.clause.verb
    if not is_pair(first, other) or one not in two.conjuncts:
        return False
    words = {token.lower_ for token in (*first.clause.own, *other.clause.own, *one.doc[one.i : two.i])}
    return not words & ONCE


def noun_of(finding: Finding) -> Token | None:
    """The word of a clause that names the object of a finding: the last one of its name."""
    last = finding.clause.reading.whose(finding.object).name.casefold().rpartition(" ")[2]
    return next((token for token in finding.clause.own if last in {token.lower_, token.lemma_.lower()}), None)


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
