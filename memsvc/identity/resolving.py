"""Which node a mention means; asked by extraction inside the transaction that writes.

One statement fetches whoever comes into question for all mentions, with their cards (``memsvc.mention_candidates``);
``memsvc.identity.known`` chooses among them. Mentions that count from somebody who is only found so ("Ana's brother")
take another statement for each step of that chain. No model is asked.
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
from memsvc.identity.words import other_names

NOBODY: frozenset[UUID] = frozenset()
MOST_STEPS = 3
"""Longest chain of mentions that count from one another, as it is followed: "my sister's boss's dog"."""
MOST_VARIANTS = 12
"""Most other forms of a name that are looked up."""
LEAST_LOOSE_CHARS = 2
SELF = -1
"""Key under which the memory's owner is looked up beside the mentions."""

Holders = dict[int, list[Holder]]


async def resolve(
    connection: AsyncConnection,
    owner: Owner,
    mentions: Sequence[Mention],
    *,
    source_id: UUID | None = None,
    near: frozenset[UUID] = NOBODY,
) -> list[Resolved]:
    """What each mention means, in the order of the mentions; nothing is written.

    Args:
        connection: the caller's transaction.
        owner: whose memory.
        mentions: of one window; keys are unique among them.
        source_id: the conversation or file that is read; its people are preferred.
        near: further nodes that the text is about: those of the window before.
    """
    settled: dict[int, UUID] = {mention.key: mention.known for mention in mentions if mention.known is not None}
    by_key = {mention.key: mention for mention in mentions}
    holders: Holders = {}
    answers: dict[int, Resolved] = {}
    waiting = list(mentions)
    for step in range(MOST_STEPS):
        ready = [one for one in waiting if step == MOST_STEPS - 1 or one.of is None or one.of in settled]
        if not ready:
            ready = waiting  # they count from somebody new, or from each other
        holders |= await _fetch(connection, owner, ready, settled, (source_id, near))
        selves = {holder.card.node_id for holder in holders.get(SELF, ())}
        for _ in range(2):  # the second time in the company of those found the first time
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


def _settle(settled: dict[int, UUID], mention: Mention, answer: Resolved) -> None:
    if answer.node_id is not None:
        settled[mention.key] = answer.node_id
    else:
        settled.pop(mention.key, None)


def _company(mention: Mention, by_key: Mapping[int, Mention]) -> set[int]:
    """Keys of whom facts of the text connect a mention with, whichever of both names the other."""
    return set(mention.company) | {key for key, other in by_key.items() if mention.key in other.company}


async def _fetch(
    connection: AsyncConnection,
    owner: Owner,
    mentions: Sequence[Mention],
    settled: Mapping[int, UUID],
    context: tuple[UUID | None, frozenset[UUID]],
) -> Holders:
    """Whoever comes into question for each mention, by its key; the owner under ``SELF``."""
    source_id, near = context
    asked = [(SELF, "exact", "I"), *(form for mention in mentions for form in forms(mention))]
    counted = [(one.key, settled[one.of]) for one in mentions if one.of is not None and one.of in settled]
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
        place = (row.key, row.node_id)
        holder = found.get(place)
        if holder is None:
            card = card_of(row)
            here = row.node_id in near or source_id in card.sources
            holder = Holder(card=card, here=here, last_at=row.last_at)
        if row.kind == "of":
            link = Link(row.relation, row.fact_type, row.outgoing)
            holder = msgspec.structs.replace(holder, links=(*holder.links, link))
        found[place] = holder
    grouped: Holders = {}
    for (key, _), holder in found.items():
        grouped.setdefault(key, []).append(holder)
    return grouped


def forms(mention: Mention) -> Iterable[tuple[int, str, str]]:
    """Under which names to look a mention up: key, kind (exact, variant, similar, word) and name."""
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
    """Other forms under which the same may be known: without title, turned, by its parts, by nicknames."""
    words = parse(name, node_type).words
    found = [" ".join(words), latin(name)]
    if node_type == PERSON and words:
        rest = words[1:]
        found += [" ".join((*rest, words[0])), words[0]] if rest else []
        found += [rest[-1]] if rest else []
        found += [" ".join((other, *rest)) for other in sorted(other_names(words[0]))]
        found += [f"{words[0][0]} {rest[-1]}", f"{words[0][0]}. {rest[-1]}"] if rest else []
    return [form for form in dict.fromkeys(found) if form]
