"""What differs between two moments, on one of two axes.

known: what memsvc learnt between them. What was learnt and taken back in between does not show here, but in the list of
changes.
valid: what began and ended in the world between them, as memsvc knows it now (or knew it at ``known_at``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.db.paging import Moment, check_page, read_cursor, write_cursor
from memsvc.errors import InvalidIntervalError, InvalidRequestError, InvalidTimeError
from memsvc.graph.read import Kind
from memsvc.graph.search import glance

Axis = Literal["known", "valid"]
HowChanged = Literal["added", "ended", "corrected", "retracted", "began", "changed", "passed"]
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a version, name or merge."""

    id: UUID
    content: dict[str, Any]
    valid_from: datetime | None
    """None: no known start; counts as always."""
    valid_to: datetime | None
    """None: still true."""
    recorded_from: datetime
    recorded_to: datetime | None
    asserted_by: str


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """The two nodes of an edge."""

    from_node: UUID
    """The canonical node of its start, now."""
    from_label: str | None
    type: str
    to_node: UUID
    to_label: str | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One difference: in a node's properties, a name, an edge, or the node into which a node is merged."""

    kind: Kind
    change: HowChanged
    """known: added, ended (it is true for a shorter time), corrected (its content changed), retracted (it is not
    considered true any more; for merges: undone). valid: began, ended, changed, passed (it began and ended between)."""
    at: datetime
    """When it changed last: a recorded time on the axis known, a valid time on the axis valid."""
    subject: UUID
    """The node or edge."""
    label: str | None
    """The node's label; None for edges."""
    edge: Ends | None
    """Only for edges."""
    before: list[Said]
    after: list[Said]
    between: list[Said]
    """Axis valid: versions that began and ended between the two moments."""


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """One page of differences, newest first."""

    axis: Axis
    since: datetime
    until: datetime
    known_at: datetime | None
    """Axis valid: recorded time; None: now."""
    items: list[Difference]
    next_cursor: str | None
    """Send it as ``cursor`` to get the next page; None: this is the last page."""


async def diff(
    db: Database,
    owner: Owner,
    since: datetime,
    until: datetime | None = None,
    *,
    axis: Axis = "known",
    known_at: datetime | None = None,
    kinds: Sequence[Kind] | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Diff:
    """Return what differs between ``since`` and ``until`` (None: now).

    Args:
        db: the database.
        owner: the user whose graph is read.
        since: the first moment.
        until: the second moment, included.
        axis: known or valid.
        known_at: recorded time, only on the axis valid.
        kinds: only these kinds.
        cursor: ``next_cursor`` of the previous page; it keeps ``until``.
        limit: page size, 1 to 1,000; a page can be shorter, because what returned to its former state is left out.

    Raises:
        InvalidIntervalError: ``until`` is earlier than ``since``.
        InvalidRequestError, InvalidTimeError: another value is not valid.
    """
    check_page(limit)
    for field, moment in (("from", since), ("to", until), ("known_at", known_at)):
        if moment is not None and moment.utcoffset() is None:
            raise InvalidTimeError(f"{field} has no offset.", field=field)
    if axis == "known" and known_at is not None:
        raise InvalidRequestError(
            "On the axis known both moments are recorded times.", hint="Leave known_at out.", field="known_at"
        )
    after: dict[str, Any] = dict.fromkeys(("after_at", "after_kind", "after_subject", "after_form"))
    if cursor is not None:
        at, kind, subject, form, until = read_cursor(cursor, tuple[Moment, Kind, UUID, str, Moment])
        after = {"after_at": at, "after_kind": kind, "after_subject": subject, "after_form": form}
    async with db.transaction(owner.user_id) as connection:
        last: datetime = until or (await connection.execute(query("moment"), {"user_id": owner.user_id})).scalar_one()
        if last < since:
            raise InvalidIntervalError(field="to")
        parameters = {
            "user_id": owner.user_id,
            "axis": axis,
            "from_": since,
            "to_": last,
            "known_at": known_at,
            "kinds": list(kinds) if kinds else None,
            "limit": limit + 1,
            **after,
        }
        rows = (await connection.execute(query("graph_diff"), parameters)).all()
        items = await _differences(connection, owner, rows[:limit], axis)
    following = None
    if len(rows) > limit:
        row = rows[limit - 1]
        following = write_cursor((row.at, row.kind, row.subject, row.form, last))
    return Diff(axis=axis, since=since, until=last, known_at=known_at, items=items, next_cursor=following)


async def _differences(
    connection: AsyncConnection, owner: Owner, rows: Sequence[Row[Any]], axis: Axis
) -> list[Difference]:
    wanted = [(row.kind, one) for row in rows for one in (*row.before, *row.after, *row.between_them)]
    parameters = {
        "user_id": owner.user_id,
        "kinds": [kind for kind, _ in wanted],
        "ids": [one for _, one in wanted],
    }
    shown = {row.id: row for row in await connection.execute(query("versions_shown"), parameters)}
    nodes = [row.subject for row in rows if row.kind != "edge"]
    nodes += [end for row in shown.values() if row.kind == "edge" for end in (row.from_node, row.to_node)]
    seen = await glance(connection, owner, nodes)
    found = []
    for row in rows:
        before, after, between = (
            [_said(shown[one]) for one in ids] for ids in (row.before, row.after, row.between_them)
        )
        how = _judge_known(row.kind, before, after) if axis == "known" else _judge_valid(before, after, between)
        if how is None:
            continue
        one = shown[(*row.before, *row.after, *row.between_them)[0]]
        ends = None
        if row.kind == "edge":
            start, end = seen[one.from_node], seen[one.to_node]
            ends = Ends(
                from_node=start.node_id,
                from_label=start.label,
                type=one.type,
                to_node=end.node_id,
                to_label=end.label,
            )
        found.append(
            Difference(
                kind=row.kind,
                change=how,
                at=row.at,
                subject=row.subject,
                label=None if row.kind == "edge" else seen[row.subject].label,
                edge=ends,
                before=before,
                after=after,
                between=between,
            )
        )
    return found


def _said(row: Row[Any]) -> Said:
    content = row.content | ({"canonical_id": str(row.to_node)} if row.kind == "merge" else {})
    return Said(
        id=row.id,
        content=content,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        recorded_from=row.recorded_from,
        recorded_to=row.recorded_to,
        asserted_by=row.asserted_by,
    )


Piece = tuple[datetime, datetime, dict[str, Any]]


def _pieces(said: Sequence[Said]) -> list[Piece]:
    """Return the contents with their spans of valid time; adjacent spans with the same content become one."""
    pieces: list[Piece] = []
    for one in said:
        begin, end = one.valid_from or EARLIEST, one.valid_to or LATEST
        if pieces and pieces[-1][1] == begin and pieces[-1][2] == one.content:
            pieces[-1] = (pieces[-1][0], end, one.content)
        else:
            pieces.append((begin, end, one.content))
    return pieces


def _judge_known(kind: Kind, before: Sequence[Said], after: Sequence[Said]) -> HowChanged | None:
    """Classify how our knowledge of a thread changed; None: it did not."""
    old, new = _pieces(before), _pieces(after)
    if old == new:
        return None
    if not old:
        return "added"
    if not new:
        return "retracted"
    within = all(
        any(content == said and begin <= start and stop <= end for begin, end, said in old)
        for start, stop, content in new
    )
    if kind != "merge" and within and new[0][0] == old[0][0] and new[-1][1] < old[-1][1]:
        return "ended"
    return "corrected"


def _judge_valid(before: Sequence[Said], after: Sequence[Said], between: Sequence[Said]) -> HowChanged | None:
    """Classify how a thread changed in the world; None: it did not."""
    if not before and not after:
        return "passed" if between else None
    if not before:
        return "began"
    if not after:
        return "ended"
    same = all(one.content == before[0].content for one in (*before, *between, *after))
    return None if same and len(_pieces([*before, *between, *after])) == 1 else "changed"
