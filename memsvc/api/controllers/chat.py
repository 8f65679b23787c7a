"""Drop-in memory for clients of OpenAI's API: chat completions, responses and the list of models."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, SkipValidation

from memsvc.api.callers import ASKS, CHATS_ON, READER, Caller, service_of
from memsvc.api.dropin import (
    CHATTER,
    Chosen,
    as_read,
    checked,
    converse,
    decoder,
    error_handler,
    passed,
)
from memsvc.api.parameters import LENIENT
from memsvc.api.problems import EXCEPTION_HANDLERS, documented
from memsvc.chat.completions import COMPLETIONS
from memsvc.chat.responses import RESPONSES

SIMPLE = {"model": "memsvc", "messages": [{"role": "user", "content": "Where do we meet Ines?"}]}
INPUT = {"model": "memsvc", "input": "Where do we meet Ines?"}
STREAMED = {
    "model": "memsvc",
    "stream": True,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where do we meet Ines?"},
    ],
}


class ChatMessageIn(msgspec.Struct, kw_only=True):
    """A message as in OpenAI's API. Other fields are passed on to the chat server unchanged."""

    role: str
    """system, developer, user, assistant or tool."""
    content: str | list[dict[str, Any]] | None = None
    """Its text, or its parts."""
    name: str | None = None
    """Who speaks. A name that is not the user's is stored as another speaker."""


class ChatCompletionIn(msgspec.Struct, kw_only=True):
    """A request as in OpenAI's API. Other fields are passed on to the chat server unchanged."""

    messages: list[ChatMessageIn]
    """The conversation: all of its messages, or only the last one."""
    model: str | None = None
    """A model of the chat server. memsvc, or left out: the configured model."""
    stream: bool | None = None
    """Stream the answer."""


class ResponseIn(msgspec.Struct, kw_only=True):
    """A request as in OpenAI's Responses API. Other fields are passed on to the chat server unchanged."""

    input: str | list[dict[str, Any]] | None = None
    """What the user says, or the items of the conversation."""
    model: str | None = None
    """A model of the chat server. memsvc, or left out: the configured model."""
    instructions: str | None = None
    """The client's instructions. Memory is added at their end."""
    stream: bool | None = None
    """Stream the answer."""


class ModelResponse(msgspec.Struct, kw_only=True):
    """The chat server's answer, unchanged; a stream of events if the request asks for one."""

    output: list[dict[str, Any]]


class ChatCompletion(msgspec.Struct, kw_only=True):
    """The chat server's answer, unchanged; a stream of events if the request asks for one."""

    choices: list[dict[str, Any]]


class ModelList(msgspec.Struct, kw_only=True):
    """The chat server's list of models, unchanged."""

    data: list[dict[str, Any]]


class ChatController(Controller):
    """Chat completions."""

    tags = ("chat",)
    opt = LENIENT | ASKS
    exception_handlers = dict.fromkeys(EXCEPTION_HANDLERS, error_handler(COMPLETIONS))

    @post(
        "/chat/completions",
        status_code=200,
        operation_id="createChatCompletion",
        summary="Chat with memory",
        description="OpenAI's chat completions with memory. First memsvc recalls what matters, adds it after the "
        "client's own system messages, and stores what is new of the request. Then it asks the chat server, and "
        "stores the answer before passing on its end. Streams, tools and the server's errors pass unchanged. If memory "
        "fails or is slow, the chat still answers: the answer's header X-Memsvc-Memory is ok, degraded or off, and "
        "X-Memsvc-Memory-Reason has codes. X-Memsvc-Not-Stored has the indexes of messages that were not stored, each "
        "with a code. memsvc's own errors also have OpenAI's form, in `error`. Needs the scopes "
        "read and write.",
        responses={
            200: ResponseSpec(
                ChatCompletion, description="The chat server's answer, with its status.", generate_examples=False
            ),
            **documented(400, 401, 403, 404, 413, 415, 502, 503, 504),
        },
        dependencies=CHATTER,
        opt={"decode": decoder(COMPLETIONS)} | CHATS_ON,
    )
    async def complete(
        self,
        request: Request[Any, Any, Any],
        data: Annotated[
            SkipValidation[ChatCompletionIn],
            BodyKwarg(examples=[Example(summary="Whole", value=SIMPLE), Example(summary="Stream", value=STREAMED)]),
        ],
        talker: NamedDependency[Caller],
        *,
        chosen: NamedDependency[Chosen],
    ) -> Response[Any]:
        """Recall, ask the chat server, and store."""
        upstream, asked = service_of(request).upstream, as_read(data)
        return await converse(request, asked, COMPLETIONS, talker, upstream=upstream, chosen=chosen)

    @post(
        "/responses",
        status_code=200,
        operation_id="createResponse",
        summary="Chat with memory, as in OpenAI's Responses API",
        description="OpenAI's responses with memory, in the same steps as POST /v1/chat/completions. Memory becomes "
        "the end of the instructions. Needs the scopes read and write.",
        responses={
            200: ResponseSpec(
                ModelResponse, description="The chat server's answer, with its status.", generate_examples=False
            ),
            **documented(400, 401, 403, 404, 413, 415, 502, 503, 504),
        },
        dependencies=CHATTER,
        opt={"decode": decoder(RESPONSES)} | CHATS_ON,
    )
    async def respond(
        self,
        request: Request[Any, Any, Any],
        data: Annotated[SkipValidation[ResponseIn], BodyKwarg(examples=[Example(value=INPUT)])],
        talker: NamedDependency[Caller],
        *,
        chosen: NamedDependency[Chosen],
    ) -> Response[Any]:
        """Recall, ask the chat server, and store."""
        upstream, asked = service_of(request).upstream, as_read(data)
        return await converse(request, asked, RESPONSES, talker, upstream=upstream, chosen=chosen)

    @get(
        "/models",
        operation_id="listModels",
        summary="List the chat server's models",
        description="Returns the chat server's list of models, for clients that ask for it before they chat.",
        responses={
            200: ResponseSpec(ModelList, description="The chat server's answer.", generate_examples=False),
            **documented(400, 401, 403, 502, 503, 504),
        },
        dependencies=READER,
        opt=CHATS_ON,
    )
    async def models(self, request: Request[Any, Any, Any], reader: NamedDependency[Caller]) -> Response[Any]:  # noqa: ARG002
        """Pass the list on."""
        answer = await checked(service_of(request).upstream).models()
        try:
            return passed(answer, await answer.whole(), {})
        finally:
            await answer.close()
