"""How to ask: what may be recalled, at which times, by which weights, and how hard to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args

from msgspec import Meta, Struct

from memsvc.recall.kinds import RECALLED, Kind
from memsvc.sources.messages import TRACES, Role

Form = Literal["stemmed", "simple"]
SourceKind = Literal["conversation", "document", "block", "graph"]
Mode = Literal["eager", "balanced", "deliberate"]
"""eager: few candidates, no walk, short lines, for every turn; balanced: the default; deliberate: more of all."""
MAX_LIMIT = 1_000
CANDIDATES = 48
"""Of each arm; more find no more, as what stands beside the best comes along (docs/adr/0039)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Around a point; ``memsvc.graph.places`` says what is there."""

    latitude: float
    """Degrees north, -90 to 90."""
    longitude: float
    """Degrees east, -180 to 180."""
    radius_m: float
    """Metres."""


Names = Annotated[Sequence[str], Meta(max_length=1_000)]


class GivenFilters(Struct, frozen=True, kw_only=True):
    """Filters that every interface takes as they are, REST and MCP with these descriptions and bounds.

    All but those of ``TRANSLATED`` go to the attribute of ``memsvc.scope`` that has their name.
    """

    conversations: Names = []
    """Only these conversations, by id or identifier."""
    not_conversations: Names = []
    """None of these conversations, by id or identifier."""
    traces: bool = False
    """Also messages of the roles system, tool and thinking."""
    facts: bool = True
    """Also facts of the graph, each as its sentence."""
    kinds: Annotated[Sequence[Kind], Meta(max_length=len(get_args(Kind)))] = []
    """Only these kinds. Default: all but trace."""
    speakers: Names = []
    """Only what these people said, by the names that messages have. A fact: where a message that supports it is."""
    roles: Annotated[Sequence[Role], Meta(max_length=len(get_args(Role)))] = []
    """Only what was said in these roles; the last three include traces. A fact: where a message that supports it is."""
    source_kinds: Annotated[Sequence[SourceKind], Meta(max_length=len(get_args(SourceKind)))] = []
    """Only from sources of these kinds: conversation, block (of the profile's archive), graph (written by hand)."""
    types: Names = []
    """Only facts, cards, notes and instructions of edges and nodes of these types."""
    least_importance: Annotated[float, Meta(ge=1, le=10)] | None = None
    """Only what is at least this important. What nobody judged has 5."""
    metadata: Mapping[str, Any] | None = None
    """Only what has these in its metadata: of a note kind and tags, as in {"tags": ["garden"]}."""
    least_score: float | None = None
    """Only what has at least this score for the query, as `score` of a memory has it."""
    include_archived: bool = False
    """Also what forgetting has archived. What is recalled of it is restored."""


class FilterOptions(TypedDict, total=False):
    """The same as options of the Python client."""

    conversations: Sequence[str]
    not_conversations: Sequence[str]
    traces: bool
    facts: bool
    kinds: Sequence[Kind]
    speakers: Sequence[str]
    roles: Sequence[Role]
    source_kinds: Sequence[SourceKind]
    types: Sequence[str]
    least_importance: float
    metadata: Mapping[str, Any]
    least_score: float
    include_archived: bool


CHOICES: Mapping[str, Sequence[str]] = {
    "kinds": get_args(Kind), "roles": get_args(Role), "source_kinds": get_args(SourceKind),
}  # fmt: skip
"""What filters may name."""
TRANSLATED = frozenset({"conversations", "not_conversations", "traces", "facts", "kinds", "least_score"})
"""What the database is not given under its name."""


class Filters(GivenFilters, frozen=True, kw_only=True):
    """What may be recalled; the default is all but traces.

    A fact, a card, a note or an instruction is from a conversation, by a speaker and so on where a message that
    supports it is; what nothing supports stands for itself.
    """

    said_from: datetime | None = None
    """Said at this moment or later."""
    said_to: datetime | None = None
    """Said before this moment."""
    as_of: datetime | None = None
    """What was true then: messages said by then, facts valid then; None: now."""
    asked_at: datetime | None = None
    """The moment of asking; None: ``as_of``, else now. By it "today" and ages are understood, and where there is no
    ``as_of``, what was said later does not count."""
    known_at: datetime | None = None
    """What was recorded by then; None: now."""
    near: Near | None = None
    """Only what speaks of something that is, or was at ``as_of``, near a point."""

    @property
    def content(self) -> dict[str, Any]:
        """The filters on what a memory is, by the attribute of ``memsvc.scope`` that each of them sets."""
        names = (name for name in GivenFilters.__struct_fields__ if name not in TRANSLATED)
        return {name: value for name in names if (value := getattr(self, name))}

    @property
    def then(self) -> datetime | None:
        """The moment whose truth counts; None: now."""
        return self.as_of or self.asked_at

    @property
    def today(self) -> datetime | None:
        """The moment that is the present for the asker; None: now."""
        return self.asked_at or self.as_of

    @property
    def narrows(self) -> bool:
        """Whether only what is about something is wanted, so that nothing may come unasked."""
        return bool(self.near or self.content.keys() - {"include_archived"})

    @property
    def searched(self) -> list[str]:
        """The kinds to search; what blocks said before counts where it is asked what was known once."""
        asked = self.kinds or [kind for kind in RECALLED if kind != "fact" or self.facts]
        traces = self.traces or (not self.kinds and not set(TRACES).isdisjoint(self.roles))
        return [
            *asked,
            *(["former"] if self.known_at is not None and "block" in asked else []),
            *(["trace"] if traces and "trace" not in asked else []),
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
LEAST_COSINE: Mapping[str, float] = {"onnx:all-MiniLM-L6-v2": 0.35}
"""Least cosine of a text and a card, a note or an instruction that is found by meaning, by model: of what should be
found for the queries of bench/gold/meaning 90 % has more; of 20 queries that nothing fits, 3 find something."""
QUESTION_CHARS = 200
"""What is longer is no question (a dialogue, a document): hardly anything is near to all of it, so it is not judged."""
NEAREST_SHOWN = 5
"""So many are given then."""
REPEATS_SHOWN = 20
"""Of what was said again in the same words, so many ids are given."""


class Worth(NamedTuple):
    """Where a context ends: points of the learnt order that a memory may lie behind the best one."""

    points: float
    place: float
    """So many fewer for each memory that stands before it."""
    doubt: float = 0.0
    """So many more where nothing is likely to answer (a confidence of 0); in between where something may."""

    def at(self, confidence: float | None) -> Worth:
        """The same for an answer of this confidence; None: halfway."""
        return self._replace(points=self.points + self.doubt * (1 - (0.5 if confidence is None else confidence)))


LEAST_GIVEN = 5
"""So many messages are given however far they lie behind the best: what is best may be so by chance."""
WORTH = Worth(2.2, 0.15, 2.6)
"""For a question: eight memories in the mean; so far behind, about one in 40 is evidence (``make bench-context
ARGS=--curve``)."""
WORTH_TO_A_TEXT = Worth(15.5, 1.0)
"""For a text that is no question: to a dialogue many things are a little near, so that the place tells more."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard a mode looks, and how much of what it finds a context shows."""

    candidates: int
    """Of each arm."""
    late: bool
    """Candidates are compared with the query word by word."""
    hops: int
    """Steps from what the query names."""
    chars: int | None
    """Characters of a message that a context shows, of the sentences that say the query's words; None: the passage."""
    later_chars: int | None
    """The same of messages behind the first two."""
    neighbours: int
    """Turns, or other parts of a long message, that a context may show on each side of a message."""
    all_around: bool
    """All of these; else only the question that it answers, and the answer to it."""
    wide: float
    """So many times farther behind the best one a memory may lie (``WORTH``)."""


EFFORTS: dict[Mode, Effort] = {
    "eager": Effort(
        candidates=32, late=False, hops=0, chars=200, later_chars=200, neighbours=0, all_around=False, wide=1,
    ),
    "balanced": Effort(
        candidates=CANDIDATES, late=True, hops=1, chars=None, later_chars=400, neighbours=1, all_around=False, wide=1,
    ),
    "deliberate": Effort(
        candidates=200, late=True, hops=2, chars=None, later_chars=None, neighbours=2, all_around=True, wide=2,
    ),
}  # fmt: skip


Weights = Mapping[str, float]
"""What factors count, by name, in place of what was learnt; 0 switches one off, a negative one counts against."""


class Factor(NamedTuple):
    """One thing that counts in the order."""

    weight: float
    """In the linear order: what counts where nothing was learnt, and from psql (``memsvc.factors``)."""
    label: str
    """What it is called for people."""
    says: str
    """What its value is. Scores of words, vectors and tokens are standard deviations from the candidates' mean; all
    others lie between 0 and 1, unless it is said otherwise."""


FACTORS: Mapping[str, Factor] = {
    "words": Factor(0.5, "own words", "BM25 of the passage's own words"),
    "nearby": Factor(0.15, "words nearby", "BM25 of the two messages before and after, the farther ones half"),
    "session": Factor(0.25, "words of the conversation", "the best BM25 of the session"),
    "vector": Factor(0.4, "meaning", "cosine of the passage's vector and the query's"),
    "nearby_vector": Factor(0.3, "meaning nearby", "the better cosine of the messages before and after"),
    "session_vector": Factor(0.2, "meaning of the conversation", "the best cosine of the session"),
    "late": Factor(0.6, "meaning word by word", "late interaction (MaxSim): the query word by word"),
    "session_late": Factor(0.15, "the conversation word by word", "the best late interaction of the session"),
    "length": Factor(0.0, "longer than others", "longer than other candidates, by logarithms: -1 to 1"),
    "asks": Factor(-0.4, "asks a question", "the passage ends with a question"),
    "answers": Factor(0.3, "stands behind a question", "the message before it ends with a question"),
    "speaker": Factor(1.3, "who speaks", 'the query names who speaks, or says "I" and the user speaks'),
    "time": Factor(2.0, "time you gave", "said, or true, at a time that the query names"),
    "names": Factor(0.5, "about a name you gave", "it supports, or is about, what the query names"),
    "distance": Factor(0.25, "near in the graph", "nearness in the graph to what the query names"),
    "place": Factor(
        2.0,
        "near a place you named",
        "nearness on the ground to what the query asks for",
    ),
    "order": Factor(0.0, "first or last", "nearness to the first or the last, where the query asks for that"),
    "recency": Factor(0.0, "recent", "exponential decay with the age"),
    "kind": Factor(0.4, "a fact", "it is a fact"),
    "staleness": Factor(0.5, "out of date", "a fact that ended, or that nothing has confirmed for long: -1 to 0"),
    "importance": Factor(0.0, "important", "how much it matters, from 1 to 10"),
    "strength": Factor(0.0, "recalled lately", "recalled lately; what was recalled often fades more slowly"),
    "familiarity": Factor(0.0, "recalled often", "how often it was recalled, saturating"),
    "usefulness": Factor(0.3, "useful before", "feedback: used counts for it, irrelevant against it; -1 to 1"),
    "sentiment": Factor(0.0, "strong feeling", "strength of feeling"),
}
"""All that can count, in the order of ``memsvc.factors``. docs/recall-parts.md has what each of them gains or loses."""
LEARNT: Weights = {}
"""Nothing in place of what was learnt."""
LINEAR: Weights = {name: factor.weight for name, factor in FACTORS.items()}
NOTHING: Weights = dict.fromkeys(FACTORS, 0.0)
"""All switched off, to switch single ones on."""
BY_VECTORS = ("vector", "nearby_vector", "session_vector", "late", "session_late")
"""Factors that need the query's vector."""


def by_meaning(weights: Weights) -> bool:
    """Whether anything counts that needs the query's vector; what is learnt does."""
    return any(weights.get(name, 1.0) for name in BY_VECTORS)
