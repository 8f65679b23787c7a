"""What people have for good: ailments that were diagnosed, intolerances; and the codes and passwords of things."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, Finding, change, listed, named, thing, told

if TYPE_CHECKING:
    from spacy.tokens import Token

SECRETS = things.words("password code pin passcode combination passphrase username login")
NUMBERED = things.words("locker account membership plate registration room phone extension flight")
CONDITIONS = things.words("""
    autistic dyslexic diabetic epileptic asthmatic bipolar coeliac celiac colourblind colorblind deaf blind anaemic
    anemic left-handed dyspraxic neurodivergent
""")
SHORTEST = 3
"""Signs of a code."""


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about conditions and codes in a clause."""
    if clause.said and not clause.asked:
        yield from diagnosed(clause)
        yield from intolerant(clause)
        yield from codes(clause)


def diagnosed(clause: Clause) -> Iterator[Finding]:
    """Dad was diagnosed with Parkinson's; I suffer from migraines; she lives with lupus."""
    nouns: list[Token] = []
    if clause.means(verbs.lemmas("diagnose")) and clause.passive:
        nouns = clause.on_verb("with", "as")
    elif clause.means(verbs.lemmas("suffer, recover")):
        nouns = clause.on_verb("from")
    for noun in nouns:
        if noun.pos_ in {"NOUN", "PROPN", "ADJ"} and not listed(noun, things.EMPTY):
            key = clause.reading.entity(noun, "Concept")
            if key is None:  # "Parkinson" is taken for a person
                key = clause.reading.made(noun.text, "Concept", noun)
            yield from related(clause, key, "illness", LIKELY)


def intolerant(clause: Clause) -> Iterator[Finding]:
    """I'm lactose intolerant; Leo is autistic."""
    if clause.lemma not in {"be", "become"}:
        return
    for word in clause.complements:
        if word.lower_ == "intolerant":
            front = [child.lower_ for child in word.lefts if child.dep_ in {"npadvmod", "compound", "amod", "nmod"}]
            if front and clause.people:
                key = clause.reading.made(front[-1], "Concept", word)
                yield from related(clause, key, "intolerance", LIKELY)
        elif word.lower_ in CONDITIONS and clause.people:
            yield from related(clause, clause.reading.made(word.lower_, "Concept", word), "condition", LIKELY)


def related(clause: Clause, key: int, relation: str, confidence: float) -> Iterator[Finding]:
    """That the subjects have what is spoken of."""
    yield from told(clause.people, "RELATED_TO", key, clause, confidence, change(clause), {"relation": relation})


def codes(clause: Clause) -> Iterator[Finding]:
    """The wifi password is BANANA42; code for the garage is 4711."""
    if clause.lemma != "be" or len(clause.subjects) != 1:
        return
    subject = clause.subjects[0]
    numbered = subject.lemma_.lower() == "number" and any(child.lower_ in NUMBERED for child in subject.lefts)
    if not (listed(subject, SECRETS) or numbered):
        return
    value = next((token for token in clause.verb.sent if token.i > clause.verb.i and is_code(token)), None)
    if value is None:
        return
    meant = [noun for prep in subject.children if prep.lower_ in {"for", "to", "of"} for noun in prep.children]
    code = clause.reading.made(value.text, "Concept", value)
    what = thing(clause, meant[0] if meant else subject)
    if what is not None and what != code:
        ends = (code, what) if meant else (what, code)
        yield Finding(ends[0], "RELATED_TO", ends[1], clause, LIKELY, change(clause), {"relation": "code"})


def is_code(token: Token) -> bool:
    """Whether a word is no ordinary one: with a digit, or in capitals."""
    text = token.text
    return len(text) >= SHORTEST and (any(sign.isdigit() for sign in text) or (text.isupper() and not named(token)))
