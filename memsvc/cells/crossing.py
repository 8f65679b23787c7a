"""The seconds for which a user is stopped: freeze, copy what is left, compare all rows, and switch.

Everything that is here happens again, from the freeze on, if the process is killed before the switch.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec
import psycopg
from psycopg import sql

from memsvc.cells import fitting
from memsvc.cells.copying import LATE, Copier, one, snapshot
from memsvc.cells.journey import Journey
from memsvc.cells.leaving import note
from memsvc.db.engine import EVENTS
from memsvc.errors import MoveBlockedError, MoveDiffersError, MoveRefusedError

POLL_S = 0.01
# Requests and workers, whose login alone writes memories; other movers, backups and people at psql do not. A session
# without track_activities does not tell when its transaction began: it counts as older, and also if it may have one.
OLDER = """
SELECT a.usename, a.application_name, a.state, extract(epoch FROM clock_timestamp() - a.xact_start)::float8,
  substring(a.query FROM '(?:memsvc\\.)?[a-z_]+(?=\\()')
FROM pg_stat_activity AS a
WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.usename = 'memsvc_app'
  AND (
    a.xact_start <= %s
    OR (a.xact_start IS NULL AND (a.backend_xid IS NOT NULL OR a.backend_xmin IS NOT NULL OR a.state = 'disabled'))
  )
ORDER BY a.xact_start
"""
QUEUE = """
INSERT INTO memsvc.dramatiq_queue (message_id, user_id, queue_name, message, available_at)
SELECT j.job_id, j.user_id, memsvc.job_queue(j.kind), memsvc.job_message(j.user_id, j.job_id, j.kind), j.run_after
FROM memsvc.jobs AS j WHERE j.user_id = %s AND j.state = 'pending'
ON CONFLICT DO NOTHING
"""
# Live clients load everything again: what they have seen are events of another database.
EVENT = """
INSERT INTO memsvc.outbox (user_id, kind, subject_id)
SELECT %(user)s, 'memory.erased', %(user)s
WHERE NOT EXISTS (SELECT FROM memsvc.outbox AS e WHERE e.user_id = %(user)s)
"""
LIMITS = "SELECT to_jsonb(b)::text FROM memsvc.budgets AS b WHERE b.of_user = %s"
COUNTED = """
SELECT (to_jsonb(b) - '{messages_per_day,bytes_per_day,tokens_per_day,cost_per_day}'::text[])::text
FROM memsvc.budgets AS b WHERE b.of_user = %s
"""
# A limit that is set in the directory meanwhile stays.
COUNT = """
INSERT INTO memsvc.budgets
SELECT b.* FROM jsonb_populate_record(NULL::memsvc.budgets, %s::jsonb || %s::jsonb) AS b
ON CONFLICT ON CONSTRAINT budgets_once DO UPDATE SET
  day = excluded.day, messages = excluded.messages, bytes = excluded.bytes
"""
FORGET_COUNTS = """
UPDATE memsvc.budgets SET day = DEFAULT, messages = DEFAULT, bytes = DEFAULT WHERE of_user = %s
"""
FORGET_COUNTED = """
DELETE FROM memsvc.budgets
WHERE of_user = %s AND num_nonnulls(messages_per_day, bytes_per_day, tokens_per_day, cost_per_day) = 0
"""
Budget = tuple[str, str]
"""A row of the table as JSON: all of it, and what of it is newer."""


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """For how long a user was stopped, in seconds, and by what."""

    total: float
    """From the moment at which new requests waited to the one at which they went on in the new cell."""
    closing: float
    """Running requests ended."""
    waiting: float
    """Older transactions ended."""
    copying: float
    """The last changes were copied."""
    comparing: float
    """All rows of both sides were compared."""
    switching: float
    """The directory and the new cell were written."""


def cross(journey: Journey) -> Pause:
    """Stop the user, copy and compare what is left, and send the user to the new cell.

    Raises:
        MoveBlockedError: older work did not end, in any try.
        MoveDiffersError: the copy is not equal.
        MoveRefusedError: the user is being erased.
    """
    journey.triggers(on=False)
    copier = journey.copier(*fitting.numbered(journey.source.connection, journey.target.connection))
    for number in range(1, journey.limits.tries):
        try:
            return _cross(journey, copier)
        except MoveBlockedError as error:
            journey.report(f"{error.message} The user goes on; another try in {journey.limits.pause_s * number:.0f} s")
            time.sleep(journey.limits.pause_s * number)
            journey.round(copier)
    return _cross(journey, copier)


def _cross(journey: Journey, copier: Copier) -> Pause:
    times = [time.monotonic()]
    try:
        _close(journey)
        _older(journey, _now(journey), journey.limits.grace_s)
        times.append(time.monotonic())
        frozen_at = _freeze(journey)
        _outlast(journey, frozen_at)
        times.append(time.monotonic())
        epoch = journey.epoch + 1
        with snapshot(journey.source.connection), copier.target.transaction():
            carried, budget = journey.carried(), _budget(journey)
            rows = _last_round(journey, copier)
            times.append(time.monotonic())
            _compare(copier)
            _write_user(journey, copier.target, carried, budget, epoch)
        times.append(time.monotonic())
        _switch(journey, carried, budget, epoch, rows)
        arrive(journey)
        times.append(time.monotonic())
    except BaseException:
        _go_on(journey)
        raise
    parts = [later - earlier for earlier, later in pairwise(times)]
    names = ("closing", "waiting", "copying", "comparing", "switching")
    pause = Pause(total=times[-1] - times[0], **dict(zip(names, parts, strict=True)))
    journey.report(f"switched; the user was stopped for {pause.total:.2f} s")
    return pause


def _go_on(journey: Journey) -> None:
    """Let the user go on after a failure, if the databases can be reached: where the directory says.

    The session that may have switched is asked. If it is lost, nobody knows, and nothing is done.
    """
    try:
        for session in (journey.home, journey.source.connection, journey.target.connection):
            session.rollback()  # Ctrl-C may have come before a COMMIT was sent
        if journey.state == "switched":
            arrive(journey)
            journey.report(f"The user goes on in {journey.target.name}: finish with --resume.")
        else:
            journey.unfreeze()
    except psycopg.Error:
        journey.report("The user is still stopped: give --resume or --abort when all databases can be reached.")


def _close(journey: Journey) -> None:
    """Let new requests wait at the door."""
    with journey.home.transaction():
        journey.home.execute(
            "UPDATE memsvc.moves SET state = 'frozen', frozen_at = coalesce(frozen_at, clock_timestamp()) "
            "WHERE user_id = %s",
            [journey.user_id],
        )
        journey.home.execute(
            "UPDATE memsvc.users SET moving = coalesce(moving, 'closing') WHERE user_id = %s", [journey.user_id]
        )


def _freeze(journey: Journey) -> datetime:
    """Let nobody bind to the user any more in the old cell; when everybody knows it.

    Raises:
        MoveRefusedError: the user is being erased.
    """
    source = journey.source.connection
    with source.transaction():
        frozen = source.execute(
            "UPDATE memsvc.users SET moving = 'frozen' WHERE user_id = %s AND erasing_since IS NULL", [journey.user_id]
        )
        if frozen.rowcount != 1:
            raise MoveRefusedError("This user is being erased.", hint="Give the move up with --abort.")
        source.execute("SELECT pg_notify(%s, '')", [EVENTS])  # live clients look, and hear that the user moves
    return _now(journey)


def _now(journey: Journey) -> datetime:
    now: datetime = one(journey.source.connection, "SELECT clock_timestamp()")
    return now


def _outlast(journey: Journey, moment: datetime) -> None:
    """Wait until the transactions that began before everybody knew of the freeze have ended.

    Raises:
        MoveBlockedError: they did not in time.
    """
    blockers = _older(journey, moment, journey.limits.wait_s)
    if blockers:
        raise MoveBlockedError(f"Older transactions did not end in time: {'; '.join(blockers)}.")


def _older(journey: Journey, moment: datetime, seconds: float) -> list[str]:
    """Wait until all transactions of the old cell that began before have ended; which of them did not in time."""
    until = time.monotonic() + seconds
    while True:
        older = journey.source.connection.execute(OLDER.encode(), [moment]).fetchall()
        if not older or time.monotonic() >= until:
            return [
                f"{login} ({program or 'no name'}, {state}, "
                f"{'nobody knows since when' if age is None else f'for {age:.1f} s'}{f', in {call}' if call else ''})"
                for login, program, state, age, call in older
            ]
        time.sleep(POLL_S)


def _last_round(journey: Journey, copier: Copier) -> int:
    """Copy what was written since the round before, and what waits for the last one; how many rows."""
    seen, rows = journey.seen(), 0
    early = [table for table in copier.tables if table.name not in LATE]
    if seen is not None:  # otherwise the comparison finds everything
        for table in copier.written(early, seen):
            rows += copier.changed(table, seen)
    for table in copier.tables:
        if table.name in LATE:
            rows += copier.replace(table)
    return rows


def _compare(copier: Copier) -> None:
    """Check that both sides are equal; what differs (deleted rows) is copied once more.

    Raises:
        MoveDiffersError: it still differs, or a row refers to nothing of this user.
    """
    differing = copier.differing(copier.tables)
    for table in differing:
        copier.mend(table)
    left = [table.name for table in copier.differing(differing)]
    if left:
        raise MoveDiffersError(f"Rows of {', '.join(left)} differ.", tables=left)
    foreign = copier.orphans()
    if foreign:
        raise MoveDiffersError(f"Rows of {', '.join(sorted(foreign))} refer to nothing.", tables=foreign)


def _budget(journey: Journey) -> Budget | None:
    """The user's limits as the directory has them, and what the old cell has counted; None: there is neither."""
    limits = one(journey.home, LIMITS, [journey.user_id])
    counted = one(journey.source.connection, COUNTED, [journey.user_id])
    return (limits or "{}", counted or "{}") if limits or counted else None


def _write_user(
    journey: Journey, connection: psycopg.Connection, carried: Mapping[str, Any], budget: Budget | None, epoch: int
) -> None:  # fmt: skip
    """Write the user's row and budget in the new cell; in the directory, the switch writes them."""
    if journey.target.home:
        return
    _update_user(journey, connection, carried, {"epoch": epoch, "moving": "frozen"})
    connection.execute("DELETE FROM memsvc.budgets WHERE of_user = %s", [journey.user_id])  # of an earlier try
    if budget is not None:
        connection.execute(COUNT, budget)


def _update_user(
    journey: Journey, connection: psycopg.Connection, carried: Mapping[str, Any], own: Mapping[str, Any]
) -> None:  # fmt: skip
    """Write columns of the user's row, without triggers: schedules are copied as they were."""
    values = {**carried, **own}
    connection.execute("SET LOCAL session_replication_role = replica")
    sets = sql.SQL(", ").join(sql.SQL("{} = {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in values)
    written = connection.execute(
        sql.SQL("UPDATE memsvc.users SET {} WHERE user_id = %(memsvc_user)s").format(sets),
        {**values, "memsvc_user": journey.user_id},
    )
    if written.rowcount != 1:
        raise MoveDiffersError("The user's row is gone.")


def _switch(journey: Journey, carried: Mapping[str, Any], budget: Budget | None, epoch: int, rows: int) -> None:
    """Send the user to the new cell: the moment that counts."""
    own = {"cell_id": journey.target.cell_id, "epoch": epoch, "moving": None}
    with journey.home.transaction():
        _update_user(journey, journey.home, carried if journey.target.home else {}, own)
        journey.home.execute(
            "UPDATE memsvc.moves SET state = 'switched', switched_at = clock_timestamp(), rows = rows + %s "
            "WHERE user_id = %s",
            [rows, journey.user_id],
        )
        details = {"from": journey.source.name, "to": journey.target.name, "epoch": epoch}
        note(journey.home, journey.user_id, "user.switch", details)
        if journey.source.home:
            journey.home.execute(FORGET_COUNTED, [journey.user_id])
            journey.home.execute(FORGET_COUNTS, [journey.user_id])
        if journey.target.home:
            if budget is not None:
                journey.home.execute(COUNT, budget)
            _let_in(journey, journey.home)


def arrive(journey: Journey) -> None:
    """Let the user in, and wake the user's jobs."""
    if journey.target.home:
        return
    target = journey.target.connection
    with target.transaction():
        let_in = target.execute(
            "UPDATE memsvc.users SET moving = NULL, erased_rows = '{}' WHERE user_id = %s AND moving IS NOT NULL",
            [journey.user_id],
        )
        if let_in.rowcount:
            _let_in(journey, target)


def _let_in(journey: Journey, connection: psycopg.Connection) -> None:
    connection.execute("SET LOCAL session_replication_role = origin")
    connection.execute(QUEUE, [journey.user_id])
    connection.execute(EVENT, {"user": journey.user_id})
    connection.execute("SELECT pg_notify(%s, '')", [EVENTS])
    note(connection, journey.user_id, "user.arrived", {"from": journey.source.name})
