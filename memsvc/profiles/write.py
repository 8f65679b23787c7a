"""Writes the profile: each change is a new version of a block, and earlier versions stay in its history.

A writer can name the version that it read: if another writer changed the block since, nothing is written. Changes of
one user's profile run one after another (``profile_hold``), and none runs between an erasure and its passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.erasing.memories import Receipt, erase, preview
from memsvc.errors import (
    AlreadyExistsError,
    BlockUnknownError,
    InvalidRequestError,
    PassageUnknownError,
    ProfileConflictError,
    ProfileFullError,
    TextTooLongError,
)
from memsvc.graph.operations import MAX_TEXT_CHARS
from memsvc.profiles.blocks import (
    CORE_TOKENS,
    LIMIT_TOKENS,
    MAX_EVIDENCE,
    MAX_LIMIT_TOKENS,
    MAX_LINES,
    MOST_BLOCKS,
    SECTIONS,
    Block,
    Place,
    Tier,
    as_block,
    checked_tier,
)
from memsvc.profiles.changes import Append, Change, Line, Replace, Set, changed, evidence_of, lines_of, text_of
from memsvc.profiles.filing import file_block
from memsvc.profiles.read import called, canonical_of, conversation_id
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import PASSAGE_TOKENS
from memsvc.text.storable import check_storable
from memsvc.text.tokens import estimate_tokens

WORKING_HOURS, MAX_WORKING_HOURS = 24.0, 8_760.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A change of a block, and how the block is kept."""

    change: Change | None = None
    """None: the text stays as it is."""
    kind: Tier | None = None
    """None: unchanged; for a new block: working in a conversation, archival about a node, else core."""
    expected_version: int | None = None
    """The version that was read; 0: the block must not exist yet; None: any version."""
    evidence: Sequence[UUID] = ()
    """Passages that support new lines, 20 at most."""
    limit_tokens: int | None = None
    """Highest length, 1 to 2,000; None: unchanged, 500 for a new block."""
    hours: float = WORKING_HOURS
    """Working memory: how long it is read, above 0, at most 8,760."""
    asserted_by: str = "user"
    """Who writes: user, app, or the name of a program."""
    passage_tokens: int = PASSAGE_TOKENS
    """Archive: the window into whose size its text is split, as in the settings for messages."""

    def check(self) -> None:
        """Check the values.

        Raises:
            InvalidRequestError: one is not valid; ``field`` names it.
        """
        valid_name(self.asserted_by, "asserted_by")
        for field in self.change.__struct_fields__ if self.change is not None else ():
            check_storable(getattr(self.change, field), field)
        if len(self.evidence) > MAX_EVIDENCE:
            raise InvalidRequestError(f"A change has at most {MAX_EVIDENCE} passages as evidence.", field="evidence")
        if self.limit_tokens is not None and not 1 <= self.limit_tokens <= MAX_LIMIT_TOKENS:
            raise InvalidRequestError(f"limit_tokens must be between 1 and {MAX_LIMIT_TOKENS:,}.", field="limit_tokens")
        if not 0 < self.hours <= MAX_WORKING_HOURS:
            raise InvalidRequestError(f"hours must be above 0 and at most {MAX_WORKING_HOURS:,.0f}.", field="hours")


async def write_block(
    db: Database,
    owner: Owner,
    name: str,
    text: str,
    *,
    kind: Tier | None = None,
    expected_version: int | None = None,
    evidence: Sequence[UUID] = (),
    conversation: str | None = None,
    node: UUID | None = None,
    limit_tokens: int | None = None,
    hours: float = WORKING_HOURS,
    asserted_by: str = "user",
    passage_tokens: int = PASSAGE_TOKENS,
) -> Block:
    """Set the whole text of a block; a block that does not exist is made.

    Unchanged lines keep their evidence. A write that changes nothing makes no version.

    Args:
        db: the database.
        owner: the user whose profile it is.
        name: lower-case letters, digits, _ and -, 60 at most; the first is a letter.
        text: up to 8,000 characters in 200 lines, within limit_tokens; may be empty.
        kind: core, working (needs conversation) or archival; None: unchanged; for a new block: working if a
            conversation is given, archival if a node is given, else core.
        expected_version: the version that was read; 0: the block must not exist yet; None: any version.
        evidence: passages that support new lines, 20 at most.
        conversation: the conversation whose working memory it is in, by id or identifier.
        node: the node that it describes; None: the user's own profile.
        limit_tokens: highest length, 1 to 2,000; None: unchanged, 500 for a new block.
        hours: working memory: how long it is read, above 0, at most 8,760.
        asserted_by: who writes: user, app, or the name of a program.
        passage_tokens: archive: the window into whose size its text is split, as in the settings for messages.

    Raises:
        ProfileConflictError: the block is not at expected_version; ``version`` is its current one.
        ProfileFullError: the tier has no room: too many blocks, or core blocks are too long together.
        TextTooLongError: the text is longer than the block's limit.
        ConversationUnknownError, NodeUnknownError, PassageUnknownError: the user has no such object.
        InvalidRequestError: a value is not valid.
    """
    wish = Wish(
        change=Set(text=text),
        kind=kind,
        expected_version=expected_version,
        evidence=evidence,
        limit_tokens=limit_tokens,
        hours=hours,
        asserted_by=asserted_by,
        passage_tokens=passage_tokens,
    )
    return await change_block(db, owner, Place(name, conversation, node), wish)


async def change_section(
    db: Database,
    owner: Owner,
    section: str,
    change: Change,
    *,
    expected_version: int | None = None,
    evidence: Sequence[UUID] = (),
    asserted_by: str = "user",
    passage_tokens: int = PASSAGE_TOKENS,
) -> Block:
    """Change fixed_traits, preferences or current_state; a section that does not exist is made.

    Raises:
        InvalidRequestError: there is no such section, or the text to replace does not occur exactly once.
        Others: as ``write_block``.
    """
    if section not in SECTIONS:
        raise InvalidRequestError(
            f"{section[:60]!r} is not a section of the profile.",
            hint=f"One of: {', '.join(SECTIONS)}.",
            field="section",
        )
    wish = Wish(
        change=change,
        expected_version=expected_version,
        evidence=evidence,
        asserted_by=asserted_by,
        passage_tokens=passage_tokens,
    )
    return await change_block(db, owner, Place(section), wish)


async def change_block(db: Database, owner: Owner, place: Place, wish: Wish) -> Block:
    """Apply any change to a block; a block that does not exist is made, unless the change replaces text.

    Raises:
        BlockUnknownError: the block does not exist, and the change needs its text. Others: as ``write_block``.
    """
    wish.check()
    return await _attempt(db, owner, place, wish)


def _admitted(change: Change | None, owner: Owner) -> Change | None:
    """Return a change with its new text as it may be stored under the owner's policy on secrets.

    Raises:
        TextRefusedError: it has a secret of a kind that is refused.
    """
    match change:
        case Replace():
            return msgspec.structs.replace(change, new=owner.policy.admit(change.new, "new"))
        case Append() | Set():
            return msgspec.structs.replace(change, text=owner.policy.admit(change.text, "text"))
    return change


async def _attempt(db: Database, owner: Owner, place: Place, wish: Wish, *, target: Place | None = None) -> Block:
    node_id = await canonical_of(db, owner, place)
    wish = replace(wish, change=_admitted(wish.change, owner))
    block = await db.attempt(
        owner.user_id, lambda connection: _Writing(connection, owner, place, node_id).do(wish, target=target)
    )
    db.notify(EVENTS)
    if block.kind == "archival":
        announce_jobs(db)
    return block


async def move(
    db: Database,
    owner: Owner,
    name: str,
    kind: Tier,
    *,
    conversation: str | None = None,
    node: UUID | None = None,
    expected_version: int | None = None,
    hours: float = WORKING_HOURS,
    asserted_by: str = "user",
    passage_tokens: int = PASSAGE_TOKENS,
) -> Block:
    """Move a block to another tier; it stays the same block, with its history.

    Args:
        db: the database.
        owner: the user whose profile it is.
        name: the block's name.
        kind: the tier to move it to.
        conversation: the conversation whose working memory it leaves, or enters if kind is working.
        node: the node that it describes.
        expected_version: as in ``write_block``.
        hours: as in ``write_block``.
        asserted_by: who moves it.
        passage_tokens: as in ``write_block``.

    Raises:
        BlockUnknownError: there is no such block.
        AlreadyExistsError: another block has its name in the new tier. Others: as ``write_block``.
    """
    origin = Place(name, None if kind == "working" else conversation, node)
    target = Place(name, conversation if kind == "working" else None, node)
    wish = Wish(
        kind=kind,
        expected_version=expected_version,
        hours=hours,
        asserted_by=asserted_by,
        passage_tokens=passage_tokens,
    )
    wish.check()
    return await _attempt(db, owner, origin, wish, target=target)


async def forget_block(
    db: Database,
    owner: Owner,
    name: str,
    *,
    requested_by: str,
    conversation: str | None = None,
    node: UUID | None = None,
) -> Receipt:
    """Erase a block permanently, with all its versions; passages that supported it stay.

    Raises:
        BlockUnknownError: there never was such a block. Others: as ``read_block``.
    """
    block_id = await _ever(db, owner, Place(name, conversation, node))
    return await erase(db, owner, "block", block_id, requested_by=requested_by)


async def preview_forgetting(
    db: Database, owner: Owner, name: str, *, conversation: str | None = None, node: UUID | None = None
) -> dict[str, int]:
    """Return what ``forget_block`` would remove, by table. Raises: as ``forget_block``."""
    return await preview(db, owner, "block", await _ever(db, owner, Place(name, conversation, node)))


async def _ever(db: Database, owner: Owner, place: Place) -> UUID:
    node_id = await canonical_of(db, owner, place)
    async with db.transaction(owner.user_id) as connection:
        row = await called(connection, owner, place, node_id)
    if row is None:
        raise BlockUnknownError(f"The profile has no block {place.name!r}.")
    found: UUID = row.block_id
    return found


@dataclass(frozen=True, slots=True)
class _Writing:
    """One change in one transaction."""

    connection: AsyncConnection
    owner: Owner
    place: Place
    node_id: UUID | None

    async def do(self, wish: Wish, *, target: Place | None = None) -> Block:
        """Change the block; ``target`` is its new address, if it moves."""
        await self._execute("profile_hold")
        row = await called(self.connection, self.owner, self.place, self.node_id)
        now = as_block(row) if row is not None and row.live else None
        if now is None and (wish.change is None or isinstance(wish.change, Replace)):
            raise BlockUnknownError(f"The profile has no block {self.place.name!r} now.")
        self._expect(wish, now)
        place = target or self.place
        lines = lines_of(now.text, now.evidence) if now is not None else []
        if wish.change is not None:
            lines = changed(lines, wish.change, wish.evidence)
        kind = checked_tier(wish.kind or (now.kind if now is not None else _tier_of(place)), place.conversation)
        limit = wish.limit_tokens or (now.limit_tokens if now is not None else LIMIT_TOKENS)
        if now is not None and kind != "working" and _same(now, lines, kind, limit):
            return now
        at = await self._at(place, row, kind)
        text = text_of(lines)
        tokens = _checked_length(place.name, text, len(lines), limit)
        since = (await self._execute("profile_close", block_id=at["block_id"])).scalar_one_or_none()
        await self._make_room(kind, tokens, at)
        made = await self._execute(
            "profile_insert", **at, since=since, block=place.name, text=text, tokens=tokens, token_limit=limit,
            asserted_by=valid_name(wish.asserted_by, "asserted_by"), lasts=timedelta(hours=wish.hours),
        )  # fmt: skip
        await self._rest(made.scalar_one(), lines)
        evicted = []
        if kind == "working":
            ended = await self._execute("profile_evict", source_id=at["source_id"], most=MOST_BLOCKS["working"])
            evicted = ended.scalars().all()
        written = await called(self.connection, self.owner, place, self.node_id)
        assert written is not None  # noqa: S101 - it was just written
        if "archival" in {kind, now.kind if now is not None else kind}:
            await file_block(self.connection, self.owner.user_id, written.block_id, wish.passage_tokens)
        await self._execute("profile_tell", blocks=[written.block_id, *evicted])
        return as_block(written)

    def _expect(self, wish: Wish, now: Block | None) -> None:
        version = 0 if now is None else now.version
        if wish.expected_version not in {None, version}:
            says = f"is at version {version}" if version else "does not exist"
            raise ProfileConflictError(
                f"{self.place.name} {says}; version {wish.expected_version} was expected.", version=version
            )

    async def _at(self, place: Place, row: Row[Any] | None, kind: Tier) -> dict[str, Any]:
        """Return the columns that place the next version in a tier, a conversation and a node."""
        if place != self.place:
            taken = await called(self.connection, self.owner, place, self.node_id)
            if taken is not None and taken.recorded_to is None:
                raise AlreadyExistsError(f"There is a block {place.name!r} already.", field="name")
        return {
            "kind": kind,
            "node_id": self.node_id if row is None else row.node_id,
            "source_id": await conversation_id(self.connection, self.owner, place.conversation),
            "block_id": None if row is None else row.block_id,
        }

    async def _make_room(self, kind: Tier, tokens: int, at: dict[str, Any]) -> None:
        room = (await self._execute("profile_room", **at)).one()
        of_node = at["node_id"] is not None
        most = MOST_BLOCKS["core" if of_node else kind]
        if room.blocks >= most and (of_node or kind != "working"):
            whose = "A node" if of_node else f"The tier {kind}"
            raise ProfileFullError(f"{whose} has {most} blocks at most.", blocks=room.blocks, field="kind")
        if kind == "core" and room.core_tokens + tokens > CORE_TOKENS:
            raise ProfileFullError(
                f"Core blocks would have {room.core_tokens + tokens:,} tokens together; {CORE_TOKENS:,} fit.",
                tokens=int(room.core_tokens) + tokens,
                limit_tokens=CORE_TOKENS,
            )

    async def _rest(self, version_id: UUID, lines: Sequence[Line]) -> None:
        supports = evidence_of(lines)
        if not supports:
            return
        evidence = msgspec.json.encode(supports).decode()
        stored = await self._execute("profile_rest", version_id=version_id, evidence=evidence)
        if stored.rowcount != len(supports):
            raise PassageUnknownError("A passage that was given as evidence does not exist.", field="evidence")

    async def _execute(self, name: str, **parameters: object) -> Any:
        return await self.connection.execute(query(name), {"user_id": self.owner.user_id, **parameters})


def _tier_of(place: Place) -> Tier:
    """Return the default tier of a new block."""
    if place.conversation is not None:
        return "working"
    return "core" if place.node is None else "archival"


def _same(now: Block, lines: Sequence[Line], kind: Tier, limit: int) -> bool:
    return (now.text, now.evidence, now.kind, now.limit_tokens) == (text_of(lines), evidence_of(lines), kind, limit)


def _checked_length(name: str, text: str, lines: int, limit: int) -> int:
    tokens = estimate_tokens(text)
    if tokens > limit:
        raise TextTooLongError(
            f"{name} would have {tokens:,} tokens; {limit:,} fit.",
            hint=f"Shorten it, or raise its limit_tokens (up to {MAX_LIMIT_TOKENS:,}).",
            tokens=tokens,
            limit_tokens=limit,
            field="text",
        )
    if len(text) > MAX_TEXT_CHARS or lines > MAX_LINES:
        raise TextTooLongError(
            f"{name} would have {len(text):,} characters in {lines} lines; {MAX_TEXT_CHARS:,} in {MAX_LINES} fit.",
            hint="Shorten it.",
            field="text",
        )
    return tokens
