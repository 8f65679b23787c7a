"""What chaos tests share: a service whose parts are killed and brought back, and clients that do not give up.

Each process is brought back as a supervisor does it, and clients send again what was not acknowledged.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

import httpx
import psycopg

from tests.acceptance.killpoints import Part, Rig, wait_until

PENDING = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'"
# Jobs of a queue that a worker has in hand, or had when it was killed.
HELD = "SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'consumed' AND queue_name = %s"
RECOVERY_S = 30
"""Within it, what a killed worker held is done by another one."""


class Service:
    """API and two workers on one folder; what is killed is started again."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.url = ""
        self.parts: dict[str, Part] = {}

    def start(self) -> None:
        self.parts["api"] = self.rig.serve("api")
        self.url = self.rig.admin_url()
        self.parts["worker 1"] = self.rig.start("worker")
        self.parts["worker 2"] = self.rig.start("worker")

    def kill(self, victim: str, chance: random.Random, pause: float) -> None:
        """Kill one or several parts, wait, and start again what a supervisor would; the parts start the database."""
        names = {
            "worker": [f"worker {chance.randint(1, 2)}"],
            "workers": ["worker 1", "worker 2"],
            "api": ["api"],
            "database": [],
            "all": ["api", "worker 1", "worker 2"],
        }[victim]
        if victim in {"database", "all"}:
            wait_until(lambda: self.rows("SELECT 1"))  # it may still be coming back from the kill before
        for name in names:
            self.rig.kill(self.parts[name])
        if victim in {"database", "all"}:
            self.rig.kill_database()
        time.sleep(pause)
        for name in names:
            self.parts[name] = self.rig.start(name.split()[0])

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database says; nothing while it is away."""
        with suppress(psycopg.Error), psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            return connection.execute(statement, values).fetchall()
        return []


class Clients:
    """Four threads that post requests and send each again until it is acknowledged."""

    def __init__(self, url: str, key: str, requests: Sequence[tuple[str, list[dict[str, str]]]]) -> None:
        self.url = url
        self.key = key
        self.todo: SimpleQueue[tuple[str, list[dict[str, str]]]] = SimpleQueue()
        for request in requests:
            self.todo.put(request)
        self.answers: Counter[int] = Counter()
        self.acknowledged = 0
        self.wanted = 0
        """Messages to post for now, so that all kills fall into the middle of posting."""
        self.ended = threading.Event()
        self._lock = threading.Lock()

    def post_all(self) -> None:
        with httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.key}"}, timeout=20) as http:
            while not self.ended.is_set():
                if self.acknowledged >= self.wanted:
                    time.sleep(0.005)
                    continue
                try:
                    user, messages = self.todo.get_nowait()
                except Empty:
                    return
                while not self.ended.is_set() and not self._post(http, user, messages):
                    time.sleep(0.05)

    def _post(self, http: httpx.Client, user: str, messages: list[dict[str, str]]) -> bool:
        body: Any = messages[0] if len(messages) == 1 else {"messages": messages}
        try:
            answer = http.post("/v1/messages", json=body, headers={"X-Memsvc-User": user})
        except httpx.TransportError:
            return False
        with self._lock:
            self.answers[answer.status_code] += 1
            self.acknowledged += len(messages) * (answer.status_code == 202)
        return answer.status_code == 202
