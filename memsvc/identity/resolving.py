"""Finds the node that each mention means; extraction calls it inside the transaction that writes.

One statement fetches the candidates of all mentions, with their cards (``memsvc.mention_candidates``);
``memsvc.identity.known`` chooses among them. Mentions that are described from another mention ("Ana's brother") need
another statement for each step of that chain. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.identity.candidates import card_of
from memsvc.identity.known import Holder, Link, choose
from memsvc.identity.mentions import Mention, Resolved
from memsvc.identity.names import PERSON, latin, parse
from memsvc.identity.relations import PARENTS, SIBLINGS, canonical
from memsvc.identity.words import other_names

NOBODY: frozenset[UUID] = frozenset()
MOST_STEPS = 3
"""Longest chain of mentions that are described from one another: "my sister's boss's dog"."""
MOST_VARIANTS = 12
"""Most variants of a name that are looked up."""
LEAST_LOOSE_CHARS = 2
SELF = -1
"""Key under which the memory's owner is looked up, in addition to the mentions."""

Holders = dict[int, list[Holder]]


async def resolve(
    connection: AsyncConnection,
    owner: Owner,
    mentions: Sequence[Mention],
    *,
    source_id: UUID | None = None,
    near: frozenset[UUID] = NOBODY,
) -> list[Resolved]:
    """Return the result for each mention, in the order of the mentions; nothing is written.

    Args:
        connection: the caller's transaction.
        owner: the user whose memory it is.
        mentions: of one window; their keys are unique.
        source_id: the conversation or file that is read; nodes that it mentions are preferred.
        near: further nodes that the text is about: those of the previous window.
    """
    settled: dict[int, UUID] = {mention.key: mention.known for mention in mentions if mention.known is not None}
    by_key = {mention.key: mention for mention in mentions}
    holders: Holders = {}
    answers: dict[int, Resolved] = {}
    waiting = list(mentions)
    for step in range(MOST_STEPS):
        ready = [one for one in waiting if step == MOST_STEPS - 1 or one.of is None or one.of in settled]
        if not ready:
            ready = waiting  # they are described from a new node, or from each other
        counted = [(one.key, settled[one.of]) for one in ready if one.of is not None and one.of in settled]
        holders |= await _fetch(connection, owner, ready, counted, (source_id, near))
        if through := _through_siblings(ready, holders):
            shared = await _fetch(connection, owner, (), through, (source_id, near))
            for key in shared.keys() - {SELF}:
                parents = [one for one in shared[key] if any(map(_is_parent, one.links))]
                known = {one.card.node_id for one in parents}
                holders[key] = [*parents, *(one for one in holders[key] if one.card.node_id not in known)]
        selves = {holder.card.node_id for holder in holders.get(SELF, ())}
        for _ in range(2):  # the second round uses the nodes of the first as company
            for mention in ready:
                company = {settled[key] for key in _company(mention, by_key) if key in settled} - selves
                answer = choose(mention, holders.get(mention.key, ()), company)
                answers[mention.key] = answer
                _settle(settled, mention, answer)
        done = {mention.key for mention in ready}
        waiting = [one for one in waiting if one.key not in done]
        if not waiting:
            break
    return [answers[mention.key] for mention in mentions]


def _through_siblings(mentions: Sequence[Mention], holders: Holders) -> list[tuple[int, UUID]]:
    """Return the siblings of those whose mother or father is meant and not known: theirs is the same one."""
    found: list[tuple[int, UUID]] = []
    for mention in mentions:
        relation = mention.relation or ("" if mention.named else mention.name)
        if mention.known is not None or canonical(relation) not in PARENTS:
            continue
        if choose(mention, holders.get(mention.key, ())).node_id is None:
            found += [
                (mention.key, holder.card.node_id)
                for holder in holders.get(mention.key, ())
                if any(canonical(link.relation) in SIBLINGS for link in holder.links)
            ]
    return found


def _is_parent(link: Link) -> bool:
    return link.outgoing and canonical(link.relation) in PARENTS


def _settle(settled: dict[int, UUID], mention: Mention, answer: Resolved) -> None:
    if answer.node_id is not None:
        settled[mention.key] = answer.node_id
    else:
        settled.pop(mention.key, None)


def _company(mention: Mention, by_key: Mapping[int, Mention]) -> set[int]:
    """Return the keys of mentions that facts of the text connect with this one, in either direction."""
    return set(mention.company) | {key for key, other in by_key.items() if mention.key in other.company}


async def _fetch(
    connection: AsyncConnection,
    owner: Owner,
    mentions: Sequence[Mention],
    counted: Sequence[tuple[int, UUID]],
    context: tuple[UUID | None, frozenset[UUID]],
) -> Holders:
    """Return the candidates of each mention, by its key; the owner under ``SELF``.

    ``counted`` has keys, with nodes from which those mentions are described.
    """
    source_id, near = context
    asked = [(SELF, "exact", "I"), *(form for mention in mentions for form in forms(mention))]
    parameters = {
        "user_id": owner.user_id,
        "keys": [key for key, _, _ in asked],
        "kinds": [kind for _, kind, _ in asked],
        "names": [name for _, _, name in asked],
        "of_keys": [key for key, _ in counted],
        "of_nodes": [node for _, node in counted],
        "near": list(near),
    }
    found: dict[tuple[int, UUID], Holder] = {}
    for row in await connection.execute(query("mention_candidates"), parameters):
        pair = (row.key, row.node_id)
        holder = found.get(pair)
        if holder is None:
            card = card_of(row)
            here = row.node_id in near or source_id in card.sources
            holder = Holder(card=card, here=here, last_at=row.last_at)
        if row.kind == "of":
            link = Link(row.relation, row.fact_type, row.outgoing)
            holder = msgspec.structs.replace(holder, links=(*holder.links, link))
        found[pair] = holder
    grouped: Holders = {}
    for (key, _), holder in found.items():
        grouped.setdefault(key, []).append(holder)
    return grouped


def forms(mention: Mention) -> Iterable[tuple[int, str, str]]:
    """Yield the names under which to look a mention up: key, kind (exact, variant, similar, word) and name."""
    if not mention.named:
        return
    names = dict.fromkeys((mention.name, *mention.aliases))
    for name in names:
        yield mention.key, "exact", name
        if len(latin(name)) >= LEAST_LOOSE_CHARS:
            yield mention.key, "similar", name
    variants: dict[str, None] = {}
    for name in names:
        variants |= dict.fromkeys(variants_of(name, mention.type))
    for name in list(variants)[:MOST_VARIANTS]:
        if name not in names:
            yield mention.key, "variant", name
    words = parse(mention.name, mention.type).words
    if mention.type == PERSON and len(words) == 1:
        for name in sorted(other_names(words[0]))[:MOST_VARIANTS]:
            yield mention.key, "word", name


def variants_of(name: str, node_type: str) -> list[str]:
    """Return variants of a name: without title, in another order, its parts, with nicknames."""
    words = parse(name, node_type).words
    found = [" ".join(words), latin(name)]
    if node_type == PERSON and words:
        rest = words[1:]
        found += [" ".join((*rest, words[0])), words[0]] if rest else []
        found += [rest[-1]] if rest else []
        found += [" ".join((other, *rest)) for other in sorted(other_names(words[0]))]
        found += [f"{words[0][0]} {rest[-1]}", f"{words[0][0]}. {rest[-1]}"] if rest else []
    return [form for form in dict.fromkeys(found) if form]
