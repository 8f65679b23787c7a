"""What a calendar says, in the graph: each event is a node of type Event, with facts about its place and its people.

An event's node has an id that is made of the user, the calendar and the event, so reading the calendar again finds it.
The feed's cursor has a digest of each event; only what has changed is written. A batch of events and the cursor are one
transaction, so a run that is killed goes on and does nothing twice. What a person corrected stays until the calendar
changes it; an event that a person erased is not made again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID, uuid5

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.access.users import Owner, SelfNode, valid_zone
from memsvc.db.engine import EVENTS, Database
from memsvc.db.files import query
from memsvc.feeds.icalendar import Calendar, Event, Person
from memsvc.graph.history import write_in
from memsvc.graph.operations import MAX_NAME_CHARS, MAX_TEXT_CHARS, Edge, Location, Node, Operation, Retract, Thread
from memsvc.graph.search import glance
from memsvc.text.characters import flat, is_visible

AHEAD, BEHIND = timedelta(days=90), timedelta(days=1)
"""Which times of events that recur are written: those that begin within this time, from now and until now."""
MOST_EVENTS = 10_000
BATCH = 200
"""Operations in one transaction, and those of the event that passes this number."""
MOST_NAMESAKES = 5
MOMENT = timedelta(minutes=1)
"""How long an event without a length holds."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
UNNAMED = "Event without a name"

Known = dict[str, list[str]]
"""The events that were read, by the hexadecimal id of their node: digest, and when they begin."""


@dataclass(slots=True)
class Applying:
    """A calendar on its way into the graph."""

    db: Database
    owner: Owner
    own: SelfNode
    me: frozenset[str]
    """Names and addresses of the owner, casefolded."""
    feed: Mapping[str, Any]
    """Values of the feed's statements: user_id, feed_id and ingest_id."""
    identifier: str
    cursor: dict[str, Any]
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def zone(self) -> tzinfo:
        """The owner's time zone."""
        return valid_zone(self.owner.time_zone)

    @property
    def asserted_by(self) -> str:
        """Who says it: the calendar, whatever it is called."""
        return f"calendar:{self.id_of('calendar').hex[:12]}"

    def id_of(self, *parts: str) -> UUID:
        """Return the id of something in this calendar."""
        return uuid5(self.owner.user_id, "\0".join((self.identifier, *parts)))

    async def apply(self, calendar: Calendar, now: datetime) -> Counter[str]:
        """Write what is new, changed, cancelled or gone; return how many events each were.

        Raises:
            MemsvcError: the database cannot be used; what was written is kept.
        """
        known: Known = dict(self.cursor.get("events", {}))
        seen: set[str] = set()
        batch = _Batch()
        for event in calendar.events(now - BEHIND, now + AHEAD):
            if len(seen) >= MOST_EVENTS:
                calendar.odd[f"events after the first {MOST_EVENTS:,}"] += 1
                continue
            key = self.id_of(event.uid, event.recurrence).hex
            seen.add(key)
            digest = _digest(event, self.owner.time_zone)
            if known.get(key, ("",))[0] == digest:
                self.counts["unchanged_events"] += 1
                continue
            batch.events.append((key, event, key in known))
            known[key] = [digest, event.starts.isoformat()]
            if batch.size >= BATCH:
                await self._write(batch, known)
                batch = _Batch()
        gone = [key for key in known if key not in seen]
        for key in gone:
            begins = datetime.fromisoformat(known[key][1])
            if begins < now:
                del known[key]  # it was, and the calendar need not say so for ever
            elif not calendar.odd:  # else it may be among those that could not be read
                batch.gone.append(key)
                del known[key]
        await self._write(batch, known)
        self.db.notify(EVENTS)
        return self.counts

    async def _write(self, batch: _Batch, known: Known) -> None:
        """Write a batch, and that it was read, in one transaction."""
        done: Counter[str] = Counter()

        async def work(connection: AsyncConnection) -> None:
            done.clear()
            for operations in await self._operations(connection, batch, done):
                await write_in(connection, self.owner, operations, asserted_by=self.asserted_by)
            cursor = msgspec.json.encode({**self.cursor, "events": known}).decode()
            await connection.execute(query("set_feed_cursor"), {**self.feed, "cursor": cursor})

        await self.db.attempt(self.owner.user_id, work)
        self.counts.update(done)

    async def _operations(
        self, connection: AsyncConnection, batch: _Batch, done: Counter[str]
    ) -> list[list[Operation]]:
        """Return the operations of a batch: none, or all of them as one batch of the history."""
        ids = [UUID(key) for key, _, _ in batch.events] + [UUID(key) for key in batch.gone]
        if not ids:
            return []
        values = {"user_id": self.owner.user_id, "nodes": ids}
        there = set((await connection.execute(query("known_nodes"), values)).scalars())
        asked = {**values, "asserted_by": self.asserted_by}
        facts = (await connection.execute(query("facts_of_calendar"), asked)).all()
        others = await self._others(connection, [event for _, event, _ in batch.events])
        operations: list[Operation] = []
        for key, event, is_known in batch.events:
            node = UUID(key)
            if is_known and node not in there:
                done["erased_events"] += 1
                continue
            done["cancelled_events" if event.cancelled else "changed_events" if is_known else "new_events"] += 1
            before = {
                (row.from_node, row.type, row.to_node): row for row in facts if node in {row.from_node, row.to_node}
            }
            operations.append(self._node(node, event, make=not is_known))
            wanted = [] if event.cancelled else list(self._facts(node, event, others, operations))
            same = {
                (edge.from_node, edge.type, edge.to_node)
                for edge in wanted
                if (row := before.get((edge.from_node, edge.type, edge.to_node))) is not None
                and (row.fact, row.valid_from, row.valid_to) == (edge.fact, edge.valid_from, edge.valid_to)
            }
            operations += [Retract(thread=Thread(edge=row.edge_id)) for ends, row in before.items() if ends not in same]
            operations += [edge for edge in wanted if (edge.from_node, edge.type, edge.to_node) not in same]
        for key in batch.gone:
            node = UUID(key)
            if node in there:
                done["cancelled_events"] += 1
                operations += [
                    Retract(thread=Thread(edge=row.edge_id)) for row in facts if node in {row.from_node, row.to_node}
                ]
                operations.append(Retract(thread=Thread(node=node)))
        return [operations] if operations else []

    def _node(self, node: UUID, event: Event, *, make: bool) -> Node:
        starts, ends = event.starts.astimezone(self.zone), event.ends.astimezone(self.zone)
        name = flat(event.summary) if is_visible(event.summary) else UNNAMED
        when = _when(starts, ends, all_day=event.all_day)
        people = [flat(one.name or one.address) for one in event.people if not one.declined][:20]
        place = f", at {flat(event.location)}" if is_visible(event.location) else ""
        told = f"{name}: {when}{place}{', with ' + ', '.join(people) if people else ''}."
        if event.cancelled:
            told = f"{name}, {when}, was cancelled."
        description = f"{told}\n{event.description}".strip().replace("\0", "")[:MAX_TEXT_CHARS]
        begins = starts.date().isoformat() if event.all_day else starts.isoformat()
        data = {
            "was_to_start_at" if event.cancelled else "starts_at": begins,
            "ends_at": (ends - timedelta(days=1)).date().isoformat() if event.all_day else ends.isoformat(),
            "state": "cancelled" if event.cancelled else "planned",
            "calendar": self.asserted_by,
        }
        label = f"{name[: MAX_NAME_CHARS - 20]} ({starts.date().isoformat()})"
        return Node(node=node, make=make, type="Event", label=label, description=description, data=data)

    def _facts(
        self, node: UUID, event: Event, others: Mapping[str, UUID], operations: list[Operation]
    ) -> Iterator[Edge]:
        """Yield the facts of an event, and add nodes that nobody has made yet to the operations."""
        starts, ends = event.starts, max(event.ends, event.starts + MOMENT)
        name = flat(event.summary) if is_visible(event.summary) else UNNAMED
        on = f"“{name[:MAX_NAME_CHARS]}” on {_day(starts.astimezone(self.zone))}"
        if is_visible(event.location):
            place = flat(event.location)[:MAX_NAME_CHARS]
            found = others.get(f"Place {place.casefold()}")
            if found is None:
                found = self.id_of("place", place.casefold())
                operations.append(Node(node=found, make=True, type="Place", label=place))
                if event.place is not None:
                    operations.append(Location(node=found, latitude=event.place[0], longitude=event.place[1]))
            yield Edge(
                from_node=node, type="LOCATED_AT", to_node=found, fact=f"{on} is at {place}.", valid_from=starts,
                valid_to=ends,
            )  # fmt: skip
        already: set[UUID] = set()
        for person in event.people:
            if person.declined:
                continue
            label = flat(person.name or person.address)[:MAX_NAME_CHARS]
            if not is_visible(label):
                continue
            found = self.own.node_id if self._is_me(person) else others.get(f"Person {label.casefold()}")
            if found is None:
                found = self.id_of("person", person.address or label.casefold())
                if found not in already:
                    operations.append(Node(node=found, make=True, type="Person", label=label))
            if found in already:
                continue
            already.add(found)
            yield Edge(
                from_node=found, type="PARTICIPATED_IN", to_node=node, fact=f"{label} takes part in {on}.",
                valid_from=starts, valid_to=ends,
            )  # fmt: skip

    def _is_me(self, person: Person) -> bool:
        return person.address in self.me or person.name.casefold() in self.me

    async def _others(self, connection: AsyncConnection, events: Sequence[Event]) -> dict[str, UUID]:
        """Return known places and people by type and name; a name that several have is nobody's."""
        wanted = {
            *(("Place", flat(one.location)[:MAX_NAME_CHARS]) for one in events if is_visible(one.location)),
            *(
                ("Person", flat(person.name or person.address)[:MAX_NAME_CHARS])
                for one in events
                for person in one.people
            ),
        }
        names = sorted({name for _, name in wanted if is_visible(name)})
        if not names:
            return {}
        values = {"user_id": self.owner.user_id, "names": names, "known_at": None, "limit": MOST_NAMESAKES}
        rows = (await connection.execute(query("nodes_named"), values)).all()
        cards = await glance(connection, self.owner, [row.canonical_id for row in rows])
        found: dict[str, set[UUID]] = {}
        for row in rows:
            card = cards.get(row.canonical_id)
            if card is not None and card.type is not None:
                found.setdefault(f"{card.type} {row.name.casefold()}", set()).add(card.node_id)
        return {key: next(iter(nodes)) for key, nodes in found.items() if len(nodes) == 1}


@dataclass(slots=True)
class _Batch:
    """Events that are written together."""

    events: list[tuple[str, Event, bool]] = field(default_factory=list)
    """Key, event, and whether it was read before."""
    gone: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """About how many operations they need: those before, and those now."""
        return sum(2 * (3 + 2 * len(event.people)) for _, event, _ in self.events)


def _digest(event: Event, zone: str) -> str:
    return hashlib.sha256(msgspec.json.encode([event, zone])).hexdigest()[:16]


def _day(moment: datetime) -> str:
    return f"{WEEKDAYS[moment.weekday()]}, {moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _when(starts: datetime, ends: datetime, *, all_day: bool) -> str:
    """Return when an event is, in words, on the owner's clock."""
    if all_day:
        last = (ends - timedelta(days=1)).astimezone(starts.tzinfo)
        return _day(starts) if last.date() <= starts.date() else f"{_day(starts)} to {_day(last)}"
    if ends.date() == starts.date():
        return f"{_day(starts)}, {starts:%H:%M}" + (f" to {ends:%H:%M}" if ends != starts else "")
    return f"{_day(starts)}, {starts:%H:%M} to {_day(ends)}, {ends:%H:%M}"


def now() -> datetime:
    """Return the moment at which a calendar is read."""
    return datetime.now(UTC)
