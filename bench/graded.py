"""``python -m bench.graded``: how many of the facts of our own chats are right, and how many of use.

The labels of ``bench/gold/open`` and ``practice`` were read while rules were made. These chats were not: readers graded
1,920 of the facts that the rules find in them, doubtful ones too (``bench/gold/graded``). Printed is, for each type and
for each least confidence, how many of the facts that would be said are right and useful. Each fact of a chat counts
once, however often it is told. No database, minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from bench import chats
from bench.datasets import Turn
from bench.direct import SURE, Memory, windows_of
from bench.gold import Conversation, Labels, Said
from bench.harness import Outcome, figures_table, progress, report, run
from memsvc.extract.offline import pipeline
from memsvc.extract.offline.calibration import by_gold
from memsvc.extract.offline.extractor import read

GRADED = Path(__file__).resolve().parent / "gold" / "graded" / "facts.jsonl"
LEVELS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Confidences from which on facts are said; .5 is the extractor's own."""
Grade = Literal["useful", "trivial", "false"]


class Graded(msgspec.Struct, frozen=True):
    """A sentence that somebody graded."""

    turn: str
    """Chat and turn."""
    sentence: str
    grade: Grade


class GradedFact(NamedTuple):
    """A fact that the rules find, and what a reader thinks of it."""

    type: str
    confidence: float
    grade: Grade


def graded(path: Path = GRADED) -> dict[tuple[str, str], Grade]:
    """Grades by chat and turn ("en-people-01:1.3"), and sentence."""
    lines = map(msgspec.json.Decoder(Graded).decode, path.read_bytes().splitlines())
    return {(one.turn, one.sentence): one.grade for one in lines}


def our_chats() -> Iterator[Conversation]:
    """Our own English chats, but those that are kept."""
    for path in sorted(chats.FOLDER.glob("en-*.txt")):
        if path.stem not in chats.KEPT:
            yield Conversation(path.stem, [_said(turn) for turn in chats.turns(path)], Labels([], [], []))


def _said(turn: Turn) -> Said:
    names = {"user": "Owner", "assistant": "Assistant"}
    return Said(
        turn.conversation_id, turn.session_id, datetime.fromisoformat(turn.session_time).replace(tzinfo=UTC),
        turn.turn_id, names.get(turn.speaker, turn.speaker), "assistant" if turn.speaker == "assistant" else "user",
        turn.text,
    )  # fmt: skip


def facts_of(conversation: Conversation, grades: dict[tuple[str, str], Grade]) -> Iterator[GradedFact]:
    """The graded facts that the rules find in a chat, each once; what nobody graded is passed over."""
    memory, told = Memory(), set[str]()
    for turns, window in windows_of(conversation, memory):
        said = read(window, by_gold)
        memory.learn(turns, said)
        for fact in said.facts:
            grade = grades.get((f"{conversation.name}:{turns[fact.turn].turn_id}", fact.sentence))
            if grade is not None and fact.sentence not in told:
                told.add(fact.sentence)
                yield GradedFact(fact.type, fact.confidence, grade)


def shares(facts: Sequence[GradedFact]) -> dict[str, float]:
    """How many facts there are, and which share of them is right and useful."""
    counts = Counter(one.grade for one in facts)
    said = max(len(facts), 1)
    return {"said": len(facts), "right": 1 - counts["false"] / said, "useful": counts["useful"] / said}


def main() -> None:
    """Measure and print."""

    def bench_graded() -> None:
        pipeline.load()
        outcome, grades = Outcome("graded"), graded()
        conversations = list(our_chats())
        facts: list[GradedFact] = []
        with progress("reading chats", len(conversations)) as done:
            for conversation in conversations:
                facts += facts_of(conversation, grades)
                done(1)
        for least in LEVELS:
            said = [one for one in facts if one.confidence >= least]
            outcome.figures |= {f"from_{least}.{name}": value for name, value in shares(said).items()}
        for type_, _ in Counter(one.type for one in facts).most_common():
            said = [one for one in facts if one.type == type_ and one.confidence >= SURE]
            outcome.figures |= {f"{type_}.{name}": value for name, value in shares(said).items()}
        figures_table("graded", outcome, ("",))
        report(outcome)

    run(bench_graded)


if __name__ == "__main__":
    main()
