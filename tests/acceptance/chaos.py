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
from itertools import cycle
from queue import Empty, SimpleQueue
from typing import Any

import httpx
import psycopg

from memsvc.server import embedded
from memsvc.settings import Settings
from tests.acceptance.killpoints import Part, Rig, free_port, wait_until
from tests.poolers import Pooler

PENDING = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'"
# Jobs of a queue that a worker has in hand, or had when it was killed.
HELD = "SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'consumed' AND queue_name = %s"
RECOVERY_S = 30
"""Within it, what a killed worker held is done by another one."""


class Service:
    """One or more API processes and two workers on one folder; what is killed is started again."""

    def __init__(self, rig: Rig, *, second_port: int | None = None) -> None:
        """Prepare; nothing runs yet. With a second port there are two API processes behind a pooler."""
        self.rig = rig
        self.url = ""
        self.parts: dict[str, Part] = {}
        self.pooler: Pooler | None = None
        self._ports = [rig.port, *([second_port] if second_port else [])]

    @property
    def urls(self) -> list[str]:
        """Where the API processes listen."""
        return [f"http://127.0.0.1:{port}" for port in self._ports]

    def start(self) -> None:
        self.parts["api"] = self.rig.serve("api")
        self.url = self.rig.admin_url()
        if len(self._ports) > 1:
            self._start_behind_a_pooler()
        self.parts["worker 1"] = self.rig.start("worker")
        self.parts["worker 2"] = self.rig.start("worker")

    def _start_behind_a_pooler(self) -> None:
        """Start the API anew, twice: the first start has made the passwords that the pooler needs."""
        settings = Settings.model_validate({"data_dir": self.rig.data, "database_url": None})
        passwords = {"memsvc_app": settings.secret("app_password")}
        with embedded.running(self.rig.data) as server:
            self.pooler = Pooler(self.rig.data.parent / "pgbouncer", server, free_port(), passwords)
            self.pooler.start()
            wait_until(self.pooler.answers)
            self.rig.environment["MEMSVC_POOLER_URL"] = self.pooler.url()
            self.rig.kill(self.parts["api"])
            self.parts["api"] = self.rig.serve("api")
            self.parts["api 2"] = self._start("api 2")

    def _start(self, name: str) -> Part:
        if name == "api 2":
            return self.rig.start("api", port=str(self._ports[1]))
        return self.rig.start(name.split(maxsplit=1)[0])

    def close(self) -> None:
        """End the pooler; the rig ends its parts itself."""
        if self.pooler is not None:
            self.pooler.kill()

    def kill(self, victim: str, chance: random.Random, pause: float) -> None:
        """Kill one or several parts, wait, and start again what a supervisor would; the parts start the database."""
        names = {
            "worker": [f"worker {chance.randint(1, 2)}"],
            "workers": ["worker 1", "worker 2"],
            "api": [chance.choice([name for name in self.parts if name.startswith("api")])],
            "database": [],
            "pooler": [],
            "all": list(self.parts),
        }[victim]
        if victim in {"database", "all"}:
            wait_until(lambda: self.rows("SELECT 1"))  # it may still be coming back from the kill before
        for name in names:
            self.rig.kill(self.parts[name])
        if victim in {"database", "all"}:
            self.rig.kill_database()
        if self.pooler is not None and victim in {"pooler", "all"}:
            self.pooler.kill()
        time.sleep(pause)
        if self.pooler is not None and victim in {"pooler", "all"}:
            self.pooler.start()
        for name in names:
            self.parts[name] = self._start(name)

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database says; nothing while it is away."""
        with suppress(psycopg.Error), psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            return connection.execute(statement, values).fetchall()
        return []


class Clients:
    """Four threads that post requests and send each again until it is acknowledged."""

    def __init__(self, urls: Sequence[str], key: str, requests: Sequence[tuple[str, list[dict[str, str]]]]) -> None:
        self.urls = urls
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
        """Post until all is acknowledged; what got no answer goes to the next process, as a proxy sends it."""
        urls = cycle(self.urls)
        with httpx.Client(headers={"Authorization": f"Bearer {self.key}"}, timeout=20) as http:
            while not self.ended.is_set():
                if self.acknowledged >= self.wanted:
                    time.sleep(0.005)
                    continue
                try:
                    user, messages = self.todo.get_nowait()
                except Empty:
                    return
                while not self.ended.is_set() and not self._post(http, next(urls), user, messages):
                    time.sleep(0.05)

    def _post(self, http: httpx.Client, url: str, user: str, messages: list[dict[str, str]]) -> bool:
        body: Any = messages[0] if len(messages) == 1 else {"messages": messages}
        try:
            answer = http.post(f"{url}/v1/messages", json=body, headers={"X-Memsvc-User": user})
        except httpx.TransportError:
            return False
        with self._lock:
            self.answers[answer.status_code] += 1
            self.acknowledged += len(messages) * (answer.status_code == 202)
        return answer.status_code == 202
