"""How much of the evidence fits into a context of so many tokens, and how many tokens equal recall takes.

A context is judged by the turns among its ``memories``, whatever its text looks like.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from statistics import fmean, median
from uuid import UUID
from zoneinfo import ZoneInfo

from bench.asking import EMBEDDING_MS, World, answer, turns_of
from bench.datasets import DataSet, Key, Question
from bench.harness import Bench, Outcome, progress
from bench.variants import Variant
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import Item
from memsvc.recall.packing import Material, Packer
from memsvc.recall.results import Recalled
from memsvc.text.tokens import tokenizer

BUDGET = 1_500
MODE_BUDGETS = (1_500, 4_000)
CONSIDERED = 30
"""Memories that a context considers by default."""
LADDER = (*range(100, 1_500, 100), BUDGET, 2_000, 3_000)
"""Budgets tried for equal recall, in tokens."""
CANDIDATES = 100
"""Memories that are packed at each step of the ladder."""
ESTIMATE = tokenizer("estimate")
MEMORIES_ALONE = ContextOptions(
    budget_tokens=BUDGET, limit=CANDIDATES, neighbours=False, profile=False, core=False, instructions=(), salient=0,
    chance=False, elapsed=False,
)  # fmt: skip
"""Nothing but what was recalled: what is salient or stands beside it is not what is judged here."""


def share_of_evidence(found: Collection[Key], evidence: Collection[Key]) -> float:
    """Share of the evidence that is there; at least one turn is."""
    return len(set(found) & set(evidence)) / len(set(evidence))


def smallest_budget(wanted: float, recall_at: Callable[[int], float], ladder: Sequence[int] = LADDER) -> int | None:
    """The smallest budget of a ladder, which rises, at which recall is at least what is wanted; None: at none."""
    return next((budget for budget in ladder if recall_at(budget) >= wanted), None)


def packed(found: Recalled, budget: int) -> set[Key]:
    """Turns in a context of a budget."""
    packer = Packer(tokenizer=ESTIMATE, budget_tokens=budget, now=datetime.now(UTC), zone=ZoneInfo("UTC"))
    return set(turns_of(packer.pack(Material(memories=found.memories)).memories))


async def default_contexts(world: World, outcome: Outcome) -> None:
    """``default.tokens1500.<group>.recall``: with ``build_context`` as it is, and its mean number of tokens."""
    data, shares, sizes = world.data, dict[str, float](), list[int]()
    settings = world.bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    with progress("packing contexts", len(data.questions)) as done:
        for question in data.questions:
            context = await build_context(
                world.db,
                world.owners[question.conversation_id],
                question.question,
                settings,
                embedder=world.embedder,
                options=MEMORIES_ALONE,
            )
            shares[question.question_id] = share_of_evidence(turns_of(context.memories), question.evidence)
            sizes.append(context.tokens)
            done(1)
    name = f"default.tokens{BUDGET}"
    for group in data.groups():
        outcome.figures[f"{name}.{group}.recall"] = mean_over(data.members(group), shares)
    outcome.figures[f"{name}.recall"] = mean_over(data.main(), shares)
    outcome.figures[f"{name}.mean_tokens"] = sum(sizes) / len(sizes)


def mean_over(asked: Sequence[Question], values: Mapping[str, float]) -> float:
    """Mean of questions' values."""
    return sum(values[question.question_id] for question in asked) / len(asked)


async def equal_recall(world: World, before: Variant, after: Variant, outcome: Outcome) -> None:
    """``tokens.equal_recall.*``: the budget at which ``after`` recalls what ``before`` does within 1,500 tokens."""
    data, asked = world.data, world.data.main()
    answers: dict[str, list[Recalled]] = {"fused": [], "default": []}
    for name, variant in (("fused", before), ("default", after)):
        with progress(f"asking for many, {name}", len(asked)) as done:
            for question in asked:
                answers[name].append(await answer(world, question, variant, limit=CANDIDATES))
                done(1)

    def recall_at(name: str, budget: int) -> float:
        shares = {
            question.question_id: share_of_evidence(packed(found, budget), question.evidence)
            for question, found in zip(asked, answers[name], strict=True)
        }
        return mean_over(asked, shares)

    wanted = recall_at("fused", BUDGET)
    needed = smallest_budget(wanted, lambda budget: recall_at("default", budget))
    outcome.figures["tokens.equal_recall.fused_recall"] = wanted
    outcome.figures["tokens.equal_recall.fused"] = BUDGET
    if needed is not None:
        outcome.figures["tokens.equal_recall.default"] = needed
    outcome.configuration["equal_recall"] = describe(data)


def describe(data: DataSet) -> str:
    """What the figures of equal recall mean."""
    return f"group {data.form.main}, best {CANDIDATES} memories packed, budgets tried: {', '.join(map(str, LADDER))}"


def texts_of(bench: Bench) -> dict[UUID, tuple[Key, int]]:
    """Passage -> its turn and how many characters it has."""
    with bench.admin() as admin:
        rows = admin.execute(
            "SELECT p.passage_id, s.identifier, p.client_id, length(p.text) FROM memsvc.passages AS p "
            "INNER JOIN memsvc.sources AS s ON s.user_id = p.user_id AND s.source_id = p.source_id"
        ).fetchall()
    return {passage_id: ((conversation, turn_id), length) for passage_id, conversation, turn_id, length in rows}


def share_of_text(
    items: Iterable[Item],
    evidence: Collection[Key],
    passages: Mapping[UUID, tuple[Key, int]],
    lengths: Mapping[Key, int],
) -> float:
    """Share of the evidence's text that stands in a block, as a memory or beside one; the mean over its turns.

    Args:
        items: what the block holds.
        evidence: turns; at least one.
        passages: passage -> its turn, and how many characters it has.
        lengths: turn -> how many characters all its passages have.
    """
    shown = Counter[Key]()
    for item in items:
        if item.memory_id in passages:
            turn, length = passages[item.memory_id]
            shown[turn] += min(len(item.text), length)
    return sum(min(shown[turn] / lengths[turn], 1.0) if lengths.get(turn) else 0.0 for turn in evidence) / len(evidence)


async def mode_contexts(world: World, modes: Mapping[str, Variant], outcome: Outcome) -> None:
    """``context.<mode>.<budget>.*``: how much of the evidence a block of each mode holds, and how long it takes.

    ``turns``: share of the evidence's turns among the memories; ``text``: of its text in the block, neighbours
    included; ``ms``: median without the query's vector; ``to_default``: median of each question's time as a multiple of
    the default's. Modes are asked in turn, each as often first as the others.
    """
    asked, names, passages = world.data.main(), list(modes), texts_of(world.bench)
    lengths = Counter[Key]()
    for turn, length in passages.values():
        lengths[turn] += length
    for budget in MODE_BUDGETS:
        found: dict[str, list[tuple[float, float, int, float]]] = {name: [] for name in names}
        with progress(f"packing contexts of {budget:,} tokens", len(asked)) as done:
            for place, question in enumerate(asked):
                for name in (*names[place % len(names) :], *names[: place % len(names)]):
                    options = replace(
                        MEMORIES_ALONE, budget_tokens=budget, limit=CONSIDERED, neighbours=True, mode=modes[name].mode
                    )
                    start = time.perf_counter()
                    context = await build_context(
                        world.db, world.owners[question.conversation_id], question.question, world.bench.settings,
                        embedder=world.embedder, options=options,
                    )  # fmt: skip
                    seconds = time.perf_counter() - start
                    items = chain.from_iterable(section.items for section in context.sections)
                    found[name].append(
                        (
                            share_of_evidence(turns_of(context.memories), question.evidence),
                            share_of_text(items, question.evidence, passages, lengths),
                            context.tokens,
                            seconds * 1_000,
                        )
                    )
                done(1)
        for name, values in found.items():
            turns, text, tokens, milliseconds = zip(*values, strict=True)
            figure = f"context.{name}.{budget}"
            outcome.figures |= {
                f"{figure}.turns": fmean(turns), f"{figure}.text": fmean(text), f"{figure}.mean_tokens": fmean(tokens),
                f"{figure}.ms": median(milliseconds),
                f"{figure}.to_default": median(
                    mine / theirs[3] for mine, theirs in zip(milliseconds, found["default"], strict=True)
                ),
            }  # fmt: skip
