"""What sleep proposes and a person decides: links, names, splits, new and outdated lines of core memory.

The table is ``memsvc.proposals``: ids and numbers, no text. What was rejected, or whose run was undone, is never
proposed again. Pairs that may be the same have a door of their own (``memsvc.identity.review``), and so do doubtful
facts (``memsvc.extract.review``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, valid_name
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Page, Share, check_page, read_cursor, write_cursor
from memsvc.errors import ProposalDecidedError, ProposalUnknownError
from memsvc.graph import read
from memsvc.graph.history import write_in
from memsvc.graph.operations import Alias, Edge, Evidence
from memsvc.identity.splitting import split_in
from memsvc.profiles.blocks import Block
from memsvc.sleep.outdated import renew_line
from memsvc.sleep.tasks import Applied
from memsvc.sources.promoting import promote_memory

Kind = Literal["link", "alias", "split", "core", "outdated"]
State = Literal["open", "accepted", "rejected", "withdrawn"]
MOST_OPEN: Mapping[Kind, int] = {"link": 20, "alias": 20, "split": 5, "core": 5, "outdated": 10}
"""Most proposals of a kind that wait at a time: a person is asked no more at once."""
RELATED = "RELATED_TO"
"""The type of links that are accepted."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Something that sleep proposes."""

    kind: Kind
    key: UUID
    """With kind and node it says what is proposed."""
    score: float
    """From 0 to 1."""
    evidence: Mapping[str, float]
    """Why; only numbers."""
    node_id: UUID | None = None
    """Of a link, the smaller id."""
    other_id: UUID | None = None
    passage_id: UUID | None = None
    version_id: UUID | None = None
    span_from: int | None = None
    span_to: int | None = None
    sources: Sequence[UUID] = ()
    text: tuple[str, str] = ("", "")
    """For a dry run, in words: the node, and the other one, the name or the line. Not stored."""


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """Something that sleep proposes and a person decides."""

    proposal_id: UUID
    kind: Kind
    """link: two nodes belong together; alias: a node is called so, too; split: a node is two; core: a line of core
    memory; outdated: such a line that a later fact ended or contradicts."""
    node_id: UUID | None
    """The node that it is about; None: core, outdated."""
    label: str | None
    other_id: UUID | None
    """Of a link: the other node."""
    other_label: str | None
    text: str | None
    """Of an alias the name; of a line of core memory what the memory says; of an outdated line what stands there, None
    if it does not stand there any more."""
    instead: str | None
    """Of an outdated line: what takes its place; None: nothing does, the line goes."""
    block: str | None
    """Of an outdated line: the block of the profile that has it."""
    passage_id: UUID | None
    """The message that has the name or says the line."""
    version_id: UUID | None
    """The fact that is to be a line, or that ended or is contested."""
    sources: list[UUID]
    """Of a split: the conversations and files that speak of the other one."""
    score: float
    """How likely it is right, 0 to 1, when it was found."""
    evidence: Mapping[str, float]
    """Why, in numbers by comparison."""
    found_at: datetime
    state: State
    """open; accepted; rejected; withdrawn: its run was undone."""
    decided_at: datetime | None
    decided_by: str | None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The decision on a proposal."""

    proposal_id: UUID
    state: State
    change_id: UUID | None = None
    """The change of the graph that accepting it made; undoing it takes it back. None: nothing was changed there."""
    block: str | None = None
    """The block of the profile that accepting it changed."""
    block_version: int | None = None
    """The block's version since; the one before, in its history, has the text as it was."""


async def known_keys(connection: AsyncConnection, owner: Owner, kind: Kind) -> set[tuple[UUID | None, UUID]]:
    """Return what was ever proposed of a kind: nodes and keys."""
    rows = await connection.execute(query("proposal_keys"), {"user_id": owner.user_id, "kind": kind})
    return {(row.node_id, row.key) for row in rows}


async def note(connection: AsyncConnection, owner: Owner, found: Sequence[Found]) -> Applied:
    """Store proposals in the caller's transaction, the first ones first, as far as few enough of their kind wait."""
    fresh = 0
    for kind, most in MOST_OPEN.items():
        some = [one for one in found if one.kind == kind]
        if not some:
            continue
        rows = [{name: getattr(one, name) for name in one.__struct_fields__ if name != "text"} for one in some]
        values = {
            "user_id": owner.user_id, "kind": kind, "found": msgspec.json.encode(rows).decode(), "most": most,
        }  # fmt: skip
        fresh += (await connection.execute(query("note_proposals"), values)).scalar_one()
    return Applied(proposed=fresh)


async def withdraw(connection: AsyncConnection, owner: Owner, run_id: UUID) -> int:
    """Take back the proposals of a run that still wait; return how many."""
    values = {"user_id": owner.user_id, "run_id": run_id}
    return len((await connection.execute(query("withdraw_proposals"), values)).all())


async def proposals(
    db: Database,
    owner: Owner,
    *,
    state: State = "open",
    kind: Kind | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Proposed]:
    """Return proposals in a state, the most likely first.

    Raises:
        InvalidRequestError: the cursor or the limit is not valid.
    """
    check_page(limit)
    after = read_cursor(cursor, tuple[Share, UUID]) if cursor is not None else (None, None)
    values = {
        "user_id": owner.user_id, "state": state, "kind": kind, "after_score": after[0], "after_id": after[1],
        "limit": limit + 1,
    }  # fmt: skip
    async with db.transaction(owner.user_id) as connection:
        rows = (await connection.execute(query("proposals_page"), values)).all()
    shown = rows[:limit]
    last = shown[-1] if len(rows) > limit else None
    return Page(
        items=[_proposed(row) for row in shown],
        next_cursor=write_cursor((last.score, last.proposal_id)) if last is not None else None,
    )


def _proposed(row: Row[Any]) -> Proposed:
    values = {name: getattr(row, name) for name in Proposed.__struct_fields__}
    return Proposed(**values | {"evidence": msgspec.json.decode(row.evidence, type=dict[str, float])})


async def accept(db: Database, owner: Owner, proposal_id: UUID, *, by: str = "user") -> Decision:
    """Do what is proposed. Accepting it again changes nothing.

    Raises:
        ProposalUnknownError: there is no such proposal.
        ProposalDecidedError: it was rejected or withdrawn, the two nodes of a link are one by now, or an outdated line
            does not stand there any more.
        ProfileConflictError: somebody changed the block of an outdated line at the same moment.
        NothingToSplitError: the node of a split does not consist of two any more.
        ProfileFullError: core memory has no room.
    """
    actor = valid_name(by, "by")
    async with db.transaction(owner.user_id) as connection:
        row = await _held(connection, owner, proposal_id)
    block: Block | None = None
    if row.kind == "core" and row.state == "open":  # a line that stands there already is not added again
        block = await promote_memory(db, owner, str(row.version_id or row.passage_id), asserted_by=actor)
    elif row.kind == "outdated" and row.state == "open":
        block = await renew_line(db, owner, row.key, asserted_by=actor)

    async def work(connection: AsyncConnection) -> Decision:
        held = await _held(connection, owner, proposal_id)
        if held.state in {"rejected", "withdrawn"}:
            raise ProposalDecidedError(f"This proposal was {held.state}.")
        change_id = None
        if held.state == "open":
            change_id = await _do(connection, owner, held, actor)
            await _decide(connection, owner, proposal_id, "accepted", actor)
        return Decision(
            proposal_id=proposal_id, state="accepted", change_id=change_id, block=block.name if block else None,
            block_version=block.version if block else None,
        )  # fmt: skip

    return await db.attempt(owner.user_id, work)


async def reject(db: Database, owner: Owner, proposal_id: UUID, *, by: str = "user") -> Decision:
    """Reject a proposal: it is never made again. Rejecting it again changes nothing.

    Raises:
        ProposalUnknownError: there is no such proposal.
        ProposalDecidedError: it was accepted.
    """
    actor = valid_name(by, "by")

    async def work(connection: AsyncConnection) -> Decision:
        held = await _held(connection, owner, proposal_id)
        if held.state == "accepted":
            raise ProposalDecidedError("This proposal was accepted.", hint="Undo the change that it made.")
        if held.state != "rejected":
            await _decide(connection, owner, proposal_id, "rejected", actor)
        return Decision(proposal_id=proposal_id, state="rejected")

    return await db.attempt(owner.user_id, work)


async def reopen(db: Database, owner: Owner, proposal_id: UUID) -> Decision:
    """Let a decided proposal wait again. What was done stays: undo its change. Repeating it changes nothing.

    Raises:
        ProposalUnknownError: there is no such proposal.
        ProposalDecidedError: it was withdrawn with its run.
    """

    async def work(connection: AsyncConnection) -> Decision:
        held = await _held(connection, owner, proposal_id)
        if held.state == "withdrawn":
            raise ProposalDecidedError("This proposal was withdrawn.", hint="Its run was undone.")
        await connection.execute(query("reopen_proposal"), {"user_id": owner.user_id, "proposal_id": proposal_id})
        return Decision(proposal_id=proposal_id, state="open")

    return await db.attempt(owner.user_id, work)


async def _held(connection: AsyncConnection, owner: Owner, proposal_id: UUID) -> Row[Any]:
    """Return the proposal, locked until the transaction ends."""
    values = {"user_id": owner.user_id, "proposal_id": proposal_id}
    row = (await connection.execute(query("hold_proposal"), values)).one_or_none()
    if row is None:
        raise ProposalUnknownError
    return row


async def _decide(connection: AsyncConnection, owner: Owner, proposal_id: UUID, state: State, actor: str) -> None:
    values = {"user_id": owner.user_id, "proposal_id": proposal_id, "state": state, "decided_by": actor}
    await connection.execute(query("decide_proposal"), values)


async def _do(connection: AsyncConnection, owner: Owner, held: Row[Any], actor: str) -> UUID | None:
    """Change the graph as is proposed; return the change."""
    match held.kind:
        case "link":
            values = {"user_id": owner.user_id, "nodes": [held.node_id, held.other_id], "known_at": None}
            cards = {
                row.canonical_id: row.label
                for row in await connection.execute(query("node_cards"), values | {"as_of": None})
            }
            if len(cards) < 2:  # noqa: PLR2004 - its ends
                raise ProposalDecidedError("The two are one node now.")
            (one, label), (other, other_label) = sorted(cards.items())
            fact = f"{label or one} is related to {other_label or other}."
            operation = Edge(from_node=one, type=RELATED, to_node=other, fact=fact)
            return (await write_in(connection, owner, [operation], asserted_by=actor)).change_id
        case "alias":
            span = (held.span_from, held.span_to)
            values = {
                "user_id": owner.user_id, "passage_id": held.passage_id, "span_from": span[0], "span_to": span[1],
            }  # fmt: skip
            name = (await connection.execute(query("name_in_passage"), values)).scalar_one()
            alias = Alias(node=held.node_id, alias=name, evidence=[Evidence(passage_id=held.passage_id, span=span)])
            return (await write_in(connection, owner, [alias], asserted_by=actor)).change_id
        case "split":
            return (await split_in(connection, owner, held.node_id, frozenset(held.sources), by=actor)).change_id
        case _:
            return None


async def labels_of(db: Database, owner: Owner, nodes: Sequence[UUID]) -> dict[UUID, str]:
    """Return what nodes are called, for a dry run; a node without a name is called by its id."""
    cards = await read.cards(db, owner, nodes)
    return {node: cards[node].label or str(node) if node in cards else str(node) for node in nodes}
