"""Which turns are read together after a window could not be."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from memsvc.errors import LlmSlowError
from memsvc.extract.dividing import Sizes, divide, part_of
from memsvc.extract.unread import NOTHING, Turns
from memsvc.extract.window import Turn


def window(count: int) -> Turns:
    said_at = datetime(2026, 5, 1, tzinfo=UTC)
    turns = (
        Turn(passage_id=UUID(int=place), speaker="Ada", role="user", text="Hello", said_at=said_at)
        for place in range(1, count + 1)
    )
    return Turns(turns=tuple(turns), before=(), upto=NOTHING)


def test_it_is_halved_until_one_turn_is_passed_over() -> None:
    whole, most, read = window(4), Sizes(), []
    while (part := part_of(whole, most)).passages[0] == UUID(int=1):
        read.append(len(part.turns))
        assert divide(part, whole, most, LlmSlowError("The model is slow."))
    assert read == [4, 2, 1]
    assert part.over == (UUID(int=1),)


def test_what_is_left_of_a_window_whose_other_turns_went_is_tried_again() -> None:
    """The only turn behind those that cannot be read was erased."""
    whole = window(2)
    part = part_of(whole, {UUID(int=1): 0, UUID(int=2): 0})
    assert (part.over, part.passages) == ((UUID(int=1),), [UUID(int=2)])
