"""Checks what the language model can do: for the doctor's line about it, and for ``memsvc llm check``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec

from memsvc.errors import MemsvcError
from memsvc.llm.answers import FORMS, Form, NoBook, Task, UnfitError, ask
from memsvc.llm.chat import ChatClient, Message
from memsvc.server.capabilities import Check
from memsvc.settings import Settings

NAME = "language model"
COST = "nothing new is read with it; texts stay, and jobs try again"
CITIES = ("Lisbon", "Madrid", "Rome")
"""A choice, because a small model under a grammar could write one endless string."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"capital": {"type": "string", "enum": list(CITIES)}},
    "required": ["capital"],
    "additionalProperties": False,
}


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one test question."""

    model: str
    url: str
    form: Form
    """The best form of an answer that the server accepts: ``json_schema`` enforces the schema."""
    strict: bool
    """The form is ``json_schema``."""
    repaired: bool
    """The first answer did not have the form."""
    first_ms: float
    """Milliseconds until the first token of the answer."""
    ms: float
    tokens_in: int
    tokens_out: int
    requests: int


def _capital(found: dict[str, Any]) -> str:
    if found.get("capital") not in CITIES:
        raise UnfitError(f"the property capital is none of {', '.join(CITIES)}")
    return str(found["capital"])


async def try_model(settings: Settings) -> Tried:
    """Ask the configured model one short question with a schema; it is not recorded, because it belongs to no user.

    Raises:
        ConfigurationError: no model is configured.
        LlmError: it cannot be asked, or its answers do not have the form.
    """
    client = ChatClient(settings)
    task = Task(
        name="check",
        version="1",
        messages=[
            Message("system", f"You answer with JSON. The property capital is one of {', '.join(CITIES)}."),
            Message("user", "Which city is the capital of Portugal?"),
        ],
        schema=SCHEMA,
        read=_capital,
    )
    answer = await ask(client, task, NoBook(), stream=True)
    return Tried(
        model=client.model,
        url=client.url,
        form=answer.form,
        strict=answer.form == FORMS[0],
        repaired=answer.repaired,
        first_ms=round(answer.reply.first_ms, 1),
        ms=round(answer.reply.ms, 1),
        tokens_in=answer.reply.tokens_in,
        tokens_out=answer.reply.tokens_out,
        requests=answer.reply.tries,
    )


def check_llm(settings: Settings) -> Iterator[Check]:
    """Yield the doctor's line: one short question to the model, which memsvc does not need to work."""
    if not settings.llm_model:
        yield Check(NAME, "ok", "none configured (MEMSVC_LLM_MODEL): facts are read without one")
        return
    try:
        tried = asyncio.run(try_model(settings))
    except MemsvcError as error:
        yield Check(NAME, "warning", f"{error.message} {error.advice} Until then {COST}")
        return
    held = "keeps to JSON schemas" if tried.strict else f"knows no strict JSON schema, is asked for {tried.form}"
    yield Check(NAME, "ok", f"{tried.model}, {tried.ms:.0f} ms a short answer, {held}")
