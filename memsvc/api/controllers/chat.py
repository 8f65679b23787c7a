"""Drop-in memory: OpenAI's chat completions, with memory before and behind them.

A client changes its base URL and its key. What it sends goes to the configured chat server with one system message
more; what that answers, its errors included, comes back as it is. ``memsvc.chat`` does the remembering.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar import Controller, Request, Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, HeaderParameter, SkipValidation
from litestar.response import Stream

from memsvc.api.bodies import decode
from memsvc.api.callers import CHATS_ON, READER, TALKER, Caller, doubt_of, service_of
from memsvc.api.parameters import LENIENT
from memsvc.api.problems import EXCEPTION_HANDLERS, answer_error, documented
from memsvc.chat.hearing import Hearing
from memsvc.chat.passing import passing
from memsvc.chat.remembering import Remembering, Talk
from memsvc.chat.request import ChatRequest, read_request
from memsvc.errors import UpstreamError
from memsvc.llm.upstream import Upstream, UpstreamAnswer

DEFAULT_CONVERSATION = "chat"
MOST_IDS = 200
"""In a header; programs between refuse long ones."""
SIMPLE = {"model": "memsvc", "messages": [{"role": "user", "content": "Where do we meet Ines?"}]}
STREAMED = {
    "model": "memsvc",
    "stream": True,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where do we meet Ines?"},
    ],
}


class ChatMessageIn(msgspec.Struct, kw_only=True):
    """A message as OpenAI's API has it; other fields go on to the chat server untouched."""

    role: str
    """system, developer, user, assistant or tool."""
    content: str | list[dict[str, Any]] | None = None
    """Its words, or its parts."""


class ChatCompletionIn(msgspec.Struct, kw_only=True):
    """A request as OpenAI's API has it; other fields go on to the chat server untouched."""

    messages: list[ChatMessageIn]
    """The conversation as far as the client sends it: all of it, or the last message alone."""
    model: str | None = None
    """The chat server's; memsvc, or left out: the configured one."""
    stream: bool | None = None
    """Let the answer come in pieces."""


class ChatCompletion(msgspec.Struct, kw_only=True):
    """The chat server's answer, as it is; a stream of events where one was asked for."""

    choices: list[dict[str, Any]]


class ModelList(msgspec.Struct, kw_only=True):
    """The chat server's models, as it lists them."""

    data: list[dict[str, Any]]


def decode_chat(body: bytes, _into: Any) -> ChatRequest:
    """Decode a request; see ``memsvc.api.bodies.decode`` for errors."""
    return read_request(body, decode)


def answer_openai_error(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    """The answer to an error: the problem that every route gives, and in it ``error``, where OpenAI's clients look."""
    answer = answer_error(request, error)
    told = answer.content
    message = f"{told['detail']} {told['hint']}"
    answer.content = told | {
        "error": {"message": message, "type": "memsvc_error", "code": told["code"], "param": told.get("field")}
    }
    return answer


def _header_text(value: str) -> str:
    """A header's value; signs outside Latin-1 arrive as UTF-8 bytes."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _upstream(request: Request[Any, Any, Any]) -> Upstream:
    found = service_of(request).upstream
    if found is None:
        message = "the app was made without its chat server"
        raise AssertionError(message)
    found.check()
    return found


Conversation = Annotated[
    str,
    HeaderParameter(
        name="X-Memsvc-Conversation", max_length=400, description="What the client calls the conversation."
    ),
]
Session = Annotated[
    str, HeaderParameter(name="X-Memsvc-Session", max_length=400, description="The sitting within the conversation.")
]
Switch = Annotated[
    Literal["on", "off"], HeaderParameter(name="X-Memsvc-Memory", description="off: nothing is recalled or stored.")
]
MessageKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="The client's own id of what the user says, unique in the conversation. Left out: what stands in "
        "the request names it, so a history that is sent again is stored once.",
    ),
]


class ChatController(Controller):
    """Chat completions."""

    tags = ("chat",)
    opt = LENIENT
    exception_handlers = dict.fromkeys(EXCEPTION_HANDLERS, answer_openai_error)

    @post(
        "/chat/completions",
        status_code=200,
        operation_id="createChatCompletion",
        summary="Chat with memory",
        description="OpenAI's chat completions. Before the chat server is asked, what matters is recalled and put "
        "behind the client's own system messages, and what the user says is stored; its answer is stored before its "
        "end is passed on. Streams, tools and the server's errors pass untouched. If memory fails or is slow the chat "
        "still answers: X-Memsvc-Memory of the answer is ok, degraded or off, and X-Memsvc-Memory-Reason has codes. "
        "Errors of memsvc itself also have OpenAI's form, in `error`. Needs the scopes read and write.",
        responses={
            200: ResponseSpec(
                ChatCompletion, description="What the chat server answers, with its status.", generate_examples=False
            ),
            **documented(400, 401, 403, 404, 413, 415, 502, 503, 504),
        },
        dependencies=TALKER,
        opt={"decode": decode_chat} | CHATS_ON,
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
        conversation: Conversation = DEFAULT_CONVERSATION,
        session: Session = "",
        memory: Switch = "on",
        idempotency_key: MessageKey = None,
    ) -> Response[Any]:
        """Remind, ask, remember."""
        asked: ChatRequest = data  # type: ignore[assignment]
        upstream, doubt = _upstream(request), doubt_of(request)
        remembering = None
        if memory == "on":
            talk = Talk(
                db=talker.db,
                principal=talker.principal,
                owner=talker.owner,
                settings=talker.settings,
                embedder=talker.embedder,
                afterwards=service_of(request).afterwards,
                conversation=_header_text(conversation).strip() or DEFAULT_CONVERSATION,
                session=_header_text(session),
                doubt=doubt,
            )
            remembering = Remembering(talk, asked, key=idempotency_key)
            await remembering.begin()
        body = asked.with_memory(remembering.block if remembering is not None else None, upstream.model)
        try:
            answer = await upstream.chat(body)
            if answer.streams:
                return self._stream(request, answer, remembering)
            return await self._whole(answer, remembering)
        except UpstreamError as error:
            if remembering is not None:
                remembering.tell(error)
            problem = answer_openai_error(request, error)
            problem.headers.update(_told(remembering))
            return problem

    def _stream(
        self, request: Request[Any, Any, Any], answer: UpstreamAnswer, remembering: Remembering | None
    ) -> Response[Any]:
        pieces = passing(answer, remembering, service_of(request).afterwards)
        headers = {**_told(remembering), **answer.headers, "cache-control": "no-cache"}
        kind = headers.pop("content-type")
        closing = BackgroundTask(answer.close)  # for a client that went before the first piece
        return Stream(pieces, status_code=answer.status, headers=headers, media_type=kind, background=closing)

    async def _whole(self, answer: UpstreamAnswer, remembering: Remembering | None) -> Response[Any]:
        try:
            body = await answer.whole()
        finally:
            await answer.close()
        if remembering is not None:
            heard = Hearing()
            heard.whole(body)
            await remembering.end(heard)
        return _passed(answer, body, _told(remembering))

    @get(
        "/models",
        operation_id="listModels",
        summary="List the chat server's models",
        description="As the chat server lists them, for clients that ask before they chat.",
        responses={
            200: ResponseSpec(ModelList, description="The chat server's answer.", generate_examples=False),
            **documented(400, 401, 403, 502, 503, 504),
        },
        dependencies=READER,
        opt=CHATS_ON,
    )
    async def models(self, request: Request[Any, Any, Any], reader: NamedDependency[Caller]) -> Response[Any]:  # noqa: ARG002
        """Pass them on."""
        answer = await _upstream(request).models()
        try:
            return _passed(answer, await answer.whole(), {})
        finally:
            await answer.close()


def _told(remembering: Remembering | None) -> dict[str, str]:
    """What the client is told of memory, in headers."""
    if remembering is None:
        return {"X-Memsvc-Memory": "off"}
    told: dict[str, str] = {"X-Memsvc-Memory": remembering.state}
    if remembering.reasons:
        told["X-Memsvc-Memory-Reason"] = ", ".join(dict.fromkeys(remembering.reasons))
    if remembering.context is not None and remembering.context.recall_id is not None:
        told["X-Memsvc-Recall-Id"] = str(remembering.context.recall_id)
    if ids := remembering.ids[:MOST_IDS]:
        told["X-Memsvc-Memory-Ids"] = ", ".join(ids)
    return told


def _passed(answer: UpstreamAnswer, body: bytes, more: dict[str, str]) -> Response[Any]:
    headers = {**answer.headers, **more}
    kind = headers.pop("content-type", "application/json")
    return Response(body, status_code=answer.status, headers=headers, media_type=kind)
