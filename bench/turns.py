"""``make bench-turns``: what it costs to record an agent's turns, and whether past work is found.

*Quality*: the history of ``bench/gold/turns``, which a fresh reader wrote before there was code for turns, becomes one
user's memory; past work is asked for its follow-ups, each in a conversation of its own, five turns and 1,500 tokens.
``past.recall@3``: one of the right turns is among the first three; ``past.all@3``: all are; ``lesson.in_block``: the
block names what a failed command taught. ``--gold kept`` asks the half that stays unopened.

*Speed*: ``--size`` turns with three calls each over a fifth as many documents, of three domains; commits one after
another, and past work with a shared file. Embedding is background work and not part of a commit.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec
import uvloop
from sqlalchemy import text

from bench.asking import EMBEDDING_MS
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run, table
from bench.metrics import percentile
from bench.store import new_user
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import Filters
from memsvc.recall.search import recall
from memsvc.sources.embedding import embed_lacking
from memsvc.sources.messages import MessageIn, append
from memsvc.turns.calls import CallIn
from memsvc.turns.past import PastWorkIn, past_work
from memsvc.turns.storing import TurnIn, record_turn

GOLD = Path(__file__).resolve().parent / "gold" / "turns"
FIRST, ASKED = 3, 200
SIZES = text(
    "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c "
    "WHERE c.relnamespace = CAST('memsvc' AS regnamespace) AND c.relkind = 'r'"
)
MODEL_CALLS = text("SELECT count(*) FROM memsvc.model_calls WHERE user_id = :user_id")


class Called(msgspec.Struct, frozen=True):
    """A call of the history."""

    tool: str
    arguments: dict[str, Any]
    result: str
    ok: bool
    ms: int


class PastTurn(msgspec.Struct, frozen=True):
    """A line of the history."""

    id: str
    session: str
    project_root: str
    at: str
    user: str
    calls: list[Called]
    answer: str


class FollowUp(msgspec.Struct, frozen=True):
    """A line of the questions."""

    id: str
    kind: str
    project_root: str
    files: list[str]
    question: str
    turn_ids: list[str]
    must_names: list[str] = []


def lines(name: str, kind: type[msgspec.Struct]) -> list[Any]:
    """The lines of a file of the gold."""
    told = (GOLD / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=kind) for line in told]


def turn_of(line: PastTurn) -> TurnIn:
    """A turn of the history as an agent would have sent it."""
    return TurnIn(
        conversation=line.session,
        id=line.id,
        root=line.project_root,
        at=line.at,
        request=line.user,
        answer=line.answer,
        calls=[msgspec.convert(msgspec.to_builtins(call), CallIn) for call in line.calls],
    )


def names_all(block: str, names: Sequence[str]) -> bool:
    """Whether a text has all these names, each from the begin of a word."""
    return all(re.search(rf"(?<!\w){re.escape(name)}", block, re.IGNORECASE) for name in names)


async def measure_quality(bench: Bench, outcome: Outcome, questions: list[FollowUp], *, show: bool) -> None:
    """Store the history and ask the follow-ups."""
    db = bench.connect()
    owner = await new_user(db, "kim")
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    embedder = Residents(settings)
    await embedder.ready(db)
    try:
        for line in lines("history", PastTurn):
            await record_turn(db, owner, turn_of(line), settings)
        await embed_lacking(db, embedder, owner.user_id)
        found: list[tuple[FollowUp, list[str], bool]] = []
        for one in questions:
            asked = PastWorkIn(query=one.question, files=one.files, root=one.project_root, conversation="now")
            told = await past_work(db, owner, asked, settings, embedder)
            found.append((one, [turn.id for turn in told.turns], names_all(told.text, one.must_names)))
    finally:
        embedder.close()
    tops = [(one, order[:FIRST]) for one, order, _ in found]
    outcome.figures["past.recall@3"] = fmean(not set(one.turn_ids).isdisjoint(top) for one, top in tops)
    outcome.figures["past.all@3"] = fmean(set(one.turn_ids) <= set(top) for one, top in tops)
    outcome.figures["past.recall@1"] = fmean(top[:1] != [] and top[0] in one.turn_ids for one, top in tops)
    outcome.figures["lesson.in_block"] = fmean(named for one, _, named in found if one.kind == "failure")
    outcome.figures["model_calls"] = await _count(db, owner)
    if show:
        missed = [
            [one.id, ", ".join(one.turn_ids), ", ".join(order), one.question[:70]]
            for one, order, named in found
            if set(one.turn_ids).isdisjoint(order[:FIRST]) or not named
        ]
        table("not found", [["id", "right", "found", "question"], *missed])
    await db.close()


async def _count(db: Database, owner: Owner) -> int:
    async with db.transaction(owner.user_id) as connection:
        return int((await connection.execute(MODEL_CALLS, {"user_id": owner.user_id})).scalar_one())


def drawn_turns(size: int, seed: int = 29) -> list[TurnIn]:
    """Turns with three calls each, over a fifth as many documents, a few of them popular."""
    draw = random.Random(seed)
    words = [word for line in lines("history", PastTurn) for word in f"{line.user} {line.answer}".split()]
    projects = ("shop", "tickertape", "hearth")
    turns: list[TurnIn] = []
    for number in range(size):
        project = projects[number // 20 % 3]
        calls = []
        for place in range(3):
            path = f"src/part{int(draw.paretovariate(0.7)) % max(1, size // 5)}.py"
            content = f"version {draw.randrange(4)} of {path}"
            tool = ("READ", "EDIT", "BASH")[place]
            told = {"command": f"pytest {path} -k {draw.choice(words)}"} if tool == "BASH" else {"path": path}
            result = " ".join(draw.choices(words, k=60)) if tool == "BASH" else content
            sha = None if tool != "EDIT" else f"{draw.getrandbits(256):064x}"
            calls.append(CallIn(tool=tool, arguments=told, result=result, ok=draw.random() > 0.1, ms=9, sha256=sha))
        turns.append(
            TurnIn(
                conversation=f"{project}-{number // 20}",
                id=str(number),
                project=project,
                root=f"/home/kim/{project}",
                request=" ".join(draw.choices(words, k=20)),
                answer=" ".join(draw.choices(words, k=40)),
                calls=calls,
            )
        )
    return turns


async def measure_speed(bench: Bench, outcome: Outcome, size: int) -> None:
    """Commit turns one after another, and ask for past work."""
    db = bench.connect()
    owner = await new_user(db, "robot")
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    embedder = Residents(settings)
    await embedder.ready(db)
    turns = drawn_turns(size)
    with bench.admin() as admin:
        before = admin.execute(str(SIZES)).fetchone()
        commits: list[float] = []
        messages: list[float] = []
        with progress("commits", size) as advance:
            for turn in turns:
                begun = time.perf_counter()
                await record_turn(db, owner, turn, settings)
                commits.append((time.perf_counter() - begun) * 1000)
                if len(commits) % 20 == 0:  # what one message costs on this machine at this moment
                    begun = time.perf_counter()
                    await append(db, owner, [MessageIn(conversation="beside", text=turn.request or "")], settings)
                    messages.append((time.perf_counter() - begun) * 1000)
                advance(1)
        stored = admin.execute(str(SIZES)).fetchone()
        outcome.figures["commit.p50_ms"] = median(commits)
        outcome.figures["message.p50_ms"] = median(messages)
        outcome.figures["commit.p95_ms"] = percentile(commits, 0.95)
        if before is not None and stored is not None:
            outcome.figures["bytes_per_turn"] = float(stored[0] - before[0]) / size
        begun = time.perf_counter()
        await embed_lacking(db, embedder, owner.user_id)
        outcome.figures["embed_s"] = time.perf_counter() - begun
        admin.execute("VACUUM ANALYZE")
    took: list[float] = []
    recalls: list[float] = []
    try:
        for number in range(ASKED + 5):
            turn = turns[number * 7 % size]
            asked = PastWorkIn(
                query=" ".join((turn.request or "").split()[:10]),
                files=[str(turn.calls[0].arguments["path"])] if isinstance(turn.calls[0].arguments, dict) else [],
                project=turn.project,
                root=turn.root,
                conversation=turn.conversation,
            )
            begun = time.perf_counter()
            await past_work(db, owner, asked, settings, embedder)
            if number >= 5:  # the first ones warm the pool
                took.append((time.perf_counter() - begun) * 1000)
            begun = time.perf_counter()  # what recall alone costs on this machine at this moment
            await recall(db, owner, asked.query, settings, embedder=embedder, filters=Filters(kinds=["turn"]))
            recalls.append((time.perf_counter() - begun) * 1000)
    finally:
        embedder.close()
    outcome.figures["recall.p50_ms"] = median(recalls)
    outcome.figures["retrieve.p50_ms"] = median(took)
    outcome.figures["retrieve.p95_ms"] = percentile(took, 0.95)
    await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.turns")
    parser.add_argument("--size", type=int, default=10_000, help="turns of the measure of speed; 0: none")
    parser.add_argument("--gold", choices=("open", "kept"), default="open", help="which half of the questions")
    parser.add_argument("--show", action="store_true", help="what is not found; not of the kept half")
    chosen = parser.parse_args()
    questions: list[FollowUp] = lines(f"questions_{chosen.gold}", FollowUp)

    def bench_turns() -> None:
        bars = {
            "commit.p50_ms": "<= 8", "retrieve.p95_ms": "<= 50", "past.recall@3": ">= 0.9", "lesson.in_block": ">= 0.9",
            "model_calls": "= 0",
        }  # fmt: skip
        outcome = Outcome("turns", data_set=chosen.gold, bars=bars)
        outcome.configuration |= {"questions": len(questions), "size": chosen.size}
        with database() as bench:
            uvloop.run(measure_quality(bench, outcome, questions, show=chosen.show and chosen.gold == "open"))
            if chosen.size:
                uvloop.run(measure_speed(bench, outcome, chosen.size))
            figures_table("turns of agents", outcome, ("",))
            report(outcome, bench)

    run(bench_turns)


if __name__ == "__main__":
    main()
