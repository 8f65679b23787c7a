"""Corrections put right what was said just before: "no, Porto", "I meant Nantes", "Wednesday, not Tuesday"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memsvc.extract.offline.clauses import Clause, predicate
from memsvc.extract.offline.findings import LIKELY, Finding, kind
from memsvc.extract.offline.when import Span as Times
from memsvc.extract.offline.when import span

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

    from memsvc.extract.offline.reading import Reading

CRY = (
    r"(?:no|nope|oops|ah|oh|wait|hang on|scratch that|my bad|typo|sorry|actually|correction|or rather|rather|make that)"
)
MEANT = r"(?:I (?:mean|meant)(?: to (?:say|write|type))?)"
OPENING = re.compile(
    rf"^\W*(?:{CRY}\b\W+){{0,2}}"
    rf"(?:(?:wait|sorry|oops|actually|correction|rather|make that|scratch that|typo|my bad|{MEANT}|it'?s|it is)\b\W*)+"
    r"|^\W*no,\s+",
    re.IGNORECASE,
)
"""How a correction begins."""
ENDING = re.compile(rf"\b(?:{MEANT}|sorry|my bad)\W*$", re.IGNORECASE)
"""How one may end: "Porto, I meant"."""
STARTING = re.compile(rf"^\W*(?:(?:{CRY}|{MEANT})\b\W*)+", re.IGNORECASE)
"""How the correction of a time begins; "it's on Friday" alone may be about anything."""
REPLACING = re.compile(
    r"^\W*(?:(?:oh|ah|oops|well|ok|okay|um|uh|actually|sorry|but|wait)\W+)*"
    r"(?:no\b(?! (?:one|more|longer|idea|problem|doubt|worries|matter|way)\b)|nope|nah|wait|hang on|scratch that|my bad"
    rf"|correction|make that|or rather|{MEANT})\b",
    re.IGNORECASE,
)
"""How a sentence begins that says the whole again, with another name: "No wait, he's going to Greece"."""
NOT = frozenset({"not", "n't"})
SAYING = frozenset({"mean", "be", "wait", "make", "say", "write", "type", "scratch", "hang"})
MOST_WORDS = 8
CORRECTABLE = frozenset({"LIVES_IN", "WORKS_AT", "LOCATED_AT", "KNOWS", "FAMILY_OF", "OWNS", "PARTICIPATED_IN", "USES"})


class Said(NamedTuple):
    """What a sentence that does nothing but correct says."""

    instead: Token
    """The name that is right."""
    wrong: frozenset[str]
    """Words behind "not", in lower case."""
    opened: bool
    """Words that people correct with stand around it; else only the "not" tells."""


def read_corrections(reading: Reading, before: Sequence[Finding]) -> Iterator[Finding]:
    """What a turn puts right of what was found before.

    Args:
        reading: the turn.
        before: what the same person said in the turn before and in this one, in its order.
    """
    asked = bool(reading.earlier) and others_question(reading.earlier[0], reading)
    for sentence in reading.doc.sents:
        said = corrected_to(reading, sentence)
        if said is None:
            continue
        clause = Clause(reading, said.instead)
        for old in reversed(before):
            if asked and not said.wrong and old.clause.reading is not reading:
                continue  # it answers: "What's your favourite city?" - "It's Paris."
            if not stands_before(old, sentence) or old.type not in CORRECTABLE or not is_meant(old, said):
                continue
            key = reading.entity(said.instead, kind(clause, old.object))
            right = key is not None and kind(clause, old.object) == kind(clause, key)
            if key is not None and right and key not in {old.object, old.subject}:
                yield replace(old, object=key, clause=clause, change="corrects", confidence=LIKELY, rule="")
                break


def read_replaced(reading: Reading, found: Sequence[Finding], before: Sequence[Finding]) -> list[Finding]:
    """What a turn says; what it says again with another name corrects the first: "Actually no, he's going to Greece".

    Args:
        reading: the turn.
        found: what it says.
        before: what the same person said in the turn before.
    """
    asked = bool(reading.earlier) and others_question(reading.earlier[0], reading)
    return [
        replace(new, change="corrects")
        if replaces(new) and any(is_replaced(old, new) for old in (found if asked else [*before, *found]))
        else new
        for new in found
    ]


def replaces(new: Finding) -> bool:
    """Whether a finding stands in a sentence that begins like a correction."""
    return new.change == "holds" and new.type in CORRECTABLE and bool(REPLACING.match(new.clause.verb.sent.text))


def is_replaced(old: Finding, new: Finding) -> bool:
    """Whether a finding is the same of the same person but for its object, in the sentence before another's."""
    whose, sentence = new.clause.reading.whose, new.clause.verb.sent
    if old.change != "holds" or old.type != new.type or whose(old.subject).key != whose(new.subject).key:
        return False
    doc = old.clause.verb.doc
    near = old.clause.verb.sent.end == (sentence.start if doc is sentence.doc else len(doc))
    first = doc is sentence.doc or sentence.start == 0
    return near and first and whose(old.object).key != whose(new.object).key


def others_question(before: Reading, reading: Reading) -> bool:
    """Whether the turn before is somebody else's, and asks something."""
    return (before.heard or before.speaker != reading.speaker) and "?" in before.doc.text


def stands_before(old: Finding, sentence: Span) -> bool:
    """Whether something was found before a sentence."""
    return old.clause.reading.doc is not sentence.doc or old.clause.verb.i < sentence.start


def is_meant(old: Finding, said: Said) -> bool:
    """Whether what was found is what a correction puts right: it has the name behind "not", where there is one."""
    if not said.wrong:
        return said.opened
    name = old.clause.reading.whose(old.object).name.casefold().split()
    return bool(said.wrong & set(name))


def may_correct(reading: Reading) -> bool:
    """Whether a sentence of a turn does nothing but correct."""
    return any(
        corrected_to(reading, sentence) or retimes(sentence) or REPLACING.match(sentence.text)
        for sentence in reading.doc.sents
    )


def corrected_to(reading: Reading, sentence: Span) -> Said | None:
    """The name that a sentence which does nothing but correct puts in the place of another."""
    starred = sentence.start == 0 and reading.turn.text.lstrip().startswith("*")  # "*Lidl"
    opened = starred or bool(OPENING.match(sentence.text) or ENDING.search(sentence.text))
    wrong = denied(sentence)
    if not only_corrects(sentence) or not (opened or wrong):
        return None
    names = [name for name in reading.names if sentence.start <= name.start < sentence.end]
    plain = [name for name in names if name.start not in wrong]
    if len(plain) != 1:
        return None
    return Said(sentence.doc[plain[0].head], frozenset(sentence.doc[at].lower_ for at in wrong), opened)


def only_corrects(sentence: Span) -> bool:
    """Whether a sentence is short, asks nothing, and says nothing of its own."""
    if sum(token.is_alpha for token in sentence) > MOST_WORDS or sentence.text.rstrip().endswith("?"):
        return False
    return not any(predicate(token) and token.lemma_.lower() not in SAYING and not token.is_punct for token in sentence
                   if token.pos_ in {"VERB", "AUX"})  # fmt: skip


def denied(sentence: Span) -> frozenset[int]:
    """Where the words behind "not" stand, up to a comma or "but"."""
    found: set[int] = set()
    after = False
    for token in sentence:
        if token.is_punct or token.lower_ == "but":
            after = False
        elif token.lower_ in NOT:
            after = True
        elif after:
            found.add(token.i)
    return frozenset(found)


# Times ----------------------------------------------------------------------------------------------------------------


def read_times_put_right(reading: Reading, before: Sequence[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """What was found with a wrong time, and the same with the right one: "Sorry, on Friday"."""
    asked = bool(reading.earlier) and reading.earlier[0].doc.text.rstrip().endswith("?")
    for sentence in reading.doc.sents:
        if not retimes(sentence) or (asked and sentence.start == 0):
            continue
        wrong = denied(sentence)
        for old in reversed(before):
            if not stands_before(old, sentence) or not old.dated or not times_of(old).told:
                continue
            clause = Clause(reading, sentence.root)
            clause.own = [token for token in sentence if token.i not in wrong]
            since, now = times_of(old)[0], old.clause.reading.now
            clause.past = old.clause.past or (since is not None and since <= now)
            new = replace(old, clause=clause, rule="")
            if times_of(new) not in {(None, None), times_of(old)}:
                yield old, new
                break


def times_of(finding: Finding) -> Times:
    """Since and until when something is found to be so."""
    return span(finding.clause, finding.type, finding.change)


def retimes(sentence: Span) -> bool:
    """Whether a sentence does nothing but put a time right."""
    wrong = denied(sentence)
    dates = [token for token in sentence if token.ent_type_ in {"DATE", "TIME"}]
    right = [token for token in dates if token.i not in wrong]
    starts = STARTING.match(sentence.text) is not None or len(right) < len(dates)
    others = [token for token in sentence if token.pos_ in {"NOUN", "PROPN"} and token not in dates]
    cries = {"sorry", "typo", "bad", "correction", "oops"}
    return starts and bool(right) and only_corrects(sentence) and not any(token.lower_ not in cries for token in others)
