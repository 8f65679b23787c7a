"""Verifies a claim: memory supports it, contradicts it, or does not know; with the memories for and against it.

No language model is asked. The offline extractor reads the claim as if it were a message; nothing is stored. What it
finds is compared with the known facts about the same nodes (``memsvc.chat.weighing_facts``), and the claim itself with
the sentences of recalled messages (``memsvc.chat.weighing_messages``). A wrong verdict is worse than none, so in doubt
it is ``unknown``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from memsvc.access.users import Owner, own_names
from memsvc.chat.weighing import ClaimEvidence, Verdict, Weighed
from memsvc.chat.weighing_facts import Claimed, weigh_facts
from memsvc.chat.weighing_messages import weigh_messages
from memsvc.chat.wording import telling_words
from memsvc.db.engine import Database
from memsvc.errors import ClaimIsQuestionError, ExtractorMissingError, InvalidRequestError
from memsvc.extract.extraction import Extractor
from memsvc.extract.grounding import ground
from memsvc.extract.names import folded
from memsvc.extract.plan import Made
from memsvc.extract.registry import OFFLINE
from memsvc.extract.run import Extractors, look
from memsvc.extract.unread import NOTHING, Turns
from memsvc.extract.window import Turn
from memsvc.extract.write import Found, prepare
from memsvc.graph.operations import BESIDE, new_id
from memsvc.recall.asks import asks
from memsvc.recall.options import Filters
from memsvc.recall.search import QueryEmbedder, recall
from memsvc.settings import Settings
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

MOST_CHARS = 1_000
MOST_RECALLED = 12


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What memory says about a claim."""

    claim: str
    verdict: Verdict
    reason: str
    """Why, as a sentence."""
    supporting: list[ClaimEvidence]
    contradicting: list[ClaimEvidence]
    related: list[ClaimEvidence]
    """Messages about the same names, that do not decide."""
    degraded: list[str]
    """What the verdict had to do without: facts (the offline extractor is not installed), vector, words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The two times at which memory is asked."""

    as_of: datetime | None = None
    """What was true then; None: now."""
    known_at: datetime | None = None
    """What was recorded by then; None: now."""


async def verify(
    db: Database,
    owner: Owner,
    claim: str,
    settings: Settings,
    *,
    extractors: Extractors | None,
    embedder: QueryEmbedder | None = None,
    when: When = When(),
) -> Verified:
    """Verify a claim.

    Args:
        db: the database.
        owner: whose memory.
        claim: one statement, at most 1,000 characters; "I" is the owner.
        settings: limits.
        extractors: the offline one reads the claim; None, or without that one, it is compared with messages alone.
        embedder: embeds the claim for recall.
        when: as of when.

    Raises:
        InvalidRequestError, InvalidTextError: the claim is empty, too long, or no text.
        ClaimIsQuestionError: it is a question.
    """
    check_storable(claim, "claim")
    if not is_visible(claim) or len(claim) > MOST_CHARS:
        raise InvalidRequestError(f"A claim has 1 to {MOST_CHARS:,} characters.", field="claim")
    if asks(claim):
        raise ClaimIsQuestionError(field="claim")
    extractor = await _reader(extractors)
    at = when.as_of or datetime.now(UTC)
    claimed = await _read(db, owner, claim, extractor, at) if extractor is not None else []
    facts = await weigh_facts(db, owner, claim, claimed, as_of=when.as_of, known_at=when.known_at)
    filters = Filters(kinds=("message",), as_of=when.as_of, known_at=when.known_at)
    found = await recall(
        db, owner, claim, settings, embedder=embedder, limit=MOST_RECALLED, filters=filters
    )  # fmt: skip
    own = await own_names(db, owner)
    said, related = weigh_messages(claim, found.memories, [own.label, *own.aliases], at, owner.time_zone)
    whole = _together(facts, said)
    return Verified(
        claim=claim,
        verdict=whole.verdict,
        reason=whole.reason or ("Memories speak of it, but none decides it." if related else "Nothing is known of it."),
        supporting=whole.supporting,
        contradicting=whole.contradicting,
        related=related,
        degraded=[*(() if extractor is not None else ("facts",)), *found.degraded],
    )


async def _reader(extractors: Extractors | None) -> Extractor | None:
    """The offline extractor, if it is installed."""
    try:
        return await extractors.get(OFFLINE) if extractors is not None else None
    except ExtractorMissingError:
        return None


async def _read(db: Database, owner: Owner, claim: str, extractor: Extractor, at: datetime) -> list[Claimed]:
    """The facts that a claim states about nodes that are known."""
    turn = Turn(passage_id=new_id(), speaker="", role="user", text=claim, said_at=at)
    turns = Turns(turns=(turn,), before=(), upto=NOTHING)
    async with db.transaction(owner.user_id) as connection:
        grounded = await ground(connection, owner, turns)
    checked = await look(db, owner, extractor, grounded)
    async with db.transaction(owner.user_id) as connection:
        planner = await prepare(connection, owner, None, Found(turns, grounded, checked, extractor.name, ""))
    made: list[Claimed] = []
    for sound in checked.facts:
        fact = sound.fact
        start, end = planner.nodes.get(fact.subject), planner.nodes.get(fact.object)
        if start is None or start.known is None:
            return []  # a part of the claim is about somebody unknown
        names = [checked.entities[key].name for key in (fact.subject, fact.object)]
        edge = grounded.window.ontology.edge_types[fact.type]
        made.append(
            Claimed(
                subject=start.node_id,
                type=fact.type,
                object=end.node_id if end is not None and end.known is not None else None,
                object_name=names[1],
                change=fact.change,
                since=fact.since,
                relation=folded(str(fact.data.get("relation", ""))),
                functional=edge.functional and not fact.data.get(BESIDE),
                words=frozenset(
                    word for name in (*names, *_names(start), *_names(end)) for word in telling_words(name)
                ),
            )
        )
    return made


def _names(made: Made | None) -> list[str]:
    return [made.known.label, *made.known.names] if made is not None and made.known is not None else []


def _together(facts: Weighed, said: Weighed) -> Weighed:
    """One verdict of facts and messages: that of the facts, else of messages; unknown where something disagrees."""
    whole = Weighed(
        supporting=[*facts.supporting, *said.supporting], contradicting=[*facts.contradicting, *said.contradicting]
    )
    if whole.supporting and whole.contradicting:
        whole.reason = "What is known disagrees."
    elif facts.verdict != "unknown":
        whole.verdict, whole.reason = facts.verdict, facts.reason
    elif facts.doubt:
        whole.reason = facts.reason
    else:
        whole.verdict, whole.reason = said.verdict, said.reason or facts.reason
    return whole
