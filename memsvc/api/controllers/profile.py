"""The profile: versioned blocks of text in three tiers, which an assistant edits itself."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, PathParameter, QueryParameter

from memsvc.api.callers import FORGETTER, READER, WRITER, Caller
from memsvc.api.controllers.erasures import BY, Preview, Previewed
from memsvc.api.parameters import CursorParameter, KnownAtParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page, read_number
from memsvc.erasing.memories import Receipt
from memsvc.profiles.blocks import LIMIT_TOKENS, MOST_WORKING, Block, Place, Profile, Tier
from memsvc.profiles.changes import Append, Change, Replace, Set
from memsvc.profiles.read import history, read_block, read_profile
from memsvc.profiles.write import WORKING_HOURS, Wish, change_block, forget_block, move, preview_forgetting
from memsvc.sources.moments import read_known_at

Name = Annotated[str, PathParameter(description="The name of the block, for example preferences.")]
Conversation = Annotated[
    str | None, QueryParameter(description="The conversation in whose working memory it is, by id or identifier.")
]
Node = Annotated[UUID | None, QueryParameter(description="The node that it describes. Default: the user.")]
MOST_VERSIONS = 2_147_483_647
Version = Annotated[int, msgspec.Meta(ge=0, le=MOST_VERSIONS)]
Passages = Annotated[list[UUID], msgspec.Meta(max_length=20)]
Hours = Annotated[float, msgspec.Meta(gt=0, le=8_760)]


class PlaceIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Selects a block, together with its name, and the version that was read."""

    conversation: str | None = None
    """The conversation in whose working memory it is, by id or identifier. Left out: none."""
    node: UUID | None = None
    """The person, project or other node that it describes. Left out: the user."""
    expected_version: Version | None = None
    """The version that was read. 0: the block must not exist yet. Left out: do not check."""

    def place(self, name: str) -> Place:
        """Return the place of the block in the profile."""
        return Place(name, self.conversation, self.node)


class BlockIn(PlaceIn, kw_only=True, forbid_unknown_fields=True):
    """The new content of a block."""

    text: str
    """Up to 8,000 characters, 200 lines and limit_tokens. May be empty."""
    kind: Tier | None = None
    """core, working (needs a conversation) or archival. Left out: unchanged. Default for a new block: working with a
    conversation, archival with a node, else core."""
    evidence: Passages = []
    """Passages that support its new lines."""
    limit_tokens: Annotated[int, msgspec.Meta(ge=1, le=2_000)] | None = None
    """The longest that it may be, in tokens. Left out: unchanged, or 500 for a new block."""
    hours: Hours = WORKING_HOURS
    """For working memory: how many hours it stays in use."""


class ChangeIn(PlaceIn, kw_only=True, forbid_unknown_fields=True):
    """A change of a block's text."""

    change: Append | Replace | Set
    """append: add lines. replace: replace a text that occurs exactly once. set: replace the whole text."""
    evidence: Passages = []
    """Passages that support the new lines."""
    hours: Hours = WORKING_HOURS
    """For working memory: how many hours it stays in use from now on."""


class PromotionIn(PlaceIn, kw_only=True, forbid_unknown_fields=True):
    """The block to move into core memory."""


class DemotionIn(PlaceIn, kw_only=True, forbid_unknown_fields=True):
    """The block to move, and its new tier. For working memory, conversation names the conversation."""

    kind: Literal["archival", "working"] = "archival"
    """Its new tier."""
    hours: Hours = WORKING_HOURS
    """For working memory: how many hours it stays in use."""


class ProfileController(Controller):
    """The profile."""

    path = "/profile"
    tags = ("profile",)

    @get(
        operation_id="readProfile",
        summary="Read the profile",
        description="Returns all blocks by tier: core memory, which is part of every context; working memory of "
        "conversations; archival memory. With a node: only the blocks that describe it. Without a conversation, "
        f"working memory has the newest {MOST_WORKING} blocks of all conversations, and `working_truncated` says "
        "whether older ones were left out.",
        response_description="The blocks.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def show(
        self,
        reader: NamedDependency[Caller],
        conversation: Annotated[
            str | None, QueryParameter(description="Return only this conversation's working memory, all of it.")
        ] = None,
        node: Annotated[UUID | None, QueryParameter(description="Only blocks that describe this node.")] = None,
        known_at: KnownAtParameter = None,
    ) -> Profile:
        """Read it."""
        then = read_known_at(known_at, reader.owner)
        return await read_profile(reader.db, reader.owner, conversation=conversation, node=node, known_at=then)

    @get(
        "/{name:str}",
        operation_id="readBlock",
        summary="Read a block",
        description="Returns a block's current text, the evidence of its lines, and the version to name in a change.",
        response_description="The block.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def read(
        self, reader: NamedDependency[Caller], name: Name, conversation: Conversation = None, node: Node = None
    ) -> Block:
        """Read it."""
        return await read_block(reader.db, reader.owner, name, conversation=conversation, node=node)

    @put(
        "/{name:str}",
        operation_id="writeBlock",
        summary="Write a block",
        description="Sets the whole text of a block, and creates the block if needed. The previous text stays in its "
        "history. If expected_version is not the current version, nothing is written, and the error profile_conflict "
        f"has the current one as version. A block may have {LIMIT_TOKENS} tokens unless it gets another limit, and all "
        "core blocks together 2,000.",
        response_description="The block.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def write(
        self,
        data: Annotated[
            BlockIn,
            BodyKwarg(
                examples=[
                    Example(summary="A section", value={"text": "Green tea, no sugar.", "expected_version": 0}),
                    Example(summary="An archival block", value={"text": "Plans of the boat.", "kind": "archival"}),
                ]
            ),
        ],
        writer: NamedDependency[Caller],
        name: Name,
    ) -> Block:
        """Write it."""
        return await self._change(writer, name, data, Set(text=data.text), kind=data.kind, limit=data.limit_tokens)

    @patch(
        "/{name:str}",
        operation_id="changeBlock",
        summary="Change a block",
        description="Appends to a block's text, replaces a part of it, or sets all of it. Unchanged lines keep their "
        "evidence. A reworded line without new evidence keeps the evidence of the old line.",
        response_description="The block.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def change(
        self,
        data: Annotated[
            ChangeIn,
            BodyKwarg(
                examples=[
                    Example(summary="Append", value={"change": {"op": "append", "text": "Oat milk in coffee."}}),
                    Example(summary="Set", value={"change": {"op": "set", "text": "In Porto until Friday."}}),
                ]
            ),
        ],
        writer: NamedDependency[Caller],
        name: Name,
    ) -> Block:
        """Change it."""
        return await self._change(writer, name, data, data.change)

    @staticmethod
    async def _change(
        writer: Caller,
        name: str,
        data: BlockIn | ChangeIn,
        change: Change,
        *,
        kind: Tier | None = None,
        limit: int | None = None,
    ) -> Block:
        wish = Wish(
            change=change,
            kind=kind,
            limit_tokens=limit,
            expected_version=data.expected_version,
            evidence=data.evidence,
            hours=data.hours,
            asserted_by=writer.asserted_by,
            passage_tokens=writer.settings.passage_tokens,
        )
        return await change_block(writer.db, writer.owner, data.place(name), wish)

    @get(
        "/{name:str}/history",
        operation_id="blockHistory",
        summary="Read a block's history",
        description="Lists all versions of a block, newest first, also if it has expired or was removed to make room.",
        response_description="One page of versions.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def history(
        self,
        *,
        reader: NamedDependency[Caller],
        name: Name,
        conversation: Conversation = None,
        node: Node = None,
        before: Annotated[
            int | None, QueryParameter(ge=1, le=MOST_VERSIONS, description="Only versions below this one.")
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Block]:
        """Read them."""
        versions = (before, read_number(cursor, MOST_VERSIONS))
        below = min((version for version in versions if version is not None), default=None)
        found = await history(
            reader.db, reader.owner, name, conversation=conversation, node=node, before=below, limit=limit
        )
        more = len(found) == limit and found[-1].version > 1
        return Page(items=found, next_cursor=str(found[-1].version) if more else None)

    @post(
        "/{name:str}/promote",
        status_code=200,
        operation_id="promoteBlock",
        summary="Promote a block",
        description="Moves a block into core memory, which is part of every context, from archival memory or, with a "
        "conversation, from its working memory. The block keeps its history.",
        response_description="The block.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def promote(
        self,
        data: Annotated[PromotionIn, BodyKwarg(examples=[Example(value={"expected_version": None})])],
        writer: NamedDependency[Caller],
        name: Name,
    ) -> Block:
        """Promote it."""
        return await self._move(writer, name, data, "core")

    @post(
        "/{name:str}/demote",
        status_code=200,
        operation_id="demoteBlock",
        summary="Demote a block",
        description="Moves a block out of core memory: into archival memory, where recall finds it, or into the "
        "working memory of a conversation, where it stays in use for some hours. With a conversation and the kind "
        "archival, it moves a block from working memory into archival memory.",
        response_description="The block.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def demote(
        self,
        data: Annotated[DemotionIn, BodyKwarg(examples=[Example(value={"kind": "archival"})])],
        writer: NamedDependency[Caller],
        name: Name,
    ) -> Block:
        """Demote it."""
        return await self._move(writer, name, data, data.kind, data.hours)

    @staticmethod
    async def _move(writer: Caller, name: str, data: PlaceIn, kind: Tier, hours: float = WORKING_HOURS) -> Block:
        return await move(
            writer.db,
            writer.owner,
            name,
            kind,
            conversation=data.conversation,
            node=data.node,
            expected_version=data.expected_version,
            hours=hours,
            asserted_by=writer.asserted_by,
            passage_tokens=writer.settings.passage_tokens,
        )

    @delete(
        "/{name:str}",
        status_code=200,
        operation_id="forgetBlock",
        summary="Forget a block",
        description="Erases a block for good, with all its versions. The messages that support it stay. To keep the "
        "block but remove it from contexts, demote it. Needs the scope forget.",
        response_description="The receipt of the erasure; with preview, the counts of what would be erased.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=FORGETTER,
    )
    async def forget(
        self,
        *,
        forgetter: NamedDependency[Caller],
        name: Name,
        conversation: Conversation = None,
        node: Node = None,
        preview: Previewed = False,
    ) -> Receipt | Preview:
        """Forget it."""
        db, owner = forgetter.db, forgetter.owner
        if preview:
            counts = await preview_forgetting(db, owner, name, conversation=conversation, node=node)
            return Preview(kind="block", counts=counts)
        return await forget_block(db, owner, name, conversation=conversation, node=node, requested_by=BY)
