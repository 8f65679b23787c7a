"""Insights by a language model, where one is set: questions about what was said lately, recall, and what follows.

After Park et al. 2023, "Generative Agents", section 4.2: the model asks what can be answered about the most recent and
salient memories; each question is recalled for; and it says what follows, naming the memories that it follows from.
Every name and number of an insight must stand in these, or it is not used. At most ``MOST_CALLS`` calls a night, and
two tries for each; the run's budget of tokens holds besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import structlog
from sqlalchemy import Row

from memsvc.access.users import Owner
from memsvc.db.clock import on_clock
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import LlmAnswerError, LlmError
from memsvc.graph.operations import Evidence
from memsvc.lessons.reflections import Found
from memsvc.llm.answers import Task, UnfitError, ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.llm.embedders.residents import Residents
from memsvc.recall.options import Filters
from memsvc.recall.results import Memory
from memsvc.recall.salient import top_of_mind
from memsvc.recall.search import recall
from memsvc.recall.times_in_words import day
from memsvc.settings import Settings
from memsvc.sleep import insights_prompt as prompt
from memsvc.summaries.abstractive import strange
from memsvc.summaries.words import one_line

LATELY = timedelta(days=7)
NEW, SALIENT, RECALLED = 20, 10, 12
"""Memories that are shown: new ones, salient ones, and for each question those recalled."""
MOST_QUESTIONS = 3
MOST_CALLS = 1 + MOST_QUESTIONS
LINE_CHARS = 300
LEAST_SOURCES, MOST_SOURCES = 2, 8
"""Memories from which an insight follows."""
MOST_CHARS = 400
log = structlog.get_logger()


class Thinker:
    """Asks the model in one run."""

    def __init__(self, db: Database, owner: Owner, settings: Settings) -> None:
        """Take the user, and which model thinks, if any."""
        self._db, self._owner, self._settings = db, owner, settings
        self._thinks = settings.reflection == "model" and bool(settings.llm_model)
        self._failure: LlmError | None = None

    async def has_news(self) -> bool:
        """Whether a model thinks, and somebody said something since it last did."""
        if not self._thinks:
            return False
        rows, looked = await self._new()
        return any(looked is None or row.recorded_at > looked for row in rows)

    async def insights(self) -> list[Found]:
        """What follows, for each question; empty where the model cannot be used, which ``end`` tells."""
        rows, _ = await self._new()
        salient = await top_of_mind(self._db, self._owner, limit=SALIENT)
        shown = [_line(one) for one in salient]
        shown += [_said(row.speaker or row.role, row.text, on_clock(row.said_at, row.said_offset)) for row in rows]
        lines = list(dict.fromkeys(shown))
        questions = await self._ask(
            prompt.TASK_QUESTIONS, prompt.questions(lines, MOST_QUESTIONS), prompt.schema_of_questions(), _questions
        )
        found: dict[str, Found] = {}
        embedder = Residents(self._settings)
        for question in questions or ():
            recalled = await recall(
                self._db, self._owner, question, self._settings, embedder=embedder, limit=RECALLED,
                filters=Filters(kinds=("message", "fact", "note")),
            )  # fmt: skip
            given = [one for one in recalled.memories if one.passage_id is not None]
            if len(given) < LEAST_SOURCES:
                continue
            asked = prompt.insights(question, [_line(one) for one in given])
            told = await self._ask(
                prompt.TASK_INSIGHTS,
                asked,
                prompt.schema_of_insights(),
                lambda answer, given=given: _read(answer, given, self._settings.llm_model or ""),
            )
            found |= {one.key: one for one in told or ()}
        return list(found.values())

    def end(self) -> None:
        """End the run.

        Raises:
            LlmError: the model could not be used.
        """
        if self._failure is not None:
            raise self._failure

    async def _ask(self, name: str, messages: Any, schema: dict[str, Any], read: Any) -> Any:
        """An answer; None where there is none that can be used."""
        if self._failure is not None:
            return None
        question = Task(name=name, version=prompt.VERSION, messages=messages, schema=schema, read=read)
        account = Account(self._db, self._owner.user_id, self._settings)
        try:
            return (await ask(ChatClient(self._settings), question, account)).value
        except LlmAnswerError as error:
            log.info("an answer of reflection is not used", task=name, code=error.code)
        except LlmError as error:
            self._failure = error
        return None

    async def _new(self) -> tuple[Sequence[Row[Any]], Any]:
        """The newest messages, and until when news were thought about."""
        user = {"user_id": self._owner.user_id}
        async with self._db.transaction(self._owner.user_id) as connection:
            asked = user | {"days": LATELY, "limit": NEW}
            rows = (await connection.execute(query("lately_said"), asked)).all()
            looked = await connection.scalar(query("reflected_until"), user)
        return rows, looked


def _said(speaker: str, text: str, said_at: Any) -> str:
    return f"{day(said_at)}, {speaker}: {one_line(text)}"[:LINE_CHARS]


def _line(memory: Memory) -> str:
    if memory.kind == "message":
        return _said(memory.speaker or memory.role, memory.text, memory.said_at)
    return one_line(memory.text)[:LINE_CHARS]


def _questions(answer: dict[str, Any]) -> list[str]:
    """The questions of an answer.

    Raises:
        UnfitError: there are none, or too many.
    """
    found = [one_line(one)[:LINE_CHARS] for one in msgspec.convert(answer, prompt.Questions).questions]
    found = [one for one in found if one]
    if not 1 <= len(found) <= MOST_QUESTIONS:
        message = f"it has not 1 to {MOST_QUESTIONS} questions"
        raise UnfitError(message)
    return found


def _read(answer: dict[str, Any], given: Sequence[Memory], by: str) -> list[Found]:
    """The insights of an answer; none is a good answer.

    Raises:
        UnfitError: one names too few memories, or has a name or a number that these do not have.
    """
    found = []
    for one in msgspec.convert(answer, prompt.Insights).insights:
        text, numbers = one_line(one.text), list(dict.fromkeys(one.sources))[:MOST_SOURCES]
        if not text or len(text) > MOST_CHARS or len(numbers) < LEAST_SOURCES:
            message = f"an insight is empty, longer than {MOST_CHARS} characters, or names fewer than two lines"
            raise UnfitError(message)
        if not all(0 <= number < len(given) for number in numbers):
            message = "an insight names a line that there is not"
            raise UnfitError(message)
        sources = [given[number] for number in numbers]
        if strange(text, [_line(source) for source in sources]):
            message = "an insight has a name or a number that the lines it names do not have"
            raise UnfitError(message)
        passages = dict.fromkeys(source.passage_id for source in sources if source.passage_id is not None)
        digest = hashlib.sha256(text.casefold().encode()).hexdigest()[:32]
        found.append(
            Found(
                kind="insight", key=f"insight:{digest}", text=text, at=max(source.said_at for source in sources),
                evidence=tuple(Evidence(passage_id=passage) for passage in passages),
                nodes=tuple(dict.fromkeys(node for source in sources for node in _nodes(source))),
                by=by,
            )
        )  # fmt: skip
    return found


def _nodes(source: Memory) -> list[Any]:
    return [source.fact.from_node, source.fact.to_node] if source.fact is not None else []
