"""``python -m bench.traffic`` (``make bench-load``): mixed traffic on one machine, and the highest rate that it bears.

A real ``memsvc api``, a worker and the embedded server; the models, the extractor and all settings are the defaults.
Each user is a closed loop: chats (a context, then what was said and what was answered), hooks, recalls and, now and
then, a document, with an exponential pause around ``THINK_S`` between two of them. Beside them, somebody's night
begins every ``NIGHT_S`` seconds. Steps have more and more users; the best one is the last before the 95th percentile of
recalls, contexts and hooks exceeds ``BOUND_MS`` or more than ``MOST_FAILED`` of the requests fail.

Then half of that number of users meets a noisy one, who recalls on 40 connections: ``noisy.p95_ratio`` is by how much
their 95th percentile grows.

Clients are threads with the standard library's connections, as in the other benches (``bench.load``): they cost some
tenths of a millisecond a request. locust would bring gevent, Flask and its own clock for the same closed loops.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from bench.corpus_users import DEFAULT_MODEL, QUESTIONS, Person, build
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.load import Client
from bench.metrics import percentile
from bench.neighbours import noisy, warm
from bench.processes import api, processor_s, server_pids, worker
from memsvc.access.keys import create_key
from memsvc.access.users import app_id

THINK_S, NIGHT_S, WARM_UP_S = 3.0, 10.0, 4.0
BOUND_MS, MOST_FAILED = 500.0, 0.001
STEPS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Users who work at the same time."""
SHARES = {"chat": 0.5, "hook": 0.3, "recall": 0.15, "document": 0.05}
"""Of the turns of a user."""
DOCUMENT_LINES = 40
ASKED = ("context", "recall", "hook")
"""Requests for whose answer somebody waits."""
DAY_S, PEAK, PROCESSORS = 86_400, 3.0, 0.6
"""The busiest hours of a day have so many times the mean rate; processors are used to 60 % there."""


@dataclass(slots=True)
class Met:
    """What clients met: milliseconds by kind of request, and refusals by kind and status."""

    times: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    messages: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, milliseconds: float, status: int, messages: int) -> None:
        """Count a request."""
        with self.lock:
            self.times.setdefault(kind, []).append(milliseconds)
            if status >= 300:  # anything but a success
                self.failed[f"{kind}.{status}"] = self.failed.get(f"{kind}.{status}", 0) + 1
            else:
                self.messages += messages

    @property
    def asked(self) -> list[float]:
        """Times of all that somebody waits for."""
        return [one for kind in ASKED for one in self.times.get(kind, [])]

    @property
    def requests(self) -> int:
        """All of them."""
        return sum(map(len, self.times.values()))


@dataclass(slots=True)
class User:
    """A closed loop."""

    client: Client
    questions: Sequence[str]
    draw: random.Random
    turns: int = 0

    def turn(self) -> Iterator[tuple[str, str, dict[str, Any], int]]:
        """The requests of a turn: kind, path, body, and messages that it stores."""
        self.turns += 1
        question = self.questions[self.draw.randrange(len(self.questions))]
        conversation = f"load {self.turns // 20}"
        said = {"conversation": conversation, "text": f"{question} ({self.turns})"}
        answered = {"conversation": conversation, "role": "assistant", "text": f"I noted that: {question}"}
        [kind] = self.draw.choices(list(SHARES), list(SHARES.values()))
        if kind == "chat":
            yield "context", "/v1/context", {"query": question}, 0
            yield "message", "/v1/messages", said, 1
            yield "message", "/v1/messages", answered, 1
        elif kind == "hook":
            yield "hook", "/v1/hooks/message", said, 1
            yield "response", "/v1/hooks/response", {name: answered[name] for name in ("conversation", "text")}, 1
        elif kind == "recall":
            yield "recall", "/v1/recall", {"query": question}, 0
        else:
            lines = [self.questions[self.draw.randrange(len(self.questions))] for _ in range(DOCUMENT_LINES)]
            text = f"# Notes {self.turns}\n\n" + "\n\n".join(lines)
            yield "document", "/v1/documents", {"name": f"notes-{self.draw.random()}.md", "text": text}, 0


def _work(users: Sequence[User], seconds: float) -> Met:
    """Let users work at the same time, and count after the warm-up."""
    met, begin = Met(), time.perf_counter() + WARM_UP_S
    end = begin + seconds

    def loop(user: User) -> None:
        time.sleep(user.draw.random() * THINK_S)
        while time.perf_counter() < end:
            for kind, path, body, messages in user.turn():
                now = time.perf_counter()
                answer = user.client.send(path, body)
                if begin <= now < end:
                    met.add(kind, answer.milliseconds, answer.status, messages)
            time.sleep(min(user.draw.expovariate(1 / THINK_S), 4 * THINK_S))

    with ThreadPoolExecutor(len(users)) as threads:
        for done in [threads.submit(loop, user) for user in users]:
            done.result()
    return met


@contextmanager
def _nights(port: int, keys: Sequence[str]) -> Iterator[None]:
    """Begin somebody's night every few seconds while the block runs."""
    over = threading.Event()

    def begin() -> None:
        number = 0
        while not over.wait(NIGHT_S):
            Client(port, keys[number % len(keys)]).send("/v1/sleep", {"budget_s": 5})
            number += 1

    thread = threading.Thread(target=begin)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _note(outcome: Outcome, name: str, met: Met, seconds: float) -> None:
    for kind, times in sorted(met.times.items()):
        outcome.figures[f"{name}.{kind}.per_s"] = len(times) / seconds
        for share in (0.5, 0.95, 0.99):
            outcome.figures[f"{name}.{kind}.p{share * 100:.0f}_ms"] = percentile(times, share)
    outcome.figures |= {f"{name}.failed.{what}": count for what, count in sorted(met.failed.items())}
    outcome.figures |= {
        f"{name}.requests_per_s": met.requests / seconds,
        f"{name}.messages_per_s": met.messages / seconds,
        f"{name}.asked.p95_ms": percentile(met.asked, 0.95),
        f"{name}.failed": sum(met.failed.values()),
    }


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    seconds: float
    """For each step."""
    passages: int
    """Of each user, before."""
    bound_ms: float
    most_users: int


def _steps(outcome: Outcome, asked: Asked, users: Sequence[User], pids: Callable[[], dict[str, set[int]]]) -> int:
    """Ask with more and more users; the number of the best step.

    A step that fails is tried once more: others may have used the machine.
    """
    best, steps = 0, [one for one in STEPS if one <= len(users)]
    with progress("more and more users", len(steps)) as done:
        for count in steps:
            good = _step(outcome, asked, users[:count], pids) or _step(outcome, asked, users[:count], pids)
            done(1)
            if not good:
                break
            best = count
    return best


def _step(outcome: Outcome, asked: Asked, users: Sequence[User], pids: Callable[[], dict[str, set[int]]]) -> bool:
    """Whether that many users are served in time."""
    name, some = f"users_{len(users)}", pids()
    before = {part: processor_s(one) for part, one in some.items()}
    began = time.perf_counter()
    met = _work(users, asked.seconds)
    passed = time.perf_counter() - began
    _note(outcome, name, met, asked.seconds)
    cores = {part: (processor_s(one) - before[part]) / passed for part, one in some.items()}
    outcome.figures |= {f"{name}.{part}_cores": value for part, value in cores.items()}
    outcome.figures[f"{name}.cpu_ms_per_request"] = sum(cores.values()) * 1_000 * asked.seconds / met.requests
    failed = sum(met.failed.values()) / met.requests
    return percentile(met.asked, 0.95) <= asked.bound_ms and failed <= MOST_FAILED


def _beside_noise(
    outcome: Outcome, asked: Asked, users: Sequence[User], port: int, noise: tuple[str, list[str]]
) -> None:
    """The same users alone and beside a noisy one."""
    alone = _work(users, asked.seconds)
    key, questions = noise
    with noisy(port, key, "recall", questions):
        beside = _work(users, asked.seconds)
    _note(outcome, "noisy.alone", alone, asked.seconds)
    _note(outcome, "noisy.beside", beside, asked.seconds)
    outcome.figures["noisy.p95_ratio"] = percentile(beside.asked, 0.95) / percentile(alone.asked, 0.95)


async def measure(bench: Bench, outcome: Outcome, asked: Asked) -> None:
    """Build, serve, and ask."""
    db = bench.connect()
    names = [f"user {number}" for number in range(asked.most_users)]
    people, _ = await build(db, bench, dict.fromkeys([*names, "noisy"], asked.passages), outcome)
    app = await app_id(db, "bench")
    keys = {name: await create_key(db, app, user_id=one.owner.user_id) for name, one in people.items()}
    await db.close()

    def asks(person: Person) -> list[str]:
        return [question for question, _ in person.questions(QUESTIONS)]

    with ExitStack() as stack:
        serving = stack.enter_context(api(bench))
        working = stack.enter_context(worker(bench, extractor="offline"))
        users = [
            User(Client(serving.port, keys[name]), asks(people[name]), random.Random(number))
            for number, name in enumerate(names)
        ]

        def pids() -> dict[str, set[int]]:
            return {"api": {serving.pid}, "database": server_pids(bench), "worker": {working.pid}}

        await asyncio.to_thread(warm, Client(serving.port, keys[names[0]]), users[0].questions[0])
        stack.enter_context(_nights(serving.port, [keys[name] for name in names]))
        best = await asyncio.to_thread(_steps, outcome, asked, users, pids)
        outcome.figures["best.users"] = best
        if best:
            for figure in ("requests_per_s", "messages_per_s", "asked.p95_ms"):
                outcome.figures[f"best.{figure}"] = outcome.figures[f"users_{best}.{figure}"]
            outcome.figures["best.messages_per_day"] = round(outcome.figures["best.messages_per_s"] * DAY_S / PEAK)
            cores = sum(outcome.figures[f"users_{best}.{part}_cores"] for part in ("api", "database", "worker"))
            by_processors = outcome.figures["best.messages_per_s"] * (os.cpu_count() or 1) * PROCESSORS / cores
            outcome.figures["by_processors.messages_per_day"] = round(by_processors * DAY_S / PEAK)
        some = users[: max(2, best // 2)]
        noise = (keys["noisy"], asks(people["noisy"]))
        await asyncio.to_thread(_beside_noise, outcome, asked, some, serving.port, noise)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.traffic", description="Mixed traffic on one machine.")
    parser.add_argument("--seconds", type=float, default=20, help="how long each step is measured")
    parser.add_argument("--passages", type=int, default=2_000, help="of each user, before")
    parser.add_argument("--bound", type=float, default=BOUND_MS, help="the most milliseconds of the 95th percentile")
    parser.add_argument("--users", type=int, default=STEPS[-1], help="the most users")
    given = parser.parse_args()
    asked = Asked(given.seconds, given.passages, given.bound, given.users)

    def bench_traffic() -> None:
        outcome = Outcome("load", bars={"noisy.p95_ratio": "<= 2", "noisy.beside.failed": "0"})
        outcome.configuration = {
            **asdict(asked), "model": DEFAULT_MODEL, "extractor": "offline", "think_s": THINK_S, "night_s": NIGHT_S,
            "shares": SHARES, "peak": PEAK, "steps": STEPS,
        }  # fmt: skip
        with database() as bench:
            asyncio.run(measure(bench, outcome, asked))
            figures_table("mixed traffic", outcome, ("users_", "best", "noisy"))
            report(outcome, bench)

    run(bench_traffic)


if __name__ == "__main__":
    main()
