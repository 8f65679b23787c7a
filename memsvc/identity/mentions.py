"""What resolution is asked and what it answers: which node a mention in a text means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

import msgspec

How = Literal["given", "name", "relation", "similar", "judged", "new"]
"""given: the extractor named the candidate; name: exact normal form of a label or alias; relation: through the owner's
own edges ("my sister"); similar: by trigrams or vectors; judged: by its card; new: nobody that is known."""


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody or something that a text speaks of."""

    key: int
    name: str
    type: str
    named: bool = True
    aliases: tuple[str, ...] = ()
    known: UUID | None = None
    of: int | None = None
    """Key of the mention from which it counts ("her dog")."""
    relation: str = ""
    company: frozenset[int] = frozenset()
    """Keys of mentions that facts of the same text connect it with: context for namesakes."""


class Rival(msgspec.Struct, frozen=True, kw_only=True):
    """A node that may be the same; becomes a duplicate candidate where a new node is made, or another was taken."""

    node_id: UUID
    score: float
    evidence: Mapping[str, float]


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a mention."""

    key: int
    node_id: UUID | None
    """None: nobody that is known; a node is to be made."""
    how: How
    confidence: float = 1.0
    evidence: Mapping[str, float] = {}
    rivals: tuple[Rival, ...] = ()
    learned: tuple[str, ...] = ()
    """Names that the node does not have yet and is called by here: aliases to be added."""
