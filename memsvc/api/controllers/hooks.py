"""Hooks for chat apps: before the model, behind it, and when a session ends."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc import observe
from memsvc.api.callers import FORGETTER, TALKER, WRITER, Caller, service_of
from memsvc.api.problems import documented
from memsvc.chat.enriching import Enrichment, enrich
from memsvc.chat.forgetting import Fate, Forget, end_session
from memsvc.chat.storing import store_noted
from memsvc.erasing.memories import Receipt
from memsvc.errors import InvalidRequestError
from memsvc.recall.context import ContextOptions
from memsvc.recall.items import Format
from memsvc.recall.options import Mode
from memsvc.sources.messages import MessageIn, Role, StoredMessage, prepare

BY = "hook"


class SaidIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Something that was said in a chat."""

    conversation: str
    """What the app calls the conversation; made on first use."""
    text: str
    session: str = ""
    """The sitting within the conversation."""
    speaker: str = ""
    message_id: str | None = None
    """The app's own id, unique in the conversation; makes sending it again harmless."""
    said_at: str | None = None
    """ISO 8601; without an offset on the user's clock; now when not given."""
    metadata: dict[str, Any] = {}
    forget: Forget | None = None
    """conversation: all of it, with all its sessions, is forgotten when one ends, or after idle_hours of silence; keep:
    it is not, whatever was said before; null: as was said before. It counts once: not when the same message_id comes
    again. Needs the scope forget."""
    idle_hours: Annotated[int, msgspec.Meta(ge=1, le=8_760)] = 24
    """With forget conversation: looked at each night."""

    def fate(self) -> Fate | None:
        """What it says of the conversation; None: nothing."""
        return Fate(self.idle_hours if self.forget == "conversation" else None) if self.forget is not None else None

    def message(self, role: Role) -> MessageIn:
        """The same as a message."""
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
    """What the user says, and what its context shall hold."""

    store: bool = True
    """false: recall for it, and write nothing; goes with no forget."""
    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] = 1_500
    """Longest block."""
    mode: Mode = "balanced"
    """eager: few candidates and short lines, for every turn; deliberate: more of all, and more around each memory."""
    format: Format = "text"
    """text, markdown, json, or messages for chat models."""
    recent_turns: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """So many last turns of this conversation, to the letter, for apps that keep none themselves."""


class HookResponseIn(SaidIn, kw_only=True, forbid_unknown_fields=True):
    """What the assistant answered."""


class SessionEndIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A session that is over."""

    conversation: str
    """Its identifier, or its id."""
    forget: Forget | None = None
    """conversation: erase all of it now, with all its sessions; keep: erase nothing, now and later; null: as was said
    before."""


class SessionEnded(msgspec.Struct, kw_only=True, frozen=True):
    """What the end of a session did."""

    forgotten: Receipt | None
    """The receipt of erasing it; null: it stays in memory."""


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

    @post(
        "/message",
        status_code=200,
        operation_id="hookMessage",
        summary="Enrich a message before the model",
        description="Recalls what matters for what the user says, as one fenced block for the prompt, and stores the "
        "message in the same request. If recall fails or is slow, the message is stored all the same, the block is "
        "empty and `degraded` has a code. Sending it again with the same message_id stores nothing. Needs the scopes "
        "read and write.",
        response_description="The block, and what became of the message.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=TALKER,
    )
    async def message(
        self,
        request: Request[Any, Any, Any],
        data: Annotated[HookMessageIn, BodyKwarg(examples=[Example(value=MESSAGE)])],
        talker: NamedDependency[Caller],
    ) -> Enrichment:
        """Recall, and store."""
        if data.forget is not None:
            talker.principal.require("forget")
            if not data.store:
                raise InvalidRequestError(
                    "A message that is not stored cannot say what becomes of its conversation.",
                    hint="Leave out forget, or store.",
                    field="forget",
                )
        if data.store:
            await talker.spend_messages(1)
        options = ContextOptions(
            budget_tokens=data.budget_tokens,
            mode=data.mode,
            format=data.format,
            recent_turns=data.recent_turns,
            salient=0,
            chance=False,
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
        summary="Take in an answer behind the model",
        description="Stores what the assistant answered; when this answers, it is committed and can be recalled, and "
        "background work follows. Sending it again with the same message_id stores nothing.",
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
        description="Erases the conversation for good, with all its sessions and all that only it supported, where a "
        "message of it said so (forget), or where that is asked for now; else it stays. A session alone cannot be "
        "erased: give each a conversation of its own, where one is to go without the others. Needs the scope forget.",
        response_description="The receipt, or that it stays.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
        dependencies=FORGETTER,
    )
    async def session_end(
        self,
        data: Annotated[SessionEndIn, BodyKwarg(examples=[Example(value=ENDED)])],
        forgetter: NamedDependency[Caller],
    ) -> SessionEnded:
        """Forget it, where that is wanted."""
        receipt = await end_session(
            forgetter.db, forgetter.owner, data.conversation, forget=data.forget, requested_by=BY
        )
        return SessionEnded(forgotten=receipt)
