"""Tasks of notes: boxes of Markdown and Logseq's words, with the dates of common plugins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memsvc.documents.vaults.days import valid
from memsvc.documents.vaults.form import Task, TaskState
from memsvc.documents.vaults.marks import Line, Paragraph

BOX = re.compile(r"\[(.)\][ \t]+(.*)")
STATES: Mapping[str, TaskState] = {"x": "done", "X": "done", "-": "cancelled"}
"""Of boxes; every other sign in a box is an open task."""
WORD = re.compile(r"(TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS|DONE|CANCELED|CANCELLED)\s+(.*)")
WORDS: Mapping[str, TaskState] = {"DONE": "done", "CANCELED": "cancelled", "CANCELLED": "cancelled"}
DAY = r"(\d{4})-(\d\d)-(\d\d)"
DUE = (
    re.compile(rf"\s*(?:📅|📆|🗓)\ufe0f?\s*{DAY}"),
    re.compile(rf"\s*[\[(]due::\s*{DAY}[^\])\n]*[\])]"),
    re.compile(rf"\s*\bdue::\s*(?:\[\[)?{DAY}(?:\]\])?"),
    re.compile(rf"\s*\bDEADLINE:\s*<{DAY}[^>\n]*>"),
)
SCHEDULED = (
    re.compile(rf"\s*⏳\ufe0f?\s*{DAY}"),
    re.compile(rf"\s*[\[(]scheduled::\s*{DAY}[^\])\n]*[\])]"),
    re.compile(rf"\s*\bscheduled::\s*(?:\[\[)?{DAY}(?:\]\])?"),
    re.compile(rf"\s*\bSCHEDULED:\s*<{DAY}[^>\n]*>"),
)


def tasks(paragraphs: Sequence[Paragraph], *, words: bool) -> list[Task]:
    """Return the tasks among paragraphs.

    Args:
        paragraphs: of a note.
        words: whether Logseq's words (TODO, DONE …) begin tasks, too.
    """
    return [task for one in paragraphs if one.is_item and (task := _task(one, words=words)) is not None]


def _task(paragraph: Paragraph, *, words: bool) -> Task | None:
    first = paragraph.lines[0]
    if (box := BOX.fullmatch(first.text)) is not None:
        state, text = STATES.get(box[1], "open"), box[2]
    elif words and (word := WORD.fullmatch(first.text)) is not None:
        state, text = WORDS.get(word[1], "open"), word[2]
    else:
        return None
    due, text = _date(DUE, text, paragraph.lines[1:])
    scheduled, text = _date(SCHEDULED, text, paragraph.lines[1:])
    return Task(line=first.number, text=text.strip(), state=state, due=due, scheduled=scheduled)


def _date(patterns: Sequence[re.Pattern[str]], text: str, more: Sequence[Line]) -> tuple[str | None, str]:
    """Return a date of a task, and its first line without it."""
    for pattern in patterns:
        if (found := pattern.search(text)) is not None and (day := valid(*found.groups())) is not None:
            return day, text[: found.start()] + text[found.end() :]
    for line in more:
        for pattern in patterns:
            if (found := pattern.search(line.text)) is not None and (day := valid(*found.groups())) is not None:
                return day, text
    return None, text
