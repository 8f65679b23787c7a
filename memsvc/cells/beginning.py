"""The beginning of a move: whether it can be done, the user's row in the new cell, and copying all rows."""

from __future__ import annotations

import json
import time

from memsvc.cells import fitting
from memsvc.cells.aborting import abort
from memsvc.cells.copying import one
from memsvc.cells.journey import Journey
from memsvc.cells.leaving import note
from memsvc.errors import MoveRefusedError

PLACE = "SELECT app_id, cell_id, epoch, moving, erasing_since FROM memsvc.users WHERE user_id = %s"


def check(journey: Journey) -> None:
    """Check whether the move can be done; change nothing.

    Raises:
        MoveRefusedError: it cannot.
        RestoreUnfinishedError: a restore into one of the databases did not finish.
    """
    source, target = journey.source.connection, journey.target.connection
    for name, connection in (("home", journey.home), (journey.source.name, source), (journey.target.name, target)):
        fitting.check_state(connection, journey.settings, name)
    journey.check_age()
    fitting.check_watched(source, journey.source.name)
    fitting.check_clocks(source, target)
    fitting.check_tables(source, target)
    fitting.check_models(source, target)
    there = one(source, "SELECT epoch FROM memsvc.users WHERE user_id = %s", [journey.user_id])
    if fitting.erasing_where(journey.home, journey.user_id) or (
        there is not None and fitting.erasing_where(source, journey.user_id)
    ):
        raise MoveRefusedError("This user is being erased.")
    if there is None:
        raise MoveRefusedError(
            f"The cell {journey.source.name} does not have this user, and the directory says that it has.",
            hint="One of the two databases was restored to an earlier time: see 'memsvc cells doctor'.",
        )
    if there != journey.epoch:
        raise MoveRefusedError(
            f"The cell {journey.source.name} has this user at epoch {there}, the directory at {journey.epoch}.",
            hint="One of the two databases was restored to an earlier time: see 'memsvc cells doctor'.",
        )
    _check_free(journey)


def _check_free(journey: Journey) -> None:
    """Check that the new cell can take the user."""
    target, mine = journey.target.connection, journey.home.execute(PLACE, [journey.user_id]).fetchone()
    if journey.target.home or mine is None:
        return
    known = target.execute("SELECT moving FROM memsvc.users WHERE user_id = %s", [journey.user_id]).fetchone()
    if known is not None and known != ("frozen",):
        raise MoveRefusedError(
            f"The cell {journey.target.name} has this user already.", hint="See 'memsvc cells doctor'."
        )
    names = journey.home.execute(
        "SELECT a.name, u.external_id FROM memsvc.users AS u INNER JOIN memsvc.apps AS a ON a.app_id = u.app_id "
        "WHERE u.user_id = %s",
        [journey.user_id],
    ).fetchone() or ("", "")
    if one(target, "SELECT app_id FROM memsvc.apps WHERE name = %s AND app_id <> %s", [names[0], mine[0]]):
        raise MoveRefusedError(f"The cell {journey.target.name} has another app {names[0]!r}.")
    taken = "SELECT user_id FROM memsvc.users WHERE app_id = %s AND external_id = %s AND user_id <> %s"
    if one(target, taken, [mine[0], names[1], journey.user_id]):
        raise MoveRefusedError(f"The cell {journey.target.name} has another user with this external id.")


def begin(journey: Journey) -> None:
    """Say in the directory that the user moves.

    Raises:
        MoveRefusedError: see ``check``.
    """
    check(journey)
    fitting.check_disk(journey.target.connection, journey.target.url, fitting.sizes(journey.copier({}, {})))
    with journey.home.transaction():
        place = journey.home.execute(f"{PLACE} FOR UPDATE".encode(), [journey.user_id]).fetchone()
        if place is None or place[4] is not None:
            raise MoveRefusedError("This user is being erased.")
        journey.home.execute(
            "INSERT INTO memsvc.moves (user_id, from_cell, to_cell) VALUES (%s, %s, %s)",
            [journey.user_id, journey.source.cell_id, journey.target.cell_id],
        )
        details = {"from": journey.source.name, "to": journey.target.name}
        note(journey.home, journey.user_id, "user.move", details)
    journey.report(f"from {journey.source.name} to {journey.target.name}")


def _settle(journey: Journey) -> None:
    """Write the user's row in the new cell, where nobody can act for the user yet, and the limits of the app."""
    if journey.target.home:
        return
    target = journey.target.connection
    app = journey.home.execute(
        "SELECT a.app_id, to_jsonb(a)::text FROM memsvc.apps AS a "
        "INNER JOIN memsvc.users AS u ON u.app_id = a.app_id WHERE u.user_id = %s",
        [journey.user_id],
    ).fetchone()
    if app is None:
        raise MoveRefusedError("This user is being erased.")
    with journey.home.transaction(), target.transaction():
        limits = one(journey.home, "SELECT memsvc.limits_to_bring(%s)::text", [app[0]])
        target.execute(
            "INSERT INTO memsvc.apps SELECT a.* FROM jsonb_populate_record(NULL::memsvc.apps, %s::jsonb) AS a "
            "ON CONFLICT (app_id) DO NOTHING",
            [app[1]],
        )
        target.execute("SELECT memsvc.bring_limits(%s, %s::jsonb)", [app[0], limits])
        target.execute(
            "INSERT INTO memsvc.users (user_id, app_id, external_id, name, time_zone, language, epoch, moving) "
            "SELECT %s, %s, j.external_id, j.name, j.time_zone, j.language, %s, 'frozen' "
            "FROM jsonb_to_record(%s::jsonb) AS j (external_id text, name text, time_zone text, language text) "
            "ON CONFLICT (user_id) DO NOTHING",
            [journey.user_id, app[0], journey.epoch + 1, json.dumps(journey.carried(), default=str)],
        )


def copy(journey: Journey) -> None:
    """Copy all rows, then those that were written meanwhile, until a round is short; the user goes on.

    Raises:
        MoveRefusedError: the user is being erased, so the move is given up.
    """
    _settle(journey)
    journey.triggers(on=False)
    copier = journey.copier(*fitting.bring_models(journey.source.connection, journey.target.connection))
    for number in range(1, journey.limits.rounds + 1):
        began, whole = time.monotonic(), journey.seen() is None
        rows = journey.round(copier)
        took = time.monotonic() - began
        journey.report(f"round {number}: {rows:,} rows in {took:.1f} s")
        _check_erasing(journey)
        if not whole and took <= journey.limits.round_s:
            break
    began = time.monotonic()
    rows = journey.round(copier, compare=True)
    journey.report(f"compared; {rows:,} rows in {time.monotonic() - began:.1f} s")


def check_again(journey: Journey) -> None:
    """Check a move that was begun earlier; if the user is being erased meanwhile, it is given up.

    Raises:
        MoveRefusedError: it cannot go on.
    """
    _check_erasing(journey)
    check(journey)


def _check_erasing(journey: Journey) -> None:
    """Give the move up if the user is being erased in the old cell.

    Raises:
        MoveRefusedError: the user is.
    """
    if any(fitting.erasing_where(side, journey.user_id) for side in (journey.home, journey.source.connection)):
        abort(journey)
        raise MoveRefusedError("This user is being erased, so the move is given up.")
