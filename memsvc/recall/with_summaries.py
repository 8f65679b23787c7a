"""Answers of recall that hold summaries beside other memories: for overviews, and for what is told in several places.

The ten memories nearest to "Can you summarize how the project went?" are much alike and from few sittings. So the best
summaries come first, each only if most of what it quotes is new; then other memories, one of each sitting in turn. What
a summary quotes stands behind these: it is told already, and opens from the summary.

"Which cities has Jon visited?" is answered in more places than an answer holds. There the last ranks go to summaries of
sittings that quote most of what ranks behind. Other questions, and those for advice, get no summaries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.recall.overview import LONGEST, asks_overview
from memsvc.recall.results import Memory

Asks = Literal["overview", "several"]
MOST, MOST_LAST = 7, 2
"""Summaries in the answer to an overview, and in another one; of ten memories also at most so many."""
LOOKED_AT = 30
"""Summaries to choose from."""
POOL = 3
"""So many times the answer's length of other memories are there to choose from."""
NEW = 0.5
"""The share of what a summary quotes that better ones may quote, too."""
SOON = 10
"""What ranks so far behind the answer counts half of what comes next."""
_NO_NOUN = r"is|was|has|does|this|as|his|its|\w*ss|\w+['’]s"
_VERB = r"are|were|have|had|did|do|will|would|can|could|should|might"
SEVERAL = re.compile(
    rf"\b(?:what|which)\b(?: (?!(?:{_NO_NOUN}|{_VERB})\b)[\w'’-]+){{0,4}} (?!(?:{_NO_NOUN})\b)[\w-]{{2,}}s\b"
    r"|\b(?:how many|how often|in common|both)\b|\b(?:welche\w*|wie viele|wie oft|beide)\b",
    re.IGNORECASE,
)
"""Words that ask for what is told in several places: "which cities", "how many", "both"."""
ADVICE = re.compile(
    r"\b(?:would|do|can|could|will) you (?:suggest|recommend|advise|propose)\b|\brecommendations?\b"
    r"|\b(?:should|shall|can|could) (?:i|we)\b|\b(?:i|we) should\b|\bdo (?:i|we) (?:need|have) to\b"
    r"|\b(?:soll|sollte|muss|kann|könnte) ich\b|\b(?:empfiehl|empfehl|vorschlagen|schlägst du)",
    re.IGNORECASE,
)
"""Words that ask for advice: what it must heed was said once, as a wish or a rule, and no summary helps."""


class Quotes(NamedTuple):
    """What a summary quotes."""

    level: str
    passages: frozenset[UUID]


def asks_summaries(question: str) -> Asks | None:
    """What a question wants summaries for; None: for nothing."""
    if asks_overview(question):
        return "overview"
    tells = len(question) <= LONGEST and SEVERAL.search(question) is not None and ADVICE.search(question) is None
    return "several" if tells else None


async def quotes_of(connection: AsyncConnection, owner: Owner, summaries: Sequence[Memory]) -> dict[UUID, Quotes]:
    """What recalled summaries quote, by their ids."""
    values = {"user_id": owner.user_id, "versions": [one.memory_id for one in summaries]}
    rows = await connection.execute(query("summaries_quote"), values)
    return {row.version_id: Quotes(row.level, frozenset(row.passages)) for row in rows}


def with_summaries(
    asks: Asks, summaries: Sequence[Memory], memories: Sequence[Memory], quotes: Mapping[UUID, Quotes], limit: int
) -> list[Memory]:
    """Choose what an answer of ``limit`` memories holds.

    Args:
        asks: what the question wants.
        summaries: those that were recalled, best first.
        memories: what was recalled besides, best first; more than ``limit``, or there is nothing to choose from.
        quotes: what the summaries quote; one that quotes nothing is left out.
        limit: at most so many.

    Returns:
        The answer; of a user without summaries the first memories.
    """
    if asks == "overview":
        return _overview(summaries, memories, quotes, limit)
    return _several(summaries, memories, quotes, limit)


def _overview(
    summaries: Sequence[Memory], memories: Sequence[Memory], quotes: Mapping[UUID, Quotes], limit: int
) -> list[Memory]:
    """Summaries, then memories that they do not quote, both best first."""
    told, quoted = list[Memory](), set[UUID]()
    for one in summaries:
        passages = quotes[one.memory_id].passages if one.memory_id in quotes else frozenset[UUID]()
        if len(told) < min(MOST, limit * MOST // 10) and len(passages - quoted) > NEW * len(passages):
            told.append(one)
            quoted |= passages
    turns: Counter[object] = Counter()
    order = []
    for rank, one in enumerate(memories):
        known = bool(told) and not quoted.isdisjoint({one.memory_id, one.passage_id})
        sitting = (known, one.conversation_id, one.session, one.said_at.date()) if told else rank
        order.append((known, turns[sitting], rank))
        turns[sitting] += 1
    chosen = sorted(order)[: limit - len(told)]
    return [*told, *(memories[rank] for rank in sorted(rank for _, _, rank in chosen))]


def _several(
    summaries: Sequence[Memory], memories: Sequence[Memory], quotes: Mapping[UUID, Quotes], limit: int
) -> list[Memory]:
    """The first memories, then those summaries of sittings that quote most of what ranks behind them."""
    most = min(MOST_LAST, limit * MOST_LAST // 10)
    behind = {one.memory_id: SOON / (SOON + rank) for rank, one in enumerate(memories[limit - most :])}

    def tells(one: Memory) -> float:
        held = quotes.get(one.memory_id)
        if held is None or held.level != "conversation":
            return 0.0
        return sum(behind.get(passage, 0.0) for passage in held.passages)

    best = sorted((one for one in summaries if tells(one) > 0), key=tells, reverse=True)[:most]
    return [*memories[: limit - len(best)], *best]
