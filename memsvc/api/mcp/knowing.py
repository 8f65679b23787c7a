"""Tools of the graph: exploring it, and writing notes and links."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from memsvc.access.users import Owner
from memsvc.api.mcp import learning
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.opened import span_words
from memsvc.api.mcp.references import MessageIds, messages_called, node_called
from memsvc.api.mcp.tool import Answer, Content, Quoting, Tool
from memsvc.db.short_ids import short_id
from memsvc.graph import links
from memsvc.graph.explore import Explored
from memsvc.graph.explore import explore as walk
from memsvc.graph.find import check_edge_types
from memsvc.graph.links import Relation
from memsvc.graph.notes import NoteKind
from memsvc.graph.notes import create_note as write_note
from memsvc.recall.find import find_notes
from memsvc.text.characters import flat
from memsvc.text.fence import fenced

NOTE_CHARS = 1_000
"""The most characters of a linked note's text that are shown."""
Name = Annotated[str, Meta(min_length=1, max_length=200, description="n:… or a name.")]


class ExploreArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Where to start and how far to go."""

    node: Name
    edge_types: Annotated[list[str], Meta(max_length=20, description="Such as WORKS_AT.")] | None = None
    hops: Annotated[int, Meta(ge=1, le=4, description="Facts away from it.")] = 1
    cursor: Annotated[str, Meta(max_length=200, description="next_cursor.")] | None = None


class NoteArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A note to write."""

    title: Annotated[str, Meta(min_length=1, max_length=200)]
    text: Annotated[str, Meta(max_length=8_000)] = ""
    kind: NoteKind | Literal["critique", "plan"] = "fact"
    tags: Annotated[list[str], Meta(max_length=50)] = []
    about: Annotated[list[Name], Meta(max_length=20, description="n:… or names.")] = []
    sources: MessageIds = []
    importance: Annotated[float, Meta(ge=1, le=10, description="10: life-changing.")] = 5.0


class LinkArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A link to make."""

    from_node: Name
    to_node: Annotated[str, Meta(min_length=1, max_length=200)]
    relation: Relation
    strength: Annotated[float, Meta(gt=0, le=1)] = 1.0
    reason: Annotated[str, Meta(max_length=2_000, description="A sentence.")] = ""
    sources: MessageIds = []


class LinkedArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which notes to find."""

    note: Name
    radius: Annotated[int, Meta(ge=1, le=4, description="Most links between.")] = links.RADIUS
    relations: list[Relation] | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class FindNotesArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which notes to find."""

    query: Annotated[str, Meta(max_length=1_000)] | None = None
    kind: NoteKind | None = None
    tag: Annotated[str, Meta(max_length=200)] | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Annotated[str, Meta(max_length=5_000)] | None = None


class NearNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node."""

    id: str
    type: str
    label: str
    hop: int


class NearFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact."""

    id: str
    type: str
    from_node: str
    to_node: str
    fact: str


class Near(Quoting, frozen=True, kw_only=True):
    """Nodes and facts near a node."""

    nodes: list[NearNode]
    facts: list[NearFact]
    truncated: bool
    """True: there are more nodes than the pages show."""
    next_cursor: str | None
    """Send it as cursor to get the next page."""


class Noted(Content, frozen=True, kw_only=True):
    """A note that was written."""

    id: str


class Linked(Content, frozen=True, kw_only=True):
    """A link that was made or changed."""

    id: str


class NearNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note that is linked with another one."""

    id: str
    title: str
    text: str
    kind: str
    distance: int
    relations: list[str]
    strength: float


class NearNotes(Quoting, frozen=True, kw_only=True):
    """Notes, nearest first."""

    notes: list[NearNote]


class ShownNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note."""

    id: str
    title: str
    text: str
    kind: str
    tags: list[str]
    matched: str | None
    """name, text, words or meaning; None: nothing was asked for."""


class ShownNotes(Quoting, frozen=True, kw_only=True):
    """Notes: those with the words, newest first, then what fits, best first."""

    notes: list[ShownNote]
    next_cursor: str | None
    degraded: list[str]
    """vector: nothing was found by meaning."""


async def explore(asker: Asker, owner: Owner, given: ExploreArguments) -> Answer:
    """Find what is near a node."""
    await check_edge_types(asker.db, owner, given.edge_types)
    start = await node_called(asker.db, owner, given.node)
    found = await walk(asker.db, owner, [start], hops=given.hops, types=given.edge_types, cursor=given.cursor)
    return Answer(fenced("\n".join(_near_lines(found, owner))), _near(found))


def _near(found: Explored) -> Near:
    return Near(
        nodes=[
            NearNode(id=f"n:{short_id(node.node_id)}", type=node.type or "", label=node.label or "", hop=node.hop)
            for node in found.nodes
        ],
        facts=[
            NearFact(
                id=f"f:{short_id(edge.version_id)}",
                type=edge.type,
                from_node=f"n:{short_id(edge.from_node)}",
                to_node=f"n:{short_id(edge.to_node)}",
                fact=edge.fact,
            )
            for edge in found.edges
        ],
        truncated=found.truncated,
        next_cursor=found.next_cursor,
    )


def _near_lines(found: Explored, owner: Owner) -> list[str]:
    zone = ZoneInfo(owner.time_zone)
    lines = [
        flat(f"[n:{short_id(node.node_id)}] {node.label or '?'} ({node.type or 'unknown type'}), {node.hop} away")
        for node in found.nodes
    ]
    for edge in found.edges:
        span = span_words(
            edge.valid_from, edge.valid_to, zone, begin_untold=edge.begin_untold, end_untold=edge.end_untold
        )
        ends = f"n:{short_id(edge.from_node)} to n:{short_id(edge.to_node)}"
        lines.append(flat(f"[f:{short_id(edge.version_id)}] {edge.fact}{span} ({edge.type}, {ends})"))
    if found.next_cursor:
        lines.append(f"* There is more. Call explore again with cursor={found.next_cursor}")
    elif found.truncated:
        lines.append("* There is more than can be shown. Name edge_types to narrow the search.")
    return lines


async def create_note(asker: Asker, owner: Owner, given: NoteArguments) -> Answer:
    """Write a note, a correction or a plan."""
    match given.kind:
        case "critique":
            made = await learning.correct(asker, owner, given.title, given.text, given.sources)
        case "plan":
            made = await learning.plan(asker, owner, given.title, given.text)
        case _:
            made = await _note(asker, owner, given, given.kind)
    known = f"n:{short_id(made)}"
    return Answer(f"Written as {known}.", Noted(id=known))


async def _note(asker: Asker, owner: Owner, given: NoteArguments, kind: NoteKind) -> UUID:
    note = await write_note(
        asker.db,
        owner,
        given.title,
        given.text,
        kind=kind,
        tags=given.tags,
        about=[await node_called(asker.db, owner, name) for name in given.about],
        evidence=await messages_called(asker.db, owner, given.sources),
        importance=given.importance,
        asserted_by=asker.asserted_by,
    )
    return note.note_id


async def create_link(asker: Asker, owner: Owner, given: LinkArguments) -> Answer:
    """Link two nodes."""
    link = await links.create_link(
        asker.db,
        owner,
        await node_called(asker.db, owner, given.from_node),
        await node_called(asker.db, owner, given.to_node),
        given.relation,
        strength=given.strength,
        reason=given.reason,
        evidence=await messages_called(asker.db, owner, given.sources),
        asserted_by=asker.asserted_by,
    )
    known = f"f:{short_id(link.version_id)}"
    return Answer(f"Linked as {known}.", Linked(id=known))


async def get_linked_notes(asker: Asker, owner: Owner, given: LinkedArguments) -> Answer:
    """Find the notes near a note."""
    start = await node_called(asker.db, owner, given.note)
    found = await links.get_linked_notes(
        asker.db, owner, start, radius=given.radius, relations=given.relations, limit=given.limit
    )
    shown = [
        NearNote(
            id=f"n:{short_id(note.note_id)}",
            title=note.title,
            text=note.text[:NOTE_CHARS],
            kind=note.kind,
            distance=note.distance,
            relations=list(note.relations),
            strength=note.strength,
        )
        for note in found
    ]
    lines = [
        flat(f"[{note.id}] {note.title} ({note.kind}; {', '.join(note.relations)}; {note.strength:.2f}): {note.text}")
        for note in shown
    ] or ["* No notes are linked with it."]
    return Answer(fenced("\n".join(lines)), NearNotes(notes=shown))


async def search_notes(asker: Asker, owner: Owner, given: FindNotesArguments) -> Answer:
    """Find notes by words and meaning, kind and tag."""
    page = await find_notes(
        asker.db,
        owner,
        asker.settings,
        embedder=asker.embedder,
        q=given.query,
        kind=given.kind,
        tag=given.tag,
        cursor=given.cursor,
        limit=given.limit,
    )
    shown = [
        ShownNote(
            id=f"n:{short_id(note.note_id)}",
            title=note.title,
            text=note.text[:NOTE_CHARS],
            kind=note.kind,
            tags=list(note.tags),
            matched=note.matched,
        )
        for note in page.items
    ]
    lines = [flat(f"[{note.id}] {note.title} ({', '.join((note.kind, *note.tags))}): {note.text}") for note in shown]
    if page.next_cursor:
        lines.append(f"* There is more. Call search_notes again with cursor={page.next_cursor}")
    content = ShownNotes(notes=shown, next_cursor=page.next_cursor, degraded=list(page.degraded))
    return Answer(fenced("\n".join(lines or ["* No notes."])), content)


TOOLS = (
    Tool(
        name="search_notes",
        description="Find notes by words and meaning, or by tag; without query the newest.",
        scope="read",
        given=FindNotesArguments,
        unlisted=frozenset({"kind", "limit"}),
        run=search_notes,
    ),
    Tool(
        name="explore",
        description="Walk the facts from a person, place, thing or note. 20 nodes a page.",
        scope="read",
        given=ExploreArguments,
        run=explore,
    ),
    Tool(
        name="create_note",
        description="Store a conclusion, critique (title asks, text answers) or plan (lines, [x] done). For what the "
        "user said, use remember.",
        scope="write",
        given=NoteArguments,
        unlisted=frozenset({"importance", "sources"}),
        run=create_note,
    ),
    Tool(
        name="create_link",
        description="Link two notes (or any nodes). A repeated call changes strength and reason.",
        scope="write",
        given=LinkArguments,
        unlisted=frozenset({"strength", "sources"}),
        run=create_link,
        idempotent=True,
    ),
    Tool(
        name="get_linked_notes",
        description="Notes that are linked with a note, nearest first.",
        scope="read",
        given=LinkedArguments,
        unlisted=frozenset({"radius", "relations", "limit"}),
        run=get_linked_notes,
    ),
)
