"""Nothing accepted is lost and nothing is doubled, whatever is killed, at whatever moment. fsync is on here."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig, assert_books_right, assert_no_job_waits, counted, delays, wait_until

pytestmark = pytest.mark.acceptance
TURNS = 1_500
SMALL_BATCHES = {"max_batch": "100"}


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A private memsvc without a model: what is killed here writes texts and statistics; test_chaos kills vectors."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made:
        yield made


def talk(name: str, turns: int) -> tuple[list[dict[str, str]], dict[str, dict[str, str]]]:
    """Rows of a file with two conversations, and the texts that must be stored by conversation and identity.

    One has ids, the other has places only. Some turns say the same as others, some are long enough to be split.
    """
    rows: list[dict[str, str]] = []
    expected: dict[str, dict[str, str]] = {f"{name}-ids": {}, f"{name}-places": {}}
    for i in range(turns):
        text = f"Turn {i} speaks of bridges, gardens and {i % 13} cats; its code word is quark{name}{i}."
        if i % 10 == 0:
            text = "Yes, exactly."
        if i % 100 == 7:
            text = " ".join(f"Sentence {n} of the long turn {i} goes on about weather and trains." for n in range(40))
        row = {"session_id": f"S{i // 200}", "speaker": ("Ada", "Bob")[i % 2], "text": text}
        row["session_time"] = f"2026-01-{1 + i // 200:02d}T10:00:00+01:00"
        conversation = f"{name}-ids" if i % 3 else f"{name}-places"
        identity = f"{name}:{i}" if i % 3 else f"{row['session_id']}/{i}"
        rows.append({**row, "conversation_id": conversation, **({"turn_id": identity} if i % 3 else {})})
        expected[conversation][identity] = text
    return rows, expected


def file_of(rig: Rig, name: str, rows: Sequence[dict[str, str]]) -> Path:
    path = rig.cwd / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ingest_of(rig: Rig, name: str) -> tuple[tuple[str, ...], dict[str, dict[str, str]]]:
    """The command that takes a fresh file in for a fresh user, and what must be stored."""
    rows, expected = talk(name, TURNS)
    rig.ok("user", "add", "--name", "Ada", "--app", name)
    return ("ingest", str(file_of(rig, name, rows)), "--app", name, "--json"), expected


def assert_all_there(
    rig: Rig, admin: psycopg.Connection, command: Sequence[str], expected: dict[str, dict[str, str]]
) -> None:
    for conversation, texts in expected.items():
        assert rig.texts(admin, conversation) == texts
    assert_books_right(admin)
    assert_no_job_waits(admin)
    assert counted(rig.ok(*command)) == {"created": 0, "existing": TURNS, "erased": 0, "paused": 0}
    for conversation, texts in expected.items():
        assert rig.texts(admin, conversation) == texts
    assert_books_right(admin)


def test_an_ingest_killed_again_and_again_loses_and_doubles_nothing(rig: Rig) -> None:
    command, expected = ingest_of(rig, "killed")
    with rig.admin() as admin:
        with rig.held("term_deltas") as in_the_middle:  # passages are written, statistics, job and commit are not
            ingest = rig.start(*command, **SMALL_BATCHES)
            ingest.reaches(in_the_middle)
            rig.kill(ingest)
        rig.wait_for_backends(admin)
        assert rig.stored(admin, "killed-ids") == 0
        before = 0
        for enough, more in zip((60, 250, 500), delays(7, 3, 0, 0.03), strict=True):
            ingest = rig.start(*command, **SMALL_BATCHES)
            wait_until(lambda enough=enough: rig.stored(admin, "killed-ids") >= enough, pause=0.001)  # type: ignore[misc]
            time.sleep(more)
            rig.kill(ingest)
            rig.wait_for_backends(admin)
            stored = rig.stored(admin, "killed-ids")
            assert before < stored
            assert_books_right(admin)
            before = stored
        with rig.held("terms") as in_the_middle:  # the background work at the end: folding the statistics
            ingest = rig.start(*command, **SMALL_BATCHES)
            ingest.reaches(in_the_middle)
            rig.kill(ingest)
        rig.wait_for_backends(admin)
        assert_books_right(admin)
        done = counted(rig.ok(*command))
        assert done == {"created": 0, "existing": TURNS, "erased": 0, "paused": 0}
        assert_all_there(rig, admin, command, expected)


def test_a_database_killed_under_an_ingest_is_a_clear_error_and_nothing_more(rig: Rig) -> None:
    command, expected = ingest_of(rig, "crashed")
    with rig.held("term_deltas") as in_the_middle:
        ingest = rig.start(*command, **SMALL_BATCHES)
        ingest.reaches(in_the_middle)
        rig.kill_database()
        code, output, message = ingest.finish()
    assert (code, output) == (69, "")
    assert "Traceback" not in message
    assert "database" in message
    assert "run the command again" in message

    with rig.admin() as admin:  # it starts the server again
        assert rig.stored(admin, "crashed-ids") == 0
        ingest = rig.start(*command, **SMALL_BATCHES)
        wait_until(lambda: rig.stored(admin, "crashed-ids") >= 300, pause=0.001)
        rig.kill_database()
        code, _, message = ingest.finish()
        assert code == 69
        assert "Traceback" not in message
    with rig.admin() as admin:
        assert rig.stored(admin, "crashed-ids") >= 300
        assert_books_right(admin)
        done = json.loads(rig.ok(*command))
        assert done["created"] > 0
        assert done["created"] + done["existing"] == TURNS
        assert_all_there(rig, admin, command, expected)


class Client:
    """Posts messages to the API from three threads and notes which were acknowledged; each request is tried once."""

    def __init__(self, url: str, key: str) -> None:
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        self.sent: dict[str, str] = {}
        self.acknowledged: dict[str, str] = {}
        self.answers: Counter[int] = Counter()
        self._lock = threading.Lock()

    def post(self, messages: Sequence[dict[str, str]]) -> None:
        texts = {message["id"]: message["text"] for message in messages}
        with self._lock:
            self.sent |= texts
        try:
            answer = self.http.post("/v1/messages", json=messages[0] if len(messages) == 1 else {"messages": messages})
        except httpx.TransportError:
            return
        with self._lock:
            self.answers[answer.status_code] += 1
            if answer.status_code == 202:
                self.acknowledged |= texts

    def pending(self) -> list[dict[str, str]]:
        return [message(identity) for identity in self.sent if identity not in self.acknowledged]


def message(identity: str) -> dict[str, str]:
    return {
        "conversation": "api",
        "id": identity,
        "speaker": "Ada",
        "text": f"The word of {identity} is zebra{identity}.",
    }


def requests(name: str) -> list[list[dict[str, str]]]:
    """60 single messages, with a batch of 20 after each fifth."""
    made = []
    for i in range(60):
        made.append([message(f"{name}s{i}")])
        if i % 5 == 4:
            made.append([message(f"{name}b{i}x{n}") for n in range(20)])
    return made


@pytest.fixture
def client(rig: Rig) -> Iterator[Client]:
    rig.ok("user", "add", "--name", "Ada", "--app", "api")
    key = json.loads(rig.ok("key", "create", "--app", "api", "--user", "Ada", "--json"))["key"]
    made = Client(rig.url, key)
    yield made
    made.http.close()


def test_what_the_api_acknowledged_survives_every_kill(rig: Rig, client: Client) -> None:
    service = rig.serve()
    moments = zip(("api", "database", "api", "database"), (3, 10, 31, 47), delays(11, 4, 0, 0.02), strict=True)
    for number, (victim, acknowledged, more) in enumerate(moments):
        before = len(client.acknowledged)
        with ThreadPoolExecutor(3) as threads:
            for request in requests(f"k{number}"):
                threads.submit(client.post, request)
            wait_until(lambda enough=before + acknowledged: len(client.acknowledged) >= enough, pause=0.001)  # type: ignore[misc]
            time.sleep(more)
            if victim == "api":
                rig.kill(service)
            else:
                rig.kill_database()
        assert client.pending()
        if victim == "api":
            service = rig.serve()
        else:
            rig.revive_database()
            rig.wait_healthy(service)
        with rig.admin() as admin:
            stored = rig.texts(admin, "api")
            assert client.acknowledged.items() <= stored.items()
            assert stored.items() <= client.sent.items()
            assert_books_right(admin)
        for again in client.pending():
            client.post([again])
        assert not client.pending()
    assert set(client.answers) <= {202, 503}

    for identity in ("k0s0", "k1b4x19", "k2s59", "k3s40"):
        answer = client.http.post("/v1/recall", json={"query": f"zebra{identity}", "limit": 5}).json()
        assert answer["memories"][0]["message_id"] == identity
    rig.kill(service)
    rig.ok("jobs", "run")
    with rig.admin() as admin:
        assert rig.texts(admin, "api") == client.sent
        assert_books_right(admin)
        assert_no_job_waits(admin)


def test_a_worker_killed_in_the_middle_of_a_job_leaves_it_to_the_next(rig: Rig) -> None:
    rig.ok("user", "add", "--name", "Ada", "--app", "worker")
    rows, _ = talk("worker", 30)
    command = ("ingest", str(file_of(rig, "worker", rows)), "--app", "worker")
    with rig.admin() as admin:
        with rig.held("corpora") as in_the_middle:
            ingest = rig.start(*command)
            ingest.reaches(in_the_middle)
            rig.kill(ingest)
        rig.wait_for_backends(admin)
        with rig.held("corpora") as in_the_middle:
            worker = rig.start_worker()
            worker.reaches(in_the_middle)
            rig.kill(worker)
        rig.wait_for_backends(admin)
        assert admin.execute("SELECT count(*) FROM memsvc.jobs WHERE state = 'pending'").fetchone() == (2,)
        assert_books_right(admin)
        rig.ok("jobs", "run")
        assert_no_job_waits(admin)
        assert_books_right(admin)


def test_the_service_starts_its_killed_database_again(rig: Rig) -> None:
    service = rig.serve()
    rig.kill_database()
    rig.wait_healthy(service)  # nobody else has started one
    assert service.running
    rig.kill(service)
