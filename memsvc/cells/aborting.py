"""Gives a move up: the user goes on in the old cell, and what was copied is erased."""

from __future__ import annotations

from memsvc.cells.copying import one
from memsvc.cells.journey import Journey
from memsvc.cells.leaving import close, erase_copy, note
from memsvc.errors import DatabaseUnavailableError


def abort(journey: Journey) -> None:
    """Let the user go on in the old cell, and erase what was copied.

    Raises:
        DatabaseUnavailableError: the new cell cannot be reached; the user goes on, and another call erases there.
        MoveRefusedError: the new cell does not have a copy but the user, who was let in there; nothing was changed.
    """
    journey.check_age(journey.target)
    journey.home.execute("UPDATE memsvc.moves SET state = 'aborting' WHERE user_id = %s", [journey.user_id])
    journey.unfreeze()
    if journey.target.session is None:
        raise DatabaseUnavailableError(
            f"The cell {journey.target.name} cannot be reached. The user goes on in {journey.source.name}.",
            hint="Run --abort again when the cell is back: it erases what was copied there.",
        )
    target = journey.target.connection
    if journey.target.home or one(target, "SELECT true FROM memsvc.users WHERE user_id = %s", [journey.user_id]):
        journey.report(f"erasing in {journey.target.name}")
        erase_copy(target, journey.user_id, home=journey.target.home)
    if not journey.target.home:
        with target.transaction():
            if one(target, "SELECT true FROM memsvc.users WHERE user_id = %s", [journey.user_id]):
                close(target, journey.user_id, "user.unmoved", home=False)
    with journey.home.transaction():
        if journey.target.home:
            close(journey.home, journey.user_id, "user.unmoved", home=True)
        details = {"from": journey.source.name, "to": journey.target.name}
        note(journey.home, journey.user_id, "user.stays", details)
        journey.home.execute("DELETE FROM memsvc.moves WHERE user_id = %s", [journey.user_id])
    journey.report(f"the user stays in {journey.source.name}")
