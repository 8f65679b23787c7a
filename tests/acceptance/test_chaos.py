"""A thousand messages while API, workers and database are killed at random: each is stored and embedded once.

The model is a server's, which counts what it is asked; MEMSVC_TEST_CHAOS_MODEL names another one, such as
onnx:all-MiniLM-L6-v2, and MEMSVC_TEST_CHAOS_SEEDS further seeds (1,2,3).
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import pytest

from tests.acceptance.chaos import HELD, PENDING, RECOVERY_S, Clients, Service
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, assert_books_right, assert_no_job_waits, free_port, wait_until
from tests.fakes.embedding_server import EmbeddingServer, embedding_server

pytestmark = pytest.mark.acceptance
SEEDS = [int(seed) for seed in os.environ.get("MEMSVC_TEST_CHAOS_SEEDS", "4").split(",")]
MODEL = os.environ.get("MEMSVC_TEST_CHAOS_MODEL", "openai:counting")
USERS = ("ada", "bob", "eve")
KILLS = ("worker", "database", "api", "worker", "all", "database", "worker", "api", "workers", "database")
"""What is killed, in any order. Behind a pooler, it is killed too."""
SECONDS_A_TEXT = 0.004

# Messages whose vectors of the active model are not exactly one.
NOT_EMBEDDED_ONCE = """
SELECT p.text, count(e.passage_id) FROM memsvc.passages AS p
LEFT JOIN memsvc.embeddings AS e ON e.user_id = p.user_id AND e.passage_id = p.passage_id
  AND e.model_id = (SELECT model_id FROM memsvc.embedding_models WHERE state = 'active')
WHERE p.kind = 'message' GROUP BY p.user_id, p.passage_id, p.text HAVING count(e.passage_id) <> 1
"""


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


@pytest.mark.parametrize("pooled", [False, True], ids=["one process", "two processes and a pooler"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_messages_survive_every_kill(
    rig: Rig, server: EmbeddingServer, seed: int, request: pytest.FixtureRequest, *, pooled: bool
) -> None:
    chance = random.Random(seed)
    for user in USERS:
        rig.ok("user", "add", "--name", user, "--app", "chaos")
    key = json.loads(rig.ok("key", "create", "--app", "chaos", "--json"))["key"]
    service = Service(rig, second_port=free_port() if pooled else None)
    request.addfinalizer(service.close)
    service.start()
    requests = requests_of(chance)
    clients = Clients(service.urls, key, requests)
    kills = (*KILLS, "pooler", "pooler") if pooled else KILLS
    victims = chance.sample(kills, len(kills))
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
                    wait_until(lambda: service.rows(HELD, "models"))
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
    wait_until(lambda: len(service.rows(HELD, "models")) == 2)
    for name in ("worker 1", "worker 2"):
        service.rig.kill(service.parts[name])
    killed = time.monotonic()
    held: list[UUID] = [row[0] for row in service.rows(HELD, "models")]
    assert held
    service.parts["worker 1"] = service.rig.start("worker")
    service.parts["worker 2"] = service.rig.start("worker")
    left = "SELECT FROM memsvc.jobs WHERE job_id = ANY (%s) AND state = 'pending'"
    wait_until(lambda: not service.rows(left, held), seconds=RECOVERY_S)
    recovered = time.monotonic() - killed
    wait_until(lambda: service.rows(PENDING) == [(0,)], seconds=RECOVERY_S)
    return recovered, len(held)
