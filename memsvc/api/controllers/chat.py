"""Drop-in memory: OpenAI's chat completions, with memory.

A client changes only its base URL and its key. memsvc adds one system message to each request and passes it on to the
configured chat server. The server's answers and errors come back unchanged. ``memsvc.chat`` recalls and stores.
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
from memsvc.chat.completions import read_completion
from memsvc.chat.hearing import Hearing
from memsvc.chat.keeping import Talk
from memsvc.chat.passing import passing
from memsvc.chat.remembering import Remembering
from memsvc.chat.request import ChatRequest
from memsvc.errors import UpstreamError
from memsvc.llm.upstream import Upstream, UpstreamAnswer

DEFAULT_CONVERSATION = "chat"
MOST_IDS = 200
"""The most ids in a header. Proxies refuse long headers."""
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


class ChatCompletion(msgspec.Struct, kw_only=True):
    """The chat server's answer, unchanged; a stream of events if the request asks for one."""

    choices: list[dict[str, Any]]


class ModelList(msgspec.Struct, kw_only=True):
    """The chat server's list of models, unchanged."""

    data: list[dict[str, Any]]


def decode_chat(body: bytes, _into: Any) -> ChatRequest:
    """Decode a request; see ``memsvc.api.bodies.decode`` for errors."""
    return read_completion(body, decode)


def answer_openai_error(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    """Answer an error with problem+json, plus ``error`` in the form that OpenAI's clients expect."""
    answer = answer_error(request, error)
    problem = answer.content
    message = f"{problem['detail']} {problem['hint']}"
    answer.content = problem | {
        "error": {"message": message, "type": "memsvc_error", "code": problem["code"], "param": problem.get("field")}
    }
    return answer


def _header_text(value: str) -> str:
    """Decode a header's value. Characters outside Latin-1 arrive as UTF-8 bytes."""
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
        name="X-Memsvc-Conversation", max_length=400, description="The client's identifier of the conversation."
    ),
]
Session = Annotated[
    str, HeaderParameter(name="X-Memsvc-Session", max_length=400, description="The session within the conversation.")
]
Switch = Annotated[
    Literal["on", "off"], HeaderParameter(name="X-Memsvc-Memory", description="off: neither recall nor store anything.")
]
MessageKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="The client's own id for the user's last message, unique within the conversation. Left out: the "
        "content of the request identifies the message, so a repeated history is stored once.",
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
        """Recall, ask the chat server, and store."""
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
        body = asked.passing(remembering.block if remembering is not None else None, upstream.model)
        try:
            answer = await upstream.chat(body)
            if answer.streams:
                return self._stream(request, answer, remembering)
            return await self._whole(answer, remembering)
        except UpstreamError as error:
            if remembering is not None:
                remembering.tell(error)
            problem = answer_openai_error(request, error)
            problem.headers.update(_memory_headers(remembering))
            return problem

    def _stream(
        self, request: Request[Any, Any, Any], answer: UpstreamAnswer, remembering: Remembering | None
    ) -> Response[Any]:
        pieces = passing(answer, remembering, service_of(request).afterwards)
        headers = {**_memory_headers(remembering), **answer.headers, "cache-control": "no-cache"}
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
        return _passed(answer, body, _memory_headers(remembering))

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
        answer = await _upstream(request).models()
        try:
            return _passed(answer, await answer.whole(), {})
        finally:
            await answer.close()


def _memory_headers(remembering: Remembering | None) -> dict[str, str]:
    """The headers that tell the client how memory did."""
    if remembering is None:
        return {"X-Memsvc-Memory": "off"}
    headers: dict[str, str] = {"X-Memsvc-Memory": remembering.state}
    if remembering.reasons:
        headers["X-Memsvc-Memory-Reason"] = ", ".join(dict.fromkeys(remembering.reasons))
    if remembering.left:
        headers["X-Memsvc-Not-Stored"] = _ranges(remembering.left)
    if remembering.context is not None and remembering.context.recall_id is not None:
        headers["X-Memsvc-Recall-Id"] = str(remembering.context.recall_id)
    if ids := remembering.ids[:MOST_IDS]:
        headers["X-Memsvc-Memory-Ids"] = ", ".join(ids)
    return headers


def _ranges(left: list[tuple[int, str]]) -> str:
    """Write indexes of messages with codes: ``0-5 history, 7 data``."""
    ranges: list[tuple[int, int, str]] = []
    for at, code in sorted(set(left), key=lambda one: (one[1], one[0])):
        if ranges and ranges[-1][1:] == (at - 1, code):
            ranges[-1] = (ranges[-1][0], at, code)
        else:
            ranges.append((at, at, code))
    told = [f"{first if first == last else f'{first}-{last}'} {code}" for first, last, code in sorted(ranges)]
    more = [f"{len(told) - MOST_IDS} more"] if len(told) > MOST_IDS else []
    return ", ".join([*told[:MOST_IDS], *more])


def _passed(answer: UpstreamAnswer, body: bytes, more: dict[str, str]) -> Response[Any]:
    headers = {**answer.headers, **more}
    kind = headers.pop("content-type", "application/json")
    return Response(body, status_code=answer.status, headers=headers, media_type=kind)
