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
    r"^\W*(?:(?:no|nope|oops|ah|oh)\b\W+)?(?:(?:wait|sorry|actually|correction|rather|make that|i mean|i meant|it's|its"
    r"|it is)\b\W*)+|^\W*no,\s+",
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
        noun = corrected_to(sentence)
        key = reading.entity(noun) if noun is not None else None
        if noun is None or key is None:
            continue
        clause = Clause(reading, noun)
        for old in reversed(before):
            same_kind = kind(clause, old.object) == kind(clause, key)
            earlier = old.clause.reading is not reading or old.clause.verb.i < sentence.start
            if earlier and old.type in CORRECTABLE and same_kind and key not in {old.object, old.subject}:
                yield replace(old, object=key, clause=clause, change="corrects", confidence=LIKELY)
                break


def corrected_to(sentence: Span) -> Token | None:
    """The name that a sentence which does nothing but correct puts in the place of another."""
    said = [token for token in sentence if token.is_alpha]
    if len(said) > MOST_WORDS or sentence.text.rstrip().endswith("?") or not OPENING.match(sentence.text):
        return None
    if any(predicate(token) and token.lemma_ not in {"mean", "be", "wait", "make"} for token in sentence):
        return None
    names = [token for token in said if token.dep_ != "compound" and named(token)]
    plain = [token for token in names if not any(left.lower_ in {"not", "n't"} for left in token.lefts)]
    return plain[0] if len(plain) == 1 else None
