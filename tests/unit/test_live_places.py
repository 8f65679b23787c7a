"""Where a reader of events is: nobody misses an event or is told twice, however transactions overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.db.paging import write_cursor
from memsvc.errors import BadCursorError
from memsvc.graph.events import Frame, Position, Seen

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

    def read(self, position: Position, limit: int) -> tuple[list[Event], Position]:
        """The first events after a position, and the position after them."""
        ordered = sorted(self.told)
        partly = int(str(position.values["transaction"]))
        begun = [one for one in ordered if one[0] == partly and one[1] > position.event]
        late = [one for one in ordered if one[0] in position.running and one[0] != partly]
        rest = [one for one in ordered if one[0] >= position.end and one[0] != partly]
        found = [*begun, *late, *rest][:limit]
        for event in found:
            assert not position.covers(*event)
            position = position.after(*event, 0, self.seen)
            assert position.covers(*event)
        return found, position if len(found) == limit else Position.of(self.seen)


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
    world, position, told = World(), Position.of(Seen(0)), []
    for what, number in steps:
        if what in {"read", "room"}:
            found, position = world.read(Position.read(position.cursor), limit)
            told += found
        else:
            happen(world, what, number)
    end(world)
    while (page := world.read(position, limit))[0]:
        told += page[0]
        position = page[1]
    assert sorted(told) == sorted(world.told)


@given(STEPS, st.integers(0, 20), st.integers(1, 3))
def test_who_leaves_a_room_with_any_of_its_cursors_goes_on_behind_it(
    steps: list[tuple[str, int]], joins: int, limit: int
) -> None:
    """A client catches up page by page; meanwhile and then it is offered what its room reads, from its own position."""
    world, room, client = World(), Position.of(Seen(0)), Position.of(Seen(0))
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


def test_a_transaction_that_ended_late_comes_before_the_first_one_that_began_later() -> None:
    """Else a client in a room, whose own position is older than the room's, takes the late one for read."""
    world = World()
    late, early = 10, 11
    world.begin()
    world.begin()
    world.write(early)
    world.commit(early)
    room = client = Position.of(Seen(10))
    told: list[Event] = []

    def read() -> None:
        nonlocal room, client
        seen = world.seen
        found, room = world.read(room, 100)
        for event in found:
            if not client.covers(*event):
                client = Frame(*event, 0, seen, "").after(client)
                told.append(event)

    read()
    world.begin()
    world.write(12)
    world.write(late)
    world.commit(12)
    world.commit(late)
    read()
    assert [transaction for transaction, _ in told] == [early, late, 12]


def test_cursors_of_releases_without_lists_mean_what_they_meant() -> None:
    event = UUID(int=7)
    position = Position.read(write_cursor((12, event, 1)))
    assert position.covers(11, UUID(int=9))
    assert position.covers(12, event)
    assert not position.covers(12, UUID(int=8))
    assert not position.covers(13, UUID(int=1))
    assert position.cursor == write_cursor((12, event, 1)), "and are written so where nothing is in the lists"


@pytest.mark.parametrize(
    "odd",
    [
        (1, UUID(int=0), 0, 2, []), (1, UUID(int=0), 0, 2, [0]), (3, UUID(int=0), 0, 2, [3]),
        (2, UUID(int=0), 0, 2, [-1]), (2**63, UUID(int=0), 0), (-1, UUID(int=0), 0), (2, UUID(int=0), 0, 2, [1], 1),
        (2, UUID(int=0), 0, 2.5, []), (20_000, UUID(int=0), 0, 20_000, list(range(1, 10_002))), (2, UUID(int=0)),
    ],
)  # fmt: skip
def test_a_cursor_that_names_no_position_is_refused(odd: tuple[object, ...]) -> None:
    with pytest.raises(BadCursorError):
        _ = Position.read(write_cursor(odd))
