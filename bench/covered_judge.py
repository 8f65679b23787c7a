"""Whether a fact's sentence says what an observation says: a judge of words and vectors, fitted to labels by hand.

A logistic regression weighs five signs of a pair: the cosine of MiniLM's vectors, the share of each text's content
words that the other has, whether the fact begins at the observation's speaker, and whether both deny something or
neither does. No weight is below 0. The labelled pairs were drawn in strata of the cosine, the same number from each. So
the share that the reader would give all pairs is the mean of the strata, weighted by their sizes (Cochran 1977,
chapter 5).
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bench.logistic import Examples, Model, chance, fit, unseen
from bench.naming import LIGHT, folded, plain, same_name
from bench.observations import Observation
from memsvc.extract.offline import pipeline
from memsvc.llm.embedders.onnx import OnnxMiniLM

if TYPE_CHECKING:
    from spacy.tokens import Doc

EDGES = (0.5, 0.6, 0.7, 0.8)
"""Cosines at which a stratum ends and the next one begins."""
EACH, SEED = 20, 1
"""Pairs that are drawn of a stratum, and by which numbers."""
NO_FACT = -1
"""The stratum of an observation that recalls no fact."""
RIDGE = 0.1
SURE = 0.5
"""From this chance on a pair counts as covered."""
CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
DENIALS = frozenset({"no", "never", "nobody", "nothing", "none", "neither", "nor", "without"})
CONFIDENCE = 1.96


class Signs(msgspec.Struct, frozen=True):
    """What is seen of an observation and a fact; each between 0 and 1, but the cosine, which may be below."""

    cosine: float
    """Of their vectors."""
    said: float
    """Share of the observation's content words that the fact has."""
    told: float
    """Share of the fact's content words that the observation has."""
    subject: float
    """1: the fact begins at the observation's speaker."""
    negation: float
    """1: both deny something, or neither does."""

    @property
    def traits(self) -> dict[str, float]:
        """The same by name."""
        return {name: getattr(self, name) for name in Signs.__struct_fields__}

    @property
    def stratum(self) -> int:
        """Which of the strata of ``EDGES``, from 0."""
        return bisect_right(EDGES, self.cosine)


class Label(msgspec.Struct, frozen=True):
    """One line of ``bench/gold/covered.jsonl``: what a reader thought of a pair."""

    conversation: str
    observation: int
    """Its number among those of ``bench.observations``, from 0."""
    signs: Signs
    label: bool
    """The fact says the same: details may be fewer, but the core of the claim is there."""


class Reader:
    """Finds the signs of pairs; each text is parsed and embedded once."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Parse and embed the texts of all pairs."""
        known = list(dict.fromkeys(texts))
        self._docs = dict(zip(known, pipeline.parse(known), strict=True))
        vectors = OnnxMiniLM().embed(known)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = dict(zip(known, vectors, strict=True))

    def signs(self, observation: Observation, sentence: str, subject: str) -> Signs:
        """The signs of an observation and a fact.

        Args:
            observation: one whose text the reader has.
            sentence: the fact's, which the reader has.
            subject: label of the node where the fact begins.
        """
        speaker = observation.speaker or ""
        one, other = self._docs[observation.text], self._docs[sentence]
        wanted, given = content(one, speaker), content(other, speaker)
        return Signs(
            cosine=round(float(self._vectors[observation.text] @ self._vectors[sentence]), 4),
            said=round(len(wanted & given) / max(len(wanted), 1), 4),
            told=round(len(wanted & given) / max(len(given), 1), 4),
            subject=float(same_name(speaker, subject)),
            negation=float(denies(one) == denies(other)),
        )


def content(doc: Doc, speaker: str) -> frozenset[str]:
    """The lemmas that say something, without the speaker's name, as ``bench.naming`` folds words."""
    names = set(plain(speaker).split())
    lemmas = (plain(token.lemma_) for token in doc if token.pos_ in CONTENT and not token.is_stop)
    return frozenset(folded(lemma) for lemma in lemmas if lemma not in LIGHT and lemma not in names)


def denies(doc: Doc) -> bool:
    """Whether a text denies something."""
    return any(token.dep_ == "neg" or token.lower_ in DENIALS for token in doc)


def learn(labels: Sequence[Label]) -> Model:
    """The judge of these labels."""
    return fit(_examples(labels), RIDGE, rising=Signs.__struct_fields__)


def chance_of(judge: Model, signs: Signs) -> float:
    """The chance that a fact covers an observation, 0 to 1."""
    return chance(judge, signs.traits)


def agreement(labels: Sequence[Label]) -> dict[str, float]:
    """How well a judge that has not seen a label's conversation agrees with it: accuracy, and Cohen's kappa (1960)."""
    chances = unseen(
        _examples(labels), [one.conversation for one in labels], RIDGE, rising=Signs.__struct_fields__
    )  # fmt: skip
    judged = [bool(one >= SURE) for one in chances]
    return {"accuracy": _equal(judged, labels), "kappa": kappa(judged, [one.label for one in labels])}


def kappa(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Cohen's kappa of two judges of the same pairs: 1 they agree always, 0 as often as by chance.

    Where both say the same of every pair, chance explains all of it, and kappa is 0.
    """
    count = len(first)
    agreed = sum(one == other for one, other in zip(first, second, strict=True)) / count
    yes, other_yes = sum(first) / count, sum(second) / count
    expected = yes * other_yes + (1 - yes) * (1 - other_yes)
    return (agreed - expected) / (1 - expected) if expected < 1 else 0.0


def share_by_labels(labels: Sequence[Label], strata: Sequence[int]) -> tuple[float, float, float]:
    """The share of all pairs that the labels' reader would call covered, with its 95 % interval.

    Args:
        labels: a random draw of each stratum.
        strata: of all pairs, each one's; a stratum without labels counts as not covered.

    Returns:
        (share, low, high); the interval is the normal one of stratified sampling.
    """
    sizes, share, variance = Counter(strata), 0.0, 0.0
    for stratum, size in sizes.items():
        given = [one.label for one in labels if one.signs.stratum == stratum]
        if given:
            mean, weight = sum(given) / len(given), size / len(strata)
            share += weight * mean
            variance += weight**2 * mean * (1 - mean) / max(len(given) - 1, 1)
    spread = CONFIDENCE * float(np.sqrt(variance))
    return share, max(share - spread, 0.0), min(share + spread, 1.0)


def drawn(strata: Sequence[int]) -> list[int]:
    """Numbers of the pairs to be labelled: ``EACH`` of each stratum at most, the same ones each time, mixed."""
    draw = random.Random(SEED)
    chosen: list[int] = []
    for stratum in sorted(set(strata) - {NO_FACT}):
        among = [number for number, one in enumerate(strata) if one == stratum]
        chosen += draw.sample(among, min(EACH, len(among)))
    draw.shuffle(chosen)
    return chosen


def _equal(judged: Sequence[bool], labels: Sequence[Label]) -> float:
    return sum(one == other.label for one, other in zip(judged, labels, strict=True)) / len(labels)


def _examples(labels: Sequence[Label]) -> Examples:
    return Examples.of([one.signs.traits for one in labels], [one.label for one in labels], [1.0] * len(labels))
