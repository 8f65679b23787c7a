"""The other files of Claude's export: what it remembers of a user, and the projects with their instructions.

``memories.json`` has texts that Claude wrote about the user and his projects, without a time. A project has the user's
instructions, which are kept as a trace, and documents, which are counted: they are no messages.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.kind import Digests, Placed, Reading, compact
from memsvc.sources.kinds.trees import conversations
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

PROJECT_URL = "https://claude.ai/project/"
MEMORY = "conversations_memory"
PROJECT = frozenset({"prompt_template", "docs"})
"""The fields of a project that no conversation has."""


class Memories(msgspec.Struct):
    """What Claude remembers; other fields are not read."""

    conversations_memory: str | None = None
    project_memories: dict[str, str] | None = None


class Project(msgspec.Struct):
    """A project; other fields are not read."""

    uuid: str
    name: str | None = None
    description: str | None = None
    prompt_template: str | None = None
    created_at: str | None = None
    docs: list[msgspec.Raw] | None = None


def memories(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    """Yield what Claude remembers, as an assistant's words at the time of the file."""
    ids, written = Digests(), bundle.modified(bundle.files[0], reading.zone).isoformat()
    for one, where in conversations(bundle, Memories):
        texts = [("claude:memory", "", one.conversations_memory or "")]
        texts += [(f"claude:project:{key}"[:400], key, text) for key, text in (one.project_memories or {}).items()]
        for name, project, text in texts:
            if not is_visible(text):
                continue
            reading.odd["memories without a time: that of the file counts"] += 1
            message = MessageIn(
                conversation=name,
                text=text,
                speaker="Claude",
                role="assistant",
                id=ids.of("memory", name, text),
                said_at=written,
            )
            url = f"{PROJECT_URL}{project}" if project else None
            yield Placed(where, message, compact(memory=project or "all conversations", url=url))


def projects(bundle: Bundle, reading: Reading) -> Iterator[Placed]:
    """Yield the description of each project as the user's words, and its instructions as a trace."""
    ids, written = Digests(), bundle.modified(bundle.files[0], reading.zone).isoformat()
    for one, where in conversations(bundle, Project):
        if one.docs:
            reading.odd["documents of projects"] += len(one.docs)
        for role, text in (("user", one.description or ""), ("system", one.prompt_template or "")):
            if is_visible(text):
                message = MessageIn(
                    conversation=f"claude:project:{one.uuid}"[:400],
                    text=text,
                    role="user" if role == "user" else "system",
                    id=ids.of(role, one.uuid, text),
                    said_at=one.created_at or written,
                )
                origin = compact(id=one.uuid, url=f"{PROJECT_URL}{one.uuid}")
                yield Placed(where, message, origin, (one.name or "")[:200])
