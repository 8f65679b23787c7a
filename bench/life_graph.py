"""What a graph holds of a talk, as ``bench.life_scoring`` and ``bench.relatives`` judge it: nodes, and sentences.

A conversation of ``bench/gold/life`` is stored and read by a worker, as ``bench.stored`` does it. Read back are all
nodes with what they are to whom, and all facts that are believed at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from bench.harness import Bench
from bench.life import Talk
from bench.stored import READERS, THINGS, remember, work
from memsvc.access.users import Owner

ROLES = """
SELECT DISTINCT f.object_id, f.subject_id, f.data ->> 'relation' FROM memsvc.facts_history AS f
WHERE f.user_id = %s AND f.predicate = ANY ('{FAMILY_OF,KNOWS}') AND f.data ->> 'relation' IS NOT NULL
  AND f.subject IS NOT NULL AND f.object IS NOT NULL
ORDER BY 1, 2, 3
"""
TOLD = """
SELECT f.fact, CASE WHEN f.data #>> '{times,since}' LIKE 'by %%' THEN NULL ELSE f.since END AS since, f.until,
  coalesce(f.data #>> '{times,until}' LIKE 'by %%', false) AS until_untold,
  array_agg(p.client_id ORDER BY p.said_at, p.passage_id) FILTER (WHERE p.client_id IS NOT NULL) AS turns
FROM memsvc.facts_history AS f
INNER JOIN memsvc.source_links AS l
  ON f.user_id = l.user_id AND f.version_id = l.edge_version_id AND l.recorded_to = 'infinity'
INNER JOIN memsvc.passages AS p ON l.user_id = p.user_id AND l.passage_id = p.passage_id
WHERE f.user_id = %s AND f.asserted_by = ANY (%s) AND NOT f.superseded AND f.object IS NOT NULL
  AND f.subject IS NOT NULL
GROUP BY f.version_id, f.fact, f.data, f.since, f.until, f.learnt_at
ORDER BY f.learnt_at, f.version_id
"""


@dataclass(frozen=True, slots=True)
class Node:
    """Somebody or something in the graph."""

    key: UUID
    type: str
    names: tuple[str, ...]
    """Label and aliases."""
    named: bool
    """False: its label only describes it."""
    roles: tuple[tuple[UUID, str], ...]
    """From whom it is counted, and what it is to them: "sister"."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fact in the graph."""

    sentence: str
    turns: tuple[str, ...]
    """That support it, at least one."""
    since: datetime | None
    until: datetime | None
    until_untold: bool = False
    """It is over, and was so by then; nobody told when."""


@dataclass(frozen=True, slots=True)
class Graph:
    """What is known of a talk."""

    nodes: Mapping[UUID, Node]
    told: Sequence[Told]


async def graphs(bench: Bench, extractor: str, talks: Sequence[Talk]) -> list[Graph]:
    """Store talks, let a worker read them, and say what it wrote, in their order."""
    db = bench.connect()
    try:
        owners = await remember(db, bench, [talk.conversation for talk in talks])
    finally:
        await db.close()
    work(bench, extractor, sum(len(talk.conversation.turns) for talk in talks))
    return [graph_of(bench, owner) for owner in owners]


def graph_of(bench: Bench, owner: Owner) -> Graph:
    """What extractors wrote for a user."""
    with bench.admin() as admin:
        readers = [name for (name,) in admin.execute(READERS)]
        roles: dict[UUID, list[tuple[UUID, str]]] = {}
        for who, whose, relation in admin.execute(ROLES, [owner.user_id]):
            roles.setdefault(who, []).append((whose, relation))
        nodes = {
            node_id: Node(node_id, kind, (label, *aliases), named, tuple(roles.get(node_id, ())))
            for node_id, kind, label, named, aliases in admin.execute(THINGS, [owner.user_id])
        }
        told = [
            Told(sentence, tuple(dict.fromkeys(turns)), since, until, untold)
            for sentence, since, until, untold, turns in admin.execute(TOLD, [owner.user_id, readers])
            if turns
        ]
    return Graph(nodes, told)
