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
from memsvc.api.callers import STORES, WRITER, Caller
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
        description="Gives messages that have neither id nor ordinal an identity, so the same request can be repeated.",
    ),
]


class Receipts(msgspec.Struct, frozen=True, kw_only=True):
    """One receipt for each message. The messages are committed and can be recalled."""

    messages: list[StoredMessage]


async def store(writer: Caller, messages: Sequence[MessageIn], idempotency_key: str | None) -> Receipts:
    """Store all messages or none, count them against the key's limit, and record the outcomes as metrics.

    Raises:
        QuotaExceededError: they exceed today's quota.
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
        "the row. After the answer, the messages are committed and can be recalled; background work follows. Repeating "
        "a message (same id, or same session and ordinal) changes nothing. A different text under the same identity is "
        "refused. A time without an offset is read in the user's time zone, and the receipt says so.",
        response_description="One receipt for each message, in order.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
        opt={"decode": decode_messages} | STORES,
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
