"""How to ask: what may be recalled, at which times, by which weights, and how hard to look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

Form = Literal["stemmed", "simple"]
Mode = Literal["eager", "balanced", "deliberate"]
"""eager: few candidates, no walk, short lines, for every turn; balanced: the default; deliberate: more of all."""
MAX_LIMIT = 1_000
CANDIDATES = 64
"""Of each arm; more did not find more (docs/adr/0018)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Around a point; ``memsvc.graph.places`` says what is there."""

    latitude: float
    """Degrees north, -90 to 90."""
    longitude: float
    """Degrees east, -180 to 180."""
    radius_m: float
    """Metres."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be recalled; the default is every message, every fact and every block of the archive."""

    conversations: Sequence[str] = ()
    """Only these, by id or identifier; facts where a message of theirs supports them."""
    not_conversations: Sequence[str] = ()
    """None of these."""
    said_from: datetime | None = None
    """Said at this moment or later."""
    said_to: datetime | None = None
    """Said before this moment."""
    traces: bool = False
    """Also what system, tool and thinking roles said."""
    facts: bool = True
    """Facts of the graph too, with their sentence."""
    as_of: datetime | None = None
    """What was true then: messages said by then, facts valid then; None: now."""
    known_at: datetime | None = None
    """What was recorded by then; None: now."""
    near: Near | None = None
    """Only what speaks of something that is, or was at ``as_of``, near a point."""

    @property
    def kinds(self) -> list[str]:
        """Kinds of passages; what blocks said before counts where it is asked what was known once."""
        return [
            "message",
            "block",
            *(["former"] if self.known_at is not None else []),
            *(["trace"] if self.traces else []),
        ]

    def in_time(self, said_at: datetime) -> bool:
        """Whether something said then may be recalled."""
        return not (
            (self.said_from is not None and said_at < self.said_from)
            or (self.said_to is not None and said_at >= self.said_to)
        )


CUT_SHOWN = 10
"""Of what was left out, so many are explained."""
RERANKED = 50
"""So many are fetched for a reranker, or to choose different ones from."""
LEAST_CONFIDENCE = 0.12
"""Below it, nothing counts as an answer to a question; of the labelled sets' answerable ones that is said of 2 %."""
FITTED_MODELS = frozenset({"onnx:all-MiniLM-L6-v2"})
"""Embedding models for which the confidence was fitted (bench/confidence.py); by others there is none."""
QUESTION_CHARS = 200
"""What is longer is no question (a dialogue, a document): hardly anything is near to all of it, so it is not judged."""
NEAREST_SHOWN = 3
"""So many are given then."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard a mode looks, and how much of what it finds a context shows."""

    candidates: int
    """Of each arm."""
    late: int
    """Best candidates that are compared by their tokens."""
    hops: int
    """Steps from what the query names."""
    chars: int | None
    """Characters of a message that a context shows, of the sentences that say the query's words; None: the passage."""
    neighbours: int
    """Turns, or other parts of a long message, that a context may show on each side of a message."""


EFFORTS: dict[Mode, Effort] = {
    "eager": Effort(candidates=32, late=0, hops=0, chars=200, neighbours=0),
    "balanced": Effort(candidates=CANDIDATES, late=30, hops=1, chars=None, neighbours=1),
    "deliberate": Effort(candidates=200, late=100, hops=2, chars=None, neighbours=2),
}


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """What each arm and factor counts in the score; 0 switches it off.

    Relevance (``words`` to ``late``) is a sum of scores standardised over the candidates (z-scores), so a weight is
    points for each standard deviation. The other factors lie between 0 and 1, so a weight is the most that they add.
    docs/recall-parts.md has what each of them gained or lost.
    """

    words: float = 0.5
    """BM25 of the passage's own words."""
    nearby: float = 0.1
    """BM25 of the messages before and after: whole for the next ones, half for the ones behind them."""
    session: float = 0.25
    """The best BM25 of the session."""
    vector: float = 0.4
    """Cosine of the passage's vector and the query's."""
    nearby_vector: float = 0.0
    """The better cosine of the messages before and after."""
    session_vector: float = 0.5
    """The best cosine of the session."""
    late: float = 0.5
    """Late interaction (MaxSim) over the best candidates."""
    names: float = 0.5
    """The passage supports, or the fact is about, something that the query names."""
    speaker: float = 1.25
    """The query names who speaks, or says "I" and the user speaks."""
    time: float = 1.5
    """Said, or true, at a time that the query names."""
    order: float = 0.0
    """The query asks for the first or the last."""
    recency: float = 0.0
    """Exponential decay with the age."""
    importance: float = 0.0
    """How much it matters, 1 to 10."""
    strength: float = 0.0
    """What was recalled lives longer: decay since the last recall, slower with each."""
    familiarity: float = 0.0
    """How often it was recalled, saturating."""
    usefulness: float = 0.3
    """Feedback: used counts for it, irrelevant against it."""
    kind: float = 0.0
    """What kind of memory it is: facts before messages."""
    distance: float = 0.25
    """Nearness in the graph to what the query names."""
    place: float = 2.0
    """Nearness on the ground to a place that the query names, where it asks for what is near."""
    sentiment: float = 0.0
    """Strength of feeling."""
    staleness: float = 0.5
    """Against facts that ended, or that nothing has confirmed for long."""

    @property
    def by_meaning(self) -> bool:
        """Whether anything that needs the query's vector counts."""
        return any((self.vector, self.nearby_vector, self.session_vector, self.late))


DEFAULT = Weights()
NOTHING = Weights(**dict.fromkeys(Weights.__struct_fields__, 0.0))
"""All switched off, to switch single ones on."""
