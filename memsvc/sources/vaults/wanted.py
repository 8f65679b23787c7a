"""What the graph shall hold about a note: a node with its names, links to other notes, and tasks that have a date.

Nothing is read here: notes come from ``memsvc.documents.vaults``, ids from whoever knows what is stored.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from memsvc.documents.vaults.form import Link, Note, Task
from memsvc.graph.operations import MAX_NAME_CHARS
from memsvc.text.characters import flat, is_visible

DOCUMENT, TASK, LINKS_TO = "Document", "Task", "LINKS_TO"
LINKS = "links"
"""The key in the data of an edge, and in that of a note's node: places of links."""
MOST_CHARS = 300
"""Of what is kept of a link's words."""
MOST_TITLE_CHARS = 1_000
MOST_BYTES = 25_000
"""Of a list in the data of a node or an edge, as JSON; what is beyond it is counted as ``more``."""
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WantedTask:
    """A task that is open and has a date."""

    label: str
    data: Data
    line: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the graph shall hold about a note."""

    label: str
    data: Data
    """path, tags, date, and the links that lead to no other note."""
    aliases: frozenset[str]
    links: Mapping[UUID, list[Data]]
    """By the note that they lead to: the place of each in the text."""
    tasks: Mapping[UUID, WantedTask]

    def fact(self, to_node: UUID) -> str:
        """Return the sentence of an edge."""
        task = self.tasks.get(to_node)
        if task is not None:
            return f"{self.label} has the task: {task.label}"
        first = self.links[to_node][0]
        return f"{self.label} links to {first.get('alias') or first.get('target') or 'another note'}."

    def edge_data(self, to_node: UUID) -> Data:
        """Return the data of an edge."""
        task = self.tasks.get(to_node)
        return {"line": task.line} if task is not None else fitting({}, LINKS, self.links[to_node])

    def lines(self, to_node: UUID) -> list[int]:
        """Return the lines that speak for an edge."""
        task = self.tasks.get(to_node)
        return [task.line] if task is not None else [link["line"] for link in self.links[to_node]]


def wanted_of(note: Note, source_id: UUID, ids: Mapping[str, UUID], lost: Iterable[int] = ()) -> Wanted:
    """Return what the graph shall hold about a note.

    Args:
        note: with its links resolved.
        source_id: of its document, which is the id of its node.
        ids: nodes of the notes that are stored, by path.
        lost: lines whose text was erased; links and tasks there do not count.
    """
    erased = set(lost)
    links: dict[UUID, list[Data]] = defaultdict(list)
    others: list[Data] = []
    for link in note.links:
        if link.line in erased:
            continue
        place = _place(link)
        ends = [(path, ids.get(path)) for path in link.resolves_to]
        for path, to_node in ends:
            if path == note.path or to_node == source_id:
                others.append(place | {"within": True})
            elif to_node is None:
                others.append(place | {"note": path[:MOST_CHARS]})
            else:
                links[to_node].append(place)
        if not ends:
            others.append(place if link.file is None else place | {"file": link.file[:MOST_CHARS]})
    data: Data = {"path": note.path}
    if note.date is not None:
        data["date"] = note.date
    data = fitting(data, "tags", [flat(tag)[:MOST_CHARS] for tag in note.tags])
    return Wanted(
        label=title_of(note),
        data=fitting(data, LINKS, others),
        aliases=frozenset(
            name for alias in note.aliases if is_visible(name := flat(alias)) and len(name) <= MAX_NAME_CHARS
        ),
        links=links,
        tasks=_tasks(source_id, [task for task in note.tasks if task.line not in erased]),
    )


def title_of(note: Note) -> str:
    """Return a note's title on one line, never empty."""
    title = flat(note.title)[:MOST_TITLE_CHARS]
    return title if is_visible(title) else note.path


def is_broken(link: Data) -> bool:
    """Whether a link in the data of a note's node leads nowhere: nothing in the folder has its name."""
    return link.keys().isdisjoint({"file", "within", "note"})


def fitting(data: Data, key: str, values: list[Any]) -> Data:
    """Return data with a list, as much of it as may be stored; nothing if it is empty."""
    size = 0
    kept: list[Any] = []
    for value in values:
        size += len(msgspec.json.encode(value)) + 1
        if size > MOST_BYTES:
            break
        kept.append(value)
    more = {f"more_{key}": len(values) - len(kept)} if len(kept) < len(values) else {}
    return data | ({key: kept} if values else {}) | more


def _place(link: Link) -> Data:
    place: Data = {"line": link.line, "kind": link.kind, "target": flat(link.target)[:MOST_CHARS]}
    for name, value in (("section", link.section), ("alias", link.alias)):
        if value and flat(value):
            place[name] = flat(value)[:MOST_CHARS]
    return place | ({"ambiguous": True} if link.is_ambiguous else {})


def _tasks(source_id: UUID, tasks: Iterable[Task]) -> dict[UUID, WantedTask]:
    """Return open tasks with a date by the ids of their nodes, which follow from the document and their words."""
    found: dict[UUID, WantedTask] = {}
    seen: Counter[str] = Counter()
    for task in tasks:
        label = flat(task.text)[:MOST_TITLE_CHARS]
        if task.state != "open" or not is_visible(label) or (task.due is None and task.scheduled is None):
            continue
        said = hashlib.sha256(f"{source_id} {seen[label]} {label}".encode()).digest()
        seen[label] += 1
        dates = {"due": task.due, "starts_at": task.scheduled}
        data: Data = {"state": "open"} | {name: day for name, day in dates.items() if day is not None}
        found[UUID(bytes=said[:16])] = WantedTask(label, data, task.line)
    return found
