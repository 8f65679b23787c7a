"""Reads the labelled sets: conversations to be written, and questions with the turns that answer them.

Each set is a folder with ``conversations.jsonl`` and ``questions.jsonl`` (or ``.jsonl.gz``), as its README describes.
The texts are for evaluation only and are never committed; results hold figures and no text.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from bench.harness import data_folder
from memsvc.errors import ConfigurationError
from memsvc.sources.messages import MessageIn


class Turn(msgspec.Struct, frozen=True):
    """One line of ``conversations.jsonl``."""

    conversation_id: str
    turn_id: str
    session_id: str
    session_time: str
    speaker: str
    text: str
    image_caption: str | None = None

    def message(self) -> MessageIn:
        """The turn as a client would send it; its id stays the client's id."""
        return MessageIn(
            conversation=self.conversation_id,
            session=self.session_id,
            id=self.turn_id,
            speaker=self.speaker,
            role=self.speaker if self.speaker in {"user", "assistant"} else "other",  # type: ignore[arg-type]
            text=self.text,
            caption=self.image_caption,
            said_at=self.session_time,
        )


class Question(msgspec.Struct, frozen=True):
    """One line of ``questions.jsonl``."""

    question_id: str
    conversation_id: str
    question: str
    category: str
    evidence_turn_ids: list[str] = []


@dataclass(frozen=True, slots=True)
class Form:
    """What is particular to one set."""

    reference: str | None = None
    """Dump of the reference BM25's first 20, to compare ``bm25_simple`` with."""
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Categories reported together, besides ``all``."""
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Groups of everything but these categories."""
    bars: Mapping[str, str] = field(default_factory=dict)
    """What a figure should be."""


FORMS: dict[str, Form] = {
    "locomo": Form(
        reference="bm25_top20_turn_plain",
        without={"all_without_adversarial": frozenset({"adversarial"})},
        bars={
            "bm25_simple.all_without_adversarial.recall@10": "0.518 ± 0.005",
            "bm25_simple.reference.difference": "0 ± 0.005",
            "bm25_english.all_without_adversarial.recall@10": ">= 0.60",
            "fused.all_without_adversarial.recall@10": ">= 0.635",
            "fused.all_without_adversarial.ndcg@10": ">= 0.485",
        },
    ),
    "madial": Form(bars={"fused.en.recall@10": ">= 0.78"}),
    "beam-100k": Form(
        groups={
            "core": frozenset({
                "information_extraction", "knowledge_update", "temporal_reasoning", "multi_session_reasoning",
                "contradiction_resolution",
            })
        },
        bars={"fused.core.recall@10": ">= 0.74"},
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DataSet:
    """A set in memory."""

    name: str
    form: Form
    conversations: Mapping[str, Sequence[Turn]]
    questions: Sequence[Question]
    """Those that have evidence."""
    reference: Mapping[str, Sequence[str]]
    """Question -> the reference's first 20 turns; empty where the set has none."""

    def groups(self) -> dict[str, frozenset[str]]:
        """Groups of categories in the order in which they are shown."""
        categories = frozenset(question.category for question in self.questions)
        single = {category: frozenset({category}) for category in sorted(categories)}
        without = {name: categories - left_out for name, left_out in self.form.without.items()}
        return {**single, **self.form.groups, **without, "all": categories}


def _lines(folder: Path, stem: str) -> Iterator[bytes]:
    packed, plain = folder / f"{stem}.jsonl.gz", folder / f"{stem}.jsonl"
    if not packed.exists() and not plain.exists():
        raise ConfigurationError(f"{stem}.jsonl is not in {folder}.", hint="See the README of the bench data.")
    with gzip.open(packed) if packed.exists() else plain.open("rb") as file:
        yield from (line for line in file if line.strip())


def load(name: str) -> DataSet:
    """Read one of ``FORMS``.

    Raises:
        ConfigurationError: the set is unknown, or not in the data folder.
    """
    if name not in FORMS:
        raise ConfigurationError(f"There is no bench set {name!r}.", hint=f"One of: {', '.join(FORMS)}.")
    folder, form = data_folder(name), FORMS[name]
    conversations: dict[str, list[Turn]] = {}
    for line in _lines(folder, "conversations"):
        turn = msgspec.json.decode(line, type=Turn)
        conversations.setdefault(turn.conversation_id, []).append(turn)
    asked = [msgspec.json.decode(line, type=Question) for line in _lines(folder, "questions")]
    reference: dict[str, list[str]] = {}
    for line in _lines(folder, form.reference) if form.reference else ():
        ranking: dict[str, Any] = msgspec.json.decode(line)
        reference[ranking["question_id"]] = [turn_id for turn_id, _score in ranking["top"]]
    return DataSet(name, form, conversations, [q for q in asked if q.evidence_turn_ids], reference)
