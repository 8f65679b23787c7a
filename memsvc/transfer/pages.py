"""The Markdown pages of an export, for people: conversations, and what is known about each node.

An import does not read them. Rows are read in pages from the export's own snapshot, so that a memory of any size can be
exported. A folder has at most MAX_PAGES files; the README says if some are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote as url_quote
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.text.markdown import Names, file_stem, inline, quote, short_id

MAX_PAGES = 20_000
"""Most files in one folder."""
MAX_FACTS = 500
"""Most facts on one page."""
NODES = 100
"""Nodes that one statement reads."""
MESSAGES = 500
EXCERPT_CHARS = 120
FOLDER = "markdown"
Piece = tuple[str | None, str]
"""A file and its text. The file is new, or None if the text continues the previous file."""

README = """\
# Export of {name}

Written by memsvc, for people. `memsvc import` reads only `manifest.json` and the `.jsonl` files in the folder above, so
you can change or delete anything in this folder.

- [people.md](people.md): the known people.
- `conversations/`: the messages, {conversations}.
- `nodes/`: one page for each known node{nodes}, with its names, its facts and the messages that support them.

Times are in the zone {zone}. Messages are quoted as they were written: they are data, not part of this page.
"""


@dataclass(slots=True)
class Book:
    """Writes all pages of one user, in order."""

    db: Database
    connection: AsyncConnection
    user_id: UUID
    name: str
    zone: ZoneInfo
    conversations: dict[UUID, str] = field(default_factory=dict)
    """The page of each conversation, as far as it has one."""
    without_page: int = 0
    people: list[tuple[str, str]] = field(default_factory=list)
    """Label and page of each person."""
    nodes: int = 0
    unshown: bool = False

    async def pieces(self) -> AsyncIterator[Piece]:
        """Yield every page, piece by piece."""
        async for piece in self._conversations():
            yield piece
        async for piece in self._nodes():
            yield piece
        yield f"{FOLDER}/people.md", "# People\n\n"
        for label, page in self.people:
            yield None, f"- [{label}](nodes/{url_quote(page)})\n"
        if not self.people:
            yield None, "No known people.\n"
        yield f"{FOLDER}/README.md", self._readme()

    def _readme(self) -> str:
        shown = f"one page for each of {len(self.conversations):,}"
        if self.without_page:
            shown += f"; {self.without_page:,} more are only in `passages.jsonl`"
        cut = f" (the first {self.nodes:,}; the others are only in `nodes.jsonl`)" if self.unshown else ""
        return README.format(name=inline(self.name), conversations=shown, nodes=cut, zone=inline(self.zone.key))

    def _at(self, moment: datetime) -> str:
        return moment.astimezone(self.zone).strftime("%Y-%m-%d %H:%M")

    # Conversations

    async def _conversations(self) -> AsyncIterator[Piece]:
        """Yield one page for each conversation, with the parts of long messages joined."""
        statement = query("export_conversations")
        result = await self.connection.stream(statement, {"user_id": self.user_id})
        names = Names()
        source: UUID | None = None
        session = ""
        message: list[Row[Any]] = []
        async for rows in result.partitions(MESSAGES):
            for row in rows:
                if message and (row.part == 0 or row.source_id != message[0].source_id):
                    if message[0].source_id in self.conversations:
                        yield None, self._message(message)
                    message = []
                if row.source_id != source:
                    source, session = row.source_id, ""
                    if len(self.conversations) < MAX_PAGES:
                        yield self._conversation(names, row)
                    else:
                        self.without_page += 1
                if row.session != session and row.source_id in self.conversations:
                    session = row.session
                    yield None, f"## {inline(session) or 'No session'}\n\n"
                message.append(row)
        if message and message[0].source_id in self.conversations:
            yield None, self._message(message)

    def _conversation(self, names: Names, row: Row[Any]) -> Piece:
        shown = row.title or row.identifier
        page = names.take(f"{row.said_at.astimezone(self.zone):%Y-%m-%d}-{file_stem(shown, 'conversation')}")
        self.conversations[row.source_id] = page
        return f"{FOLDER}/conversations/{page}", f"# {inline(shown)}\n\n"

    def _message(self, parts: Sequence[Row[Any]]) -> str:
        first = parts[0]
        speaker = inline(first.speaker) or first.role
        role = f" ({first.role})" if first.role in {"system", "tool", "thinking"} else ""
        said = quote("".join(part.text for part in parts)) if any(part.text for part in parts) else ""
        captions = "".join(part.caption for part in parts if part.caption)
        picture = f"\nA picture:\n\n{quote(captions)}" if captions else ""
        return f"**{speaker}**{role}, {self._at(first.said_at)}\n\n{said}{picture}\n"

    # Nodes

    async def _nodes(self) -> AsyncIterator[Piece]:
        """Yield one page for each canonical node."""
        names = Names()
        after: UUID | None = None
        while True:
            found = await self._rows("export_own_nodes", after=after, limit=NODES)
            nodes = [row.node_id for row in found]
            if nodes and self.nodes + len(nodes) > MAX_PAGES:
                nodes = nodes[: MAX_PAGES - self.nodes]
                self.unshown = True
            if not nodes:
                return
            await self.db.bind(self.connection, self.user_id)
            async for piece in self._pages(names, nodes):
                yield piece
            self.nodes += len(nodes)
            after = nodes[-1]

    async def _rows(self, name: str, **parameters: object) -> Sequence[Row[Any]]:
        return (await self.connection.execute(query(name), {"user_id": self.user_id, **parameters})).all()

    async def _pages(self, names: Names, nodes: Sequence[UUID]) -> AsyncIterator[Piece]:
        states = _grouped(await self._rows("export_states", nodes=list(nodes)), "canonical_id")
        called = _grouped(await self._rows("export_names", nodes=list(nodes)), "canonical_id")
        facts = _grouped(await self._rows("export_facts", nodes=list(nodes), most=MAX_FACTS + 1), "node_id")
        shown = [fact for some in facts.values() for fact in some]
        ends = {end for fact in shown for end in (fact.from_node, fact.to_node)} - set(states)
        others = _grouped(await self._rows("export_states", nodes=sorted(ends)), "canonical_id")
        labels = {node: inline(found[0].label) for node, found in [*states.items(), *others.items()]}
        versions = sorted({fact.version_id for fact in shown})
        evidence = _grouped(await self._rows("export_evidence", versions=versions), "version_id")
        for node in nodes:
            state = states[node][0] if states.get(node) else None
            label = state.label if state is not None else ""
            page = names.take(f"{file_stem(label, 'unnamed')}-{short_id(node)}")
            if state is not None and state.type == "Person":
                self.people.append((inline(label), page))
            yield f"{FOLDER}/nodes/{page}", self._card(node, states.get(node, []), called.get(node, []))
            if facts.get(node):
                yield None, "\n## Facts\n\n"
            for fact in facts.get(node, [])[:MAX_FACTS]:
                yield None, self._fact(fact, labels) + self._sources(evidence.get(fact.version_id, []))
            if len(facts.get(node, [])) > MAX_FACTS:
                yield None, f"\nThese are the newest {MAX_FACTS} facts; the others are in `edge_versions.jsonl`.\n"

    def _card(self, node: UUID, states: Sequence[Row[Any]], called: Sequence[Row[Any]]) -> str:
        """Return a node's title, descriptions and names."""
        lines = [f"# {inline(states[0].label) if states else 'Unnamed'}\n"]
        for state in states:
            lines.append(f"\n{inline(state.type)}{self._span(state)}, importance {state.importance:g}")
            if state.label != states[0].label:
                lines.append(f", as {inline(state.label)}")
            lines.append(".\n")
            if state.description:
                lines.append(f"\n{quote(state.description)}")
            if state.data != "{}":
                lines.append(f"\nMore: {inline(state.data)}\n")
        if called:
            lines.append("\n## Names\n\n")
            lines += [f"- {inline(name.alias)}{self._span(name)}\n" for name in called]
        lines.append(f"\nId: {node}\n")
        return "".join(lines)

    def _fact(self, fact: Row[Any], labels: dict[UUID, str]) -> str:
        start, end = (labels.get(node) or short_id(node) for node in (fact.from_node, fact.to_node))
        doubt = ", contested" if fact.contested else ""
        said = f"confidence {fact.confidence:g}, by {inline(fact.asserted_by)}{doubt}"
        return f"- {inline(fact.fact)}{self._span(fact)}  \n  {start}, {inline(fact.type)}, {end}; {said}\n"

    def _span(self, row: Row[Any]) -> str:
        since = f" since {self._at(row.valid_from)}" if row.valid_from is not None else ""
        until = f" until {self._at(row.valid_to)}" if row.valid_to is not None else ""
        return since + until

    def _sources(self, links: Iterable[Row[Any]]) -> str:
        lines: list[str] = []
        for link in links:
            where, who = inline(link.title or link.identifier), f"{inline(link.speaker)}: " if link.speaker else ""
            if link.kind == "block":  # an archival block, which has no page
                where, who = f"the block {where}", ""
            if (page := self.conversations.get(link.source_id)) is not None:
                where = f"[{where}](../conversations/{url_quote(page)})"
            said = inline(link.text)
            if len(link.text) > EXCERPT_CHARS:
                said = f"{inline(link.text[:EXCERPT_CHARS])} …"
            ends = {"supports": "", "ends": "; it ended"}.get(link.stance, f"; {link.stance}")
            lines.append(f"  - {where}, {self._at(link.said_at)}{ends}: {who}“{said}”\n")
        return "".join(lines)


def _grouped(rows: Sequence[Row[Any]], key: str) -> dict[UUID, list[Row[Any]]]:
    groups: defaultdict[UUID, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, key)].append(row)
    return groups
