"""What people say that something is like, which tells that they like or dislike it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_moods as moods
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import (
    MAYBE,
    Finding,
    listed,
    thing,
)
from memsvc.extract.offline.lexicon_tastes import JUDGED, PASSING, REPORTED, SHOWN
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token


def read(clause: Clause) -> Iterator[Finding]:
    """Anglesey was unreal; the manager is a pillock; stouts, they're terrible; I find opera boring."""
    speaker = clause.reading.speaker
    if (
        clause.verb.dep_ == "relcl"
        or speaker is None
        or clause.asked
        or clause.status not in {Status.SO, Status.WAS}
        or not clause.subjects
    ):
        return
    participle = clause.verb.tag_ in {"VBG", "VBN"} and clause.verb.lower_ in moods.PRAISE | moods.BLAME
    found = clause.parent is not None and clause.parent.lemma in {"find", "think", "consider"}
    small = found and clause.verb.pos_ in {"ADJ", "VERB", "NOUN"} and clause.verb.dep_ in {"ccomp", "xcomp", "dobj"}
    if not (clause.lemma in {"be", "taste", "smell"} or participle or small) or clause.modal:
        return
    judges = clause.parent.people if small and clause.parent is not None else [speaker]
    said = [*clause.complements, *([clause.verb] if participle or small else [])]
    words = {token.lower_ for token in said} | {
        child.lower_ for token in said for child in token.children
        if child.dep_ == "amod" and listed(token, things.MEDIA | things.PLACES | things.ROLES | JUDGED)
    }  # fmt: skip
    type_ = "LIKES" if words & moods.PRAISE else "DISLIKES" if words & moods.BLAME else ""
    if clause.parent is not None and clause.parent.lemma in REPORTED and not clause.parent.mine:
        return  # what others think
    if not type_ or any(
        child.lower_ in {"too", "not", "as", "how"} for token in [clause.verb, *said] for child in token.children
    ):
        return
    for noun in clause.subjects:
        if not judgeable(clause, noun):
            continue
        key = thing(clause, noun)
        for judge in judges:
            if key is not None and key != judge:
                yield Finding(judge, type_, key, clause, MAYBE if noun.pos_ != "PRON" else 0.5)


def talked_with(clause: Clause) -> bool:
    """Whether the clause speaks to a person, of what that one told."""
    return clause.reading.partner is not None


def judgeable(clause: Clause, noun: Token) -> bool:
    """Whether what is praised or blamed is something that one likes or dislikes: no idea, no weather, not oneself."""
    if noun.lower_ in {"which", "that", "this", "what"}:
        return False
    if any(child.lower_ in {"that", "this", "these", "those"} for child in noun.children) and talked_with(clause):
        return False  # politeness about what the other shows or tells
    if noun.pos_ == "PRON" and noun.lower_ not in {"it", "they", "he", "she"}:
        return False
    if clause.reading.person(noun) in {clause.reading.speaker, clause.reading.partner} - {None}:
        return False
    return not listed(noun, things.EMPTY - {"place"} | PASSING | SHOWN) and not any(
        child.lower_ in {"your", "which"} for child in noun.children
    )
