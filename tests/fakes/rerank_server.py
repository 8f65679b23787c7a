"""A real HTTP server that speaks ``POST /rerank``, well or badly, one mode after the other."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Mode = Literal["ok", "500", "401", "slow", "too few", "NaN", "words", "garbage", "shape", "redirect", "dies"]


class RerankServer:
    """What the server does and what it was asked."""

    def __init__(self) -> None:
        """Score by length: the shortest text first."""
        self.modes: list[Mode] = []
        """What to do with the next requests; "ok" when there is none left."""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""
        self.go_on = threading.Event()
        """Lets slow answers go."""

    def answer(self, mode: Mode, texts: list[str]) -> bytes:
        """The body of an answer."""
        rows: list[dict[str, Any]] = [
            {"index": index, "relevance_score": 1 / (1 + len(text)), "document": {"text": text}}
            for index, text in enumerate(texts)
        ]
        match mode:
            case "garbage":
                return b"<html>It works!</html>"
            case "shape":
                return b'{"results": [1, 2, 3]}'
            case "too few":
                rows = rows[:-1]
            case "NaN":
                rows[-1]["relevance_score"] = float("nan")
            case "words":
                rows[-1]["relevance_score"] = "0.9"
        by_score = sorted(rows, key=lambda row: -len(str(row["document"])))
        return json.dumps({"model": "fake", "results": by_score}).encode()  # whoever reads it must look at the index


def _handler(server: RerankServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append({"path": self.path, **body})
            server.keys.append(self.headers.get("Authorization"))
            mode = server.modes.pop(0) if server.modes else "ok"
            with suppress(OSError):  # who asked may have gone
                self.act(mode, body["documents"])

        def act(self, mode: Mode, texts: list[str]) -> None:
            match mode:
                case "dies":
                    self.connection.close()
                    return
                case "slow":
                    server.go_on.wait(5)
                case "500" | "401":
                    self.send_response(int(mode))
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
def rerank_server() -> Iterator[RerankServer]:
    """A server on a free port of this machine until the block ends."""
    served = RerankServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(served)) as http:
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
