"""Anthropic's Messages API: reads requests and answers, and tells errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.hearing import Hearing
from memsvc.chat.request import ChatRequest, Decode, Trace, Utterance, named_model, part_trace
from memsvc.text.characters import trimmed

REFUSED = "refusal"
PAUSED = "pause_turn"
"""Why an answer ends that the client is to let the server continue."""
KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
}  # fmt: skip


class _Message(msgspec.Struct):
    """The fields of a message that memory reads. The rest concerns only the chat server."""

    role: str
    content: str | list[dict[str, Any]]


class _Wanted(msgspec.Struct):
    messages: list[_Message]
    model: str | None = None
    system: str | list[dict[str, Any]] | None = None
    stream: bool | None = None


def read_messages(body: bytes, decode: Decode) -> ChatRequest:
    """Read a request.

    Args:
        body: JSON.
        decode: decodes JSON into a type.

    Raises:
        InvalidRequestError: it does not have the form of a request.
    """
    wanted: _Wanted = decode(body, _Wanted)
    fields: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])

    def passing(block: str | None, model: str | None) -> bytes:
        """The block becomes the end of the system prompt, after what servers may have cached."""
        whole: dict[str, Any] = dict(fields)
        if block is not None and isinstance(wanted.system, list):
            parts: list[msgspec.Raw] = decode(bytes(fields["system"]), list[msgspec.Raw])
            whole["system"] = [*parts, {"type": "text", "text": block}]
        elif block is not None:
            whole["system"] = f"{wanted.system}\n\n{block}" if wanted.system else block
        return msgspec.json.encode(named_model(whole, wanted.model, model))

    return ChatRequest(said=[_utterance(index, one) for index, one in enumerate(wanted.messages)], passing=passing)


def _utterance(at: int, message: _Message) -> Utterance:
    if isinstance(message.content, str):
        return Utterance(at=at, role=message.role, text=trimmed(message.content))
    parts = message.content
    text = trimmed(_text_of(parts))
    rest = [part for part in parts if part.get("type") not in {"text", "redacted_thinking"}]
    calls = message.role == "assistant" and any(part.get("type") == "tool_use" for part in rest)
    kept = [(Trace(role="thinking", text=text), False)] if calls and text else []
    kept += [_trace(part) for part in rest]
    return Utterance(
        at=at,
        role=message.role,
        text=text,
        calls=calls,
        traces=[trace for trace, _ in kept if trace.text],
        shortened=any(shortened for _, shortened in kept),
    )


def _trace(part: Mapping[str, Any]) -> tuple[Trace, bool]:
    """Return a part as a trace; True: with long values shortened."""
    match part.get("type"):
        case "tool_result":
            content = part.get("content")
            shown, shortened = _result(content) if isinstance(content, list) else (content, False)
            answers = {"tool_use_id": part["tool_use_id"]} if isinstance(part.get("tool_use_id"), str) else {}
            text = trimmed(shown if isinstance(shown, str) else "")
            return Trace(role="tool", text=text, metadata=answers), shortened
        case "tool_use":
            return Trace(role="tool", text=msgspec.json.encode(part).decode()), False
        case "thinking":
            thought = part.get("thinking")
            return Trace(role="thinking", text=trimmed(thought if isinstance(thought, str) else "")), False
        case _:
            return part_trace(part)


def _result(parts: Sequence[Any]) -> tuple[str, bool]:
    """Return the result of a tool as text; True: with long values of its pictures shortened."""
    known = [part for part in parts if isinstance(part, dict)]
    others = [part_trace(part) for part in known if part.get("type") != "text"]
    texts = [_text_of(known), *(trace.text for trace, _ in others)]
    return "\n".join(text for text in texts if text), any(shortened for _, shortened in others)


def _text_of(parts: Sequence[Mapping[str, Any]]) -> str:
    written = [part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str)]
    return "\n".join(written)


class MessageHearing(Hearing):
    """Reads a message, or the events of a streamed one."""

    def _hear(self, told: dict[str, Any]) -> None:
        match told.get("type"):
            case "message":
                for block in told["content"]:
                    self._begin(block)
                self._end(told.get("stop_reason"))
                self.finish = self.finish or "done"
            case "content_block_start":
                self._begin(told["content_block"])
            case "content_block_delta" if told["delta"].get("type") == "text_delta":
                self._say(told["delta"].get("text"))
            case "message_delta":
                self._end(told["delta"].get("stop_reason"))
            case "message_stop":
                self.finish = self.finish or "done"
            case _:
                pass

    def _begin(self, block: Mapping[str, Any]) -> None:
        if block.get("type") == "text":
            self._say(block.get("text"))
        self.acts = self.acts or block.get("type") == "tool_use"

    def _end(self, reason: Any) -> None:
        if isinstance(reason, str):
            self.finish = reason
            self.filtered = reason == REFUSED
            self.acts = self.acts or reason == PAUSED


def _error(failure: Failure) -> dict[str, Any]:
    kind = KINDS.get(failure.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": failure.message, "code": failure.code}}


def _error_event(failure: Failure) -> bytes:
    return b"event: error\ndata: " + msgspec.json.encode(_error(failure)) + b"\n\n"


MESSAGES = ChatApi(
    path="/messages", read=read_messages, hearing=MessageHearing, error=_error, error_event=_error_event
)  # fmt: skip
