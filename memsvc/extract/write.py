"""Writes what was found in a window: one transaction, all of it or nothing, together with how far the source was read.

In it, all who write facts of a user take turns (``memsvc.begin_reading``), so resolution sees what the others made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.errors import MemsvcError, PassageUnknownError
from memsvc.extract.compared_facts import KnownFact
from memsvc.extract.grounding import Grounded
from memsvc.extract.names import folded
from memsvc.extract.outcomes import note_window
from memsvc.extract.plan import KnownNode, Plan, Planner, Said, digest_of, mentions_of
from memsvc.extract.unread import Turns
from memsvc.extract.validation import Checked, Left
from memsvc.graph import history
from memsvc.graph.operations import Operation, Retract, Thread
from memsvc.identity import candidates, resolving
from memsvc.identity.mentions import Resolved

MOST_REVIEWS = 20
"""Facts under review of one passage."""
MOST_TRIES = 10
"""Facts of a window that the history may refuse one by one; then none of it is written."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an extractor found in a window, checked."""

    turns: Turns
    grounded: Grounded
    checked: Checked
    extractor: str
    backend: str


@dataclass(slots=True)
class Written:
    """What became of it."""

    plan: Plan
    left: list[Left] = field(default_factory=list)
    change: history.Change | None = None
    taken: history.Change | None = None
    """What took back what only others had found."""

    @property
    def facts(self) -> int:
        """How many facts were written, or had been known."""
        return sum(fate != "superseded" for fate in self.plan.fates.values())


async def write_window(connection: AsyncConnection, owner: Owner, source_id: UUID, found: Found) -> Written | None:
    """Write a window in the caller's transaction, which does nothing else before.

    Returns:
        What was written; None: somebody else was faster, or some of the turns were erased meanwhile, so they are to be
        read again.
    """
    about: dict[str, Any] = {"user_id": owner.user_id, "source_id": source_id, "extractor": found.extractor}
    begun = await connection.execute(query("begin_reading"), {**about, "backend": found.backend})
    place, passages = begun.scalar_one(), found.turns.passages
    if found.turns.again:
        asked = {"user_id": owner.user_id, "passage_id": passages[0]}
        left = await connection.execute(query("passed_over_by"), asked)
        if found.extractor not in {row.extractor for row in left}:
            return None
    elif found.turns.rereading is not None:
        asked = {**about, "rereading_id": found.turns.rereading}
        if (await connection.execute(query("reread_place"), asked)).scalar_one_or_none() != found.turns.upto:
            return None
    elif place != found.turns.upto:
        return None
    needed = [*found.turns.over, *passages]
    there = await connection.execute(query("turns_there"), {"user_id": owner.user_id, "passages": needed})
    if there.scalar_one() != len(needed):
        return None
    written = await write_facts(connection, owner, source_id, found, asserted_by=found.extractor)
    await _keep_signs(connection, owner, found)
    await keep_reviews(connection, owner, found.extractor, written.left)
    written.taken = await _take_back(connection, owner, source_id, found, written.change)
    await _end(connection, about, found.turns, written.facts, len(written.left) + found.checked.dropped)
    if found.turns.rereading is not None:
        changes = [change.change_id for change in (written.change, written.taken) if change is not None]
        await note_window(connection, owner, found.turns, found.extractor, changes)
    return written


async def _end(connection: AsyncConnection, about: dict[str, Any], turns: Turns, facts: int, refused: int) -> None:
    """Note how far the source was read, and what was passed over on the way."""
    counts = {**about, "facts": facts, "refused": refused}
    [*_, last] = turns.passages
    if turns.again:
        await connection.execute(query("end_reading_again"), {**counts, "passage_id": last})
        return
    if turns.over:
        await connection.execute(query("pass_over"), {**about, "over": list(turns.over)})
    end = "end_reading" if turns.rereading is None else "end_rereading_window"
    await connection.execute(query(end), {**counts, "upto": last, "turns": len(turns.turns)})


async def write_facts(
    connection: AsyncConnection, owner: Owner, source_id: UUID | None, found: Found, *, asserted_by: str
) -> Written:
    """Resolve mentions and write facts, names and nodes; those that the history refuses are left, with a reason."""
    planner = await prepare(connection, owner, source_id, found)
    known = await compared_with(connection, owner, source_id, found, planner)
    rejected = await _rejected(connection, owner, found.turns.passages)
    retracted = await _retracted(connection, owner, found.turns.passages)
    bad: dict[int, str] = {}
    for _ in range(MOST_TRIES):
        plan = planner.plan(known, rejected, bad, retracted)
        try:
            change = await _write(connection, owner, plan.operations, asserted_by)
        except PassageUnknownError:
            raise
        except MemsvcError as error:
            place = plan.of_fact[error.details["row"]] if "row" in error.details else None
            if place is None:
                break
            bad[place] = "unwritable"
        else:
            if plan.suspicions:
                await candidates.note(connection, owner, plan.suspicions, found_by=asserted_by)
            return Written(plan, [*found.checked.left, *plan.left], change)
    everything = dict.fromkeys(range(len(found.checked.facts)), "unwritable")
    plan = Planner(found.grounded.window, found.checked, [], {}).plan([], rejected, everything)
    return Written(plan, [*found.checked.left, *plan.left])


async def prepare(connection: AsyncConnection, owner: Owner, source_id: UUID | None, found: Found) -> Planner:
    """Resolve what the facts speak of; nothing is written."""
    window = found.grounded.window
    mentions = mentions_of(window, found.checked)
    resolved = await resolving.resolve(
        connection, owner, mentions, source_id=source_id, near=found.grounded.near
    ) if mentions else []  # fmt: skip
    return Planner(window, found.checked, resolved, await known_nodes(connection, owner, resolved))


async def known_nodes(connection: AsyncConnection, owner: Owner, resolved: Sequence[Resolved]) -> dict[UUID, KnownNode]:
    """Nodes that mentions resolved to, by their own id and that of the one that stands for them."""
    nodes = [one.node_id for one in resolved if one.node_id is not None]
    if not nodes:
        return {}
    rows = await connection.execute(query("nodes_as_known"), {"user_id": owner.user_id, "nodes": nodes})
    known = [msgspec.convert(dict(row), KnownNode) for row in rows.mappings()]
    return {node_id: node for node in known for node_id in (node.stored_id, node.node_id)}


async def compared_with(
    connection: AsyncConnection, owner: Owner, source_id: UUID | None, found: Found, planner: Planner
) -> list[KnownFact]:
    """Known facts that the new ones meet."""
    asked = planner.ends()
    if not asked:
        return []
    values = {
        "user_id": owner.user_id, "source_id": source_id, "extractor": found.extractor,
        "from_nodes": [one[0] for one in asked], "types": [one[1] for one in asked],
        "to_nodes": [one[2] for one in asked], "passages": found.turns.passages,
    }  # fmt: skip
    rows = await connection.execute(query("facts_to_compare"), values)
    return [msgspec.convert(dict(row), KnownFact) for row in rows.mappings()]


async def _rejected(connection: AsyncConnection, owner: Owner, passages: Sequence[UUID]) -> set[tuple[UUID, str]]:
    values = {"user_id": owner.user_id, "passages": passages}
    return {(row.passage_id, row.digest) for row in await connection.execute(query("rejected_facts"), values)}


async def _retracted(connection: AsyncConnection, owner: Owner, passages: Sequence[UUID]) -> set[Said]:
    rows = await connection.execute(query("retracted_facts"), {"user_id": owner.user_id, "passages": passages})
    return {
        (row.passage_id, start, row.type, end)
        for row in rows
        for start in (row.from_node, *map(folded, row.from_names))
        for end in (row.to_node, *map(folded, row.to_names))
    }


async def _write(
    connection: AsyncConnection, owner: Owner, operations: Sequence[Operation], asserted_by: str
) -> history.Change | None:
    if not operations:
        return None
    async with connection.begin_nested():
        return await history.write_in(connection, owner, operations, asserted_by=asserted_by)


async def _keep_signs(connection: AsyncConnection, owner: Owner, found: Found) -> None:
    signs = [
        {
            "memory_id": found.grounded.window.turns[sign.turn].passage_id,
            "importance": sign.importance,
            "sentiment": sign.sentiment,
        }
        for sign in found.checked.signs
    ]
    if signs:
        values = {"user_id": owner.user_id, "signs": msgspec.json.encode(signs).decode()}
        await connection.execute(query("keep_signs"), values)


async def keep_reviews(connection: AsyncConnection, owner: Owner, extractor: str, left: Sequence[Left]) -> None:
    """Keep facts that are not written; doubtful ones first, for there is a limit."""
    rows: dict[tuple[UUID, str], dict[str, Any]] = {}
    places: dict[UUID, int] = {}
    for one in sorted(left, key=lambda kept: kept.reason != "doubtful"):
        digest = digest_of(one.proposal.subject.name, one.proposal.type, one.proposal.object.name)
        passage = one.turn.passage_id
        if (passage, digest) in rows:
            continue
        place = places[passage] = places.get(passage, -1) + 1
        rows[passage, digest] = {
            "passage_id": passage, "digest": digest, "reason": one.reason, "place": place,
            "state": "doubtful" if one.reason == "doubtful" else "refused", "proposal": one.proposal,
            "span_from": one.span[0] if one.span else None, "span_to": one.span[1] if one.span else None,
        }  # fmt: skip
    if rows:
        values = {
            "user_id": owner.user_id, "extractor": extractor, "most": MOST_REVIEWS,
            "reviews": msgspec.json.encode(list(rows.values())).decode(),
        }  # fmt: skip
        await connection.execute(query("keep_reviews"), values)


async def _take_back(
    connection: AsyncConnection, owner: Owner, source_id: UUID, found: Found, change: history.Change | None
) -> history.Change | None:
    """Take back what only extractors found that read the same turns before; in a re-reading, only older versions."""
    about = {
        "user_id": owner.user_id, "source_id": source_id, "extractor": found.extractor, "backend": found.backend,
    }  # fmt: skip
    before = "read_by_others" if found.turns.rereading is None else "older_readers"
    others = (await connection.execute(query(before), about)).scalars().all()
    if not others:
        return None
    passages = found.turns.passages
    about = {**about, "others": others, "passages": passages}
    if change is not None:
        versions = [version for result in change.results for version in result.versions]
        values = {**about, "versions": versions, "recorded_at": change.recorded_at}
        await connection.execute(query("read_again"), values)
    rows = (await connection.execute(query("found_by_others_alone"), {**about, "upto": passages[-1]})).all()
    taken = [
        Retract(
            thread=Thread(edge=row.edge_id, node=row.node_id, alias=row.alias),
            valid_from=row.valid_from,
            valid_to=row.valid_to,
        )
        for row in rows
    ]
    if not taken:
        return None
    return await history.write_in(connection, owner, taken, asserted_by=found.extractor)
