"""The drop-in door, whichever API of chat servers a client speaks: remember, ask the server, pass the answer on.

A client changes only its base URL and its key. memsvc adds one memory block to each request and passes it on to the
configured chat server. The server's answers and errors come back unchanged. ``memsvc.chat`` recalls and stores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from litestar import Request, Response
from litestar.background_tasks import BackgroundTask
from litestar.di import Provide
from litestar.params import HeaderParameter
from litestar.response import Stream

from memsvc.api.bodies import decode
from memsvc.api.callers import TALKER, Caller, doubt_of, service_of
from memsvc.api.chat_options import HEADER as CONTEXT_HEADER
from memsvc.api.chat_options import read_chat_context
from memsvc.api.problems import answer_error
from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.keeping import Talk
from memsvc.chat.passing import passing
from memsvc.chat.remembering import Remembering
from memsvc.chat.request import ChatRequest
from memsvc.errors import UpstreamError
from memsvc.llm.upstream import Upstream, UpstreamAnswer

DEFAULT_CONVERSATION = "chat"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
MOST_IDS = 200
"""The most ids in a header. Proxies refuse long headers."""

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
Agent = Annotated[
    str, HeaderParameter(name="X-Memsvc-Agent", max_length=200, description="Which agent chats, for its turns.")
]
Project = Annotated[
    str | None,
    HeaderParameter(
        name="X-Memsvc-Project",
        max_length=200,
        description="The project in which the agent works; relative paths of its calls are below it.",
    ),
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

ContextHeader = Annotated[
    str | None,
    HeaderParameter(
        name=CONTEXT_HEADER,
        max_length=1_000,
        description="Options of the memory block, as in POST /v1/context: budget_tokens, limit, mode, why, salient, "
        "chance, asked_at. For example: budget_tokens=600, mode=eager.",
    ),
]

ErrorHandler = Callable[[Request[Any, Any, Any], Exception], Response[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a client chooses by headers."""

    conversation: str = DEFAULT_CONVERSATION
    session: str = ""
    memory: str = "on"
    agent: str = ""
    project: str | None = None
    key: str | None = None
    """Its own id for the user's last message."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """Options of the memory block that differ from the settings."""


async def provide_chosen(
    *,
    conversation: Conversation = DEFAULT_CONVERSATION,
    session: Session = "",
    memory: Switch = "on",
    agent: Agent = "",
    project: Project = None,
    idempotency_key: MessageKey = None,
    context: ContextHeader = None,
) -> Chosen:
    """What the headers of a chat say."""
    return Chosen(
        conversation=_header_text(conversation).strip() or DEFAULT_CONVERSATION,
        session=_header_text(session),
        memory=memory,
        agent=_header_text(agent),
        project=_header_text(project) if project else None,
        key=idempotency_key,
        context=read_chat_context(context),
    )


CHATTER = TALKER | {"chosen": Provide(provide_chosen)}
"""Dependencies of a chat: ``talker`` and ``chosen``."""


def decoder(api: ChatApi) -> Callable[[bytes, Any], ChatRequest]:
    """Return what decodes a body; see ``memsvc.api.bodies.decode`` for errors."""
    return lambda body, _into: api.read(body, decode)


def as_read(data: Any) -> ChatRequest:
    """Return what ``decoder`` made of a body. The handler's own type of it is only for the OpenAPI document."""
    found: ChatRequest = data
    return found


def error_handler(api: ChatApi) -> ErrorHandler:
    """Return what answers an error with problem+json, plus what the API's clients expect."""

    def answered(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
        answer = answer_error(request, error)
        problem = answer.content
        failure = Failure(
            message=f"{problem['detail']} {problem['hint']}",
            code=problem["code"],
            status=answer.status_code or problem["status"],
            field=problem.get("field"),
        )
        answer.content = problem | api.error(failure)
        return answer

    return answered


def checked(upstream: Upstream | None) -> Upstream:
    """Return the chat server.

    Raises:
        UpstreamMissingError: it is not configured.
    """
    if upstream is None:
        message = "the app was made without its chat server"
        raise AssertionError(message)
    upstream.check()
    return upstream


async def converse(
    request: Request[Any, Any, Any],
    asked: ChatRequest,
    api: ChatApi,
    caller: Caller,
    *,
    upstream: Upstream | None,
    chosen: Chosen,
    sent: Mapping[str, str] = NO_HEADERS,
) -> Response[Any]:
    """Recall, ask the chat server, and store.

    Args:
        request: the client's.
        asked: its body.
        api: the API that it speaks.
        caller: who chats.
        upstream: the chat server; None: the app was made without one.
        chosen: what the client's headers say.
        sent: headers for the chat server.

    Raises:
        UpstreamMissingError: the chat server is not configured.
    """
    upstream = checked(upstream)
    doubt, afterwards, remembering = doubt_of(request), service_of(request).afterwards, None
    if chosen.memory == "on":
        talk = Talk(
            db=caller.db,
            principal=caller.principal,
            owner=caller.owner,
            settings=caller.settings,
            embedder=caller.embedder,
            afterwards=afterwards,
            conversation=chosen.conversation,
            session=chosen.session,
            agent=chosen.agent,
            project=chosen.project,
            doubt=doubt,
        )
        remembering = Remembering(talk, asked, key=chosen.key, wanted=chosen.context)
        await remembering.begin()
    body = asked.passing(remembering.block if remembering is not None else None, upstream.model)
    try:
        answer = await upstream.ask(api.path, body, sent)
        if not answer.streams:
            return await _whole(answer, api, remembering)
        pieces = passing(answer, api, remembering, afterwards)
        headers = {**_memory_headers(remembering), **answer.headers, "cache-control": "no-cache"}
        kind = headers.pop("content-type")
        closing = BackgroundTask(answer.close)  # for a client that went before the first piece
        return Stream(pieces, status_code=answer.status, headers=headers, media_type=kind, background=closing)
    except UpstreamError as error:
        if remembering is not None:
            remembering.tell(error)
        problem = error_handler(api)(request, error)
        problem.headers.update(_memory_headers(remembering))
        return problem


async def _whole(answer: UpstreamAnswer, api: ChatApi, remembering: Remembering | None) -> Response[Any]:
    try:
        body = await answer.whole()
    finally:
        await answer.close()
    if remembering is not None:
        heard = api.hearing()
        heard.whole(body)
        await remembering.end(heard)
    return passed(answer, body, _memory_headers(remembering))


def _header_text(value: str) -> str:
    """Decode a header's value. Characters outside Latin-1 arrive as UTF-8 bytes."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


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


def _ranges(left: Sequence[tuple[int | None, str]]) -> str:
    """Write indexes of messages with codes: ``0-5 history, 7 data, answer text_too_long``."""
    ranges: list[tuple[int, int, str]] = []
    indexed = {(at, code) for at, code in left if at is not None}
    for at, code in sorted(indexed, key=lambda one: (one[1], one[0])):
        if ranges and ranges[-1][1:] == (at - 1, code):
            ranges[-1] = (ranges[-1][0], at, code)
        else:
            ranges.append((at, at, code))
    told = [f"{first if first == last else f'{first}-{last}'} {code}" for first, last, code in sorted(ranges)]
    more = [f"{len(told) - MOST_IDS} more"] if len(told) > MOST_IDS else []
    answer = [f"answer {code}" for code in dict.fromkeys(code for at, code in left if at is None)]
    return ", ".join([*told[:MOST_IDS], *more, *answer])


def passed(answer: UpstreamAnswer, body: bytes, more: Mapping[str, str]) -> Response[Any]:
    """Return the chat server's whole answer, with more headers."""
    headers = {**answer.headers, **more}
    kind = headers.pop("content-type", "application/json")
    return Response(body, status_code=answer.status, headers=headers, media_type=kind)
