"""A real HTTP server that speaks ``POST /chat/completions``, well or badly, by a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECE = 7
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """A good answer of the protocol, whatever its text is worth."""

    text: str | Callable[[Body], str]
    """Or what makes it of the request."""
    finish: str = "stop"
    usage: Mapping[str, Any] | None = field(default_factory=lambda: {"prompt_tokens": 90, "completion_tokens": 10})


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP error."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes with status 200."""

    body: bytes
    kind: str = "application/json"


@dataclass(frozen=True, slots=True)
class Hangs:
    """Says nothing until the server ends; ``text`` comes before, where the answer is a stream."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Dies:
    """Breaks the connection off; after ``text`` where the answer is a stream."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class ByRequest:
    """What to do depends on the request."""

    choose: Callable[[Body], Say | Status | Raw | Hangs | Dies]


Step = Say | Status | Raw | Hangs | Dies | ByRequest


class ChatServer:
    """What the server does and what it was asked."""

    def __init__(self, *steps: Step, otherwise: Step = Say("{}"), refuses: Mapping[str, int] | None = None) -> None:
        """Note the script.

        Args:
            steps: what to do with the next requests.
            otherwise: with all others.
            refuses: statuses for forms of an answer that it does not know, by ``form_of``; these take no step.
        """
        self.steps = list(steps)
        self.otherwise = otherwise
        self.refuses = dict(refuses or {})
        self.requests: list[Body] = []
        """All that came, in order."""
        self.keys: list[str | None] = []
        self.url = ""
        self.go_on = threading.Event()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many requests came."""
        return len(self.requests)

    @property
    def forms(self) -> list[str]:
        """The form that each request asked for."""
        return [form_of(body) for body in self.requests]

    def script(self, *steps: Step) -> None:
        """Do this with the next requests."""
        with self._lock:
            self.steps = list(steps)

    def arrived(self, body: Body, key: str | None) -> Step:
        """Note a request; what to do with it."""
        with self._lock:
            self.requests.append(body)
            self.keys.append(key)
            refusal = self.refuses.get(form_of(body))
            if refusal is not None:
                return Status(refusal)
            step = self.steps.pop(0) if self.steps else self.otherwise
        return step.choose(body) if isinstance(step, ByRequest) else step


def form_of(body: Body) -> str:
    """Which form of an answer a request asks for."""
    wanted = body.get("response_format")
    if wanted is None:
        return "text"
    return f"{wanted['type']} and schema" if "schema" in wanted else str(wanted["type"])


def _whole(say: Say, text: str) -> Body:
    usage = {} if say.usage is None else {"usage": dict(say.usage)}
    message = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "choices": [{"message": message, "finish_reason": say.finish}], **usage}


def _pieces(text: str) -> Iterator[Body]:
    for begin in range(0, len(text), PIECE):
        yield {"choices": [{"index": 0, "delta": {"content": text[begin : begin + PIECE]}, "finish_reason": None}]}


class _Handler(BaseHTTPRequestHandler):
    served: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        step = self.served.arrived(body, self.headers.get("Authorization"))
        with suppress(OSError):  # who asked may have gone
            self.act(step, body)
            self.close_connection = True

    def act(self, step: Step, body: Body) -> None:
        stream = bool(body.get("stream"))
        match step:
            case Say(text):
                said = text if isinstance(text, str) else text(body)
                self.stream(said, step) if stream else self.send(200, json.dumps(_whole(step, said)).encode())
            case Status(code, headers, error):
                self.send(code, json.dumps({"error": dict(error)}).encode(), headers)
            case Raw(raw, kind):
                self.send(200, raw, {"Content-Type": kind})
            case Hangs(text) | Dies(text):
                if stream and text:
                    self.stream(text)
                if isinstance(step, Hangs):
                    self.served.go_on.wait(10)

    def stream(self, text: str, say: Say | None = None) -> None:
        self.head(200, {"Content-Type": "text/event-stream"})
        events: Sequence[Body] = list(_pieces(text))
        if say is not None:
            events = [*events, {"choices": [{"index": 0, "delta": {}, "finish_reason": say.finish}]}]
            events = [*events, {"choices": [], "usage": dict(say.usage)}] if say.usage is not None else events
        for event in events:
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.write(b": a comment\n\ndata: [DONE]\n\n" if say is not None else b"")
        self.wfile.flush()

    def send(self, code: int, answer: bytes, headers: Mapping[str, str] | None = None) -> None:
        plain = {"Content-Type": "application/json", "Content-Length": str(len(answer))}
        self.head(code, plain | dict(headers or {}))
        self.wfile.write(answer)

    def head(self, code: int, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_line: object) -> None:
        """Say nothing."""


@contextmanager
def serving(served: ChatServer) -> Iterator[ChatServer]:
    """Let it answer on a free port of this machine until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"served": served})) as http:
        http.daemon_threads = True
        served.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield served
        finally:
            served.go_on.set()
            http.shutdown()
            thread.join()
