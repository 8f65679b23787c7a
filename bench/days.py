"""``python -m bench.days``: what contexts hold over simulated weeks (``bench/gold/days``); no model judges.

Each history becomes a user in the history's time zone. All of it is stored, embedded and read for facts offline; then
each question is asked for a context with the defaults, at the moment at which the gold asks it: nothing that was said
later counts. A question is answered where the block holds all strings of its answer, by the rules of the gold's README;
``newest`` also asks that no old value stands there as current. What is missing is told apart: the evidence was not in
the block, or it was and the strings are not (cut, or a day that is nowhere in words).
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from bench.asking import EMBEDDING_MS
from bench.datasets import as_moment
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run, table
from bench.store import store
from bench.stored import work
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.extract import registry
from memsvc.extract.asking import ask_all
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.execution import run_due
from memsvc.recall import salient
from memsvc.recall.context import NOTHING_LIKELY, ContextOptions, build_context
from memsvc.recall.items import Context
from memsvc.recall.options import Filters
from memsvc.sources.embedding import embed_lacking
from memsvc.sources.messages import MessageIn, Role

FOLDER = Path(__file__).resolve().parent / "gold" / "days"
OPEN, KEPT = FOLDER, FOLDER / "kept"
UNASKED = ("greeting", "task")
"""Kinds of questions that need no memory; the block must not say that nothing is known."""
FIGURES = {
    "name": "name", "distracted": "facts.distracted", "week": "facts.week", "newest": "newest",
    "reminder": "reminders", "unknown": "unknown",
}  # fmt: skip
BARS = {
    "name": ">= 1", "facts.distracted": ">= 0.95", "facts.week": ">= 0.95", "newest": ">= 1", "reminders": ">= 1",
    "greetings": ">= 1",
}  # fmt: skip


class DayTurn(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    id: str
    at: str
    role: Role
    text: str
    speaker: str | None = None


class DayConversation(msgspec.Struct, frozen=True):
    """One conversation."""

    id: str
    turns: list[DayTurn]


class DayQuestion(msgspec.Struct, frozen=True):
    """What is asked, when, and what the block must and must not hold."""

    id: str
    kind: str
    asked_at: str
    question: str
    answer: list[str | list[str]]
    not_: list[str] = msgspec.field(name="not")
    evidence: list[str]


class DayOwner(msgspec.Struct, frozen=True):
    """Whose week it is."""

    name: str


class History(msgspec.Struct, frozen=True):
    """One file."""

    name: str
    domain: str
    time_zone: str
    owner: DayOwner
    conversations: list[DayConversation]
    questions: list[DayQuestion]

    def sent(self) -> list[MessageIn]:
        """The messages as a client would send them, in the order of the week."""
        said = [
            MessageIn(
                conversation=conversation.id, id=turn.id, role=turn.role, text=turn.text, said_at=turn.at,
                speaker=turn.speaker or (self.owner.name if turn.role == "user" else ""),
            )
            for conversation in self.conversations
            for turn in conversation.turns
        ]  # fmt: skip
        return sorted(said, key=lambda message: as_moment(str(message.said_at)))


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a question."""

    question: DayQuestion
    right: bool
    evidence: float
    """Share of its evidence in the block; 1 where it has none."""
    tokens: int
    why: str


def read(folder: Path) -> list[History]:
    """The histories of a folder.

    Raises:
        ConfigurationError: there are none, or one is not of the format.
    """
    try:
        found = [
            msgspec.json.decode(path.read_bytes(), type=History) for path in sorted(folder.glob("[0-9][0-9]-*.json"))
        ]
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigurationError(f"The gold of the days cannot be read: {error}") from error
    if not found:
        raise ConfigurationError(f"{folder} holds no history.")
    return found


def holds(text: str, wanted: str) -> bool:
    """Whether a text holds a string: from the beginning of a word, and a number whole."""
    ends = r"(?!\d)" if wanted[-1].isdigit() else ""
    return re.search(rf"(?<!\w){re.escape(wanted)}{ends}", text, re.IGNORECASE) is not None


def answered(text: str, answer: Sequence[str | list[str]]) -> bool:
    """Whether a text holds each entry of an answer, of a list one of its forms."""
    return all(any(holds(text, form) for form in ([entry] if isinstance(entry, str) else entry)) for entry in answer)


def current(context: Context) -> str:
    """The texts of the block that do not say of themselves that they are over."""
    items = [item for section in context.sections for item in section.items]
    return "\n".join(item.text for item in items if not item.stale and not item.remark)


def judge(question: DayQuestion, context: Context) -> Judged:
    """Compare a block with what the question wants."""
    given = {memory.message_id for memory in context.memories}
    share = len(given & set(question.evidence)) / len(set(question.evidence)) if question.evidence else 1.0
    if question.kind in UNASKED:
        told = NOTHING_LIKELY in context.text
        return Judged(question, not told, share, context.tokens, "nothing known" * told)
    if question.kind == "unknown":
        told = NOTHING_LIKELY in context.text
        return Judged(question, told, share, context.tokens, "taken for known" * (not told))
    shown = current(context)
    old = [one for one in question.not_ if holds(shown, one)]
    right = answered(context.text, question.answer)
    why = ""
    if not right:
        why = "evidence missing" if share < 1 else "evidence there, answer not in words"
    elif old:
        why = "an old value stands"
    return Judged(question, right and not old, share, context.tokens, why)


async def write(db: Database, bench: Bench, histories: Sequence[History]) -> list[Owner]:
    """Store, embed, and read for facts."""
    owners = []
    for history in histories:
        app = await app_id(db, "bench")
        owner = (await add_user(db, app, name=history.owner.name, time_zone=history.time_zone)).owner
        await store(db, owner, history.sent(), bench.settings)
        owners.append(owner)
    await run_due(db)
    reader = registry.load("offline", bench.settings)
    for owner in owners:
        await ask_all(db, owner, reader, "offline")
    work(bench, "offline", sum(len(history.sent()) for history in histories))
    resident = Residents(bench.settings)
    with progress("embedding", sum(len(history.sent()) for history in histories)) as done:
        for owner in owners:
            await embed_lacking(db, resident, owner.user_id, done)
    resident.close()
    return owners


async def measure(bench: Bench, histories: Sequence[History], *, budget: int) -> list[Judged]:
    """Ask everything."""
    db = bench.connect()
    owners = await write(db, bench, histories)
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    embedder = Residents(settings)
    await embedder.ready(db)
    found: list[Judged] = []
    try:
        with progress("asking", sum(len(history.questions) for history in histories)) as done:
            for history, owner in zip(histories, owners, strict=True):
                for question in history.questions:
                    options = ContextOptions(
                        budget_tokens=budget, seed=0, filters=Filters(asked_at=as_moment(question.asked_at))
                    )
                    context = await build_context(
                        db, owner, question.question, settings, embedder=embedder, options=options, salient=salient
                    )
                    found.append(judge(question, context))
                    done(1)
    finally:
        embedder.close()
        await db.close()
    return found


def add_figures(found: Sequence[Judged], outcome: Outcome) -> None:
    """Shares of each kind, and what a block costs."""
    for kind, name in FIGURES.items():
        outcome.figures[name] = fmean(one.right for one in found if one.question.kind == kind)
    outcome.figures["greetings"] = fmean(one.right for one in found if one.question.kind in UNASKED)
    asked = [one for one in found if one.question.evidence]
    outcome.figures["evidence"] = fmean(one.evidence for one in asked)
    outcome.figures["tokens.mean"] = fmean(one.tokens for one in asked)
    outcome.figures["tokens.unasked"] = fmean(one.tokens for one in found if one.question.kind in UNASKED)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.days", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kept", action="store_true", help="the histories that stay unopened until the end")
    parser.add_argument("--budget", type=int, default=ContextOptions().budget_tokens, help="tokens of a block")
    parser.add_argument("--misses", action="store_true", help="list what is missed, and why; not with --kept")
    given = parser.parse_args()

    def bench_days() -> None:
        histories = read(KEPT if given.kept else OPEN)
        outcome = Outcome("days", bars=dict(BARS), data_set="kept" if given.kept else None)
        outcome.configuration |= {"histories": len(histories), "budget": given.budget}
        with database() as bench:
            found = asyncio.run(measure(bench, histories, budget=given.budget))
            add_figures(found, outcome)
            reasons = sorted({(one.question.kind, one.why) for one in found if one.why})
            table(
                "missed",
                [["kind: why", "questions"]]
                + [
                    [f"{kind}: {why}", str(sum((one.question.kind, one.why) == (kind, why) for one in found))]
                    for kind, why in reasons
                ],
            )
            if given.misses and not given.kept:
                for one in found:
                    if one.why:
                        print(f"  {one.question.id} {one.question.kind}: {one.why}: {one.question.question}")
            figures_table("days", outcome, ("",))
            report(outcome, bench)

    run(bench_days)


if __name__ == "__main__":
    main()
