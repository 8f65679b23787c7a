"""A terminal chat that remembers: memsvc passes its requests to any OpenAI-compatible server. It needs no package.

    memsvc user add --name Marcel
    MEMSVC_CHAT_URL=http://127.0.0.1:11434/v1 MEMSVC_CHAT_MODEL=llama3.2 memsvc up &
    MEMSVC_KEY=$(memsvc key create) python examples/chat_client.py --user Marcel

It sends only the last message, because memsvc keeps the history. ``/why`` shows the memories that the last answer used,
``/off`` and ``/on`` switch memory, ``/forget`` erases this conversation (the key needs the scope forget), and an empty
line ends the chat.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any


class Memory:
    """memsvc over HTTP."""

    def __init__(self, url: str, key: str, user: str | None, conversation: str) -> None:
        """Keep the address, the key, the user and the conversation."""
        self.url, self.conversation, self.memory = url.rstrip("/"), conversation, "on"
        self.given: list[str] = []  # ids of the memories that the last answer used
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        if user:
            self.headers["X-Memsvc-User"] = latin1(user)

    def ask(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
        """Post JSON, or get; return the open response, whose lines can be read as they arrive."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(  # noqa: S310 - the address is the caller's own
            f"{self.url}/v1/{path}", data, self.headers | headers
        )
        return urllib.request.urlopen(request, timeout=300)  # noqa: S310

    def chat(self, text: str) -> Iterator[str]:
        """Send a message and yield the answer, piece by piece."""
        body = {"model": "memsvc", "stream": True, "messages": [{"role": "user", "content": text}]}
        where = {"X-Memsvc-Conversation": latin1(self.conversation), "X-Memsvc-Memory": self.memory}
        with self.ask("chat/completions", body, **where) as answer:
            self.given = (answer.headers["X-Memsvc-Memory-Ids"] or "").replace(",", " ").split()
            if answer.headers["X-Memsvc-Memory"] == "degraded":
                print(f"(memory: {answer.headers['X-Memsvc-Memory-Reason']})", file=sys.stderr)
            for line in answer:
                data = line.decode().strip().removeprefix("data:").strip()
                if not line.startswith(b"data:") or data == "[DONE]":
                    continue
                event = json.loads(data)
                if "error" in event:
                    raise OSError(message_of(event))
                for choice in event.get("choices", ()):
                    yield choice.get("delta", {}).get("content") or ""

    def why(self) -> str:
        """Return the memories that the last answer used, one a line."""
        return "\n".join(f"[{name}] {self.text_of(name)}" for name in self.given) or "No memories."

    def text_of(self, name: str) -> str:
        """Return a memory's text."""
        try:
            with self.ask(f"memories/{name}") as answer:
                return str(json.load(answer)["text"])
        except urllib.error.HTTPError as error:
            return f"({reason(error)})"  # it may have been erased since

    def forget(self) -> str:
        """Erase this conversation and return how much was erased."""
        with self.ask("hooks/session-end", {"conversation": self.conversation, "forget": "conversation"}) as answer:
            return json.dumps(json.load(answer)["forgotten"]["counts"])


def latin1(text: str) -> str:
    """Encode text as headers carry it: the bytes of UTF-8."""
    return text.encode().decode("latin-1")


def message_of(document: Any) -> str:
    """Return the message of an error in memsvc's form, OpenAI's, or any other."""
    if isinstance(document, dict) and "detail" in document:
        return f"{document['detail']} {document.get('hint', '')}".strip()
    inner = document.get("error", document) if isinstance(document, dict) else document
    return str(inner.get("message", inner) if isinstance(inner, dict) else inner)


def reason(error: urllib.error.HTTPError) -> str:
    """Return the reason why a request was refused."""
    body = error.read().decode(errors="replace").strip()
    try:
        return message_of(json.loads(body))
    except ValueError:  # a page of a proxy, or nothing
        return f"{error}: {body[:500]}"


def execute(memory: Memory, command: str) -> str:
    """Execute a command, a line that begins with a slash."""
    match command:
        case "/why":
            return memory.why()
        case "/on" | "/off":
            memory.memory = command[1:]
            return f"Memory is {memory.memory}."
        case "/forget":
            return memory.forget()
        case _:
            return "Commands: /why, /on, /off and /forget."


def main() -> None:
    """Chat until an empty line."""
    parser = argparse.ArgumentParser(description="A chat that remembers.")
    parser.add_argument("--url", default="http://127.0.0.1:8765", help="memsvc's address")
    parser.add_argument("--user", help="the user, if the key may act for several")
    parser.add_argument("--conversation", default="terminal")
    chosen = parser.parse_args()
    memory = Memory(chosen.url, os.environ["MEMSVC_KEY"], chosen.user, chosen.conversation)
    while text := sys.stdin.readline().strip():
        try:
            if text.startswith("/"):
                print(execute(memory, text))
                continue
            for piece in memory.chat(text):
                print(piece, end="", flush=True)
            print()
        except urllib.error.HTTPError as error:
            print(reason(error), file=sys.stderr)
        except OSError as error:
            print(f"memsvc cannot be reached: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
