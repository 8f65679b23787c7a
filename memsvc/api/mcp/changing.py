"""Tools that change the graph by intent, list its facts, and give feedback on recalls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from memsvc.access.users import Owner
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.opened import fact_line
from memsvc.api.mcp.references import SHORT_NODE, MessageIds, messages_called, node_called
from memsvc.api.mcp.tool import Answer, Content, Quoting, Tool
from memsvc.db.short_ids import short_id
from memsvc.errors import InvalidRequestError
from memsvc.graph import history
from memsvc.graph.describe import facts_about
from memsvc.graph.edit import correct_fact, correct_node
from memsvc.graph.history import Change
from memsvc.graph.operations import Alias, Close, Edge, Evidence, Node, Operation, Retract, Thread
from memsvc.graph.read import Side
from memsvc.identity.review import propose
from memsvc.recall.signals import feedback, memories_meant
from memsvc.sources.moments import read_as_of, read_known_at, read_moment
from memsvc.sources.opening import find_memory
from memsvc.text.characters import flat
from memsvc.text.fence import fenced

Action = Literal["add_node", "assert", "correct", "end", "retract", "alias", "propose_merge", "undo"]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Moment = Annotated[str, Meta(max_length=60)]
SPAN = frozenset({"valid_from", "valid_to", "sources"})
TAKEN: dict[Action, tuple[frozenset[str], frozenset[str]]] = {
    "add_node": (frozenset({"type", "name"}), SPAN | {"text"}),
    "assert": (frozenset({"node", "type", "other", "text"}), SPAN),
    "correct": (frozenset({"id"}), frozenset({"text", "name", "type", "sources"})),
    "end": (frozenset({"valid_to"}), frozenset({"id", "node", "name", "sources"})),
    "retract": (frozenset(), SPAN | {"id", "node", "name"}),
    "alias": (frozenset({"node", "name"}), SPAN),
    "propose_merge": (frozenset({"node", "other"}), frozenset()),
    "undo": (frozenset({"id"}), frozenset()),
}
"""What each action needs, and what it also takes."""


class ChangeArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of the graph."""

    action: Action
    id: Annotated[str, Meta(max_length=60, description="f:…, n:…; undo: change_id.")] | None = None
    node: Annotated[Name, Meta(description="n:… or a name.")] | None = None
    type: Annotated[Name, Meta(description="Such as Person or WORKS_AT.")] | None = None
    other: Name | None = None
    text: Annotated[str, Meta(max_length=8_000, description="The fact as a sentence.")] | None = None
    name: Name | None = None
    valid_from: Annotated[Moment, Meta(description="ISO 8601.")] | None = None
    valid_to: Moment | None = None
    sources: MessageIds = []


class FactsArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which facts to list."""

    about: Annotated[list[Name], Meta(min_length=1, max_length=20, description="n:… or names.")]
    types: Annotated[list[Name], Meta(max_length=20)] | None = None
    as_of: Annotated[Moment, Meta(description="When it was true, or always; default now.")] | None = None
    known_at: Moment | None = None
    side: Side = "both"
    limit: Annotated[int, Meta(ge=1, le=50)] = 20
    cursor: Annotated[str, Meta(max_length=2_000)] | None = None


class FeedbackArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which memories of a recall helped."""

    recall_id: UUID
    used: Annotated[list[Annotated[str, Meta(max_length=60)]], Meta(max_length=100, description="Ids.")] = []
    irrelevant: Annotated[list[Annotated[str, Meta(max_length=60)]], Meta(max_length=100)] = []


class Changed(Content, frozen=True, kw_only=True):
    """What became of a change."""

    outcome: str
    """written, known, closed, unchanged, erased, superseded, proposed or undone."""
    change_id: str | None
    """undo takes it; None: the graph was not changed."""
    id: str | None
    """The node (n:…) or the fact (f:…)."""


class ListedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact."""

    id: str
    type: str
    from_node: str
    to_node: str
    fact: str
    valid_from: str | None
    valid_to: str | None
    contested: bool
    sources: list[str]


class Facts(Quoting, frozen=True, kw_only=True):
    """Facts, newest valid time first."""

    facts: list[ListedFact]
    ambiguous: list[str]
    """Names that several nodes have; facts of all of them are listed."""
    next_cursor: str | None


class Judged(Content, frozen=True, kw_only=True):
    """The feedback that counts now."""

    used: int
    irrelevant: int
    changed: int
    erased: int
    """How many of the memories are gone."""


def _checked(given: ChangeArguments) -> None:
    """Refuse arguments that the action lacks or does not take.

    Raises:
        InvalidRequestError: ``field`` names the first one.
    """
    needed, more = TAKEN[given.action]
    sent = {name for name in ChangeArguments.__struct_fields__[1:] if getattr(given, name)}
    missing, strange = sorted(needed - sent), sorted(sent - needed - more)
    if missing or strange:
        takes = f" It also takes {', '.join(sorted(more))}." if more else ""
        raise InvalidRequestError(
            f"{given.action} needs {missing[0]}." if missing else f"{given.action} does not take {strange[0]}.",
            hint=f"It needs {', '.join(sorted(needed)) or 'an id, or node and name'}.{takes}",
            field=(missing or strange)[0],
        )


async def change_graph(asker: Asker, owner: Owner, given: ChangeArguments) -> Answer:
    """Do one change. Each is a function that REST calls, too."""
    _checked(given)
    if given.action == "propose_merge":
        node, other = [await node_called(asker.db, owner, name or "") for name in (given.node, given.other)]
        await propose(asker.db, owner, node, other, by=asker.decided_by)
        return Answer(
            "Proposed: a person decides on it.", Changed(outcome="proposed", change_id=None, id=f"n:{short_id(node)}")
        )
    change = await _changed(asker, owner, given)
    result = change.results[0] if change.results else None
    known = None
    if result is not None and result.edge_id is not None and result.versions:
        known = f"f:{short_id(result.versions[-1])}"
    elif result is not None and result.node_id is not None:
        known = f"n:{short_id(result.node_id)}"
    outcome = "undone" if given.action == "undo" else result.outcome if result is not None else "unchanged"
    text = f"{outcome}{f': {known}' if known else ''}. To undo it: action undo, id {change.change_id}."
    return Answer(text, Changed(outcome=outcome, change_id=str(change.change_id), id=known))


async def _changed(asker: Asker, owner: Owner, given: ChangeArguments) -> Change:
    by, evidence = asker.decided_by, await messages_called(asker.db, owner, given.sources)
    since, until = [read_moment(getattr(given, end), owner, end) for end in ("valid_from", "valid_to")]
    span: dict[str, Any] = {"valid_from": since, "valid_to": until, "evidence": evidence}
    match given:
        case ChangeArguments(action="undo", id=str(change)):
            return await history.undo(asker.db, owner, _change_id(change), asserted_by=by)
        case ChangeArguments(action="correct", id=str(asked)):
            return await _corrected(asker, owner, given, asked, evidence)
        case ChangeArguments(action="end" | "retract"):
            thread, version = await _thread(asker, owner, given)
            if given.action == "end" and thread.edge is not None:
                return await correct_fact(
                    asker.db, owner, thread.edge, {},
                    asserted_by=by, version_id=version, ended_at=until, evidence=evidence,
                )  # fmt: skip
            operation: Operation = Retract(thread=thread, **span)
            if given.action == "end" and until is not None:
                operation = Close(thread=thread, at=until, evidence=evidence)
        case _:
            operation = await _asserted(asker, owner, given, span)
    return await history.write(asker.db, owner, [operation], asserted_by=by)


async def _asserted(asker: Asker, owner: Owner, given: ChangeArguments, span: Mapping[str, Any]) -> Operation:
    """The operation of a change that adds something. ``_checked`` has found what it needs."""
    kind, name, text = given.type or "", given.name or "", given.text or ""
    if given.action == "add_node":
        return Node(type=kind, label=name, description=text, **span)
    node = await node_called(asker.db, owner, given.node or "")
    if given.action == "alias":
        return Alias(node=node, alias=name, **span)
    other = await node_called(asker.db, owner, given.other or "")
    return Edge(from_node=node, type=kind, to_node=other, fact=text, **span)


async def _corrected(
    asker: Asker, owner: Owner, given: ChangeArguments, asked: str, evidence: Sequence[Evidence]
) -> Change:
    by = asker.decided_by
    memory = await find_memory(asker.db, owner, asked)
    named = {"type": given.type, "label": given.name, "description": given.text}
    content = {name: value for name, value in named.items() if value}
    match memory.kind:
        case "fact" if set(content) == {"description"}:
            edge, fact = memory.belongs_to, {"fact": given.text}
            return await correct_fact(
                asker.db, owner, edge, fact, asserted_by=by, version_id=memory.memory_id, evidence=evidence
            )
        case "node" if content:
            return await correct_node(asker.db, owner, memory.memory_id, content, asserted_by=by, evidence=evidence)
        case _:
            raise InvalidRequestError(
                "A fact (f:…) is corrected with text, a node (n:…) with name, type or text.",
                hint="Messages are not corrected: forget them, or remember what is right.",
                field="id",
            )


async def _thread(asker: Asker, owner: Owner, given: ChangeArguments) -> tuple[Thread, UUID | None]:
    """What is ended or retracted: a fact, with the version that the id names, or a name of a node."""
    match given:
        case ChangeArguments(id=str(asked), node=None, name=None):
            memory = await find_memory(asker.db, owner, asked)
            if memory.kind == "fact":
                return Thread(edge=memory.belongs_to), memory.memory_id
        case ChangeArguments(id=None, node=str(node), name=str(name)):
            return Thread(node=await node_called(asker.db, owner, node), alias=name), None
    raise InvalidRequestError(
        f"{given.action} needs the id of a fact (f:…), or a node and its name.", hint="Send one of the two.", field="id"
    )


def _change_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        raise InvalidRequestError(
            f"{given!r} is not the id of a change.", hint="Send change_id of the answer.", field="id"
        ) from None


async def list_facts(asker: Asker, owner: Owner, given: FactsArguments) -> Answer:
    """List facts by filter."""
    about = [
        str(await node_called(asker.db, owner, name)) if SHORT_NODE.fullmatch(name.strip()) else name
        for name in given.about
    ]
    page = await facts_about(
        asker.db,
        owner,
        about,
        types=given.types,
        as_of=read_as_of(given.as_of, owner),
        known_at=read_known_at(given.known_at, owner),
        side=given.side,
        cursor=given.cursor,
        limit=given.limit,
    )
    zone = ZoneInfo(owner.time_zone)
    lines = [fact_line(fact, zone) for fact in page.items] or ["* No facts."]
    lines += [flat(f"* Several nodes are called {one.name}; these are the facts of all.") for one in page.ambiguous]
    if page.next_cursor:
        lines.append(f"* There is more. Call list_facts again with cursor={page.next_cursor}")
    facts = [
        ListedFact(
            id=f"f:{short_id(fact.version_id)}",
            type=fact.type,
            from_node=f"n:{short_id(fact.from_node)}",
            to_node=f"n:{short_id(fact.to_node)}",
            fact=fact.fact,
            valid_from=fact.valid_from.isoformat() if fact.valid_from else None,
            valid_to=fact.valid_to.isoformat() if fact.valid_to else None,
            contested=fact.contested,
            sources=[f"m:{short_id(quote.passage_id)}" for quote in fact.sources],
        )
        for fact in page.items
    ]
    names = [one.name for one in page.ambiguous]
    return Answer(fenced("\n".join(lines)), Facts(facts=facts, ambiguous=names, next_cursor=page.next_cursor))


async def give_feedback(asker: Asker, owner: Owner, given: FeedbackArguments) -> Answer:
    """Record which memories of a recall were used and which were irrelevant."""
    used, irrelevant = [
        await memories_meant(asker.db, owner, given.recall_id, asked) for asked in (given.used, given.irrelevant)
    ]
    receipt = await feedback(asker.db, owner, given.recall_id, used=used, irrelevant=irrelevant)
    content = Judged(
        used=len(receipt.used),
        irrelevant=len(receipt.irrelevant),
        changed=receipt.changed,
        erased=len(receipt.erased),
    )
    return Answer(f"Noted: {content.used} used, {content.irrelevant} irrelevant.", content)


TOOLS = (
    Tool(
        name="list_facts",
        description="Facts about people or things, newest first, by type and time.",
        scope="read",
        given=FactsArguments,
        unlisted=frozenset({"side", "limit", "known_at"}),
        run=list_facts,
    ),
    Tool(
        name="change_graph",
        description="add_node: type, name. assert: node, type, other, text (supersedes what it contradicts). correct: "
        "id, text. end: id (or node, name), valid_to. retract: it was never true. alias: node, name. "
        "propose_merge: node, other. All can be undone.",
        scope="write",
        given=ChangeArguments,
        run=change_graph,
    ),
    Tool(
        name="give_feedback",
        description="Say which memories of an answer helped; later recalls heed it.",
        scope="read",
        given=FeedbackArguments,
        run=give_feedback,
        idempotent=True,
    ),
)
