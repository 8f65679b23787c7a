"""Whom or what "she" and "it" mean: the nearest that fits, in this turn or the two before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Token

from memsvc.extract.offline.cast import Cast
from memsvc.extract.offline.lexicon_things import words

HER = words("she her hers herself")
HIM = words("he him his himself")
THING = words("it its itself that this")
THERE = frozenset({"there", "here"})
FAR = 3
"""Turns back that are searched."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Where something is spoken of."""

    token: Token
    key: int


def persons_before(pronoun: Token, here: Sequence[Mention], earlier: Sequence[Sequence[Mention]]) -> Iterator[Mention]:
    """Mentions that a pronoun may mean, the likeliest first: the nearest sentence first, subjects before others."""
    before = [mention for mention in here if mention.token.i < pronoun.i]
    yield from ranked(before)
    for mentions in earlier:
        yield from ranked(mentions)


def ranked(mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Mentions of one text, last sentence first, in it subjects first, then the latest."""
    by_sentence: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_sentence.setdefault(mention.token.sent.start, []).append(mention)
    for start in sorted(by_sentence, reverse=True):
        yield from sorted(by_sentence[start], key=lambda m: (m.token.dep_ not in {"nsubj", "nsubjpass"}, -m.token.i))


def gender_of(pronoun: str) -> str:
    """she, he, or nothing."""
    return "she" if pronoun in HER else "he" if pronoun in HIM else ""


def person_meant(
    pronoun: Token,
    here: Sequence[Mention],
    earlier: Sequence[Sequence[Mention]],
    cast: Cast,
    not_these: frozenset[int],
    *,
    animals: bool = False,
) -> int | None:
    """The person that "she" or "he" means; learns that person's gender.

    Args:
        pronoun: a form of she or he.
        here: mentions of persons in its turn.
        earlier: mentions in the turns before, the last turn first.
        cast: who they are.
        not_these: whom it cannot mean: who speaks and who is spoken to.
        animals: it may also mean an animal, or a name of which nothing is known.
    """
    gender = gender_of(pronoun.lower_)
    subject = subject_beside(pronoun)
    for mention in persons_before(pronoun, here, earlier[:FAR]):
        entry = cast[mention.key]
        if entry.key in not_these or entry.plural or (entry.kind != "Person" and not animals):
            continue
        if entry.gender and entry.gender != gender:
            continue
        if subject is not None and mention.token.i == subject.i:
            continue
        entry.gender = gender
        return entry.key
    return None


def subject_beside(pronoun: Token) -> Token | None:
    """The subject of the verb whose object a pronoun is: it cannot be the same person."""
    if pronoun.dep_ not in {"dobj", "iobj", "dative", "pobj"}:
        return None
    verb = pronoun.head if pronoun.dep_ != "pobj" else pronoun.head.head
    return next((child for child in verb.children if child.dep_ == "nsubj"), None)
