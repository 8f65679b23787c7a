"""Ends sessions of people that go on for longer than their logins may (``sql/functions/accounts/30_watchdog.sql``).

PostgreSQL lets anybody take a time limit off in a session of one's own, so the limits of ``sql/prepare.sql`` stop those
who forget, and this stops the others. Every worker looks, by a statement that costs nothing where all is well.
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
"""How far over its limit a session may be: PostgreSQL's own error, which a client understands, comes first."""
END = text("SELECT e.login, e.reason FROM memsvc.end_long_sessions(make_interval(secs => :late)) AS e")
log = structlog.get_logger()


async def end_long_sessions(db: Database, late_s: float = LATE_S) -> int:
    """End the sessions that are over a limit by so many seconds; how many there were.

    Raises:
        MemsvcError: the database cannot be reached.
    """
    async with db.transaction() as connection:
        ended = (await connection.execute(END, {"late": late_s})).all()
    for (login, reason), sessions in Counter((row.login, row.reason) for row in ended).items():
        log.warning("sessions were ended", login=login, too_long=reason, sessions=sessions)
    return len(ended)


async def keep_watch(db: Database) -> None:
    """Look again and again, until it is cancelled; outlives a database that is away."""
    while True:
        try:
            await end_long_sessions(db)
        except MemsvcError as error:
            log.warning("long sessions are not ended", code=error.code)
        except Exception:
            log.exception("long sessions are not ended")
        await asyncio.sleep(LOOK_S)
