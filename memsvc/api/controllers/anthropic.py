"""Drop-in memory for clients of Anthropic's API. Its base URL ends in /anthropic, as /v1/messages stores memories."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, HeaderParameter, SkipValidation

from memsvc.api.callers import ASKS, CHATS_ON, KEY_HEADER, Caller, service_of
from memsvc.api.dropin import (
    CHATTER,
    Chosen,
    as_read,
    converse,
    decoder,
    error_handler,
)
from memsvc.api.parameters import LENIENT
from memsvc.api.problems import EXCEPTION_HANDLERS, documented
from memsvc.chat.anthropic_messages import MESSAGES

VERSION = "2023-06-01"
EXAMPLE = {"model": "memsvc", "max_tokens": 500, "messages": [{"role": "user", "content": "Where do we meet Ines?"}]}


class AnthropicTurnIn(msgspec.Struct, kw_only=True):
    """A message as in Anthropic's API. Other fields are passed on to the chat server unchanged."""

    role: str
    """user or assistant."""
    content: str | list[dict[str, Any]]
    """Its text, or its blocks."""


class AnthropicMessageIn(msgspec.Struct, kw_only=True):
    """A request as in Anthropic's API. Other fields are passed on to the chat server unchanged."""

    messages: list[AnthropicTurnIn]
    """The conversation: all of its messages, or only the last one."""
    model: str | None = None
    """A model of the chat server. memsvc, or left out: the configured model."""
    system: str | list[dict[str, Any]] | None = None
    """The system prompt. Memory is added at its end."""
    stream: bool | None = None
    """Stream the answer."""


class AnthropicMessage(msgspec.Struct, kw_only=True):
    """The chat server's answer, unchanged; a stream of events if the request asks for one."""

    content: list[dict[str, Any]]


Version = Annotated[
    str, HeaderParameter(name="Anthropic-Version", pattern="^[!-~]{1,40}$", description="Passed on to the chat server.")
]
Beta = Annotated[
    str | None,
    HeaderParameter(name="Anthropic-Beta", pattern="^[ -~]{1,1000}$", description="Passed on to the chat server."),
]


class AnthropicController(Controller):
    """Anthropic's messages."""

    path = "/messages"
    tags = ("chat",)
    opt = LENIENT | ASKS
    exception_handlers = dict.fromkeys(EXCEPTION_HANDLERS, error_handler(MESSAGES))

    @post(
        status_code=200,
        operation_id="createAnthropicMessage",
        summary="Chat with memory, as in Anthropic's API",
        description="Anthropic's messages with memory, in the same steps as POST /v1/chat/completions. Memory becomes "
        "the end of the system prompt. The key may also be sent as X-Api-Key, as Anthropic's clients do. memsvc's own "
        "errors also have Anthropic's form, in `error`. Needs the scopes read and write.",
        responses={
            200: ResponseSpec(
                AnthropicMessage, description="The chat server's answer, with its status.", generate_examples=False
            ),
            **documented(400, 401, 403, 404, 413, 415, 502, 503, 504),
        },
        dependencies=CHATTER,
        opt={"decode": decoder(MESSAGES)} | CHATS_ON | KEY_HEADER,
        security=[{"bearer": []}, {"key": []}],
    )
    async def create(
        self,
        request: Request[Any, Any, Any],
        data: Annotated[SkipValidation[AnthropicMessageIn], BodyKwarg(examples=[Example(value=EXAMPLE)])],
        talker: NamedDependency[Caller],
        *,
        chosen: NamedDependency[Chosen],
        version: Version = VERSION,
        beta: Beta = None,
    ) -> Response[Any]:
        """Recall, ask the chat server, and store."""
        sent = {"Anthropic-Version": version} | ({"Anthropic-Beta": beta} if beta else {})
        upstream, asked = service_of(request).anthropic, as_read(data)
        return await converse(request, asked, MESSAGES, talker, upstream=upstream, chosen=chosen, sent=sent)
