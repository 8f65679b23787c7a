"""``python -m bench.order``: learns recall's order and writes ``memsvc/recall/order.json`` (``make train-order``).

Recall is asked every question of the sets once, with every factor counting 1, so that it tells the values of all its
candidates; all else happens in memory (``bench.learning``). Trained on: our own chats and notes (``bench/gold/order``,
without those of ``KEPT``), MADial (MIT) and BEAM. Only tested on: the kept chats, and LoCoMo, whose licence forbids
shipping what was trained on it; what training on it would give is printed beside (``ceiling``). ``unseen``: each
question by weights that were learnt without its conversation. Questions count once more, a little, as if nothing could
be compared by meaning, for then other weights are right. The same candidates give the same weights.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import numpy as np

from bench import chats
from bench.asking import EMBEDDING_MS, write
from bench.datasets import FORMS, DataSet, Form, load
from bench.harness import Bench, Outcome, database, progress, report, run, table
from bench.learning import Candidates, Floats, learn, left_out, scores
from bench.statement import timed
from memsvc.llm.embedders import legible
from memsvc.llm.embedders.residents import Residents
from memsvc.recall import search
from memsvc.recall.options import BY_VECTORS, FACTORS, LINEAR
from memsvc.recall.order import FILE, FORMAT, TRAITS, Order
from memsvc.times.reading import read_times

LEARNT = (
    "words", "nearby", "session", "vector", "nearby_vector", "session_vector", "late", "session_late", "length",
    "asks", "answers", "speaker", "time",
)  # fmt: skip
"""Factors on which questions about messages can teach something; the others keep the linear order's weights."""
EITHER_WAY = frozenset({"length", "asks", "answers"})
"""Of these, factors that may count against a memory."""
MEANING = [LEARNT.index(name) for name in BY_VECTORS]
COUNTS: Mapping[str, float] = {"order": 1.0, "madial": 2.0, "beam-100k": 3.0}
"""What a question counts in learning, by its set: the smaller ones more."""
PLAIN_COUNTS = 0.3
TESTED = ("kept", "locomo")
FOLDS = 5
ALL = 400
"""More candidates than there are."""
EVERYTHING = dict.fromkeys(FACTORS, 1.0)


async def candidates(db: Any, data: DataSet, bench: Bench, resident: Residents) -> list[Candidates]:
    """What recall looks at for each question of a set."""
    owners = await write(db, data, bench)
    await resident.ready(db)
    found: list[Candidates] = []
    with progress(f"asking, {data.name}", len(data.main())) as done:
        for question in data.main():
            owner = owners[question.conversation_id]
            vector, _ = await resident.query_vectors(db, question.question, EMBEDDING_MS)
            readable = vector is not None and legible(vector.model, question.question)
            prepared = search.Prepared(
                vectors=(vector if readable else None, None),
                times=read_times(question.question, datetime.now(UTC), ZoneInfo(owner.time_zone)),
                page=10,
            )
            asked = search.parameters(owner, question.question, prepared, limit=ALL, weights=EVERYTHING)
            rows = [row for row in (await timed(db, owner, asked))[0] if row.memory_id is not None]
            if rows:
                found.append(
                    Candidates(
                        np.array([[row.factors[name] for name in LEARNT] for row in rows]),
                        np.array([rows[0].met[name] for name in TRAITS], float),
                        [(row.conversation, row.client_id or "") for row in rows],
                        question.evidence,
                        question.conversation_id,
                        question.category,
                        COUNTS.get(data.name, 1.0),
                    )
                )
            done(1)
    return found


async def collect(bench: Bench, sets: Sequence[str]) -> dict[str, list[Candidates]]:
    """Candidates of all sets; our own chats in two, those to learn from (``order``) and the kept ones."""
    db = bench.connect()
    found: dict[str, list[Candidates]] = {}
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        for name in sets:
            data = chats.read(Form()) if name == "order" else load(name)
            found[name] = await candidates(db, data, bench, resident)
    finally:
        resident.close()
        await db.close()
    own = found.get("order", [])
    found["kept"] = [one for one in own if one.conversation in chats.KEPT]
    found["order"] = [one for one in own if one.conversation not in chats.KEPT]
    return found


def plain(one: Candidates) -> Candidates:
    """A question as if nothing could be compared by meaning."""
    values, traits = one.values.copy(), one.traits.copy()
    values[:, MEANING] = 0
    traits[TRAITS.index("plain")] = 1
    return replace(one, values=values, traits=traits, counts=one.counts * PLAIN_COUNTS)


def learnt(asked: Sequence[Candidates]) -> Floats:
    """Weights that these questions teach."""
    start = np.array([LINEAR[name] for name in LEARNT])
    upward = np.array([name not in EITHER_WAY for name in LEARNT])
    return learn([*asked, *map(plain, asked)], start, upward)


def as_order(weights: Floats, card: dict[str, Any], version: str) -> Order:
    """The file's contents."""
    rows = {name: [round(float(number), 3) for number in row] for name, row in zip(LEARNT, weights, strict=True)}
    return Order(format=FORMAT, version=version, traits=list(TRAITS), weights=rows, card=card)


def card_of(found: Mapping[str, list[Candidates]], outcome: Outcome) -> dict[str, Any]:
    """What the order was learnt from, and what it is worth."""
    return {
        "by": "make train-order",
        "trained_on": {name: len(found[name]) for name in COUNTS if name in found},
        "tested_on": {name: len(found[name]) for name in TESTED if name in found},
        "figures": {name: round(value, 4) for name, value in outcome.figures.items() if name.count(".") == 2},
    }


def measure(found: Mapping[str, list[Candidates]], outcome: Outcome) -> Floats:
    """Learn, compare, and add the figures."""
    trained = [one for name in COUNTS for one in found.get(name, ())]
    weights = learnt(trained)
    linear = np.zeros_like(weights)
    linear[:, 0] = [LINEAR[name] for name in LEARNT]
    apart = left_out(trained, FOLDS, learnt)
    rows, at = [["set", "questions", "found", "order", "recall@10", "ndcg@10"]], 0
    for name, asked in found.items():
        if not asked:
            continue
        ways = {"linear": scores(asked, linear), "learnt": scores(asked, weights)}
        if name in COUNTS:
            ways["unseen"] = apart[at : at + len(asked)]
            at += len(asked)
        elif name in TESTED:
            ways["ceiling"] = left_out(asked, FOLDS, learnt)
        there = float(np.mean([len(set(one.turns) & set(one.evidence)) / len(one.evidence) for one in asked]))
        outcome.figures[f"{name}.found"] = there
        for way, scored in ways.items():
            recall, ndcg = scored.mean(axis=0)
            outcome.figures |= {f"{name}.{way}.recall@10": float(recall), f"{name}.{way}.ndcg@10": float(ndcg)}
            rows.append([name, str(len(asked)), f"{there:.3f}", way, f"{recall:.4f}", f"{ndcg:.4f}"])
            for category in sorted({one.category for one in asked}):
                chosen = [place for place, one in enumerate(asked) if one.category == category]
                outcome.figures[f"{name}.{way}.{category}.recall@10"] = float(scored[chosen, 0].mean())
    table("orders", rows)
    table(
        "weights",
        [
            ["factor", "linear", "learnt", *TRAITS],
            *(
                [name, f"{LINEAR[name]:g}", *(f"{n:+.2f}" for n in row)]
                for name, row in zip(LEARNT, weights, strict=True)
            ),
        ],
    )
    return weights


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.order", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", default="order,madial,beam-100k,locomo", help="with commas between")
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}, too")
    given = parser.parse_args()
    sets: list[str] = given.sets.split(",")

    def bench_order() -> None:
        outcome = Outcome("order")
        outcome.configuration |= {
            "sets": {name: FORMS[name].main if name in FORMS else "all" for name in sets}, "counts": dict(COUNTS),
            "tested": list(TESTED), "kept": sorted(chats.KEPT), "folds": FOLDS,
        }  # fmt: skip
        with database() as bench:
            found = asyncio.run(collect(bench, sets))
            weights = measure(found, outcome)
            card = card_of(found, outcome)
            order = as_order(weights, card, f"{datetime.now(UTC):%Y-%m-%d}")
            outcome.configuration["weights"] = order.weights
            if given.write:
                FILE.write_bytes(msgspec.json.format(msgspec.json.encode(order), indent=1) + b"\n")
            report(outcome, bench)

    run(bench_order)


if __name__ == "__main__":
    main()
