"""``python -m bench.overview``: how many of the main points an overview ("What did we talk about last week?") names.

Three histories (``bench/gold/overview``; the sample is ``examples/conversation.jsonl``) are stored and embedded, each
under a user of its own; then sleep mode summarises them. Each question is asked at its moment, for a block of 300
tokens. A reader listed the main points of each answer. A point is named where all its names stand in the block: from
the start of a word, whatever the case; a date in any form. ``before``: the same blocks before there were summaries.
``--kept`` also asks the questions that nobody looks at while building, ``--misses`` prints points of the open ones that
are not named.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Literal

import msgspec

from bench.asking import EMBEDDING_MS
from bench.harness import REPOSITORY, Bench, Outcome, database, figures_table, report, run
from bench.store import store
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.execution import run_due
from memsvc.recall import salient
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.options import Filters
from memsvc.sleep.runner import sleep
from memsvc.sources.embedding import embed_lacking
from memsvc.sources.messages import MessageIn
from memsvc.times.words import MONTHS

GOLD = REPOSITORY / "bench" / "gold" / "overview"
SAMPLE = REPOSITORY / "examples" / "conversation.jsonl"
ZONES = {"history_a": "Europe/London", "history_b": "America/Toronto", "sample": "Europe/Berlin"}
BUDGET = 300
DATE = re.compile(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+)|(?P<month_>[A-Z][a-z]+) (?P<day_>\d{1,2})")
BARS = {"overview.open": ">= 0.8", "overview.kept": ">= 0.8"}


class Point(msgspec.Struct, frozen=True):
    """A main point of what was said."""

    text: str
    message_ids: list[str]
    must_names: list[str]


class Asked(msgspec.Struct, frozen=True):
    """A question, and what a reader would want to hear."""

    id: str
    history: str
    question: str
    asked_at: datetime
    asked_by: str
    points: list[Point]


class Turn(msgspec.Struct, frozen=True):
    """A line of a history; of the sample under its own names."""

    text: str
    id: str = ""
    conversation: str = ""
    role: Literal["user", "assistant", "other"] = "other"
    said_at: str = ""
    conversation_id: str = ""
    turn_id: str = ""
    session_id: str = ""
    session_time: str = ""
    speaker: str = ""
    image_caption: str | None = None

    def message(self) -> MessageIn:
        """The turn as a client would send it."""
        return MessageIn(
            conversation=self.conversation or self.conversation_id, session=self.session_id,
            id=self.id or self.turn_id, speaker=self.speaker, role=self.role, text=self.text,
            caption=self.image_caption, said_at=self.said_at or self.session_time,
        )  # fmt: skip


def lines(path: Path, kind: type[Turn | Asked]) -> list[msgspec.Struct]:
    """The lines of a file."""
    return [msgspec.json.decode(line, type=kind) for line in path.read_bytes().splitlines() if line.strip()]


def names(text: str, name: str) -> bool:
    """Whether a text has a name: from the start of a word, without commas between thousands; a date in any form."""
    said = re.sub(r"(?<=\d),(?=\d{3})", "", text).casefold()
    date = DATE.fullmatch(name)
    month = date and (date["month"] or date["month_"]).casefold()
    if date and month in MONTHS:
        number, word = int(date["day"] or date["day_"]), month[:3]
        forms = (
            rf"\b{number}(?:st|nd|rd|th)?(?: of)? {word}", rf"\b{word}[a-z]*\.? {number}(?!\d)",
            rf"-{MONTHS[month]:02}-{number:02}\b",
        )  # fmt: skip
        return any(re.search(form, said) for form in forms)
    wanted = re.sub(r"(?<=\d),(?=\d{3})", "", name).casefold()
    return re.search(rf"(?<!\w){re.escape(wanted)}", said) is not None


async def block(db: Database, owner: Owner, bench: Bench, resident: Residents, asked: Asked) -> str:
    """What an assistant is given."""
    found = await build_context(
        db, owner, asked.question, bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}),
        embedder=resident, salient=salient,
        options=ContextOptions(budget_tokens=BUDGET, filters=Filters(asked_at=asked.asked_at)),
    )  # fmt: skip
    return found.text


async def remember(db: Database, bench: Bench, resident: Residents) -> Mapping[str, Owner]:
    """The histories, stored and embedded: each one's user."""
    owners: dict[str, Owner] = {}
    app = await app_id(db, "bench")
    for name, zone in ZONES.items():
        turns = lines(SAMPLE if name == "sample" else GOLD / f"{name}.jsonl", Turn)
        owners[name] = (
            await add_user(db, app, name={"sample": "Marcel"}.get(name, "user"), external_id=name, time_zone=zone)
        ).owner
        await store(db, owners[name], [turn.message() for turn in turns if isinstance(turn, Turn)], bench.settings)
    await run_due(db)
    for owner in owners.values():
        await embed_lacking(db, resident, owner.user_id)
    return owners


def scored(blocks: Mapping[str, str], questions: Sequence[Asked], *, misses: bool) -> float:
    """The share of points that their blocks name."""
    named = []
    for asked in questions:
        for point in asked.points:
            missing = [name for name in point.must_names if not names(blocks[asked.id], name)]
            named.append(not missing)
            if missing and misses:
                print(f"{asked.id}: {asked.question} lacks {missing}: {point.text}")
    return fmean(named)


async def measure(bench: Bench, outcome: Outcome, *, kept: bool, misses: bool) -> None:
    """The whole bench."""
    db = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        owners = await remember(db, bench, resident)
        await resident.ready(db)
        sets = {
            side: [one for one in lines(GOLD / f"{side}.jsonl", Asked) if isinstance(one, Asked)]
            for side in (("open", "kept") if kept else ("open",))
        }
        every = [one for questions in sets.values() for one in questions]
        before = {one.id: await block(db, owners[one.history], bench, resident, one) for one in every}
        for owner in owners.values():
            [run_] = await sleep(db, owner, ["summaries"], settings=bench.settings)
            outcome.figures[f"seconds.{owner.name}"] = run_.seconds
            await embed_lacking(db, resident, owner.user_id)
        after = {one.id: await block(db, owners[one.history], bench, resident, one) for one in every}
        for side, questions in sets.items():
            outcome.figures[f"overview.{side}"] = scored(after, questions, misses=misses and side == "open")
            outcome.figures[f"overview.{side}.before"] = scored(before, questions, misses=False)
            for history in ZONES:
                of = [one for one in questions if one.history == history]
                outcome.figures[f"overview.{side}.{history}"] = scored(after, of, misses=False)
        if misses:
            for one in sets["open"]:
                print(f"\n{one.id}: {one.question}\n{after[one.id]}")
    finally:
        resident.close()
        await db.close()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.overview", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kept", action="store_true", help="also the questions that nobody looks at while building")
    parser.add_argument("--misses", action="store_true", help="print the open blocks, and points that they do not name")
    chosen = parser.parse_args()

    def bench_overview() -> None:
        outcome = Outcome("overview", bars=dict(BARS))
        outcome.configuration |= {"budget_tokens": BUDGET, "histories": list(ZONES)}
        with database() as bench:
            asyncio.run(measure(bench, outcome, kept=chosen.kept, misses=chosen.misses))
            figures_table("main points named", outcome, ("overview.", "seconds."))
            report(outcome, bench)

    run(bench_overview)


if __name__ == "__main__":
    main()
