"""A scripted chat server, served by Granian in a process of its own: it waits a little, and says the same each time.

It answers ``POST /v1/chat/completions`` as OpenAI's servers do, whole or as a stream of ``PIECES`` pieces.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from bench.harness import REPOSITORY, Bench
from bench.processes import HOST, Serving, environment, free_port, listening

THINKS_S, PIECES = 0.05, 12
ANSWER = "You meet Ines at the Lindenhof on Friday at half past six, and Marcel brings the oak samples that she wanted."
MODEL = "scripted"
Message = dict[str, Any]


def _whole() -> bytes:
    return msgspec.json.encode(
        {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": MODEL,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
        }
    )  # fmt: skip


def _pieces() -> Iterator[bytes]:
    size = -(-len(ANSWER) // PIECES)
    parts = [{"content": ANSWER[start : start + size]} for start in range(0, len(ANSWER), size)]
    for part, finish in [*((part, None) for part in parts), ({}, "stop")]:
        chunk = {
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": MODEL,
            "choices": [{"index": 0, "delta": part, "finish_reason": finish}],
        }  # fmt: skip
        yield b"data: " + msgspec.json.encode(chunk) + b"\n\n"
    yield b"data: [DONE]\n\n"


async def application(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    """The server, as an ASGI application."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        part = await receive()
        body, more = body + part.get("body", b""), part.get("more_body", False)
    stream = bool(msgspec.json.decode(body).get("stream"))
    await asyncio.sleep(THINKS_S)
    kind = b"text/event-stream" if stream else b"application/json"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    for piece in _pieces() if stream else [_whole()]:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@contextmanager
def upstream(bench: Bench) -> Iterator[Serving]:
    """The server while the block runs."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "asginl", "--host", HOST, "--port", str(port), "--no-ws",
        "--no-log", "bench.upstream:application",
    ]  # fmt: skip
    with listening(command, environment(bench), REPOSITORY, port) as serving:
        yield serving
