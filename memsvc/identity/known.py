"""Chooses which known node a mention means. Pure functions, without the database.

From certain to uncertain: a node with exactly this name that fits; a node with a part of the name, a nickname or a typo
that this conversation mentions; otherwise a new node, and similar nodes become rivals, for a person or the judge to
decide. Ambiguous mentions become nodes of their own: two nodes can be merged at any time, but a node that mixes two
people can hardly be separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from uuid import UUID

import msgspec

from memsvc.identity.cards import Card
from memsvc.identity.judging import NEAR_TYPES
from memsvc.identity.mentions import How, Mention, Resolved, Rival
from memsvc.identity.names import PERSON, Agreement, agree, latin, parse
from memsvc.identity.relations import FEW, PARENTS, apart, canonical, same, turned
from memsvc.identity.words import is_first_name

HERE, SHARED = 2.0, 3.0
"""Points of a namesake for being mentioned in this conversation, and for each node that facts connect with both."""
CLEAR = 2.0
"""Points by which the best namesake must lead to be chosen."""
LEAST_RIVAL = Agreement.ALIKE
CONFIDENCE: dict[Agreement, float] = {
    Agreement.EQUAL: 0.97, Agreement.ORDER: 0.95, Agreement.TYPO: 0.9, Agreement.NICKNAME: 0.85,
    Agreement.INITIAL: 0.85, Agreement.PART: 0.85,
}  # fmt: skip
RIVALRY: dict[Agreement, float] = {
    Agreement.EQUAL: 0.5, Agreement.ORDER: 0.45, Agreement.TYPO: 0.4, Agreement.NICKNAME: 0.3, Agreement.INITIAL: 0.35,
    Agreement.PART: 0.3, Agreement.ALIKE: 0.2,
}  # fmt: skip
"""Probability that a node that was not chosen is the right one, by the agreement of its name."""
MOST_RIVALS = 5


class Link(msgspec.Struct, frozen=True):
    """A fact that connects a node with the one from which a mention is described ("her" in "her dog")."""

    relation: str
    fact_type: str
    outgoing: bool
    """True: the fact leads from that node to this one."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A node that a mention may mean."""

    card: Card
    here: bool = False
    """This conversation, or the window, mentions it."""
    links: tuple[Link, ...] = ()
    last_at: datetime | None = None


class _Fit(msgspec.Struct, frozen=True):
    holder: Holder
    agreement: Agreement
    exact: bool
    points: float
    shared: int


def type_fits(mention: str, node: str) -> bool:
    """Whether a mention of one type can mean a node of the other type."""
    return mention == node or frozenset((mention, node)) in NEAR_TYPES


def choose(mention: Mention, holders: Sequence[Holder], company: AbstractSet[UUID] = frozenset()) -> Resolved:
    """Choose the node that a mention means; nothing is changed.

    Args:
        mention: the mention.
        holders: candidate nodes; no other node is chosen.
        company: nodes that facts of the same text connect with the mention, without the memory's owner.
    """
    if mention.known is not None:
        known = next((holder for holder in holders if holder.card.node_id == mention.known), None)
        return _taken(mention, mention.known, "given", 1.0, known)
    if mention.relation or not mention.named:
        related = _related(mention, holders)
        if related is not None or not mention.named:
            return related or _nobody(mention, _described(mention, holders))
    fits = _fits(mention, [holder for holder in holders if not _is_another(mention, holder)], company)
    exact = [fit for fit in fits if fit.exact]
    if exact:
        return _namesakes(mention, exact, fits, company)
    return _partly(mention, fits)


def _fits(mention: Mention, holders: Sequence[Holder], company: AbstractSet[UUID]) -> list[_Fit]:
    """Return named holders whose type fits and whose names agree, the best first."""
    found: list[_Fit] = []
    for holder in holders:
        card = holder.card
        if not card.named or not type_fits(mention.type, card.type) or not card.names:
            continue
        agreement, exact = _called(mention, card)
        if agreement < LEAST_RIVAL:
            continue
        shared = len({fact[2] for fact in card.facts} & company)
        points = HERE * holder.here + SHARED * min(shared, 2)
        found.append(_Fit(holder, agreement, exact, points, shared))
    return sorted(found, key=lambda fit: (fit.exact, fit.points, fit.agreement), reverse=True)


def _called(mention: Mention, card: Card) -> tuple[Agreement, bool]:
    """Return how a node's names agree with a mention's, and whether the mention's name is one of them exactly."""
    node_type = card.type
    values = [agree(ours, theirs, node_type) for ours in (mention.name, *mention.aliases) for theirs in card.names]
    forms = {latin(name) for name in card.names}
    if latin(mention.name) in forms:
        return Agreement.EQUAL, True
    if Agreement.CONTRARY in values:
        return Agreement.CONTRARY, False
    return max(values), False


def _namesakes(mention: Mention, exact: Sequence[_Fit], fits: Sequence[_Fit], company: AbstractSet[UUID]) -> Resolved:
    """Choose among nodes with exactly this name."""
    best, others = exact[0], exact[1:]
    if others and best.points - others[0].points < CLEAR:
        return _nobody(mention, fits)
    if not others and _speaks_against(mention, best, company):
        return _nobody(mention, fits)
    confidence = 1.0 if not others else 0.8
    return _taken(mention, best.holder.card.node_id, "name", confidence, best.holder, rivals=others)


def _speaks_against(mention: Mention, fit: _Fit, company: AbstractSet[UUID]) -> bool:
    """Whether the only namesake is probably another person: a common first name, elsewhere, in other company.

    A node without facts, or a mention without company, gives no evidence against it.
    """
    if mention.type != PERSON or fit.holder.here or fit.shared or not company or not fit.holder.card.facts:
        return False
    words = parse(mention.name).words
    return len(words) == 1 and is_first_name(words[0])


def _partly(mention: Mention, fits: Sequence[_Fit]) -> Resolved:
    """Choose among nodes whose names only agree: one that is mentioned here or shares company, without a competitor."""
    least = Agreement.PART if mention.type == PERSON else Agreement.TYPO  # London Bridge is not London
    near = [fit for fit in fits if fit.points and fit.agreement >= least]
    if near:
        best = near[0]
        if not any(_competes(best, other) for other in near[1:]):
            how: How = "similar" if best.agreement == Agreement.TYPO else "judged"
            confidence = CONFIDENCE[best.agreement]
            rivals = [fit for fit in fits if fit is not best]
            return _taken(mention, best.holder.card.node_id, how, confidence, best.holder, rivals=rivals)
    return _nobody(mention, fits)


def _competes(best: _Fit, other: _Fit) -> bool:
    """Whether another node fits equally well; a first name and a family name complement each other."""
    if best.points - other.points >= CLEAR or best.agreement > other.agreement:
        return False
    ours, theirs = (
        {word for name in fit.holder.card.names for word in parse(name, fit.holder.card.type).words}
        for fit in (best, other)
    )
    return bool(ours & theirs) or best.agreement > Agreement.PART


def _related(mention: Mention, holders: Sequence[Holder]) -> Resolved | None:
    """Find a relative by the facts of the node that the mention is described from: "my sister", "her dog"."""
    relation = mention.relation or mention.name
    found = [
        holder
        for holder in holders
        if type_fits(mention.type, holder.card.type)
        and any(_says(link, relation) for link in holder.links)
        and (not mention.named or _may_be_called(mention, holder.card))
    ]
    if not found and not mention.named:
        found = [holder for holder in holders if holder.links and _same_thing(mention, holder.card)]
    here = [holder for holder in found if holder.here]
    chosen = found if len(found) == 1 else here
    if len(chosen) != 1:
        chosen = _one_of(mention, canonical(relation), found)
    return _taken(mention, chosen[0].card.node_id, "relation", 0.9, chosen[0]) if chosen else None


def _says(link: Link, relation: str) -> bool:
    """Whether a fact says that a node has a relation to the one from which a mention is described."""
    if not link.relation:
        return False
    return same(link.relation, relation) if link.outgoing else turned(link.relation, relation)


def _one_of(mention: Mention, relation: str, found: Sequence[Holder]) -> list[Holder]:
    """Return the one of several relatives of a kind that a mention means, in a list; empty if that is open.

    Nodes that are all somebody's mother are one mother, preferably with a name. "My sister", who may be either of two,
    is a node without a name; the next time it is the same one, and not another.
    """
    named = [holder for holder in found if holder.card.named]
    unnamed = [holder for holder in found if not holder.card.named]
    if relation in PARENTS:
        chosen = named if len(named) == 1 else [] if named else unnamed
    else:
        chosen = unnamed if relation in FEW and not mention.named else []
    return [max(chosen, key=_lately)] if chosen else []


def _lately(holder: Holder) -> tuple[float, UUID]:
    """Order nodes by when they were mentioned last."""
    return holder.last_at.timestamp() if holder.last_at is not None else 0.0, holder.card.node_id


def _is_another(mention: Mention, holder: Holder) -> bool:
    """Whether a node is something else to whom a mention is described from: "my neighbour Tom" is no colleague."""
    relations = [link.relation for link in holder.links if link.relation]
    return bool(mention.relation and relations) and all(apart(mention.relation, one) for one in relations)


def _may_be_called(mention: Mention, card: Card) -> bool:
    """Whether a relative can have this name: it has no name yet, or its name agrees."""
    return not card.named or _called(mention, card)[0] >= Agreement.PART


def _same_thing(mention: Mention, card: Card) -> bool:
    """Whether a description and an unnamed node's label mean the same thing: same head word, no other adjectives."""
    if card.named or not type_fits(mention.type, card.type):
        return False
    ours = latin(mention.name).split()
    for name in card.names:
        theirs = latin(name).split()
        if ours and theirs and ours[-1] == theirs[-1] and (set(ours) <= set(theirs) or set(theirs) <= set(ours)):
            return True
    return False


def _described(mention: Mention, holders: Sequence[Holder]) -> list[_Fit]:
    """Return unnamed nodes that a description may mean, if none is certain."""
    relation = mention.relation or mention.name
    return [
        _Fit(holder, Agreement.PART, exact=False, points=HERE * holder.here, shared=0)
        for holder in holders
        if holder.links
        and type_fits(mention.type, holder.card.type)
        and (any(_says(link, relation) for link in holder.links) or _same_thing(mention, holder.card))
    ]


def _taken(
    mention: Mention, node_id: UUID, how: How, confidence: float, holder: Holder | None, *, rivals: Sequence[_Fit] = ()
) -> Resolved:
    return Resolved(
        key=mention.key,
        node_id=node_id,
        how=how,
        confidence=confidence,
        rivals=_rivals(rivals),
        learned=_learned(mention, how, holder),
    )


def _nobody(mention: Mention, fits: Sequence[_Fit]) -> Resolved:
    return Resolved(key=mention.key, node_id=None, how="new", rivals=_rivals(fits), learned=())


def _rivals(fits: Sequence[_Fit]) -> tuple[Rival, ...]:
    return tuple(
        Rival(
            node_id=fit.holder.card.node_id,
            score=min(RIVALRY[fit.agreement] + 0.1 * fit.points, 0.95),
            evidence={"name": float(fit.agreement), "here": float(fit.holder.here), "company": float(fit.shared)},
        )
        for fit in fits[:MOST_RIVALS]
    )


def _learned(mention: Mention, how: How, holder: Holder | None) -> tuple[str, ...]:
    """Return proper names of the mention that the node does not have yet; a typo is not a name."""
    if holder is None or how == "similar":
        return ()
    known = {latin(name) for name in holder.card.names} if holder.card.named else set()
    names = (mention.name, *mention.aliases) if mention.named else mention.aliases
    return tuple(dict.fromkeys(name for name in names if latin(name) not in known))
