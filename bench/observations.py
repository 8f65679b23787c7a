"""A crude graph for LoCoMo, so that the arms that need one can be measured: its observations as facts.

The set comes with sentences about its turns that a language model wrote (``facts.jsonl``), such as an extractor gives.
Each becomes a fact with its turns as evidence, from the speaker (a person) to what it is about: the first other name in
the sentence, else its longest word (a concept). Good for one question only: what names, kinds and distance in a graph
of this make give to, or take from, the same questions over the same messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

import msgspec

from bench.datasets import Key, lines
from bench.harness import Bench, data_folder, progress
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.graph.history import write
from memsvc.graph.operations import Edge, Evidence, Node, Operation

STEM = "facts"
BATCH = 500
NAME = re.compile(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*")
WORD = re.compile(r"[^\W\d_]+")


class Observation(msgspec.Struct, frozen=True):
    """One line of ``facts.jsonl``."""

    conversation_id: str
    text: str
    speaker: str | None = None
    evidence_turn_ids: list[str] = []


def about(text: str, speaker: str) -> tuple[str, str]:
    """Type and label of what a sentence is about, beside its speaker.

    >>> about("Gina lost her job at Door Dash.", "Gina")
    ('Concept', 'Door Dash')
    """
    start = len(text) - len(text.lstrip())
    names = [found.group() for found in NAME.finditer(text) if found.start() > start]
    for name in names:
        if name != speaker and name not in {"I", "A", "The"}:
            return "Concept", name
    longest = max(WORD.findall(text.replace(speaker, " ")) or ["something"], key=len)
    return "Concept", longest.lower()


def observations(name: str) -> list[Observation]:
    """Those of a set that have a speaker and evidence.

    Raises:
        ConfigurationError: the set has none.
    """
    read = (msgspec.json.decode(line, type=Observation) for line in lines(data_folder(name), STEM))
    return [one for one in read if one.speaker and one.evidence_turn_ids]


def passages(bench: Bench, user_id: UUID) -> dict[Key, UUID]:
    """First passage of each of a user's turns."""
    with bench.admin() as admin:
        rows = admin.execute(
            "SELECT s.identifier, p.client_id, p.passage_id FROM memsvc.passages AS p "
            "INNER JOIN memsvc.sources AS s ON s.user_id = p.user_id AND s.source_id = p.source_id "
            "WHERE p.user_id = %s AND p.part = 0",
            [user_id],
        ).fetchall()
    return {(conversation, client_id): passage_id for conversation, client_id, passage_id in rows}


async def write_observations(db: Database, bench: Bench, owner: Owner, given: Sequence[Observation]) -> int:
    """Write a user's observations as facts; how many."""
    of = passages(bench, owner.user_id)
    wanted = {("Person", one.speaker or "") for one in given}
    wanted |= {about(one.text, one.speaker or "") for one in given}
    named = sorted(wanted)
    nodes: dict[tuple[str, str], UUID] = {}
    for start in range(0, len(named), BATCH):
        part = named[start : start + BATCH]
        change = await write(db, owner, [Node(type=kind, label=label) for kind, label in part], asserted_by="bench")
        nodes |= {one: result.node_id for one, result in zip(part, change.results, strict=True) if result.node_id}
    facts: list[Operation] = [
        Edge(
            from_node=nodes["Person", one.speaker or ""], to_node=nodes[about(one.text, one.speaker or "")],
            type="RELATED_TO", key=str(number), fact=one.text,
            evidence=[
                Evidence(passage_id=of[one.conversation_id, turn_id])
                for turn_id in dict.fromkeys(one.evidence_turn_ids) if (one.conversation_id, turn_id) in of
            ],
        )
        for number, one in enumerate(given)
    ]  # fmt: skip
    with progress("writing facts", len(facts)) as done:
        for start in range(0, len(facts), BATCH):
            await write(db, owner, facts[start : start + BATCH], asserted_by="bench")
            done(BATCH)
    return len(facts)
