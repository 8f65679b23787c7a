"""Chats of three APIs as turns: OpenAI's chat completions and responses, and Anthropic's messages.

A turn begins with what the user says, and ends with the answer. Nothing here knows a database: converters make calls of
tools from messages as clients send them, whatever is in them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memsvc.turns.calls import MAX_TOOL_CHARS, CallIn

FAILED = re.compile(r"\s*(?:error|traceback|fatal|exception)\b|(?:.|\n)*\bexit (?:code|status):? [1-9]", re.IGNORECASE)
"""Results of tools that say that they failed, where an API has no field for it."""
LOOKED_AT = 10_000
"""Characters of a result in which that is looked for."""
LONGEST_ID = 300
LONGEST_PART = 1_000
OWN = ("id", "type", "status", "call_id", "output", "outputs", "results", "result", "error", "caller", "namespace")
"""Fields of an item that are no arguments of the call."""


@dataclass(slots=True)
class ChatTurn:
    """A turn found in a chat's messages."""

    id: str
    """The same whenever the same messages are read, also with more after them."""
    request: str
    calls: list[CallIn] = field(default_factory=list)
    answer: str | None = None
    """None: the assistant has not answered yet."""
    asked_at: list[int] = field(default_factory=list)
    """Indexes of the messages that are the request; none: it was said before these messages."""


def chat_turns(messages: Iterable[Mapping[str, Any]]) -> list[ChatTurn]:
    """Return the turns of messages of OpenAI's chat completions.

    What several messages of the user say in a row is one request. Calls without results are kept as they are; a result
    whose call is unknown is a call of the tool ``unknown`` if nothing was said before it, else it is left out, as are
    system messages. The texts of an answer are joined by empty lines.
    """
    reading = _Reading()
    for at, message in enumerate(messages):
        role, text = message.get("role"), _text(message.get("content"))
        if role == "user":
            reading.asked(at, text)
        elif role == "assistant":
            reading.answered(text)
            for told in _items(message.get("tool_calls")):
                function = _mapping(told.get("function") or told.get("custom"))
                given = function.get("arguments", function.get("input", ""))
                reading.called(told.get("id"), function.get("name"), given)
        elif role == "tool":
            reading.returned(message.get("tool_call_id"), text)
    return reading.turns


def response_turns(items: Iterable[Mapping[str, Any]]) -> list[ChatTurn]:
    """Return the turns of items of OpenAI's Responses API, by the rules of ``chat_turns``.

    What the server did by itself, such as a search, is a call, too; thoughts are left out.
    """
    reading = _Reading()
    for at, item in enumerate(items):
        role, kind = item.get("role"), item.get("type", "message")
        if kind == "message" and role == "user":
            reading.asked(at, _text(item.get("content")))
        elif kind == "message" and role == "assistant":
            reading.answered(_text(item.get("content")))
        elif isinstance(kind, str) and kind.endswith("_call_output"):
            output = item.get("output")
            reading.returned(
                item.get("call_id"), _result(output), failed=True if item.get("status") == "incomplete" else None
            )
        elif isinstance(kind, str) and kind.endswith("_call"):
            _response_call(reading, kind, item)
    return reading.turns


def response_calls(items: Iterable[Mapping[str, Any]]) -> list[CallIn]:
    """Return the calls among items of a response."""
    reading = _Reading()
    reading.turns.append(ChatTurn("", ""))
    for item in items:
        if isinstance(kind := item.get("type"), str) and kind.endswith("_call"):
            _response_call(reading, kind, item)
    return reading.turns[0].calls


def anthropic_turns(messages: Iterable[Mapping[str, Any]]) -> list[ChatTurn]:
    """Return the turns of messages of Anthropic's API, by the rules of ``chat_turns``.

    What the user's message says beside results of tools belongs to the turn that goes on: it is a call of the tool
    ``USER_MESSAGE``.
    """
    reading = _Reading()
    for at, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(_items(content))
        goes_on = role == "user" and any(_is_result(part) for part in parts)
        texts = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        if role == "assistant":
            reading.answered(texts)
        for part in parts:
            if _is_result(part):
                failed = True if part.get("is_error") is True else None
                reading.returned(part.get("tool_use_id"), _result(part.get("content")), failed=failed)
            elif str(part.get("type")).endswith("tool_use"):
                reading.called(part.get("id"), part.get("name"), part.get("input"))
        if goes_on and texts:
            reading.called(None, "USER_MESSAGE", {"text": texts})
        elif role == "user":
            reading.asked(at, texts)
    return reading.turns


class _Reading:
    """The turns that were read so far."""

    def __init__(self) -> None:
        self.turns: list[ChatTurn] = []
        self._waiting: dict[str, CallIn] = {}
        self._history = hashlib.sha256()

    def asked(self, at: int, text: str) -> None:
        """Take what the user says."""
        if not text:
            return
        self._history.update(text.encode("utf-8", "surrogatepass") + b"\0")
        if self.turns and not self.turns[-1].calls and self.turns[-1].answer is None:
            last = self.turns[-1]
            last.request += f"\n\n{text}"
        else:
            last = ChatTurn("", text)
            self.turns.append(last)
        last.asked_at.append(at)
        last.id = f"chat-{len(self.turns)}-{self._history.hexdigest()[:24]}"

    def answered(self, text: str) -> None:
        """Take what the assistant says."""
        if text and self.turns:
            last = self.turns[-1]
            last.answer = f"{last.answer}\n\n{text}" if last.answer else text

    def called(self, name: object, tool: object, given: object) -> None:
        """Take a call. Some servers use an id again; the second such call has another."""
        if not self.turns:
            return
        calls = self.turns[-1].calls
        told = _short(name) if isinstance(name, str) and name else None
        used = sum(one.id is not None and (one.id == told or one.id.startswith(f"{told}#")) for one in calls)
        call = CallIn(
            tool=str(tool or "tool")[:MAX_TOOL_CHARS],
            arguments=_arguments(given),
            number=len(calls),
            id=f"{told}#{used + 1}" if used else told,
        )
        calls.append(call)
        if told is not None:
            self._waiting[told] = call

    def returned(self, name: object, result: str, *, failed: bool | None = None) -> None:
        """Take a result.

        Args:
            name: the call's id.
            result: its text.
            failed: whether the call failed; None: the text says so.
        """
        if not isinstance(name, str) or not name:
            return
        told = _short(name)
        if not self.turns or (not self.turns[-1].asked_at and told not in self._waiting):
            if not self.turns:
                self.turns.append(ChatTurn(f"chat-0-{hashlib.sha256(told.encode()).hexdigest()[:24]}", ""))
            self.called(name, "unknown", {})
        if (call := self._waiting.pop(told, None)) is not None:
            call.result = result
            call.ok = not (_says_failed(result) if failed is None else failed)


def _response_call(reading: _Reading, kind: str, item: Mapping[str, Any]) -> None:
    if kind in {"function_call", "custom_tool_call", "mcp_call"}:
        tool, given = item.get("name"), item.get("arguments", item.get("input", ""))
    else:
        tool, given = kind.removesuffix("_call"), {name: one for name, one in item.items() if name not in OWN}
        action = given.get("action")
        if isinstance(action, Mapping):
            command = action.get("command", action.get("commands"))
            given = {**action, "command": " ".join(map(str, command))} if isinstance(command, list) else dict(action)
    name = item.get("call_id") or item.get("id")
    reading.called(name, tool, given)
    own = next((item[one] for one in ("output", "outputs", "results", "result") if item.get(one) is not None), None)
    failed = item.get("status") == "failed" or item.get("error") is not None
    if own is not None or failed:
        reading.returned(name, _result(item.get("error") if own is None else own), failed=failed)


def _is_result(part: Mapping[str, Any]) -> bool:
    return str(part.get("type")).endswith("tool_result")


def _short(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return name if len(name) <= LONGEST_ID and name.isprintable() else f"sha256:{digest}"


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in _items(content)]
    return "\n".join(one for one in parts if isinstance(one, str))


def _result(content: object) -> str:
    """Return a result as text: texts as they are, other parts as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "\n".join(
            part["text"] if isinstance(part, Mapping) and isinstance(part.get("text"), str) else _told(part)
            for part in content
        )
    return _told(content)


def _told(part: object) -> str:
    """Return a part without text as JSON; of a long one, such as a picture, its kind."""
    told = _json(part)
    return told if len(told) <= LONGEST_PART else f"[{_mapping(part).get('type', 'data')}]"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _items(value: object) -> Iterable[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _arguments(given: object) -> dict[str, Any] | str:
    """Return arguments as an object, if they are one: a model wrote them, so they may be anything."""
    if isinstance(given, str):
        try:
            read = json.loads(given)
        except (ValueError, RecursionError):
            return given
        return read if isinstance(read, dict) else given
    return given if isinstance(given, dict) else "" if given is None else _json(given)


def _says_failed(result: str) -> bool:
    try:
        told = json.loads(result)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, Mapping):
        return FAILED.match(result[:LOOKED_AT]) is not None
    return bool(told.get("error") or told.get("is_error") or told.get("exit_code") or told.get("exitCode"))
