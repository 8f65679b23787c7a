"""A memory for a terminal."""

from __future__ import annotations

from datetime import datetime

from memsvc.db.short_ids import short_id
from memsvc.recall.results import Memory
from memsvc.recall.times_in_words import age
from memsvc.text.characters import flat


def render(memory: Memory, number: int, now: datetime) -> str:
    """One memory for a terminal: two lines, whatever line breaks its text, speaker or source hold."""
    picture = f" [picture: {memory.caption}]" if memory.caption else ""
    session = f", session {memory.session}" if memory.session else ""
    said = (
        f"[{number}] {memory.said_at:%Y-%m-%d %H:%M} ({age(memory.said_at, now)}) "
        f"{memory.speaker or memory.role}: “{memory.text.strip()}”{picture}"
    )
    where = f"{memory.conversation}{session}, message {memory.message_id or memory.ordinal}"
    if memory.node_id is not None:
        where = f"{memory.kind}, {memory.node_type}"
    if memory.block_id is not None:
        where = f"block b:{short_id(memory.block_id)}, version {memory.ordinal}"
    if memory.document is not None:
        where = f"{memory.document.path}, version {memory.document.version}"
    reason = f"why: {memory.reason} | source: {where} | passage {memory.passage_id}"
    return f"{flat(said)}\n    {flat(reason)}"
