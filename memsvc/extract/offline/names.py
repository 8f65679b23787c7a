"""Proper names in a text: where they stand; ``votes`` tells what they name.

A name is what the window knows, what is capitalised where nothing else explains it, and in lower case what is a
frequent name, or no word at all where a name may stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.tokens import Doc, Token

from memsvc.extract.offline import lexicon_names as lexicon
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.vocabulary import is_word
from memsvc.extract.offline.votes import (
    CERTAIN,
    LABELS,
    TRACE,
    WEAK,
    Votes,
    kin_before,
    kind_of_noun,
    of_question,
    votes_for,
)  # fmt: skip

FRONT = 4
"""Tokens of an answer among which what was asked for stands."""
SHORT = 2
"""Letters of names that are too short to be read in lower case."""
INNER = words("""
    of the de da di del della von van der den la le du dos das y e & and 's in at for zu na
""")
"""Stand inside names, between capitalised words."""
LOWER_WORDS = words("""
    turkey china rich chad orange apple target subway boots shell meta stripe uber zoom signal reading nice bath
    split essen hull cork derby phoenix mini costa spar jumbo coop shelter rotary java buffalo angel ed rob al per
    said del cher
""")
"""Names that are words in lower case."""
NOT_IN_LOWER = LOWER_WORDS | lexicon.ALSO_WORDS | lexicon.NOT_NAMES | things.MEDIA | things.LANGUAGES
GOING = words("off back going went trip moving moved")
NO_NAMES = frozenset({"PRON", "DET", "ADP", "CCONJ", "SCONJ", "AUX", "PART", "INTJ", "PUNCT"})


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
    for start, end in capital_runs(doc, taken):
        take(start, end, doc[start:end].text)
    for at in lower_names(doc, taken):
        take(at, at + 1, doc[at].text if doc[at].text in lexicon.PRODUCTS else doc[at].text.title())
    for name in names:
        span = doc[name.start : name.end]
        name.head = span.root.i
        name.votes.update(votes_for(span))
        if asked and name.start <= FRONT and span.sent.start == 0:
            name.votes.update(of_question(asked))
    joined(doc, names)
    for name in names:
        name.votes = +name.votes or Counter({"Concept": TRACE})
    return sorted(names, key=lambda name: name.start)


def joined(doc: Doc, names: list[Name]) -> None:
    """Names that "and" joins are likely of a kind: "Saoirse, Tomi and my sister"."""
    heads = {name.head: name for name in names}
    for name in names:
        for other in doc[name.head].conjuncts:
            kind = kind_of_noun(other)
            if other.i in heads:
                kind = next((kind for kind, _ in heads[other.i].votes.most_common(1)), "")
            placed = name.end < len(doc) and doc[name.end].lower_ == "in"  # "Wim in Ghent and Ana in Lyon"
            if kind == "Person" or (kind == "Place" and not placed):
                name.votes[kind] += WEAK


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
                yield start, start + length, known[phrase]
                break


def is_meant(token: Token, phrase: str) -> bool:
    """Whether a known name in lower case is meant as one, "will" and "rose" only where no article or verb is."""
    if is_common(token) or len(phrase) <= SHORT:
        return False
    if phrase not in lexicon.ALSO_WORDS and not is_word(phrase.split(maxsplit=1)[0]):
        return True
    return token.tag_ == "NNP" or not any(
        child.dep_ in {"det", "amod", "poss", "nummod", "compound"} for child in token.children
    )


def is_common(token: Token) -> bool:
    """Whether a word in lower case is an ordinary one here."""
    return token.pos_ in {"VERB", "AUX", "ADV", "ADP", "PRON", "DET", "CCONJ", "SCONJ", "PART", "ADJ"}


def capital_runs(doc: Doc, taken: list[bool]) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words, with small words inside ("Bank of Ireland") and a noun behind ("Coburg pool")."""
    at = 0
    while at < len(doc):
        if taken[at] or not starts_name(doc[at]):
            at += 1
            continue
        end = at + 1
        while end < len(doc) and not taken[end]:
            if continues(doc[end]):
                end += 1
            elif end + 1 < len(doc) and not taken[end + 1] and bridges(doc, at, end):
                end += 2
            else:
                break
        last = doc[end - 1]
        if (
            end < len(doc)
            and doc[end].lower_ in lexicon.EXTENDING
            and last.dep_ in {"compound", "amod", "nmod", "poss"}
        ):
            end += 1
        yield at, end
        at = end


def continues(token: Token) -> bool:
    """Whether a token goes on with a name that has begun."""
    allowed = token.lower_ not in lexicon.NOT_NAMES or token.lower_ in {"new", "day", "week", "part", "year"}
    return not token.is_sent_start and is_capital(token) and allowed


def bridges(doc: Doc, start: int, at: int) -> bool:
    """Whether a small word joins words of one name: "Moran & Son", "Bank of Ireland", not "Ana and Tom"."""
    word, after = doc[at].lower_, doc[at + 1]
    if word not in INNER or not is_capital(after) or after.lower_ in lexicon.NOT_NAMES:
        return False
    if word == "'s":
        return after.lower_ in lexicon.ORGANIZATION_ENDS | lexicon.PLACE_ENDS | lexicon.EVENT_ENDS
    if word == "and":
        return after.lower_ in lexicon.ORGANIZATION_ENDS and doc[start].lower_ not in lexicon.GIVEN
    return word not in {"in", "at", "for"}


def starts_name(token: Token) -> bool:
    """Whether a name may begin with a token."""
    low = token.lower_
    if not is_capital(token) or is_shouted(token) or (low in lexicon.NOT_NAMES and not is_title(token)):
        return False
    if token.pos_ in NO_NAMES and not token.ent_type_:
        return low in lexicon.GIVEN
    if explains_capital(token):
        return opens_sentence(token)
    return token.pos_ in {"NOUN", "PROPN", "X", "ADJ", "VERB"} or token.ent_type_ in LABELS


def opens_sentence(token: Token) -> bool:
    """Whether a sentence's first word is a name."""
    low = token.lower_
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    if any(low in known for known in (lexicon.GIVEN, lexicon.PLACES, lexicon.PRODUCTS, lexicon.ORGANIZATIONS)):
        return low not in lexicon.ALSO_WORDS or token.pos_ == "PROPN"
    if not is_word(low) and token.pos_ in {"PROPN", "NOUN", "X", "ADJ", "VERB"}:
        return len(low) > SHORT
    if token.tag_ == "NNP" and not token.is_stop and after is not None:
        return after.tag_ == "POS" or (is_capital(after) and not after.is_sent_start)
    return False


def is_capital(token: Token) -> bool:
    """Whether a token begins with a capital and may stand in a name."""
    text = token.text
    return text[0].isupper() and text[0].isalpha() and token.lower_ not in {"i", "i'm"} and not token.like_url


def explains_capital(token: Token) -> bool:
    """Whether a token's capital comes from its place, as that of a sentence's first word."""
    before = before_of(token)
    return (
        token.is_sent_start or before is None or before.is_space
        or before.text in {".", "!", "?", ":", '"', "-", "(", "...", "*"}
    )  # fmt: skip


def is_shouted(token: Token) -> bool:
    """Whether a word is in capitals because its neighbours are, or is no name for its length."""
    if not token.text.isupper() or len(token.text) <= SHORT or token.lower_ in lexicon.ORGANIZATIONS:
        return False
    near = [other.text.isupper() for other in token.sent if other.is_alpha and len(other) > 1 and other.i != token.i]
    return is_word(token.lower_) or len(set(token.lower_)) <= SHORT or (bool(near) and sum(near) >= 0.5 * len(near))


def is_title(token: Token) -> bool:
    """Whether "Dr" or "Auntie" stands before a name."""
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    return token.lower_ in lexicon.TITLES and after is not None and is_capital(after) and not after.is_sent_start


def before_of(token: Token) -> Token | None:
    """The token before one."""
    return token.doc[token.i - 1] if token.i else None


def lower_names(doc: Doc, taken: list[bool]) -> Iterator[int]:
    """Names typed in lower case: frequent ones ("ana", "porto"), and what is no word where a name may stand."""
    for token in doc:
        low = token.lower_
        if taken[token.i] or not token.text[0].islower() or len(low) <= SHORT or not token.is_alpha:
            continue
        if low in NOT_IN_LOWER or token.pos_ not in {"PROPN", "NOUN", "X", "ADJ", "VERB"}:
            continue
        frequent = low in lexicon.GIVEN or low in lexicon.PLACES or low in lexicon.ORGANIZATIONS
        if frequent or (low in lexicon.PRODUCTS and not is_word(low)):
            if token.pos_ != "VERB":
                yield token.i
        elif is_named_here(token) and (not is_word(low) or token.tag_ == "NNP"):
            yield token.i


def is_named_here(token: Token) -> bool:
    """Whether a name may stand where this word does: behind "in" without article, before "'s", by "my sister"."""
    doc, before = token.doc, before_of(token)
    after = doc[token.i + 1] if token.i + 1 < len(doc) else None
    if any(child.dep_ in {"det", "amod", "nummod", "poss"} for child in token.children) or token.tag_ == "NNS":
        return before is not None and kin_before(before)
    if after is not None and after.tag_ == "POS":
        return True
    if before is None:
        return False
    if before.lower_ == "to" and before.i and doc[before.i - 1].lower_ in GOING:
        return True
    if before.lower_ in {"in", "from", "near", "called", "named", "with"}:
        return token.dep_ in {"pobj", "oprd", "attr"}
    return kin_before(before)
