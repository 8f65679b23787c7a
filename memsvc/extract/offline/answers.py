"""Answers that say only what was asked for: "Where do you live now?" - "In Madrid."; the question tells the rest.

What a question asks is told by its words, not by its grammar, for which a chat has too many; what the answer names has
to be of a kind that fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.clauses import Clause, predicate, spread
from memsvc.extract.offline.findings import LIKELY, MAYBE, NAMES, Finding, kind, listed, named, naming, placed, thing
from memsvc.extract.offline.lexicon_works import MADE
from memsvc.extract.offline.trades import is_trade, trade
from memsvc.extract.offline.work import employer

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

    from memsvc.extract.offline.reading import Reading


class Asked(NamedTuple):
    """What a question asks for."""

    pattern: re.Pattern[str]
    type: str
    ended: bool = False


def asks(pattern: str, type_: str, *, ended: bool = False) -> Asked:
    """A kind of question."""
    return Asked(re.compile(pattern, re.IGNORECASE), type_, ended)


WHO = r"(?:your )?\w+"
QUESTIONS = (
    asks(r"\bwhere\b.*\b(?:grow up|grew up|born|raised)\b", "LIVES_IN", ended=True),
    asks(r"\bwhere\b.*\b(?:work|working|works|employed|teach|teaching|study|studying|volunteer)\b", "WORKS_AT"),
    asks(r"\b(?:which|what)(?:'s| is)? (?:the )?(?:company|firm|uni|university|school|college|hospital)\b", "WORKS_AT"),
    asks(
        r"\b(?:which|what) (?:city|town|country|place|village|part)\b.*\b(?:live|living|based|home|from)\b", "LIVES_IN"
    ),
    asks(r"\bwho (?:do|does|did) \w+ work for\b", "WORKS_AT"),
    asks(r"\bwhat (?:do|does) " + WHO + r" do(?: for (?:a |)(?:living|work)| these days| now| again)?\s*\??$", "JOB"),
    asks(r"^(?:so )?(?:are|is) (?:you|u|s?he|they|your \w+) (?:originally |actually )?from\b", "LIVES_IN"),
    asks(r"\bwhere\b.*\b(?:live|lives|living|based|move|moved|moving|home|are you from|is s?he from)\b", "LIVES_IN"),
    asks(
        r"\bwhere\b.*\b(?:go|going|went|gone|travel|fly|flying|trip|holiday|vacation|staying|are you)\b", "LOCATED_AT"
    ),
    asks(r"\b(?:what|which)\b.*\b(?:using|do you use|does s?he use|did you use)\b", "USES"),
    asks(r"\b(?:what|which)\b.*\b(?:favourite|favorite)\b", "LIKES"),
    asks(r"\bwhat\b.*\b(?:making|building|baking|brewing|knitting|sewing|painting|writing|cooking)\b", "CREATED"),
    asks(r"\bwhat (?:do|does) " + WHO + r" (?:want|wish for)\b|\bwhat would you (?:like|love) for\b", "WANTS"),
)
OF_YOU = re.compile(r"\b(?:are|were|is|was) (?:you|u|he|she|your \w+) an?\b", re.IGNORECASE)
"""A guess at somebody's work: "Are you a doctor?" - "No, a lawyer."."""
YOU = frozenset({"you", "u"})
TRADE = asks("", "TRADE")
FILLERS = re.compile(
    r"^(?:yes|yeah|yep|no|nope|nah|ha|haha|lol|oh|well|hm+|just|in|at|the|a|an|still|near|for|on|from|both|so|um|er|and|to)$"
)
FURTHEST = 4
"""Words before the first that answers."""


def read_answer(reading: Reading) -> Iterator[Finding]:
    """What the first sentence of a turn says, read with the question that the turn before ended with."""
    question = question_before(reading)
    sentence = next((sent for sent in reading.doc.sents if any(token.is_alpha for token in sent)), None)
    if question is None or sentence is None or any(token.lower_ in {"not", "n't"} for token in sentence):
        return
    asked = next((each for each in QUESTIONS if each.pattern.search(question.text)), None)
    if asked is None and OF_YOU.search(question.text):
        asked = TRADE
    if asked is None or any(predicate(token) and has_subject(token) for token in sentence):
        return
    people = [key for key in (subject_of(question, reading),) if key is not None]
    nouns = answer_nouns(sentence)
    for noun in nouns if people else []:
        clause = Clause(reading, noun)
        for person in people:
            yield from answered(clause, noun, person, asked)
        if asked.type in {"WORKS_AT", "LIVES_IN", "LOCATED_AT"}:
            break


def question_before(reading: Reading) -> Span | None:
    """The question with which somebody else ended the turn before."""
    if not reading.earlier:
        return None
    before = reading.earlier[0]
    last = next((sent for sent in reversed(list(before.doc.sents)) if any(token.is_alpha for token in sent)), None)
    other = before.heard or before.speaker != reading.speaker
    return last if other and last is not None and last.text.rstrip().endswith("?") else None


def subject_of(question: Span, reading: Reading) -> int | None:
    """Whom the question is about: "you" is who answers."""
    subjects = [token for token in question if token.dep_.startswith("nsubj") and token.tag_ not in {"WP", "WDT"}]
    if any(token.lower_ in YOU for token in question):
        return reading.speaker
    for token in subjects:
        key = reading.earlier[0].person(token)
        if key is not None:
            return key
    return None


def of_somebody_else(reading: Reading) -> Span | None:
    """The sentence that answers a question about another than who speaks: "What does she do?" - "nurse at Lidl"."""
    question = question_before(reading)
    sentence = next((sent for sent in reading.doc.sents if any(token.is_alpha for token in sent)), None)
    if question is None or sentence is None or any(token.lower_ in YOU for token in question):
        return None
    asked = any(each.pattern.search(question.text) for each in QUESTIONS)
    return None if not asked or any(predicate(token) and has_subject(token) for token in sentence) else sentence


def has_subject(verb: Token) -> bool:
    """Whether the answer is a sentence of its own."""
    return any(child.dep_.startswith("nsubj") for child in verb.children)


def answer_nouns(sentence: Span) -> list[Token]:
    """The nouns that the sentence begins with, and those beside them."""
    for token in sentence:
        if token.i - sentence.start > FURTHEST:
            break
        if (token.pos_ in {"NOUN", "PROPN", "X"} or token.ent_type_ in NAMES) and token.dep_ not in {
            "compound",
            "npadvmod",
        }:
            return spread(token)
        known = token.is_punct or token.pos_ in {"ADJ", "DET", "INTJ", "NUM", "PROPN", "NOUN"}
        if not (known or FILLERS.match(token.lower_)):
            break
    return []


def answered(clause: Clause, noun: Token, person: int, asked: Asked) -> Iterator[Finding]:
    """The relation that was asked for, to what a noun of the answer names."""
    key: int | None = None
    type_, confidence = asked.type, LIKELY
    if type_ in {"JOB", "TRADE"}:
        if is_trade(noun) and not named(noun):
            yield from trade(clause, noun, [person])
        places = [child for prep in noun.children if prep.lower_ in {"at", "for"} for child in prep.children]
        key = employer(clause, places[0], loose=True) if places else None
        type_ = "WORKS_AT"
    elif type_ == "WORKS_AT":
        key = employer(clause, noun, loose=True)
    elif type_ in {"LIVES_IN", "LOCATED_AT"}:
        place = naming(noun)
        key = placed(clause, place) if named(place) else None
        key = key if key is not None and kind(clause, key) == "Place" else None
    elif type_ == "CREATED":
        key = thing(clause, noun) if listed(noun, MADE) else None
    elif noun.ent_type_ not in {"DATE", "TIME", "PERSON"} and not listed(noun, things.EMPTY | things.TIMES):
        key, confidence = thing(clause, noun), MAYBE
    if key is not None and key != person and kind(clause, key) != "Person":
        yield Finding(person, type_, key, clause, confidence, "ended" if asked.ended else "holds")
