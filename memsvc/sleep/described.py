"""Finds pairs of nodes that are described alike though they are called differently: "Smartphone" and "Mobile phone".

The second part of the task ``memsvc.sleep.duplicates``. The vectors of cards say which pairs are near
(``memsvc.near_cards``), names and facts which of those are told apart all the same (``memsvc.identity.contrast``). The
others are proposed to a person, and never merged by this alone. A card without a vector is compared by the run after
it got one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.identity import candidates
from memsvc.identity.contrast import may_be_same
from memsvc.llm.embedders.registry import known_models
from memsvc.sleep.tasks import Page, Place, Proposal, Scope

READ = 500
"""Nodes of a page."""
NEAREST = 8
"""Most pairs of a node."""
LEAST_COSINE: Mapping[str, float] = {"onnx:all-MiniLM-L6-v2": 0.65}
"""Least cosine of two cards, by model; other models propose nothing. Of the pairs of bench/gold/meaning that are the
same, 86 % have more."""
Pair = tuple[UUID, UUID]


async def described_alike(
    db: Database, owner: Owner, scope: Scope, place: Place, done: Collection[Pair]
) -> AsyncGenerator[Page]:
    """Yield pages of pairs whose cards are near, after the node ``place["card"]`` (None: from the first).

    Args:
        db: the database.
        owner: the user whose graph it is.
        scope: only what concerns these nodes.
        place: where the page before ended.
        done: pairs, the smaller id first, that were proposed already; so are all that are stored.
    """
    model = next((one for one in await known_models(db) if one.state == "active"), None)
    if model is None or model.name not in LEAST_COSINE:
        return
    after, examined = place["card"], 0
    while True:
        values = {
            "user_id": owner.user_id, "model": model.model_id, "after": after, "since": scope.since, "limit": READ,
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            nodes = list((await connection.execute(query("nodes_with_cards"), values)).scalars())
            if not nodes:
                return
            after = str(nodes[-1])
            wanted = nodes if scope.from_node is None else [node for node in nodes if node == scope.from_node]
            near = {
                "user_id": owner.user_id, "model": model.model_id, "nodes": wanted, "nearest": NEAREST,
                "least": LEAST_COSINE[model.name],
            }  # fmt: skip
            rows = (await connection.execute(query("near_cards"), near)).all() if wanted else []
            found = {(row.node_id, row.other_id): float(row.similarity) for row in rows}
            cards = await candidates.cards(connection, owner, list({node for pair in found for node in pair}))
            refused = await candidates.refused(connection, owner, list(found))
        proposals = []
        for pair, similarity in found.items():
            if pair in done or pair in refused or not cards.keys() >= set(pair):
                continue
            score = may_be_same(cards[pair[0]], cards[pair[1]])
            if score is not None:
                labels = (cards[pair[0]].names[0], cards[pair[1]].names[0])
                evidence = {"meaning": round(similarity, 3)}
                # Half the cosine: behind pairs whose names agree.
                proposals.append(
                    Proposal(
                        action="review", nodes=pair, labels=labels, score=max(score, similarity / 2), evidence=evidence
                    )
                )
        examined += len(found)
        yield Page(place={"card": after}, examined=len(found), total=examined, proposals=proposals)
