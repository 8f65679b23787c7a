"""Listens on this machine and passes requests on to a memsvc with a key, for programs that cannot send one.

``MEMSVC_KEY=mk_… python ops/mcp_with_key.py 8765 8766``: what calls port 8766 is answered by port 8765. All headers
pass unchanged, Host and Origin too, so a web page of another site is refused as it is without this program. The
official conformance suite of MCP needs it (docs/mcp.md). It answers whoever is on this
machine: end it when the run is over.
"""

from __future__ import annotations

import http.client
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OF_ONE_CONNECTION = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})
"""Headers that are not passed on."""


class WithKey(BaseHTTPRequestHandler):
    """Passes each request on."""

    protocol_version = "HTTP/1.1"
    service_port: int
    key: str

    def do_POST(self) -> None:
        """Pass it on with the key, and its answer back."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        service = http.client.HTTPConnection("127.0.0.1", self.service_port)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OF_ONE_CONNECTION}
        service.request(self.command, self.path, body, {**headers, "Authorization": f"Bearer {self.key}"})
        answer = service.getresponse()
        told = answer.read()
        service.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OF_ONE_CONNECTION:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def do_GET(self) -> None:
        """Pass it on, too."""
        self.do_POST()

    def do_DELETE(self) -> None:
        """Pass it on, too."""
        self.do_POST()


def main() -> None:
    """Serve until the program is ended."""
    WithKey.service_port, listening = int(sys.argv[1]), int(sys.argv[2])
    WithKey.key = os.environ["MEMSVC_KEY"]
    ThreadingHTTPServer(("127.0.0.1", listening), WithKey).serve_forever()


if __name__ == "__main__":
    main()
