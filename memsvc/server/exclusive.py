"""Work on a whole database takes turns: upgrades, restores and rebuilding indexes alone, backups beside each other."""

from __future__ import annotations

import time

import psycopg

ONE_AT_A_TIME = 0x6D656D73766300  # "memsvc"
PAUSE_S = 0.2


def take_turn(connection: psycopg.Connection, *, shared: bool = False) -> None:
    """Wait for our turn, and keep it until the session ends.

    It asks again and again. Who waits for a lock in a statement has a snapshot meanwhile, and REINDEX CONCURRENTLY,
    which has its turn, waits for all older snapshots to go: each would wait for the other.

    Args:
        connection: in autocommit, or without a transaction.
        shared: beside others who share, as backups do.
    """
    ask = "SELECT pg_try_advisory_lock_shared(%s)" if shared else "SELECT pg_try_advisory_lock(%s)"
    while True:
        had = connection.execute(ask, [ONE_AT_A_TIME]).fetchone() == (True,)
        connection.commit()
        if had:
            return
        time.sleep(PAUSE_S)
