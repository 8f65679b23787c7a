"""Messages of OpenAI's chat completions as turns: a turn begins with what the user says, and ends with the answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memsvc.turns.calls import CallIn

FAILED = re.compile(r"\s*(?:error|traceback|fatal|exception)\b|(?:.|\n)*\bexit (?:code|status):? [1-9]", re.IGNORECASE)
"""Results of tools that say that they failed; this API has no field for it."""


@dataclass(slots=True)
class ChatTurn:
    """A turn found in a chat's messages."""

    id: str
    """The same whenever the same messages are read, also with more after them."""
    request: str
    calls: list[CallIn] = field(default_factory=list)
    answer: str | None = None
    """None: the assistant has not answered yet."""


def chat_turns(messages: Iterable[Mapping[str, Any]]) -> list[ChatTurn]:
    """Return the turns of a chat.

    What several messages of the user say in a row is one request. Calls without results are kept as they are; a result
    whose call is unknown is left out, as are system messages. The texts of an answer are joined by empty lines.
    """
    turns: list[ChatTurn] = []
    waiting: dict[str, CallIn] = {}
    history = hashlib.sha256()
    for message in messages:
        role, text = message.get("role"), _text(message.get("content"))
        if role == "user" and text:
            history.update(text.encode("utf-8", "surrogatepass") + b"\0")
            if turns and not turns[-1].calls and turns[-1].answer is None:
                turns[-1].request += f"\n\n{text}"
                turns[-1].id = _id(len(turns), history)
            else:
                turns.append(ChatTurn(_id(len(turns) + 1, history), text))
        elif role == "assistant" and turns:
            if text:
                turns[-1].answer = f"{turns[-1].answer}\n\n{text}" if turns[-1].answer else text
            for name, call in _calls(message):
                turns[-1].calls.append(call)
                waiting[name] = call
        elif role == "tool" and (name := str(message.get("tool_call_id"))) in waiting:
            answered = waiting.pop(name)
            answered.result = text
            answered.ok = not _failed(text)
    for turn in turns:
        for number, call in enumerate(turn.calls):
            call.number = number
    return turns


def _id(number: int, history: Any) -> str:
    return f"chat-{number}-{history.hexdigest()[:24]}"


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "\n".join(one for one in parts if isinstance(one, str))


def _calls(message: Mapping[str, Any]) -> Iterable[tuple[str, CallIn]]:
    for told in message.get("tool_calls") or ():
        function = told.get("function") or told.get("custom") or {}
        given = function.get("arguments", function.get("input", ""))
        arguments: dict[str, Any] | str = given if isinstance(given, str | dict) else ""
        try:
            read = json.loads(given) if isinstance(given, str) else None
        except (ValueError, RecursionError):
            read = None  # a model wrote it, so it may be anything
        if isinstance(read, dict):
            arguments = read
        yield str(told.get("id")), CallIn(tool=str(function.get("name") or "tool")[:100], arguments=arguments)


def _failed(result: str) -> bool:
    try:
        told = json.loads(result)
    except (ValueError, RecursionError):
        return FAILED.match(result[:10_000]) is not None
    if not isinstance(told, Mapping):
        return FAILED.match(result[:10_000]) is not None
    return bool(told.get("error") or told.get("is_error") or told.get("exit_code") or told.get("exitCode"))
