"""The extractor that asks a language model: one call a window, and one more where the answer lacks the form.

``memsvc.extract.prompts.facts`` has the question and the answer's form, ``memsvc.llm.answers`` gets it, this module
turns it into an ``Extraction``. A question is measured before it is sent: one that exceeds the model's context is put
briefly, or not sent at all, so that whoever reads gives fewer turns. An item that cannot be one is left out and counted
in the log; whether what is left is true is ``validation``'s business.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast, get_args
from uuid import UUID

import msgspec
import structlog

from memsvc.db.engine import Database
from memsvc.errors import InvalidRequestError, LlmContextError, LlmSlowError
from memsvc.extract.comparing import SYMMETRIC
from memsvc.extract.extraction import Change, Entity, Extraction, Extractor, Fact, Signs
from memsvc.extract.prompts import facts as prompt
from memsvc.extract.window import Turn, Window
from memsvc.llm.answers import Book, NoBook, Task, ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.queue.execution import STEP_LIMIT_S
from memsvc.settings import Settings
from memsvc.text.characters import is_visible, trimmed
from memsvc.text.storable import check_storable
from memsvc.text.tokens import estimate_tokens

Item = TypeVar("Item", prompt.EntityItem, prompt.FactItem, prompt.SignsItem)
WINDOW_S = 0.9 * STEP_LIMIT_S
"""Waiting behind other calls and a second answer add up. Who lets the job's own limit break the step off fails the job
for good, though nothing is wrong but a model that is slow."""
LEAST_ANSWER, ANSWER_SHARE = 300, 2
"""Tokens that an answer needs at least, and further ones for each token that people say."""
MAX_NAME = 200
MAX_SENTENCE = 1_000
CHANGES = get_args(Change)
MOOD = "FEELS"
DATE = re.compile(r"(?P<year>\d{4}) (?: -(?P<month>\d{1,2}) (?: -(?P<day>\d{1,2}) )? )? (?: [T ] .* )?", re.VERBOSE)
log = structlog.get_logger()


class LlmExtractor:
    """Reads windows for nobody's account; ``bound`` gives one that keeps account. See ``extraction.Extractor``."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing connects yet.

        Raises:
            ConfigurationError: no model is configured.
        """
        self._settings = settings
        self._client = ChatClient(settings)
        self._limit = settings.llm_context_tokens
        self._refused = math.inf
        """Size of the smallest full question that the server refused as too long."""
        self._version = f"{prompt.VERSION}-assistants" if settings.llm_assistants else prompt.VERSION
        self.name = f"llm:{settings.llm_model}/{self._version}"

    async def extract(self, window: Window) -> Extraction:
        """What the turns of the window say; the call is recorded nowhere, and no budget counts it.

        Raises:
            LlmError: see ``memsvc.llm.answers.ask``.
        """
        return await self.read(window, NoBook())

    def bound(self, db: Database, user_id: UUID) -> Extractor:
        """The same for a user: writes its calls down, and keeps to the budgets. See ``extraction.Bound``."""
        return _OfUser(self, Account(db, user_id, self._settings))

    async def read(self, window: Window, book: Book) -> Extraction:
        """What the turns say; where no person says anything, nobody is asked.

        Raises:
            LlmSlowError: it takes longer than an answer may, or than ``WINDOW_S`` altogether.
            LlmCutOffError: the answer was cut off before its end.
            LlmContextError: the question does not fit the model's context, however brief it is.
            LlmError: see ``memsvc.llm.answers.ask``.
        """
        if not any(turn.role == "user" and is_visible(turn.text) for turn in window.turns):
            return Extraction()
        try:
            async with asyncio.timeout(WINDOW_S):
                return await self._fitting(window, book)
        except TimeoutError as error:
            raise LlmSlowError(f"The language model took longer than {WINDOW_S:g} s for a window.") from error

    def least_context(self, window: Window) -> int:
        """The context that a window needs at least, in estimated tokens, its answer included."""
        return _size(window, self._task(window, brief=True))

    async def _fitting(self, window: Window, book: Book) -> Extraction:
        """Ask as fully as the context allows; a server that finds that too long is asked briefly."""
        task = self._task(window)
        size = _size(window, task)
        if size <= (self._limit or size) and size < self._refused:
            try:
                return (await ask(self._client, task, book)).value
            except LlmContextError:
                self._refused = size
        task = self._task(window, brief=True)
        size = _size(window, task)
        if self._limit and size > self._limit:
            turns = "A message needs" if len(window.turns) == 1 else f"{len(window.turns)} messages need"
            raise LlmContextError(
                f"{turns} a context of about {size:,} tokens, and MEMSVC_LLM_CONTEXT_TOKENS is {self._limit:,}.",
                needed=size, context=self._limit,
            )  # fmt: skip
        return (await ask(self._client, task, book)).value

    def _task(self, window: Window, *, brief: bool = False) -> Task[Extraction]:
        assistants = self._settings.llm_assistants
        return Task(
            name=prompt.TASK,
            version=self._version,
            messages=prompt.messages(window, brief=brief, assistants=assistants),
            schema=prompt.schema(window.ontology, assistants=assistants),
            read=lambda found: extraction_of(found, window, assistants=assistants),
            divisible=len(window.turns) > 1,
        )


def _size(window: Window, task: Task[Extraction]) -> int:
    """Estimated tokens of a question, with its schema, and of an answer to it."""
    asked = sum(estimate_tokens(message.content) for message in task.messages)
    said = sum(estimate_tokens(turn.text) for turn in window.turns if turn.role == "user")
    return asked + estimate_tokens(json.dumps(task.schema)) + LEAST_ANSWER + ANSWER_SHARE * said


class _OfUser:
    """An LlmExtractor with a user's account."""

    def __init__(self, extractor: LlmExtractor, account: Account) -> None:
        self._extractor, self._account = extractor, account
        self.name = extractor.name

    async def extract(self, window: Window) -> Extraction:
        """What the turns of the window say.

        Raises:
            LlmError: see ``memsvc.llm.answers.ask``.
        """
        return await self._extractor.read(window, self._account)


# Reading the answer -------------------------------------------------------------------------------------------------


def extraction_of(found: dict[str, Any], window: Window, *, assistants: bool = False) -> Extraction:
    """An answer as an extraction of the window, without the items that cannot be right.

    Args:
        found: the answer.
        window: what was asked about.
        assistants: facts may stand in assistants' turns, where a person accepted them.

    Raises:
        msgspec.ValidationError: it is no answer at all.
    """
    answer = msgspec.convert(found, prompt.Answer)
    dropped: Counter[str] = Counter()
    entities = _entities(answer.entities, window, dropped)
    facts = _facts(answer.facts, entities, window, dropped)
    if not assistants:
        facts = (msgspec.structs.replace(fact, accepted=None) for fact in facts)
    extraction = Extraction(
        entities=tuple(entities.values()),
        facts=tuple(facts),
        signs=tuple(_signs(answer.signs, window, dropped)),
    )
    if dropped:
        log.info("parts of an answer left out", task=prompt.TASK, **dropped)
    return extraction


def _items(raw: Iterable[Any], kind: type[Item], dropped: Counter[str], what: str) -> Iterator[Item]:
    """The items that have the form and hold text that can be stored."""
    for one in raw:
        try:
            check_storable(one, what)
            yield msgspec.convert(one, kind, strict=False)
        except (msgspec.ValidationError, InvalidRequestError):
            dropped[what] += 1


def _entities(raw: Iterable[Any], window: Window, dropped: Counter[str]) -> dict[int, Entity]:
    found: dict[int, Entity] = {}
    turns, known = range(len(window.turns)), range(len(window.candidates))
    for item in _items(raw, prompt.EntityItem, dropped, "entities"):
        name = " ".join(trimmed(item.name).split())
        if not name or len(name) > MAX_NAME or item.key in found:
            dropped["entities"] += 1
            continue
        found[item.key] = Entity(
            key=item.key,
            name=name,
            type=_spelt(item.type, window.ontology.node_types),
            known=item.known if item.known in known else None,
            named=item.named,
            aliases=tuple(
                dict.fromkeys(alias for given in item.aliases if (alias := trimmed(given)) and len(alias) <= MAX_NAME)
            ),
            of=item.of,
            relation=(item.relation or "").strip().lower()[:MAX_NAME],
            # Somebody of the context who is meant by "she" here: the first turn is as good as any.
            turn=item.turn if item.turn in turns else 0,
            quote=item.quote,
        )
    for key, entity in found.items():
        if entity.of is not None and (entity.of not in found or entity.of == key):
            found[key] = msgspec.structs.replace(entity, of=None, relation="")
    return found


def _facts(raw: Iterable[Any], entities: dict[int, Entity], window: Window, dropped: Counter[str]) -> Iterator[Fact]:
    for item in _items(raw, prompt.FactItem, dropped, "facts"):
        sentence = " ".join(trimmed(item.sentence).split())
        good = (
            item.subject in entities
            and item.object in entities
            and item.turn in range(len(window.turns))
            and is_visible(item.type)
            and is_visible(item.quote)
            and 0 < len(sentence) <= MAX_SENTENCE
            and item.change in CHANGES
            and 0 < item.confidence < math.inf
        )
        if not good:
            dropped["facts"] += 1
            continue
        turn = window.turns[item.turn]
        fact = Fact(
            subject=item.subject,
            type=_spelt(item.type, frozenset(window.ontology.edge_types)),
            object=item.object,
            sentence=sentence,
            turn=item.turn,
            quote=item.quote,
            since=_date(item.since, turn, dropped),
            until=_date(item.until, turn, dropped),
            change=cast("Change", item.change),
            accepted=item.accepted,
            confidence=min(item.confidence, 1.0),
        )
        yield _related(_timed(fact, turn), entities)


def _timed(fact: Fact, turn: Turn) -> Fact:
    """With times as they are meant, whatever the model left out.

    A begin that repeats when the message was sent is none. A mood of which no time is told holds its day. What ended
    before it was said is over, where nobody tells since when it was so.
    """
    if fact.since is not None and abs(fact.since - turn.said_at) < timedelta(minutes=1):
        fact = msgspec.structs.replace(fact, since=None)
    if fact.type == MOOD and fact.change == "holds" and fact.since is None and fact.until is None:
        day = turn.said_at.replace(hour=0, minute=0, second=0, microsecond=0)
        return msgspec.structs.replace(fact, since=day, until=day + timedelta(days=1))
    if fact.change == "holds" and fact.since is None and fact.until is not None and fact.until <= turn.said_at:
        return msgspec.structs.replace(fact, change="ended")
    return fact


def _related(fact: Fact, entities: dict[int, Entity]) -> Fact:
    """With the relation in its data, which says what the object is to the subject: Mara FAMILY_OF Ines (sister)."""
    if fact.type not in SYMMETRIC:
        return fact
    for relative, whose in ((fact.subject, fact.object), (fact.object, fact.subject)):
        if entities[relative].of == whose and entities[relative].relation:
            data = {"relation": entities[relative].relation}
            return msgspec.structs.replace(fact, subject=whose, object=relative, data=data)
    return fact


def _signs(raw: Iterable[Any], window: Window, dropped: Counter[str]) -> Iterator[Signs]:
    seen: set[int] = set()
    for item in _items(raw, prompt.SignsItem, dropped, "signs"):
        sentiment = item.sentiment if item.sentiment is not None and -1 <= item.sentiment <= 1 else None
        importance = item.importance if item.importance in range(1, 11) else None
        empty = sentiment is None and importance is None
        if empty or item.turn in seen or item.turn not in range(len(window.turns)):
            dropped["signs"] += 1
            continue
        seen.add(item.turn)
        yield Signs(turn=item.turn, sentiment=sentiment, importance=importance)


def _spelt(name: str, types: frozenset[str]) -> str:
    """A type as the ontology spells it; one that it lacks as it stands: it may be worth proposing."""
    plain = name.strip().replace(" ", "_")
    return next((known for known in types if known.lower() == plain.lower()), plain)


def _date(value: str | None, turn: Turn, dropped: Counter[str]) -> datetime | None:
    """A date as the model gave it, on the clock of the turn: its first moment where it is a year, a month or a day."""
    if value is None or not value.strip():
        return None
    text = value.strip()
    match = DATE.fullmatch(text)
    try:
        if match is None:
            raise ValueError(text)  # noqa: TRY301
        if len(text) > len("2024-03-15"):
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=turn.said_at.tzinfo)
        year, month, day = int(match["year"]), int(match["month"] or 1), int(match["day"] or 1)
        return datetime(year, month, day, tzinfo=turn.said_at.tzinfo)
    except ValueError:
        dropped["dates"] += 1
        return None
