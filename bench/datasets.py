"""Reads the labelled sets: conversations to be written, and questions with the turns that answer them.

Each set is a folder with ``conversations.jsonl`` and ``questions.jsonl`` (or ``.jsonl.gz``), as its README describes;
``bench.readers`` makes sets of other programs' files. The texts are for evaluation only and are never committed;
results hold figures and no text.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from bench.harness import data_folder
from memsvc.errors import ConfigurationError
from memsvc.sources.messages import MessageIn

Key = tuple[str, str]
"""A turn by its conversation and its id, which other conversations may use again."""
Ranking = list[Key]
"""Turns that were found, best first."""


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
    answerable: bool = True
    asked_at: str | None = None
    """When, where the set says it; else at the end of the conversation."""

    @property
    def evidence(self) -> frozenset[Key]:
        """The turns that hold the answer, or that tempt to one."""
        return frozenset((self.conversation_id, turn_id) for turn_id in self.evidence_turn_ids)


@dataclass(frozen=True, slots=True)
class Form:
    """What is particular to one set."""

    reference: str | None = None
    """Dump of the reference BM25's first 20, to compare ``bm25_simple`` with."""
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Categories reported together, besides ``all``."""
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Groups of everything but these categories."""
    main: str = "all"
    """The group by which ways to ask are compared and tuned."""
    bars: Mapping[str, str] = field(default_factory=dict)
    """What a figure should be."""


CATEGORY_BAR = {"default.worst_category_difference": ">= -0.03"}
FORMS: dict[str, Form] = {
    "locomo": Form(
        reference="bm25_top20_turn_plain",
        without={"all_without_adversarial": frozenset({"adversarial"})},
        main="all_without_adversarial",
        bars=CATEGORY_BAR
        | {
            "bm25_simple.all_without_adversarial.recall@10": "0.518 ± 0.005",
            "bm25_simple.reference.difference": "0 ± 0.005",
            "bm25_english.all_without_adversarial.recall@10": ">= 0.60",
            "fused.all_without_adversarial.recall@10": ">= 0.635",
            "fused.all_without_adversarial.ndcg@10": ">= 0.485",
            "default.all_without_adversarial.recall@10": ">= 0.73",
            "default.all_without_adversarial.ndcg@10": ">= 0.56",
            "default.auroc": ">= 0.65",
            "one_user.default.all_without_adversarial.recall@10": ">= 0.64",
        },
    ),
    "madial": Form(
        bars=CATEGORY_BAR
        | {
            "fused.en.recall@10": ">= 0.78",
            "default.en.recall@10": ">= 0.80",
            "default.zh.recall@10": ">= 0.62",
        }
    ),
    "beam-100k": Form(
        groups={
            "core": frozenset({
                "information_extraction", "knowledge_update", "temporal_reasoning", "multi_session_reasoning",
                "contradiction_resolution",
            })
        },
        main="core",
        bars=CATEGORY_BAR
        | {
            "fused.core.recall@10": ">= 0.74",
            "default.core.recall@10": ">= 0.79",
            "default.auroc": ">= 0.65",
        },
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DataSet:
    """A set in memory."""

    name: str
    form: Form
    conversations: Mapping[str, Sequence[Turn]]
    questions: Sequence[Question]
    """Those that have evidence; of these, some sets hold questions that it only tempts to answer."""
    unanswerable: Sequence[Question] = ()
    """Those that have no answer and no evidence."""
    reference: Mapping[str, Ranking] = field(default_factory=dict)
    """Question -> the reference's first 20 turns; empty where the set has none."""

    def turns(self) -> int:
        """How many turns there are."""
        return sum(map(len, self.conversations.values()))

    def members(self, group: str) -> list[Question]:
        """Questions of a group, in the set's order."""
        categories = self.groups()[group]
        return [question for question in self.questions if question.category in categories]

    def main(self) -> list[Question]:
        """Questions of the group by which the set is compared and tuned."""
        return self.members(self.form.main)

    def moments(self) -> dict[str, datetime]:
        """Conversation -> a moment a day behind its last turn: when its questions are asked, where ages count."""
        return {
            conversation: max(as_moment(turn.session_time) for turn in turns) + timedelta(days=1)
            for conversation, turns in self.conversations.items()
        }

    def groups(self) -> dict[str, frozenset[str]]:
        """Groups of categories in the order in which they are shown."""
        categories = frozenset(question.category for question in self.questions)
        single = {category: frozenset({category}) for category in sorted(categories)}
        without = {name: categories - left_out for name, left_out in self.form.without.items()}
        return {**single, **self.form.groups, **without, "all": categories}


def as_moment(written: str) -> datetime:
    """A time of a set; without a zone it counts as UTC."""
    found = datetime.fromisoformat(written)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def lines(folder: Path, stem: str) -> Iterator[bytes]:
    """Lines of a file of a set, packed or not.

    Raises:
        ConfigurationError: it is not there.
    """
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
    for line in lines(folder, "conversations"):
        turn = msgspec.json.decode(line, type=Turn)
        conversations.setdefault(turn.conversation_id, []).append(turn)
    asked = [msgspec.json.decode(line, type=Question) for line in lines(folder, "questions")]
    of = {question.question_id: question.conversation_id for question in asked}
    reference: dict[str, Ranking] = {}
    for line in lines(folder, form.reference) if form.reference else ():
        ranking: dict[str, Any] = msgspec.json.decode(line)
        question_id = ranking["question_id"]
        if question_id in of:
            reference[question_id] = [(of[question_id], turn_id) for turn_id, _score in ranking["top"]]
    return made(name, form, conversations, asked, reference)


def made(
    name: str,
    form: Form,
    conversations: Mapping[str, Sequence[Turn]],
    asked: Sequence[Question],
    reference: Mapping[str, Ranking] | None = None,
) -> DataSet:
    """A set; questions that have an answer but no evidence are left out, for nothing can be counted of them."""
    return DataSet(
        name,
        form,
        conversations,
        [question for question in asked if question.evidence_turn_ids],
        [question for question in asked if not question.evidence_turn_ids and not question.answerable],
        reference or {},
    )
