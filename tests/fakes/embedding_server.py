"""A real HTTP server that speaks ``POST /v1/embeddings``, well or badly, one mode after the other."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from tests.fakes.embedders import WordsEmbedder

Mode = Literal["ok", "429", "500", "400", "401", "slow", "wrong count", "NaN", "garbage", "shape", "redirect", "dies"]


class EmbeddingServer:
    """What the server does and what it was asked."""

    def __init__(self, dimensions: int) -> None:
        """Serve vectors of so many dimensions."""
        self.model = WordsEmbedder(dimensions)
        self.modes: list[Mode] = []
        """What to do with the next requests; "ok" when there is none left."""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""

    def answer(self, mode: Mode, texts: list[str]) -> bytes:
        """The body of an answer."""
        vectors: list[list[float]] = self.model.embed(texts).tolist()
        match mode:
            case "garbage":
                return b"<html>It works!</html>"
            case "shape":
                return b'{"data": [1, 2, 3]}'
            case "wrong count":
                vectors = vectors[:-1]
            case "NaN":
                vectors[-1][0] = float("nan")
        rows = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        return json.dumps({"object": "list", "data": rows[::-1], "model": "fake"}).encode()  # order is by index


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append({"path": self.path, **body})
            server.keys.append(self.headers.get("Authorization"))
            mode = server.modes.pop(0) if server.modes else "ok"
            with suppress(OSError):  # who asked may have gone
                self.act(mode, body["input"])

        def act(self, mode: Mode, texts: list[str]) -> None:
            match mode:
                case "dies":
                    self.connection.close()
                    return
                case "slow":
                    time.sleep(1)
                case "429" | "500" | "400" | "401":
                    self.send_response(int(mode))
                    self.send_header("Retry-After", "0")
                    self.end_headers()
                    return
                case "redirect":
                    self.send_response(302)
                    self.send_header("Location", f"{server.url}/elsewhere")
                    self.end_headers()
                    return
            answer = server.answer(mode, texts)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_line: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def embedding_server(dimensions: int = 8) -> Iterator[EmbeddingServer]:
    """A server on a free port of this machine until the block ends."""
    served = EmbeddingServer(dimensions)
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(served)) as http:
        http.daemon_threads = True
        served.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield served
        finally:
            http.shutdown()
            thread.join()
