"""Anthropic's Messages API: reads requests and answers, and tells errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.hearing import Hearing
from memsvc.chat.parts import message
from memsvc.chat.request import ChatRequest, Decode, named_model
from memsvc.turns.chat_turns import ChatTurn, anthropic_turns

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
    name: Any = None


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

    said = [message(at, one.role, one.content, name=one.name) for at, one in enumerate(wanted.messages)]

    def acts(begin: int) -> list[ChatTurn]:
        return anthropic_turns([{"role": one.role, "content": one.content} for one in wanted.messages[begin:]])

    return ChatRequest(said=said, passing=passing, acts=acts)


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
