"""The input and output of resolution: mentions in a text, and the node that each one means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

import msgspec

How = Literal["given", "name", "relation", "similar", "judged", "new"]
"""given: the extractor named the candidate; name: exact normal form of a label or alias; relation: through the owner's
own edges ("my sister"); similar: by trigrams or vectors; judged: by its card; new: no known node."""


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """A mention of a person or a thing in a text."""

    key: int
    name: str
    type: str
    named: bool = True
    aliases: tuple[str, ...] = ()
    known: UUID | None = None
    of: int | None = None
    """Key of the mention that it is described from ("her dog")."""
    relation: str = ""
    company: frozenset[int] = frozenset()
    """Keys of mentions that facts of the same text connect with it: context to choose among namesakes."""


class Rival(msgspec.Struct, frozen=True, kw_only=True):
    """A node that may be the same; becomes a duplicate candidate if a new node is made, or another one was chosen."""

    node_id: UUID
    score: float
    evidence: Mapping[str, float]


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a mention."""

    key: int
    node_id: UUID | None
    """None: no known node; a new one must be made."""
    how: How
    confidence: float = 1.0
    evidence: Mapping[str, float] = {}
    rivals: tuple[Rival, ...] = ()
    learned: tuple[str, ...] = ()
    """Names in the text that the node does not have yet: aliases to add."""
