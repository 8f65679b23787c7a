"""Messages in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from litestar import Controller, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, HeaderParameter, SkipValidation

from memsvc import observe
from memsvc.api.bodies import Batch, decode_messages
from memsvc.api.callers import WRITER, Caller
from memsvc.api.problems import documented
from memsvc.sources.messages import MessageIn, StoredMessage, append

ONE = {
    "conversation": "kitchen-plans",
    "session": "2026-03-14",
    "speaker": "Marcel",
    "role": "user",
    "text": "We moved the dinner with Ines to Friday, at the Lindenhof.",
    "said_at": "2026-03-14T18:30:00+01:00",
    "id": "msg-0017",
}
SEVERAL = {
    "messages": [
        {"conversation": "kitchen-plans", "session": "1", "ordinal": 0, "speaker": "Marcel", "text": "I like oak."},
        {
            "conversation": "kitchen-plans",
            "session": "1",
            "ordinal": 1,
            "speaker": "Assistant",
            "role": "assistant",
            "text": "Noted: oak for the worktop.",
            "caption": "a worktop of light oak",
            "metadata": {"model": "any"},
        },
    ]
}
IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="Gives messages without id and ordinal an identity, so that the same request can be sent again.",
    ),
]


class Receipts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each message; they are committed, and can be recalled."""

    messages: list[StoredMessage]


async def store(writer: Caller, messages: Sequence[MessageIn], idempotency_key: str | None) -> Receipts:
    """Store messages, all or none, count them against the key's limit, and count what became of them.

    Raises:
        QuotaExceededError: they are too many for today.
        MemsvcError: as ``append``.
    """
    await writer.spend_messages(len(messages))
    with observe.INGEST_SECONDS.time():
        stored = await append(writer.db, writer.owner, messages, writer.settings, idempotency_key=idempotency_key)
    for receipt in stored:
        observe.MESSAGES.labels(outcome=receipt.outcome).inc()
    return Receipts(messages=stored)


class MessagesController(Controller):
    """Messages in."""

    path = "/messages"
    tags = ("messages",)

    @post(
        status_code=202,
        operation_id="addMessages",
        summary="Add one message or a batch",
        description='Stores one message, or {"messages": […]} with up to 1,000, all of them or none; an error names '
        "the row. When it answers, the messages are committed and can be recalled; background work follows. Sending a "
        "message again (same id, or same session and ordinal) changes nothing; other words under the same identity are "
        "refused. A time without an offset is read on the user's clock, and the receipt says so.",
        response_description="Receipts, one a message, in order.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
        opt={"decode": decode_messages},
    )
    async def add(
        self,
        data: Annotated[
            SkipValidation[MessageIn | Batch],
            BodyKwarg(examples=[Example(summary="One", value=ONE), Example(summary="Several", value=SEVERAL)]),
        ],
        writer: NamedDependency[Caller],
        idempotency_key: IdempotencyKey = None,
    ) -> Receipts:
        """Store them."""
        return await store(writer, data.messages if isinstance(data, Batch) else [data], idempotency_key)
