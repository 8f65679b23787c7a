"""What a turn says beyond typed facts: its sentences, as they stand by themselves (``retelling``).

A statement is a sentence that says something of somebody whom the cast knows, is finite, and is no question, wish,
order or condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bench.retelling import SUBJECTS, Retold, retell
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

    from memsvc.extract.offline.turns import TurnReading

FINITE = frozenset({"VBP", "VBD", "VBZ", "MD"})
LEAST_WORDS = 4


class Statement(NamedTuple):
    """A sentence about somebody."""

    root: Token
    """Its main verb."""
    tokens: tuple[Token, ...]
    """Its words as they stand in the turn."""
    subject: int
    """Key of the person whom it is about."""
    retold: Retold


def statements(reading: TurnReading) -> Iterator[Statement]:
    """The statements of a turn, in the order of its sentences."""
    for sentence in reading.doc.sents:
        for tokens in parts(list(sentence)):
            root = root_of(tokens)
            if root is None or not says_something(root, reading):
                continue
            retold = retell(tokens, reading)
            if retold is None or not retold.people or len(retold.text.split()) < LEAST_WORDS:
                continue
            yield Statement(root, tuple(tokens), about(root, retold, reading), retold)


def parts(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """A sentence, cut where a semicolon or a line stands between two clauses."""
    part: list[Token] = []
    for token in tokens:
        if token.text in {";", "—"} or (token.is_space and "\n" in token.text):
            yield part
            part = []
        else:
            part.append(token)
    yield part


def root_of(tokens: Sequence[Token]) -> Token | None:
    """The word on which the others of a part hang: the highest verb."""
    inside = {token.i for token in tokens}
    return next((token for token in tokens if token.head.i not in inside or token.head == token), None)


def says_something(root: Token, reading: TurnReading) -> bool:
    """Whether a finite verb tells what is, was, or is not so."""
    if root.pos_ not in {"VERB", "AUX"} or root.sent.text.rstrip(' ")').endswith("?"):
        return False
    helped = any(child.dep_ in {"aux", "auxpass"} and child.tag_ in FINITE for child in root.children)
    if root.tag_ not in FINITE and not helped:
        return False
    if not any(child.dep_ in SUBJECTS for child in root.children):
        return False
    return reading.status(root) is not Status.OPEN


def about(root: Token, retold: Retold, reading: TurnReading) -> int:
    """Whom a statement is about: its subject, or whose its subject is ("my knee"), or whom it names first."""
    for subject in (child for child in root.children if child.dep_ in SUBJECTS):
        for token in (subject, *(child for child in subject.children if child.dep_ == "poss")):
            person = reading.person(token)
            if person is not None:
                return reading.whose(person).key
    return retold.people[0]
