"""The tool that lists what falls into a span of time."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memsvc.access.users import Owner
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.tool import Answer, Quoting, Tool
from memsvc.recall.agenda import agenda as find_agenda
from memsvc.recall.agenda import when
from memsvc.recall.dated import without_dates
from memsvc.sources.moments import need_moment, read_asked_at
from memsvc.text.characters import flat
from memsvc.text.fence import fenced

Moment = Annotated[str, Meta(max_length=60)]
WHAT_CHARS = 300
"""The most characters of a message; its id opens the rest."""


class AgendaArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A span of time."""

    begin: Annotated[Moment, Meta(description="ISO 8601.")]
    end: Moment
    asked_at: Annotated[Moment, Meta(description="If not now: ISO 8601 with offset.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 30
    cursor: Annotated[str, Meta(max_length=300, description="next_cursor of the last page.")] | None = None


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """An item."""

    id: str
    kind: Literal["message", "fact", "task", "event", "yearly"]
    what: str
    when: str
    begins: str
    past: bool
    remark: str


class Agenda(Quoting, frozen=True, kw_only=True):
    """What falls into the span."""

    items: list[Due]
    next_cursor: str | None
    truncated: bool


async def agenda(asker: Asker, owner: Owner, given: AgendaArguments) -> Answer:
    """List it."""
    page = await find_agenda(
        asker.db,
        owner,
        need_moment(given.begin, owner, "begin"),
        need_moment(given.end, owner, "end"),
        asked_at=read_asked_at(given.asked_at),
        limit=given.limit,
        cursor=given.cursor,
    )
    items = [
        Due(
            id=item.id,
            kind=item.kind,
            what=without_dates(flat(item.what))[:WHAT_CHARS],
            when=when(item),
            begins=item.begins.isoformat(timespec="minutes"),
            past=item.past,
            remark=item.remark,
        )
        for item in page.items
    ]
    lines = [
        f"[{item.id}] {item.when}, {item.kind}: “{item.what}”{f' ({item.remark})' if item.remark else ''}"
        for item in items
    ] or ["Nothing falls into it."]
    if page.truncated:
        lines.append("There was too much to look at: something may be missing. Ask for a shorter span.")
    return Answer(fenced("\n".join(lines)), Agenda(items=items, next_cursor=page.next_cursor, truncated=page.truncated))


TOOLS = (
    Tool(
        name="agenda",
        description="Reminders, appointments, tasks, events and birthdays within a span of time.",
        scope="read",
        given=AgendaArguments,
        unlisted=frozenset({"asked_at", "limit", "cursor"}),
        run=agenda,
    ),
)
