"""Plans that are off: "Lena is not moving to Vienna after all", "the trip to Rome fell through", "I turned it down".

What was to be and never will be is said by ``Finding.never``: whoever keeps facts takes the plan back from its begin.
Such a clause is read as the plan that it denies would be, by the same patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memsvc.extract.offline import events, homes, possessions, whereabouts, work
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, Finding, kind, listed, named, owner, owning, thing, told, word
from memsvc.extract.offline.reading import Status

if TYPE_CHECKING:
    from spacy.tokens import Token

PLANNED = (homes.read, whereabouts.read, work.read, events.read, possessions.read)
TYPES = frozenset({"LIVES_IN", "LOCATED_AT", "WORKS_AT", "PARTICIPATED_IN", "OWNS"})
LASTING = verbs.LIVE | verbs.WORK_PLAIN | verbs.STAY | verbs.lemmas("be, have, own, use, feel")
"""Of these "is not" tells what is so now; only with more words does it tell of a plan."""
AFTER_ALL = re.compile(r"\b(?:after all|anymore|any more|any longer|no longer)\b", re.IGNORECASE)
DECIDING = things.words("decide choose opt agree prefer promise resolve vow plan intend go want")
MOVES = things.words("move moving relocation transfer emigration return")
TRIPS = things.TRIPS | things.words("flight flights ticket tickets tour")
OFFERS = things.JOBS | things.words("position role offer contract traineeship apprenticeship internship gig placement")
REFUSE = verbs.lemmas("turn down, decline, reject, refuse, withdraw, back out, pull out, drop out, bail, cancel")
ENDINGS = re.compile(
    r"\b(?:(?:did ?n[o']t|does ?n[o']t|is ?n[o']t going to|wo ?n[o']t) (?:work out|happen|take place|come off|go ahead)"
    r"|(?:came|come|comes) to nothing|fell apart|fell flat|(?:is|'s|was) (?:dead|history|toast))\b",
    re.IGNORECASE,
)
"""Other ways in which a plan fails, behind its name."""


def read(clause: Clause) -> Iterator[Finding]:
    """What a clause says will not be."""
    if clause.asked:
        return
    yield from denied(clause)
    yield from failed(clause)


def denied(clause: Clause) -> Iterator[Finding]:
    """Lena is not moving to Vienna after all; we won't go to Rome; I decided not to take the job at Bosch."""
    later = {"before", "until", "till", "yet", "another"} & {token.lower_ for token in clause.own}
    no = clause.status in {Status.NOT, Status.WAS} and not later and lies_ahead(clause)
    if not no and not is_dropped(clause):
        return
    plan = Clause(clause.reading, clause.verb, clause.parent, clause.subjects, clause.implied)
    plan.__dict__.update(status=Status.SO, said=True, denied=False, modal="")
    for pattern in PLANNED:
        for finding in pattern(plan):
            if finding.type in TYPES and finding.dated and finding.change == "holds":
                yield replace(finding, clause=clause, change="ended", never=True, rule="", confidence=LIKELY)


def lies_ahead(clause: Clause) -> bool:
    """Whether what is denied was still to be: by its tense, by "after all", or behind "decided"."""
    verb, words = clause.verb, {token.lower_ for token in clause.own}
    helped = {child.lemma_.lower() for child in verb.children if child.dep_ in {"aux", "auxpass"}}
    again = AFTER_ALL.search(verb.sent.text) is not None
    if clause.past or verb.tag_ == "VBN":
        return again if "all" in words else "never" in words
    if "been" in words or ("have" in helped and not clause.infinitive):
        return False
    if clause.infinitive:
        return verb.head.lemma_.lower() in DECIDING and verb.head != verb
    if clause.modal:
        return clause.modal in {"will", "wo", "'ll", "can", "ca", "shall"}
    if clause.status is Status.WAS:
        return verb.tag_ == "VBG" and again and not clause.means(LASTING)
    if verb.tag_ == "VBG":
        return ("be" in helped or verb.head.lemma_ == "end") and (not clause.means(LASTING) or "after" in words)
    return "after" in words and again


def is_dropped(clause: Clause) -> bool:
    """Whether what a gerund says was given up: "decided against moving", "her moving there didn't work out"."""
    verb, head = clause.verb, clause.verb.head
    if verb.tag_ != "VBG" or head == verb:
        return False
    if verb.dep_ in {"csubj", "nsubj", "nsubjpass", "csubjpass"}:
        return ENDINGS.search(verb.sent.text) is not None or head.lemma_.lower() in events.CANCEL
    if verb.dep_ == "pcomp":
        over = head.head if head.dep_ == "prep" or head.pos_ in {"ADP", "SCONJ"} else head
        about_mind = over.lemma_ == "mind" or any(child.lemma_ == "mind" for child in over.children)
        changed = head.lower_ == "about" and about_mind and "change" in {over.lemma_, over.head.lemma_}
        return changed or (head.lower_ == "against" and over.lemma_.lower() in DECIDING) or (
            head.lower_ == "of" and over.lower_ in {"out", "off"} and over.head.lemma_ in {"back", "pull", "talk"}
        )  # fmt: skip
    return False


def failed(clause: Clause) -> Iterator[Finding]:
    """The move to Vienna is off; Tom's trip to Rome fell through; I turned down the job at Bosch."""
    off = events.called_off(clause) or ENDINGS.search(" ".join(token.text for token in clause.own)) is not None
    refused = clause.means(REFUSE)
    had_to = clause.infinitive and clause.verb.head.lemma_ == "have" and clause.verb.dep_ == "xcomp"
    sure = clause.said or (had_to and clause.parent is not None and clause.parent.said)
    if not (off or refused) or not (sure or (off and not clause.means(events.CANCEL))):
        return
    theirs = clause.people
    nouns = [
        *clause.objects,
        *(clause.subjects if off else []),
        *(clause.at("from", "of", "out of") if refused else []),
    ]
    for noun in nouns:
        whose = owner(noun)
        holder = owning(clause, noun) if whose is not None else None
        people: Sequence[int | None] = [holder] if holder is not None else theirs or [clause.reading.speaker]
        if whose is None or holder is not None:
            yield from of_noun(clause, noun, people)


def of_noun(clause: Clause, noun: Token, people: Sequence[int | None]) -> Iterator[Finding]:
    """The plans that a noun names, with its place or firm: "move to Vienna", "job at Bosch", "wedding"."""
    if word(noun) in OFFERS:
        for key in firms(clause, noun):
            yield from off(people, "WORKS_AT", key, clause)
        return
    moves = word(noun) in MOVES
    for oblique in clause.obliques if moves or listed(noun, TRIPS) else ():
        if oblique.holder not in {noun, clause.verb} or oblique.prep not in {"to", "in", "around"}:
            continue
        place = clause.reading.entity(oblique.noun, "Place") if named(oblique.noun) else None
        if place is not None and kind(clause, place) == "Place":
            for type_ in ("LIVES_IN", "LOCATED_AT") if moves else ("LOCATED_AT",):
                yield from off(people, type_, place, clause)
    event = thing(clause, noun, "Event") if events.is_event(noun) and not events.counted(noun) else None
    if event is not None and kind(clause, event) == "Event":
        yield from off(people, "PARTICIPATED_IN", event, clause)


def firms(clause: Clause, noun: Token) -> list[int]:
    """The firms that a word for a job names: "the job at Bosch", "the Siemens job"."""
    behind = [
        oblique.noun
        for oblique in clause.obliques
        if oblique.holder in {noun, clause.verb} and oblique.prep in {"at", "with", "for", "from"}
    ]
    nouns = behind + [child for child in noun.children if child.dep_ == "compound"]
    keys = [clause.reading.entity(each, "Organization") for each in nouns if named(each)]
    return [key for key in keys if key is not None and kind(clause, key) == "Organization"]


def off(people: Sequence[int | None], type_: str, key: int, clause: Clause) -> Iterator[Finding]:
    """That something will never be so of some persons."""
    for finding in told(people, type_, key, clause, LIKELY, "ended"):
        yield replace(finding, never=True)
