"""``python -m bench.confidence --sets locomo,beam-100k``: fits the confidence of recall, and shows what it is worth.

Each question is put to its own conversation, and to the next one of its set, where nothing answers it. Of what the real
recall gives, some traits count, as ``memsvc.confidence`` (``sql/functions/recall/72_confidence.sql``) takes them. A
logistic regression learns their weights. As nearly all who ask in the sets name somebody or say "I", answerable and
foreign questions count once more as if they did not (``impersonal``, ``foreign_impersonal``). Two ways show what
weights are worth on what they have not seen: without a question's conversation (``unseen``), and without its whole set
(``other_sets``); ``shipped`` is the function as it stands. The table of thresholds says how many questions of each kind
would be called irrelevant.

Long questions are left out, as recall does not judge them. ``--keep FILE`` keeps what was collected (figures, no text)
outside the repository, and takes it from there the next time. Nothing is changed: weights are printed as they are to
stand in ``memsvc.confidence``. The same data give the same figures.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from bench.asking import EMBEDDING_MS, write
from bench.datasets import DataSet, Question, load
from bench.harness import Bench, Outcome, database, progress, report, run, table
from bench.logistic import Examples, Traits, fit, unseen
from bench.metrics import auroc
from bench.statement import parameters, timed
from memsvc.llm.embedders import legible
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import LEAST_CONFIDENCE, QUESTION_CHARS

if TYPE_CHECKING:
    from bench.logistic import Vector

Kind = Literal["answerable", "impersonal", "unanswerable", "foreign", "foreign_impersonal"]
"""unanswerable: the set says that its conversation has no answer; foreign: put to another conversation."""
COUNTS: Mapping[Kind, float] = {
    "answerable": 1, "impersonal": 0.3, "unanswerable": 3, "foreign": 1, "foreign_impersonal": 0.3,
}  # fmt: skip
"""What each kind counts in the fit, in each set that has it: the hardest most, what was made up least."""
RIGHT: tuple[Kind, ...] = ("answerable", "impersonal")
WRONG: tuple[Kind, ...] = ("unanswerable", "foreign", "foreign_impersonal")
SHIPPED = """
SELECT memsvc.confidence(g.cosine, g.late, g.mine, g.lead, false)
FROM unnest(%s::float8[], %s::float8[], %s::boolean[], %s::float8[])
  WITH ORDINALITY AS g (cosine, late, mine, lead, nth)
ORDER BY g.nth
"""
SAYS_I = (
    "SELECT array_agg(memsvc.says_i(q.query) ORDER BY q.nth) FROM unnest(%s::text[]) WITH ORDINALITY AS q (query, nth)"
)
ALL = 400
"""More candidates than there are."""
RIDGE = 1.0
EACH = 500
"""Examples that a kind of question counts as, so that the ridge means the same whatever the sets' sizes."""
BEST = 3
"""So many of the best MaxSims are averaged."""
WIDEST = 1.5
"""By more points nobody counts as nearer, or farther."""
ALONE = 1.0
"""The lead where nobody else speaks."""
LOW, HIGH = 0.35, 0.45
"""Between these cosines saying "I" comes to count."""
AIM = 0.03
"""Share of a set's answerable questions that may be called irrelevant."""
AIM_IMPERSONAL = 0.08
"""The same of those that were made impersonal."""
THRESHOLDS = [round(0.02 * step, 2) for step in range(1, 21)]


Inputs = tuple[float, float, bool, float | None]
"""What ``memsvc.confidence`` is computed from: cosine, late, mine, lead."""


class Seen(msgspec.Struct, frozen=True):
    """A question that was asked."""

    set: str
    conversation: str
    kind: Kind
    inputs: Inputs

    @property
    def traits(self) -> Traits:
        """What has weights."""
        cosine, late, mine, lead = self.inputs
        given = {"cosine": cosine, "late": late, "mine": 0.0, "named": 0.0, "lead": 0.0}
        if mine:
            return given | {"mine": _within(0, 1, (cosine - LOW) / (HIGH - LOW))}
        return given if lead is None else given | {"named": 1.0, "lead": _within(-WIDEST, WIDEST, lead)}


def _within(low: float, high: float, value: float) -> float:
    return max(low, min(high, value))


def inputs(arms: Sequence[tuple[Mapping[str, Any], bool, float]], *, says_i: bool) -> Inputs | None:
    """Those of an answer; None where nothing has token vectors.

    Args:
        arms: of each passage what the arms found, whether the query speaks of who speaks, and its points but for that.
        says_i: it does so by saying "I".
    """
    near = [(found["late"]["score"], found["vector"]["score"]) for found, _, _ in arms if "late" in found]
    if not near:
        return None
    best = sorted((late for late, _ in near), reverse=True)[:BEST]
    named, others = ([points for _, speaks, points in arms if speaks is wanted] for wanted in (True, False))
    cosine = max(one for _, one in near)
    lead = None if not named else max(named) - max(others, default=max(named) - ALONE)
    return cosine, statistics.fmean(best), says_i and bool(named), lead


async def ask(bench: Bench, data: DataSet, outcome: Outcome) -> list[Seen]:
    """Ask all questions of a set, twice each."""
    db = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    found: list[Seen] = []
    told: list[float] = []
    try:
        owners = await write(db, data, bench)
        await resident.ready(db)
        names = list(data.conversations)
        following = dict(zip(names, [*names[1:], names[0]], strict=True))
        questions = [one for one in (*data.questions, *data.unanswerable) if len(one.question) <= QUESTION_CHARS]
        with bench.admin() as admin:
            [mine] = admin.execute(SAYS_I, [[one.question for one in questions]]).fetchone() or ([],)
        with progress(f"asking, {data.name}", len(questions)) as done:
            for question, says_i in zip(questions, mine, strict=True):
                done(1)
                vector, _ = await resident.query_vectors(db, question.question, EMBEDDING_MS)
                if vector is None or not legible(vector.model, question.question):
                    continue
                for place in (question.conversation_id, following[question.conversation_id]):
                    asking = parameters(owners[place], question.question, limit=ALL, page=10, vector=vector)
                    rows, _ = await timed(db, owners[place], asking)
                    if (seen := _seen(data, question, place, rows, says_i=says_i)) is not None:
                        found.append(seen)
                        told.append(rows[0].answers)
    finally:
        resident.close()
        await db.close()
    outcome.figures[f"{data.name}.reproduced"] = float(np.abs(shipped(bench, found) - told).max())
    return found


def _seen(data: DataSet, question: Question, place: str, rows: Sequence[Any], *, says_i: bool) -> Seen | None:
    passages = [row for row in rows if row.memory_id is not None and row.version_id is None]
    given = inputs(
        [(row.arms, row.factors["speaker"] > 0, row.score - row.factors["speaker"]) for row in passages], says_i=says_i
    )
    own: Kind = "answerable" if question.answerable else "unanswerable"
    kind: Kind = own if place == question.conversation_id else "foreign"
    return None if given is None else Seen(data.name, question.conversation_id, kind, given)


def shipped(bench: Bench, seen: Sequence[Seen]) -> Vector:
    """The confidence that recall gives, where there are no facts."""
    with bench.admin() as admin:
        columns = [list(column) for column in zip(*(one.inputs for one in seen), strict=True)]
        rows = admin.execute(SHIPPED, columns).fetchall()
    return np.array([confidence for (confidence,) in rows])


def with_impersonal(seen: Sequence[Seen]) -> list[Seen]:
    """Answerable and foreign ones once more, as if they named nobody."""
    twins: dict[Kind, Kind] = {"answerable": "impersonal", "foreign": "foreign_impersonal"}
    more = [
        Seen(one.set, one.conversation, twins[one.kind], (*one.inputs[:2], False, None))
        for one in seen if one.kind in twins
    ]  # fmt: skip
    return [*seen, *more]


def examples_of(seen: Sequence[Seen]) -> Examples:
    """What is to be learnt; each kind of question counts the same in each set that has it."""
    sizes = Counter((one.set, one.kind) for one in seen)
    counts = [EACH * COUNTS[one.kind] / sizes[one.set, one.kind] for one in seen]
    return Examples.of([one.traits for one in seen], [one.kind in RIGHT for one in seen], counts)


def of_kind(seen: Sequence[Seen], chances: Vector, name: str, kind: Kind) -> list[float]:
    """Chances of a set's questions of one kind."""
    return [chance for one, chance in zip(seen, chances.tolist(), strict=True) if (one.set, one.kind) == (name, kind)]


def separation(seen: Sequence[Seen], ways: Mapping[str, Vector], outcome: Outcome) -> None:
    """``SET.WAY.auroc.KIND``: how often an answerable question gets more than one of another kind."""
    rows = [["area under the curve", *WRONG]]
    for name in sorted({one.set for one in seen}):
        for way, chances in ways.items():
            right, cells = of_kind(seen, chances, name, "answerable"), []
            for kind in WRONG:
                if wrong := of_kind(seen, chances, name, kind):
                    outcome.figures[f"{name}.{way}.auroc.{kind}"] = auroc(right, wrong)
                cells.append(f"{auroc(right, wrong):.3f}" if wrong else "")
            rows.append([f"{name}, {way}", *cells])
    table("told apart", rows)


def below(chances: Iterable[float], least: float) -> float:
    """The share that is called irrelevant."""
    given = list(chances)
    return sum(chance < least for chance in given) / len(given) if given else 0.0


def threshold(seen: Sequence[Seen], chances: Vector, way: str, outcome: Outcome) -> float:
    """The highest threshold that calls at most ``AIM`` of each set's answerable questions irrelevant."""
    names = sorted({one.set for one in seen})
    rows, chosen = [["below", *(f"{name} {kind}" for name in names for kind in COUNTS)]], 0.0
    for least in THRESHOLDS:
        shares = {
            (name, kind): below(of_kind(seen, chances, name, kind), least) for name in names for kind in COUNTS
        }  # fmt: skip
        rows.append([f"{least:.2f}", *(f"{share:.1%}" for share in shares.values())])
        if all(
            share <= (AIM if kind == "answerable" else AIM_IMPERSONAL)
            for (_, kind), share in shares.items()
            if kind in RIGHT
        ):
            chosen = least
        if least == LEAST_CONFIDENCE and way == "shipped":
            outcome.figures |= {f"{name}.irrelevant.{kind}": share for (name, kind), share in shares.items()}
    table(f"called irrelevant, {way}; as many as may be at {chosen:.2f}", rows)
    return chosen


def learn(seen: Sequence[Seen], told: Vector, outcome: Outcome) -> None:
    """Fit, and print what it is worth; told: the confidence that recall gives."""
    examples = examples_of(seen)
    sets = [one.set for one in seen]
    ways = {
        "shipped": told,
        "unseen": unseen(examples, [(one.set, one.conversation) for one in seen], RIDGE),
    }
    if len(set(sets)) > 1:
        ways["other_sets"] = unseen(examples, sets, RIDGE)
    separation(seen, ways, outcome)
    for way in ("shipped", "unseen"):
        outcome.configuration[f"threshold.{way}"] = threshold(seen, ways[way], way, outcome)
    model = fit(examples, RIDGE)
    weights = {"bias": model.bias, **model.weights}
    outcome.configuration["weights"] = {name: round(value, 3) for name, value in weights.items()}
    table("weights", [["trait", "weight"], *([name, f"{value:+.2f}"] for name, value in weights.items())])


def collect(bench: Bench, sets: Sequence[str], keep: Path | None, outcome: Outcome) -> list[Seen]:
    """What was kept, and what that lacks; it is added there."""
    seen = msgspec.json.decode(keep.read_bytes(), type=list[Seen]) if keep is not None and keep.exists() else []
    for name in sets:
        if not any(one.set == name for one in seen):
            seen += asyncio.run(ask(bench, load(name), outcome))
            if keep is not None:
                keep.write_bytes(msgspec.json.encode(seen))
    return [one for one in seen if one.set in sets]


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.confidence", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", default="locomo,beam-100k", help="with commas between")
    parser.add_argument("--keep", type=Path, help="file for what was collected; taken from there where it is there")
    given = parser.parse_args()
    sets: list[str] = given.sets.split(",")

    def bench_confidence() -> None:
        outcome = Outcome("confidence", data_set=None if given.sets == parser.get_default("sets") else "-".join(sets))
        with database() as bench:
            seen = collect(bench, sets, given.keep, outcome)
            outcome.configuration |= {
                "sets": {
                    name: {kind: sum((one.set, one.kind) == (name, kind) for one in seen) for kind in COUNTS}
                    for name in sets
                },
                "ridge": RIDGE, "aim": AIM, "threshold": LEAST_CONFIDENCE,
            }  # fmt: skip
            seen = with_impersonal(seen)
            learn(seen, shipped(bench, seen), outcome)
            report(outcome, bench)

    run(bench_confidence)


if __name__ == "__main__":
    main()
