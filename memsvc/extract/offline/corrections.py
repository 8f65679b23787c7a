"""Corrections: "no, Porto", "I meant Thursday's course", "sorry, Volvo" put right what was said just before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memsvc.extract.offline.clauses import Clause, predicate
from memsvc.extract.offline.findings import LIKELY, Finding, kind, named

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

    from memsvc.extract.offline.reading import Reading

OPENING = re.compile(
    r"^\W*(?:(?:no|nope|oops|ah|oh|wait|hang on|scratch that)\b\W+){0,2}"
    r"(?:(?:wait|sorry|actually|correction|rather|make that|i mean|i meant|it's|its|it is)\b\W*)+|^\W*no,\s+",
    re.IGNORECASE,
)
"""How a correction begins."""
MOST_WORDS = 7
CORRECTABLE = frozenset({"LIVES_IN", "WORKS_AT", "LOCATED_AT", "KNOWS", "FAMILY_OF", "OWNS", "PARTICIPATED_IN", "USES"})


def read_corrections(reading: Reading, before: Sequence[Finding]) -> Iterator[Finding]:
    """What a turn puts right of what was found before.

    Args:
        reading: the turn.
        before: what the same person said in the turn before and in this one, in its order.
    """
    for sentence in reading.doc.sents:
        noun = corrected_to(sentence, starred=reading.turn.text.lstrip().startswith("*"))
        if noun is None:
            continue
        clause = Clause(reading, noun)
        for old in reversed(before):
            earlier = old.clause.reading is not reading or old.clause.verb.i < sentence.start
            if not earlier or old.type not in CORRECTABLE:
                continue
            key = reading.entity(noun, kind(clause, old.object))
            if (
                key is not None
                and kind(clause, old.object) == kind(clause, key)
                and key not in {old.object, old.subject}
            ):
                yield replace(old, object=key, clause=clause, change="corrects", confidence=LIKELY, rule="")
                break


def may_correct(reading: Reading) -> bool:
    """Whether a sentence of a turn does nothing but correct."""
    starred = reading.turn.text.lstrip().startswith("*")
    return any(corrected_to(sentence, starred=starred) is not None for sentence in reading.doc.sents)


def corrected_to(sentence: Span, *, starred: bool = False) -> Token | None:
    """The name that a sentence which does nothing but correct puts in the place of another.

    Args:
        sentence: a sentence.
        starred: the message begins with an asterisk, as people mark a correction ("*Lidl").
    """
    said = [token for token in sentence if token.is_alpha]
    opened = OPENING.match(sentence.text) or (starred and sentence.start == 0)
    if len(said) > MOST_WORDS or sentence.text.rstrip().endswith("?") or not opened:
        return None
    if any(predicate(token) and token.lemma_ not in {"mean", "be", "wait", "make"} for token in sentence):
        return None
    names = [token for token in said if token.dep_ != "compound" and named(token)]
    plain = [token for token in names if not any(left.lower_ in {"not", "n't"} for left in token.lefts)]
    return plain[0] if len(plain) == 1 else None
