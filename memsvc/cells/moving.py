"""Moves a user to another cell while the user goes on, and stops the user only for the end of it.

The steps, each of which may be killed and done again:

1. *begin*: a row of ``memsvc.moves`` in the directory, and the user's row in the new cell, frozen there.
2. *copying*: rounds of ``memsvc.cells.copying``; the directory has where the next one begins (``moves.seen``).
3. *frozen*: new requests wait at the door (``users.moving`` is closing in the directory); then nobody can bind to the
   user any more (frozen in the old cell), transactions that began before end, the last changes are copied, and all rows
   of both sides are compared.
4. *switched*: one transaction of the directory says that the user is in the new cell, with the next epoch. It is the
   one moment that counts: before it the user is in the old cell, whatever was copied; from then on in the new one.
5. The user is let in there, and what is left in the old cell is erased (``memsvc.cells.leaving``), with receipts.

The new cell's workers find nothing of the user before the fourth step, because jobs, schedules and feeds are copied in
the last transaction before it. Whoever moves a user holds a lock on the user in the directory and in both cells, each
by the session that writes there, so it ends with the process. A process that has lost the directory keeps others from
going on as long as it can still write in a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import msgspec

from memsvc.cells import fitting
from memsvc.cells.aborting import abort
from memsvc.cells.beginning import begin, check, check_again, copy
from memsvc.cells.copying import one
from memsvc.cells.crossing import Pause, arrive, cross
from memsvc.cells.journey import Journey, Limits, Report
from memsvc.cells.leaving import close, erase_copy, note
from memsvc.cells.sites import Asked, sites
from memsvc.errors import MoveRefusedError
from memsvc.server import projection
from memsvc.settings import Settings

LEFT_ROWS = """
SELECT l.details -> 'rows' FROM memsvc.audit_log AS l
WHERE l.app_id = %s AND l.user_id = %s AND l.action = 'user.left' ORDER BY l.audit_id DESC LIMIT 1
"""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A finished move."""

    user_id: UUID
    from_cell: str
    to_cell: str
    rows: dict[str, int]
    """Erased in the old cell, by table."""
    copied: int
    """Rows that were copied, some of them repeatedly."""
    seconds: float
    """From the beginning, kills included."""
    pause: Pause | None
    """None: another process switched."""
    stopped_s: float
    """By the directory's clock, from the freezing to the switch."""


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a move would copy."""

    user_id: UUID
    from_cell: str
    to_cell: str
    rows: dict[str, int]
    bytes: dict[str, int]


def move_user(
    home_url: str,
    settings: Settings,
    app: str,
    ref: str | UUID,
    to: str | None,
    *,
    logins: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    report: Report = lambda _line: None,
) -> Moved:
    """Move a user to another cell, or continue a move that was interrupted.

    Args:
        home_url: the administrator's URL of the directory.
        settings: this deployment's secrets.
        app: name of the app that the user belongs to.
        ref: id or external id.
        to: name of the cell; None: continue only.
        logins: administrators' URLs of cells by name; of others as MEMSVC_CELL_URLS has them, or with the home's login.
        limits: how long the user may be stopped.
        report: called with a line for each step.

    Raises:
        UserUnknownError: the app has no such user.
        MoveRefusedError: it cannot be done; nothing was changed.
        MoveBusyError: another process moves the user.
        MoveLoginError: a login may not do it.
        MoveBlockedError: other work kept the user from being frozen; it can be tried again.
        MoveDiffersError: the copy was not equal; the user goes on in the old cell.
        DatabaseUnavailableError: a database cannot be reached; the move can be continued.
    """
    asked = Asked(home_url, settings, app, str(ref), logins or {})
    with sites(asked, to) as found:
        journey = Journey(found, settings, limits or Limits(), report)
        pause = None
        if journey.state == "aborting":
            abort(journey)
            if to is None:
                raise MoveRefusedError("This move was being given up, and now is.", hint="Begin it again with --to.")
        if journey.state is None:
            begin(journey)
        elif journey.state != "switched":
            check_again(journey)
        else:
            journey.check_age()
        if journey.state == "copying":
            copy(journey)
        if journey.state != "switched":
            pause = cross(journey)
        return finish(journey, pause)


def abort_move(
    home_url: str,
    settings: Settings,
    app: str,
    ref: str | UUID,
    *,
    logins: Mapping[str, str] | None = None,
    report: Report = lambda _line: None,
) -> None:
    """Give a move up: the user goes on in the old cell, and what was copied is erased.

    Raises:
        MoveRefusedError: the user is not moving, or is in the new cell already, or the directory is older than it.
        UserUnknownError, MoveBusyError, MoveLoginError, DatabaseUnavailableError: as ``move_user``.
    """
    asked = Asked(home_url, settings, app, str(ref), logins or {})
    with sites(asked, None, without_target=True) as found:
        journey = Journey(found, settings, report=report)
        if journey.state == "switched":
            raise MoveRefusedError(
                f"This user is in the cell {journey.target.name} already.",
                hint=f"Finish the move with --resume, then move the user back with --to {journey.source.name}.",
            )
        abort(journey)


def preview_move(
    home_url: str, settings: Settings, app: str, ref: str | UUID, to: str, *, logins: Mapping[str, str] | None = None
) -> Preview:
    """Check a move and count what it would copy; change nothing. Errors as ``move_user``."""
    with sites(Asked(home_url, settings, app, str(ref), logins or {}), to) as found:
        journey = Journey(found, settings)
        check(journey)
        sizes = fitting.sizes(journey.copier({}, {}))
        return Preview(
            user_id=journey.user_id,
            from_cell=journey.source.name,
            to_cell=journey.target.name,
            rows={table: rows for table, (rows, _size) in sizes.items()},
            bytes={table: size for table, (_rows, size) in sizes.items()},
        )


def finish(journey: Journey, pause: Pause | None) -> Moved:
    """Do what is left after the switch: vectors, Cypher's graph, and erasing in the old cell."""
    arrive(journey)
    journey.triggers(on=True)
    _ask_vectors(journey)
    _project(journey)
    move, rows = journey.move, _leave(journey)
    stopped = (move.switched_at - move.frozen_at).total_seconds()
    with journey.home.transaction():
        if journey.source.home:
            rows = close(journey.home, journey.user_id, "user.left", home=True)
        details = {
            "from": journey.source.name, "to": journey.target.name, "rows": rows, "copied": move.rows,
            "stopped_s": round(stopped, 3),
        }  # fmt: skip
        note(journey.home, journey.user_id, "user.moved", details)
        journey.home.execute("DELETE FROM memsvc.moves WHERE user_id = %s", [journey.user_id])
        seconds = one(journey.home, "SELECT extract(epoch FROM clock_timestamp() - %s)::float8", [move.started_at])
    return Moved(
        user_id=journey.user_id,
        from_cell=journey.source.name,
        to_cell=journey.target.name,
        rows=rows,
        copied=move.rows,
        seconds=round(seconds, 3),
        pause=pause,
        stopped_s=round(stopped, 3),
    )


def _leave(journey: Journey) -> dict[str, int]:
    """Erase what is left in the old cell; the rows by table, unless that is the directory, which ``finish`` closes."""
    source, user_id = journey.source.connection, journey.user_id
    there = one(source, "SELECT true FROM memsvc.users WHERE user_id = %s", [user_id])
    if there:
        journey.report(f"erasing in {journey.source.name}")
        erase_copy(source, user_id, home=journey.source.home)
    if journey.source.home:
        return {}
    if there:
        return close(source, user_id, "user.left", home=False)
    app_id = one(journey.home, "SELECT app_id FROM memsvc.users WHERE user_id = %s", [user_id])
    return one(source, LEFT_ROWS, [app_id, user_id]) or {}  # an earlier process has closed it


def _ask_vectors(journey: Journey) -> None:
    """Ask for vectors of models that only the new cell uses."""
    source, target = journey.source.connection, journey.target.connection
    models, projected = fitting.numbered(source, target)
    for model in fitting.models_of(target).values():
        lacks = model.number not in models.values()
        lacks_tokens = model.projection is not None and model.number not in projected.values()
        if model.state != "leaving" and (lacks or lacks_tokens):
            target.execute("SELECT memsvc.ask_job(%s, 'embed', %s)", [journey.user_id, journey.user_id])
            return


def _project(journey: Journey) -> None:
    """Make the user's part of Cypher's graph, where there is one."""
    target = journey.target.connection
    found = projection.state(target)
    if found.there and found.kept:
        journey.report("Cypher's graph")
        target.execute("LOAD 'age'")
        projection.rebuild(target, journey.settings, journey.user_id)
