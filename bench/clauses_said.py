"""What a turn says, clause by clause, in the author's own words: candidates for what is worth keeping.

A statement is a clause about somebody whom the cast knows, as a sentence of its own (``rendering``). Which of them are
worth keeping ``worth`` decides; where a pattern finds a typed fact in the same clause, the two are one fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from bench.rendering import Rendered, render
from memsvc.extract.offline.clauses import Clause, clauses
from memsvc.extract.offline.findings import owning
from memsvc.extract.offline.reading import Status
from memsvc.extract.offline.status import BELIEVING, TELLING

if TYPE_CHECKING:
    from memsvc.extract.offline.turns import TurnReading

STANDING = frozenset({"ROOT", "conj", "ccomp", "relcl", "advcl", "parataxis", "acl"})
"""Clauses that say something of their own."""
FINITE = frozenset({"VBP", "VBD", "VBZ", "MD"})
LEAST_WORDS = 3


class Statement(NamedTuple):
    """A clause about somebody."""

    clause: Clause
    subject: int
    """Key of the person whom it is about."""
    sentence: Rendered


def statements(reading: TurnReading) -> Iterator[Statement]:
    """The statements of a turn, in the order of its clauses."""
    for clause in clauses(reading):
        subject = about(clause)
        if subject is None or not says_something(clause):
            continue
        sentence = render(clause)
        if sentence is not None and len(sentence.text.split()) > LEAST_WORDS:
            yield Statement(clause, reading.whose(subject).key, sentence)


def says_something(clause: Clause) -> bool:
    """Whether a clause has a finite verb and tells what is, was, or is not so, rather than who says or believes it."""
    verb = clause.verb
    if verb.pos_ not in {"VERB", "AUX"} or verb.dep_ not in STANDING or clause.infinitive:
        return False
    if clause.status is Status.OPEN or clause.asked:
        return False
    helped = any(child.dep_ in {"aux", "auxpass"} and child.tag_ in FINITE for child in verb.children)
    if verb.tag_ not in FINITE and not helped and not clause.implied:
        return False
    inner = any(child.dep_ == "ccomp" for child in verb.children)
    return not (inner and clause.lemma in TELLING | BELIEVING)


def about(clause: Clause) -> int | None:
    """The person that a clause is about: its subject, or whose its subject is ("my knee")."""
    if clause.people:
        return clause.people[0]
    for token in clause.subjects:
        key = owning(clause, token)
        if key is not None:
            return key
    return None
