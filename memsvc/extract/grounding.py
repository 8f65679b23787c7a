"""Windows as extractors get them: turns with candidates, speakers and ontology. Reads ``memsvc.grounding``.

A speaker is the owner where the name is one of the owner's; where there is none and the role is ``user``; and where
one person alone writes to an assistant. Any other is the node that has the name, if there is just one, or if just one
of those was spoken of in the turns before; else somebody who is not known yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner
from memsvc.db.files import query
from memsvc.extract.names import folded
from memsvc.extract.unread import ASSISTANT, Turns
from memsvc.extract.window import OWNER, Candidate, EdgeType, Ontology, Turn, Window

MOST_CANDIDATES = 20
NEAREST = 10
"""Passages near to the turns whose nodes become candidates."""
OURS = frozenset(
    {
        "LINKS_TO",
        "MENTIONS",
        "SUPERSEDES",
        "DERIVED_FROM",
        "SUMMARIZES",
        "REFLECTS_ON",
        "VERSION_OF",
        "TOOL_CALL",
        "ANSWERS",
    }
    | {"SUPPORTS", "CONTRADICTS", "EXTENDS"}
    | {"Summary", "ConceptGroup", "Reflection", "Critique", "Plan", "DocumentVersion", "Instruction"}
)
"""Types that memsvc gives by itself; no text says them."""


class Grounded(msgspec.Struct, frozen=True, kw_only=True):
    """A window, and what else is known about it."""

    window: Window
    unnamed: frozenset[int]
    """Numbers of candidates whose label only describes them."""
    near: frozenset[UUID]
    """Nodes that the turns before were about."""


async def ontology_for(connection: AsyncConnection, owner: Owner) -> Ontology:
    """The types that an extractor may use. Own node types may stand wherever the one that they refine may."""
    rows = (await connection.execute(query("usable_types"), {"user_id": owner.user_id})).all()
    nodes = {row.name: row.parent for row in rows if row.kind == "node" and row.name not in OURS}

    def allowed(ends: Sequence[str]) -> frozenset[str]:
        return frozenset(ends) | {name for name, parent in nodes.items() if parent in ends}

    return Ontology(
        node_types=frozenset(nodes),
        edge_types={
            row.name: EdgeType(
                name=row.name,
                from_types=allowed(row.from_types),
                to_types=allowed(row.to_types),
                functional=row.functional,
                description=row.description,
            )
            for row in rows
            if row.kind == "edge" and row.name not in OURS
        },
    )


async def ground(connection: AsyncConnection, owner: Owner, turns: Turns) -> Grounded:
    """The window of some turns."""
    told = sorted(turns.turns, key=lambda turn: turn.said_at)  # files and requests may bring the newest first
    before = sorted(turns.before, key=lambda turn: turn.said_at)
    context = [*before, *told]
    values = {
        "user_id": owner.user_id,
        "text": "\n".join(f"{turn.text} {turn.caption}" for turn in context),
        "speakers": sorted({turn.speaker for turn in context if turn.speaker and turn.role == "user"}),
        "passages": turns.passages,
        "before": [turn.passage_id for turn in before],
        "near": NEAREST,
        "limit": MOST_CANDIDATES,
    }
    rows = (await connection.execute(query("grounding"), values)).all()
    ordered = _owner_first(rows)
    numbers = {str(row.node_id): number for number, row in enumerate(ordered)}
    candidates = [
        Candidate(
            number=number, node_id=row.node_id, label=row.label, type=row.type, aliases=tuple(row.aliases),
            relations=tuple(row.relations),
            roles=tuple((numbers[whose], relation) for whose, relation in row.roles if whose in numbers),
        )
        for number, row in enumerate(ordered)
    ]  # fmt: skip
    window = Window(
        turns=tuple(told),
        before=tuple(before),
        candidates=tuple(candidates),
        speakers=speakers_of(context, ordered),
        zone=owner.time_zone,
        ontology=await ontology_for(connection, owner),
    )
    return Grounded(
        window=window,
        unnamed=frozenset(number for number, row in enumerate(ordered) if not row.named),
        near=frozenset(row.node_id for row in rows if row.how in {"speaker", "recent"}),
    )


def _owner_first(rows: Sequence[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: row.how != "owner")


def speakers_of(turns: Sequence[Turn], candidates: Sequence[Any]) -> dict[str, int | None]:
    """Each speaker's candidate; None: somebody who is not known.

    Args:
        turns: of the window, those before included.
        candidates: rows of ``memsvc.grounding`` in the order of their numbers, the owner first.
    """
    has_owner = bool(candidates) and candidates[0].how == "owner"
    own = {folded(name) for name in (candidates[0].label, *candidates[0].aliases)} if has_owner else set()
    named = {turn.speaker for turn in turns if turn.role == "user" and turn.speaker}
    alone = (
        len(named) == 1
        and any(turn.role == ASSISTANT for turn in turns)
        and not any(turn.role == "user" and (turn.other or not turn.speaker) for turn in turns)
    )
    known = {name: number for number, row in enumerate(candidates) for name in row.speakers}
    found: dict[str, int | None] = {}
    for turn in turns:
        if turn.role != "user":
            found.setdefault(turn.speaker, None)
        elif has_owner and (not turn.speaker or folded(turn.speaker) in own):
            found[turn.speaker] = OWNER
        elif turn.speaker in known:
            found[turn.speaker] = known[turn.speaker]
        else:
            found[turn.speaker] = OWNER if alone and has_owner else None
    return found
