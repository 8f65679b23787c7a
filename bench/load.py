"""Clients over real HTTP, each on one connection that stays open, one request behind the other.

Clients are threads with the standard library's connections: what they cost themselves is a few tenths of a millisecond
a request, so two cores are left to what is measured.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from bench.processes import HOST
from memsvc.errors import ConfigurationError

TIMEOUT_S = 30.0
Met = TypeVar("Met")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came, and how long it took."""

    body: bytes
    headers: Mapping[str, str]
    """Names in small letters."""
    milliseconds: float
    """From sending the request until the body's last byte is there."""
    status: int = 200


class Client:
    """One connection."""

    def __init__(self, port: int, key: str = "") -> None:
        """Prepare it; it connects with the first request.

        Args:
            port: of a server on this machine.
            key: sent as bearer.
        """
        self._connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT_S)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Answer:
        """Send JSON.

        Raises:
            ConfigurationError: the answer is not a success.
        """
        answer = self.send(path, body, headers)
        if answer.status >= http.client.MULTIPLE_CHOICES:
            raise ConfigurationError(f"{path} answers {answer.status}: {answer.body[:300].decode(errors='replace')}")
        return answer

    def send(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Answer:
        """Send JSON; a refusal is an answer, too."""
        raw = msgspec.json.encode(body)
        start = time.perf_counter()
        self._connection.request("POST", path, raw, self._headers | dict(headers or {}))
        response = self._connection.getresponse()
        told = response.read()
        milliseconds = (time.perf_counter() - start) * 1_000
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(told, named, milliseconds, response.status)


@dataclass(slots=True)
class Load(Generic[Met]):
    """What some clients met."""

    met: list[Met] = field(default_factory=list)
    seconds: float = 0.0
    """By the clock, for all of them."""
    turns: int = 0
    """All of them, those of the warm-up too."""

    @property
    def per_s(self) -> float:
        """Turns a second."""
        return len(self.met) / self.seconds


def together(clients: Sequence[Callable[[int], Met]], *, seconds: float, warm_up_s: float) -> Load[Met]:
    """Let clients work at the same time, each as fast as it is answered.

    Args:
        clients: each works in a thread of its own; called with the number of the turn, from 0, it gives what it met.
        seconds: turns that begin in that time are counted.
        warm_up_s: so long they work before that.
    """
    load, lock = Load[Met](), threading.Lock()
    begin = time.perf_counter() + warm_up_s
    end = begin + seconds

    def work(turn: Callable[[int], Met]) -> None:
        number, counted = 0, []
        while (now := time.perf_counter()) < end:
            met = turn(number)
            number += 1
            if now >= begin:
                counted.append(met)
        with lock:
            load.met += counted
            load.turns += number

    with ThreadPoolExecutor(len(clients)) as threads:
        for done in [threads.submit(work, client) for client in clients]:
            done.result()
    load.seconds = time.perf_counter() - begin
    return load
