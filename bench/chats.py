"""Reads ``bench/gold/order``: our own chats and notes as plain text, with questions and the turns that answer them.

``bench/gold/README.md`` has the format. Chats lend themselves to training, which the sets of others do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bench.datasets import DataSet, Form, Question, Turn, made
from memsvc.errors import ConfigurationError

FOLDER = Path(__file__).resolve().parent / "gold" / "order"
KEPT = frozenset({"de-people-03", "en-people-21", "en-people-22", "en-people-23", "en-people-24", "zh-people-03"})
"""Only tested on."""
QUESTIONS = ".questions.jsonl"
HEAD = re.compile(r"(chat|kind|language|about): (.+)")
SESSION = re.compile(r"== (\d{4}-\d\d-\d\d) (\d\d:\d\d)")
TURN = re.compile(r"([^:]{1,30}): (.+)")
PHOTO = re.compile(r"\s*\[photo: (.*?)\]\s*")
ROLES: Mapping[str, Mapping[str, str]] = {
    "people": {},
    "assistant": {"Assistant": "assistant", "Companion": "assistant", "": "user"},
    "notes": {"Me": "user"},
}
"""Kind of chat -> speaker -> the role that stands for the name; "" is everybody else."""


class _Asked(msgspec.Struct, frozen=True):
    question: str
    evidence: list[str]
    kind: str


def turns(path: Path) -> list[Turn]:
    """The turns of a chat; a turn's id is the number of its session and its place in that.

    Raises:
        ConfigurationError: a line is none of the format.
    """
    found: list[Turn] = []
    roles, session, place, time = ROLES["people"], 0, 0, ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not session and (head := HEAD.fullmatch(line)):
            roles = ROLES[head[2]] if head[1] == "kind" else roles
        elif began := SESSION.fullmatch(line):
            session, place, time = session + 1, 0, f"{began[1]}T{began[2]}:00"
        elif session and (turn := TURN.fullmatch(line)):
            place += 1
            photos = PHOTO.findall(turn[2])
            said = PHOTO.sub(" ", turn[2]).strip()
            found.append(
                Turn(
                    conversation_id=path.stem,
                    turn_id=f"{session}.{place}",
                    session_id=str(session),
                    session_time=time,
                    speaker=roles.get(turn[1], roles.get("", turn[1])),
                    text=said or "(a photo)",
                    image_caption="; ".join(photos) or None,
                )
            )
        elif line.strip():
            raise ConfigurationError(f"{path.name}, line {number}: neither a head, a session nor a turn.")
    return found


def questions(path: Path) -> list[Question]:
    """The questions about a chat."""
    asked = [msgspec.json.decode(line, type=_Asked) for line in path.read_bytes().splitlines() if line.strip()]
    name = path.name.removesuffix(QUESTIONS)
    return [
        Question(f"{name}-{number}", name, one.question, one.kind, one.evidence) for number, one in enumerate(asked, 1)
    ]


def read(form: Form, names: Sequence[str] = ()) -> DataSet:
    """All chats that have questions, or these."""
    asked = sorted(FOLDER.glob(f"*{QUESTIONS}"))
    chosen = [path for path in asked if not names or path.name.removesuffix(QUESTIONS) in names]
    return made(
        "order",
        form,
        {one.name.removesuffix(QUESTIONS): turns(FOLDER / f"{one.name.removesuffix(QUESTIONS)}.txt") for one in chosen},
        [question for path in chosen for question in questions(path)],
    )
