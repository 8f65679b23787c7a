"""Gets answers of a language model by a JSON schema, from servers that support schemas and from those that do not.

It tries forms in this order: a strict ``json_schema``; ``json_object`` with the schema next to it, as llama.cpp's
server expects it; ``json_object`` without it; then plain text, with the schema in the prompt. The form that a model
accepts is remembered. The first JSON object in the answer that fits is used, whatever text surrounds it. If no object
fits, the model is told why, once.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from memsvc import observe, traces
from memsvc.errors import LlmAnswerError, LlmContextError, LlmCutOffError, LlmError, LlmRefusedError
from memsvc.llm.chat import AGAIN, ChatClient, Message, Reply

T = TypeVar("T")
Form = Literal["json_schema", "json_object and schema", "json_object", "text"]
Outcome = Literal["answered", "unusable", "refused", "failed"]

FORMS: tuple[Form, ...] = ("json_schema", "json_object and schema", "json_object", "text")
DOWN = frozenset({400, 422, 500})
"""Statuses with which servers refuse an unknown form; llama-cpp-python uses 500."""
LOOK_UP_S = 3_600.0
"""How long better forms are not tried: the server may be upgraded later, or its 500 had another cause."""
MOST_OBJECTS = 20
ECHO_CHARS = 8_000
THOUGHT = "</think>"
CUT_OFF = "length"
"""How servers say that an answer ended for want of tokens."""
QUOTED = re.compile(r"'.*'|(?<=unknown field )`.*?`(?= - at|$)", re.DOTALL)
"""What msgspec quotes of an answer, which ends in logs: a value that is none of an enumeration, a name of a field."""
IN_WORDS = (
    "Answer with one JSON object and nothing else: no explanation, no code fence. It must be valid by this JSON schema "
    "(it is an instance of it, not the schema itself):\n"
)
NOT_USABLE = (
    "That answer cannot be used: {problem}. Answer once more, with one JSON object by this JSON schema:\n{schema}"
)


class UnfitError(Exception):
    """An answer does not have the requested form; its text is for the model and quotes nothing of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[T]):
    """A question whose answer has a form."""

    name: str
    """For ``model_calls``: lower case, at most 40 characters."""
    version: str
    """Version of its prompt."""
    messages: Sequence[Message]
    schema: dict[str, Any]
    """By the rules of strict schemas: every property required, no other properties, null for a missing value."""
    read: Callable[[dict[str, Any]], T]
    """Converts a JSON object to the answer; raises UnfitError or msgspec.ValidationError if it does not fit."""
    divisible: bool = False
    """The caller can ask for less at a time, so an answer that was cut off is not asked for again."""


class Book(Protocol):
    """Keeps account of calls; ``memsvc.llm.calls`` has the one that stores them."""

    async def open(self) -> None:
        """Allow a call; called before each one.

        Raises:
            LlmBudgetError: no call is allowed now.
        """

    async def enter(self, task: Task[Any], outcome: Outcome, reply: Reply) -> None:
        """Record a call; called after each one. Without an answer, the reply has no tokens."""


class NoBook:
    """Keeps no account: for checks and measurements that belong to no user."""

    async def open(self) -> None:
        """Allow every call."""

    async def enter(self, task: Task[Any], outcome: Outcome, reply: Reply) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The answer to a question."""

    value: T
    reply: Reply
    """The last reply."""
    form: Form
    """The form that was requested."""
    repaired: bool
    """It took a second attempt."""


# For each server and model, in this process: the accepted form, and the time until which no better one is tried.
_known: dict[tuple[str, str], tuple[Form, float]] = {}


async def ask(client: ChatClient, task: Task[T], book: Book, *, stream: bool = False) -> Answer[T]:
    """Ask for an answer in a form; at most two attempts, each of which is recorded in the book.

    Raises:
        LlmAnswerError: neither answer has the form.
        LlmCutOffError: the last one was cut off before its end; for a divisible task the first one.
        LlmRefusedError: the server refuses the question in every form.
        LlmError: the server cannot be used now.
        LlmBudgetError: the book allows no call.
    """
    messages = list(task.messages)
    problem = UnfitError()
    for turn in (1, 2):
        reply, form = await _turn(client, task, messages, book, stream=stream)
        try:
            value = read(reply, task)
        except UnfitError as error:
            await _enter(book, task, "unusable", reply)
            if reply.finish == CUT_OFF and task.divisible:
                raise LlmCutOffError("The language model's answer was cut off before its end.") from error
            problem = error
            says = NOT_USABLE.format(problem=error, schema=_compact(task.schema))
            messages += [Message("assistant", reply.text[:ECHO_CHARS] or "{}"), Message("user", says)]
        else:
            await _enter(book, task, "answered", reply)
            return Answer(value, reply, form, repaired=turn > 1)
    kind = LlmCutOffError if reply.finish == CUT_OFF else LlmAnswerError
    raise kind(f"The language model's answer cannot be used, nor its second one: {problem}.") from problem


async def _turn(
    client: ChatClient, task: Task[Any], messages: Sequence[Message], book: Book, *, stream: bool
) -> tuple[Reply, Form]:
    await book.open()
    began = time.monotonic()
    values = {"gen_ai.operation.name": "chat", "gen_ai.request.model": client.model, "memsvc.task": task.name}
    try:
        with traces.span(f"chat {client.model}", "client", values=values) as span:
            reply, form = await _down_the_ladder(client, task, messages, stream=stream)
            span.note("gen_ai.usage.input_tokens", reply.tokens_in)
            span.note("gen_ai.usage.output_tokens", reply.tokens_out)
    except LlmError as error:
        ms = (time.monotonic() - began) * 1000
        tries = error.details.setdefault("tries", 1)
        nothing = Reply(text="", finish="", tokens_in=0, tokens_out=0, first_ms=ms, ms=ms, tries=tries)
        await _enter(book, task, "refused" if isinstance(error, LlmRefusedError) else "failed", nothing)
        raise
    return reply, form


async def _enter(book: Book, task: Task[Any], outcome: Outcome, reply: Reply) -> None:
    """Count an attempt in the metrics, and record it in the book."""
    observe.LLM_CALLS.labels(task.name, outcome).inc()
    observe.LLM_SECONDS.labels(task.name).observe(reply.ms / 1000)
    observe.LLM_TOKENS.labels(task.name, "in").inc(reply.tokens_in)
    observe.LLM_TOKENS.labels(task.name, "out").inc(reply.tokens_out)
    observe.LLM_COST.labels(task.name).inc(max(reply.cost or 0.0, 0.0))
    await book.enter(task, outcome, reply)


async def _down_the_ladder(
    client: ChatClient, task: Task[Any], messages: Sequence[Message], *, stream: bool
) -> tuple[Reply, Form]:
    """Ask in the best form that the server may support, then in the next ones."""
    key = client.url, client.model
    known, until = _known.get(key, (None, 0.0))
    if known is not None and known != FORMS[0] and time.monotonic() >= until:
        known = None
    began, refused = time.monotonic(), 0
    for form in FORMS[FORMS.index(known) if known else 0 :]:
        # With a form that was accepted before, a 500 has another cause and is tried again; with an unknown form it is
        # not.
        proved = form in {known, FORMS[-1]}
        try:
            reply = await client.chat(
                _said(messages, task.schema, form),
                form=_response_format(task, form),
                stream=stream,
                again=AGAIN if proved else AGAIN - DOWN,
            )
        except LlmError as error:
            refused += error.details.get("tries", 1)
            error.details["tries"] = refused
            answered = error.details.get("answered")
            if (
                isinstance(error, LlmContextError)
                or form == FORMS[-1]
                or answered not in DOWN
                or (proved and answered not in DOWN - AGAIN)
            ):
                raise
        else:
            if form != known:
                _known[key] = form, time.monotonic() + LOOK_UP_S
            return reply.after((time.monotonic() - began) * 1000 - reply.ms, refused), form
    message = "the last form neither answers nor fails"
    raise AssertionError(message)


def _response_format(task: Task[Any], form: Form) -> dict[str, Any] | None:
    match form:
        case "json_schema":
            strict = {"name": task.name, "strict": True, "schema": task.schema}
            return {"type": "json_schema", "json_schema": strict}
        case "json_object and schema":
            return {"type": "json_object", "schema": task.schema}
        case "json_object":
            return {"type": "json_object"}
        case "text":
            return None


def _said(messages: Sequence[Message], schema: dict[str, Any], form: Form) -> list[Message]:
    """Return the messages, with the schema in the prompt if the server does not enforce it."""
    if form == FORMS[0]:
        return list(messages)
    first, *rest = messages
    return [Message(first.role, f"{first.content}\n\n{IN_WORDS}{_compact(schema)}"), *rest]


def _compact(schema: dict[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


# Reading ------------------------------------------------------------------------------------------------------------


def read(reply: Reply, task: Task[T]) -> T:
    """Return the value of the first JSON object in an answer that fits.

    Raises:
        UnfitError: no object fits.
    """
    problem = UnfitError("it is empty" if not reply.text.strip() else "it holds no JSON object")
    for number, found in enumerate(objects_in(reply.text)):
        try:
            if _is_schema(found, task.schema):
                raise UnfitError("it repeats the schema instead of an object that is valid by it")  # noqa: TRY301
            return task.read(found)
        except (UnfitError, msgspec.ValidationError) as error:
            if number == 0:
                problem = UnfitError(QUOTED.sub("…", str(error)))
    if reply.finish == CUT_OFF:
        raise UnfitError("it was cut off before its end; be shorter")
    raise problem


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield JSON objects in a model's text, outer ones before inner ones, without its thoughts before the answer."""
    begin = 0
    if not text.lstrip().startswith("{") and THOUGHT in text:  # some templates write the opening <think> themselves
        begin = text.index(THOUGHT) + len(THOUGHT)
    decoder = json.JSONDecoder()
    for _ in range(MOST_OBJECTS):
        begin = text.find("{", begin)
        if begin < 0:
            return
        try:
            found, _end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            pass
        else:
            yield found
        begin += 1


def _is_schema(found: dict[str, Any], schema: dict[str, Any]) -> bool:
    return found == schema or ("properties" in found and "properties" not in schema.get("properties", {}))
