"""Turns of agents in, and past work out."""

from __future__ import annotations

from typing import Annotated

from litestar import Controller, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import ASKS, READER, STORES, WRITER, Caller
from memsvc.api.problems import documented
from memsvc.turns.past import PastWork, PastWorkIn, past_work
from memsvc.turns.storing import StoredTurn, TurnIn, record_turn

TURN = {
    "conversation": "agent-2026-03-14",
    "id": "turn-7",
    "project": "github.com/kim/lantern-shop",
    "root": "/home/kim/code/lantern-shop",
    "request": "Fix the login test.",
    "calls": [
        {"tool": "READ", "arguments": {"path": "shop/auth.py"}, "result": "from passlib.hash import bcrypt\n", "ms": 9},
        {
            "tool": "BASH",
            "arguments": {"command": "pytest -q tests/test_login.py"},
            "result": "AttributeError: module 'bcrypt' has no attribute '__about__'",
            "ok": False,
            "exit_code": 1,
            "ms": 2896,
        },
    ],
    "answer": "The login test is green: I pinned bcrypt==4.0.1.",
}
OPEN = {"conversation": "agent-2026-03-14", "id": "turn-8", "request": "Add a chart.", "done": False}
ASKED = {
    "query": "Fix the login test again.",
    "files": ["tests/test_login.py"],
    "project": "github.com/kim/lantern-shop",
    "root": "/home/kim/code/lantern-shop",
    "conversation": "agent-2026-03-15",
}


class TurnsController(Controller):
    """Turns of agents."""

    tags = ("turns",)

    @post(
        "/turns",
        status_code=202,
        operation_id="recordTurn",
        opt=STORES,
        summary="Record a turn of an agent",
        description="Stores what was asked, the calls of tools in their order with the documents that they touched, "
        "and the answer, in one transaction; no model is asked. With `done` false the turn stays open, and more of it "
        "may be sent under the same id. Repeating a turn changes nothing; something else under the same id is refused "
        "(turn_conflict). Secrets in arguments and results are masked; of a long result head, tail, size and digest "
        "are kept. A document gets a new version only if a call read or wrote it and its digest is new.",
        response_description="What was stored.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def record(
        self,
        data: Annotated[
            TurnIn,
            BodyKwarg(examples=[Example(summary="A turn", value=TURN), Example(summary="A turn begins", value=OPEN)]),
        ],
        writer: NamedDependency[Caller],
    ) -> StoredTurn:
        """Store it, and count it as a message against the key's limit."""
        await writer.spend_messages(1)
        with observe.INGEST_SECONDS.time():
            return await record_turn(writer.db, writer.owner, data, writer.settings)

    @post(
        "/past-work",
        status_code=200,
        operation_id="pastWork",
        opt=ASKS,
        summary="Past work of agents",
        description="Returns past turns for what is asked now: those with similar requests, and those that touched the "
        "same files, however they were asked; failures, too. Each comes with its calls, its answer, and how stale its "
        "documents are; `text` is a fenced block for a prompt. Nothing comes from the conversation that asks.",
        response_description="Past turns, best first.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=READER,
    )
    async def past(
        self,
        data: Annotated[PastWorkIn, BodyKwarg(examples=[Example(value=ASKED)])],
        reader: NamedDependency[Caller],
    ) -> PastWork:
        """Find them."""
        with observe.RECALL_SECONDS.labels(door="past_work").time():
            return await past_work(reader.db, reader.owner, data, reader.settings, reader.embedder)
