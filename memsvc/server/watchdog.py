"""Ends people's sessions that last longer than their logins allow (``sql/functions/accounts/30_watchdog.sql``).

PostgreSQL lets every user switch off the time limits of their own session. So the limits of ``sql/prepare.sql`` stop
only forgotten statements; this module stops the rest. Every worker checks, with a statement that is cheap if there is
nothing to end.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import structlog
from sqlalchemy import text

from memsvc.db.engine import Database
from memsvc.errors import MemsvcError

LOOK_S = 5.0
LATE_S = 10.0
"""How far a session may exceed its limit. PostgreSQL's own error, which clients understand, comes before that."""
END = text("SELECT e.login, e.reason FROM memsvc.end_long_sessions(make_interval(secs => :late)) AS e")
log = structlog.get_logger()


async def end_long_sessions(db: Database, late_s: float = LATE_S) -> int:
    """End the sessions that exceed a limit by more than ``late_s`` seconds; returns how many.

    Raises:
        MemsvcError: the database cannot be reached.
    """
    async with db.transaction() as connection:
        ended = (await connection.execute(END, {"late": late_s})).all()
    for (login, reason), sessions in Counter((row.login, row.reason) for row in ended).items():
        log.warning("sessions were ended", login=login, too_long=reason, sessions=sessions)
    return len(ended)


async def keep_watch(db: Database) -> None:
    """Check repeatedly until cancelled; keeps trying while the database is away."""
    while True:
        try:
            await end_long_sessions(db)
        except MemsvcError as error:
            log.warning("long sessions are not ended", code=error.code)
        except Exception:
            log.exception("long sessions are not ended")
        await asyncio.sleep(LOOK_S)
