"""Readers of other programs' evaluation files, for people who have them: LongMemEval and PerLTQA.

Every id is replaced by a number before anything else sees it: the gold sessions of LongMemEval have "answer" in theirs,
and its questions that have no answer end in "_abs". Gold is kept by the new ids.

LongMemEval (Wu et al., ICLR 2025): one JSON list; each question has a history of its own, so that it becomes a
conversation of its own. Evidence are the turns with ``has_answer``. PerLTQA (Du et al., SIGHAN 2024): a folder with
``perltmem*.json`` and ``perltqa*.json``; each character is a conversation, each entry of the profile, relationship,
event and line of a dialogue a turn. Its questions name their memory by the key under which they stand; of a dialogue
the lines that hold one of the question's anchors count or, where none does, all of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from bench.datasets import DataSet, Form, Question, Turn, made
from memsvc.errors import ConfigurationError

FORMATS = ("longmemeval", "perltqa")
LONGMEMEVAL_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)\D*(\d\d):(\d\d)")
DATES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%B %d, %Y", "%Y-%m", "%Y")
FIRST_DAY = datetime(2020, 1, 1)  # noqa: DTZ001 - such times have no zone in any of the sets
"""When the first memory without a readable date was made; each further one a minute later."""
LONGEST_SPEAKER = 40


def read(path: Path, form: str, *, first: int | None = None) -> DataSet:
    """Read a file of one of ``FORMATS``.

    Args:
        path: the file, or for PerLTQA the folder that holds both.
        form: the format.
        first: only so many conversations.

    Raises:
        ConfigurationError: it is not there, or not of this format.
    """
    readers = {"longmemeval": longmemeval, "perltqa": perltqa}
    try:
        return readers[form](path, first)
    except (OSError, msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{path} cannot be read as {form}: {type(error).__name__}: {error}", hint="See docs/benchmarks.md."
        ) from error


def _json(path: Path) -> Any:
    return msgspec.json.decode(path.read_bytes())


# LongMemEval ---------------------------------------------------------------------------------------------------------


def _longmemeval_time(written: str) -> str:
    found = LONGMEMEVAL_DATE.search(written)
    if found is None:
        raise ValueError(f"{written!r} is no date of LongMemEval")
    year, month, day, hour, minute = map(int, found.groups())
    return datetime(year, month, day, hour, minute).isoformat()  # noqa: DTZ001 - the set has no zones


def longmemeval(path: Path, first: int | None = None) -> DataSet:
    """Questions with their histories; sessions in the order of their times, as the published files mostly have them."""
    conversations: dict[str, list[Turn]] = {}
    questions: list[Question] = []
    for number, entry in enumerate(_json(path)[:first], 1):
        conversation = f"history {number}"
        sessions = sorted(
            zip(map(_longmemeval_time, entry["haystack_dates"]), entry["haystack_sessions"], strict=True),
            key=lambda one: one[0],
        )
        answerable = not str(entry["question_id"]).endswith("_abs")
        evidence: list[str] = []
        turns = conversations[conversation] = []
        for place, (moment, session) in enumerate(sessions, 1):
            for line, turn in enumerate(session, 1):
                if not str(turn["content"]).strip():
                    continue
                turn_id = f"{place}:{line}"
                turns.append(Turn(conversation, turn_id, str(place), moment, turn["role"], turn["content"]))
                if turn.get("has_answer"):
                    evidence.append(turn_id)
        questions.append(
            Question(
                f"question {number}", conversation, entry["question"], entry["question_type"],
                evidence if answerable else [], answerable, _longmemeval_time(entry["question_date"]),
            )
        )  # fmt: skip
    return made("longmemeval", Form(), conversations, questions)


# PerLTQA -------------------------------------------------------------------------------------------------------------


class _Character:
    """Turns of one character while they are made, and which of them each memory became."""

    def __init__(self, conversation: str) -> None:
        self.conversation = conversation
        self.turns: list[Turn] = []
        self.of: dict[tuple[str, str], list[str]] = {}
        """(section, key of the memory) -> ids of its turns."""
        self._sessions = 0

    def session(self) -> str:
        """The next session's name."""
        self._sessions += 1
        return str(self._sessions)

    def add(self, section: str, memory: str, session: str, text: str, *, speaker: str = "", moment: str = "") -> None:
        """A turn; an empty text is none."""
        if not text.strip():
            return
        turn_id = str(len(self.turns) + 1)
        when = moment or (FIRST_DAY + timedelta(minutes=len(self.turns))).isoformat()
        self.turns.append(Turn(self.conversation, turn_id, session, when, speaker, text))
        self.of.setdefault((section, memory), []).append(turn_id)


def _perltqa_time(written: Any) -> str:
    for form in DATES:
        try:
            return datetime.strptime(str(written).strip(), form).isoformat()  # noqa: DTZ007 - the set has no zones
        except ValueError:
            continue
    return ""


def _mapping(value: Any) -> Mapping[str, Any]:
    """An object, or one that was written as a string."""
    found = ast.literal_eval(value) if isinstance(value, str) else value
    return found if isinstance(found, dict) else {}


def _lines(contents: Any) -> Iterator[str]:
    """Lines of a dialogue, however deep they are nested."""
    if isinstance(contents, str):
        yield contents
    else:
        for one in contents:
            yield from _lines(one)


def _spoken(line: str) -> tuple[str, str]:
    """Speaker and text of a line: "Name: what was said"."""
    name, sign, rest = line.replace("：", ":", 1).partition(":")
    return (name.strip(), rest.strip()) if sign and 0 < len(name.strip()) <= LONGEST_SPEAKER else ("", line)


def _as_text(entry: Any) -> str:
    """An entry with its fields, one after another."""
    if isinstance(entry, dict):
        return "; ".join(f"{name}: {value}" for name, value in entry.items() if isinstance(value, str | int))
    return str(entry)


def _character(conversation: str, memory: Mapping[str, Any]) -> _Character:
    made_of = _Character(conversation)
    session = made_of.session()
    for name, value in _mapping(memory.get("profile", {})).items():
        made_of.add("profile", name, session, f"{name}: {value}")
    made_of.add("profile_description", "", session, str(memory.get("profile_description", "")))
    session = made_of.session()
    for name, entry in _mapping(memory.get("social_relationship", {})).items():
        made_of.add("social_relationship", name, session, _as_text(entry))
    for name, entry in _mapping(memory.get("events", {})).items():
        told = entry if isinstance(entry, dict) else {"content": str(entry)}
        moment = _perltqa_time(told.get("Creation Time", told.get("creation_time", "")))
        made_of.add("events", name, made_of.session(), str(told.get("content") or _as_text(told)), moment=moment)
    for name, entry in _mapping(memory.get("dialogues", {})).items():
        session = made_of.session()
        for when, contents in _mapping(entry.get("contents", {})).items():
            for line in _lines(contents):
                speaker, said = _spoken(line)
                moment = _perltqa_time(when)
                made_of.add("dialogues", name, session, said, speaker=speaker, moment=moment)
    return made_of


def _grouped(section: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(Key of a memory, question) of a section: English files have a list of objects, Chinese ones an object."""
    for group in [section] if isinstance(section, dict) else section:
        for name, questions in group.items():
            for question in questions:
                yield str(name), question


def _evidence(character: _Character, section: str, memory: str, question: Mapping[str, Any]) -> list[str]:
    """Turns that a question is about."""
    turn_ids = character.of.get((section, memory), [])
    if section != "dialogues":
        return turn_ids
    anchors = [str(phrase).lower() for anchor in question.get("Memory Anchors", []) for phrase in anchor]
    texts = {turn.turn_id: turn.text.lower() for turn in character.turns}
    return [one for one in turn_ids if any(phrase in texts[one] for phrase in anchors)] or turn_ids


def _references(question: Mapping[str, Any]) -> list[str]:
    """Fields of the profile that a question names: a list, a list in a string, or one name."""
    named = question.get("Reference Memory", "")
    if isinstance(named, str) and named.startswith("["):
        named = ast.literal_eval(named)
    return [str(one) for one in named] if isinstance(named, list) else [str(named)]


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} files {pattern}, not one")
    return found[0]


def perltqa(path: Path, first: int | None = None) -> DataSet:
    """Characters with their memories and the questions about them, by the section that a question is about."""
    memories = _json(_one(path, "perltmem*.json"))
    if isinstance(memories, list):
        memories = {one["profile"]["Protagonist"]: one for one in memories}
    asked: dict[str, Mapping[str, Any]] = {}
    for entry in _json(_one(path, "perltqa*.json")):
        asked |= entry
    conversations: dict[str, list[Turn]] = {}
    questions: list[Question] = []
    for number, name in enumerate([name for name in memories if name in asked][:first], 1):
        conversation = f"character {number}"
        character = _character(conversation, memories[name])
        conversations[conversation] = character.turns
        for written, content in asked[name].items():
            section = written.replace(" ", "_")
            if section == "profile":
                for question in content:
                    evidence = [
                        one for field in _references(question) for one in character.of.get(("profile", field), [])
                    ]
                    questions.append(_question(len(questions), conversation, section, question, evidence))
            else:
                for memory, question in _grouped(content):
                    evidence = _evidence(character, section, memory, question)
                    questions.append(_question(len(questions), conversation, section, question, evidence))
    return made("perltqa", Form(), conversations, questions)


def _question(
    number: int, conversation: str, section: str, question: Mapping[str, Any], evidence: list[str]
) -> Question:
    return Question(f"question {number + 1}", conversation, str(question["Question"]), section, evidence)
