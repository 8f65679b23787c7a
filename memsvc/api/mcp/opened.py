"""Formats opened memories for a model, one line per item, each with a mark before the text that people wrote."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from memsvc.access.users import Owner
from memsvc.db.short_ids import short_id
from memsvc.graph.shown import FactVersion, Quote, ShownEdge, ShownFact, ShownNode
from memsvc.profiles.blocks import Block
from memsvc.recall.times_in_words import day, on_clock_of, since
from memsvc.sources.document_reads import ChunkPlace
from memsvc.sources.opening import OpenedMemory
from memsvc.sources.origins import place_in_words
from memsvc.sources.read import Message
from memsvc.text.characters import flat
from memsvc.times.untold import begin_is_untold, end_is_untold, span_in_words

MOST_FACTS = 25
"""How many facts of a node are shown. explore and recall find the others."""
SAYS = {
    "supports": "",
    "ends": " (it says that this ended)",
    "validated": " (it validates this)",
    "disputed": " (it disputes this)",
}
BY = {"supports": "from", "ends": "ended by", "validated": "validated by", "disputed": "disputed by"}
"""What a passage says of a fact, by the stance that it has as evidence."""
MOST_LINE_CHARS = 4_000
"""A longer message is cut. REST returns all of it."""


def opened_lines(opened: OpenedMemory, owner: Owner) -> list[str]:
    """Format a memory with the evidence it rests on."""
    zone = ZoneInfo(owner.time_zone)
    if opened.fact is not None:
        return _edge(opened.fact, zone)
    if opened.node is not None:
        return _node(opened.node, zone)
    if opened.block is not None:
        return block_lines(opened.block)
    if opened.document is not None:
        return _chunks(opened, opened.document)
    source = opened.source
    said = source.messages if source is not None else []
    lines = [f"# Conversation {flat(source.identifier)}"] if source is not None else []
    first = opened.message.passage_id if opened.message is not None else None
    lines += [message_line(message, mark="> " if message.passage_id == first else "") for message in said]
    return lines + _supported(opened)


def _supported(opened: OpenedMemory) -> list[str]:
    lines = [flat(f"[f:{short_id(fact.version_id)}] {fact.fact}{SAYS[fact.stance]}") for fact in opened.supports]
    return ["# Facts that rest on it", *lines] if lines else []


def _chunks(opened: OpenedMemory, place: ChunkPlace) -> list[str]:
    """Format a chunk of a document with those around it."""
    gone = ", gone" if place.gone else ""
    lines = [flat(f"# Document {place.title} ({place.path}, version {place.version}{gone})")]
    for chunk in opened.chunks:
        where = place_in_words("", chunk.headings, chunk.origin)
        text = flat(chunk.text)
        cut = f"{text[:MOST_LINE_CHARS]}…" if len(text) > MOST_LINE_CHARS else text
        mark = "> " if chunk.passage_id == opened.memory_id else ""
        said = flat(f"[m:{short_id(chunk.passage_id)}] {where}: “{cut}”")
        lines.append(f"{mark}{said}")
    return lines + _supported(opened)


def message_line(message: Message, mark: str = "") -> str:
    """Format a message: its id, time, speaker and text."""
    picture = f" [picture: {message.caption}]" if message.caption else ""
    text = flat(message.text)
    cut = f"{text[:MOST_LINE_CHARS]}…" if len(text) > MOST_LINE_CHARS else text
    when = f"{day(message.said_at)}, {message.said_at:%H:%M}"
    said = flat(f"[m:{short_id(message.passage_id)}] {when} {message.speaker or message.role}: “{cut}”{picture}")
    return f"{mark}{said}"


def block_lines(block: Block) -> list[str]:
    """Format a block of the profile: its lines and their evidence."""
    lines = [flat(f"[{block.id}] {block.name}, version {block.version} ({block.kind})")]
    lines += [f"| {flat(line)}" for line in block.text.splitlines()]
    return lines + [
        f"* Lines {', '.join(map(str, support.lines))} rest on [m:{short_id(support.passage_id)}]."
        for support in block.evidence
    ]


def span_words(
    valid_from: datetime | None,
    valid_to: datetime | None,
    zone: ZoneInfo,
    *,
    begin_untold: bool = False,
    end_untold: bool = False,
) -> str:
    """Format the bounds of valid time that are known, in brackets; a begin that nobody told is "known since"."""
    begin, end = (None if moment is None else since(moment, zone) for moment in (valid_from, valid_to))
    words = span_in_words(begin, end, begin_untold=begin_untold, end_untold=end_untold)
    return f" ({words})" if words else ""


def _span_of(fact: FactVersion | ShownFact, zone: ZoneInfo) -> str:
    return span_words(
        fact.valid_from,
        fact.valid_to,
        zone,
        begin_untold=begin_is_untold(fact.valid_from, fact.data),
        end_untold=end_is_untold(fact.valid_to, fact.data),
    )


def _sources(quotes: Sequence[Quote]) -> list[str]:
    return [flat(f"[m:{short_id(quote.passage_id)}] {BY[quote.stance]}: “{quote.quote}”") for quote in quotes]


def _edge(edge: ShownEdge, zone: ZoneInfo) -> list[str]:
    ends = (
        f"{edge.from_label or '?'} [n:{short_id(edge.from_node)}] {edge.type} "
        f"{edge.to_label or '?'} [n:{short_id(edge.to_node)}]"
    )
    lines = [flat(f"# {ends}")]
    for version in edge.versions:
        known = "" if version.recorded_to is None else " (corrected or taken back since)"
        span = _span_of(version, zone)
        doubt = ", contested" if version.contested else ""
        lines.append(flat(f"[f:{short_id(version.version_id)}] {version.fact}{span}{doubt}{known}"))
        lines += _sources(version.sources)
    return lines


def _node(node: ShownNode, zone: ZoneInfo) -> list[str]:
    names = ", ".join(dict.fromkeys(name.alias for name in node.aliases[:MOST_FACTS]))
    lines = [flat(f"[n:{short_id(node.node_id)}] {node.label or '?'} ({node.type or 'unknown type'})")]
    if node.description:
        lines.append(flat(f"about: {node.description[:MOST_LINE_CHARS]}"))
    if node.first_seen is not None and node.last_seen is not None:
        first, last = (day(on_clock_of(moment, zone)) for moment in (node.first_seen, node.last_seen))
        lines.append(f"* First spoken of {first}, last {last}.")
    lines += _sources([quote for version in node.versions[:1] for quote in version.sources])
    if names:
        lines.append(flat(f"also called: {names}"))
    lines += [fact_line(fact, zone) for fact in node.facts[:MOST_FACTS]]
    if len(node.facts) > MOST_FACTS or node.facts_cursor:
        lines.append("* There are more facts. Use explore to see them.")
    return lines


def fact_line(fact: ShownFact, zone: ZoneInfo) -> str:
    """Format a fact with its valid time and the ids of its evidence."""
    rests = ", ".join(f"m:{short_id(quote.passage_id)}" for quote in fact.sources if quote.stance == "supports")
    span = _span_of(fact, zone)
    doubt = ", contested" if fact.contested else ""
    return flat(f"[f:{short_id(fact.version_id)}] {fact.fact}{span}{doubt}{f' (from {rests})' if rests else ''}")
