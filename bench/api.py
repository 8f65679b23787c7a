"""``python -m bench.api``: the doors over real HTTP, for a user of 100,000 passages beside twenty of 5,000.

A real ``memsvc api`` serves on Granian in a process of its own, with the default embedding model and all defaults; this
process asks it over kept connections. Beside the clock stands what a request takes of processors. The drop-in door has
a scripted chat server behind it (``bench.upstream``), which is also asked directly, in turn: what the door adds is the
difference of the two calls of a pair. Users, passages and questions are those of ``bench.corpus_users``. No worker runs
while it is measured, unless ``--worker`` says so; due work but embedding is done between the parts.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

import msgspec

from bench import live
from bench.corpus_users import DEFAULT_MODEL, QUESTIONS, Person, build
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run
from bench.load import Client, Load, together
from bench.metrics import percentile
from bench.processes import HOST, api, processor_s, server_pids, worker
from bench.upstream import MODEL, THINKS_S, upstream
from memsvc.access.keys import create_key
from memsvc.access.users import app_id
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.reduction import fit
from memsvc.llm.embedders.registry import keep_projection
from memsvc.queue.execution import run_due

SMALL_USERS, SMALL_SHARE = 20, 20
"""Beside the one who is asked there are so many users, with that part of his passages each."""
CLIENTS = (1, 8)
WARM_UP_S, LOADED_S = 3.0, 60.0
COMPLETIONS = "/v1/chat/completions"
TURNS = 20
"""Of a conversation; then another one begins."""
BARS = {
    "hook.1.p95_ms": "<= 50", "hook.8.p95_ms": "<= 150", "recall.8.rps": ">= 40", "dropin.added.p95_ms": "<= 60",
    "event.p95_ms": "<= 500", "degraded": "0", "empty": "0", "lost": "0", "doubled": "0", "foreign": "0",
    "disordered": "0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    seconds: float
    """For each part."""
    passages: int
    """Of the user who is asked."""
    worker: bool
    """One runs beside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What a client met in a turn."""

    milliseconds: float
    degraded: bool
    """The answer lacks something that memory has: a recall that is slow is given up, and would make a door fast."""
    empty: bool
    """Nothing was recalled."""
    stream: bool = False
    added: float = 0.0
    """Milliseconds beyond those of the chat server, asked directly beside it."""


Turn = Callable[[int], Met]


@dataclass(slots=True)
class Doors:
    """Makes clients of the doors, all of one user."""

    port: int
    chat_port: int
    """Of the chat server behind the drop-in door."""
    key: str
    questions: Sequence[str]
    made: int = 0

    def warm(self) -> None:
        """Wait until the model is loaded.

        Raises:
            ConfigurationError: it takes too long.
        """
        turn, until = self.recall(), time.monotonic() + LOADED_S
        while turn(0).degraded:
            if time.monotonic() > until:
                raise ConfigurationError("The API answers without its embedding model.")

    def recall(self) -> Turn:
        """One that recalls."""
        client, first = self._client()

        def turn(number: int) -> Met:
            answer = client.post("/v1/recall", {"query": self._question(first + number)})
            told = msgspec.json.decode(answer.body)
            return Met(
                milliseconds=answer.milliseconds, degraded=bool(told["degraded"]), empty=not told["memories"]
            )  # fmt: skip

        return turn

    def hook(self) -> Turn:
        """One that says something, which is enriched before the model, and stored."""
        client, first = self._client()

        def turn(number: int) -> Met:
            said = {"conversation": _conversation("hook", first, number), "text": self._question(first + number)}
            answer = client.post("/v1/hooks/message", said)
            told = msgspec.json.decode(answer.body)
            return Met(milliseconds=answer.milliseconds, degraded=bool(told["degraded"]), empty=not told["ids"])

        return turn

    def chat(self) -> Turn:
        """One that chats through the drop-in door and asks the chat server the same: in turn first, in turn streamed.

        It sends no history, so memory adds the last turns too.
        """
        client, first = self._client()
        direct = Client(self.chat_port)

        def turn(number: int) -> Met:
            message = {"role": "user", "content": self._question(first + number)}
            body = {"model": MODEL, "messages": [message], "stream": number // 2 % 2 == 1}
            named = {"X-Memsvc-Conversation": _conversation("chat", first, number)}
            without = direct.post(COMPLETIONS, body).milliseconds if number % 2 else 0.0
            answer = client.post(COMPLETIONS, body, named)
            without = without or direct.post(COMPLETIONS, body).milliseconds
            return Met(
                milliseconds=answer.milliseconds,
                degraded=answer.headers["x-memsvc-memory"] != "ok",
                empty="x-memsvc-recall-id" not in answer.headers,
                stream=bool(body["stream"]),
                added=answer.milliseconds - without,
            )

        return turn

    def _client(self) -> tuple[Client, int]:
        """A connection, and the number of its first question; clients go through all of them in the same order."""
        self.made += 1
        return Client(self.port, self.key), 37 * self.made

    def _question(self, number: int) -> str:
        return self.questions[number % len(self.questions)]


def _conversation(door: str, client: int, number: int) -> str:
    return f"{door} {client}, {number // TURNS}"


def _spent(bench: Bench, api_pid: int) -> tuple[float, float]:
    """Seconds of a processor that the API's process had, and the database's server."""
    return processor_s([api_pid]), processor_s(server_pids(bench))


def _note(outcome: Outcome, part: str, load: Load[Met]) -> None:
    times = [met.milliseconds for met in load.met]
    outcome.figures |= {
        f"{part}.p50_ms": percentile(times, 0.5),
        f"{part}.p95_ms": percentile(times, 0.95),
        f"{part}.rps": load.per_s,
    }
    outcome.figures["degraded"] += sum(met.degraded for met in load.met)
    outcome.figures["empty"] += sum(met.empty for met in load.met)


def _note_added(outcome: Outcome, load: Load[Met]) -> None:
    for name, stream in (("dropin.added", False), ("dropin.stream_added", True)):
        added = [met.added for met in load.met if met.stream is stream]
        outcome.figures |= {f"{name}.p50_ms": percentile(added, 0.5), f"{name}.p95_ms": percentile(added, 0.95)}


async def _build(db: Database, bench: Bench, outcome: Outcome, passages: int) -> tuple[Person, Person]:
    """The one who is asked, and another one; the model's token vectors are compared too."""
    sizes = {"big": passages} | {f"small{number}": passages // SMALL_SHARE for number in range(SMALL_USERS)}
    users, model_id = await build(db, bench, sizes, outcome)
    await keep_projection(db, model_id, await asyncio.to_thread(fit, OnnxMiniLM()))
    return users["big"], users["small0"]


async def measure(bench: Bench, outcome: Outcome, asked: Asked) -> None:
    """Build, serve, and ask each door for so long."""
    db = bench.connect()
    big, other = await _build(db, bench, outcome, asked.passages)
    key = await create_key(db, await app_id(db, "bench"), user_id=big.owner.user_id)
    with ExitStack() as stack:
        chat = stack.enter_context(upstream(bench))
        if asked.worker:
            stack.enter_context(worker(bench))
        serving = stack.enter_context(api(bench, log_level="info", chat_url=f"http://{HOST}:{chat.port}/v1"))
        doors = Doors(serving.port, chat.port, key, [question for question, _ in big.questions(QUESTIONS)])
        parts = [("recall", doors.recall, count) for count in CLIENTS] + [
            ("hook", doors.hook, count) for count in CLIENTS
        ]
        await asyncio.to_thread(doors.warm)
        with progress("asking the doors", len(parts) + 2) as done:
            for name, make, count in [*parts, ("chat", doors.chat, 1)]:
                clients = [make() for _ in range(count)]
                before = _spent(bench, serving.pid)
                load = await asyncio.to_thread(together, clients, seconds=asked.seconds, warm_up_s=WARM_UP_S)
                for what, begin, end in zip(("api", "database"), before, _spent(bench, serving.pid), strict=True):
                    outcome.figures[f"{name}.{count}.{what}_cpu_ms"] = (end - begin) * 1_000 / load.turns
                if name == "chat":
                    _note_added(outcome, load)
                _note(outcome, f"{name}.{count}", load)
                if not asked.worker:
                    await run_due(db)
                done(1)
            await live.measure(db, outcome, serving, asked.seconds, owners=[big.owner, other.owner])
            done(1)
    await db.close()


def _asked() -> Asked:
    parser = argparse.ArgumentParser(prog="python -m bench.api", description="The doors over real HTTP.")
    parser.add_argument("--seconds", type=float, default=30, help="how long each door is asked")
    parser.add_argument("--passages", type=int, default=100_000, help="of the user who is asked")
    parser.add_argument("--worker", action="store_true", help="a worker runs beside")
    given = parser.parse_args()
    return Asked(given.seconds, given.passages, given.worker)


def main() -> None:
    """Read the command line and run."""
    asked = _asked()

    def bench_api() -> None:
        outcome = Outcome("api", bars=dict(BARS))
        outcome.figures |= {"degraded": 0, "empty": 0}
        outcome.configuration = {
            **asdict(asked), "model": DEFAULT_MODEL, "small_users": SMALL_USERS, "small": asked.passages // SMALL_SHARE,
            "chat_server_thinks_s": THINKS_S, "turns_of_a_conversation": TURNS,
            "sockets_of_each_of_two": live.SOCKETS, "writes_per_s": live.WRITES_PER_S,
        }  # fmt: skip
        with database() as bench:
            asyncio.run(measure(bench, outcome, asked))
            figures_table("the doors", outcome, ("",))
            report(outcome, bench)

    run(bench_api)


if __name__ == "__main__":
    main()
