"""Tastes in sentences that the parser takes apart wrongly: "I enjoy gardening"; or said by denying: "can't stop"."""

from __future__ import annotations

from collections.abc import Iterator

from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import LIKELY, MAYBE, Finding, told
from memsvc.extract.offline.lexicon_tastes import HABITUAL, PASTIMES, TASTES
from memsvc.extract.offline.liking import action, targets
from memsvc.extract.offline.reading import Status

HELPERS = {"hate": "DISLIKES", "dislike": "DISLIKES", "enjoy": "LIKES", "love": "LIKES", "like": "LIKES"}
"""Verbs that the parser takes for auxiliaries before a gerund."""


def read(clause: Clause) -> Iterator[Finding]:
    """Everything of this kind in a clause."""
    if clause.asked:
        return
    if clause.said:
        yield from gerunds(clause)
        yield from done(clause)
        yield from found(clause)
    yield from like(clause)
    yield from unstoppable(clause)


def gerunds(clause: Clause) -> Iterator[Finding]:
    """I enjoy gardening."""
    for child in clause.verb.children if clause.verb.tag_ == "VBG" and not clause.denied else ():
        type_ = HELPERS.get(child.lemma_.lower()) if child.dep_ == "aux" else None
        if type_ is not None:
            near = [clause.reading.person(token) for token in child.children if token.dep_ == "nsubj"]
            yield from told(clause.people or near, type_, next(action(clause, clause.verb), None), clause, LIKELY)


def done(clause: Clause) -> Iterator[Finding]:
    """I do karate: the parser takes "do" for an auxiliary."""
    helped = any(child.dep_ == "aux" and child.lower_ in {"do", "does"} for child in clause.verb.children)
    if helped and clause.verb.lower_ in PASTIMES and clause.people:
        for noun in spread(clause.verb):
            key = clause.reading.made(noun.lower_, "Concept", noun)
            yield from told(clause.people, "LIKES", key, clause, HABITUAL)


def found(clause: Clause) -> Iterator[Finding]:
    """Oysters, which I find revolting."""
    words = {token.lower_ for token in clause.complements} if clause.lemma == "find" else set()
    type_ = "LIKES" if words & moods.PRAISE else "DISLIKES" if words & moods.BLAME else ""
    for key in targets(clause, clause.objects) if type_ else ():
        yield from told(clause.people, type_, key, clause, LIKELY)


def like(clause: Clause) -> Iterator[Finding]:
    """I don't even like plums: "like" is taken for the preposition."""
    helped = any(child.dep_ == "aux" for child in clause.verb.children)
    if clause.verb.lower_ == "like" and clause.verb.tag_ == "IN" and helped:
        for key in targets(clause, clause.at("like")) if clause.said or clause.status is Status.NOT else ():
            yield from told(clause.people, "LIKES" if clause.said else "DISLIKES", key, clause, LIKELY)


def unstoppable(clause: Clause) -> Iterator[Finding]:
    """Theo can't stop playing Zelda."""
    if (
        clause.denied
        and clause.modal in {"can", "ca", "could", "cannot"}
        and clause.lemma in {"stop", "resist", "quit"}
    ):
        for verb in clause.inner:
            things = [child for child in verb.children if child.dep_ == "dobj"] if verb.lemma_ in TASTES else []
            for key in targets(clause, things):
                yield from told(clause.people, "LIKES", key, clause, MAYBE)
