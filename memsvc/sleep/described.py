"""Finds pairs of nodes that are described alike though they are called differently: "Smartphone" and "Mobile phone".

The second part of the task ``memsvc.sleep.duplicates``. Cards are compared in the order in which their vectors were
made. ``memsvc.cards_compared`` holds how far all are done: a nightly run goes on from there, so it takes up the cards
that were there before this search existed, or before a switch of models, some each night. The vectors of cards say
which pairs are near (``memsvc.near_cards``), names and facts which of those are told apart all the same
(``memsvc.identity.contrast``). The others are proposed to a person, and never merged by this alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.identity import candidates
from memsvc.identity.cards import Card
from memsvc.identity.contrast import may_be_same
from memsvc.llm.embedders.registry import Model, known_models
from memsvc.sleep.tasks import Page, Place, Proposal, Scope

READ = 100
"""Cards of a page. With the vector index, a card among a thousand times as many of others' may take 50 ms."""
NEAREST = 8
"""Most pairs of a node."""
NIGHTLY = 20_000
"""Most cards that one nightly run compares; the next one goes on."""
COUNTED = 200_000
"""Most vectors that are looked at to count what is left."""
LEAST_COSINE: Mapping[str, float] = {"onnx:all-MiniLM-L6-v2": 0.65}
"""Least cosine of two cards, by model; other models propose nothing. Of the pairs of bench/gold/meaning that are the
same, 86 % have more."""
FIRST = "00000000-0000-0000-0000-000000000000"
Pair = tuple[UUID, UUID]


class _Position(NamedTuple):
    """The vector, by its time and id, after which the search goes on; and how many cards the run has done."""

    made: str
    card: str
    cards: int = 0


async def described_alike(
    db: Database, owner: Owner, scope: Scope, place: Place | None, done: Collection[Pair]
) -> AsyncGenerator[Page]:
    """Yield pages of pairs whose cards are near.

    Args:
        db: the database.
        owner: the user whose graph it is.
        scope: only what concerns these nodes.
        place: where the page before ended; None: this run has compared no card.
        done: pairs, the smaller id first, that were proposed already; so are all that are stored.
    """
    model = await _comparing(db)
    if model is None:
        return
    if scope.from_node is not None:
        async for page in _of_node(db, owner, scope, place, model):
            yield page
        return
    position, left = await _position(db, owner, scope, place, model)
    while True:
        limit = min(READ, NIGHTLY - position.cards) if scope.nightly else READ
        if limit <= 0:
            return
        values = {
            "user_id": owner.user_id, "model": model.model_id, "made": position.made, "card": position.card,
            "limit": limit,
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            rows = (await connection.execute(query("cards_made"), values)).all()
            if not rows:
                return
            nodes = [row.node_id for row in rows if row.node_id is not None]
            near = await _near(connection, owner, model, nodes)
        last = rows[-1]
        position = _Position(last.made_at.isoformat(), str(last.card), position.cards + len(nodes))
        left = max(left - len(nodes), 0)
        yield Page(
            place=_place(model, position), examined=len(nodes), left=left,
            proposals=await asyncio.to_thread(_proposals, *near, done),
            mark=None if scope.since is not None and not scope.nightly else _mark(model, last),
        )  # fmt: skip


async def cards_left(db: Database, owner: Owner, scope: Scope) -> int:
    """Return how many cards a run that begins now has to compare, as far as they are counted."""
    model = await _comparing(db)
    if model is None:
        return 0
    return 1 if scope.from_node is not None else (await _position(db, owner, scope, None, model))[1]


async def _comparing(db: Database) -> Model | None:
    """Return the model whose vectors are compared; None if it has no threshold."""
    model = next((one for one in await known_models(db) if one.state == "active"), None)
    return model if model is not None and model.name in LEAST_COSINE else None


async def _position(
    db: Database, owner: Owner, scope: Scope, place: Place | None, model: Model
) -> tuple[_Position, int]:
    """Return where the search goes on, and how many cards are left."""
    values: dict[str, object] = {"user_id": owner.user_id, "model": model.model_id}
    async with db.transaction(owner.user_id) as connection:
        position = _Position("-infinity", FIRST)
        if place is not None and _continues(place, model):
            position = _Position(place["made"], place["card"], place["cards"])
        elif scope.nightly:
            compared = (await connection.execute(query("cards_compared"), values)).one_or_none()
            if compared is not None:
                position = _Position(compared.made_at.isoformat(), str(compared.passage_id))
        elif scope.since is not None:
            position = _Position(scope.since.isoformat(), FIRST)
        values |= {"made": position.made, "card": position.card, "most": COUNTED}
        left: int = (await connection.execute(query("cards_left"), values)).scalar_one()
    return position, min(left, NIGHTLY - position.cards) if scope.nightly else left


async def _of_node(db: Database, owner: Owner, scope: Scope, place: Place | None, model: Model) -> AsyncGenerator[Page]:
    """Yield the pairs of one node."""
    if _continues(place, model):
        return
    since = "-infinity" if scope.since is None else scope.since.isoformat()
    values = {"user_id": owner.user_id, "model": model.model_id, "node": scope.from_node, "since": since}
    async with db.transaction(owner.user_id) as connection:
        if not (await connection.execute(query("has_card"), values)).scalar_one():
            return
        near = await _near(connection, owner, model, [scope.from_node])
    yield Page(
        place=_place(model, _Position("infinity", FIRST, 1)), examined=1, left=0,
        proposals=await asyncio.to_thread(_proposals, *near, ()),
    )  # fmt: skip


async def _near(
    connection: AsyncConnection, owner: Owner, model: Model, nodes: Sequence[UUID | None]
) -> tuple[Mapping[Pair, float], Mapping[UUID, Card]]:
    """Return the pairs of these nodes with others, by cosine, and the cards of both."""
    if not nodes:
        return {}, {}
    values = {
        "user_id": owner.user_id, "model": model.model_id, "nodes": nodes, "nearest": NEAREST,
        "least": LEAST_COSINE[model.name],
    }  # fmt: skip
    rows = (await connection.execute(query("near_cards"), values)).all()
    found = {(row.node_id, row.other_id): float(row.similarity) for row in rows}
    return found, await candidates.cards(connection, owner, list({node for pair in found for node in pair}))


def _proposals(found: Mapping[Pair, float], cards: Mapping[UUID, Card], done: Collection[Pair]) -> list[Proposal]:
    """Return those pairs that may be the same, for review."""
    proposals = []
    for pair, similarity in found.items():
        if pair in done or not cards.keys() >= set(pair):
            continue
        score = may_be_same(cards[pair[0]], cards[pair[1]])
        if score is not None:
            labels = (cards[pair[0]].names[0], cards[pair[1]].names[0])
            # Half the cosine: behind pairs whose names agree.
            proposals.append(
                Proposal(
                    action="review", nodes=pair, labels=labels, score=max(score, similarity / 2),
                    evidence={"meaning": round(similarity, 3)},
                )
            )  # fmt: skip
    return proposals


def _continues(place: Place | None, model: Model) -> bool:
    """Whether a place is among this model's vectors: neither of another model, nor written by an older version."""
    return place is not None and place.get("model") == model.model_id


def _place(model: Model, position: _Position) -> Place:
    return {"model": model.model_id, "made": position.made, "card": position.card, "cards": position.cards}


def _mark(model: Model, last: Row[Any]) -> Place:
    """Return how far all is done after a page that ends with this row.

    A vector that is stored at this moment is seen later, and is older than those seen now.
    """
    settled = last.settled_at < last.made_at
    made, card = (last.settled_at, FIRST) if settled else (last.made_at, str(last.card))
    return {"model": model.model_id, "made": made.isoformat(), "card": card}


async def keep_mark(connection: AsyncConnection, owner: Owner, mark: Place) -> None:
    """Store in the caller's transaction how far all is done, if that is farther than before."""
    await connection.execute(query("note_cards_compared"), {"user_id": owner.user_id, **mark})
