"""Resources: what a client can show a model without a tool call. All are fenced text, read again each time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memsvc.access.users import Owner, own_names, valid_zone
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.opened import message_line, opened_lines
from memsvc.db.short_ids import short_id
from memsvc.errors import NotFoundError
from memsvc.graph.diff import diff
from memsvc.graph.ontology import ontology
from memsvc.profiles.blocks import CORE_TOKENS
from memsvc.recall.context import ContextOptions, build_context
from memsvc.recall.items import memory_item
from memsvc.recall.render_text import TextRenderer
from memsvc.recall.salient import top_of_mind
from memsvc.recall.times_in_words import day, on_clock_of
from memsvc.sleep.report import report
from memsvc.sleep.report_text import markdown
from memsvc.sources.opening import open_memory
from memsvc.sources.read import messages_said
from memsvc.text.characters import flat
from memsvc.text.fence import fenced

SCHEME = "memsvc://"
MEMORY = f"{SCHEME}memory/"
SALIENT = 15
SAID_TODAY, LEARNT_TODAY = 30, 30
PROFILE_TOKENS = 3 * CORE_TOKENS
"""Core memory gets a share of this budget that is large enough for all of it."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource."""

    uri: str
    title: str
    description: str
    read: Callable[[Asker, Owner], Awaitable[str]]

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.uri.removeprefix(SCHEME)


def _now(owner: Owner) -> datetime:
    return on_clock_of(datetime.now(UTC), valid_zone(owner.time_zone))


async def read_ontology(asker: Asker, owner: Owner) -> str:
    """The types of nodes and edges that can be used, each with its count. Types that wait for approval are left out."""
    known = await ontology(asker.db, owner)
    usable = {"core", "approved"}
    lines = ["# Types of people and things"]
    lines += [f"{one.name} ({one.nodes:,}): {one.description}" for one in known.node_types if one.status in usable]
    lines.append("# Types of facts")
    lines += [f"{one.name} ({one.facts:,}): {one.description}" for one in known.edge_types if one.status in usable]
    return fenced("\n".join(flat(line) for line in lines))


async def read_profile(asker: Asker, owner: Owner) -> str:
    """What belongs in every prompt: who the user is, and what every context contains."""
    me = await own_names(asker.db, owner)
    options = ContextOptions(
        budget_tokens=PROFILE_TOKENS, memories=False, salient=0, chance=False, neighbours=False, instructions=()
    )
    built = await build_context(asker.db, owner, "", asker.settings, options=options)
    who = fenced(flat(f"[n:{short_id(me.node_id)}] {me.label}, also called: {', '.join(me.aliases)}"))
    return f"{who}\n{built.text}"


async def read_top_of_mind(asker: Asker, owner: Owner) -> str:
    """What matters without a query."""
    now, zone = _now(owner), valid_zone(owner.time_zone)
    found = await top_of_mind(asker.db, owner, limit=SALIENT)
    line = TextRenderer(now).item
    return fenced(
        "\n".join(line(memory_item(memory, now, zone), grouped=False) for memory in found) or "* Nothing yet."
    )


async def read_today(asker: Asker, owner: Owner) -> str:
    """The user's day: what was said, and which facts changed."""
    now = _now(owner)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    said = await messages_said(asker.db, owner, since=midnight, until=midnight + timedelta(days=1), limit=SAID_TODAY)
    learnt = await diff(asker.db, owner, midnight.astimezone(UTC), kinds=["edge"], limit=LEARNT_TODAY)
    lines = [f"* It is {now:%A}, {day(now)}, {now:%H:%M} ({owner.time_zone}).", "# Said today"]
    lines += [message_line(message) for message in said] or ["* Nothing."]
    lines.append("# Facts that changed today")
    for one in learnt.items:
        for version in (one.after or one.before)[:1]:
            lines.append(flat(f"[f:{short_id(version.id)}] {one.change}: {version.content.get('fact', '')}"))
    return fenced("\n".join(lines))


async def read_sleep_report(asker: Asker, owner: Owner) -> str:
    """What happened in the last night."""
    zone = valid_zone(owner.time_zone)
    return fenced(markdown(await report(asker.db, owner), zone))


RESOURCES = (
    Resource(
        f"{SCHEME}profile",
        "Profile",
        "Who the user is, and what belongs in every prompt.",
        read_profile,
    ),
    Resource(f"{SCHEME}today", "Today", "Today's date, what was said today, and which facts changed.", read_today),
    Resource(
        f"{SCHEME}top-of-mind",
        "Top of mind",
        "What matters without a query: memories that are new, important or often recalled.",
        read_top_of_mind,
    ),
    Resource(
        f"{SCHEME}sleep-report",
        "Sleep report",
        "What sleep mode did in the last night: what was learnt, merged and summarised, what is due today, and what "
        "waits for a person.",
        read_sleep_report,
    ),
    Resource(
        f"{SCHEME}ontology",
        "Ontology",
        "The types of people, things and facts, and how many there are of each.",
        read_ontology,
    ),
)
BY_URI = {resource.uri: resource for resource in RESOURCES}


async def read(asker: Asker, uri: str) -> str:
    """Return the text of a resource.

    Raises:
        NotFoundError: no resource has this address.
        MemsvcError: the caller may not read, or a memory cannot be opened.
    """
    owner = asker.owner("read")
    if uri in BY_URI:
        return await BY_URI[uri].read(asker, owner)
    if not uri.startswith(MEMORY):
        raise NotFoundError("No resource has this address.", hint="List the resources to see their addresses.")
    opened = await open_memory(asker.db, owner, uri.removeprefix(MEMORY))
    return fenced("\n".join(opened_lines(opened, owner)))
