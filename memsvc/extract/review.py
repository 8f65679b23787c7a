"""Facts about which a person decides, and those that were refused: listed, accepted, corrected, rejected.

``doubtful`` ones wait for somebody; ``refused`` ones failed validation, are kept with their reason, and can be accepted
all the same. What is accepted is written through the history API as said by ``user``. What is rejected is never
proposed again from the same passage in this database, whoever reads it; exports leave reviews out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import check_page
from memsvc.errors import (
    EndpointForbiddenError,
    InvalidIntervalError,
    InvalidRequestError,
    InvalidTimeError,
    MemsvcError,
    ReviewDecidedError,
    ReviewUnknownError,
    TypeUnknownError,
)
from memsvc.extract.extraction import Entity, Fact
from memsvc.extract.grounding import Grounded, ontology_for
from memsvc.extract.plan import Planner, mentions_of
from memsvc.extract.proposals import End, Proposal
from memsvc.extract.unread import NOTHING, Turns, turn_of
from memsvc.extract.validation import REASONS, Checked, Sound
from memsvc.extract.window import Window
from memsvc.extract.write import Found, compared_with, known_nodes
from memsvc.graph.history import Change, write_in
from memsvc.identity import resolving
from memsvc.identity.mentions import Resolved
from memsvc.times.untold import Bound, unmarked

State = Literal["doubtful", "refused", "accepted", "edited", "rejected"]
STATES: tuple[State, ...] = ("doubtful", "refused", "accepted", "edited", "rejected")
OPEN = ("doubtful", "refused")
"""States in which nobody has decided."""
USER = "user"
"""Who says what a person accepted."""
REFUSALS: dict[str, type[MemsvcError]] = {"type": TypeUnknownError, "endpoint": EndpointForbiddenError}


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that was found and not written by itself."""

    review_id: UUID
    state: State
    reason: str
    """A code of ``memsvc.extract.validation``: doubtful, quote, ungrounded, endpoint …"""
    proposal: Proposal
    passage_id: UUID
    source_id: UUID
    speaker: str
    text: str
    """Of the passage."""
    span: tuple[int, int] | None
    """Where the quote stands in it; None: nowhere."""
    said_at: datetime
    extractor: str
    found_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person changes before accepting; what is left out stays as proposed."""

    subject: str | None = None
    """Name of its start."""
    type: str | None = None
    """An edge type."""
    object: str | None = None
    """Name of its end."""
    sentence: str | None = None
    """Needed where new names cannot take the place of the old ones in it."""
    since: datetime | msgspec.UnsetType | None = msgspec.UNSET
    """Aware; null: not known."""
    until: datetime | msgspec.UnsetType | None = msgspec.UNSET
    data: dict[str, Any] | None = None


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A review after its decision."""

    review: Review
    change: Change | None
    """What was written; None: nothing."""


async def list_reviews(
    db: Database,
    owner: Owner,
    *,
    state: State | None = "doubtful",
    source: UUID | None = None,
    after: UUID | None = None,
    limit: int = 50,
) -> list[Review]:
    """Facts of a state (None: all), newest first; ``after`` is the last review of the page before.

    Raises:
        InvalidRequestError: the limit is not 1 to 1,000, or the state is none.
    """
    check_page(limit)
    if state is not None and state not in STATES:
        raise InvalidRequestError(f"state is one of {', '.join(STATES)}.", field="state")
    async with db.transaction(owner.user_id) as connection:
        rows = await _rows(connection, owner, state=state, source_id=source, after=after, limit=limit)
        return [_review(row) for row in rows]


async def get_review(db: Database, owner: Owner, review_id: UUID) -> Review:
    """One of them.

    Raises:
        ReviewUnknownError: there is none such.
    """
    async with db.transaction(owner.user_id) as connection:
        return _review(await _one(connection, owner, review_id))


async def _rows(connection: AsyncConnection, owner: Owner, **asked: Any) -> Sequence[Row[Any]]:
    none = dict.fromkeys(("review_id", "state", "source_id", "after"))
    values = {"user_id": owner.user_id, **none, "limit": 1, **asked}
    return (await connection.execute(query("list_reviews"), values)).all()


async def _one(connection: AsyncConnection, owner: Owner, review_id: UUID) -> Row[Any]:
    rows = await _rows(connection, owner, review_id=review_id)
    if not rows:
        raise ReviewUnknownError(f"There is no fact under review {review_id}.")
    return rows[0]


def _review(row: Row[Any]) -> Review:
    return Review(
        review_id=row.review_id, state=row.state, reason=row.reason,
        proposal=msgspec.convert(row.proposal, Proposal), passage_id=row.passage_id, source_id=row.source_id,
        speaker=row.speaker, text=row.text, span=None if row.span_from is None else (row.span_from, row.span_to),
        said_at=on_clock(row.said_at, row.said_offset), extractor=row.extractor, found_at=row.found_at,
        decided_at=row.decided_at, decided_by=row.decided_by,
    )  # fmt: skip


async def accept(db: Database, owner: Owner, review_id: UUID, *, by: str, edit: Edit | None = None) -> Decided:
    """Write a fact, as it was proposed or as a person corrected it.

    Args:
        db: the database.
        owner: whose memory.
        review_id: which.
        by: who decides: user, app …
        edit: what is changed before; None: nothing.

    Raises:
        ReviewUnknownError: there is none such.
        ReviewDecidedError: somebody decided already.
        InvalidRequestError: the sentence would not say what is written.
        TypeUnknownError, EndpointForbiddenError, InvalidIntervalError, InvalidTimeError: it cannot be written so.
    """
    actor = valid_name(by, "decided_by")

    return await db.attempt(
        owner.user_id, lambda connection: accept_in(connection, owner, review_id, by=actor, edit=edit)
    )


async def accept_in(
    connection: AsyncConnection, owner: Owner, review_id: UUID, *, by: str, edit: Edit | None = None
) -> Decided:
    """The same in the caller's transaction."""
    row = await _begin(connection, owner, review_id)
    proposal = edited(msgspec.convert(row.proposal, Proposal), edit) if edit else _proposal(row)
    change = await _write(connection, owner, row, proposal, by=by)
    review = await _decide(connection, owner, review_id, ("edited" if edit else "accepted", by), proposal)
    return Decided(review=review, change=change)


async def reject(db: Database, owner: Owner, review_id: UUID, *, by: str) -> Decided:
    """Reject a fact for ever.

    Raises:
        ReviewUnknownError, ReviewDecidedError: as ``accept``.
    """
    actor = valid_name(by, "decided_by")

    async def work(connection: AsyncConnection) -> Decided:
        row = await _begin(connection, owner, review_id)
        review = await _decide(connection, owner, review_id, ("rejected", actor), _proposal(row))
        return Decided(review=review, change=None)

    return await db.attempt(owner.user_id, work)


async def reopen(db: Database, owner: Owner, review_id: UUID) -> Review:
    """Let a decided fact wait again. What was written stays: undo its change. Repeating it changes nothing.

    Raises:
        ReviewUnknownError: there is none such.
    """

    async def work(connection: AsyncConnection) -> Review:
        await connection.execute(query("reopen_review"), {"user_id": owner.user_id, "review_id": review_id})
        return _review(await _one(connection, owner, review_id))

    return await db.attempt(owner.user_id, work)


async def waiting(connection: AsyncConnection, owner: Owner, *, limit: int) -> list[Review]:
    """Facts that wait because of their confidence and were judged by nobody, those that wait longest first."""
    found = await connection.execute(query("reviews_to_judge"), {"user_id": owner.user_id, "limit": limit})
    return [_review(await _one(connection, owner, review_id)) for review_id in found.scalars().all()]


async def put_aside(connection: AsyncConnection, owner: Owner, review_id: UUID, *, reason: str, refused: bool) -> bool:
    """Note why a fact that waits goes on waiting, or is refused; a person can still decide. False: it waits no more."""
    state = "refused" if refused else "doubtful"
    values = {"user_id": owner.user_id, "review_id": review_id, "state": state, "reason": reason}
    return (await connection.execute(query("put_review_aside"), values)).one_or_none() is not None


def _proposal(row: Row[Any]) -> Proposal:
    return msgspec.convert(row.proposal, Proposal)


def edited(proposal: Proposal, edit: Edit) -> Proposal:
    """A proposal with what a person changed; an end that is called otherwise is somebody else."""

    def end(old: End, name: str | None) -> End:
        if name is None or name.strip() == old.name:
            return old
        return End(name=valid_name(name, "name"), type=old.type)

    changed: dict[str, Any] = {
        "subject": end(proposal.subject, edit.subject),
        "object": end(proposal.object, edit.object),
    }
    changed["sentence"] = _restated(proposal, edit, changed["subject"], changed["object"])
    for field in ("type", "sentence", "data"):
        if getattr(edit, field) is not None:
            changed[field] = getattr(edit, field)
    bounds: tuple[Bound, ...] = ("since", "until")
    for field in bounds:
        moment = getattr(edit, field)
        if moment is not msgspec.UNSET:
            if edit.data is None:  # what the extractor called it goes with the old one
                changed["data"] = unmarked(changed.get("data", proposal.data), field)
            if moment is not None and moment.utcoffset() is None:
                raise InvalidTimeError(f"{field} has no offset.", field=field)
            changed[field] = moment
    made = msgspec.structs.replace(proposal, **changed)
    if made.since is not None and made.until is not None and made.until <= made.since:
        raise InvalidIntervalError(field="until")
    return made


def _restated(proposal: Proposal, edit: Edit, subject: End, object_: End) -> str:
    """The sentence with the new names: nobody shall read of T.K. in a fact that was corrected to be about Porto.

    Raises:
        InvalidRequestError: it cannot be told how it would go.
    """
    ends = ((proposal.subject, subject), (proposal.object, object_))
    names = {old.name: new.name for old, new in ends if old.name != new.name}
    if edit.sentence is not None or not names:
        return proposal.sentence
    places = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names))
    if sorted(places.findall(proposal.sentence)) != sorted(names):
        raise InvalidRequestError(
            "The sentence would say something else than the fact.", hint="Send a sentence as well.", field="sentence"
        )
    return places.sub(lambda found: names[found[0]], proposal.sentence)


async def _begin(connection: AsyncConnection, owner: Owner, review_id: UUID) -> Row[Any]:
    """Take a review that nobody decided: facts of a user are written one after the other, as by extraction."""
    await connection.execute(query("write_facts_alone"), {"user_id": owner.user_id})
    row = await _one(connection, owner, review_id)
    values = {"user_id": owner.user_id, "review_id": review_id}
    state = (await connection.execute(query("lock_review"), values)).scalar_one_or_none()
    if state is None:
        raise ReviewUnknownError(f"There is no fact under review {review_id}.")
    if state not in OPEN:
        raise ReviewDecidedError(f"The fact was {state} already.", state=state)
    return row


async def _decide(
    connection: AsyncConnection, owner: Owner, review_id: UUID, decision: tuple[State, str], proposal: Proposal
) -> Review:
    """Note a decision: the new state, and whose it is."""
    values = {
        "user_id": owner.user_id, "review_id": review_id, "decision": decision[0], "by": decision[1],
        "proposal": msgspec.json.encode(proposal).decode(),
    }  # fmt: skip
    await connection.execute(query("decide_review"), values)
    return _review(await _one(connection, owner, review_id))


async def _write(
    connection: AsyncConnection, owner: Owner, row: Row[Any], proposal: Proposal, *, by: str
) -> Change | None:
    """Write a fact as asserted by who decided; it is compared with what is known as any other is."""
    turn = turn_of(row)
    window = Window(
        turns=(turn,), candidates=(), speakers={}, zone=owner.time_zone,
        ontology=await ontology_for(connection, owner),
    )  # fmt: skip
    ends = (proposal.subject, proposal.object)
    checked = Checked(entities={key: _entity(key, end) for key, end in enumerate(ends)})
    fact = Fact(
        subject=0, type=proposal.type, object=1, sentence=proposal.sentence, turn=0, quote=proposal.quote,
        since=proposal.since, until=proposal.until, change=proposal.change, data=proposal.data,
    )  # fmt: skip
    checked.facts = [Sound(fact, turn, None if row.span_from is None else (row.span_from, row.span_to))]
    found = Found(
        Turns(turns=(turn,), before=(), upto=NOTHING),
        Grounded(window=window, unnamed=frozenset(), near=frozenset()), checked, USER, "",
    )  # fmt: skip
    unknown = [one for one in mentions_of(window, checked) if ends[one.key].node_id is None]
    resolved = [
        Resolved(key=key, node_id=end.node_id, how="given") for key, end in enumerate(ends) if end.node_id is not None
    ]
    if unknown:
        resolved += await resolving.resolve(connection, owner, unknown, source_id=row.source_id)
    planner = Planner(window, checked, resolved, await known_nodes(connection, owner, resolved))
    plan = planner.plan(await compared_with(connection, owner, row.source_id, found, planner), (), {})
    for left in plan.left:
        raise REFUSALS.get(left.reason, InvalidRequestError)(f"It cannot be written: {REASONS[left.reason]}.")
    if not plan.operations:
        return None
    return await write_in(connection, owner, plan.operations, asserted_by=by)


def _entity(key: int, end: End) -> Entity:
    return Entity(key=key, name=end.name, type=end.type, named=end.named, aliases=end.aliases)
