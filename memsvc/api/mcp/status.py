"""The tool that reports the state of a memory: whose it is, how much it holds, and which work is pending."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from memsvc.access.users import Owner, valid_zone
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.tool import Answer, Quoting, Tool
from memsvc.graph.overview import stats
from memsvc.queue.jobs import list_jobs
from memsvc.recall.times_in_words import day, on_clock_of
from memsvc.sources.read import list_conversations
from memsvc.text.characters import flat
from memsvc.text.fence import fenced

CONVERSATIONS = 5
MOST_JOBS = 100
"""More are not counted."""


class StatusArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """No arguments."""


class ConversationNow(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation."""

    conversation: str
    messages: int


class Status(Quoting, frozen=True, kw_only=True):
    """The state of the user's memory."""

    user: str
    today: str
    time_zone: str
    scopes: list[str]
    """What you may do: read, write or forget."""
    nodes: int
    facts: int
    conversations: list[ConversationNow]
    """The five newest."""
    jobs_pending: int
    """Waiting background jobs, counted up to 100. Stored text can be recalled before they run."""
    jobs_failed: int
    meaning: bool
    """True: recall also compares meanings; false: words, names and times only."""


async def memory_status(asker: Asker, owner: Owner, given: StatusArguments) -> Answer:
    """Count what the memory holds."""
    del given
    sizes = await stats(asker.db, owner)
    newest = await list_conversations(asker.db, owner, limit=CONVERSATIONS)
    pending = await list_jobs(asker.db, owner.user_id, state="pending", limit=MOST_JOBS)
    failed = await list_jobs(asker.db, owner.user_id, state="failed", limit=MOST_JOBS)
    now = on_clock_of(datetime.now(UTC), valid_zone(owner.time_zone))
    status = Status(
        user=owner.name,
        today=f"{now:%A}, {day(now)}, {now:%H:%M}",
        time_zone=owner.time_zone,
        scopes=sorted(asker.principal.scopes),
        nodes=sizes.nodes,
        facts=sizes.facts,
        conversations=[ConversationNow(conversation=one.identifier, messages=one.messages) for one in newest.items],
        jobs_pending=len(pending),
        jobs_failed=len(failed),
        meaning=asker.embedder is not None,
    )
    lines = [
        flat(f"user: {status.user}; it is {status.today} ({status.time_zone})"),
        f"you may: {', '.join(status.scopes)}",
        f"known: {status.nodes:,} people and things, {status.facts:,} facts",
        *(flat(f"conversation: {one.conversation}, {one.messages:,} messages") for one in status.conversations),
        f"background work: {status.jobs_pending} waiting, {status.jobs_failed} failed",
    ]
    return Answer(fenced("\n".join(lines)), status)


TOOLS = (
    Tool(
        name="memory_status",
        description="Whose memory this is, what you may do, how much it holds, date and time.",
        scope="read",
        given=StatusArguments,
        run=memory_status,
    ),
)
