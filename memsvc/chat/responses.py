"""OpenAI's Responses API: reads requests and answers. Whole errors have the form of chat completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.completions import error
from memsvc.chat.hearing import FILTERED, Hearing
from memsvc.chat.request import ChatRequest, Decode, Trace, Utterance, named_model, part_trace
from memsvc.text.characters import trimmed

TEXTS = frozenset({"input_text", "output_text", "text"})
THOUGHTS = frozenset({"summary_text", "reasoning_text"})
PASSED_OVER = frozenset({"item_reference", "compaction"})
"""Kinds of items that are only references, or unreadable."""
CALLS = frozenset({"function_call", "custom_tool_call", "mcp_approval_request"})
"""Kinds of items that the client has to answer."""
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _Wanted(msgspec.Struct):
    input: str | list[dict[str, Any]] | None = None
    model: str | None = None
    instructions: str | None = None
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

    return ChatRequest(said=list(_utterances(items)), passing=passing)


def _utterances(items: Sequence[Mapping[str, Any]]) -> Iterator[Utterance]:
    """Yield each item; a text of the assistant before calls of tools is not yet an answer."""
    for at, item in enumerate(items):
        one = _utterance(at, item)
        after = next((other for other in items[at + 1 :] if other.get("type") != "reasoning"), {})
        if one.is_answer and after.get("type") in CALLS:
            one = replace(one, calls=True, traces=[Trace(role="thinking", text=one.text)])
        yield one


def _utterance(at: int, item: Mapping[str, Any]) -> Utterance:
    role, kind = item.get("role"), item.get("type", "message")
    if kind == "message" and isinstance(role, str):
        return _message(at, role, item.get("content"))
    if kind in PASSED_OVER:
        return Utterance(at=at, role="system")
    if isinstance(kind, str) and kind.endswith("_output"):
        output = item.get("output")
        text = trimmed(output if isinstance(output, str) else _text_of(output))
        answers = {"tool_call_id": item["call_id"]} if isinstance(item.get("call_id"), str) else {}
        return Utterance(at=at, role="tool", traces=[Trace(role="tool", text=text, metadata=answers)] if text else [])
    if kind == "reasoning":
        text = trimmed("\n".join(_text_of(item.get(name), THOUGHTS) for name in ("summary", "content")))
        return Utterance(at=at, role="tool", traces=[Trace(role="thinking", text=text)] if text else [])
    trace, shortened = part_trace(item)  # a call of a tool
    return Utterance(at=at, role="tool", traces=[replace(trace, role="tool")], shortened=shortened)


def _message(at: int, role: str, content: Any) -> Utterance:
    text = trimmed(content if isinstance(content, str) else _text_of(content))
    if role != "user":
        return Utterance(at=at, role=role, text=text if role == "assistant" else "")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    kept = [part_trace(part) for part in parts if part.get("type") not in TEXTS]
    return Utterance(
        at=at,
        role="user",
        text=text,
        traces=[trace for trace, _ in kept],
        shortened=any(shortened for _, shortened in kept),
    )


def _text_of(parts: Any, kinds: frozenset[str] = TEXTS) -> str:
    known = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    written = [part.get("text") for part in known if part.get("type") in kinds]
    return "\n".join(text for text in written if isinstance(text, str))


class ResponseHearing(Hearing):
    """Reads a response, or the events of a streamed one."""

    def _hear(self, told: dict[str, Any]) -> None:
        if told.get("object") == "response":
            for item in told["output"]:
                self._hear_item(item)
            self._end(told)
            return
        kind = told.get("type")
        if kind == "response.output_text.delta":
            self._say(told.get("delta"))
        elif kind == "response.output_item.done":
            self.acts = self.acts or told["item"].get("type") in CALLS
        elif kind in ENDS:
            self._end(told["response"])

    def _hear_item(self, item: Mapping[str, Any]) -> None:
        self.acts = self.acts or item.get("type") in CALLS
        for part in item["content"] if item.get("type") == "message" else ():
            self._say(part.get("text") if part.get("type") == "output_text" else None)

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
