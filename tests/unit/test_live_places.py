"""Where a reader of events is: nobody misses an event or is told twice, however transactions overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.db.paging import write_cursor
from memsvc.errors import BadCursorError
from memsvc.graph.events import Frame, Place, Seen

Event = tuple[int, UUID]
"""Transaction and id."""


@dataclass
class World:
    """Transactions, and what they have written; a model of what ``memsvc.live_events`` reads."""

    end: int = 10
    running: dict[int, list[Event]] = field(default_factory=dict)
    told: list[Event] = field(default_factory=list)
    """What is committed."""
    written: int = 0

    @property
    def seen(self) -> Seen:
        """What has ended now."""
        return Seen(self.end, tuple(sorted(self.running)))

    def begin(self) -> None:
        self.running[self.end] = []
        self.end += 1

    def write(self, transaction: int) -> None:
        self.written += 1
        self.running[transaction].append((transaction, UUID(int=self.written)))

    def commit(self, transaction: int) -> None:
        self.told += self.running.pop(transaction)

    def read(self, place: Place, limit: int) -> tuple[list[Event], Place]:
        """The first events behind a place, and where that leads."""
        ordered = sorted(self.told)
        begun = [one for one in ordered if one[0] == place.transaction and one[1] > place.event]
        late = [one for one in ordered if one[0] in place.running and one[0] != place.transaction]
        rest = [one for one in ordered if one[0] >= place.end and one[0] != place.transaction]
        found = [*begun, *late, *rest][:limit]
        for event in found:
            assert not place.covers(*event)
            place = place.after(*event, 0, self.seen)
            assert place.covers(*event)
        return found, place if len(found) == limit else Place.of(self.seen)


STEPS = st.lists(st.tuples(st.sampled_from(["begin", "write", "write", "commit", "read", "room"]), st.integers(0, 20)))


def happen(world: World, what: str, number: int) -> None:
    """One step of the writers."""
    running = sorted(world.running)
    if what == "begin" or not running:
        world.begin()
    elif what == "write":
        world.write(running[number % len(running)])
    elif what == "commit":
        world.commit(running[number % len(running)])


def end(world: World) -> None:
    """All commit."""
    for transaction in sorted(world.running):
        world.commit(transaction)


@given(STEPS, st.integers(1, 3))
def test_who_reads_page_by_page_is_told_of_each_event_once(steps: list[tuple[str, int]], limit: int) -> None:
    world, place, told = World(), Place.of(Seen(0)), []
    for what, number in steps:
        if what in {"read", "room"}:
            found, place = world.read(Place.read(place.cursor), limit)
            told += found
        else:
            happen(world, what, number)
    end(world)
    while (page := world.read(place, limit))[0]:
        told += page[0]
        place = page[1]
    assert sorted(told) == sorted(world.told)


@given(STEPS, st.integers(0, 20), st.integers(1, 3))
def test_who_leaves_a_room_with_any_of_its_cursors_goes_on_behind_it(
    steps: list[tuple[str, int]], joins: int, limit: int
) -> None:
    """A client catches up page by page; meanwhile and then it is offered what its room reads, from its own place."""
    world, room, client = World(), Place.of(Seen(0)), Place.of(Seen(0))
    told: list[Event] = []
    offered: list[Frame] = []
    caught_up = False
    for step, (what, number) in enumerate(steps):
        if what == "read" and step >= joins:
            if not caught_up:
                found, client = world.read(client, limit)
                told += found
                caught_up = len(found) < limit
            for frame in offered if caught_up else ():
                if not client.covers(frame.transaction, frame.event):
                    client = frame.after(client)
                    told.append((frame.transaction, frame.event))
            offered = [] if caught_up else offered
        elif what in {"read", "room"}:
            seen = world.seen
            found, room = world.read(room, limit)
            offered += [Frame(*event, 0, seen, "") for event in found if step >= joins]
        else:
            happen(world, what, number)
    end(world)
    while (page := world.read(client, limit))[0]:
        told += page[0]
        client = page[1]
    assert sorted(told) == sorted(world.told)


def test_cursors_of_releases_without_lists_mean_what_they_meant() -> None:
    event = UUID(int=7)
    place = Place.read(write_cursor((12, event, 1)))
    assert place.covers(11, UUID(int=9))
    assert place.covers(12, event)
    assert not place.covers(12, UUID(int=8))
    assert not place.covers(13, UUID(int=1))
    assert place.cursor == write_cursor((12, event, 1)), "and are written so where nothing is in the lists"


@pytest.mark.parametrize(
    "odd",
    [
        (1, UUID(int=0), 0, 2, []), (1, UUID(int=0), 0, 2, [0]), (3, UUID(int=0), 0, 2, [3]),
        (2, UUID(int=0), 0, 2, [-1]), (2**63, UUID(int=0), 0), (-1, UUID(int=0), 0), (2, UUID(int=0), 0, 2, [1], 1),
        (2, UUID(int=0), 0, 2.5, []), (20_000, UUID(int=0), 0, 20_000, list(range(1, 10_002))), (2, UUID(int=0)),
    ],
)  # fmt: skip
def test_a_cursor_that_names_no_place_is_refused(odd: tuple[object, ...]) -> None:
    with pytest.raises(BadCursorError):
        _ = Place.read(write_cursor(odd))
