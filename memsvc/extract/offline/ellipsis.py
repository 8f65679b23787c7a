"""What a turn leaves out is put in before it is read: verbs said once for several, and what "yes" answers.

"Anna works at Aldi and Dora at Rewe" becomes "… and Dora works at Rewe"; "Yes." to "Do you live in Utrecht?" becomes
"Yes. I do live in Utrecht.". What is put in stands for no words of the turn, or for the "yes", so quotes stay verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memsvc.extract.offline.clean import Cleaned
from memsvc.extract.offline.lexicon_given import GIVEN
from memsvc.extract.offline.lexicon_kin import KIN, PLURALS
from memsvc.extract.offline.lexicon_places import PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.tokens import Doc, Span, Token

PLACING = frozenset({"in", "at", "near", "on", "for", "from", "to"})
"""Prepositions of which another may stand behind the verb that is left out."""
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
PHRASE = frozenset({"DET", "PRON", "ADJ", "NOUN", "PROPN", "PART", "NUM"})
JOINING = frozenset({"and", "but", ",", ";", "then", "later"})
APART = re.compile(
    r" (?:[-–—]|\.\.\.|…) ?(?=(?P<cry>(?:(?i:sorry|no wait|wait,? no|oops|I mean|I meant|correction|make that|or rather"
    r"|scratch that))\b[ ,:]+[A-Z]))"
    r"|\b(?!(?:In|By|Since|From|The|Around|During|Until|Till)\b)[A-Z][\w’-]+"
    r"(?= (?:circa|ca\.?|c\.|mid|early|late)[ -]?['’]?\d{2,4}s?\b)"
)
"""Before what is to be apart: "… in Lyon - sorry, Nantes", "… to Graz circa 1999"."""
LONGEST = 5
"""Words of a subject whose verb is left out."""


class Put(NamedTuple):
    """Words that are put into a text."""

    at: int
    """The sign before which they stand."""
    text: str
    begin: int
    """Where in the text the words that they stand for begin, and end."""
    end: int


def put_in(cleaned: Cleaned, puts: Sequence[Put]) -> Cleaned:
    """A text with words put in."""
    text, begins, ends = cleaned.text, list(cleaned.begins), list(cleaned.ends)
    for put in sorted(puts, reverse=True):
        first = begins[put.begin] if put.begin < len(begins) else ends[-1]
        last = ends[put.end - 1] if put.end > put.begin else first
        text = text[: put.at] + put.text + text[put.at :]
        begins[put.at : put.at] = [first] * len(put.text)
        ends[put.at : put.at] = [last] * len(put.text)
    return Cleaned(text, tuple(begins), tuple(ends))


# Marks --------------------------------------------------------------------------------------------------------------


def set_apart(doc: Doc) -> Iterator[Put]:
    """Where a mark is left out that the parser needs: before a correction, and between a name and a year."""
    for match in APART.finditer(doc.text):
        at = match.start() if match["cry"] else match.end()
        yield Put(at, "\n" if match["cry"] else ",", at, at)


# Verbs ------------------------------------------------------------------------------------------------------------


def verbs_left_out(doc: Doc) -> Iterator[Put]:
    """The verbs that a text says once for several subjects."""
    for sentence in doc.sents:
        for verb in sentence:
            if verb.pos_ in {"VERB", "AUX"} and not verb.dep_.startswith("aux"):
                yield from left_out(verb, sentence)
                yield from told_once(verb, sentence)


def left_out(verb: Token, sentence: Span) -> Iterator[Put]:
    """Where a verb is left out behind its own clause."""
    subject = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
    if subject is None or not (is_somebody(subject) or subject.pos_ == "PRON") or is_with_question(sentence):
        return
    stop = next((token.i for token in verb.doc[verb.i + 1 : sentence.end] if is_verb(token)), sentence.end)
    rest = list(verb.doc[verb.i + 1 : stop])
    first = next((token for token in rest if token.pos_ == "ADP" or token.dep_ == "dobj"), None)
    if first is None or any(child.dep_ in {"dative", "iobj"} for child in verb.children):
        return
    starts = behind_preposition(first, rest) if first.pos_ == "ADP" else behind_object(first, rest)
    for start, at in starts:  # a sentence of its own, or the parser takes "Aldi and Dora" for one place
        yield Put(start[0].idx, "\n", start[0].idx, start[0].idx)
        yield Put(at.idx, f"{again(verb, start)} ", at.idx, at.idx)


def told_once(verb: Token, sentence: Span) -> Iterator[Put]:
    """Where a verb of the past and its subject are left out: "I lived in Oslo, now in Bern", "… and to Bern in May"."""
    subject = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
    if subject is None or verb.tag_ != "VBD" or subject.i > verb.i or is_with_question(sentence):
        return
    who = " ".join(token.text for token in subject.subtree)
    many = subject.lower_ in {"i", "we", "you", "they"} or subject.tag_ in {"NNS", "NNPS"}
    dated = False
    for token in verb.doc[verb.i + 1 : sentence.end - 1]:
        if is_verb(token) or token.dep_ in SUBJECTS:
            return
        before, behind = token.nbor(-1), token.nbor()
        dated = dated or token.ent_type_ == "DATE"
        joined = before.lower_ in JOINING
        if token.lower_ in {"now", "currently"} and behind.lower_ in PLACING and joined:
            yield Put(token.idx, f"\n{who} {verb.lemma_ if many else third(verb.lemma_)} ", token.idx, token.idx)
            return
        if token.lower_ == "to" and behind.pos_ == "PROPN" and dated and verb.lemma_ == "move" and joined:
            yield Put(token.idx, f"\n{who} {verb.text} ", token.idx, token.idx)


def is_verb(token: Token) -> bool:
    """Whether a clause of its own may begin with a word."""
    return token.pos_ in {"VERB", "AUX"} or token.lower_ in {"who", "which", "that", "because", "when", "if"}


def is_with_question(sentence: Span) -> bool:
    """Whether a sentence ends with a question mark."""
    return str(sentence).rstrip().endswith("?")


def behind_preposition(first: Token, rest: list[Token]) -> Iterator[tuple[list[Token], Token]]:
    """Subjects with the prepositions behind them: "… at Aldi and [Dora] [at] Rewe"."""
    since = rest.index(first) + 1
    for place, token in enumerate(rest):
        if place <= since or token.pos_ != "ADP" or is_of_time(token):
            continue
        same = token.lower_ == first.lower_ or {token.lower_, first.lower_} <= PLACING
        subject = subject_before(rest[since:place])
        if subject is not None and not is_known(subject[-1]) and token.nbor().pos_ != "PROPN":
            subject = None  # "at Tesco and Aldi at weekends"
        if not same or subject is None or any(is_somebody(each) for each in rest[since : place - len(subject) - 1]):
            if token.lower_ != "of":
                return
            continue
        yield subject, token
        since = place + 1


def is_of_time(preposition: Token) -> bool:
    """Whether a preposition says when: "in 2019", "on Monday"."""
    return any(child.dep_ == "pobj" and child.ent_type_ in {"DATE", "TIME"} for child in preposition.children)


def behind_object(first: Token, rest: list[Token]) -> Iterator[tuple[list[Token], Token]]:
    """Subjects with the objects behind them: "… plays guitar and [Mia] [drums]"."""
    since = next((place for place, token in enumerate(rest) if token == first or token in first.lefts), 0)
    for place in range(since + 1, len(rest) - 1):
        if rest[place].lower_ not in {"and", ",", "but", "while"}:
            continue
        if any(is_somebody(each) for each in rest[since:place]):
            return
        for length in (1, 2, 3):
            subject, behind = rest[place + 1 : place + 1 + length], rest[place + 1 + length :]
            if not behind or not is_subject(subject):
                continue
            noun = next((each for each in behind if each.pos_ not in {"DET", "ADJ", "NUM"}), None)
            if (
                noun is not None
                and noun.pos_ == "NOUN"
                and noun.lower_ not in KIN
                and noun.ent_type_ not in {"DATE", "TIME"}
            ):
                yield subject, behind[0]
                break


def subject_before(words: list[Token]) -> list[Token] | None:
    """The subject at the end of some words, behind "and" or a comma."""
    edge = max(
        (place for place, token in enumerate(words) if token.lower_ in {"and", ",", "but", "while", ";"}), default=0
    )
    subject = words[edge + 1 :]
    return subject if edge and 0 < len(subject) <= LONGEST and is_subject(subject) else None


def is_subject(words: list[Token]) -> bool:
    """Whether words name somebody as a subject: a person's name, "my sister", "she"."""
    if not words or any(token.pos_ not in PHRASE for token in words):
        return False
    last = words[-1]
    if last.tag_ == "POS":
        return False
    if len(words) == 1 and last.lower_ in {"i", "he", "she", "we", "they"}:
        return True
    own = words[0].lower_ in {"my", "our", "his", "her", "their", "the"} or any(token.tag_ == "POS" for token in words)
    return (own and (last.lower_ in KIN or last.lemma_.lower() in KIN or last.lower_ in PLURALS)) or (
        is_somebody(last) and all(token.pos_ == "PROPN" or own for token in words)
    )


def is_somebody(token: Token) -> bool:
    """Whether a word names a person."""
    low = token.lower_
    if low in KIN:
        return True
    return token.text[0].isupper() and low not in PLACES and (low in GIVEN or token.ent_type_ == "PERSON")


def is_known(token: Token) -> bool:
    """Whether a word names a person for sure, not only to the parser."""
    return token.lower_ in KIN | PLURALS.keys() | GIVEN or token.lemma_.lower() in KIN or token.pos_ == "PRON"


def again(verb: Token, subject: list[Token]) -> str:
    """A verb with its helpers, for another subject."""
    helpers = [child for child in verb.lefts if child.dep_ in {"aux", "auxpass", "neg"}]
    if helpers or verb.tag_ not in {"VBZ", "VBP"} or verb.lemma_ in {"be", "have", "do"}:
        return " ".join(token.text.replace("'s", "is").replace("'m", "is") for token in [*helpers, verb])
    last = subject[-1]
    many = last.lower_ in {"i", "we", "they"} or last.tag_ in {"NNS", "NNPS"}
    return verb.lemma_ if many else third(verb.lemma_)


def third(lemma: str) -> str:
    """A verb for "she": "works", "teaches", "studies"."""
    if re.search(r"(?:s|x|z|ch|sh|o)$", lemma):
        return f"{lemma}es"
    return f"{lemma[:-1]}ies" if re.search(r"[^aeiou]y$", lemma) else f"{lemma}s"
