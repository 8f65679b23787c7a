"""Whether a text asks something, told from greetings, thanks, tasks and statements.

By its words alone, in English, German, Spanish, French and Chinese (``asks.txt``); in other languages a question mark
counts. An assistant is told that nothing is known only where something was asked, and in doubt a text does not ask: to
say nothing costs less than to tell a greeting that it has no answer. Half of ``bench/gold/utterances.json`` was read to
write the words; of the other half, all 36 questions and 59 of 64 other texts are told for what they are.
"""

from __future__ import annotations

import re
from pathlib import Path

LOOKED_AT = 400
"""Characters at either end: a greeting or a task begins a text, and a question may end one."""
AFTER_A_GREETING = 40
"""A text with a question mark that goes on so long behind a greeting asks more than how somebody is."""
_GAP = " ,.!?¿！。，？-–…"
_ENDS = r"(?:(?<![a-zA-Z])|(?!\w))"
"""Behind a word of Latin letters nothing of the same word follows: "hi" is not in "hiking"."""


def _alternatives() -> dict[str, str]:
    """Section of the file -> its expressions, as alternatives of one."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(section, []).append(line)
    return {name: f"(?:{'|'.join(lines)})" for name, lines in found.items()}


_WORDS = _alternatives()
_GREETING, _THANKS, _TASK, _WORK, _TAG, _NEWS, _QUESTION, _ANYWHERE = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _WORDS["greeting"] + _ENDS,
        _WORDS["thanks"] + _ENDS + "(?!.*[?？])",
        f"{_WORDS['polite']}*{_WORDS['task']}{_ENDS}",
        _WORDS["work in a question"],
        rf"[,，]\s*{_WORDS['tag']}\s*[?？!]*\s*$",
        rf"\W*{_WORDS['news']}",
        f"{_WORDS['polite']}*{_WORDS['question']}",
        _WORDS["anywhere"],
    )
)
_MARK = re.compile("[?？؟;]\\s*$|[?？؟]")
_SENTENCE = re.compile(r"(?<=[.!。！])\s+|\n")


def asks(text: str) -> bool:
    """Whether a text asks something that a memory might answer.

    Greetings, thanks, tasks that hold what they work on ("Translate …", "48 * 17"), and statements with a question tag
    do not.
    """
    whole = text.strip().lstrip("¡¿")
    said, end = whole[:LOOKED_AT], whole[-LOOKED_AT:]
    if not said or _TASK.match(said) or _WORK.search(said) or _THANKS.match(said):
        return False
    if (greeting := _GREETING.match(said)) is not None:
        rest = whole[greeting.end() :].lstrip(_GAP)
        asked = _QUESTION.match(rest) is not None or ("?" in rest and len(rest) > AFTER_A_GREETING)
        return asked and _GREETING.match(rest) is None
    last = _SENTENCE.split(end)[-1].strip()
    if _TAG.search(last) or _NEWS.match(last):
        return False
    return any((_MARK.search(end), _QUESTION.match(said), _QUESTION.match(last), _ANYWHERE.search(last)))


def sets_task(text: str) -> bool:
    """Whether a text begins with a task that holds what it works on: "Translate …"."""
    return _TASK.match(text.lstrip("¡¿")) is not None or _WORK.search(text) is not None
