"""How a turn sounds and how much it matters: VADER's sentiment, and what tells that something is worth keeping."""

from __future__ import annotations

from functools import cache

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from memsvc.extract.extraction import Signs
from memsvc.extract.offline import lexicon_signs as lexicon

MAX_SIGNS = 2_000
STRONG = 0.6


@cache
def analyzer() -> SentimentIntensityAnalyzer:
    """VADER's lexicon, read once."""
    return SentimentIntensityAnalyzer()


def read_signs(turn: int, text: str, facts: int) -> Signs:
    """The signs of a turn.

    Args:
        turn: its index.
        text: its words.
        facts: how many were found in it.
    """
    text = text[:MAX_SIGNS]
    sentiment = float(analyzer().polarity_scores(text)["compound"])
    return Signs(turn=turn, sentiment=round(sentiment, 3), importance=importance(text, facts, sentiment))


def importance(text: str, facts: int, sentiment: float) -> int:
    """1 (trivial) to 10 (life-changing): the gravest thing that is spoken of, and what stresses it."""
    low = text.lower()
    if lexicon.BOILERPLATE.match(low.strip()):
        return 1
    score = 2 + min(facts, 2)
    score = max([score, *(weight for weight, pattern in lexicon.GRAVE if pattern.search(low))])
    score += bool(lexicon.STRESSED.search(low)) + (abs(sentiment) > STRONG) + bool(lexicon.DATED.search(low))
    if low.rstrip().endswith("?") and not facts:
        score -= 1
    return max(1, min(10, score))


def is_boilerplate(text: str) -> bool:
    """Whether a message only greets, thanks or agrees."""
    return bool(lexicon.BOILERPLATE.match(text.lower().strip()))
