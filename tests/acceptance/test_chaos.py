"""A thousand messages while API, workers and database are killed at random: each is stored and embedded once.

Each process is brought back as a supervisor does it, and clients send again what was not acknowledged. The model is a
server's, which counts what it is asked; MEMSVC_TEST_CHAOS_MODEL names another one, such as onnx:all-MiniLM-L6-v2, and
MEMSVC_TEST_CHAOS_SEEDS further seeds (1,2,3).
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Part, Rig, assert_books_right, assert_no_job_waits, wait_until
from tests.fakes.embedding_server import EmbeddingServer, embedding_server

pytestmark = pytest.mark.acceptance
SEEDS = [int(seed) for seed in os.environ.get("MEMSVC_TEST_CHAOS_SEEDS", "4").split(",")]
MODEL = os.environ.get("MEMSVC_TEST_CHAOS_MODEL", "openai:counting")
USERS = ("ada", "bob", "eve")
KILLS = ("worker", "database", "api", "worker", "all", "database", "worker", "api", "workers", "database")
RECOVERY_S = 30
SECONDS_A_TEXT = 0.004

# Messages whose vectors of the active model are not exactly one.
NOT_EMBEDDED_ONCE = """
SELECT p.text, count(e.passage_id) FROM memsvc.passages AS p
LEFT JOIN memsvc.embeddings AS e ON e.user_id = p.user_id AND e.passage_id = p.passage_id
  AND e.model_id = (SELECT model_id FROM memsvc.embedding_models WHERE state = 'active')
WHERE p.kind = 'message' GROUP BY p.user_id, p.passage_id, p.text HAVING count(e.passage_id) <> 1
"""
PENDING = "SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'"
HELD = "SELECT message_id FROM memsvc.dramatiq_queue WHERE state = 'consumed' AND queue_name = 'models'"


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


def requests_of(chance: random.Random) -> list[tuple[str, list[dict[str, str]]]]:
    """1,000 messages of three users in seven conversations each: 200 alone, 800 in batches of 20; in any order."""
    made = []
    for number in range(240):
        user = USERS[number % 3]
        size = 1 if number < 200 else 20
        messages = [
            {
                "conversation": f"{user} {chance.randrange(7)}",
                "id": f"{number}x{part}",
                "speaker": user,
                "text": f"Message {number}x{part} of {user} is about bridges, gardens and zebra{number}x{part}.",
            }
            for part in range(size)
        ]
        made.append((user, messages))
    chance.shuffle(made)
    return made


@pytest.fixture
def rig(prepared: Path, server: EmbeddingServer) -> Iterator[Rig]:
    """A private memsvc of this test, with the model of the server."""
    with private_folder(prepared) as data, Rig(data, embedding_model=MODEL, embedding_url=server.url) as made:
        yield made


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """The server of the model, with the pace of a small real one."""
    with embedding_server() as made:
        made.model.before = lambda texts: time.sleep(SECONDS_A_TEXT * len(texts))
        yield made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_messages_survive_every_kill(rig: Rig, server: EmbeddingServer, seed: int) -> None:
    chance = random.Random(seed)
    for user in USERS:
        rig.ok("user", "add", "--name", user, "--app", "chaos")
    key = json.loads(rig.ok("key", "create", "--app", "chaos", "--json"))["key"]
    service = Service(rig)
    service.start()
    requests = requests_of(chance)
    clients = Clients(rig.url, key, requests)
    victims = chance.sample(KILLS, len(KILLS))
    began = time.monotonic()
    with ExitStack() as stack, ThreadPoolExecutor(4) as threads:
        stack.callback(clients.ended.set)
        posting = [threads.submit(clients.post_all) for _ in range(4)]
        try:
            for number, victim in enumerate(victims):
                clients.wanted = 1_000 * (number + 1) // len(victims)
                enough = 1_000 * number // len(victims) + chance.randrange(1, 60)
                wait_until(lambda wanted=enough: clients.acknowledged >= wanted)  # type: ignore[misc]
                if victim.startswith("worker"):  # in the middle of work
                    wait_until(lambda: service.rows(HELD))
                time.sleep(chance.uniform(0, 0.05))
                service.kill(victim, chance, chance.uniform(0, 0.5))
            clients.wanted = 1_001
            for client in posting:
                client.result(60)
        finally:
            clients.ended.set()
    assert set(clients.answers) <= {202, 503}
    wait_until(lambda: service.rows(PENDING) == [(0,)], seconds=RECOVERY_S + 1_000 * SECONDS_A_TEXT)
    asked = Counter(text for request in server.requests for text in request["input"] if text != "dimensions")
    recovered, held = recovery_from_the_last_kill(service, chance)
    finished = time.monotonic() - began

    with rig.admin() as admin:
        sent = {message["id"]: message["text"] for _, messages in requests for message in messages}
        stored: dict[str, str] = {}
        for user in USERS:
            for number in range(7):
                stored |= rig.texts(admin, f"{user} {number}")
        assert stored == sent
        assert len(sent) == 1_000
        assert admin.execute("SELECT count(*) FROM memsvc.passages").fetchone() == (1_000,)
        assert admin.execute(NOT_EMBEDDED_ONCE).fetchall() == []
        assert_no_job_waits(admin)
        assert_books_right(admin)
        assert admin.execute("SELECT count(*) FROM memsvc.dramatiq_queue").fetchone() == (0,)
    print(  # noqa: T201 - for who looks with -s
        f"seed {seed}: {', '.join(victims)}; answers {dict(clients.answers)}; {held} jobs held at the last kill, done "
        f"{recovered:.1f} s later; all in {finished:.0f} s; texts asked for more than once: "
        f"{sum(count > 1 for count in asked.values())} of {len(asked)}"
    )
    for part in rig.parts:
        assert "Traceback" not in part.errors.read_text(), part.errors.read_text()[-3_000:]


def recovery_from_the_last_kill(service: Service, chance: random.Random) -> tuple[float, int]:
    """Kill both workers while they hold jobs, and start them again: seconds until these are done, and their number."""
    ask = "SELECT memsvc.ask_job(user_id, 'process', source_id) FROM memsvc.sources"
    service.rows("DELETE FROM memsvc.embeddings")  # work for all conversations, all at once
    asked = service.rows(ask)
    assert len(asked) == 21
    wait_until(lambda: len(service.rows(HELD)) == 2)
    for name in ("worker 1", "worker 2"):
        service.rig.kill(service.parts[name])
    killed = time.monotonic()
    held: list[UUID] = [row[0] for row in service.rows(HELD)]
    assert held
    service.parts["worker 1"] = service.rig.start("worker")
    service.parts["worker 2"] = service.rig.start("worker")
    left = "SELECT FROM memsvc.jobs WHERE job_id = ANY (%s) AND state = 'pending'"
    wait_until(lambda: not service.rows(left, held), seconds=RECOVERY_S)
    recovered = time.monotonic() - killed
    wait_until(lambda: service.rows(PENDING) == [(0,)], seconds=RECOVERY_S)
    return recovered, len(held)
