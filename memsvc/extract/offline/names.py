"""Proper names in a text: where they stand; ``votes`` tells what they name.

A name is what the window knows, what is capitalised where nothing else explains it, and in lower case what is a
frequent name, or no word at all where a name may stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.tokens import Doc

from memsvc.extract.offline import lexicon_brands as brands
from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline.capitals import bridges, capital_runs, continues, starts_name, two_inner
from memsvc.extract.offline.lexicon_given import GIVEN
from memsvc.extract.offline.lexicon_kin import BARE
from memsvc.extract.offline.lowercase import is_meant, lower_names
from memsvc.extract.offline.votes import (
    CERTAIN,
    FAIR,
    STRONG,
    TRACE,
    WEAK,
    Votes,
    kind_of_noun,
    of_question,
    votes_for,
)  # fmt: skip

LONGEST_TITLE = 7
"""Words of a title that stands between quotation marks."""
SPEAKING = frozenset({"say", "tell", "ask", "go", "like", "reply", "shout", "write", "text", "answer"})
SMALL = frozenset({"of", "and", "the", "de", "la", "du", "in", "on", "y"})
QUARTER = re.compile(r"[QH][1-4]")
"""Of a year."""
FRONT = 4
"""Tokens of an answer among which what was asked for stands."""


@dataclass(slots=True)
class Name:
    """A stretch of a text that names something."""

    start: int
    """Its first token."""
    end: int
    """Behind its last."""
    text: str
    votes: Votes = field(default_factory=Counter)
    """What it may be, weighted."""
    head: int = 0
    """The token that its neighbours' grammar is about."""


def find_names(doc: Doc, known: dict[str, str], index: dict[str, set[int]], asked: str = "") -> list[Name]:
    """The names of a text, in order, none inside another.

    Args:
        doc: parsed.
        known: names of the window in normal form, with their types.
        index: for each first word of ``known``, how many words names that begin with it have.
        asked: the question that it may answer.
    """
    taken = [False] * len(doc)
    names: list[Name] = []

    def take(start: int, end: int, text: str, votes: Votes | None = None) -> None:
        names.append(Name(start, end, text, votes or Counter()))
        taken[start:end] = [True] * (end - start)

    for start, end, kind in known_spans(doc, known, index):
        if not any(taken[start:end]):
            take(start, end, doc[start:end].text, Counter({kind: CERTAIN}))
    for start, end in quoted_titles(doc):
        if not any(taken[start:end]):
            take(start, end, doc[start:end].text, Counter({"Media": FAIR}))
    for start, end in capital_runs(doc, taken):
        take(start, end, doc[start:end].text.rstrip("."))
    for start, end in lower_names(doc, taken):
        text = doc[start:end].text
        take(start, end, text if text in brands.PRODUCTS else capitalised(text))
    names = [name for name in names if not (calls_a_relative(name) or QUARTER.fullmatch(name.text))]
    for name in names:
        judge(doc, name, asked)
    joined(doc, names)
    for name in names:
        name.votes = +name.votes or Counter({"Concept": TRACE})
    return sorted(names, key=lambda name: name.start)


def calls_a_relative(name: Name) -> bool:
    """Whether a name is none, but what everybody calls somebody else: "Mum", "Ammi", "Abuela"."""
    word = name.text.lower()
    return word in BARE and word not in GIVEN


def judge(doc: Doc, name: Name, asked: str) -> None:
    """Give a name its head, and the votes on what it may be."""
    span = doc[name.start : name.end]
    name.head = span.root.i
    name.votes.update(votes_for(span))
    if asked and name.start <= FRONT and span.sent.start == 0:
        name.votes.update(of_question(asked))


def capitalised(text: str) -> str:
    """A name in lower case with the capitals it should have: "Cape Town", "Isle of Man", "McDonald's"."""
    return " ".join(word if word in SMALL else word[0].upper() + word[1:] for word in text.split(" "))


def joined(doc: Doc, names: list[Name]) -> None:
    """Names that "and" joins are likely of a kind: "Saoirse, Tomi and my sister"."""
    heads = {name.head: name for name in names}
    for name in names:
        for other in doc[name.head].conjuncts:
            kind = kind_of_noun(other)
            if other.i in heads:
                kind = next((kind for kind, _ in heads[other.i].votes.most_common(1)), "")
            if other.i in heads and kind == "Object" and heads[other.i].votes[kind] >= STRONG + FAIR:
                name.votes[kind] += STRONG + FAIR  # "her hens, Mavis and Doris"
            placed = name.end < len(doc) and doc[name.end].lower_ == "in"  # "Wim in Ghent and Ana in Lyon"
            if kind == "Person" or (kind == "Place" and not placed):
                name.votes[kind] += WEAK


def quoted_titles(doc: Doc) -> Iterator[tuple[int, int]]:
    """Where titles of several words stand between quotation marks: they begin with a capital, and are no speech."""
    marks = [token.i for token in doc if token.text == '"']
    for left, right in zip(marks[::2], marks[1::2], strict=False):
        title = doc[left + 1 : right]
        before = doc[left - 1] if left else None
        if not 1 < len(title) <= LONGEST_TITLE or not title[0].text[0].isupper() or title[-1].is_punct:
            continue
        spoken = before is not None and (before.text in {",", ":"} or before.lemma_ in SPEAKING)
        if not spoken and title[0].lower_ not in {"i", "you", "we", "yes", "no"}:
            yield left + 1, right


def known_spans(doc: Doc, known: dict[str, str], index: dict[str, set[int]]) -> Iterator[tuple[int, int, str]]:
    """Names that the window knows already, also in lower case where they are no common word."""
    low = [token.lower_ for token in doc]
    for start, word in enumerate(low):
        for length in sorted(index.get(word, ()), reverse=True):
            phrase = " ".join(low[start : start + length])
            if phrase in known and start + length <= len(low):
                first = doc[start]
                if first.text[0].islower() and not is_meant(first, phrase):
                    continue
                if first.is_sent_start and phrase in lexicon.NOT_NAMES:
                    continue
                if known[phrase] != "Person" and is_part(doc, start, start + length):
                    break
                yield start, with_surname(doc, start + length, known[phrase]), known[phrase]
                break


def is_part(doc: Doc, start: int, end: int) -> bool:
    """Whether a known name stands within a longer one: "Cork" in "Cork University Hospital"."""
    if not doc[start].text[0].isupper():
        return False
    before = doc[start - 1] if start else None
    joins = before is not None and before.text[0].isupper() and starts_name(before) and not before.is_sent_start
    firm = end + 1 < len(doc) and doc[end].lower_ in {"and", "&"} and bridges(doc, start, end)
    return joins or firm or (end < len(doc) and continues(doc[end]))


def with_surname(doc: Doc, end: int, kind: str) -> int:
    """Where somebody's known name ends, with the surname behind it: "Anneke van der Weij"."""
    if kind != "Person" or end >= len(doc) or doc[end - 1].text[0].islower():
        return end
    end += two_inner(doc, end)
    while end < len(doc) and continues(doc[end]) and doc[end].dep_ not in {"nsubj", "dobj"}:
        end += 1
    return end
