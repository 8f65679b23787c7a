"""A chat server as the drop-in door meets it: scripted, over real HTTP; it keeps what it was told.

Unlike ``tests/fakes/chat_server.py``, which answers questions of memsvc's own, it sends bytes that the door must pass
on as they are, and it notices who breaks off.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass(slots=True)
class Asked:
    """A request that came."""

    path: str
    headers: dict[str, str]
    body: Body

    @property
    def memory(self) -> str:
        """What memory told in it: the system message, or the text with it, that is memsvc's; empty: nothing."""
        told = [one["content"] for one in self.body.get("messages", []) if one["role"] == "system"]
        system = self.body.get("system")
        told += [part["text"] for part in system] if isinstance(system, list) else [system]
        told += [self.body.get("instructions")]
        return next((text for text in told if text and "[memsvc context" in text), "")


Act = Callable[[Asked, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class FakeUpstream:
    """The server; ``act`` decides what each request gets."""

    act: Act
    asked: list[Asked] = field(default_factory=list)
    broken_off: asyncio.Event = field(default_factory=asyncio.Event)
    """Somebody went away before the end."""
    url: str = ""

    @property
    def memory(self) -> str:
        """What memory told in the last request."""
        return self.asked[-1].memory

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            asked = Asked(first.split()[1], headers, json.loads(raw) if raw else {})
            self.asked.append(asked)
            acting = asyncio.create_task(self.act(asked, writer))
            gone = asyncio.create_task(reader.read(1))
            await asyncio.wait({acting, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not acting.done():
                self.broken_off.set()
                acting.cancel()
            gone.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await acting
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def response(
    body: Body | bytes, status: int = 200, kind: str = "application/json", headers: dict[str, str] | None = None
) -> bytes:
    """A whole response."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(raw)}\r\nConnection: close\r\n{more}\r\n"
    )
    return head.encode() + raw


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def completion(text: str | None, finish: str = "stop", **message: Any) -> Body:
    """A whole answer."""
    said = {"role": "assistant", "content": text, **message}
    return {
        "id": "c-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip


def event(delta: Body, finish: str | None = None) -> bytes:
    """An event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    told = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [choice]}
    return b"data: " + json.dumps(told, ensure_ascii=False).encode() + b"\n\n"


def stream(*pieces: str) -> bytes:
    """All events of a stream that says these pieces."""
    said = b"".join(event({"content": piece}) for piece in pieces)
    return event({"role": "assistant"}) + said + event({}, "stop") + b"data: [DONE]\n\n"


def message(*content: Body, stop: str = "end_turn") -> Body:
    """A whole answer of Anthropic's API."""
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": list(content),
        "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def message_stream(*pieces: str, stop: str = "end_turn") -> bytes:
    """All events of a stream of Anthropic's API that says these pieces."""
    begun = message() | {"stop_reason": None}
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    events: list[Body] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", **block},
        {"type": "ping"},
    ]
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    events += [{"type": "content_block_stop", "index": 0}]
    end = {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}}
    return named_events(*events, {"type": "message_delta", **end}, {"type": "message_stop"})


def model_response(*output: Body, status: str = "completed", **more: Any) -> Body:
    """A whole answer of OpenAI's Responses API."""
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m-1", "status": status, "output": list(output),
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], **more,
    }  # fmt: skip


def output_message(text: str) -> Body:
    """An item of such an answer that says this."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "item_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def response_stream(*pieces: str) -> bytes:
    """All events of a stream of the Responses API that says these pieces."""
    said = {"item_id": "item_1", "output_index": 0, "content_index": 0, "logprobs": []}
    done = model_response(output_message("".join(pieces)))
    events: list[Body] = [{"type": "response.created", "response": model_response(status="in_progress")}]
    events += [{"type": "response.output_text.delta", "delta": piece, **said} for piece in pieces]
    events += [{"type": "response.output_item.done", "output_index": 0, "item": done["output"][0]}]
    events += [{"type": "response.completed", "response": done}]
    return named_events(*({**one, "sequence_number": number} for number, one in enumerate(events)))


def named_events(*events: Body) -> bytes:
    """Events of a stream, each with its type as its name."""
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


def says(text: str = "Noted.") -> Act:
    """Answers each request with this, in the way that is asked for and in the form of its API."""

    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        pieces = text.split(" ")
        if asked.path.endswith("/messages"):
            whole, streamed = message({"type": "text", "text": text}), message_stream(*pieces)
        elif asked.path.endswith("/responses"):
            whole, streamed = model_response(output_message(text)), response_stream(*pieces)
        else:
            whole, streamed = completion(text), stream(*pieces)
        writer.write(STREAM_HEAD + streamed if asked.body.get("stream") else response(whole))
        await writer.drain()

    return act


def sends(raw: bytes, then: float | None = None) -> Act:
    """Sends bytes, then is silent for some seconds; None: ends."""

    async def act(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        if then is not None:
            await asyncio.sleep(then)

    return act


@asynccontextmanager
async def serving() -> AsyncIterator[FakeUpstream]:
    """Let one answer on a free port of this machine until the block ends."""
    fake = FakeUpstream(says())
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield fake
    finally:
        server.close()
        await server.wait_closed()
