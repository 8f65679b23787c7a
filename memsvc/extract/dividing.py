"""Which turns are read together after a window could not be: halves where it was too much, else one turn at a time.

What was learnt is kept by a process, in ``Sizes``: after a restart the window is tried as a whole once more.
"""

from __future__ import annotations

from itertools import takewhile
from uuid import UUID

import msgspec
import structlog

from memsvc.errors import LlmContextError, LlmCutOffError, LlmSlowError, MemsvcError
from memsvc.extract.unread import Turns
from memsvc.observe import said
from memsvc.queue.execution import OF_THE_DATABASE

MOST_PASSED_OVER = 5
"""Turns in a row that may be passed over. Where not even the next one can be read, the reader is at fault."""
TOO_MUCH = (LlmSlowError, LlmCutOffError, LlmContextError)
"""Fewer turns may be read where these were raised."""
Sizes = dict[UUID, int]
"""How many turns may be read together, from this passage on; 0: not even this one alone. Others: a whole window."""
log = structlog.get_logger()


def part_of(window: Turns, most: Sizes) -> Turns:
    """The part of a window that is read next; turns before it that cannot be read are passed over, but not the last."""
    over = tuple(takewhile(lambda passage: most.get(passage) == 0, window.passages[:-1]))
    turns = window.turns[len(over) :]
    number = most.get(turns[0].passage_id, len(turns)) or 1
    return msgspec.structs.replace(window, turns=turns[:number], over=over)


def divide(part: Turns, window: Turns, most: Sizes, error: Exception) -> bool:
    """Note in ``most`` that a part of a window could not be read; False: there is nothing smaller to be tried.

    Args:
        part: what could not be read; see ``part_of``.
        window: all that may be read now.
        most: what is known of the window's turns.
        error: why.
    """
    if _passes(error):
        return False
    number = len(part.turns)
    if number > 1:
        size = half(number) if isinstance(error, TOO_MUCH) else 1
        most.update(dict.fromkeys(part.passages, size))
        log.warning("a window cannot be read", turns=number, then=size, **_why(error))
        return True
    over = len(part.over) + 1
    if over > MOST_PASSED_OVER or over == len(window.turns):
        for passage in window.passages:  # the next try begins anew
            most.pop(passage, None)
        return False
    most[part.passages[0]] = 0
    log.warning("a turn cannot be read", **_why(error))
    return True


def forget(part: Turns, most: Sizes) -> None:
    """Forget what was noted of turns that were read or passed over."""
    for passage in (*part.over, *part.passages):
        most.pop(passage, None)


def half(turns: int) -> int:
    """Half of some turns, rounded up."""
    return (turns + 1) // 2


def _passes(error: Exception) -> bool:
    """Whether it would have happened with any other text."""
    if isinstance(error, TOO_MUCH):
        return False
    return isinstance(error, OF_THE_DATABASE) or (isinstance(error, MemsvcError) and error.passing)


def _why(error: Exception) -> dict[str, str | None]:
    if isinstance(error, MemsvcError):
        return {"code": error.code, "error": said(error)}
    return {"error": type(error).__name__}
