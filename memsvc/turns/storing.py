"""Store a turn of an agent, or what is new of it, in one transaction.

A turn's identity is its id within its conversation. Sending it again changes nothing; with ``done`` false it stays
open, and may get calls, the answer and the end later. Nothing that was sent before an agent died is lost.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from sqlalchemy import text

from memsvc.access.users import Owner, valid_zone
from memsvc.db.engine import Database
from memsvc.db.together import Together
from memsvc.errors import InvalidRequestError, MemsvcError, TextTooLongError, TurnConflictError
from memsvc.queue.jobs import announce_jobs
from memsvc.settings import Settings
from memsvc.sources.times import now_in, parse_time
from memsvc.text.characters import is_visible
from memsvc.text.fence import split_blocks
from memsvc.text.secrets import mask, mask_values
from memsvc.text.split import split_text
from memsvc.text.storable import check_storable
from memsvc.turns.calls import (
    CallIn,
    digest_of,
    document_of,
    reads,
    told_argument,
    told_error,
    tool_name,
    without_contents,
    writes,
)
from memsvc.turns.documents import DocumentName, document_name
from memsvc.turns.projects import MAX_NAME_CHARS, Project
from memsvc.turns.results import MARGIN, keep_result, storable

Outcome = Literal["created", "changed", "existing", "erased", "paused"]
REQUEST, ANSWER = 0, 2
"""Ordinals of a turn's texts; 1 is what was done, which the database makes of the calls."""
MAX_CALLS = 1_000
MAX_ARGUMENT_BYTES = 65_536
MAX_DEPTH = 50
"""Of arguments; what is nested deeper is left out."""
LONGEST_ARGUMENT = 4_000
"""Of one text in arguments, if all of them together are too long."""
RECORD = text(
    "SELECT * FROM memsvc.record_turn(:user_id, CAST(:turn AS jsonb), CAST(:texts AS jsonb), CAST(:calls AS jsonb))"
)
Name = Annotated[str, msgspec.Meta(max_length=200)]


class TurnIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A turn as clients send it, or a part of it."""

    conversation: Annotated[str, msgspec.Meta(max_length=400)]
    """The client's name for the agent's conversation; created on first use."""
    id: Annotated[str, msgspec.Meta(max_length=400)] | None = None
    """The client's own id, unique in the conversation; with it, the turn can be sent again and continued."""
    request: str | None = None
    """What the user asked; needed when the turn begins."""
    calls: list[CallIn] = []
    """Calls of tools in their order, at most 1,000 in a request."""
    answer: str | None = None
    """What the agent said in the end."""
    done: bool = True
    """False: the turn stays open; send the rest later under the same id."""
    ok: bool | None = None
    """Whether it did what was asked; null: not known."""
    project: Name | None = None
    """What the project is called wherever it lies, such as github.com/kim/shop; default: the root's last part."""
    root: str | None = None
    """The project's absolute path on the agent's machine; relative paths of calls are below it."""
    ignores_case: bool = False
    """The agent's file system takes names that differ in case for one."""
    agent: Name = ""
    """Which agent."""
    commit: Name | None = None
    """The commit of the project at the end of the turn."""
    at: str | None = None
    """When the user asked: ISO 8601; default: now."""
    ended_at: str | None = None
    """When the turn ended; default: now, once it is done."""


class TouchedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that a call touched."""

    number: int
    """The call's place in the turn."""
    document_id: UUID
    version: int | None
    """After the call; null: no digest was ever known."""
    fresh: bool
    """The call made this version: its digest was new."""


class StoredTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a turn."""

    outcome: Outcome
    """created; changed: something was added, or it was committed; existing: nothing was new; erased: erased on request
    earlier, not stored again; paused: the user's memory is paused, nothing is stored."""
    turn_id: UUID | None
    """null: nothing is stored."""
    conversation_id: UUID | None
    done: bool
    """It is committed."""
    calls: int
    """That were added now."""
    versions: int
    """New versions of documents, because a call read or wrote them and their digest was new."""
    job_id: UUID | None
    documents: list[TouchedDocument] = []
    """By the calls that were added now."""
    masked: dict[str, int] = {}
    """Secrets masked under the policy, by kind; keys and passwords of tools, which always are, are not counted."""


def project_of(name: str | None, root: str | None, *, ignores_case: bool = False) -> Project | None:
    """Return the project that a client names, by its name or its root; None: neither is given."""
    if root is not None:
        check_storable(root, "root")
        if not root.startswith(("/", "\\\\")) and root[1:2] != ":":
            raise InvalidRequestError("root must be an absolute path.", field="root")
    last = os.path.basename((root or "").replace("\\", "/").rstrip("/"))  # noqa: PTH119 - of any system
    called = " ".join((name or last).split()).replace("//", "/")[:MAX_NAME_CHARS]
    check_storable(called, "project")
    return Project(called, root, ignores_case) if called else None


async def record_turn(
    db: Database, owner: Owner, turn: TurnIn, settings: Settings, *, chat: Sequence[str] = ()
) -> StoredTurn:
    """Store a turn, or what is new of it. When this returns, it is committed and can be recalled.

    Args:
        db: the database.
        owner: the owner of the memory.
        turn: the turn.
        settings: limits and the passage window.
        chat: the ids of the user's messages in the chat of the same name that the turn is about. Erasing one of them,
            or what was stored of the work or the answer there, erases the turn.

    Raises:
        InvalidRequestError, InvalidTextError, TextTooLongError: it cannot be stored.
        TurnConflictError: its id is taken by a turn with another request, call or answer.
    """
    masked = Counter[str]()
    values = {"user_id": owner.user_id, **await asyncio.to_thread(rows, owner, turn, settings, chat, masked)}

    async def once() -> Any:
        trip = Together(db, owner.user_id, keep_plans=True)
        found = trip.ask(RECORD, values)
        await trip.send()
        return found[0]

    row = await db.again(once)
    if row.outcome == "conflict":
        raise TurnConflictError(field="id")
    if row.job_id is not None:
        announce_jobs(db)
    return StoredTurn(
        outcome=row.outcome,
        turn_id=row.turn_id,
        conversation_id=row.source_id,
        done=row.done,
        calls=row.calls,
        versions=row.versions,
        job_id=row.job_id,
        documents=msgspec.convert(row.documents, list[TouchedDocument]),
        masked=dict(masked),
    )


def rows(
    owner: Owner, turn: TurnIn, settings: Settings, chat: Sequence[str] = (), masked: Counter[str] | None = None
) -> dict[str, str]:
    """Check a turn, and return the parameters of ``memsvc.record_turn`` as JSON; ``masked`` counts what was masked.

    Raises:
        MemsvcError: as ``record_turn``; of a call, ``details["call"]`` is its place in the request.
    """
    _check(turn)
    zone = valid_zone(owner.time_zone)
    said = parse_time(turn.at, zone) if turn.at is not None else now_in(zone)
    project = project_of(turn.project, turn.root, ignores_case=turn.ignores_case)
    head = {
        "conversation": turn.conversation,
        "id": turn.id,
        "project": project.name if project else None,
        "agent": turn.agent,
        "commit_id": turn.commit or None,
        "ok": turn.ok,
        "done": turn.done,
        "said_at": said.moment,
        "said_offset": said.offset_minutes,
        "ended_at": parse_time(turn.ended_at, zone).moment if turn.ended_at is not None else None,
        "language": owner.language,
        **({"chat": list(chat)} if chat else {}),
    }
    texts = [
        {"ordinal": ordinal, "part": part, "role": role, "text": piece, "injected": injected}
        for ordinal, role, name, whole in (
            (REQUEST, "user", "request", turn.request),
            (ANSWER, "assistant", "answer", turn.answer),
        )
        if whole is not None and is_visible(whole)
        for part, (piece, injected) in enumerate(_pieces(owner.policy.admit(whole, name, masked), role, settings))
    ]
    admits = partial(owner.policy.numbers().admit_all, field="calls", counts=masked)
    calls: list[dict[str, Any]] = []
    for place, call in enumerate(turn.calls):
        try:
            calls.append(_call(call, place, project, admits, contents=settings.turn_contents))
        except MemsvcError as error:
            error.details = {**error.details, "call": place}
            raise
    return {name: msgspec.json.encode(value).decode() for name, value in _named(head, texts, calls)}


def _named(head: object, texts: object, calls: object) -> Sequence[tuple[str, object]]:
    return (("turn", head), ("texts", texts), ("calls", calls))


def _check(turn: TurnIn) -> None:
    for field in ("conversation", "id", "request", "answer", "project", "agent", "commit"):
        if (value := getattr(turn, field)) is not None:
            check_storable(value, field)
    if not is_visible(turn.conversation):
        raise InvalidRequestError("conversation is empty.", hint="Name the conversation.", field="conversation")
    if turn.id == "":
        raise InvalidRequestError("id is empty.", hint="Leave it out, or send an id.", field="id")
    if turn.id is None and not turn.done:
        raise InvalidRequestError("An open turn needs an id, by which it is continued.", field="id")
    if turn.done and turn.id is None and not is_visible(turn.request or ""):
        raise InvalidRequestError("request is empty.", hint="Send what the user asked.", field="request")
    if len(turn.calls) > MAX_CALLS:
        raise InvalidRequestError(
            f"{len(turn.calls):,} calls; a request can have at most {MAX_CALLS:,}.",
            hint="Send the turn in parts, with done false until the last.",
            field="calls",
        )
    _check_places(turn)


def _check_places(turn: TurnIn) -> None:
    numbers = [number for place, call in enumerate(turn.calls) if (number := _number(call, place)) is not None]
    if len(set(numbers)) < len(numbers):
        raise InvalidRequestError("Two calls have the same number.", field="calls")
    ids = [call.id for call in turn.calls if call.id is not None]
    if len(set(ids)) < len(ids):
        raise InvalidRequestError("Two calls have the same id.", field="calls")
    for one in ids:
        check_storable(one, "calls")


def _number(call: CallIn, place: int) -> int | None:
    """Return a call's place in the turn; None: the database knows it by the call's id, or gives it the next."""
    return place if call.number is None and call.id is None else call.number


def _pieces(whole: str, role: str, settings: Settings) -> list[tuple[str, bool]]:
    """Return the passages of a text, each with whether it is a context block of ours that came back: no memory."""
    if len(whole) > settings.max_text_chars:
        raise TextTooLongError(
            f"{'request' if role == 'user' else 'answer'} has {len(whole):,} characters; at most "
            f"{settings.max_text_chars:,} are allowed.",
            field="request" if role == "user" else "answer",
        )
    return [
        (piece, injected)
        for told, injected in split_blocks(whole)
        for piece in split_text(told, settings.passage_tokens)
    ]


def _call(
    call: CallIn, place: int, project: Project | None, admit: Callable[[Any], Any], *, contents: bool
) -> dict[str, Any]:
    tool = tool_name(call.tool)
    named = document_of(call)
    document = _document(call, named, project) if named is not None else None
    arguments = _arguments(call.arguments if contents or not writes(call) else without_contents(call.arguments), admit)
    kept = keep_result(call.result, admit) if call.result is not None else None
    if kept is not None and not contents and reads(call) and call.ok:
        kept = replace(kept, head="", tail="")
    told = f"{tool} {told_argument(arguments, document.path if document else None)}".rstrip()
    if not call.ok:
        reason = told_error(f"{kept.head}\n{kept.tail}") if kept else ""
        told += f" — failed: {reason}" if reason else " — failed"
    return {
        **({"id": call.id} if call.id is not None else {}),
        "number": _number(call, place),
        "tool": tool,
        "arguments": arguments,
        "told": told,
        "document": _document_row(call, document) if document else None,
        "ok": call.ok,
        "exit_code": call.exit_code,
        "ms": call.ms,
        "result_head": kept.head if kept else "",
        "result_tail": kept.tail if kept else "",
        "result_bytes": kept.size if kept else None,
        "result_sha256": kept.sha256 if kept else None,
    }


def _document(call: CallIn, named: str, project: Project | None) -> DocumentName | None:
    """Return the document of a call; None if only its arguments name one, in a way that leads nowhere."""
    try:
        check_storable(named, "document")
        return document_name(named, project)
    except InvalidRequestError:
        if call.document is not None:
            raise
        return None


def _document_row(call: CallIn, document: DocumentName) -> dict[str, Any]:
    sha256, size = digest_of(call) or (None, 0)
    return {
        "identifier": mask(document.identifier),
        "local": document.local,
        "path": mask(document.path),
        "title": mask(document.title),
        "format": document.format,
        "sha256": sha256,
        "bytes": size,
        "wrote": writes(call) and call.ok,
    }


def _arguments(given: Any, admit: Callable[[Any], Any] = lambda kept: kept) -> Any:
    """Return arguments as they are stored: masked, without what PostgreSQL refuses, and cut if they are too long.

    What is far too long is cut before it is masked, for masking takes a second for a million characters.
    """
    clean = _storable(given)
    if _size(clean) <= MAX_ARGUMENT_BYTES:
        masked = admit(mask_values(clean))
        if _size(masked) <= MAX_ARGUMENT_BYTES:
            return masked
    near = _cut(clean, LONGEST_ARGUMENT + MARGIN)
    if _size(near) <= 2 * MAX_ARGUMENT_BYTES:
        cut = _cut(admit(mask_values(near)), LONGEST_ARGUMENT)
        if _size(cut) <= MAX_ARGUMENT_BYTES:
            return cut
    return f"{admit(mask(str(near)[: LONGEST_ARGUMENT + MARGIN]))[:LONGEST_ARGUMENT]}…"


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _storable(value: Any, depth: int = MAX_DEPTH) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict | list) and depth == 0:
        return "…"
    if isinstance(value, dict):
        return {storable(key): _storable(inner, depth - 1) for key, inner in value.items()}
    return [_storable(inner, depth - 1) for inner in value] if isinstance(value, list) else value


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}…"
    if isinstance(value, dict):
        return {key: _cut(inner, longest) for key, inner in value.items()}
    return [_cut(inner, longest) for inner in value] if isinstance(value, list) else value
