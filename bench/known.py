"""Reads ``bench/gold/known`` and asks its questions: what recall finds of nodes, facts, notes, messages, instructions.

``bench/gold/README.md`` has the format; ``bench.recall --set known`` comes here. Each person becomes a user. The first
node of ``nodes.jsonl`` is the person, so it is written as the user's own node; all messages are one conversation.
Instructions have no door of their own: they are nodes of type Instruction, with their text as label. A node type that
the core ontology lacks becomes Concept; an edge type that it lacks, or that does not allow the types of both ends,
becomes RELATED_TO. A day of the gold counts to its end, so ``valid_to`` is the day after.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import TypeVar
from uuid import UUID

import msgspec

from bench.asking import DEPTH, EMBEDDING_MS, World, ask, latencies
from bench.datasets import DataSet, Form, Key, Question, Ranking, Turn, made
from bench.harness import Bench, Outcome, progress
from bench.judging import by_group, scores_of
from bench.store import store
from bench.variants import ALL
from memsvc.access.users import Owner, add_user, app_id, own_names
from memsvc.db.engine import Database
from memsvc.errors import ConfigurationError
from memsvc.graph.history import write
from memsvc.graph.notes import create_note
from memsvc.graph.ontology import Ontology, ontology
from memsvc.graph.operations import Alias, Edge, Node, Operation, Ref
from memsvc.llm.embedders.residents import Residents
from memsvc.queue.execution import run_due
from memsvc.recall.results import Memory
from memsvc.sources.embedding import embed_lacking, embedding_steps
from memsvc.sources.messages import MessageIn, Role

T = TypeVar("T")

NAME = "known"
FOLDER = Path(__file__).resolve().parent / "gold" / NAME
OPEN = ("harriet", "tomas", "li")
"""``li`` was kept until recall was built; a third of it is in Chinese."""
KEPT = ("odette",)
"""Read only when it is asked for."""
KINDS = ("node", "fact", "note", "message", "instruction")
"""What an answer can be."""
SHARES: Mapping[bool, str] = {True: "shares_words", False: "no_shared_words"}
ASSISTANT = "Assistant"
ANY_NODE, ANY_EDGE, INSTRUCTION = "Concept", "RELATED_TO", "Instruction"
CARRIED = ("node_id", "instruction_id", "block_id")
"""Fields of a memory that say which node, note or instruction it is; recall may not give all of them yet."""


class KnownMemory(msgspec.Struct, frozen=True):
    """What all memories have."""

    id: str


class KnownNode(KnownMemory, frozen=True):
    """One line of ``nodes.jsonl``."""

    type: str
    label: str
    names: list[str] = []
    description: str | None = None


class KnownFact(KnownMemory, frozen=True):
    """One line of ``facts.jsonl``."""

    start: str = msgspec.field(name="from")
    type: str
    end: str = msgspec.field(name="to")
    sentence: str
    valid_from: str | None = None
    """An ISO date, month or year."""
    valid_to: str | None = None
    """The last day on which it is true."""


class KnownNote(KnownMemory, frozen=True):
    """One line of ``notes.jsonl``."""

    title: str
    text: str


class KnownMessage(KnownMemory, frozen=True):
    """One line of ``messages.jsonl``."""

    time: str
    speaker: str
    text: str


class KnownInstruction(KnownMemory, frozen=True):
    """One line of ``instructions.jsonl``."""

    text: str


class KnownQuestion(msgspec.Struct, frozen=True):
    """One line of ``questions.jsonl``."""

    id: str
    question: str
    answers: list[str]
    shares_words: bool


@dataclass(frozen=True, slots=True)
class Person:
    """The memories of one person, and the questions about them."""

    name: str
    nodes: Sequence[KnownNode]
    facts: Sequence[KnownFact]
    notes: Sequence[KnownNote]
    messages: Sequence[KnownMessage]
    instructions: Sequence[KnownInstruction]
    questions: Sequence[KnownQuestion]

    @property
    def own(self) -> KnownNode:
        """The node that is the person."""
        return self.nodes[0]

    def kinds(self) -> dict[str, str]:
        """Id -> one of ``KINDS``."""
        lists: Sequence[Sequence[KnownMemory]]
        lists = (self.nodes, self.facts, self.notes, self.messages, self.instructions)
        return {one.id: kind for kind, some in zip(KINDS, lists, strict=True) for one in some}

    def called(self) -> set[str]:
        """Names of the person, in small letters."""
        return {name.casefold() for name in (self.own.label, *self.own.names)}

    def role(self, speaker: str) -> Role:
        """The role in which somebody speaks; the person may also be called as the folder is."""
        if speaker.casefold() in {self.name, *self.called()}:
            return "user"
        return "assistant" if speaker == ASSISTANT else "other"

    def sent(self) -> list[MessageIn]:
        """The messages as a client would send them; their ids stay the client's ids."""
        return [
            MessageIn(
                conversation=self.name, id=one.id, speaker=one.speaker, role=self.role(one.speaker), text=one.text,
                said_at=one.time,
            )
            for one in self.messages
        ]  # fmt: skip


# The files ------------------------------------------------------------------------------------------------------------


def read(names: Collection[str] = OPEN, folder: Path = FOLDER) -> list[Person]:
    """The people with these names.

    Raises:
        ConfigurationError: a file is missing or is not of the format, or an answer is not among the memories.
    """
    try:
        people = [_person(folder / name) for name in names]
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigurationError(f"The gold of {NAME!r} cannot be read: {error}") from error
    for person in people:
        _check(person)
    return people


def _person(folder: Path) -> Person:
    return Person(
        folder.name,
        _lines(folder / "nodes.jsonl", KnownNode),
        _lines(folder / "facts.jsonl", KnownFact),
        _lines(folder / "notes.jsonl", KnownNote),
        _lines(folder / "messages.jsonl", KnownMessage),
        _lines(folder / "instructions.jsonl", KnownInstruction),
        _lines(folder / "questions.jsonl", KnownQuestion),
    )


def _lines(path: Path, kind: type[T]) -> list[T]:
    return [msgspec.json.decode(line, type=kind) for line in path.read_bytes().splitlines() if line.strip()]


def _check(person: Person) -> None:
    kinds = person.kinds()
    named = {answer for asked in person.questions for answer in asked.answers}
    named |= {end for fact in person.facts for end in (fact.start, fact.end)}
    if unknown := named - kinds.keys():
        raise ConfigurationError(f"{person.name} has no memory {', '.join(sorted(unknown))}.")
    words = {word for name in person.called() for word in name.split()}
    spoke = {one.speaker.casefold() for one in person.messages if person.role(one.speaker) == "user"}
    if not spoke or words.isdisjoint({person.name, *spoke}):
        raise ConfigurationError(f"The first node of {person.name} is not the person, or the person says nothing.")


def as_set(people: Sequence[Person]) -> DataSet:
    """The set, whose evidence are memories of all kinds."""
    conversations: dict[str, list[Turn]] = {}
    questions: list[Question] = []
    groups: dict[str, set[str]] = {name: set() for name in (*SHARES.values(), *(one.name for one in people))}
    for person in people:
        conversations[person.name] = [
            Turn(person.name, one.id, "", one.time, one.speaker, one.text) for one in person.messages
        ]
        for asked in person.questions:
            shares = SHARES[asked.shares_words]
            category = f"{person.name} {shares}"
            groups[person.name].add(category)
            groups[shares].add(category)
            questions.append(
                Question(f"{person.name} {asked.id}", person.name, asked.question, category, asked.answers)
            )
    return made(NAME, Form(groups={name: frozenset(some) for name, some in groups.items()}), conversations, questions)


def by_kind(data: DataSet, people: Sequence[Person]) -> DataSet:
    """The same questions by the kind of their answers; one with answers of two kinds is there twice, with one each."""
    kinds = {person.name: person.kinds() for person in people}
    questions = [
        msgspec.structs.replace(asked, question_id=f"{asked.question_id}/{kind}", category=kind, evidence_turn_ids=some)
        for asked in data.questions
        for kind in KINDS
        if (some := [one for one in asked.evidence_turn_ids if kinds[asked.conversation_id][one] == kind])
    ]
    return made(f"{data.name}, by kind of answer", Form(), data.conversations, questions)


# Into the database ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Written:
    """Where the memories of the gold are in the database."""

    owners: dict[str, Owner] = field(default_factory=dict)
    """Person -> the user."""
    ids: dict[UUID, Key] = field(default_factory=dict)
    """Node or edge -> whose it is, and its id in the gold."""
    replaced: list[str] = field(default_factory=list)
    """Types that the ontology does not have or does not allow there."""
    lost: int = 0
    """Facts and nodes that the graph did not take as they are."""

    def key(self, memory: Memory) -> Key:
        """The memory of the gold that a recalled one stands for; one that is none of them takes a rank of its own."""
        nothing = "", str(memory.memory_id)
        if memory.fact is not None:
            return self.ids.get(memory.fact.edge_id, nothing)
        for name in CARRIED:
            if (carried := getattr(memory, name, None)) in self.ids:
                return self.ids[carried]
        return (memory.conversation, memory.message_id) if memory.message_id else nothing


def day(written: str | None, *, after: int = 0) -> datetime | None:
    """The beginning of a day, or of so many days after it; of a month or a year, its first day counts."""
    if not written:
        return None
    return datetime.fromisoformat(f"{written}-01-01"[:10]).replace(tzinfo=UTC) + timedelta(days=after)


def edge_type(wanted: str, ends: tuple[str, str], known: Ontology) -> str:
    """The core type for a fact between nodes of two types: the one that is wanted, or ``RELATED_TO``."""
    for one in known.edge_types:
        allowed = zip(ends, (one.from_types, one.to_types), strict=True)
        if one.name == wanted and all(not types or end in types for end, types in allowed):
            return wanted
    return ANY_EDGE


def operations(person: Person, own: UUID, known: Ontology) -> tuple[list[Operation], dict[int, str], list[str]]:
    """What writes a person's graph: nodes, their names, facts and instructions.

    Args:
        person: whose graph it is.
        own: the user's own node.
        known: the types that there are.

    Returns:
        The operations; the index of an operation -> the id in the gold of what it makes; types that were replaced.
    """
    types = {one.name for one in known.node_types}
    wanted: list[Operation] = []
    makes: dict[int, str] = {}
    replaced: list[str] = []
    refs: dict[str, Ref] = {}
    of: dict[str, str] = {}
    for node in person.nodes:
        of[node.id] = node.type if node.type in types else ANY_NODE
        replaced += [node.type] if node.type not in types else []
        makes[len(wanted)], is_own = node.id, node is person.own
        refs[node.id] = own if is_own else len(wanted)
        wanted.append(
            Node(
                type=of[node.id], label=node.label, description=node.description or "", node=own if is_own else None,
                data={"self": True} if is_own else {}, importance=10.0 if is_own else 5.0,
            )
        )  # fmt: skip
        wanted += [Alias(node=refs[node.id], alias=name) for name in dict.fromkeys([node.label, *node.names])]
    for fact in person.facts:
        kind = edge_type(fact.type, (of[fact.start], of[fact.end]), known)
        replaced += [fact.type] if kind != fact.type else []
        makes[len(wanted)] = fact.id
        wanted.append(
            Edge(
                from_node=refs[fact.start], type=kind, to_node=refs[fact.end], fact=fact.sentence, key=fact.id,
                valid_from=day(fact.valid_from), valid_to=day(fact.valid_to, after=1),
            )
        )  # fmt: skip
    for instruction in person.instructions:
        makes[len(wanted)] = instruction.id
        wanted.append(Node(type=INSTRUCTION, label=instruction.text))
    return wanted, makes, replaced


async def write_person(db: Database, bench: Bench, person: Person, written: Written) -> None:
    """Write a person's memories as those of a new user."""
    app = await app_id(db, "bench")
    names = [name for name in person.own.names if name != person.own.label]
    owner = (await add_user(db, app, name=person.own.label, external_id=person.name, aliases=names)).owner
    written.owners[person.name] = owner
    await store(db, owner, person.sent(), bench.settings)
    own = (await own_names(db, owner)).node_id
    wanted, makes, replaced = operations(person, own, await ontology(db, owner))
    change = await write(db, owner, wanted, asserted_by="bench")
    for result in change.results:
        if (gold := makes.get(result.index)) is None:
            continue
        made_of_it = result.edge_id or result.node_id
        written.lost += result.outcome != "written" or made_of_it is None
        if made_of_it is not None:
            written.ids[made_of_it] = person.name, gold
    written.replaced += replaced
    for note in person.notes:
        note_id = (await create_note(db, owner, note.title, note.text, asserted_by="user")).note_id
        written.ids[note_id] = person.name, note.id


async def write_all(db: Database, bench: Bench, people: Sequence[Person], resident: Residents) -> Written:
    """Write everybody's memories, and run all jobs, so that they have their vectors."""
    written = Written()
    with progress("writing memories", len(people)) as done:
        for person in people:
            await write_person(db, bench, person, written)
            done(1)
    await run_due(db, embedding_steps(resident))
    for owner in written.owners.values():
        await embed_lacking(db, resident, owner.user_id)  # a job that failed would be seen here
    with bench.admin() as admin:
        admin.execute("VACUUM (ANALYZE)")
    return written


# Asked ----------------------------------------------------------------------------------------------------------------


def judge(name: str, data: DataSet, kinds: DataSet, rankings: Mapping[str, Ranking], outcome: Outcome) -> None:
    """Add and print the means of a variant, by group and by kind of answer."""
    by_group(data, name, scores_of(data.questions, rankings), ["all", *data.form.groups], outcome)
    again = {asked.question_id: rankings[asked.question_id.partition("/")[0]] for asked in kinds.questions}
    asked_for = [kind for kind in KINDS if kind in kinds.groups()]
    by_group(kinds, name, scores_of(kinds.questions, again), asked_for, outcome)


async def measure(bench: Bench, people: Sequence[Person], outcome: Outcome, variants: Collection[str]) -> None:
    """Write the memories, ask the questions in some variants, and add the figures of each group."""
    data = as_set(people)
    kinds = by_kind(data, people)
    db = bench.connect()
    resident = Residents(bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS}))
    try:
        written = await write_all(db, bench, people, resident)
        await resident.ready(db)
        world = World(data, bench, db, written.owners, resident, data.moments(), written.key)
        for name in variants:
            asked = await ask(world, name, ALL[name], data.questions)
            judge(name, data, kinds, asked.rankings, outcome)
            outcome.figures[f"{name}.called_relevant.answerable"] = fmean(asked.relevant.values())
            latencies(outcome, f"{data.name}.{name}", asked)
    finally:
        resident.close()
        await db.close()
    outcome.configuration |= {
        "people": [person.name for person in people],
        "memories": {kind: sum(list(one.kinds().values()).count(kind) for one in people) for kind in KINDS},
        "questions": len(data.questions),
        "types_replaced": len(written.replaced),
        "not_written_as_they_are": written.lost,
        "variants": list(variants),
        "depth": DEPTH,
        "mrr": f"over the first {DEPTH} memories",
    }


def chosen(*, kept: bool) -> list[Person]:
    """The people whose gold is open, or instead those whose gold is kept."""
    return read(KEPT if kept else OPEN)
