"""OpenAI's chat completions: reads requests and answers, and tells errors."""

from __future__ import annotations

from typing import Any

import msgspec

from memsvc.chat.apis import ChatApi, Failure
from memsvc.chat.hearing import FILTERED, Hearing
from memsvc.chat.parts import item, message, result
from memsvc.chat.request import ChatRequest, Decode, Utterance, named_model
from memsvc.turns.chat_turns import ChatTurn, chat_turns

SYSTEM = frozenset({"system", "developer"})
END = b"[DONE]"
RESULTS = frozenset({"tool", "function"})


class _Message(msgspec.Struct):
    """The fields of a message that memory reads. The rest concerns only the chat server."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: Any = None
    function_call: Any = None
    tool_call_id: Any = None


class _Wanted(msgspec.Struct):
    messages: list[_Message]
    model: str | None = None
    stream: bool | None = None


def read_completion(body: bytes, decode: Decode) -> ChatRequest:
    """Read a request.

    Args:
        body: JSON.
        decode: decodes JSON into a type.

    Raises:
        InvalidRequestError: it does not have the form of a request.
    """
    wanted: _Wanted = decode(body, _Wanted)
    fields: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    messages: list[msgspec.Raw] = decode(bytes(fields["messages"]), list[msgspec.Raw])
    roles = [one.role for one in wanted.messages]
    system = next((index for index, role in enumerate(roles) if role not in SYSTEM), len(roles))

    def passing(block: str | None, model: str | None) -> bytes:
        """The block becomes a system message after the client's own at the start."""
        told = [] if block is None else [msgspec.Raw(msgspec.json.encode({"role": "system", "content": block}))]
        whole = {**fields, "messages": [*messages[:system], *told, *messages[system:]]}
        return msgspec.json.encode(named_model(whole, wanted.model, model))

    def acts(begin: int) -> list[ChatTurn]:
        return chat_turns([decode(bytes(one), dict[str, Any]) for one in messages[begin:]])

    said = [_utterance(index, one) for index, one in enumerate(wanted.messages)]
    return ChatRequest(said=said, passing=passing, acts=acts)


def _utterance(at: int, said: _Message) -> Utterance:
    if said.role in RESULTS:
        return item(at, result(said.content, said.tool_call_id, said.name))
    calls = said.tool_calls if isinstance(said.tool_calls, list) else []
    calls = [call for call in (*calls, said.function_call) if call] if said.role == "assistant" else []
    return message(at, said.role, said.content, name=said.name, calls=calls)


class CompletionHearing(Hearing):
    """Reads the first choice of an answer."""

    def _take(self, document: bytes) -> None:
        if document == END:
            self.finish = self.finish or "done"  # some servers give no reason
        else:
            super()._take(document)

    def _hear(self, told: dict[str, Any]) -> None:
        choice = next(choice for choice in told["choices"] if not choice.get("index"))
        said = choice.get("message") or choice.get("delta") or {}
        self._say(said.get("content"))
        self.acts = self.acts or bool(said.get("tool_calls") or said.get("function_call"))
        if isinstance(finish := choice.get("finish_reason"), str):
            self.finish = finish
            self.filtered = finish == FILTERED


def error(failure: Failure) -> dict[str, Any]:
    """An error in the form of OpenAI's API."""
    told = {"message": failure.message, "type": "memsvc_error", "code": failure.code, "param": failure.field}
    return {"error": told}


def _error_event(failure: Failure) -> bytes:
    return b"data: " + msgspec.json.encode(error(failure)) + b"\n\n"


COMPLETIONS = ChatApi(
    path="/chat/completions",
    read=read_completion,
    hearing=CompletionHearing,
    error=error,
    error_event=_error_event,
)
