"""``python -m bench.forgetting``: what forgetting by disuse archives in idle days, and what that costs recall.

The sample of ``examples/`` and conversations of LoCoMo, each a user of its own whom nobody recalls. Days pass by moving
what is stored into the past; sleep's task ``forgetting`` runs each night of the first 30 days, then once a week up to a
year, with the settings of the source documents and with the chosen ones. After 30 and 365 days every question is asked
again: ``archived`` is the share of the messages, ``lost`` recall@10 before minus after, ``deep`` recall@10 with
``include_archived``. The questions of a set never count as recalls.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import fmean

import msgspec
import psycopg

from bench.asking import EMBEDDING_MS, Remembering, turns_of
from bench.datasets import DataSet, Form, Question, Turn, load, made
from bench.harness import Bench, Outcome, database, figures_table, report, run
from bench.metrics import score
from bench.store import new_user, store
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.execution import run_due
from memsvc.recall.options import Filters
from memsvc.recall.search import recall
from memsvc.sleep.runner import sleep
from memsvc.sources.embedding import embed_lacking

SAMPLE = Path(__file__).resolve().parent.parent / "examples"
SETTINGS: Mapping[str, Mapping[str, object]] = {
    "sources": {"forgetting_lambda": 0.002, "forgetting_threshold": 0.05},
    "chosen": {},
}
"""Names of settings -> what differs from the defaults."""
EACH_NIGHT, END = 30, 365
AGED = (
    "UPDATE memsvc.passages SET recorded_at = recorded_at - %(by)s WHERE user_id = ANY (%(users)s)",
    (
        "UPDATE memsvc.sources SET created_at = created_at - %(by)s, last_ingested_at = last_ingested_at - %(by)s "
        "WHERE user_id = ANY (%(users)s)"
    ),
)
BARS = {
    f"{name}.chosen.30.{figure}": bar
    for name in ("sample", "locomo")
    for figure, bar in (("archived", ">= 0.30"), ("lost", "< 0.02"))
}
FOUND = 10


def sample() -> DataSet:
    """The conversation of ``examples/`` with its questions."""
    turns = [msgspec.json.decode(line, type=Turn) for line in (SAMPLE / "conversation.jsonl").open("rb")]
    asked = [msgspec.json.decode(line, type=Question) for line in (SAMPLE / "questions.jsonl").open("rb")]
    return made("sample", Form(), {turns[0].conversation_id: turns}, asked)


def locomo(count: int) -> DataSet:
    """The first conversations of LoCoMo, with the questions that have an answer."""
    whole = load("locomo")
    conversations = dict(list(whole.conversations.items())[:count])
    asked = [one for one in whole.main() if one.conversation_id in conversations]
    return made("locomo", Form(), conversations, asked)


def pass_days(admin: psycopg.Connection, owners: Sequence[Owner], days: int) -> None:
    """Move what is stored into the past."""
    for statement in AGED:
        admin.execute(statement, {"by": timedelta(days=days), "users": [owner.user_id for owner in owners]})


async def written(db: Database, bench: Bench, data: DataSet, name: str, resident: Residents) -> dict[str, Owner]:
    """The set with its vectors, each conversation a user's; conversation -> user."""
    owners = {}
    for conversation, turns in data.conversations.items():
        owners[conversation] = owner = await new_user(db, f"{name} {conversation}")
        await store(db, owner, [turn.message() for turn in turns], bench.settings)
        await run_due(db)
        await embed_lacking(db, resident, owner.user_id)
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
    return owners


async def found(
    db: Database, bench: Bench, data: DataSet, owners: Mapping[str, Owner], embedder: Remembering, *, deep: bool = False
) -> float:
    """Recall@10, the mean of the questions."""
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    scores = []
    for question in data.questions:
        told = await recall(
            db, owners[question.conversation_id], question.question, settings, embedder=embedder, limit=2 * FOUND,
            filters=Filters(include_archived=deep),
        )  # fmt: skip
        scores.append(score(turns_of(told.memories), question.evidence)[f"recall@{FOUND}"])
    return fmean(scores)


async def measure(bench: Bench, data: DataSet, outcome: Outcome, resident: Residents) -> None:
    """Both settings on one set."""
    db, embedder = bench.connect(), Remembering(resident)
    for name, chosen in SETTINGS.items():
        settings = bench.settings.model_copy(update={"forgetting": True, **chosen})
        owners = await written(db, bench, data, name, resident)
        await resident.ready(db)
        before = await found(db, bench, data, owners, embedder)
        outcome.figures[f"{data.name}.before"] = before
        slowest = 0.0
        for day in [*range(1, EACH_NIGHT + 1), *range(EACH_NIGHT + 7, END, 7), END]:
            with bench.admin() as admin:
                pass_days(admin, list(owners.values()), 1 if day <= EACH_NIGHT else 7)
            for owner in owners.values():
                began = time.perf_counter()
                await sleep(db, owner, ["forgetting"], settings=settings)
                slowest = max(slowest, time.perf_counter() - began)
            if day in {EACH_NIGHT, END}:
                figures = f"{data.name}.{name}.{day}"
                outcome.figures[f"{figures}.archived"] = archived(bench, list(owners.values()))
                outcome.figures[f"{figures}.lost"] = before - await found(db, bench, data, owners, embedder)
                outcome.figures[f"{figures}.deep"] = await found(db, bench, data, owners, embedder, deep=True)
        outcome.figures[f"{data.name}.{name}.slowest_night_s"] = slowest
    await db.close()


def archived(bench: Bench, owners: Sequence[Owner]) -> float:
    """Share of the messages."""
    with bench.admin() as admin:
        row = admin.execute(
            "SELECT avg((archived_at IS NOT NULL)::integer) FROM memsvc.passages "
            "WHERE user_id = ANY (%s) AND kind = 'message' AND part = 0",
            [[owner.user_id for owner in owners]],
        ).fetchone()
    return float(row[0]) if row else 0.0


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=1, help="how many of LoCoMo; 0: the sample alone")
    chosen = parser.parse_args(given)
    outcome = Outcome("forgetting", bars=BARS)
    with database() as bench:
        resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
        sets = [sample(), *([locomo(chosen.conversations)] if chosen.conversations else [])]
        for data in sets:
            asyncio.run(measure(bench, data, outcome, resident))
            outcome.configuration[data.name] = {
                "conversations": len(data.conversations), "turns": data.turns(), "questions": len(data.questions),
            }  # fmt: skip
        resident.close()
        defaults = bench.settings.model_dump(include={
            "forgetting_threshold", "forgetting_lambda", "forgetting_half_life_days", "forgetting_silent_days",
        })  # fmt: skip
        outcome.configuration["settings"] = {name: {**defaults, **one} for name, one in SETTINGS.items()}
        figures_table("Forgetting", outcome, ("",))
        report(outcome, bench)


if __name__ == "__main__":
    run(main)
