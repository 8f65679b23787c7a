"""Summaries in a language model's words, where one is set: checked against what they rest on, else not used.

The model sees the lines that would stand in a longer extractive summary, and answers with lines that name those that
they rest on. Every name and every number of a line must stand in one of these, or nothing of the answer is used, and
people's own words stand. A model that cannot be used is not asked again in the same run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import structlog

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import LlmAnswerError, LlmError
from memsvc.llm.answers import Task, UnfitError, ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.settings import Settings
from memsvc.summaries import prompt
from memsvc.summaries.extractive import Line, size_of
from memsvc.summaries.words import EMPTY, numbers_in, one_line, words_of

SHOWN = 3
"""So many times the words of a summary are shown to the model."""
MOST_SHOWN = 60
"""Lines."""
CAPITAL = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w’'-]*")
"""A word with a capital, wherever it stands."""
log = structlog.get_logger()


class Writer:
    """Asks the model for the summaries of one run."""

    def __init__(self, db: Database, owner: Owner, settings: Settings, *, wanted: bool) -> None:
        """Take the user, and which model writes, if any; ``wanted``: whether one shall."""
        self.db, self.owner, self._settings = db, owner, settings
        self.writes = wanted and bool(settings.llm_model)
        self._failure: LlmError | None = None

    async def told(self, shown: Sequence[Line], otherwise: Sequence[Line], budget: int) -> tuple[Sequence[Line], str]:
        """Return the model's lines and its name; ``otherwise``, and no name, where its answer cannot be used.

        Args:
            shown: what it may use; the lines that the answer names become the sources of each line.
            otherwise: the same in people's own words.
            budget: words at most.
        """
        given = shown[:MOST_SHOWN]
        question = Task(
            name=prompt.TASK, version=prompt.VERSION, messages=prompt.messages([one.text for one in given], budget),
            schema=prompt.schema(), read=lambda found: read(found, given, budget),
        )  # fmt: skip
        try:
            answer = await ask(
                ChatClient(self._settings), question, Account(self.db, self.owner.user_id, self._settings)
            )
        except LlmAnswerError as error:
            log.info("a summary by a model is not used", code=error.code)
            return otherwise, ""
        except LlmError as error:
            self._failure, self.writes = error, False
            return otherwise, ""
        return answer.value, self._settings.llm_model or ""

    def end(self) -> None:
        """End the run.

        Raises:
            LlmError: the model could not be used; everything was told, in people's own words.
        """
        if self._failure is not None:
            raise self._failure


def read(found: dict[str, Any], given: Sequence[Line], budget: int) -> list[Line]:
    """The lines of an answer.

    Raises:
        UnfitError: a line names no source, or has a name or a number that its sources do not have; or it is too long.
    """
    lines: list[Line] = []
    for one in msgspec.convert(found, prompt.Answer).lines:
        numbers = dict.fromkeys(one.sources)
        text = one_line(one.text)
        if not text or not numbers or not all(0 <= number < len(given) for number in numbers):
            message = "a line is empty, or names no line that there is"
            raise UnfitError(message)
        sources = [given[number] for number in numbers]
        if strange(text, [source.text for source in sources]):
            message = "a line has a name or a number that the lines it names do not have"
            raise UnfitError(message)
        quoted = tuple(dict.fromkeys(quote for source in sources for quote in source.quoted))
        first = min(source.at for source in sources)
        lines.append(Line(text=text, quoted=quoted, at=first, worth=max(source.worth for source in sources)))
    if not lines or sum(size_of(line.text) for line in lines) > 1.2 * budget:
        message = f"it has no lines, or more than {budget} words"
        raise UnfitError(message)
    return sorted(lines, key=lambda line: line.at)


def strange(text: str, sources: Sequence[str]) -> set[str]:
    """Names and numbers of a text that none of its sources has."""
    said = {word.removesuffix("'s") for source in sources for word in words_of(source)}
    names = {word.casefold().replace("’", "'").removesuffix("'s") for word in CAPITAL.findall(text)}
    parts = {part for name in names for part in words_of(name)} - EMPTY
    return (parts - said) | (numbers_in([text]) - numbers_in(sources))
