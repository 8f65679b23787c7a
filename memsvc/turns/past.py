"""Past work for what is asked now: similar requests, and what was done to the same documents; failures, too.

The statement ``past_work`` asks ``memsvc.recall`` for passages of turns, makes turns of them, adds the last turns that
touched the same documents, and weighs named factors. Nothing comes from the conversation that asks.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from memsvc.access.users import Owner
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query as named
from memsvc.db.together import Together
from memsvc.errors import InvalidRequestError
from memsvc.llm.embedders.residents import QueryVector
from memsvc.recall.options import FITTED_MODELS, LEAST_CONFIDENCE, QUESTION_CHARS, Filters
from memsvc.recall.order import shipped
from memsvc.recall.query_words import only_repeats
from memsvc.recall.results import Degraded
from memsvc.recall.search import Prepared, QueryEmbedder, check_query, parameters, query_vectors
from memsvc.recall.signals import Note, new_recall_id, record
from memsvc.settings import Settings
from memsvc.text.characters import is_visible
from memsvc.text.storable import check_storable
from memsvc.text.tokens import tokenizer
from memsvc.times.reading import read_times
from memsvc.turns.calls import tool_name
from memsvc.turns.documents import document_name
from memsvc.turns.storing import Name, project_of
from memsvc.turns.wording import packed

FOUND, FOUND_TO_FILTER = 40, 400
"""Passages of turns that are recalled; a turn has three or more. The second: if a filter follows that recall lacks."""
MAX_FILES = 50
FILE_NAME = re.compile(r"[\w.-]*\w\.[A-Za-z]\w{0,7}\b")
"""What looks like a file's name in a question: the words of ``src/auth.py`` are others than those of ``auth.py``."""
MOST_NAMES = 10


class PastWorkIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A question for past work."""

    query: str
    """What is asked now; empty: by the files alone, or, without files, the last turns."""
    files: Annotated[list[str], msgspec.Meta(max_length=MAX_FILES)] = []
    """Paths or addresses that the work now touches; what was done to them comes too, however it was asked."""
    conversation: str | None = None
    """The conversation in which this is asked; nothing comes from it."""
    project: Name | None = None
    """Where the agent works, as turns name it; turns of this project come first."""
    root: str | None = None
    """The project's absolute path; relative files are below it."""
    ignores_case: bool = False
    """The agent's file system takes names that differ in case for one."""
    within_project: bool = False
    """Only turns of this project."""
    within_files: bool = False
    """Only turns that touched one of the files."""
    agent: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """Only turns of this agent; default: of all agents of the user."""
    tool: Annotated[str, msgspec.Meta(min_length=1, max_length=100)] | None = None
    """Only turns with a call of this tool."""
    ok: bool | None = None
    """true: only turns in which nothing failed; false: only those in which something did."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 5
    budget: Annotated[int, msgspec.Meta(ge=50, le=32_000)] = 1_500
    """Most tokens of ``text``."""


class PastCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool in a past turn."""

    number: int
    tool: str
    told: str
    """What it did, in a line."""
    ok: bool
    exit_code: int | None
    ms: int | None
    document_id: UUID | None


class PastDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that a past turn touched."""

    document_id: UUID
    document: str
    """Project and path, else path or address."""
    version: int | None
    """The last one that the turn saw or wrote; null: no digest was known."""
    current_version: int | None
    staleness: int | None
    """Versions since."""
    wrote: bool


class PastTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A past turn."""

    turn_id: UUID
    conversation_id: UUID
    conversation: str
    id: str
    """The client's id of the turn, or its own."""
    project: str | None
    agent: str
    commit: str | None
    ok: bool | None
    done: bool
    at: datetime
    request: str
    answer: str | None
    calls: list[PastCall]
    """In their order, the first 200."""
    documents: list[PastDocument]
    """In the order in which they were touched, the first 50."""
    score: float
    factors: dict[str, float]
    """What each factor gave: request, documents, project, staleness, familiarity."""


class PastWork(msgspec.Struct, frozen=True, kw_only=True):
    """Past work, best first."""

    text: str
    """The block for an agent's prompt: fenced, within the budget; empty: there is nothing."""
    turns: list[PastTurn]
    degraded: list[Degraded]
    """What did not work: vector (by words alone), words, order."""
    relevant: bool = True
    """False: nothing that was done before is clearly near to what is asked, and ``turns`` are the nearest."""


async def past_work(
    db: Database, owner: Owner, asked: PastWorkIn, settings: Settings, embedder: QueryEmbedder | None = None
) -> PastWork:
    """Return past turns for what is asked now.

    Args:
        db: the database.
        owner: whose memory is asked.
        asked: the question.
        settings: limits.
        embedder: gives the query's vectors; None: words only.

    Raises:
        InvalidRequestError, InvalidTextError, TextTooLongError: it cannot be asked.
    """
    project = project_of(asked.project, asked.root, ignores_case=asked.ignores_case)
    if asked.within_project and project is None:
        raise InvalidRequestError("within_project needs a project or a root.", field="within_project")
    if asked.within_files and not asked.files:
        raise InvalidRequestError("within_files needs files.", field="within_files")
    check_storable(asked.agent or "", "agent")
    names = _names(asked, project)
    check_storable(asked.conversation or "", "conversation")
    query = asked.query if is_visible(asked.query) and not only_repeats(asked.query) else ""
    check_query(query, asked.limit, settings)
    vectors, absent = await query_vectors(db, query, embedder, settings)
    within = {"project": project.name} if project and asked.within_project else {}
    within |= {"agent": asked.agent} if asked.agent else {}
    prepared = Prepared(vectors=vectors, times=read_times(query, datetime.now(UTC), ZoneInfo(owner.time_zone)))
    filters = Filters(kinds=["turn"], metadata=within or None)
    filtered = asked.within_files or asked.tool is not None or asked.ok is not None
    found = FOUND_TO_FILTER if filtered else FOUND
    values = parameters(owner, query, prepared, limit=found, filters=filters) | names
    values["titles"] = [*names["titles"], *FILE_NAME.findall(query)[:MOST_NAMES]]
    values |= {
        "project": project.name if project else None,
        "within": asked.within_project,
        "tool": tool_name(asked.tool) if asked.tool else None,
        "ok": asked.ok,
        "agent": asked.agent,
        "within_files": asked.within_files,
        "latest": not query and not asked.files,
        "conversation": asked.conversation,
        "limit": asked.limit,
    }
    trip = Together(db, owner.user_id, keep_plans=True, stores=False)
    rows = trip.ask(named("past_work"), values)
    with await db.recalls.turn(owner.user_id):
        await trip.send()
    if rows and settings.record_recalls:
        texts = [one for row in rows for one in row.texts]
        await record(db, owner, Note(new_recall_id(), "past-work", "balanced", texts))
    degraded: list[Degraded] = ["vector"] if absent else []
    degraded += ["order"] if shipped() is None else []
    turns = [_turn(row) for row in rows]
    fits = prepared.times.windows or any(turn.factors.get("documents", 0) > 0 for turn in turns)
    relevant = bool(fits) or not _is_far(query, vectors[0], rows[0].confidence if rows else None)
    text = packed(turns, asked.budget, tokenizer(), relevant=relevant)
    return PastWork(text=text, turns=turns, degraded=degraded, relevant=relevant)


def _is_far(query: str, vector: QueryVector | None, confidence: float | None) -> bool:
    """Whether neither words nor vectors of past turns are near to a question, as recall judges it."""
    judged = vector is not None and vector.model in FITTED_MODELS and len(query) <= QUESTION_CHARS
    return judged and confidence is not None and confidence < LEAST_CONFIDENCE


def _names(asked: PastWorkIn, project: Any) -> dict[str, list[str]]:
    locals_: list[str] = []
    identifiers: list[str] = []
    titles: list[str] = []
    for one in asked.files:
        check_storable(one, "files")
        try:
            name = document_name(one, project)
        except InvalidRequestError:
            if project is not None or "/" in one or "\\" in one:
                raise
            titles.append(one.strip())
            continue
        identifiers.append(name.identifier)
        locals_ += [name.local] if name.local else []
    return {"locals": locals_, "identifiers": identifiers, "titles": titles}


def _turn(row: Any) -> PastTurn:
    return PastTurn(
        turn_id=row.turn_id,
        conversation_id=row.conversation_id,
        conversation=row.conversation,
        id=row.session,
        project=row.project,
        agent=row.agent,
        commit=row.commit_id,
        ok=row.ok,
        done=row.done,
        at=on_clock(row.said_at, row.said_offset),
        request=row.request,
        answer=row.answer,
        calls=msgspec.convert(row.calls, list[PastCall]),
        documents=msgspec.convert(row.documents, list[PastDocument]),
        score=row.score,
        factors=row.factors,
    )
