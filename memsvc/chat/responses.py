"""OpenAI's Responses API: reads requests and answers. Whole errors have the form of chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.completions import error
from memsvc.chat.hearing import FILTERED, Hearing
from memsvc.chat.parts import call_trace, item, kind_of, message, result, shortened, text_of, thought
from memsvc.chat.request import ChatRequest, Decode, Trace, Utterance, named_model
from memsvc.turns.chat_turns import response_calls, response_turns

THOUGHTS = frozenset({"summary_text", "reasoning_text"})
PASSED_OVER = frozenset({"item_reference", "compaction"})
"""Kinds of items that are only references, or unreadable."""
CALLS = frozenset({
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call",
    "mcp_approval_request",
})  # fmt: skip
"""Kinds of items that the client has to answer."""
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _Wanted(msgspec.Struct):
    input: str | list[dict[str, Any]] | None = None
    model: str | None = None
    instructions: str | None = None
    previous_response_id: Any = None
    stream: bool | None = None


def read_response(body: bytes, decode: Decode) -> ChatRequest:
    """Read a request.

    Args:
        body: JSON.
        decode: decodes JSON into a type.

    Raises:
        InvalidRequestError: it does not have the form of a request.
    """
    wanted: _Wanted = decode(body, _Wanted)
    fields: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    items = [{"role": "user", "content": wanted.input}] if isinstance(wanted.input, str) else wanted.input or []

    def passing(block: str | None, model: str | None) -> bytes:
        """The block becomes the end of the instructions, which a server does not keep for the next response."""
        whole: dict[str, Any] = dict(fields)
        if block is not None:
            whole["instructions"] = f"{wanted.instructions}\n\n{block}" if wanted.instructions else block
        return msgspec.json.encode(named_model(whole, wanted.model, model))

    previous = wanted.previous_response_id
    return ChatRequest(
        said=_utterances(items),
        passing=passing,
        acts=lambda begin: response_turns(items[begin:]),
        continues=previous if isinstance(previous, str) else "",
    )


def _utterances(items: Sequence[Mapping[str, Any]]) -> list[Utterance]:
    """Return each item; a text of the assistant before calls of tools is not yet an answer."""
    said, acts = list[Utterance](), False
    for at in range(len(items) - 1, -1, -1):
        one, kind = _utterance(at, items[at]), kind_of(items[at])
        if one.is_answer and acts:
            one = replace(one, calls=True, traces=[Trace(role="thinking", text=one.text), *one.traces])
        if kind != "reasoning":
            acts = kind in CALLS
        said.append(one)
    return said[::-1]


def _utterance(at: int, given: Mapping[str, Any]) -> Utterance:
    role, kind = given.get("role"), kind_of(given)
    if kind in {"", "message"} and isinstance(role, str):
        return message(at, role, given.get("content"), name=given.get("name"))
    if kind in PASSED_OVER:
        return Utterance(at=at, role="system")
    if kind.endswith("_output"):
        return item(at, result(given.get("output"), given.get("call_id"), given.get("name")))
    if kind == "reasoning":
        words = (text_of(given.get(name), THOUGHTS) for name in ("summary", "content"))
        return item(at, thought("\n".join(text for text in words if text)))
    if kind in CALLS:
        return item(at, [call_trace(given)])
    text, less = shortened(given)  # what the server did by itself, such as a search
    return item(at, [(Trace(role="tool", text=text), less)])


class ResponseHearing(Hearing):
    """Reads a response, or the events of a streamed one."""

    def __init__(self) -> None:
        """Start with nothing read."""
        super().__init__()
        self._open = 0
        """How many calls the server has not answered itself."""

    def _hear(self, told: dict[str, Any]) -> None:
        if told.get("object") == "response":
            for one in told["output"]:
                self._done(one)
                for part in one["content"] if one.get("type") == "message" else ():
                    self._say(part.get("text") if part.get("type") == "output_text" else None)
            self._end(told)
            return
        kind = told.get("type")
        if kind == "response.output_text.delta":
            self._say(told.get("delta"))
        elif kind == "response.output_item.done":
            self._done(told["item"])
        elif kind in ENDS:
            self._end(told["response"])

    def _done(self, one: Mapping[str, Any]) -> None:
        kind = kind_of(one)
        if kind in CALLS:
            self.called += response_calls([one])
        self._open = max(0, self._open + (kind in CALLS) - kind.endswith("_call_output"))
        self.acts = self._open > 0

    def _end(self, response: Mapping[str, Any]) -> None:
        status = response.get("status")
        self.finish = status if isinstance(status, str) else "done"
        self.filtered = (response.get("incomplete_details") or {}).get("reason") == FILTERED


def _error_event(failure: Failure) -> bytes:
    told = {"type": "error", "code": failure.code, "message": failure.message, "param": None, "sequence_number": 0}
    return b"event: error\ndata: " + msgspec.json.encode(told) + b"\n\n"


RESPONSES = ChatApi(
    path="/responses", read=read_response, hearing=ResponseHearing, error=error, error_event=_error_event
)  # fmt: skip
