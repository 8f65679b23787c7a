"""A mail server that speaks as much IMAP as memsvc.feeds.mailboxes asks for, over TLS or plainly, on this machine.

It is strict: commands that would change a mailbox are answered with BAD and noted in ``changing``.
"""

from __future__ import annotations

import re
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

READING = frozenset({"CAPABILITY", "LOGIN", "EXAMINE", "UID", "LOGOUT", "NOOP"})
ARGUMENT = re.compile(rb'"((?:[^"\\]|\\.)*)"|(\S+)')


@dataclass
class Mails:
    """What the server has."""

    password: str = "right"
    validity: int = 7
    mails: dict[int, bytes] = field(default_factory=dict)
    changing: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    breaks_after: int | None = None
    """Breaks off after so many mails were handed out."""
    port: int = 0


class _Session(socketserver.StreamRequestHandler):
    server: _Server

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        self.say("* OK IMAP4rev1 ready")
        for raw in self.rfile:
            words = [(quoted or plain).replace(b"\\", b"").decode() for quoted, plain in ARGUMENT.findall(raw.strip())]
            tag, command, *rest = words
            self.server.mails.commands.append(command.upper())
            if command.upper() not in READING:
                self.server.mails.changing.append(command)
                self.say(f"{tag} BAD {command}")
            elif not self.answer(tag, command.upper(), rest):
                return

    def answer(self, tag: str, command: str, rest: list[str]) -> bool:  # noqa: C901 - a case for each command
        mails = self.server.mails
        if command == "CAPABILITY":
            self.say("* CAPABILITY IMAP4rev1")
        elif command == "LOGIN" and rest[1] != mails.password:
            self.say(f"{tag} NO [AUTHENTICATIONFAILED] {rest[1]} is wrong")
            return True
        elif command == "EXAMINE":
            if rest[0] not in {"INBOX", "Entw&APw-rfe"}:
                self.say(f"{tag} NO no such mailbox")
                return True
            self.say(f"* {len(mails.mails)} EXISTS")
            self.say(f"* OK [UIDVALIDITY {mails.validity}] of these UIDs")
        elif command == "UID" and rest[0].upper() == "SEARCH":
            first = int(rest[2].partition(":")[0])
            found = [uid for uid in mails.mails if uid >= first] or list(mails.mails)[-1:]
            self.say("* SEARCH " + " ".join(map(str, found)))
        elif command == "UID" and rest[0].upper() == "FETCH":
            for uid in map(int, rest[1].split(",")):
                if mails.breaks_after == 0:
                    return False
                if mails.breaks_after is not None:
                    mails.breaks_after -= 1
                if uid in mails.mails:
                    content = mails.mails[uid]
                    self.wfile.write(f"* 1 FETCH (UID {uid} BODY[]<0> {{{len(content)}}}\r\n".encode() + content)
                    self.say(")")
        elif command == "UID":
            mails.changing.append(rest[0])
        elif command == "LOGOUT":
            self.say("* BYE")
        self.say(f"{tag} OK done")
        return command != "LOGOUT"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    mails: Mails
    context: ssl.SSLContext | None

    def get_request(self) -> tuple[ssl.SSLSocket, tuple[str, int]]:
        connection, address = self.socket.accept()
        if self.context is not None:
            connection = self.context.wrap_socket(connection, server_side=True)
        return connection, address  # type: ignore[return-value]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients break off, and refuse certificates."""


@contextmanager
def imap_server(context: ssl.SSLContext | None = None) -> Iterator[Mails]:
    """Run a server; what it has may be changed meanwhile.

    Args:
        context: its certificate; None: it speaks plainly.
    """
    with _Server(("localhost", 0), _Session) as server:
        server.mails, server.context = Mails(), context
        server.mails.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.mails
        finally:
            server.shutdown()
            thread.join()
