"""``python -m bench.neighbours``: a user who recalls now and then, alone and beside 40 connections of another one.

A real ``memsvc api`` serves with all defaults. The quiet user asks one question after another on one connection; the
noisy one has 40 connections, in a process of its own, and asks on all of them at once: for long lists, contexts, its
whole graph, short lists of nodes, or it stores batches of messages (``--noise``). What counts is by how much the quiet
user's 95th percentile grows. ``--before`` names the checkout of an older version: its API serves the
same database, and is measured in turn with this one, in the same sitting.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from bench.corpus_users import DEFAULT_MODEL, QUESTIONS, Person, build
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.load import TIMEOUT_S, Client
from bench.metrics import percentile
from bench.processes import HOST, Serving, api, environment, free_port, listening
from memsvc.access.keys import create_key
from memsvc.access.users import app_id
from memsvc.errors import ConfigurationError

NOISY_AT_ONCE, NOISY_LIMIT = 40, 200
"""Recalls of the noisy user at once, and memories that each of them wants."""
WARM_UP_S, LOADED_S = 2.0, 60.0
VERSIONS = ("before", "now")
NOISE = ("recall", "context", "graph", "nodes", "messages")
"""What the noisy user may do."""
MESSAGES = 200
"""In a batch of the noisy user."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    seconds: float
    """For each part of a round."""
    rounds: int
    passages: int
    """Of the noisy user; the quiet one has a fifth."""
    noise: tuple[str, ...]
    """What the noisy user does, one after the other."""


@dataclass(slots=True)
class Quiet:
    """What the quiet user met, in milliseconds."""

    alone: list[float]
    beside: list[float]
    degraded: int = 0
    refused: int = 0
    """Counted with the time until the refusal."""
    noise: int = 0
    """Answers of the noisy user."""
    noise_refused: int = 0


def _request(kind: str, number: int, questions: Sequence[str]) -> tuple[str, str, dict[str, Any] | None]:
    """A request of the noisy user: method, path, body."""
    question = questions[number % len(questions)]
    if kind == "recall":
        return "POST", "/v1/recall", {"query": question, "limit": NOISY_LIMIT, "mode": "deliberate"}
    if kind == "context":
        return "POST", "/v1/context", {"query": question, "budget_tokens": 4_000}
    if kind == "graph":
        return "GET", "/v1/graph?limit=2000", None
    if kind == "nodes":
        return "GET", "/v1/nodes?limit=50", None
    said = [
        {"conversation": f"noise {number % NOISY_AT_ONCE}", "text": f"{question} {number} {one}"}
        for one in range(MESSAGES)
    ]
    return "POST", "/v1/messages", {"messages": said}


def _noise(
    port: int, key: str, kind: str, questions: Sequence[str], answered: multiprocessing.Queue[int]
) -> None:  # fmt: skip
    """Ask on many connections at once until the process is ended; each answer, also a refusal, is counted."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def client(number: int) -> None:
        connection = http.client.HTTPConnection(HOST, port, timeout=2 * TIMEOUT_S)
        while True:
            number += NOISY_AT_ONCE
            method, path, body = _request(kind, number, questions)
            with suppress(http.client.HTTPException, OSError):
                connection.request(method, path, msgspec.json.encode(body) if body else None, headers)
                response = connection.getresponse()
                response.read()
                answered.put(response.status)

    with ThreadPoolExecutor(NOISY_AT_ONCE) as threads:
        for number in range(NOISY_AT_ONCE):
            threads.submit(client, number)


@contextmanager
def noisy(port: int, key: str, kind: str, questions: Sequence[str]) -> Iterator[multiprocessing.Queue[int]]:
    """The noisy user, in a process of its own, while the block runs."""
    spawning = multiprocessing.get_context("spawn")
    answered: multiprocessing.Queue[int] = spawning.Queue()
    process = spawning.Process(target=_noise, args=(port, key, kind, list(questions), answered), daemon=True)
    process.start()
    try:
        yield answered
    finally:
        process.kill()
        process.join()


def _ask(client: Client, questions: Sequence[str], seconds: float, quiet: Quiet, met: list[float]) -> None:
    """Ask one question after another for so long."""
    until, number = time.perf_counter() + seconds, 0
    while (asked_at := time.perf_counter()) < until:
        try:
            answer = client.post("/v1/recall", {"query": questions[number % len(questions)]})
        except ConfigurationError:  # too much is asked at once
            quiet.refused += 1
        else:
            quiet.degraded += bool(msgspec.json.decode(answer.body)["degraded"])
        met.append((time.perf_counter() - asked_at) * 1_000)
        number += 1


def warm(client: Client, question: str) -> None:
    """Wait until the API's model is loaded."""
    until = time.monotonic() + LOADED_S
    while msgspec.json.decode(client.post("/v1/recall", {"query": question}).body)["degraded"]:
        if time.monotonic() > until:
            raise ConfigurationError("The API answers without its embedding model.")


@contextmanager
def _older_api(bench: Bench, checkout: Path) -> Iterator[Serving]:
    """The API of an older checkout, by this interpreter, on the same database."""
    port = free_port()
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from memsvc.cli import main; main()"
    command = [sys.executable, "-c", code, str(checkout), "api", "--port", str(port)]
    with listening(command, environment(bench) | {"PYTHONPATH": str(checkout)}, checkout, port) as serving:
        yield serving


async def measure(bench: Bench, outcome: Outcome, asked: Asked, before: Path | None) -> None:
    """Build, serve, and ask each version in turn."""
    db = bench.connect()
    users, _ = await build(db, bench, {"noisy": asked.passages, "quiet": asked.passages // 5}, outcome)
    app = await app_id(db, "bench")
    keys = {name: await create_key(db, app, user_id=one.owner.user_id) for name, one in users.items()}
    await db.close()
    with ExitStack() as stack:
        ports = {"now": stack.enter_context(api(bench)).port}
        if before is not None:
            ports["before"] = stack.enter_context(_older_api(bench, before)).port
        await asyncio.to_thread(_rounds, outcome, asked, ports, users, keys)


def _rounds(
    outcome: Outcome, asked: Asked, ports: dict[str, int], users: dict[str, Person], keys: dict[str, str]
) -> None:
    questions = {name: [question for question, _ in one.questions(QUESTIONS)] for name, one in users.items()}
    versions = [name for name in VERSIONS if name in ports]
    for name in versions:
        warm(Client(ports[name], keys["quiet"]), questions["quiet"][0])
    with progress("asking beside a noisy user", asked.rounds * len(versions) * len(asked.noise)) as done:
        for kind in asked.noise:
            found = {name: Quiet([], []) for name in versions}
            for number in range(asked.rounds):
                for name in versions if number % 2 else reversed(versions):
                    _round(found[name], asked, ports[name], kind, questions=questions, keys=keys)
                    done(1)
                    time.sleep(1)  # what the noisy one left behind is over
            for name, quiet in found.items():
                _note(outcome, f"{name}.{kind}", quiet, asked)


def _round(
    quiet: Quiet, asked: Asked, port: int, kind: str, *, questions: dict[str, list[str]], keys: dict[str, str]
) -> None:
    """The quiet user alone, then beside the noise."""
    client = Client(port, keys["quiet"])
    _ask(client, questions["quiet"], WARM_UP_S, Quiet([], []), [])
    _ask(client, questions["quiet"], asked.seconds, quiet, quiet.alone)
    with noisy(port, keys["noisy"], kind, questions["noisy"]) as answered:
        answered.get(timeout=TIMEOUT_S)  # it has begun
        time.sleep(WARM_UP_S)
        while not answered.empty():
            answered.get()
        _ask(client, questions["quiet"], asked.seconds, quiet, quiet.beside)
        while not answered.empty():
            succeeded = answered.get() < http.client.MULTIPLE_CHOICES
            quiet.noise += succeeded
            quiet.noise_refused += not succeeded


def _note(outcome: Outcome, name: str, quiet: Quiet, asked: Asked) -> None:
    for part, times in (("alone", quiet.alone), ("beside", quiet.beside)):
        outcome.figures |= {
            f"{name}.{part}.p50_ms": percentile(times, 0.5),
            f"{name}.{part}.p95_ms": percentile(times, 0.95),
            f"{name}.{part}.max_ms": max(times),
        }
    outcome.figures |= {
        f"{name}.ratio.p95": percentile(quiet.beside, 0.95) / percentile(quiet.alone, 0.95),
        f"{name}.noisy_per_s": quiet.noise / (asked.rounds * asked.seconds),
        f"{name}.noisy_refused": quiet.noise_refused,
        f"{name}.degraded": quiet.degraded,
        f"{name}.refused": quiet.refused,
    }


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.neighbours", description="A user beside a noisy one.")
    parser.add_argument("--seconds", type=float, default=10, help="how long the quiet user asks, alone and beside")
    parser.add_argument("--rounds", type=int, default=3, help="of both parts, for each version")
    parser.add_argument("--passages", type=int, default=20_000, help="of the noisy user")
    parser.add_argument("--noise", default=",".join(NOISE), help=f"of {', '.join(NOISE)}; default: all")
    parser.add_argument("--before", type=Path, help="the checkout of an older version, measured in turn")
    given = parser.parse_args()
    asked = Asked(given.seconds, given.rounds, given.passages, tuple(given.noise.split(",")))
    bars = {
        f"now.{kind}.{name}": bar
        for kind in asked.noise
        for name, bar in (("ratio.p95", "<= 2"), ("degraded", "0"), ("refused", "0"))
    }

    def bench_neighbours() -> None:
        outcome = Outcome("neighbours", bars=bars)
        outcome.configuration = {
            **asdict(asked), "model": DEFAULT_MODEL, "noisy_at_once": NOISY_AT_ONCE, "noisy_limit": NOISY_LIMIT,
            "noisy_mode": "deliberate", "before": given.before is not None, "processors": os.cpu_count(),
        }  # fmt: skip
        with database() as bench:
            asyncio.run(measure(bench, outcome, asked, given.before))
            figures_table("a quiet user", outcome, VERSIONS)
            report(outcome, bench)

    run(bench_neighbours)


if __name__ == "__main__":
    main()
