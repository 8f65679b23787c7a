"""Sleep's task ``concepts``: what is of one kind gets one parent, and so does what hangs together.

Kinds (``memsvc.concepts.grouping``) and circles (``memsvc.sleep.circles``) are worked out from the whole graph each
time; only what differs from what is stored is written, some groups a page, each page as one change. So a run that was
killed goes on, and one without news writes nothing. What somebody took back is not written again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.analysis.findings import TIMEOUT
from memsvc.concepts import naming
from memsvc.concepts.grouping import Group, Thing, grouped, words_of
from memsvc.concepts.lexicon import lexicon
from memsvc.concepts.stored import WRITER, Child, Known, Wanted, id_of, known_groups, steps, withdrawal
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import LlmAnswerError, LlmError
from memsvc.graph.history import write_in
from memsvc.graph.operations import Edge, Node, Operation
from memsvc.llm.answers import ask
from memsvc.llm.calls import Account
from memsvc.llm.chat import ChatClient
from memsvc.llm.embedders.registry import known_models
from memsvc.settings import Settings
from memsvc.sleep.circles import find_circles, listed, told
from memsvc.sleep.described import LEAST_COSINE, NEAREST
from memsvc.sleep.tasks import Applied, Offer, Page, Place, Proposal, Scope
from memsvc.summaries.abstractive import Writer

NAME = "concepts"
KIND = "kind "
"""In front of the word, in the key of a group of one kind."""
TYPES = ("Object", "Concept", "Event", "Media", "Place", "Organization", "Person")
ASKED_TYPES = frozenset({"Object", "Concept", "Media"})
MOST_TEXTS, MOST_CHARS = 5, 2_000
"""Passages that are read of a node, and characters of each."""
COMPARED = 500
"""Nodes whose cards are compared by one statement."""
MOST_FANS = 12
"""Siblings of a node that lead to it by one relation: of more it tells nothing."""
MOST_QUESTIONS, MIN_ASKED = 2, 2
"""Questions to the model in a run; names of one at least."""
LISTED, SAID = 30, 3
"""Names in the text of a group, and passages that support an edge."""
AT_ONCE, OPERATIONS = 40, 400
"""Groups that are told at once, and operations of a page."""
DONE = frozenset({"written", "closed"})
T = TypeVar("T")
log = structlog.get_logger()


class Concepts:
    """See ``memsvc.sleep.tasks.Task``; its ``place`` only says how many groups were looked at."""

    name = NAME
    gives_way = True

    def __init__(self, settings: Settings) -> None:
        """Take the language model's settings, where one may give words."""
        self._settings = settings

    async def has_work(self, db: Database, owner: Owner) -> bool:
        """Whether the graph was changed since the last run, by others than sleep, or something was erased."""
        async with db.transaction(owner.user_id) as connection:
            return bool((await connection.execute(query("concept_news"), {"user_id": owner.user_id})).scalar_one())

    async def pages(self, db: Database, owner: Owner, scope: Scope, place: Place | None) -> AsyncGenerator[Page]:
        """Yield what is to be written; nothing without news, nor for one node, nor since a time."""
        if scope.from_node is not None or (scope.since is not None and not scope.nightly):
            return
        if not await self.has_work(db, owner):
            return
        done = int(place["groups"]) if place else 0
        asks = self._settings.concepts == "model" and bool(self._settings.llm_model) and not scope.dry
        words = _Naming(db, owner, self._settings, asks=asks)
        async with db.transaction(owner.user_id) as connection:
            known = await known_groups(connection, owner)
        kinds = await _kinds(db, owner, known, words)
        found = await find_circles(db, owner, known)
        left = len(kinds) + len(found)
        gone = known.keys() - {one.key for one in kinds} - {one.key for one in found}
        over = [step for key in sorted(gone) for step in withdrawal(known[key])]
        for some in _batches(over):
            yield Page(place={"groups": done}, examined=0, left=left, work=some)
        writer = Writer(db, owner, self._settings, wanted=asks)
        for begin in range(0, left, AT_ONCE):
            wanted = kinds[begin : begin + AT_ONCE]
            circles = found[max(0, begin - len(kinds)) : max(0, begin + AT_ONCE - len(kinds))]
            wanted = [*wanted, *await told(db, owner, circles, writer)]
            todo = [(step, one) for one in wanted for step in steps(owner, one, known.get(one.key))]
            for part in _batches(todo):
                proposals = [*_proposals(part)] if scope.dry else []
                work = [step for step, _ in part]
                yield Page(place={"groups": done}, examined=0, left=left, proposals=proposals, work=work)
            done, left = done + len(wanted), left - len(wanted)
            yield Page(place={"groups": done}, examined=len(wanted), left=left)
        writer.end()
        words.end()

    async def apply(self, connection: AsyncConnection, owner: Owner, page: Page) -> Applied:
        """Write a page's groups as one change; what names nodes or passages that are gone by now is left out."""
        if not page.work:
            return Applied()
        operations = await _standing(connection, owner, page.work)
        if not operations:
            return Applied()
        change = await write_in(connection, owner, operations, asserted_by=WRITER)
        groups = sum(one.node_id is not None and one.edge_id is None and one.outcome in DONE for one in change.results)
        children = sum(one.edge_id is not None and one.outcome in DONE for one in change.results)
        return Applied(applied=groups + children, counts={"grouped": groups, "linked": children})


async def _standing(connection: AsyncConnection, owner: Owner, work: Sequence[Operation]) -> list[Operation]:
    """The operations whose nodes there are still, with the evidence that there is still."""
    made = {step.node for step in work if isinstance(step, Node)}
    ends = {end for step in work if isinstance(step, Edge) for end in (step.from_node, step.to_node)} - made
    passages = {one.passage_id for step in work for one in step.evidence}
    values = {"user_id": owner.user_id, "nodes": list(ends), "passages": list(passages)}
    there = set((await connection.execute(query("concept_standing"), values)).scalars())
    there |= {node for node in made if node is not None}
    kept = []
    for step in work:
        if isinstance(step, Edge) and not there.issuperset((step.from_node, step.to_node)):
            continue
        if isinstance(step, Node) and not there.issuperset(one.passage_id for one in step.evidence):
            there.discard(step.node)  # its text has words that are gone: the next night writes it
            continue
        evidence = [one for one in step.evidence if one.passage_id in there]
        kept.append(msgspec.structs.replace(step, evidence=evidence) if step.evidence else step)
    return kept


class _Naming:
    """Asks the model for words, some times a run; without one, nothing is asked."""

    def __init__(self, db: Database, owner: Owner, settings: Settings, *, asks: bool) -> None:
        self.db, self.owner, self._settings, self.asks = db, owner, settings, asks
        self.model = settings.llm_model or "earlier"
        self._failure: LlmError | None = None

    async def words(self, things: Sequence[Thing]) -> dict[UUID, str]:
        """The words of things that have siblings among these, for which nothing else gave one."""
        found: dict[UUID, str] = {}
        broad = frozenset(lexicon().roots)
        for number in range(MOST_QUESTIONS if self.asks else 0):
            some = things[number * naming.MOST : (number + 1) * naming.MOST]
            if len(some) < MIN_ASKED:
                break
            task = naming.question([(one.name, one.texts[0][1] if one.texts else "") for one in some], broad)
            try:
                book = Account(self.db, self.owner.user_id, self._settings)
                answer = await ask(ChatClient(self._settings), task, book)
            except LlmAnswerError as error:
                log.info("words of a model are not used", code=error.code)
            except LlmError as error:
                self._failure = error
                break
            else:
                found |= {some[place].node_id: word for place, word in answer.value.items()}
        return found

    def end(self) -> None:
        """End the run.

        Raises:
            LlmError: the model could not be used; everything was grouped without it.
        """
        if self._failure is not None:
            raise self._failure


async def _kinds(db: Database, owner: Owner, known: Mapping[str, Known], words: _Naming) -> list[Wanted]:
    """The groups of one kind that are to be, narrower ones first."""
    values = {"user_id": owner.user_id, "types": list(TYPES), "chars": MOST_CHARS, "most": MOST_TEXTS}
    async with db.transaction(owner.user_id) as connection:
        await connection.exec_driver_sql(TIMEOUT)
        rows = (await connection.execute(query("concept_things"), values)).all()
    things = [
        Thing(
            node_id=row.node_id, name=row.label, type=row.type,
            texts=[*zip(row.passages, row.texts, strict=True), *([(None, row.description)] if row.description else [])],
        )
        for row in rows
    ]  # fmt: skip
    near = await _alike(db, owner, [thing.node_id for thing in things])
    given = _given_before(known)
    if words.asks:
        sure, _ = await asyncio.to_thread(words_of, things, lexicon(), near, given)
        alone = [one for one in things if one.node_id not in sure and one.type in ASKED_TYPES]
        given |= await words.words(await _by_neighbours(db, owner, alone))
    found = await asyncio.to_thread(grouped, things, lexicon(), near, given)
    return _wanted(owner, found, {thing.node_id: thing for thing in things}, known, words.model)


async def _alike(db: Database, owner: Owner, nodes: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Pairs of nodes that are described alike, by the vectors that recall has."""
    model = next((one for one in await known_models(db) if one.state == "active"), None)
    if model is None or model.name not in LEAST_COSINE:
        return []
    found: list[tuple[UUID, UUID]] = []
    for begin in range(0, len(nodes), COMPARED):
        values = {
            "user_id": owner.user_id, "model": model.model_id, "nodes": list(nodes[begin : begin + COMPARED]),
            "nearest": NEAREST, "least": LEAST_COSINE[model.name],
        }  # fmt: skip
        async with db.transaction(owner.user_id) as connection:
            found += [(row.node_id, row.other_id) for row in await connection.execute(query("concept_pairs"), values)]
    return sorted(set(found))


async def _by_neighbours(db: Database, owner: Owner, things: Sequence[Thing]) -> list[Thing]:
    """Things in an order in which those that share a neighbour stand together."""
    values = {"user_id": owner.user_id, "nodes": [one.node_id for one in things], "most": MOST_FANS}
    async with db.transaction(owner.user_id) as connection:
        signs = {row.node_id: row.sign for row in await connection.execute(query("concept_neighbours"), values)}
    return sorted(things, key=lambda one: (one.type, signs.get(one.node_id, "~"), one.node_id))


def _given_before(known: Mapping[str, Known]) -> dict[UUID, str]:
    """Words that a model gave in earlier runs and that stand: it is not asked again."""
    return {
        node: key.removeprefix(KIND)
        for key, one in known.items()
        if one.stands and one.by and key.startswith(KIND)
        for node, tie in one.edges.items()
        if tie.stands
    }


def _wanted(
    owner: Owner, found: Sequence[Group], things: Mapping[UUID, Thing], known: Mapping[str, Known], by: str
) -> list[Wanted]:
    """Groups with their texts and evidence; those that somebody took back are no children of others."""
    made: dict[str, Wanted] = {}
    for group in found:
        key = f"{KIND}{group.word}"
        if key in known and known[key].refused:
            continue
        named = sorted((things[node] for node in group.things), key=lambda one: (one.name.casefold(), one.node_id))
        within = [made[word] for word in group.groups if word in made]
        children = [
            Child(node_id=thing.node_id, name=thing.name, passages=_passages(thing)[:SAID]) for thing in named
        ]  # fmt: skip
        children += [
            Child(node_id=id_of(owner, one.key), name=one.label, passages=one.quoted[:SAID]) for one in within
        ]  # fmt: skip
        label = group.word[:1].upper() + group.word[1:]
        shown = [thing.name for thing in named[:LISTED]] + [one.label.lower() for one in within]
        more = f" and {len(named) - LISTED} more" if len(named) > LISTED else ""
        quoted = [passage for thing in named[:LISTED] for passage in _passages(thing)[:1]]
        quoted += [passage for one in within for passage in one.quoted[:SAID]]
        made[group.word] = Wanted(
            sort="kind", key=key, label=label, text=f"{label}: {listed(shown)}{more}", children=children, quoted=quoted,
            by=by if group.by_model else "",
        )  # fmt: skip
    return list(made.values())


def _passages(thing: Thing) -> list[UUID]:
    return [passage for passage, _ in thing.texts if passage is not None]


def _proposals(part: Sequence[tuple[Operation, Wanted]]) -> Iterator[Proposal]:
    """What a dry run shows: each thing with the group that it comes under."""
    for step, wanted in part:
        if isinstance(step, Edge) and isinstance(step.from_node, UUID) and isinstance(step.to_node, UUID):
            name = next(child.name for child in wanted.children if child.node_id == step.from_node)
            yield Proposal(
                action="group", nodes=(step.from_node, step.to_node), labels=(name, wanted.label),
                score=step.confidence, evidence={},
            )  # fmt: skip


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + OPERATIONS] for start in range(0, len(items), OPERATIONS))


OFFER = Offer(
    make=lambda means: Concepts(means.settings),
    help="groups what is of one kind, and what hangs together",
    order=300,
    of_node=False,
    done="grouped",
    on=lambda settings: settings.concepts != "off",
    switch="Set MEMSVC_CONCEPTS to words or model.",
)
