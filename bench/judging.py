"""Scores of rankings, compared: by category, between variants, with and without each weight, with the reference.

Differences are paired over the same questions and come with their 95 % bootstrap interval (``.low``, ``.high``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.asking import Asked
from bench.datasets import DataSet, Question, Ranking
from bench.harness import Outcome, table
from bench.metrics import METRICS, Score, auroc, auroc_interval, means, paired_bootstrap, score
from bench.variants import DIVERSE, PLAIN, PUBLISHED

COMPARED = ("recall@10", "ndcg@10")
DIFFERENCES = (
    ("bm25_simple", "bm25_english"), ("bm25_english", "fused"), ("vector", "fused"), ("fused", "default"),
    *((name, "default") for name in PUBLISHED), ("eager", "default"), ("default", "deliberate"),
    *(("default", name) for name in DIVERSE),
)  # fmt: skip
Scores = Mapping[str, Score]


def scores_of(questions: Iterable[Question], rankings: Mapping[str, Ranking]) -> dict[str, Score]:
    """Question -> its score; a question without a ranking counts as an empty one."""
    return {one.question_id: score(rankings.get(one.question_id, ()), one.evidence) for one in questions}


def difference(
    outcome: Outcome, name: str, asked: Sequence[Question], sides: tuple[Scores, Scores], metric: str
) -> tuple[float, float, float]:
    """Add the second side - the first in a metric over questions, with its interval, to the figures."""
    before, after = ([one[question.question_id][metric] for question in asked] for one in sides)
    change, low, high = paired_bootstrap(before, after)
    outcome.figures |= {name: change, f"{name}.low": low, f"{name}.high": high}
    return change, low, high


def judged_groups(data: DataSet) -> list[str]:
    """Groups over which variants are compared, the main one first."""
    return list(dict.fromkeys([data.form.main, *data.form.groups, *data.form.without, "all"]))


def judge(data: DataSet, rankings: Mapping[str, Mapping[str, Ranking]], outcome: Outcome) -> dict[str, Scores]:
    """Means of each variant by category, and the differences between them; the scores of each variant."""
    scores: dict[str, Scores] = {name: scores_of(data.questions, found) for name, found in rankings.items()}
    for name, scored in scores.items():
        by_group(data, name, scored, data.groups(), outcome)
    for before, after in DIFFERENCES:
        if before in scores and after in scores:
            for group in judged_groups(data):
                for metric in COMPARED:
                    figure = f"difference.{before}.{after}.{group}.{metric}"
                    difference(outcome, figure, data.members(group), (scores[before], scores[after]), metric)
    worst_category(data, scores, outcome)
    return scores


def by_group(data: DataSet, name: str, scored: Scores, groups: Iterable[str], outcome: Outcome) -> None:
    """Means of a variant over groups of questions, printed and added to the figures."""
    rows = [["category", "questions", *METRICS]]
    for group in groups:
        asked = data.members(group)
        values = means([scored[question.question_id] for question in asked])
        outcome.figures |= {f"{name}.{group}.{metric}": value for metric, value in values.items()}
        rows.append([group, str(len(asked)), *(f"{value:.3f}" for value in values.values())])
    table(f"{name} on {data.name}", rows)


def worst_category(data: DataSet, scores: Mapping[str, Scores], outcome: Outcome) -> None:
    """Where the defaults gain least over, or lose most to, the better of both forms of BM25, in recall@10."""
    if not {"default", *PLAIN} <= scores.keys():
        return
    gains = {}
    for category in sorted({question.category for question in data.questions}):
        asked = [question.question_id for question in data.members(category)]
        mean = {name: means([scores[name][one] for one in asked])["recall@10"] for name in ("default", *PLAIN)}
        gains[category] = mean["default"] - max(mean[name] for name in PLAIN)
    worst = min(gains, key=lambda category: gains[category])
    outcome.figures["default.worst_category_difference"] = gains[worst]
    outcome.configuration["worst_category"] = worst


def ablate(
    data: DataSet, default: Scores, without: Mapping[str, Scores], weights: Mapping[str, float], outcome: Outcome
) -> None:
    """What each weight gives: ``ablation.<weight>.<group>.<metric>``, above 0 where it pays.

    Args:
        data: the set.
        default: scores of the defaults.
        without: weight -> scores of the variant in which it is taken out or, where it is off, put in.
        weights: weight -> its value in the defaults.
        outcome: gets the figures.
    """
    group = data.form.main
    rows = [["weight", "default", *(f"{metric} {part}" for metric in COMPARED for part in ("gain", "95 %"))]]
    for name, scored in without.items():
        sides = (scored, default) if weights[name] else (default, scored)
        cells = []
        for one in judged_groups(data):
            for metric in COMPARED:
                figure = f"ablation.{name}.{one}.{metric}"
                change, low, high = difference(outcome, figure, data.members(one), sides, metric)
                if one == group:
                    cells += [f"{change:+.4f}", f"{low:+.4f} … {high:+.4f}"]
        rows.append([name, f"{weights[name]:g}" if weights[name] else "off", *cells])
    table(f"what each weight gives on {data.name}, {group}", rows)


def compare_with_reference(data: DataSet, found: Mapping[str, Ranking], outcome: Outcome) -> None:
    """``bm25_simple`` against the BM25 whose rankings come with the set."""
    asked = data.main()
    theirs, ours = scores_of(asked, data.reference), scores_of(asked, found)
    name = "bm25_simple.reference"
    difference(outcome, f"{name}.difference", asked, (theirs, ours), "recall@10")
    shared = [
        len(set(top[:10]) & set(found[question.question_id][:10])) / min(10, len(top))
        for question in asked
        if (top := data.reference.get(question.question_id))
    ]
    outcome.figures |= {
        f"{name}.recall@10": means(list(theirs.values()))["recall@10"],
        f"{name}.overlap_at_10": sum(shared) / len(shared),
    }


def separate(data: DataSet, asked: Asked, outcome: Outcome) -> None:
    """How well an answer's confidence tells questions that have one from those that have none.

    ``default.auroc`` goes by ``Recalled.confidence``; ``default.auroc.best_cosine`` by the best cosine of the first
    memories, for comparison. ``default.called_relevant.*`` is the share of answers that are said to be relevant.
    """
    everything = [*data.questions, *data.unanswerable]
    sides = [[one.question_id for one in everything if one.answerable is wanted] for wanted in (True, False)]
    if not all(sides):
        return
    for name, side in zip(("answerable", "unanswerable"), sides, strict=True):
        outcome.figures[f"default.called_relevant.{name}"] = sum(asked.relevant[one] for one in side) / len(side)
    cosines = [[asked.nearest[one] for one in side] for side in sides]
    outcome.figures["default.auroc.best_cosine"] = auroc(*cosines)
    confident = [[value for one in side if (value := asked.confidence[one]) is not None] for side in sides]
    if [len(side) for side in confident] != [len(side) for side in sides]:
        outcome.configuration["auroc"] = "not measured: answers carry no confidence"
        return
    low, high = auroc_interval(*confident)
    outcome.figures |= {"default.auroc": auroc(*confident), "default.auroc.low": low, "default.auroc.high": high}
