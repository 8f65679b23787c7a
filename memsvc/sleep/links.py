"""Sleep's task ``links``: proposes links between people and things that probably belong together.

Two kinds of evidence: neighbours in common (``memsvc.analysis.likely``), the more so the nearer their descriptions are
by the vectors of their cards; and being mentioned in the same messages on several days, where nothing else connects
them.
Nothing is written by itself: a person accepts or rejects (``memsvc.sleep.proposals``). docs/links.md has the figures.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.analysis.findings import TIMEOUT
from memsvc.analysis.likely import MOST_NEIGHBOURS, Likely, likely_links
from memsvc.analysis.network import Network, load
from memsvc.analysis.stopping import in_thread
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.llm.embedders.registry import known_models
from memsvc.sleep import proposals
from memsvc.sleep.proposals import MOST_OPEN, Found
from memsvc.sleep.proposing import Proposing
from memsvc.sleep.recalled import nodes_first
from memsvc.sleep.tasks import Offer, Page, Place, Scope

CONSIDERED = 500
"""Pairs with neighbours in common whose descriptions are compared."""
MEANING = 4.0
"""How much a cosine of 1 adds to the score of the neighbours, as a share of it."""
UNKNOWN = 0.25
"""The cosine that counts where one of two has no vector: about that of two descriptions by chance."""
HALF = 4.0
"""The combined score that is worth one half."""
LEAST = 0.4
"""Least score of a proposal."""
LEAST_DAYS = 3
"""Days on which two are mentioned together."""
LEAST_SHARE = 0.5
"""Of the days on which the rarer one is mentioned."""


class _Pair(NamedTuple):
    one: UUID
    other: UUID
    score: float
    evidence: dict[str, float]


class Links(Proposing):
    """See ``memsvc.sleep.tasks.Task``; it has one page."""

    name = "links"

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether the graph was changed since the last run, by others than sleep."""
        values = {"user_id": owner.user_id, "task": self.name}
        async with db.transaction(owner.user_id) as connection:
            return bool((await connection.execute(query("changed_since_run"), values)).scalar_one())

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield the likeliest links: those of nodes about which most is recalled, then of all others."""
        if place is not None:
            return
        first = await nodes_first(db, owner, None)
        user = {"user_id": owner.user_id}
        async with db.transaction(owner.user_id) as connection:
            await connection.exec_driver_sql(TIMEOUT)
            own = set((await connection.execute(query("own_nodes"), user)).scalars())
            entities = set((await connection.execute(query("entity_nodes"), user)).scalars()) - own
            asked = user | {"least": LEAST_DAYS}
            together = (await connection.execute(query("mentioned_together"), asked)).all()
            known = await proposals.known_keys(connection, owner, "link")
        network, nodes, _ = await load(db, owner, only=entities | own)
        counts = [node in entities for node in nodes]
        index = {node: number for number, node in enumerate(nodes)}
        wanted = [scope.from_node] if scope.from_node is not None else [*first, *nodes]
        order = [index[node] for node in wanted if node in index]
        likely = await in_thread(lambda check: likely_links(network, counts, order, CONSIDERED, check))
        pairs = await _near(db, owner, nodes, likely)
        mentioned = [row for row in together if scope.from_node in {None, row.node_id, row.other_id}]
        pairs += await in_thread(lambda _check: _mentioned(network, counts, index, mentioned))
        fresh = [pair for pair in pairs if pair.score >= LEAST and (pair.one, pair.other) not in known]
        hot = set(first)
        fresh.sort(key=lambda pair: (pair.one not in hot and pair.other not in hot, -pair.score, pair.one, pair.other))
        labels = await proposals.labels_of(
            db, owner, [node for pair in fresh[: MOST_OPEN["link"]] for node in (pair.one, pair.other)]
        )
        found = [
            Found(
                kind="link", key=pair.other, node_id=pair.one, other_id=pair.other, score=pair.score,
                evidence=pair.evidence, text=(labels.get(pair.one, ""), labels.get(pair.other, "")),
            )
            for pair in fresh[: 2 * MOST_OPEN["link"]]
        ]  # fmt: skip
        yield Page(place={"done": True}, examined=len(order), left=0, work=found)


async def _near(db: Database, owner: Owner, nodes: Sequence[UUID], likely: Sequence[Likely]) -> list[_Pair]:
    """Return pairs with neighbours in common, the more likely the nearer their descriptions are."""
    if not likely:
        return []
    found = [
        (min(nodes[pair.one], nodes[pair.other]), max(nodes[pair.one], nodes[pair.other]), pair) for pair in likely
    ]
    model = next((one for one in await known_models(db) if one.state == "active"), None)
    cosines: dict[int, float] = {}
    if model is not None:
        values: dict[str, Any] = {
            "user_id": owner.user_id, "model": model.model_id, "nodes": [one for one, _, _ in found],
            "others": [other for _, other, _ in found],
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            rows = await connection.execute(query("card_cosines"), values)
            cosines = {row.nth - 1: float(row.cosine) for row in rows if row.cosine is not None}
    pairs = []
    for nth, (one, other, pair) in enumerate(found):
        near = max(cosines.get(nth, UNKNOWN), 0.0)
        evidence = {"common": float(pair.common), "neighbours": round(pair.score, 3)}
        if nth in cosines:
            evidence["meaning"] = round(near, 3)
        pairs.append(_Pair(one, other, share(combined(pair.score, near)), evidence))
    return pairs


def combined(neighbours: float, meaning: float) -> float:
    """Combine the score of common neighbours with the cosine of two descriptions, from 0 to 1."""
    return neighbours * (1 + MEANING * meaning)


def share(score: float) -> float:
    """Return a score from 0 to 1 for one from 0 to infinity."""
    return score / (score + HALF)


def _mentioned(network: Network, counts: Sequence[bool], index: dict[UUID, int], rows: Sequence[Any]) -> list[_Pair]:
    """Return pairs that are mentioned together and that neither a link nor a common neighbour connects."""

    def around(node: UUID) -> set[int]:
        return {end for end, _ in network.around(index[node])} if node in index else set()

    pairs = []
    for row in rows:
        part = row.days / row.least_days
        near, others = around(row.node_id), around(row.other_id)
        linked = index.get(row.other_id) in near
        between = any(
            counts[end] and network.starts[end + 1] - network.starts[end] <= MOST_NEIGHBOURS for end in near & others
        )
        if part >= LEAST_SHARE and not linked and not between:
            score = share(part * row.days)
            evidence = {"days": float(row.days), "share": round(part, 3)}
            pairs.append(_Pair(row.node_id, row.other_id, score, evidence))
    return pairs


OFFER = Offer(
    make=lambda _means: Links(),
    help="proposes links between people and things that probably belong together",
    order=700,
    stays={},
    on=lambda settings: settings.propose_links,
    switch="Set MEMSVC_PROPOSE_LINKS=true.",
)
