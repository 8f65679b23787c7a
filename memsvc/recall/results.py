"""What recall answers with."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.recall.kinds import Kind
from memsvc.sources.document_reads import ChunkPlace
from memsvc.times.untold import is_untold

Degraded = Literal["vector", "order", "reranker", "words"]
"""What should have been asked and could not be: the query's vector, the learnt order (the linear one counts), the
reranker, the query's words (nothing in it can be looked for by words)."""


class Times(msgspec.Struct, frozen=True):
    """How exactly the times of a fact are known, as ``memsvc.times.untold.TIMES`` has it."""

    since: str = ""
    """What to call its begin: "about 2004", "the early 1990s"; "by 2026-11-20": it was so then, and nobody
    told since when."""
    until: str = ""
    """ "by 2026-11-20": it was over then, nobody knows since when."""


class RecalledFact(msgspec.Struct, kw_only=True, frozen=True):
    """The fact behind a memory of kind ``fact``: one version of an edge."""

    version_id: UUID
    edge_id: UUID
    type: str
    """The edge's type: LIVES_IN, WORKS_AT …"""
    from_node: UUID
    from_label: str
    to_node: UUID
    to_label: str
    valid_from: datetime | None
    """Since when it is true; None: nobody said."""
    valid_to: datetime | None
    """Until when; None: still, as far as known."""
    confidence: float
    """0 to 1."""
    contested: bool = False
    """Somebody disputes it, or something that is known contradicts it."""
    certainty: float | None = None
    """Of a contested fact how sure one can be of it, 0 to 1, by its sources and by who contradicts it."""
    times: Times | msgspec.UnsetType = msgspec.UNSET
    """Where its times are not as exact as they look."""

    @property
    def begin_is_told(self) -> bool:
        """Whether its begin is more than the time at which it was said."""
        return not (self.times and is_untold(self.valid_from, self.times.since))

    @property
    def end_is_told(self) -> bool:
        """Whether its end is more than the time at which it was said to be over."""
        return not (self.times and is_untold(self.valid_to, self.times.until))


class Memory(msgspec.Struct, kw_only=True, frozen=True):
    """A recalled memory.

    A fact's place is that of the message which supports it. A card, a note or an instruction has the node's label as
    its speaker, the text that describes it, and no conversation.
    """

    kind: Kind = "message"
    memory_id: UUID
    """The passage's id, or the id of the fact's version. Of a card, a note or an instruction it is the version's."""
    passage_id: UUID | None
    """The passage; of a fact the first one that supports it; None where nothing but its writer does."""
    block_id: UUID | None = None
    """Of a block of the profile, in the archive: the block. Its name is the speaker, its version the ordinal."""
    node_id: UUID | None = None
    """Of a card, a note or an instruction: its node, the one that stands for it where nodes were merged."""
    node_type: str | None = None
    """The node's type."""
    conversation_id: UUID | None
    conversation: str
    session: str
    ordinal: int
    part: int
    message_id: str | None
    speaker: str
    role: str
    text: str
    """What was said, or the fact's sentence."""
    caption: str | None
    said_at: datetime
    """On the speaker's clock; of a fact without a message, when it was recorded."""
    recorded_at: datetime
    score: float
    """The sum of ``factors``; scores of different queries do not compare. A reranker or diversity changes the order
    alone."""
    arms: dict[str, Any]
    """What each arm found: its score and, of words, vector and late, its rank (names, place and time have none; a
    vector behind the best has none), the form of words that it compared, the model where it is not the active one; and
    the reranker's score, its rank, and what the rank was before."""
    factors: dict[str, float] = {}
    """Points that each factor gave, by the name of its weight."""
    path: list[str] = []
    """From what the query names to this memory, in the graph: labels and edge types in turn."""
    matched: list[str]
    """Words of the query that the passage holds."""
    why: str
    """The reason in one line, for people and prompts."""
    remark: str = ""
    """What became of what a message says: "since then: …" or "no longer true: …"; empty: nothing that is known."""
    count: int = 1
    """How often the same person said it in these words, among what was found; this is the best of them."""
    last_said: datetime | None = None
    """When last, on this one's clock; None: it was said once."""
    repeats: list[UUID] = []
    """Ids of the others, the latest first, 20 at most."""
    stale: bool = False
    """A fact that has ended, or a message of which no fact holds any more; ``remark`` has what is true since then."""
    fact: RecalledFact | None = None
    document: ChunkPlace | None = None
    """Of a chunk: its document, whose title is the speaker, and its place in it."""

    @property
    def reason(self) -> str:
        """Why it was chosen, and what became of what it says."""
        return f"{self.why}; {self.remark}" if self.remark else self.why


class Meaning(msgspec.Struct, kw_only=True, frozen=True):
    """One of the nodes that a name can mean."""

    node_id: UUID
    type: str
    label: str
    evidence: list[str]
    """A few facts or messages, newest first, by which a person can tell which one this is."""


class AmbiguousName(msgspec.Struct, kw_only=True, frozen=True):
    """A name in the query that several nodes have."""

    name: str
    """As the query writes it."""
    meanings: list[Meaning]


class Cut(msgspec.Struct, kw_only=True, frozen=True):
    """A candidate that is not in the answer."""

    memory: Memory
    reason: Literal["behind the limit", "below the threshold", "too like another"]


class NamedNode(msgspec.Struct, kw_only=True, frozen=True):
    """A node that the query names."""

    name: str
    """As the query writes it."""
    node_id: UUID
    label: str
    similarity: float
    """1: so it is called; less: nearly so (trigrams)."""


class Explanation(msgspec.Struct, kw_only=True, frozen=True):
    """How an answer came about."""

    words: list[str]
    """Words of the query that a message of the user holds, or a fact that was found; those of the best first."""
    names: list[NamedNode]
    times: list[dict[str, Any]]
    """Times that the query names."""
    weights: dict[str, float]
    """What each factor counted for this query, by name; what is off is left out."""
    order: str
    """Which learnt order counted; empty: the linear one."""
    found: dict[str, int]
    """How many candidates there were (``candidates``), and how many by each arm."""
    threshold: float | None
    """Confidence below which an answer counts as nothing relevant."""
    cut: list[Cut]
    """The best candidates that were left out, in their order."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """Memories for a query, best first."""

    recall_id: UUID | None = None
    """For feedback; None where recalls are not recorded."""
    memories: list[Memory]
    degraded: list[Degraded]
    """Arms and models that should have been asked and could not be; what the others found is there."""
    confidence: float | None = None
    """0 to 1: how likely it is that the memories answer the query; None without a vector. Pages have the first's."""
    relevant: bool = True
    """False: the confidence lies below the threshold, so only the best few are given."""
    ambiguous: list[AmbiguousName] = []
    """Names in the query that fit several nodes: ask which is meant."""
    next_cursor: str | None = None
    """For the next page, in the mode ``deliberate``; None where the list has ended."""
    explanation: Explanation | None = None
    """Where it was asked for."""
