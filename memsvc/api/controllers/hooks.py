"""Hooks for chat apps: before the model, after it, and when a session ends."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import ASKS, FORGETTER, TALKER, WRITER, Caller, service_of
from memsvc.api.filters import Limit
from memsvc.api.problems import documented
from memsvc.chat.enriching import Enrichment, enrich
from memsvc.chat.forgetting import Fate, Forget, end_session
from memsvc.chat.storing import store_noted
from memsvc.erasing.memories import Receipt
from memsvc.errors import InvalidRequestError
from memsvc.recall.context import ContextOptions
from memsvc.recall.items import Format, Why
from memsvc.recall.options import Filters, Mode
from memsvc.sources.messages import MessageIn, Role, StoredMessage, prepare
from memsvc.sources.moments import read_asked_at

BY = "hook"


class SaidIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A message of a chat."""

    conversation: str
    """The app's identifier of the conversation, created on first use."""
    text: str
    session: str = ""
    """The session within the conversation."""
    speaker: str = ""
    message_id: str | None = None
    """The app's own id, unique within the conversation. With it the request can be repeated safely."""
    said_at: str | None = None
    """When it was said (ISO 8601; without an offset in the user's time zone). Default: now."""
    metadata: dict[str, Any] = {}
    forget: Forget | None = None
    """conversation: erase the whole conversation, with all its sessions, when a session ends or after idle_hours
    without a message. keep: do not erase it, whatever an earlier message said. null: change nothing. A repeated
    message_id does not count again. Needs the scope forget."""
    idle_hours: Annotated[int, msgspec.Meta(ge=1, le=8_760)] = 24
    """For forget conversation: hours without a message, checked each night."""

    def fate(self) -> Fate | None:
        """What the message says about erasing the conversation; None: nothing."""
        return Fate(self.idle_hours if self.forget == "conversation" else None) if self.forget is not None else None

    def message(self, role: Role) -> MessageIn:
        """Return it as a message to store."""
        return MessageIn(
            conversation=self.conversation,
            session=self.session,
            text=self.text,
            speaker=self.speaker,
            role=role,
            id=self.message_id,
            said_at=self.said_at,
            metadata=self.metadata,
        )


class HookMessageIn(SaidIn, kw_only=True, forbid_unknown_fields=True):
    """The user's message, and options for its context block."""

    store: bool = True
    """false: recall for it and store nothing. Cannot be combined with forget."""
    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """The longest block, in tokens."""
    mode: Mode = "balanced"
    """eager: few candidates and short lines, for every turn; deliberate: more of both, and more around each memory."""
    format: Format = "text"
    """text, markdown, json, or messages for chat models."""
    asked_at: str | None = None
    """The moment of asking (ISO 8601 with its offset), by which "today" is understood and ages are told. Default: now.
    What was said later does not count."""
    recent_turns: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """How many last turns of this conversation to quote, for apps that do not keep them."""
    limit: Limit = 30
    """The most memories to consider."""
    why: Why = "none"
    """How much the block tells of the reason for each item: none, for a model reads it, short or full."""
    salient: Annotated[int, msgspec.Meta(ge=0, le=3)] = 3
    """The most salient items that need not match the message."""
    chance: bool = True
    """Include one memory drawn at random, in one block of four."""


class HookResponseIn(SaidIn, kw_only=True, forbid_unknown_fields=True):
    """The assistant's answer."""


class SessionEndIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The end of a session."""

    conversation: str
    """The conversation's identifier or id."""
    forget: Forget | None = None
    """conversation: erase the whole conversation now, with all its sessions. keep: do not erase it, now or later. null:
    do what earlier messages said."""


class SessionEnded(msgspec.Struct, kw_only=True, frozen=True):
    """What ending the session did."""

    forgotten: Receipt | None
    """The receipt of the erasure; null: the conversation is kept."""


MESSAGE = {
    "conversation": "petals-7",
    "text": "Where do we meet Ines?",
    "message_id": "m-18",
    "budget_tokens": 600,
}
RESPONSE = {"conversation": "petals-7", "text": "At the Lindenhof, on Friday.", "message_id": "m-19"}
ENDED = {"conversation": "petals-7", "forget": "conversation"}


class HooksController(Controller):
    """Hooks."""

    path = "/hooks"
    tags = ("chat",)
    opt = ASKS

    @post(
        "/message",
        status_code=200,
        operation_id="hookMessage",
        summary="Enrich a message before the model",
        description="Recalls what matters for the user's message, returns it as one fenced block for the prompt, and "
        "stores the message. If recall fails or is slow, the message is still stored, the block is empty and "
        "`degraded` has a code. Repeating the request with the same message_id stores nothing. Needs the scopes read "
        "and write.",
        response_description="The block and the receipt of the message.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=TALKER,
    )
    async def message(
        self,
        request: Request[Any, Any, Any],
        data: Annotated[HookMessageIn, BodyKwarg(examples=[Example(value=MESSAGE)])],
        talker: NamedDependency[Caller],
    ) -> Enrichment:
        """Recall and store."""
        if data.forget is not None:
            talker.principal.require("forget")
            if not data.store:
                raise InvalidRequestError(
                    "A message that is not stored cannot set forget.",
                    hint="Leave out forget, or set store to true.",
                    field="forget",
                )
        if data.store:
            await talker.spend_messages(1)
        options = ContextOptions(
            budget_tokens=data.budget_tokens,
            mode=data.mode,
            format=data.format,
            recent_turns=data.recent_turns,
            limit=data.limit,
            why=data.why,
            salient=data.salient,
            chance=data.chance,
            filters=Filters(asked_at=read_asked_at(data.asked_at)),
        )
        return await enrich(
            talker.db,
            talker.owner,
            data.message("user"),
            talker.settings,
            options=options,
            embedder=talker.embedder,
            afterwards=service_of(request).afterwards,
            store=data.store,
            fate=data.fate(),
        )

    @post(
        "/response",
        status_code=202,
        operation_id="hookResponse",
        summary="Store an answer after the model",
        description="Stores the assistant's answer. After this request it is committed and can be recalled; background "
        "work follows. Repeating the request with the same message_id stores nothing.",
        response_description="The receipt.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def response(
        self,
        request: Request[Any, Any, Any],
        data: Annotated[HookResponseIn, BodyKwarg(examples=[Example(value=RESPONSE)])],
        writer: NamedDependency[Caller],
    ) -> StoredMessage:
        """Store it."""
        if data.forget is not None:
            writer.principal.require("forget")
        await writer.spend_messages(1)
        [prepared] = prepare([data.message("assistant")], writer.owner, writer.settings)
        with observe.INGEST_SECONDS.time():
            stored = await store_noted(
                writer.db, writer.owner, prepared, None, service_of(request).afterwards, fate=data.fate()
            )
        observe.MESSAGES.labels(outcome=stored.outcome).inc()
        return stored

    @post(
        "/session-end",
        status_code=200,
        operation_id="hookSessionEnd",
        summary="End a session",
        description="Erases the conversation for good, with all its sessions and everything that only it supported, if "
        "a message asked for it (forget) or this request does. Otherwise it is kept. A single session cannot be "
        "erased: to erase sessions separately, give each its own conversation. Needs the scope forget.",
        response_description="The receipt, or null if the conversation is kept.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=FORGETTER,
    )
    async def session_end(
        self,
        data: Annotated[SessionEndIn, BodyKwarg(examples=[Example(value=ENDED)])],
        forgetter: NamedDependency[Caller],
    ) -> SessionEnded:
        """Erase it if that was asked for."""
        receipt = await end_session(
            forgetter.db, forgetter.owner, data.conversation, forget=data.forget, requested_by=BY
        )
        return SessionEnded(forgotten=receipt)
