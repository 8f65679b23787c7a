"""What reading some text would write: a dry run, nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import DryRunTooLongError, DryRunTooSlowError, InvalidRequestError
from memsvc.extract.dividing import TOO_MUCH, half
from memsvc.extract.extraction import Extractor, for_user
from memsvc.extract.grounding import ground
from memsvc.extract.proposals import Proposal
from memsvc.extract.run import look
from memsvc.extract.unread import ASSISTANT, NOTHING, SOMEBODY, TURNS_BEFORE, Turns, first_window
from memsvc.extract.validation import proposal_of
from memsvc.extract.window import Turn
from memsvc.extract.write import Found, compared_with, prepare
from memsvc.graph.operations import new_id
from memsvc.settings import Settings
from memsvc.sources.messages import Role
from memsvc.text.characters import is_visible
from memsvc.text.split import split_text
from memsvc.text.storable import check_storable

MOST_MESSAGES = 200
Verdict = Literal["new", "known", "changes", "superseded", "doubtful", "refused"]


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message that is only thought of."""

    text: str
    speaker: str = ""
    role: Role = "user"
    said_at: datetime | None = None
    """Aware; None: now."""
    caption: str = ""


class Previewed(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that would be written, or why it would not."""

    proposal: Proposal
    """``node_id`` of its ends: the node that it would hang on; None: a new one."""
    turn: int
    """Which message says so, from 0; parts of a long one have its number."""
    verdict: Verdict
    """new; known: only evidence would be added; changes: something that is known would end or be replaced; superseded:
    what is known was said later and says otherwise; doubtful: a person would be asked; refused."""
    reason: str
    """Why it is doubtful or refused; else empty."""


class NewNode(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody or something that would be remembered."""

    name: str
    type: str
    node_id: UUID | None
    """Where it is known already."""
    named: bool
    aliases: tuple[str, ...]


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What would be written."""

    extractor: str
    facts: list[Previewed]
    nodes: list[NewNode]


async def preview(
    db: Database, owner: Owner, messages: Sequence[Said], extractor: Extractor, settings: Settings
) -> Preview:
    """Read messages, in their order, without storing anything.

    Args:
        db: the database.
        owner: whose memory they are compared with.
        messages: 1 to 200; each window of them is read without the facts of the one before.
        extractor: who reads.
        settings: how much may be read and how long that may take, and the window that long messages are split to, as
            if they were stored.

    Raises:
        InvalidRequestError: nothing, or too many messages, to be read, or text that could not be stored.
        DryRunTooLongError: texts, speakers and captions have more characters than one dry run reads.
        DryRunTooSlowError: reading takes longer than one dry run may; the extractor is left after its present window.
        ExtractorError: it could not be read.
    """
    _check(messages, settings.dry_run_chars)
    try:
        async with asyncio.timeout(settings.dry_run_s) as limit:
            return await _read(db, owner, messages, extractor, settings.passage_tokens)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DryRunTooSlowError(
            f"It was not read within {settings.dry_run_s:g} seconds (MEMSVC_DRY_RUN_S)."
        ) from error


def _check(messages: Sequence[Said], most_chars: int) -> None:
    for message in messages:
        for field in ("text", "speaker", "caption"):
            check_storable(getattr(message, field), field)
    if not 1 <= len(messages) <= MOST_MESSAGES or not any(is_visible(message.text) for message in messages):
        raise InvalidRequestError(f"A dry run reads 1 to {MOST_MESSAGES} messages with text.", field="messages")
    length = sum(len(message.text) + len(message.speaker) + len(message.caption) for message in messages)
    if length > most_chars:
        raise DryRunTooLongError(
            f"A dry run reads {most_chars:,} characters at most (MEMSVC_DRY_RUN_CHARS), and this has {length:,}.",
            field="messages",
        )


async def _read(
    db: Database, owner: Owner, messages: Sequence[Said], extractor: Extractor, passage_tokens: int
) -> Preview:
    turns = [
        (place, turn)
        for place, message in enumerate(messages)
        for turn in _turns(message, owner.time_zone, passage_tokens)
    ]
    made = Preview(extractor=extractor.name, facts=[], nodes=[])
    reader = for_user(extractor, db, owner.user_id)
    done, most = 0, len(turns)
    while done < len(turns):
        window = first_window([turn for _, turn in turns[done:]])[:most]
        before = tuple(turn for _, turn in turns[max(0, done - TURNS_BEFORE) : done])
        taken = Turns(turns=window, before=before, upto=NOTHING)
        places = {turn.passage_id: place for place, turn in turns[done : done + len(window)]}
        try:
            facts, nodes = await _preview_window(db, owner, reader, taken, places)
        except TOO_MUCH:
            if len(window) == 1:
                raise
            most = half(len(window))
            continue
        made.facts.extend(facts)
        made.nodes.extend(nodes)
        done += len(window)
    return made


def _turns(message: Said, zone: str, window: int) -> list[Turn]:
    """A message as turns: parts of a long one are passages, as they would be if it were stored."""
    said_at = message.said_at or datetime.now(ZoneInfo(zone))
    if said_at.utcoffset() is None:
        raise InvalidRequestError("said_at has no offset.", field="said_at")
    role = "user" if message.role == "other" else message.role
    speaker = message.speaker or (ASSISTANT if role == ASSISTANT else SOMEBODY if message.role == "other" else "")
    parts = split_text(message.text, window)
    return [
        Turn(
            passage_id=new_id(),
            speaker=speaker,
            role=role,
            other=message.role == "other",
            text=text,
            opening=parts[0] if place else "",
            caption=message.caption,
            said_at=said_at,
        )
        for place, text in enumerate(parts)
    ]


async def _preview_window(
    db: Database, owner: Owner, reader: Extractor, turns: Turns, places: dict[UUID, int]
) -> tuple[list[Previewed], list[NewNode]]:
    async with db.transaction(owner.user_id) as connection:
        grounded = await ground(connection, owner, turns)
    found = Found(turns, grounded, await look(db, owner, reader, grounded), reader.name, "")
    async with db.transaction(owner.user_id) as connection:
        planner = await prepare(connection, owner, None, found)
        plan = planner.plan(await compared_with(connection, owner, None, found, planner), (), {})
    facts: list[Previewed] = []
    for place, fate in sorted(plan.fates.items()):
        sound = found.checked.facts[place]
        proposal = proposal_of(grounded.window, found.checked.entities, sound.fact)
        ends = [planner.nodes[key] for key in (sound.fact.subject, sound.fact.object)]
        subject, object_ = (
            msgspec.structs.replace(end, node_id=node.node_id if node.known is not None else None, type=node.type)
            for end, node in zip((proposal.subject, proposal.object), ends, strict=True)
        )
        shown = msgspec.structs.replace(proposal, subject=subject, object=object_)
        facts.append(Previewed(proposal=shown, turn=places[sound.turn.passage_id], verdict=fate, reason=""))
    for left in (*found.checked.left, *plan.left):
        verdict: Verdict = "doubtful" if left.reason == "doubtful" else "refused"
        place = places[left.turn.passage_id]
        facts.append(Previewed(proposal=left.proposal, turn=place, verdict=verdict, reason=left.reason))
    nodes = [
        NewNode(
            name=node.known.label if node.known is not None else found.checked.entities[key].name,
            type=node.type,
            node_id=node.node_id if node.known is not None else None,
            named=found.checked.entities[key].named,
            aliases=found.checked.entities[key].aliases,
        )
        for key, node in plan.nodes.items()
    ]
    return facts, nodes
