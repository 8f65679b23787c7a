"""Which places of a clause a verb or set phrase fills, for tables of frames; and places that the parser gets wrong.

Patterns ask ``filled`` with a table of ``lexicon_frames`` and decide themselves whether what they get fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.clauses import Clause, spread
from memsvc.extract.offline.findings import owner
from memsvc.extract.offline.lexicon_frames import Frame

if TYPE_CHECKING:
    from spacy.tokens import Token

ABLE = frozenset({"can", "ca", "could", "would", "'d", "will", "wo", "'ll"})
PLAIN = frozenset({"", "will", "'ll", "can", "ca", "have"})
AMOUNTS = things.words("""
    lot bit ton load loads tons bunch plenty couple pair bottle glass cup piece slice episode kind sort type dozen set
    pack bag box copy litre pint jar few bits lots plenty series
""")
"""Nouns that stand before "of" and what is meant."""


def filled(clause: Clause, table: tuple[Frame, ...]) -> Iterator[tuple[Frame, Token]]:
    """The frames of a table that a clause says, each with the noun in its place."""
    for frame in table:
        if not clause.means(frame.verbs) or not holds(clause, frame):
            continue
        for noun in in_place(clause, frame):
            yield frame, noun


def holds(clause: Clause, frame: Frame) -> bool:
    """Whether a clause says a frame as it has to be said."""
    if clause.asked or ("now" in frame.flags and clause.past):
        return False
    if "denied" in frame.flags:
        return clause.denied and (not clause.modal or clause.modal in ABLE)
    if "able" in frame.flags:
        return clause.modal in {"could", "would", "'d", "d"} and not clause.denied
    return clause.said and clause.modal in PLAIN


def in_place(clause: Clause, frame: Frame) -> Iterator[Token]:
    """The nouns in the place that a frame names."""
    if frame.place == "object":
        yield from objects(clause)
    elif frame.place == "subject":
        yield from clause.subjects
    elif frame.holder:
        for oblique in clause.obliques:
            near = [oblique.holder, *(clause.objects if oblique.holder == clause.verb else [])]  # "set my heart on"
            if oblique.prep == frame.place and any(frame.holder in {t.lower_, t.lemma_.lower()} for t in near):
                yield oblique.noun
    else:
        yield from clause.on_verb(frame.place)
        if frame.place == "to":  # the parser takes the name in "subscribed to Spotify" for a verb
            yield from (
                verb for verb in clause.inner if verb.i and verb.text[0].isupper() and verb.nbor(-1).lower_ == "to"
            )


def objects(clause: Clause) -> list[Token]:
    """Direct objects without those who receive; what the parser hangs on a particle or takes for an adverb as well.

    "I bought my son a skateboard": the parser calls one an object and the other an adverb, or both objects.
    """
    found = list(clause.objects)
    for child in clause.verb.children:
        if child.dep_ == "prt":  # "wrote off the Corsa"
            found += [noun for inner in child.children if inner.dep_ == "pobj" for noun in spread(inner)]
        elif (found or clause.passive) and late_object(clause, child):
            found += spread(child)
    receivers = set(received(clause, found)) | set(clause.receivers)
    return [measured(noun) for noun in found if noun not in receivers]


def late_object(clause: Clause, child: Token) -> bool:
    """Whether what the parser takes for a time behind the verb is a thing."""
    behind = child.dep_ == "npadvmod" and child.i > clause.verb.i and child.pos_ in {"NOUN", "PROPN"}
    return behind and child.lemma_.lower() not in things.TIMES and child.ent_type_ not in {"DATE", "TIME"}


def received(clause: Clause, nouns: list[Token]) -> list[Token]:
    """Of two objects without a preposition the first, where it is a person: who gets the other."""
    if len(nouns) < 2 or nouns[1] in spread(nouns[0]):  # noqa: PLR2004 - two objects
        return []
    first = nouns[0]
    return [first] if clause.reading.person(first) is not None and first.dep_ != "conj" else []


def receivers(clause: Clause) -> list[Token]:
    """Who gets what the object names, without a preposition."""
    nouns = list(clause.objects)
    late = [
        child for child in clause.verb.children
        if child.dep_ == "npadvmod" and child.i > clause.verb.i and child.lemma_.lower() not in things.TIMES
    ]  # fmt: skip
    return [*clause.receivers, *received(clause, nouns + late)]


def measured(noun: Token) -> Token:
    """What an amount is of: chess in "a lot of chess"; otherwise the noun itself."""
    if noun.lemma_.lower() in AMOUNTS or noun.lower_ in AMOUNTS:
        for child in noun.children:
            if child.lower_ == "of":
                return next((inner for inner in child.children if inner.dep_ in {"pobj", "pcomp"}), noun)
    return noun


def owned_by(noun: Token) -> Token | None:
    """The name that says alone whose a thing is: Leo in "the canoe is Leo's"."""
    case = any(child.dep_ == "case" for child in noun.children)
    return noun if case and noun.dep_ in {"attr", "acomp"} and owner(noun) is None else None
