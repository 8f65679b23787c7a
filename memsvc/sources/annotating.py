"""Annotations: a person or an app marks a fact as validated or disputed, and says why.

The reason is stored as a message of the role system in the conversation "annotations": a trace, which is recalled on
request alone and not read for facts. The mark is evidence of the fact with that stance and this message as its passage.
So history, undoing, export and erasing treat it like any evidence. Both are written in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import EVENTS, Database
from memsvc.db.once import Once
from memsvc.errors import InvalidRequestError, MemoryPausedError, TextTooLongError
from memsvc.graph.describe import MARKS
from memsvc.graph.edit import fact_version
from memsvc.graph.history import Change, write_in
from memsvc.graph.operations import MAX_TEXT_CHARS, Annotate, Evidence, Mark
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append_prepared, prepare
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable

CONVERSATION = MARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A mark on a fact."""

    edge_id: UUID
    stance: Mark
    reason: str
    """Why, in words: 1 to 8,000 characters."""
    version_id: UUID | None = None
    """The version that the person saw; None: the one that is true now, else the last known one."""


async def annotate_fact(
    db: Database,
    owner: Owner,
    settings: Settings,
    annotation: Annotation,
    *,
    asserted_by: str,
    once: Once | None = None,
) -> Change:
    """Mark a fact as validated or disputed. Of each author the last mark counts.

    Args:
        db: the database.
        owner: the user whose graph is changed.
        settings: limits of messages.
        annotation: the fact, the mark and the reason.
        asserted_by: who marks it.
        once: the request that it comes from; if it was done before, its change is returned and nothing is written.

    Raises:
        FactUnknownError: there is no such edge.
        VersionSupersededError: somebody changed it in the meantime, or the fact was taken back.
        InvalidRequestError, InvalidTextError, TextTooLongError: the reason cannot be used.
        MemoryPausedError: no text of this user is stored now, so the reason could not be kept.
        IdempotencyConflictError: the key of ``once`` came with another request.
    """
    stance, reason = annotation.stance, _reason(annotation)
    if once is not None:  # a fact that has changed since then does not hide what was answered
        async with db.transaction(owner.user_id) as connection:
            if (before := await once.answer(connection, owner.user_id)) is not None:
                return msgspec.json.decode(before, type=Change)
    version = await fact_version(db, owner, annotation.edge_id, annotation.version_id)
    message = MessageIn(
        conversation=CONVERSATION,
        text=reason,
        role="system",
        speaker=asserted_by,
        metadata={"stance": stance, "edge_id": str(annotation.edge_id)},
    )
    prepared = prepare([message], owner, settings, None)

    async def work(connection: AsyncConnection) -> Change:
        known = await once.answer(connection, owner.user_id) if once is not None else None
        if known is not None:
            return msgspec.json.decode(known, type=Change)
        [stored] = await append_prepared(connection, owner, prepared)
        if stored.passage_id is None:  # its id is new, so it was not erased before
            raise MemoryPausedError
        mark = Annotate(version=version, stance=stance, evidence=[Evidence(passage_id=stored.passage_id)])
        change = await write_in(connection, owner, [mark], asserted_by=asserted_by)
        if once is not None:
            await once.keep(connection, owner.user_id, msgspec.json.encode(change).decode())
        return change

    change = await db.attempt(owner.user_id, work)
    announce_jobs(db)
    db.notify(EVENTS)
    return change


def _reason(annotation: Annotation) -> str:
    reason = annotation.reason
    check_storable(reason, "reason")
    if not is_visible(reason):
        raise InvalidRequestError("reason is empty.", hint=f"Say why it is {annotation.stance}.", field="reason")
    if len(reason) > MAX_TEXT_CHARS:
        raise TextTooLongError(
            f"reason has {len(reason):,} characters; at most {MAX_TEXT_CHARS:,} fit.",
            hint="Shorten it.",
            field="reason",
        )
    return reason
