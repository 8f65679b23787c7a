"""Tools for agents that work: what was done before, and what is done now."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memsvc import observe
from memsvc.access.keys import spend_messages
from memsvc.access.users import Owner
from memsvc.api.mcp.asker import DOOR, Asker
from memsvc.api.mcp.tool import Answer, Content, Quoting, Tool
from memsvc.turns.calls import MAX_TOOL_CHARS, CallIn
from memsvc.turns.draft import argument_of
from memsvc.turns.past import MAX_FILES, PastWorkIn, past_work
from memsvc.turns.storing import TurnIn, record_turn
from memsvc.turns.wording import staleness_told

CONVERSATION = "agent"
"""The conversation in which record_turn stores turns that name none."""
Name = Annotated[str, Meta(max_length=200)]
Conversation = Annotated[str, Meta(max_length=400)]


class MadeCall(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool, as a model tells it."""

    tool: Annotated[str, Meta(min_length=1, max_length=MAX_TOOL_CHARS)]
    target: Annotated[str, Meta(max_length=100_000)] = ""
    result: str | None = None
    ok: bool = True


class TurnArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A turn."""

    request: Annotated[str, Meta(description="What the user asked.")]
    calls: Annotated[list[MadeCall], Meta(max_length=1_000, description="target: file, URL or command.")] = []
    answer: str | None = None
    conversation: Conversation = CONVERSATION
    project: Name | None = None
    root: str | None = None
    agent: Name = ""
    id: Annotated[str, Meta(min_length=1, max_length=400)] | None = None
    ok: bool | None = None
    commit: Name | None = None
    done: bool = True


class WorkArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is to be done now."""

    query: Annotated[str, Meta(max_length=8_000)] = ""
    files: Annotated[list[str], Meta(max_length=MAX_FILES)] = []
    conversation: Annotated[Conversation, Meta(description="The current one: left out.")] | None = None
    project: Name | None = None
    root: str | None = None
    within_project: bool = False
    within_files: bool = False
    agent: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    tool: Annotated[str, Meta(min_length=1, max_length=MAX_TOOL_CHARS)] | None = None
    ok: bool | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 5
    budget: Annotated[int, Meta(ge=50, le=32_000)] = 1_500


class RecordedTurn(Content, frozen=True, kw_only=True):
    """The result of record_turn."""

    turn_id: str | None
    """null: nothing was stored."""
    outcome: Literal["created", "changed", "existing", "erased", "paused"]
    calls: int
    """That were added now."""
    versions: int
    """New versions of documents."""


class DoneBefore(msgspec.Struct, frozen=True, kw_only=True):
    """A past turn."""

    turn_id: str
    conversation: str
    at: str
    agent: str
    project: str | None
    ok: bool | None
    request: str
    calls: list[str]
    answer: str | None
    documents: list[str]
    """Each with what became of it since."""


class WorkFound(Quoting, frozen=True, kw_only=True):
    """Past work, best first."""

    turns: list[DoneBefore]
    degraded: list[str]


async def record(asker: Asker, owner: Owner, given: TurnArguments) -> Answer:
    """Store a turn, or a part of one."""
    told = {name: getattr(given, name) for name in TurnArguments.__struct_fields__ if name != "calls"}
    calls = [
        CallIn(
            tool=call.tool,
            arguments={argument_of(call.tool, call.target): call.target} if call.target else {},
            result=call.result,
            ok=call.ok,
        )
        for call in given.calls
    ]
    await spend_messages(asker.db, asker.principal, 1)
    with observe.INGEST_SECONDS.time():
        stored = await record_turn(asker.db, owner, TurnIn(**told, calls=calls), asker.settings)
    answer = {
        "created": f"Recorded, with {stored.calls} calls.",
        "changed": f"Recorded, with {stored.calls} more calls.",
        "existing": "Already recorded.",
        "erased": "The user asked to forget this before, so it was not stored again.",
        "paused": "The user's memory is paused, so it was not stored.",
    }[stored.outcome]
    turn_id = str(stored.turn_id) if stored.turn_id is not None else None
    content = RecordedTurn(turn_id=turn_id, outcome=stored.outcome, calls=stored.calls, versions=stored.versions)
    return Answer(answer, content)


async def find(asker: Asker, owner: Owner, given: WorkArguments) -> Answer:
    """Find past work."""
    with observe.RECALL_SECONDS.labels(door=DOOR).time():
        asked = PastWorkIn(**msgspec.structs.asdict(given))
        found = await past_work(asker.db, owner, asked, asker.settings, asker.embedder)
    turns = [
        DoneBefore(
            turn_id=str(turn.turn_id),
            conversation=turn.conversation,
            at=turn.at.isoformat(timespec="minutes"),
            agent=turn.agent,
            project=turn.project,
            ok=turn.ok,
            request=turn.request,
            calls=[call.told for call in turn.calls],
            answer=turn.answer,
            documents=[f"{one.document}: {staleness_told(one.version, one.current_version)}" for one in turn.documents],
        )
        for turn in found.turns
    ]
    return Answer(found.text or "There is no such past work.", WorkFound(turns=turns, degraded=list(found.degraded)))


TOOLS = (
    Tool(
        name="past_work",
        description="What agents did before about such a request or these files, failures included.",
        scope="read",
        given=WorkArguments,
        unlisted=frozenset(WorkArguments.__struct_fields__) - {"query", "files", "conversation", "project"},
        run=find,
    ),
    Tool(
        name="record_turn",
        description="Record what you did, when it is done.",
        scope="write",
        given=TurnArguments,
        unlisted=frozenset({"conversation", "root", "agent", "id", "ok", "commit", "done"}),
        run=record,
    ),
)
