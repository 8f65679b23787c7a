"""Three cells on this machine: what dividing users costs, what a move does to a user, and what a killed cell does.

Three embedded servers are the home and two other cells, and one API process serves all of them. Two sets of users
recall and write at the same steady rate in turns: one set is all in the home, the other one is divided among the cells.
Then users are moved under that load, and at last one cell's server is killed with SIGKILL and started again at once.

- ``p95_ratio``: p95 of recalls of the divided users, by that of those in one cell.
- ``moved.lost``, ``moved.doubled``: acknowledged messages of moved users that are not there, or are there twice.
- ``moved.foreign``: rows of moved users in cells in which they are not.
- ``moved.recall_changed``: moved users whose recall of what was there before gives other texts or another order.
- ``pause.p95_s``: over the moved users, the longest time between two acknowledged messages of a user.
- ``others.failed``: failed requests of users of other cells while a cell is down; ``back_s``: from the kill until a
  user of that cell is served again.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec
import psycopg
from sqlalchemy import make_url

from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.metrics import percentile
from bench.processes import HOST, api
from memsvc.cells.managing import add_cell, weigh_cell
from memsvc.cells.moving import move_user
from memsvc.server import embedded
from memsvc.settings.secrets import SECRET_NAMES

APP = "bench"
CELLS = ("home", "east", "west")
CLIENTS = 8
RECALLS = 0.7
"""The share of recalls among the requests; each of the others stores a message."""
TIMEOUT_S = 40.0
PAUSE_S = 0.02
"""Between two messages of a user who moves, and before a refused one is sent again."""
BACK_WITHIN_S = 120.0
QUESTIONS = ("Where is the heron?", "Who repaired the boat?", "What grew in the orchard?", "When is the market?")
WORDS = (
    "heron boat lake market bread lantern bridge otter garden letter winter harvest violin ladder kettle meadow "
    "harbour orchard candle river baker teacher sister brother neighbour doctor painter morning evening Sunday"
)
BARS = {
    "p95_ratio": "<= 1.1", "moved.lost": "0", "moved.doubled": "0", "moved.foreign": "0", "moved.recall_changed": "0",
    "pause.p95_s": "<= 2", "others.failed": "0", "back_s": "<= 30",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """The size of the bench."""

    users: int
    """Of each of the two sets."""
    messages: int
    """Of each user, from the beginning."""
    moves: int
    per_s: float
    """Requests of all clients together."""
    seconds: float
    """Of one turn of one set."""
    turns: int


@dataclass(slots=True)
class Person:
    """A user."""

    name: str
    user_id: str
    cell: str
    acknowledged: list[str] = field(default_factory=list)
    """The client's ids of messages that were stored while the user moved."""
    longest_s: float = 0.0
    """Between two of them."""


class Caller:
    """One client on one connection."""

    def __init__(self, port: int, key: str) -> None:
        """Name the server and the key of the whole app."""
        self._port, self._key = port, key
        self._connection = self._new()

    def _new(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(HOST, self._port, timeout=TIMEOUT_S)

    def post(self, user: str, path: str, body: Mapping[str, Any]) -> tuple[int, bytes, float]:
        """Send JSON for a user; the status (0: no answer), the body, and how long it took, in ms."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        if user:
            headers["X-Memsvc-User"] = user
        start = time.perf_counter()
        try:
            self._connection.request("POST", path, msgspec.json.encode(body), headers)
            answer = self._connection.getresponse()
            told, status = answer.read(), answer.status
        except (OSError, http.client.HTTPException):
            self._connection = self._new()
            told, status = b"", 0
        return status, told, (time.perf_counter() - start) * 1_000


@dataclass(frozen=True, slots=True)
class Deployment:
    """The three cells and what serves them."""

    benches: Mapping[str, Bench]
    port: int
    key: str

    def caller(self) -> Caller:
        return Caller(self.port, self.key)

    def rows(self, cell: str, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.benches[cell].admin_url, autocommit=True) as connection:
            return connection.execute(query.encode(), values or None).fetchall()

    @property
    def urls(self) -> str:
        """The value of MEMSVC_CELL_URLS."""
        return " ".join(f"{name}={self.benches[name].admin_url}" for name in CELLS[1:])


@dataclass(slots=True)
class Met:
    """What the clients of a load met."""

    recall_ms: list[float] = field(default_factory=list)
    store_ms: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    """Requests without success, by the user's cell."""
    late: int = 0
    """Requests that were sent more than a second after their time."""


def sentence(chosen: random.Random) -> str:
    """A sentence of some words."""
    words = chosen.sample(WORDS.split(), 9)
    return f"The {words[0]} near the {words[1]} had a {' '.join(words[2:])}."


@contextmanager
def loading(deployment: Deployment, people: Sequence[Person], per_s: float, seed: int) -> Iterator[Met]:
    """Let clients recall and store for these users at a steady rate while the block runs."""
    met, stop, lock = Met(), threading.Event(), threading.Lock()
    gap = CLIENTS / per_s

    def work(number: int) -> None:
        chosen, caller = random.Random(seed * 100 + number), deployment.caller()
        due = time.perf_counter() + gap * number / CLIENTS
        mine = Met()
        while not stop.wait(max(0.0, due - time.perf_counter())):
            mine.late += time.perf_counter() - due > 1
            due = max(due + gap, time.perf_counter() - 1)
            person = chosen.choice(people)
            if chosen.random() < RECALLS:
                asked = {"query": chosen.choice(QUESTIONS)}
                status, _, milliseconds = caller.post(person.name, "/v1/recall", asked)
                times = mine.recall_ms
            else:
                body = {"conversation": "load", "text": sentence(chosen)}
                status, _, milliseconds = caller.post(person.name, "/v1/messages", body)
                times = mine.store_ms
            if status in {200, 202}:
                times.append(milliseconds)
            else:
                mine.failed[person.cell] += 1
        with lock:
            met.recall_ms += mine.recall_ms
            met.store_ms += mine.store_ms
            met.failed += mine.failed
            met.late += mine.late

    with ThreadPoolExecutor(CLIENTS) as threads:
        running = [threads.submit(work, number) for number in range(CLIENTS)]
        try:
            yield met
        finally:
            stop.set()
            for one in running:
                one.result()


def add_people(deployment: Deployment, asked: Asked, label: str, cells: Sequence[str]) -> list[Person]:
    """Add users with messages, divided among cells."""
    home = deployment.benches["home"]
    people: list[Person] = []
    caller, chosen = deployment.caller(), random.Random(7)
    with progress(f"users of {label}", asked.users) as done:
        for cell in cells:
            for name in CELLS:
                weigh_cell(home.admin_url, name, int(name == cell))
            share = asked.users // len(cells) + (cells.index(cell) < asked.users % len(cells))
            for number in range(share):
                name = f"{label}-{cell}-{number}"
                status, told, _ = caller.post("", "/v1/users", {"name": name})
                _expect(status, told)
                texts = [{"conversation": "base", "text": sentence(chosen)} for _ in range(asked.messages)]
                status, body, _ = caller.post(name, "/v1/messages", {"messages": texts})
                _expect(status, body)
                people.append(Person(name, msgspec.json.decode(told)["user_id"], cell))
                done(1)
    return people


def _expect(status: int, told: bytes) -> None:
    if status not in {200, 201, 202}:
        message = f"{status}: {told[:300]!r}"
        raise RuntimeError(message)


def compare(deployment: Deployment, asked: Asked, one: list[Person], three: list[Person], outcome: Outcome) -> None:
    """The same load on users of one cell and of three, in turns."""
    found = {"one": Met(), "three": Met()}
    sets = {"one": one, "three": three}
    for people in sets.values():
        with loading(deployment, people, asked.per_s, 0):
            time.sleep(5)
    with progress("one cell and three in turns", 2 * asked.turns) as done:
        for number in range(asked.turns):
            for name in ("one", "three") if number % 2 == 0 else ("three", "one"):
                with loading(deployment, sets[name], asked.per_s, 1 + number) as met:
                    time.sleep(asked.seconds)
                found[name].recall_ms += met.recall_ms
                found[name].store_ms += met.store_ms
                found[name].failed += met.failed
                found[name].late += met.late
                done(1)
    for name, met in found.items():
        outcome.figures |= {
            f"{name}.recall.p50_ms": percentile(met.recall_ms, 0.5),
            f"{name}.recall.p95_ms": percentile(met.recall_ms, 0.95),
            f"{name}.store.p95_ms": percentile(met.store_ms, 0.95),
            f"{name}.failed": met.failed.total(),
            f"{name}.late": met.late,
        }
    outcome.figures["p95_ratio"] = outcome.figures["three.recall.p95_ms"] / outcome.figures["one.recall.p95_ms"]


def recalled(deployment: Deployment, person: Person) -> list[Any]:
    """What a user's questions find among what was there from the beginning."""
    caller = deployment.caller()
    found = []
    for question in QUESTIONS:
        body = {"query": question, "conversations": ["base"]}
        status, told, _ = caller.post(person.name, "/v1/recall", body)
        _expect(status, told)
        found.append([(one["memory_id"], one["text"]) for one in msgspec.json.decode(told)["memories"]])
    return found


@contextmanager
def writing(deployment: Deployment, person: Person) -> Iterator[None]:
    """Let a user store one message after the other; a refused one is sent again, with the same id."""
    stop = threading.Event()

    def work() -> None:
        caller, number, last = deployment.caller(), 0, time.perf_counter()
        while not stop.is_set():
            message_id = f"{person.name}-{number}"
            body = {"conversation": "moving", "id": message_id, "text": f"Message {number} on the way."}
            status, _, _ = caller.post(person.name, "/v1/messages", body)
            if status in {200, 202}:
                now = time.perf_counter()
                person.acknowledged.append(message_id)
                person.longest_s, last, number = max(person.longest_s, now - last), now, number + 1
            time.sleep(PAUSE_S)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def move(deployment: Deployment, asked: Asked, people: list[Person], outcome: Outcome) -> None:
    """Move users under load, and count what became of their rows."""
    moving, others = people[:: max(1, len(people) // asked.moves)][: asked.moves], people
    others = [person for person in people if person not in moving]
    before = {person.name: recalled(deployment, person) for person in moving}
    home = deployment.benches["home"]
    settings = home.settings.model_copy(update={"cell_urls": None})
    logins = {name: deployment.benches[name].admin_url for name in CELLS[1:]}
    seconds: list[float] = []
    with loading(deployment, others, asked.per_s, 50) as met, progress("moves", len(moving)) as done:
        for person in moving:
            to = CELLS[(CELLS.index(person.cell) + 1) % len(CELLS)]
            with writing(deployment, person):
                time.sleep(0.5)
                began = time.perf_counter()
                move_user(home.admin_url, settings, APP, person.user_id, to, logins=logins)
                seconds.append(time.perf_counter() - began)
                time.sleep(0.5)
            person.cell = to
            done(1)
    lost = doubled = foreign = changed = 0
    stored = "SELECT p.client_id, count(*) FROM memsvc.passages AS p WHERE p.user_id = %s GROUP BY p.client_id"
    for person in moving:
        there = dict(deployment.rows(person.cell, stored, person.user_id))
        lost += sum(message_id not in there for message_id in person.acknowledged)
        doubled += sum(there.get(message_id, 0) > 1 for message_id in person.acknowledged)
        changed += recalled(deployment, person) != before[person.name]
        for cell in CELLS:
            if cell != person.cell:
                foreign += _rows(deployment, cell, person)
    outcome.figures |= {
        "moved.users": len(moving),
        "moved.messages": sum(len(person.acknowledged) for person in moving),
        "moved.lost": lost,
        "moved.doubled": doubled,
        "moved.foreign": foreign,
        "moved.recall_changed": changed,
        "moved.s": percentile(seconds, 0.5),
        "pause.p50_s": percentile([person.longest_s for person in moving], 0.5),
        "pause.p95_s": percentile([person.longest_s for person in moving], 0.95),
        "others.failed_by_moves": met.failed.total(),
        "others.recall.p95_ms": percentile(met.recall_ms, 0.95),
    }


def _rows(deployment: Deployment, cell: str, person: Person) -> int:
    """Rows of a user in a cell, but the directory's own."""
    count = 0
    for (table,) in deployment.rows(cell, "SELECT name FROM memsvc.user_tables()"):
        if cell == "home" and table in {"users", "api_keys"}:
            continue
        [(found,)] = deployment.rows(cell, f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", person.user_id)
        count += found
    return count


def kill(deployment: Deployment, asked: Asked, people: list[Person], stack: ExitStack, outcome: Outcome) -> None:
    """Kill a cell's server under load, and start it again at once."""
    victim = "east"
    bench = deployment.benches[victim]
    folder = bench.settings.data_dir
    waiting = next(person for person in people if person.cell == victim)
    with loading(deployment, people, asked.per_s, 90) as met:
        time.sleep(3)
        pid = int((folder / "pg" / "postmaster.pid").read_text().splitlines()[0])
        caller, began = deployment.caller(), time.perf_counter()
        os.kill(pid, signal.SIGKILL)
        start = threading.Thread(target=lambda: stack.enter_context(embedded.running(folder)))
        start.start()
        seen: Counter[int] = Counter()
        while time.perf_counter() - began < BACK_WITHIN_S:
            status, _, _ = caller.post(waiting.name, "/v1/recall", {"query": QUESTIONS[0]})
            seen[status] += 1
            if status == http.client.OK and seen.total() > 1:
                break
            time.sleep(0.1)
        back = time.perf_counter() - began
        start.join()
        time.sleep(3)
    outcome.figures |= {
        "back_s": back,
        "others.failed": sum(count for cell, count in met.failed.items() if cell != victim),
        "victims.failed": met.failed[victim],
        "victims.other_answers": sum(count for status, count in seen.items() if status not in {200, 503}),
    }


def create_key(home: Bench) -> str:
    """A key of the whole app, by the command."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MEMSVC_")}
    environ |= {"MEMSVC_DATA_DIR": str(home.settings.data_dir), "MEMSVC_DATABASE_URL": home.admin_url}
    environ |= {f"MEMSVC_{name.upper()}": home.settings.secret(name) for name in SECRET_NAMES}
    scopes = [part for scope in ("read", "write", "admin") for part in ("--scope", scope)]
    command = [sys.executable, "-m", "memsvc.cli", "key", "create", "--app", APP, *scopes]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def measure(asked: Asked) -> None:
    """Run all parts."""
    outcome = Outcome("cells", bars=dict(BARS))
    outcome.configuration = {**asdict(asked), "clients": CLIENTS, "model": None, "processors": os.cpu_count()}
    with ExitStack() as stack:
        home = stack.enter_context(database())
        secrets = {name: home.settings.secret(name) for name in SECRET_NAMES}
        benches = {"home": home, **{name: stack.enter_context(database(None, **secrets)) for name in CELLS[1:]}}
        logins = " ".join(f"{name}={benches[name].admin_url}" for name in CELLS[1:])
        settings = home.settings.model_validate({**home.settings.model_dump(), "cell_urls": logins})
        for name in CELLS[1:]:
            plain = make_url(benches[name].admin_url)._replace(username=None, password=None)
            add_cell(home.admin_url, settings, name, plain.render_as_string(hide_password=False))
        serving = stack.enter_context(api(home, extractor="none", embedding_model=""))
        deployment = Deployment(benches, serving.port, create_key(home))
        one = add_people(deployment, asked, "one", ("home",))
        three = add_people(deployment, asked, "three", CELLS)
        compare(deployment, asked, one, three, outcome)
        move(deployment, asked, three, outcome)
        kill(deployment, asked, three, stack, outcome)
        figures_table("cells", outcome, ("one", "three"))
        report(outcome, home)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.cells", description="Three cells on this machine.")
    parser.add_argument("--users", type=int, default=200, help="of each of the two sets")
    parser.add_argument("--messages", type=int, default=100, help="of each user, from the beginning")
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--per-s", type=float, default=30, help="requests a second")
    parser.add_argument("--seconds", type=float, default=15, help="of a turn of one set")
    parser.add_argument("--turns", type=int, default=4, help="of each set")
    given = parser.parse_args()
    asked = Asked(given.users, given.messages, given.moves, given.per_s, given.seconds, given.turns)
    run(lambda: measure(asked))


if __name__ == "__main__":
    main()
