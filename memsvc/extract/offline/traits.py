"""What can be seen of a finding that may tell whether it is true: its rule, its ends, its clause and its sentence.

No trait knows a word but those of closed classes, so that what ``calibration`` learns holds for what nobody has said
yet. A trait that names a kind ("rule=places.moves") is 1 where it is so; others are small numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import Finding
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.vocabulary import is_word

if TYPE_CHECKING:
    from collections import Counter

    from spacy.tokens import Span

    from memsvc.extract.extraction import Entity
    from memsvc.extract.offline.names import Name

FIRM, FAIR = 16, 6
"""How far a name's type leads, in votes: beyond doubt, and somewhat."""
SUREST = 0.99
"""Of priors; 1 has no odds."""
LONG, RUN_ON = 14, 28
"""Words of a sentence."""
SHAPES = {
    "ccomp": "inner clause", "xcomp": "inner clause", "pcomp": "inner clause", "csubj": "inner clause",
    "advcl": "side clause", "conj": "second clause",
}  # fmt: skip
"""What a clause is by the parser's label of its verb."""
OF_CLAUSES: tuple[tuple[str, Callable[[Clause], bool]], ...] = (
    ("past", lambda clause: clause.past),
    ("perfect", lambda clause: clause.verb.tag_ == "VBN"),
    ("passive", lambda clause: clause.passive),
    ("infinitive", lambda clause: clause.infinitive),
    ("no subject", lambda clause: clause.implied or not clause.subjects),
    ("denied", lambda clause: clause.denied),
)
DENIALS = words("not n't no never nobody nothing without than but")


def traits(same: Sequence[Finding]) -> dict[str, float]:
    """The traits of a fact.

    Args:
        same: what was found of it, the finding of the highest prior first.

    Returns:
        Trait -> value; those that are 0 are left out.
    """
    finding = same[0]
    clause = finding.clause
    kinds = [
        f"rule={finding.rule}",
        f"type={finding.type}",
        "" if finding.change == "holds" else f"change={finding.change}",
        *(f"from {trait}" for trait in of_end(clause, finding.subject)),
        *(f"to {trait}" for trait in of_end(clause, finding.object)),
        *of_clause(clause),
        *of_sentence(clause),
    ]
    found = dict.fromkeys(kinds, 1.0)
    found["prior"] = log(finding.confidence / (1 - min(finding.confidence, SUREST)))
    found["rules"] = log(len({one.rule for one in same}))
    found["clauses"] = log(len({(one.clause.reading.index, one.clause.verb.i) for one in same}))
    return {trait: value for trait, value in found.items() if trait and value}


def of_end(clause: Clause, key: int) -> Iterator[str]:
    """What a subject or an object is, and how it is named where it is told."""
    reading = clause.reading
    entity = reading.whose(key)
    yield f"is {entity.type}"
    if key == reading.speaker:
        yield "speaker"
        return
    if key == reading.partner:
        yield "hearer"
        return
    if entity.known is not None:
        yield "known"
    if not entity.named:
        yield from of_phrase(entity)
        return
    here = [name for name in reading.names if reading.entity(reading.doc[name.head]) == key]
    near = [name for name in here if reading.doc[name.head].sent == clause.verb.sent]
    if near:
        yield from of_mention(near[0], clause)
    else:
        yield "back" if here else "far back"


def of_phrase(entity: Entity) -> Iterator[str]:
    """How something without a name is called."""
    parts = entity.name.split()
    yield "relative" if entity.relation and entity.type == "Person" else "phrase"
    if entity.name.partition(" ")[0].endswith("ing"):
        yield "gerund"
    if len(parts) > 2:  # noqa: PLR2004 - "tool box" is usual
        yield "long"


def of_mention(name: Name, clause: Clause) -> Iterator[str]:
    """How sure it is that a name is one, and of that type."""
    doc = clause.reading.doc
    lead = led(name.votes)
    yield "firm" if lead >= FIRM else "fair" if lead >= FAIR else "weak"
    if all(is_word(token.lower_) for token in doc[name.start : name.end]):
        yield "word"
    if name.end - name.start > 1:
        yield "full"


def of_clause(clause: Clause) -> Iterator[str]:
    """What a clause is to its sentence, and what its verb is like."""
    yield SHAPES.get(clause.verb.dep_, "")
    yield from (trait for trait, holds in OF_CLAUSES if holds(clause))


def of_sentence(clause: Clause) -> Iterator[str]:
    """How long a sentence is, and what in it turns a statement round."""
    sentence: Span = clause.verb.sent
    said = [token for token in sentence if token.is_alpha]
    yield "run-on" if len(said) > RUN_ON else "long" if len(said) > LONG else ""
    if any(token.lower_ in DENIALS for token in sentence):
        yield "contrast"
    if sentence.text.rstrip().endswith("?"):
        yield "question"


def led(votes: Counter[str]) -> int:
    """By how many votes the first is before the second."""
    counts = [count for _, count in votes.most_common(2)]
    return counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0
