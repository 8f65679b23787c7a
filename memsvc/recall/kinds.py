"""The kinds of memories: one row each, from which all interfaces and formats take what they say of a kind.

``memsvc.passage_kinds`` (``sql/functions/base/60_kinds.sql``) is the same in the database. The command line imports
this module for its help, so it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal[
    "message", "trace", "block", "card", "note", "instruction", "task", "summary", "concept", "reflection", "critique",
    "plan", "fact", "chunk", "turn",
]  # fmt: skip


class Traits(NamedTuple):
    """What is so of a kind."""

    called: str = ""
    """What a reason calls it; empty where somebody said or wrote it as it stands."""
    recalled: bool = True
    """False: only where it is asked for."""


KINDS: Mapping[Kind, Traits] = {
    "message": Traits(),
    "trace": Traits(recalled=False),
    "block": Traits(),
    "card": Traits("a description"),
    "note": Traits("a note"),
    "instruction": Traits("an instruction"),
    "task": Traits("a task", recalled=False),
    "summary": Traits("a summary", recalled=False),
    "concept": Traits("a concept", recalled=False),
    "reflection": Traits("a reflection"),
    "critique": Traits("a lesson"),
    "plan": Traits("a plan"),
    "fact": Traits("a fact"),
    "chunk": Traits(),
    "turn": Traits(),
}
KNOWN = frozenset(kind for kind, traits in KINDS.items() if traits.called)
"""Kinds of what is known: nobody said it as it stands."""
OF_NODES = KNOWN - {"fact"}
"""Kinds of what is known about a node."""
RECALLED = tuple(kind for kind, traits in KINDS.items() if traits.recalled)
"""What is recalled unless something else is asked for."""
