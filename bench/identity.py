"""``python -m bench.identity``: how well names, mentions and records are recognised as the same, beside plain strings.

febrl: records of people by name and address (no number, no birth date), all pairs that share a key. places: cities that
are known by half of their names; each other name is asked for, and its best candidate counts. nicknames: somebody in a
conversation is called by a nickname, or somebody is who is not there. litbank: which names of a text are of one person
or place, in the order of the text. The reference is trigram similarity of the same fields (litbank: a shared word).
Thresholds are chosen on one half of each set and used on the other, which the figures are of. ``automerge``: what the
judge would merge without asking, of all sets together; its lower bound is Wilson's at 95 %. er-pairs are printed only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping

from bench.harness import Outcome, database, figures_table, report, run, table
from bench.identity_sets import Found, Half, er_pairs, febrl, litbank, nicknames, places

BARS = {
    "febrl.candidates.recall": ">= 0.90",
    "febrl.automerge.recall": ">= 0.30",
    "automerge.precision": ">= 0.98",
    "automerge.worst.precision": ">= 0.98",
    **{f"{name}.lead": "> 0" for name in ("febrl", "places", "nicknames", "litbank")},
}
LEAST_OF_A_SET = 30
"""Fewest merges of a set for its precision to count as the worst."""
Scores = list[tuple[float, bool]]


def quality(scores: Iterable[tuple[float, bool]], true: int, threshold: float) -> tuple[float, float, float]:
    """Precision, recall and F1 of what reaches a threshold."""
    chosen = [right for score, right in scores if score >= threshold]
    hits = sum(chosen)
    precision, recall = hits / (len(chosen) or 1), hits / (true or 1)
    return precision, recall, 2 * precision * recall / ((precision + recall) or 1)


def best_threshold(scores: Scores, true: int) -> float:
    """The score from which F1 is best."""
    best, hits, threshold = -1.0, 0, 1.0
    ordered = sorted(scores, reverse=True)
    for taken, (score, right) in enumerate(ordered, 1):
        hits += right
        f1 = 2 * hits / (taken + true)
        if f1 > best and (taken == len(ordered) or ordered[taken][0] < score):
            best, threshold = f1, score
    return threshold


def wilson(hits: int, n: int) -> float:
    """Lower bound of a share at 95 % (Wilson 1927)."""
    if n == 0:
        return 0.0
    z, share = 1.96, hits / n
    return (share + z * z / (2 * n) - z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def measured(outcome: Outcome, name: str, found: Mapping[Half, Found]) -> None:
    """Figures of one set on its held half, with thresholds from the other."""
    dev, held = found["dev"], found["held"]
    plain = {
        half: part.reference or [(other, right) for _, other, right in part.scored] for half, part in found.items()
    }
    own = {half: [(score, right) for score, _, right in part.scored] for half, part in found.items()}
    threshold = best_threshold(own["dev"], dev.true)
    precision, recall, f1 = quality(own["held"], held.true, threshold)
    reference = quality(plain["held"], held.true, best_threshold(plain["dev"], dev.true))
    outcome.figures |= {
        f"{name}.precision": precision, f"{name}.recall": recall, f"{name}.f1": f1, f"{name}.n": held.true,
        f"{name}.threshold": threshold, f"{name}.candidates.recall": held.reached / (held.true or 1),
        f"{name}.plain.precision": reference[0], f"{name}.plain.recall": reference[1],
        f"{name}.plain.f1": reference[2], f"{name}.lead": f1 - reference[2],
    }  # fmt: skip
    if held.automatic:
        hits, n = sum(held.automatic), len(held.automatic)
        outcome.figures |= {
            f"{name}.automerge.precision": hits / n, f"{name}.automerge.n": n,
            f"{name}.automerge.lower": wilson(hits, n), f"{name}.automerge.recall": hits / (held.true or 1),
        }  # fmt: skip


def merged_by_themselves(outcome: Outcome, sets: Iterable[Mapping[Half, Found]]) -> None:
    """Figures of what would be merged without asking, on the held halves."""
    merges = [found["held"].automatic for found in sets]
    pooled = [right for part in merges for right in part]
    worst = [sum(part) / len(part) for part in merges if len(part) >= LEAST_OF_A_SET]
    outcome.figures |= {
        "automerge.precision": sum(pooled) / (len(pooled) or 1),
        "automerge.n": len(pooled),
        "automerge.lower": wilson(sum(pooled), len(pooled)),
        "automerge.worst.precision": min(worst, default=0.0),
    }


def show_pairs() -> None:
    """Print what the judge makes of products, papers and restaurants, which it was not made for."""
    rows = [["er-pairs", "pairs", "F1", "plain F1", "merged", "right"]]
    for name, found in er_pairs().items():
        trial = Outcome(name)
        measured(trial, name, found)
        automatic = found["held"].automatic
        rows.append([
            name, f"{len(found['held'].scored):,}", f"{trial.figures[f'{name}.f1']:.3f}",
            f"{trial.figures[f'{name}.plain.f1']:.3f}", str(len(automatic)), str(sum(automatic)),
        ])  # fmt: skip
    table("er-pairs (valid; no bar)", rows)


def bench_identity() -> None:
    """Measure, print, write."""
    outcome = Outcome("identity", bars=dict(BARS))
    outcome.configuration |= {
        "halves": "by sha256 of cluster, city, name or text; thresholds from dev, figures from held",
        "reference": "trigram similarity of the same fields, best threshold of dev; litbank: a shared word",
        "febrl": "sets 1 and 3, each half deduplicated by itself; name and address",
    }
    sets = {}
    for name, measure in (("febrl", febrl), ("places", places), ("nicknames", nicknames), ("litbank", litbank)):
        started = time.perf_counter()
        sets[name] = measure()
        measured(outcome, name, sets[name])
        outcome.configuration[f"{name}.seconds"] = round(time.perf_counter() - started, 1)
    merged_by_themselves(outcome, sets.values())
    show_pairs()
    with database() as bench:
        figures_table("identity", outcome, ("",))
        report(outcome, bench)


if __name__ == "__main__":
    run(bench_identity)
